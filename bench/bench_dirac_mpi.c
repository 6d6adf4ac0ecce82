/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_dirac_mpi: hops of a lattice that ranks share, for dirac_mpi.sh: started once for each
 * number of ranks, by mpirun or alone.
 *
 *     bench_dirac_mpi [PRECISION COLUMNS LATTICE]...     double, single, half; "32 32 32 64"
 *
 * A line for each: precision, columns, lattice, ranks, microseconds a hop and column (median of 7,
 * of the slowest rank), those of a sum over all sites as an iteration of a solver needs it, and the
 * norm after 20 hops to and fro, which has to be the same, to the last digit, whatever the ranks.
 * In the environment: TRANSPORT as --transport, GRID as --grid, LAT_HALO=first as in dirac.h,
 * DEVICE=cpu; LAT_TEMPORAL=never: links in the gauge they have, where solvers take the temporal
 * gauge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dirac/dirac.h"
#include "vector/temporal.h"
#include "bench_ranks.h"
#include "base/error.h"
#include "base/threads.h"

#define REPEAT 7

typedef struct setting {
    const lat_comm *comm;
    lat_temporal *gauge;
    lat_grid *grid;
    lat_space *space;
    lat_dirac *d;
    lat_dfield *x;
    lat_part even, odd, both;
    int all[LAT_VECTOR_COLUMNS];
} setting;

static bool is(const char *name, const char *value)
{
    const char *found = getenv(name);
    return found && !strcmp(found, value);
}

static void enter(setting *s, lat_device *dev, const lat_field *u, lat_storage storage, int columns)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.boundary[3].theta = 1;
    for (int c = 0; c < columns; c++)
        s->all[c] = c;
    s->comm = dev->comm;
    s->even = (lat_part){LAT_EVEN, columns, s->all};
    s->odd = (lat_part){LAT_ODD, columns, s->all};
    s->both = (lat_part){LAT_BOTH, columns, s->all};
    if (!(s->grid = lat_grid_of_spinors(dev, &u->head.geom, storage))
        || (bench_temporal() && lat_temporal_open(dev, u, NULL, &s->gauge))
        || !(s->space = lat_space_open_in(s->grid, 3, columns, s->gauge))
        || !(s->d = lat_dirac_open(s->space, u, &f, NULL))
        || !(s->x = lat_vector_new(s->space, "spinors")))
        bench_stop();
}

static void leave(setting *s)
{
    lat_dfield_free(s->x);
    lat_dirac_close(s->d);
    lat_space_close(s->space);
    lat_temporal_close(s->gauge);
    lat_grid_free(s->grid);
}

/* n hops from one parity to the other and back, scaled so that nothing overflows. */
static void hops(const setting *s, long n)
{
    for (long i = 0; i < n; i++)
        if (s->d->ops->hop(s->d, false, i % 2 ? &s->odd : &s->even, 0, NULL, 0.125, s->x, s->x))
            bench_stop();
}

static double norm(const setting *s)
{
    double v[LAT_VECTOR_COLUMNS];
    if (s->space->ops->dots(s->space, &s->even, 0, NULL, s->x, NULL, v))
        bench_stop();
    return v[0];
}

/* Seconds of n hops and so many sums, of the slowest rank. */
static double seconds(const setting *s, long n, long sums)
{
    if (s->comm->barrier(s->comm))
        bench_stop();
    double t = bench_now();
    hops(s, n);
    for (long i = 0; i < sums; i++)
        norm(s);
    t = bench_now() - t;
    if (s->comm->max(s->comm, &t, 1))
        bench_stop();
    return t;
}

/* Each after a rest: a GPU that is always at work lowers its clock. */
static double median(const setting *s, long n, long sums)
{
    double t[REPEAT];
    for (int r = 0; r < REPEAT; r++)
        t[r] = (seconds(s, 2 * n, 1 + 2 * sums) - seconds(s, n, 1 + sums)) / (double)(n + sums);
    return bench_median(t, REPEAT);
}

static void measure(lat_device *dev, const lat_field *u, const char *const arg[3],
                    lat_storage storage)
{
    const int columns = atoi(arg[1]);
    setting s = {.grid = NULL};
    enter(&s, dev, u, storage, columns);
    if (s.space->ops->random(s.space, &s.both, 1, s.x))
        bench_stop();
    hops(&s, 20);
    const double there = norm(&s);
    const long n = 2 * (long)(0.01 / (seconds(&s, 20, 1) / 20)) + 10;
    const double hop = median(&s, n, 0) / columns, sum = median(&s, 0, 1000);
    if (dev->comm->rank == 0)
        printf("%s\t%d\t%s\t%d\t%.3f\t%.3f\t%.17g\n", arg[0], columns, arg[2], dev->comm->size,
               1e6 * hop, 1e6 * sum, there);
    fflush(stdout);
    leave(&s);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_dirac_mpi";
    if (argc % 3 != 1)
        return 2;
    const lat_comm *comm = lat_comm_start(0, argv);
    if (!comm)
        bench_stop();
    lat_device *dev = bench_device(is("DEVICE", "cpu"), comm);
    lat_field u = {.data = NULL};
    const char *made = NULL;
    for (int i = 1; i + 2 < argc; i += 3) {
        bench_links(&u, &made, argv[i + 2], LAT_F64, comm);
        static const lat_storage storages[] = {LAT_STORAGE_SINGLE, LAT_STORAGE_DOUBLE,
                                               LAT_STORAGE_HALF};
        for (int k = 0; k < 3; k++)
            if (!strcmp(lat_storage_name(storages[k]), argv[i]))
                measure(dev, &u, (const char *const *)argv + i, storages[k]);
    }
    lat_field_free(&u);
    lat_device_close(dev);
    lat_device_end();
    return 0;
}
