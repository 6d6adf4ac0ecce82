/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_flow: speed of the gradient flow, `make bench-flow`.
 *
 * First the answer is checked: densities of the flow are those of lib/measure, and two steps of
 * half the length are nearer to the flow by the order of the scheme. Then steps of fixed length,
 * adaptive steps and measurements are timed. Beside them stand plaquettes of the same links in the
 * lanes of lib/generate (a pass over all links), and the bandwidth of a copy of the same run.
 *
 * GB/s: what a step reads and writes at least, each field once a pass (bench/NOTES.md). Gflop/s: of
 * the products of matrices, of rows that are kept.
 *
 *     bench_flow [EXTENT [N]]      default 16; SU(N) alone */
#include <stdio.h>
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"
#include "base/threads.h"
#include "bench.h"
#include "flow/flow.h"
#include "generate/generate.h"
#include "measure/measure.h"

typedef struct line {
    int extent, nc, threads;
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

/* Of a site: a stage reads links, reads and writes the algebra, and reads it, reads and writes
 * links once more. With rectangles each plane writes and reads two links' worth of staples (four of
 * four directions), and links and the algebra of two directions are read again. */
static double bytes_of_step(int nc, bool rectangles)
{
    const double links = 4 * 2 * rows_of(nc) * nc * 8, algebra = 4. * nc * nc * 8;
    const double force = rectangles ? 6 * (links + links + links + links + algebra)
                                    : links + 2 * algebra;
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
    lat_flow *f = lat_flow_open(cpu_device(), u, &how);
    if (!f)
        stop("no flow");
    return f;
}

static double density(const lat_field *u, double c1, double step, double t)
{
    lat_flow_measured m;
    lat_flow *f = start(u, c1, step);
    if (lat_flow_advance(f, t) || lat_flow_measure(f, &m))
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
    lat_generator *gen = lat_generate_open(cpu_device(), u, LAT_F64, &action);
    if (!gen)
        stop("no generator");
    for (int r = 0; r < 9; r++) {
        const double begin = bench_time(threads);
        if (gen->ops->plaquette(gen, &s, &t))
            stop("plaquettes");
        best = fmin(best, bench_time(threads) - begin);
    }
    gen->ops->close(gen);
    return best;
}

static void print(const line *l, const char *what, double seconds, double flops, double bytes)
{
    const double gb = bytes * l->sites / seconds * 1e-9;
    printf("%5d^4  SU(%d)  %7d  %-22s %9.3f  %8.2f  %7.2f  %6.2f  %6.2f  %10.1f\n", l->extent,
           l->nc, l->threads, what, l->sites / seconds * 1e-6, flops * l->sites / seconds * 1e-9,
           gb, l->copy, gb / l->copy, seconds / l->plaquettes);
    fflush(stdout);
}

static void bench_action(const line *l, const lat_field *u, double c1, const char *name)
{
    char what[40];
    double fixed = 1e30, adaptive = 1e30;
    check(u, c1);
    for (int r = 0; r < 3; r++) {
        lat_flow *f = start(u, c1, .01);
        double begin = bench_time(l->threads);
        if (lat_flow_advance(f, .02))
            stop("a flow");
        fixed = fmin(fixed, (bench_time(l->threads) - begin) / 2);
        lat_flow_close(f);
        f = start(u, c1, 0);
        begin = bench_time(l->threads);
        if (lat_flow_advance(f, .02))
            stop("a flow");
        const long steps = lat_flow_steps(f) + lat_flow_rejected(f);
        adaptive = fmin(adaptive, (bench_time(l->threads) - begin) / (double)steps);
        lat_flow_close(f);
    }
    snprintf(what, sizeof what, "%s step", name);
    print(l, what, fixed, flops_of_step(l->nc, c1 != 0), bytes_of_step(l->nc, c1 != 0));
    snprintf(what, sizeof what, "%s adaptive step", name);
    print(l, what, adaptive, flops_of_step(l->nc, c1 != 0), bytes_of_step(l->nc, c1 != 0));
}

static void bench_numbers(const line *l, const lat_field *u)
{
    lat_flow_measured m;
    double best = 1e30;
    lat_flow *f = start(u, 0, 1);
    for (int r = 0; r < 5; r++) {
        const double begin = bench_time(l->threads);
        if (lat_flow_measure(f, &m))
            stop("a measurement");
        best = fmin(best, bench_time(l->threads) - begin);
    }
    lat_flow_close(f);
    /* Of each plane four staples and two products of whole matrices. */
    const double nc = l->nc,
                 flops = 6 * (8 * product(l->nc, rows_of(l->nc)) + 2 * product(l->nc, nc));
    print(l, "measurement", best, flops, 4 * 2 * rows_of(l->nc) * nc * 8);
}

static void bench(int extent, int nc, int threads)
{
    const lat_geometry geom = {4, {extent, extent, extent, extent}};
    lat_field u = field_new(LAT_GAUGE, geom, nc, LAT_F64);
    bench_threads(threads);
    fill_near_one_fast(&u, ROUGH, 1);
    need(lat_flow_prepare(&u) == 0, "links");
    line l = {.extent = extent, .nc = nc, .threads = threads, .sites = (double)lat_volume(&geom)};
    l.copy = bench_copy_bandwidth((size_t)(l.sites * 4 * 2 * rows_of(nc) * nc * 8), threads);
    l.plaquettes = seconds_of_plaquettes(&u, threads);
    bench_action(&l, &u, 0, "Wilson");
    bench_action(&l, &u, LAT_FLOW_SYMANZIK, "Symanzik");
    bench_numbers(&l, &u);
    lat_field_free(&u);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_flow";
    const int extent = argc > 1 ? atoi(argv[1]) : 16, only = argc > 2 ? atoi(argv[2]) : 0;
    const int most = bench_most_threads();
    printf(
        "lattice  group  threads  what                   Msites/s   Gflop/s     GB/s    copy  of "
        "copy  plaquettes\n");
    for (int nc = 2; nc <= 4; nc++)
        if (!only || only == nc)
            bench(extent, nc, 1);
    if (most > 1 && (!only || only == 3))
        bench(extent, 3, most);
    return 0;
}
