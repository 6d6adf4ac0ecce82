/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_sweep: speed of the sweeps on the CPU, `make bench`.
 *
 * For 8^4, 16^4 and 24^4, in single and double, on 1 thread and on all: first the answer is checked
 * (the functional and theta of the lanes against those of the transformed links in natural order,
 * that relaxation never lowers the functional, that microcanonical sweeps leave it), then the
 * sweeps are timed. Rates are by the count of the gauge-fixing paper, 2274 flop a site and sweep;
 * GB/s count what a sweep must move: 2 D links of a site as they are stored, g read and written.
 * Beside them stands the copy bandwidth of the same run, and a plain scalar sweep in double as the
 * reference. Last come ratios of sweeps, on one thread, beside the bounds that they are to keep.
 *
 * All times are the best of many short repetitions, those that are compared taking turns: what else
 * runs on the machine then disturbs some of them, and all alike.
 *
 *     bench_sweep [LARGEST EXTENT]       default 24 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "../tests/check/devices.h"
#include "fix/fix.h"
#include "fix/fix_lanes.h"
#include "bench.h"
#include "base/error.h"
#include "base/threads.h"
#include "base/memory.h"
#include "lattice/transform.h"
#include "site/scalar.h"
#include "site/sun.h"
#include "../tests/check/fields.h"

#define FLOP 2274.0

/* The reference: the same site functions one site after the other, scalar and in double, natural
 * order, links as they lie. What a compiler makes of a plain loop. */
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
            m_d3 k = {{{{0, 0}}}};
            for (int mu = 0; mu < 4; mu++) {
                const size_t up = lat_neighbour(geom, x, mu, 1),
                             down = lat_neighbour(geom, x, mu, -1);
                double d[18];
                add_mul_dag_d3(&k, links + 18 * (4 * x + (size_t)mu), g + 18 * up, 2, 1);
                lat_sun_dag(3, d, links + 18 * (4 * down + (size_t)mu));
                add_mul_dag_d3(&k, d, g + 18 * down, 2, 1);
            }
            relax_su2_d3((m_d3 *)(void *)(g + 18 * x), mul_left_d3(g + 18 * x, &k), omega);
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
        const double start = bench_now();
        scalar_sweep(u, g, 1.7);
        t[r] = bench_now() - start;
    }
    free(g);
    return bench_median(t, 5);
}

static int fail(const char *what, double found, double expected)
{
    fprintf(stderr, "bench_sweep: %s: %.15g, expected %.15g\n", what, found, expected);
    return 1;
}

