/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_flow: speed of the gradient flow, `make bench-flow`.
 *
 * First the answer is checked: densities of the flow are those of lib/measure, and two steps of
 * half the length are nearer to the flow by the order of the scheme. Then steps of fixed length,
 * adaptive steps and measurements are timed, on the CPU and on a GPU if there is one. Beside them
 * stand plaquettes of the same links by lib/generate (a pass over all links), and the bandwidth of
 * a copy of the same run.
 *
 * GB/s: what a step reads and writes at least, each field once a pass (bench/history). Gflop/s: of
 * the products of matrices, of rows that are kept.
 *
 *     bench_flow [EXTENT [N [cpu|gpu]]]      default 16, on a GPU 16, 32 and 48; SU(N) alone */
#include <stdio.h>
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"
#include "base/threads.h"
#include "bench.h"
#include "flow/flow.h"
#include "generate/generate.h"
#include "measure/measure.h"

static lat_device *on;

typedef struct line {
    int extent, nc, threads;        /* threads: 0 on a GPU */
    double sites, copy, plaquettes; /* GB/s; seconds of a pass */
} line;

static double rows_of(int nc) { return nc <= 3 ? nc - 1 : nc; }

/* Flops of a product of which `rows` rows are made, and of three matrices in a staple. */
static double product(int nc, double rows) { return rows * nc * (8. * nc - 2); }

/* Of a site: of each link 2 (nd - 1) staples of two products, U S^+ and exp(..) U. The exponential
 * itself is not counted. With rectangles: eight products of whole matrices for each plane of a
 * link, and its four staples. */
static double flops_of_step(int nc, bool rectangles)
{
    const double staple = 2 * product(nc, rows_of(nc)), whole = product(nc, nc);
    const double force = rectangles ? 4 * (3 * (2 * staple + 10 * whole) + 3 * whole)
                                    : 4 * (6 * staple + whole);
    return 3 * (force + 4 * product(nc, rows_of(nc)));
}

/* Of a site: links, and elements of the algebra, on a GPU an even number of reals each. On the CPU
 * a stage reads links, reads and writes the algebra, and reads it, reads and writes links once
 * more. With rectangles each plane writes and reads two links' worth of staples (four of four
 * directions), and links and the algebra of two directions are read again. A GPU does a stage of
 * the Wilson flow in one pass, and leaves out the algebra before the first one and after the last.
 */
static double bytes_of_step(int nc, bool rectangles)
{
    const double links = 4 * 2 * rows_of(nc) * nc * 8;
    const double algebra = 4. * 8 * (on->gpu ? (nc * nc + 1) / 2 * 2 : nc * nc);
    if (on->gpu)
        return rectangles ? 3 * (6 * (3 * links + algebra) + 2 * links + algebra)
                          : 6 * links + 4 * algebra;
    const double force = rectangles ? 6 * (4 * links + algebra) : links + 2 * algebra;
    return 3 * (force + algebra + 2 * links);
}

static void stop(const char *what)
{
    fprintf(stderr, "bench_flow: %s%s%s\n", what, *lat_error() ? ": " : "", lat_error());
    exit(1);
}

static lat_flow *start(const lat_field *u, double c1, double step)
{
    const lat_flow_how how = {.c1 = c1, .step = step, .tolerance = 1e-5};
    lat_flow *f = lat_flow_open(on, u, &how);
    if (!f)
        stop("no flow");
    return f;
}

static double density(const lat_field *u, double c1, double step, double t)
{
    lat_flow_measured m;
    lat_flow *f = start(u, c1, step);
    if (lat_flow_advance(f, t) || lat_flow_measure(f, &m, NULL))
        stop("a flow");
    lat_flow_close(f);
    return m.temporal + m.spatial;
}

static void check(const lat_field *u, double c1)
{
    const double t = .02, fine = density(u, c1, t / 8, t);
    const double ratio = (density(u, c1, t, t) - fine) / (density(u, c1, t / 2, t) - fine);
    lat_clover c;
    if (lat_measure_clover(u, &c))
        stop("a clover");
    if (!(fabs(density(u, c1, 1, 0) - c.density) <= 1e-12 * c.density))
        stop("the density is not that of lib/measure");
    if (!(ratio > 5 && ratio < 12))
        stop("errors do not fall with the third power of the step");
}

static double seconds_of_plaquettes(const lat_field *u, int threads)
{
    const lat_action action = {.beta = 6, .xi = 1};
    double best = 1e30, s, t;
    lat_generator *gen = lat_generate_open(on, u, LAT_F64, &action);
    if (!gen)
        stop("no generator");
    for (int r = 0; r < 9; r++) {
        const double begin = bench_time(threads);
        if (lat_generate_plaquette(gen, &s, &t))
            stop("plaquettes");
        best = fmin(best, bench_time(threads) - begin);
    }
    lat_generate_close(gen);
    return best;
}

