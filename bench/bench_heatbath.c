/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_heatbath: speed of heat bath and overrelaxation, `make bench-heatbath`.
 *
 * SU(2), SU(3), SU(4) and SU(6) in single and double on one thread, SU(3) on
 * all, and on a GPU where there is one: first the answer is checked (overrelaxation leaves the
 * action, heat bath sweeps keep links in SU(N)), then sweeps are timed. GB/s are by the count of
 * the generation paper's table 1: 19 links loaded and one stored for an update, SU(3) with 12 reals
 * a link; what caches serve again counts each time. Beside them stand the copy
 * bandwidth of the same run, and a plain scalar loop over the same site functions in natural order,
 * links with all their rows, in double.
 *
 *     bench_heatbath [EXTENT [cpu|gpu [N]]]       on the CPU, default 16; one of the two alone;
 * SU(N) alone */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "generate/generate.h"
#include "fix/fix_lanes.h"
#include "bench.h"
#include "../tests/check/devices.h"
#include "base/threads.h"
#include "../tests/check/fields.h"
#include "measure/measure.h"
#include "site/scalar.h"

/* The plain loop for SU(3): what a compiler makes of the site functions, one link after the other.
 */
static const m_d3 *link_of(const lat_field *u, size_t x, int mu)
{
    return (const m_d3 *)u->data + 4 * x + mu;
}

static void scalar_update(lat_field *f, size_t x, int mu, double k, int kind, uint32_t step)
{
    const lat_geometry *geom = &f->head.geom;
    const int64_t link = (int64_t)(4 * x) + mu;
    const rng_d3 d = {1, &link, 0, step};
    const size_t end = lat_neighbour(geom, x, mu, 1);
    m_d3 s = {{{{0, 0}}}}, v;
    for (int nu = 0; nu < 4; nu++) {
        if (nu == mu)
            continue;
        const size_t down = lat_neighbour(geom, x, nu, -1);
        staple_up_d3(&v, link_of(f, x, nu), link_of(f, lat_neighbour(geom, x, nu, 1), mu),
                     link_of(f, end, nu));
        staple_add_d3(&s, v, 1);
        staple_down_d3(&v, link_of(f, down, nu), link_of(f, down, mu),
                       link_of(f, lat_neighbour(geom, down, mu, 1), nu));
        staple_add_d3(&s, v, 1);
    }
    link_update_d3((m_d3 *)f->data + link, &s, k, kind, &d);
}

static void scalar_sweep(lat_field *f, double beta, int kind, uint32_t step)
{
    for (int mu = 0; mu < 4; mu++)
        for (int parity = 0; parity < 2; parity++)
            for (size_t x = 0; x < lat_volume(&f->head.geom); x++) {
                int at[LAT_MAX_DIMS];
                lat_coordinates(&f->head.geom, x, at);
                if (((at[0] + at[1] + at[2] + at[3]) & 1) == parity)
                    scalar_update(f, x, mu, beta / 3, kind, step);
            }
}

/* Seconds a sweep of the plain loop: heat bath, overrelaxation. */
static void time_scalar(const lat_field *u, double seconds[2])
{
    lat_field f = {.data = NULL};
    if (lat_header_copy(&f.head, &u->head) || lat_field_alloc(&f, &lat_comm_self))
        exit(lat_report(LAT_FAILED));
    memcpy(f.data, u->data, lat_field_reals(u) * sizeof(double));
    for (int k = 0; k < 2; k++) {
        seconds[k] = 1e30;
        for (int r = 0; r < 3; r++) {
            const double start = bench_time(1);
            scalar_sweep(&f, 6.0, k ? LAT_UPDATE_MICROCANONICAL : LAT_UPDATE_HEATBATH, (uint32_t)r);
            seconds[k] = fmin(seconds[k], bench_time(1) - start);
        }
    }
    lat_field_free(&f);
}

static int fail(const char *what, double found, double expected)
{
    fprintf(stderr, "bench_heatbath: %s: %.15g, expected %.15g\n", what, found, expected);
    return 1;
}

static int check(lat_generator *gen, lat_field *u, lat_real real)
{
    const lat_link_sweep draw = {LAT_UPDATE_HEATBATH, 1, 0, 0},
                         mirror = {.update = LAT_UPDATE_MICROCANONICAL};
    const double eps = real == LAT_F32 ? 0x1p-24 : 0x1p-53;
    const int nc = u->head.nc;
    double s[2], t[2];
    lat_deviation off;
    if (lat_generate_sweep(gen, &draw, 5) || lat_generate_plaquette(gen, &s[0], &s[1])
        || lat_generate_sweep(gen, &mirror, 1) || lat_generate_plaquette(gen, &t[0], &t[1])
        || lat_generate_get(gen, u) || lat_measure_deviation(u, &off))
        return lat_report(LAT_FAILED);
    if (!(fabs(s[0] + s[1] - t[0] - t[1]) <= 64 * nc * nc * eps))
        return fail("overrelaxation changed the action", t[0] + t[1], s[0] + s[1]);
    if (!(off.unitarity_max <= 32 * nc * eps))
        return fail("unitarity", off.unitarity_max, 0);
    return 0;
}

static const char *const names[] = {"heatbath", "overrelax"};

/* extent^4, rough links. */
static lat_field rough(int extent, int nc, lat_real real)
{
    const lat_geometry geom = {4, {extent, extent, extent, extent}};
    lat_field u = field_new(LAT_GAUGE, geom, nc, real);
    fill_near_one(&u, ROUGH, 1);
    return u;
}