/* The lanes against the links they stand for, a monotone functional, and one that stays. */
static int check(lat_fixer *dev, const lat_field *u, const lat_condition *condition, lat_real real)
{
    const double one = 1;
    const lat_sweep plain = {.update = LAT_UPDATE_RELAX_SU2, .omega = &one};
    const lat_sweep bath = {.update = LAT_UPDATE_HEATBATH, .temperature = 0.5},
                    micro = {.update = LAT_UPDATE_MICROCANONICAL, .temperature = 0.5};
    lat_gauge_state s, t, last = {.functional = -1};
    lat_field g, v = {.data = NULL};
    /* Re tr x is a sum of 8 terms of order 3: a few roundings of it; independent over sites,
     * but theta counts them linearly. */
    const double eps = real == LAT_F32 ? 0x1p-24 : 0x1p-53;
    for (int i = 0; i < 5; i++) {
        if (lat_fix_sweep(dev, &plain, 1) || lat_fix_state(dev, &s, NULL))
            return 1;
        if (!(s.functional >= last.functional - 64 * eps))
            return fail("relaxation lowered the functional", s.functional, last.functional);
        last = s;
    }
    if (lat_fix_sweep(dev, &bath, 1) || lat_fix_state(dev, &last, NULL)
        || lat_fix_sweep(dev, &micro, 3) || lat_fix_state(dev, &s, NULL))
        return 1;
    if (!(fabs(s.functional - last.functional) <= 64 * eps))
        return fail("microcanonical sweeps changed the functional", s.functional, last.functional);
    if (lat_header_copy(&v.head, &u->head) || lat_field_alloc(&v, &lat_comm_self)
        || lat_transform_new(&g, &u->head, &lat_comm_self))
        return 1;
    memcpy(v.data, u->data, lat_field_reals(u) * sizeof(double));
    const int bad = lat_fix_get(dev, 0, &g) || lat_transform_apply(&v, &g)
                    || lat_measure_gauge(&v, condition, &t, NULL, NULL);
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

/* Opened, checked, and closed again if that failed. */
static lat_fixer *open_checked(const lat_field *u, const lat_condition *c, lat_real real)
{
    lat_fixer *dev = lat_fix_open(cpu_device(), u, c, real, 1);
    if (!dev || check(dev, u, c, real)) {
        if (*lat_error())
            lat_report(LAT_FAILED);
        if (dev)
            lat_fix_close(dev);
        return NULL;
    }
    return dev;
}

static const double omega = 1.7;
static const lat_sweep su2 = {.update = LAT_UPDATE_RELAX_SU2, .omega = &omega};
static const lat_sweep su3 = {.update = LAT_UPDATE_RELAX_SUN, .omega = &omega};

/* Seconds a sweep. */
typedef struct {
    lat_fixer *dev;
    lat_sweep how;
    double best;
} contest;

/* All of them in turn, there and back, for about as long as `seconds`: each then comes after one
 * with the same fields, and finds them in the caches as it would alone. One thread is timed by what
 * it had of its core. */
static void compete(contest *c, int n, int nthreads, double sites, double seconds)
{
    const clockid_t clock = nthreads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    const long sweeps = (long)(1e4 / sites) + 1; /* a millisecond or so */
    const double end = bench_now() + seconds;
    for (int i = 0; i < n; i++)
        c[i].best = INFINITY;
    for (int back = 0; bench_now() < end; back = !back)
        for (int k = 0; k < n; k++) {
            const int i = back ? n - 1 - k : k;
            lat_fix_sweep(c[i].dev, &c[i].how, 1);
            c[i].how.step++;
            const double start = bench_seconds(clock);
            lat_fix_sweep(c[i].dev, &c[i].how, sweeps);
            c[i].best = fmin(c[i].best, (bench_seconds(clock) - start) / (double)sweeps);
            c[i].how.step += (uint32_t)sweeps;
        }
}

static int rates(const lat_field *u, int extent, lat_real real, int nthreads, double reference)
{
    bench_threads(nthreads);
    const lat_condition landau = lat_condition_of(LAT_LANDAU, &u->head.geom, -1);
    lat_fixer *dev = open_checked(u, &landau, real);
    if (!dev)
        return 1;
    const double sites = (double)lat_volume(&u->head.geom);
    const double bytes = sites * real * (8 * 12 + 2 * 18),
                 copy = bench_copy_bandwidth((size_t)bytes, nthreads);
    contest c[] = {{dev, su2, 0}, {dev, su3, 0}};
    compete(c, 2, nthreads, sites, 1);
    for (int k = 0; k < 2; k++) {
        const double dt = c[k].best;
        printf("%5d^4  %-9s  %-6s  %7d  %8.1f  %8.1f  %6.2f  %9.2f  %7.2f  %18.1f\n", extent,
               real == LAT_F32 ? "single" : "double", k ? "su3" : "su2", nthreads, 1 / dt,
               FLOP * sites / dt * 1e-6, bytes / dt * 1e-9, copy, bytes / dt * 1e-9 / copy,
               reference / dt / nthreads);
        fflush(stdout);
    }
    lat_fix_close(dev);
    return 0;
}

static void ratio(int extent, lat_real real, const char *what, double found, double bound)
{
    printf("%5d^4  %-9s  %-62s  %5.2f  %5.2f  %s\n", extent, real == LAT_F32 ? "single" : "double",
           what, found, bound, found <= bound ? "PASS" : "above");
    fflush(stdout);
}

/* What kinds of sweep cost, in terms of each other. */
static int ratios(const lat_field *u, int extent, lat_real real)
{
    enum { LANDAU2, LANDAU3, HEAT, MICRO, MAG2, MAG3, COULOMB2, COULOMB3, N };
    static const lat_gauge gauge[] = {LAT_LANDAU, LAT_MAG, LAT_COULOMB};
    lat_fixer *dev[3] = {NULL};
    int bad = 0;
    bench_threads(1);
    for (int i = 0; i < 3 && !bad; i++) {
        const lat_condition c = lat_condition_of(gauge[i], &u->head.geom,
                                                 gauge[i] == LAT_COULOMB ? 3 : -1);
        bad = !(dev[i] = open_checked(u, &c, real));
    }
    if (!bad) {
        /* Annealing in the middle of its range; each gauge's g has seen some sweeps, and stays
         * rough. */
        const lat_sweep heat = {.update = LAT_UPDATE_HEATBATH, .temperature = 0.7},
                        micro = {.update = LAT_UPDATE_MICROCANONICAL, .temperature = 0.7};
        contest c[N] = {{dev[0], su2, 0}, {dev[0], su3, 0}, {dev[0], heat, 0}, {dev[0], micro, 0},
                        {dev[1], su2, 0}, {dev[1], su3, 0}, {dev[2], su2, 0},  {dev[2], su3, 0}};
        compete(c, N, 1, (double)lat_volume(&u->head.geom), extent == 8 ? 4 : 10);
        const double anneal = c[HEAT].best + 3 * c[MICRO].best;
        ratio(extent, real, "su3 / su2, Landau", c[LANDAU3].best / c[LANDAU2].best, 1.35);
        ratio(extent, real, "MAG / Landau, su2", c[MAG2].best / c[LANDAU2].best, 1.6);
        ratio(extent, real, "MAG / Landau, su3", c[MAG3].best / c[LANDAU3].best, 1.6);
        ratio(extent, real, "heat bath and 3 microcanonical / 4 su2",
              anneal / (4 * c[LANDAU2].best), 1.8);
        ratio(extent, real, "heat bath and 3 microcanonical / 4 su3",
              anneal / (4 * c[LANDAU3].best), 1.8);
        ratio(extent, real, "Coulomb / Landau, su2", c[COULOMB2].best / c[LANDAU2].best, 0.85);
        ratio(extent, real, "Coulomb / Landau, su3", c[COULOMB3].best / c[LANDAU3].best, 0.85);
    }
    for (int i = 0; i < 3; i++)
        if (dev[i])
            lat_fix_close(dev[i]);
    return bad;
}

/* extent^4, rough links. */
static lat_field rough(int extent)
{
    const lat_geometry geom = {4, {extent, extent, extent, extent}};
    lat_field u = field_new(LAT_GAUGE, geom, 3, LAT_F64);
    fill_near_one(&u, ROUGH, 1);
    return u;
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    static const int extents[] = {8, 16, 24};
    static const lat_real reals[] = {LAT_F64, LAT_F32};
    lat_tool_name = "bench_sweep";
    const int largest = argc > 1 ? atoi(argv[1]) : 24, most = bench_most_threads();
    lat_field u;
    printf("lattice  precision  scheme  threads  sweeps/s   Mflop/s    GB/s  copy GB/s  of copy  "
           "of scalar a thread\n");
    for (int i = 0; i < 3 && extents[i] <= largest; i++) {
        u = rough(extents[i]);
        bench_threads(1);
        const double reference = time_scalar(&u);
        printf("%5d^4  %-9s  %-6s  %7d  %8.1f  %8.1f  %6s  %9s  %7s  %18.1f\n", extents[i],
               "double", "scalar", 1, 1 / reference,
               FLOP * (double)lat_volume(&u.head.geom) / reference * 1e-6, "", "", "", 1.0);
        for (int p = 0; p < 2; p++)
            for (int n = 1; n <= most; n = n < most ? most : most + 1)
                if (rates(&u, extents[i], reals[p], n, reference))
                    return 1;
        lat_field_free(&u);
        bench_threads(most);
    }
    printf("\nlattice  precision  %-62s  ratio  bound\n", "time a site and sweep");
    for (int i = 0; i < 2 && extents[i] <= largest; i++) {
        u = rough(extents[i]);
        for (int p = 0; p < 2; p++)
            if (ratios(&u, extents[i], reals[p]))
                return 1;
        lat_field_free(&u);
        bench_threads(most);
    }
    return 0;
}