static void print(const line *l, const char *what, double seconds, double flops, double bytes)
{
    const double gb = bytes * l->sites / seconds * 1e-9;
    char threads[16] = "gpu";
    if (l->threads)
        snprintf(threads, sizeof threads, "%d", l->threads);
    printf("%5d^4  SU(%d)  %7s  %-22s %9.3f  %8.2f  %7.2f  %6.2f  %6.2f  %10.1f\n", l->extent,
           l->nc, threads, what, l->sites / seconds * 1e-6, flops * l->sites / seconds * 1e-9, gb,
           l->copy, gb / l->copy, seconds / l->plaquettes);
    fflush(stdout);
}

/* Of n steps and a measurement, for which a GPU waits. */
static double seconds_of_steps(const line *l, const lat_field *u, double c1, double step, int n,
                               double *steps)
{
    lat_flow_measured m;
    lat_flow *f = start(u, c1, step);
    if (lat_flow_measure(f, &m, NULL))
        stop("a measurement");
    const double begin = bench_time(l->threads);
    if (lat_flow_advance(f, n * .01) || lat_flow_measure(f, &m, NULL))
        stop("a flow");
    const double seconds = bench_time(l->threads) - begin;
    *steps = (double)(lat_flow_steps(f) + lat_flow_rejected(f));
    lat_flow_close(f);
    return seconds;
}

static void bench_action(const line *l, const lat_field *u, double c1, const char *name,
                         double measurement)
{
    const int n = on->gpu ? 10 : 2;
    char what[40];
    double fixed = 1e30, adaptive = 1e30, steps;
    check(u, c1);
    for (int r = 0; r < 3; r++) {
        fixed = fmin(fixed, (seconds_of_steps(l, u, c1, .01, n, &steps) - measurement) / n);
        const double s = seconds_of_steps(l, u, c1, 0, n, &steps) - measurement;
        adaptive = fmin(adaptive, s / steps);
    }
    const double flops = flops_of_step(l->nc, c1 != 0), bytes = bytes_of_step(l->nc, c1 != 0);
    snprintf(what, sizeof what, "%s step", name);
    print(l, what, fixed, flops, bytes);
    snprintf(what, sizeof what, "%s adaptive step", name);
    print(l, what, adaptive, flops, bytes);
}

static double bench_numbers(const line *l, const lat_field *u)
{
    lat_flow_measured m;
    double best = 1e30;
    lat_flow *f = start(u, 0, 1);
    for (int r = 0; r < 5; r++) {
        const double begin = bench_time(l->threads);
        if (lat_flow_measure(f, &m, NULL))
            stop("a measurement");
        best = fmin(best, bench_time(l->threads) - begin);
    }
    lat_flow_close(f);
    /* Of each plane four staples and two products of whole matrices. */
    const double nc = l->nc,
                 flops = 6 * (8 * product(l->nc, rows_of(l->nc)) + 2 * product(l->nc, nc));
    print(l, "measurement", best, flops, 4 * 2 * rows_of(l->nc) * nc * 8);
    return best;
}

static void bench(int extent, int nc, int threads)
{
    const lat_geometry geom = {4, {extent, extent, extent, extent}};
    lat_field u = field_new(LAT_GAUGE, geom, nc, LAT_F64);
    bench_threads(threads ? threads : bench_most_threads());
    on = threads ? cpu_device() : gpu_device();
    fill_near_one_fast(&u, ROUGH, 1);
    need(lat_flow_prepare(&u) == 0, "links");
    line l = {.extent = extent, .nc = nc, .threads = threads, .sites = (double)lat_volume(&geom)};
    l.copy = threads
                 ? bench_copy_bandwidth((size_t)(l.sites * 4 * 2 * rows_of(nc) * nc * 8), threads)
                 : lat_gpu_copy_bandwidth((size_t)1 << 30);
    l.plaquettes = seconds_of_plaquettes(&u, threads);
    const double measurement = bench_numbers(&l, &u);
    bench_action(&l, &u, 0, "Wilson", measurement);
    bench_action(&l, &u, LAT_FLOW_SYMANZIK, "Symanzik", measurement);
    lat_field_free(&u);
}

static void bench_cpu(int extent, int only)
{
    const int most = bench_most_threads();
    for (int nc = 2; nc <= 4; nc++)
        if (!only || only == nc)
            bench(extent, nc, 1);
    if (most > 1 && (!only || only == 3))
        bench(extent, 3, most);
}

static void bench_gpu(int extent, int only)
{
    for (int nc = 2; nc <= 4 && gpu_device(); nc++) {
        lat_field u = field_new(LAT_GAUGE, (lat_geometry){4, {2, 2, 2, 2}}, nc, LAT_F64);
        for (int e = extent ? extent : 16; e <= (extent ? extent : 48); e += 16)
            if ((!only || only == nc) && lat_flow_check(gpu_device(), &u) == 0)
                bench(e, nc, 0);
        lat_field_free(&u);
    }
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_flow";
    const int extent = argc > 1 ? atoi(argv[1]) : 0, only = argc > 2 ? atoi(argv[2]) : 0;
    const char *where = argc > 3 ? argv[3] : "";
    printf(
        "lattice  group  threads  what                   Msites/s   Gflop/s     GB/s    copy  of "
        "copy  plaquettes\n");
    if (*where != 'g')
        bench_cpu(extent ? extent : 16, only);
    if (*where != 'c')
        bench_gpu(extent, only);
    return 0;
}
