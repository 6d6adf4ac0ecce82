/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_mpi: sweeps of a lattice that ranks share, for mpi.sh: started once for each number of ranks, by mpirun or alone.
 *
 *     bench_mpi DEVICE KIND LATTICE [KIND LATTICE]...      KIND: relax, double, su3, mag, bath, coulomb
 *
 * A line for each: kind, lattice, ranks, ms a sweep (median of 5 batches of 0.1 s, the slowest rank's), and the functional after
 * the first few, which has to be the same whatever the ranks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/backend.h"
#include "bench.h"
#include "common/error.h"
#include "site/sun.h"

#define BATCHES 5

static void stop(void)
{
    exit(lat_report(LAT_FAILED));
}

/* Links about as rough as thermal ones, out of a few thousand: which, the number of the link in the lattice says. */
static void make_links(lat_field *u, const char *dims)
{
    enum { FEW = 4096, SIZE = 18 };
    static float some[FEW][SIZE];
    memset(u, 0, sizeof *u);
    lat_header_init(&u->head);
    u->head.nc = 3;
    u->head.reals = SIZE;
    u->head.real = LAT_F32;
    if (lat_dims_parse(dims, &u->head.geom) || lat_field_alloc(u))
        stop();
    for (uint32_t i = 0; i < FEW; i++) {
        double m[SIZE];
        lat_sun_near_one(3, m, 0.35, 1, i, 0, 0);
        for (int e = 0; e < SIZE; e++)
            some[i][e] = (float)m[e];
    }
    const size_t nd = (size_t)u->head.geom.nd, own = lat_field_matrices(u);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < own; i++) {
        uint32_t w[4];
        lat_random(1, lat_field_site(u, i / nd) * nd + i % nd, 0, 0, 0, w);
        memcpy((float *)u->data + i * SIZE, some[w[0] % FEW], sizeof *some);
    }
    if (lat_field_share(u))
        stop();
}

static const double omega[1] = {1.7};

typedef struct kind {
    const char *name;
    lat_gauge gauge;
    lat_real real;
    lat_sweep how;
} kind;

#define SU2 {.kind = LAT_SWEEP_RELAX, .scheme = LAT_OVERRELAX_SU2, .omega = omega, .temperature = 1}
static const kind kinds[] = {
    {"relax", LAT_LANDAU, LAT_F32, SU2},
    {"double", LAT_LANDAU, LAT_F64, SU2},
    {"su3", LAT_LANDAU, LAT_F32, {.kind = LAT_SWEEP_RELAX, .scheme = LAT_OVERRELAX_SU3, .omega = omega, .temperature = 1}},
    {"mag", LAT_MAG, LAT_F32, SU2},
    {"bath", LAT_LANDAU, LAT_F32, {.kind = LAT_SWEEP_HEATBATH, .temperature = 0.5, .seed = 1}},
    {"coulomb", LAT_COULOMB, LAT_F32, SU2},
};

/* Seconds of n sweeps and a look, of the slowest rank. */
static double seconds(lat_device *dev, const lat_sweep *how, long n, lat_gauge_state *s)
{
    const lat_comm *comm = lat_comm_world;
    if (comm->barrier(comm))
        stop();
    double begin = bench_now();
    if (dev->backend->sweep(dev, how, n) || dev->backend->state(dev, s, NULL))
        stop();
    begin = bench_now() - begin;
    if (comm->max(comm, &begin, 1))
        stop();
    return begin;
}

static void measure(const lat_backend *backend, const kind *k, const char *dims, lat_field *u)
{
    const lat_comm *comm = lat_comm_world;
    const lat_condition c = lat_condition_of(k->gauge, &u->head.geom, -1);
    lat_device *dev = backend->open(u, &c, k->real, 1, comm);
    lat_gauge_state first, s;
    double t[BATCHES], look[BATCHES];
    if (!dev)
        stop();
    seconds(dev, &k->how, 10, &first);
    const long n = (long)(0.1 / (seconds(dev, &k->how, 20, &s) / 20)) + 10;
    for (int i = 0; i < BATCHES; i++)
        look[i] = seconds(dev, &k->how, 0, &s);
    const double idle = bench_median(look, BATCHES);
    for (int i = 0; i < BATCHES; i++)
        t[i] = (seconds(dev, &k->how, n, &s) - idle) / (double)n;
    if (comm->rank == 0)
        printf("%s\t%s\t%d\t%.6f\t%.12f\t%s\n", k->name, dims, comm->size, 1e3 * bench_median(t, BATCHES), first.functional, backend->words(dev));
    fflush(stdout);
    backend->close(dev);
}

int main(int argc, char **argv)
{
    lat_tool_name = "bench_mpi";
    if (argc < 4 || argc % 2)
        return 2;
    if (lat_comm_start(0, argv))
        stop();
    const lat_backend *backend = lat_backend_find(strcmp(argv[1], "cpu") ? LAT_DEVICE_GPU : LAT_DEVICE_CPU);
    const char *transport = getenv("TRANSPORT"), *made = "";
    lat_field u = {.data = NULL};
    if (!backend)
        stop();
    if (transport)
        lat_gpu_opts.transport = !strcmp(transport, "staged") ? LAT_TRANSPORT_STAGED : LAT_TRANSPORT_PEER;
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(made, argv[i + 1])) {
            lat_field_free(&u);
            make_links(&u, made = argv[i + 1]);
        }
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (!strcmp(kinds[k].name, argv[i]))
                measure(backend, kinds + k, made, &u);
    }
    lat_field_free(&u);
    return 0;
}
