/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_mpi: sweeps of a lattice that ranks share, for mpi.sh: started once for each number of
 * ranks, by mpirun or alone.
 *
 *     bench_mpi DEVICE KIND LATTICE [KIND LATTICE]...      KIND: relax, double, su3, mag, bath,
 * coulomb; of lat-heatbath: links, mirror
 *
 * A line for each: kind, lattice, ranks, ms a sweep (median of 5 batches of 0.1 s, the slowest
 * rank's), and the functional, or the plaquette, after the first few, which has to be the same
 * whatever the ranks. TRANSPORT in the environment: as --transport. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fix/fix.h"
#include "generate/generate.h"
#include "bench_ranks.h"
#include "base/error.h"
#include "base/threads.h"
#include "site/sun.h"

#define BATCHES 5

static const double omega[1] = {1.7};

typedef struct kind {
    const char *name;
    lat_gauge gauge;
    lat_real real;
    lat_sweep how;
    bool links; /* these are made, by: */
    lat_link_sweep update;
} kind;

#define SU2 \
    { \
        .update = LAT_UPDATE_RELAX_SU2, .omega = omega, .temperature = 1 \
    }
static const kind kinds[] = {
    {"relax", LAT_LANDAU, LAT_F32, .how = SU2},
    {"double", LAT_LANDAU, LAT_F64, .how = SU2},
    {"su3", LAT_LANDAU, LAT_F32,
     .how = {.update = LAT_UPDATE_RELAX_SUN, .omega = omega, .temperature = 1}},
    {"mag", LAT_MAG, LAT_F32, .how = SU2},
    {"bath", LAT_LANDAU, LAT_F32,
     .how = {.update = LAT_UPDATE_HEATBATH, .temperature = 0.5, .seed = 1}},
    {"coulomb", LAT_COULOMB, LAT_F32, .how = SU2},
    {"links", .real = LAT_F32, .links = true, .update = {LAT_UPDATE_HEATBATH, 1, 0, 1}},
    {"mirror", .real = LAT_F32, .links = true, .update = {.update = LAT_UPDATE_MICROCANONICAL}},
};

/* What is at work: one of them. */
typedef struct job {
    const kind *k;
    const lat_comm *comm;
    lat_fixer *fixer;
    lat_generator *gen;
} job;

static void open_job(job *j, const kind *k, const lat_field *u, lat_device *dev)
{
    const lat_condition c = lat_condition_of(k->gauge, &u->head.geom, -1);
    const lat_action action = {.beta = 6, .xi = 1};
    *j = (job){.k = k, .comm = dev->comm};
    if (k->links)
        j->gen = lat_generate_open(dev, u, k->real, &action);
    else
        j->fixer = lat_fix_open(dev, u, &c, k->real, 1);
    if (!j->gen && !j->fixer)
        bench_stop();
}

static const char *close_job(job *j)
{
    static char words[128];
    snprintf(words, sizeof words, "%s",
             j->gen ? lat_generate_description(j->gen) : lat_fix_description(j->fixer));
    if (j->gen)
        lat_generate_close(j->gen);
    else
        lat_fix_close(j->fixer);
    return words;
}

/* n sweeps and a measurement of the functional or the plaquette. */
static int work(const job *j, long n, double *value)
{
    lat_gauge_state s = {0};
    double spatial = 0, temporal = 0;
    const int bad = j->gen ? lat_generate_sweep(j->gen, &j->k->update, n)
                                 || lat_generate_plaquette(j->gen, &spatial, &temporal)
                           : lat_fix_sweep(j->fixer, &j->k->how, n)
                                 || lat_fix_state(j->fixer, &s, NULL);
    *value = j->gen ? (spatial + temporal) / 2 : s.functional;
    return bad;
}

/* Its seconds, of the slowest rank. */
static double seconds(const job *j, long n, double *value)
{
    const lat_comm *comm = j->comm;
    if (comm->barrier(comm))
        bench_stop();
    double begin = bench_now();
    if (work(j, n, value))
        bench_stop();
    begin = bench_now() - begin;
    if (comm->max(comm, &begin, 1))
        bench_stop();
    return begin;
}

static void measure(lat_device *dev, const kind *k, const char *dims, lat_field *u)
{
    double t[BATCHES], idle_time[BATCHES], first, last;
    job j;
    open_job(&j, k, u, dev);
    seconds(&j, 10, &first);
    const long n = (long)(0.1 / (seconds(&j, 20, &last) / 20)) + 10;
    for (int i = 0; i < BATCHES; i++)
        idle_time[i] = seconds(&j, 0, &last);
    const double idle = bench_median(idle_time, BATCHES);
    for (int i = 0; i < BATCHES; i++)
        t[i] = (seconds(&j, n, &last) - idle) / (double)n;
    const char *words = close_job(&j);
    if (j.comm->rank == 0)
        printf("%s\t%s\t%d\t%.6f\t%.12f\t%s\n", k->name, dims, j.comm->size,
               1e3 * bench_median(t, BATCHES), first, words);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_mpi";
    if (argc < 4 || argc % 2)
        return 2;
    const lat_comm *comm = lat_comm_start(0, argv);
    if (!comm)
        bench_stop();
    lat_device *dev = bench_device(!strcmp(argv[1], "cpu"), comm);
    lat_field u = {.data = NULL};
    const char *made = NULL;
    for (int i = 2; i + 1 < argc; i += 2) {
        bench_links(&u, &made, argv[i + 1], LAT_F32, comm);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (!strcmp(kinds[k].name, argv[i]))
                measure(dev, kinds + k, made, &u);
    }
    lat_field_free(&u);
    lat_device_close(dev);
    lat_device_end();
    return 0;
}