static lat_generator *start(lat_device *on, lat_field *u)
{
    const int nc = u->head.nc;
    const lat_action action = {nc == 2 ? 2.4 : nc == 3 ? 6.0 : nc == 4 ? 10.9 : 25.05, 1};
    lat_generator *gen = lat_generate_open(on, u, u->head.real, &action);
    if (!gen || check(gen, u, u->head.real))
        exit(*lat_error() ? lat_report(LAT_FAILED) : 1);
    return gen;
}

static double reals_of(int nc) { return nc == 2 ? 4 : nc == 3 ? 12 : 2 * nc * nc; }

/* A row; `where`: threads, or the GPU. */
static void print_row(const lat_field *u, int k, const char *where, double seconds, double copy)
{
    const double links = (double)lat_field_matrices(u), reals = reals_of(u->head.nc),
                 gb = 20 * reals * u->head.real * links / seconds * 1e-9;
    printf("%5d^4  SU(%d)  %4.0f  %-9s  %-9s  %7s  %10.2f  %7.2f  %9.2f  %7.2f",
           u->head.geom.dims[0], u->head.nc, reals, u->head.real == LAT_F32 ? "single" : "double",
           names[k], where, links / seconds * 1e-6, gb, copy, gb / copy);
}

static void bench(int extent, int nc, lat_real real, int nthreads, const double reference[2])
{
    bench_threads(nthreads);
    lat_field u = rough(extent, nc, real);
    lat_generator *gen = start(cpu_device(), &u);
    const double links = (double)lat_field_matrices(&u);
    const double copy = bench_copy_bandwidth((size_t)(links * reals_of(nc) * real), nthreads);
    const long n = (long)(3e5 / links) + 1;
    for (int k = 0; k < 2; k++) {
        const lat_link_sweep how = {k ? LAT_UPDATE_MICROCANONICAL : LAT_UPDATE_HEATBATH, 1, 0, 9};
        char where[16];
        double best = 1e30;
        for (int r = 0; r < 7; r++) {
            const double begin = bench_time(nthreads);
            lat_generate_sweep(gen, &how, n);
            best = fmin(best, (bench_time(nthreads) - begin) / (double)n);
        }
        snprintf(where, sizeof where, "%d", nthreads);
        print_row(&u, k, where, best, copy);
        if (nc == 3)
            printf("  %18.1f", reference[k] / best / nthreads);
        printf("\n");
        fflush(stdout);
    }
    lat_generate_close(gen);
    lat_field_free(&u);
}

/* n sweeps and a plaquette, which waits for them. */
static double gpu_seconds(lat_generator *gen, const lat_link_sweep *how, long n)
{
    double s, t;
    const double begin = bench_now();
    if (lat_generate_sweep(gen, how, n) || lat_generate_plaquette(gen, &s, &t))
        exit(lat_report(LAT_FAILED));
    return bench_now() - begin;
}

static void bench_gpu(int extent, int nc, lat_real real)
{
    bench_threads(bench_most_threads());
    lat_field u = rough(extent, nc, real);
    lat_generator *gen = start(gpu_device(), &u);
    const double copy = lat_gpu_copy_bandwidth((size_t)1 << 30);
    for (int k = 0; k < 2; k++) {
        const lat_link_sweep how = {k ? LAT_UPDATE_MICROCANONICAL : LAT_UPDATE_HEATBATH, 1, 0, 9};
        const long n = (long)(0.02 / gpu_seconds(gen, &how, 1)) + 1;
        double t[7];
        for (int r = 0; r < 7; r++) {
            const double few = gpu_seconds(gen, &how, n);
            t[r] = (gpu_seconds(gen, &how, 3 * n) - few) / (double)(2 * n);
        }
        print_row(&u, k, "gpu", bench_median(t, 7), copy);
        printf("\n");
        fflush(stdout);
    }
    lat_generate_close(gen);
    lat_field_free(&u);
}

static void all_gpu(int nc)
{
    static const struct {
        int extent, nc;
    } lines[] = {{32, 3}, {48, 3}, {16, 3}, {32, 2}, {32, 4}, {16, 5}, {16, 6}, {16, 8}, {8, 16}};
    if (!gpu_device()) {
        printf("no GPU: %s\n", lat_error());
        return;
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (int p = 4; p <= 8; p += 4)
            if (!nc || nc == lines[i].nc)
                bench_gpu(lines[i].extent, lines[i].nc, (lat_real)p);
    }
}

static void all_cpu(int extent, int nc)
{
    static const int groups[] = {2, 3, 4, 6};
    const int most = bench_most_threads();
    double reference[2];
    lat_field u = rough(extent, 3, LAT_F64);
    time_scalar(&u, reference);
    for (int k = 0; k < 2; k++)
        printf("%5d^4  SU(3)    18  double     %-9s  %7d  %10.2f  plain scalar loop\n", extent,
               names[k], 1, (double)lat_field_matrices(&u) / reference[k] * 1e-6);
    lat_field_free(&u);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        const int group = groups[g];
        for (int p = 4; p <= 8; p += 4)
            for (int n = 1; (!nc || nc == group) && n <= (group == 3 ? most : 1);
                 n = n < most ? most : most + 1)
                bench(extent, group, (lat_real)p, n, reference);
    }
    bench_threads(most);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_heatbath";
    const int extent = argc > 1 ? atoi(argv[1]) : 16, nc = argc > 3 ? atoi(argv[3]) : 0;
    printf("lattice  group  reals  precision  sweep      threads  Mlinks/s    GB/s  copy GB/s  of "
           "copy  of scalar a thread\n");
    if (argc < 3 || !strcmp(argv[2], "cpu"))
        all_cpu(extent, nc);
    if (argc < 3 || !strcmp(argv[2], "gpu"))
        all_gpu(nc);
    return 0;
}
