/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_sweep: speed of the relaxation sweeps on the CPU, `make bench`.
 *
 * For 8^4, 16^4 and 24^4, in single and double, on 1 thread and on all: first the answer is checked (the
 * functional and theta of the lanes against those of the transformed links in natural order, and
 * that relaxation never lowers the functional), then the sweeps are timed. Rates are by the count
 * of the gauge-fixing paper, 2274 flop a site and sweep; GB/s count what a sweep must move: 2 D
 * links of a site as they are stored, g read and written. Beside them stands the copy bandwidth of
 * the same run, and a plain scalar sweep in double as the reference for ratios.
 *
 *     bench_sweep [LARGEST EXTENT]       default 24 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "backend/backend.h"
#include "backend/lanes.h"
#include "common/error.h"
#include "common/transform.h"
#include "site/sun.h"

#define FLOP 2274.0

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void threads(int n)
{
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *t, int n)
{
    qsort(t, (size_t)n, sizeof *t, by_size);
    return t[n / 2];
}

/* Copy bandwidth in GB/s, read and written bytes counted, of `bytes` bytes. */
static double copy_bandwidth(size_t bytes)
{
    size_t n = bytes / 2 / sizeof(double);
    double *a = lat_alloc(n, sizeof *a, "copy"), *b = lat_alloc(n, sizeof *b, "copy"), t[9];
    if (!a || !b)
        exit(lat_report(LAT_FAILED));
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] = (double)i;
    int repeat = (int)(256e6 / (double)bytes) + 1;
    for (int r = 0; r < 9; r++) {
        double start = now();
        for (int k = 0; k < repeat; k++) {
#pragma omp parallel for schedule(static)
            for (size_t i = 0; i < n; i++)
                b[i] = a[i] + (double)k;
        }
        t[r] = (now() - start) / repeat;
    }
    volatile double keep = b[n / 2];
    (void)keep;
    double dt = median(t, 9);
    free(a);
    free(b);
    return (double)(2 * n * sizeof(double)) / dt * 1e-9;
}

/* The reference: the same site functions one site after the other, scalar and in double, natural
 * order, links as they lie. What a compiler makes of a plain loop. */
#define LAT_T double
#define LAT_S double
#define LAT_SIZE 8
#define LAT_WIDTH 1
#define LAT_N 3
#define LAT_(x) scalar_##x
#define LAT_HD static inline __attribute__((unused))
#include "site/template.h"

static void scalar_sweep(const lat_field *u, double *g, double omega)
{
    const lat_geometry *geom = &u->head.geom;
    const double *links = u->data;
    for (int parity = 0; parity < 2; parity++)
        for (size_t x = 0; x < lat_volume(geom); x++) {
            int at[LAT_MAX_DIMS];
            lat_coordinates(geom, x, at);
            if (((at[0] + at[1] + at[2] + at[3]) & 1) != parity)
                continue;
            scalar_m k = {{{{0, 0}}}};
            for (int mu = 0; mu < 4; mu++) {
                const size_t up = lat_neighbour(geom, x, mu, 1), down = lat_neighbour(geom, x, mu, -1);
                double d[18];
                scalar_add_mul_dag(&k, links + 18 * (4 * x + (size_t)mu), g + 18 * up, 2, 1);
                lat_sun_dag(3, d, links + 18 * (4 * down + (size_t)mu));
                scalar_add_mul_dag(&k, d, g + 18 * down, 2, 1);
            }
            scalar_relax_su2((scalar_m *)(void *)(g + 18 * x), scalar_mul_left(g + 18 * x, &k), omega);
        }
}

static double time_scalar(const lat_field *u)
{
    size_t n = lat_volume(&u->head.geom);
    double *g = lat_alloc(n, 18 * sizeof *g, "g"), t[5];
    if (!g)
        exit(lat_report(LAT_FAILED));
    for (size_t x = 0; x < n; x++)
        lat_sun_one(3, g + 18 * x);
    for (int r = 0; r < 5; r++) {
        double start = now();
        scalar_sweep(u, g, 1.7);
        t[r] = now() - start;
    }
    free(g);
    return median(t, 5);
}

static int fail(const char *what, double found, double expected)
{
    fprintf(stderr, "bench_sweep: %s: %.15g, expected %.15g\n", what, found, expected);
    return 1;
}

/* The lanes against the links they stand for, and a monotone functional. */
static int check(lat_device *dev, const lat_field *u, const lat_condition *condition, lat_real real)
{
    lat_gauge_state s, t, last = {.functional = -1};
    const double one = 1;
    const lat_sweep plain = {.scheme = LAT_OVERRELAX_SU2, .omega = &one};
    lat_field g, v = {.data = NULL};
    /* Re tr x is a sum of 8 terms of order 3: a few roundings of it; independent over sites,
     * but theta counts them linearly. */
    double eps = real == LAT_F32 ? 0x1p-24 : 0x1p-53;
    for (int i = 0; i < 5; i++) {
        if (dev->backend->sweep(dev, &plain, 1) || dev->backend->state(dev, &s, NULL))
            return 1;
        if (!(s.functional >= last.functional - 64 * eps))
            return fail("relaxation lowered the functional", s.functional, last.functional);
        last = s;
    }
    if (lat_header_copy(&v.head, &u->head) || lat_field_alloc(&v) || lat_transform_new(&g, &u->head))
        return 1;
    memcpy(v.data, u->data, lat_field_reals(u) * sizeof(double));
    int bad = dev->backend->get(dev, 0, &g) || lat_transform_apply(&v, &g) || lat_measure_gauge(&v, condition, &t, NULL);
    lat_field_free(&g);
    lat_field_free(&v);
    if (bad)
        return 1;
    if (!(fabs(s.functional - t.functional) <= 64 * eps))
        return fail("functional", s.functional, t.functional);
    if (!(fabs(s.theta - t.theta) <= 1024 * eps * (1 + t.theta)))
        return fail("theta", s.theta, t.theta);
    return 0;
}

static int bench(const lat_field *u, int extent, lat_real real, int nthreads, double reference)
{
    static const double omega = 1.7;
    static const struct { const char *name; lat_sweep how; } scheme[] = {
        {"su2", {.scheme = LAT_OVERRELAX_SU2, .omega = &omega}}, {"su3", {.scheme = LAT_OVERRELAX_SU3, .omega = &omega}}};
    threads(nthreads);
    const lat_condition landau = lat_condition_of(LAT_LANDAU, &u->head.geom, -1);
    lat_device *dev = lat_backend_cpu.open(u, &landau, real, 1, &lat_comm_self);
    if (!dev || check(dev, u, &landau, real)) {
        if (*lat_error())
            lat_report(LAT_FAILED);
        return 1;
    }
    double sites = (double)lat_volume(&u->head.geom);
    double bytes = sites * real * (8 * 12 + 2 * 18), copy = copy_bandwidth((size_t)bytes);
    long n = (long)(4e5 / sites) + 1;
    for (int k = 0; k < 2; k++) {
        double t[7];
        dev->backend->sweep(dev, &scheme[k].how, n);
        for (int r = 0; r < 7; r++) {
            double start = now();
            dev->backend->sweep(dev, &scheme[k].how, n);
            t[r] = (now() - start) / (double)n;
        }
        double dt = median(t, 7);
        printf("%5d^4  %-9s  %-6s  %7d  %8.1f  %8.1f  %6.2f  %9.2f  %7.2f  %18.1f\n", extent, real == LAT_F32 ? "single" : "double",
               scheme[k].name, nthreads, 1 / dt, FLOP * sites / dt * 1e-6, bytes / dt * 1e-9, copy,
               bytes / dt * 1e-9 / copy, reference / dt / nthreads);
        fflush(stdout);
    }
    lat_backend_cpu.close(dev);
    return 0;
}

int main(int argc, char **argv)
{
    lat_tool_name = "bench_sweep";
    int largest = argc > 1 ? atoi(argv[1]) : 24, most = 1;
#ifdef _OPENMP
    most = omp_get_max_threads();
#endif
    printf("lattice  precision  scheme  threads  sweeps/s   Mflop/s    GB/s  copy GB/s  of copy  of scalar a thread\n");
    const int extents[] = {8, 16, 24};
    for (int i = 0; i < 3 && extents[i] <= largest; i++) {
        lat_field u = {.data = NULL};
        lat_header_init(&u.head);
        for (int mu = 0; mu < 4; mu++)
            u.head.geom.dims[mu] = extents[i];
        u.head.geom.nd = 4;
        if (lat_field_alloc(&u))
            return lat_report(LAT_FAILED);
        /* Links about as rough as thermal ones of beta = 6: plaquette near 0.6. */
#pragma omp parallel for schedule(static)
        for (size_t k = 0; k < lat_field_matrices(&u); k++)
            lat_sun_near_one(3, (double *)u.data + 18 * k, 0.35, 1, k, 0, 0);
        threads(1);
        double reference = time_scalar(&u);
        printf("%5d^4  %-9s  %-6s  %7d  %8.1f  %8.1f  %6s  %9s  %7s  %18.1f\n", extents[i], "double", "scalar", 1, 1 / reference,
               FLOP * (double)lat_volume(&u.head.geom) / reference * 1e-6, "", "", "", 1.0);
        for (int p = 0; p < 2; p++)
            for (int n = 1; n <= most; n = n < most ? most : most + 1)
                if (bench(&u, extents[i], p ? LAT_F32 : LAT_F64, n, reference))
                    return 1;
        lat_field_free(&u);
    }
    return 0;
}
