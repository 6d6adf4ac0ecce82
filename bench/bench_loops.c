/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_loops: speed of Wilson loops, `make bench-loops`.
 *
 * First the answer is checked: loops of one step are plaquettes of lib/measure. Then all loops of a
 * lattice are timed, on axis, with one level and with three (without the time of smearing: all
 * levels are thin links).
 *
 * A line of n steps of a site and time: a product of matrices (8 N^3 flops), which reads two and
 * writes one (3 * 16 N^2 bytes). A loop: an overlap (4 N^2 flops), which reads from the cache.
 * Beyond the boundary a line costs two products more. Loops/s counts W_ij(R, T) at a site, time and
 * direction.
 *
 * On a GPU the time has the way of the links there in it.
 *
 *     bench_loops [EXTENT [N [cpu|gpu]]]      default 16, on a GPU 16 and 32, SU(2) to SU(4) */
#include <stdio.h>
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"
#include "base/threads.h"
#include "bench.h"
#include "loops/loops.h"
#include "measure/measure.h"

static lat_device *on;

static void stop(const char *what)
{
    fprintf(stderr, "bench_loops: %s%s%s\n", what, *lat_error() ? ": " : "", lat_error());
    exit(1);
}

static double *loops_of(lat_field *u, const lat_loops_how *how)
{
    const size_t count = (size_t)(lat_loops_separations(how, NULL) * how->time
                                  * lat_loops_pairs(how));
    double *w = lat_alloc(count, sizeof *w, "loops");
    if (!w || lat_loops_wilson(on, u, how, w))
        stop("no loops");
    return w;
}

static void check(lat_field *u, const lat_loops_how *how)
{
    double spatial, temporal, *w = loops_of(u, how);
    if (lat_measure_planes(u, &spatial, &temporal))
        stop("no plaquette");
    if (!(fabs(w[0] - temporal) <= 1e-13))
        stop("loops of one step are not plaquettes");
    free(w);
}

/* threads: 0 on the GPU. */
static void bench(int extent, int nc, int levels, int threads)
{
    const lat_geometry geom = {4, {extent, extent, extent, 2 * extent}};
    lat_loops_how how = {
        .distance = extent / 2, .time = extent, .classes = 1, .vector = {{1}}, .levels = levels};
    lat_field u = field_new(LAT_GAUGE, geom, nc, LAT_F64);
    bench_threads(threads ? threads : bench_most_threads());
    on = threads ? cpu_device() : gpu_device();
    fill_near_one_fast(&u, ROUGH, 1);
    check(&u, &how);
    double best = 1e30;
    for (int r = 0; r < 3; r++) {
        const double begin = bench_time(threads);
        free(loops_of(&u, &how));
        best = fmin(best, bench_time(threads) - begin);
    }
    const double lines = 3. * (double)lat_volume(&geom) * how.distance, n = nc;
    const double loops = lines * how.time * levels * levels;
    const double flops = lines * levels * 8 * n * n * n * (1 + 2. * how.time / (2 * extent))
                         + loops * 4 * n * n;
    printf("%3d^3 %d  SU(%d)  %7d  %6d  %8.2f  %9.1f  %8.2f\n", extent, 2 * extent, nc, threads,
           levels, best, loops / best * 1e-6, flops / best * 1e-9);
    fflush(stdout);
    lat_field_free(&u);
}

static void bench_cpu(int extent, int only)
{
    const int most = bench_most_threads();
    for (int nc = 2; nc <= 4; nc++)
        for (int levels = 1; levels <= 3 && (!only || only == nc); levels += 2)
            bench(extent, nc, levels, 1);
    if (most > 1)
        bench(extent, only ? only : 3, 3, most);
}

static void bench_gpu(int extent, int only)
{
    const lat_loops_how how = {
        .distance = 1, .time = 1, .classes = 1, .vector = {{1}}, .levels = 1};
    for (int nc = 2; nc <= 4 && gpu_device(); nc++) {
        lat_field u = field_new(LAT_GAUGE, (lat_geometry){4, {2, 2, 2, 2}}, nc, LAT_F64);
        const bool can = lat_loops_check_device(gpu_device(), &u, &how) == 0;
        for (int e = extent ? extent : 16; can && e <= (extent ? extent : 32); e += 16)
            for (int levels = 1; levels <= 3 && (!only || only == nc); levels += 2)
                bench(e, nc, levels, 0);
        lat_field_free(&u);
    }
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_loops";
    const int extent = argc > 1 ? atoi(argv[1]) : 0, only = argc > 2 ? atoi(argv[2]) : 0;
    const char *where = argc > 3 ? argv[3] : "";
    if (extent < 0 || extent % 2)
        stop("expected an even extent");
    printf("lattice   group  threads  levels   seconds  Mloops/s   Gflop/s\n");
    if (*where != 'g')
        bench_cpu(extent ? extent : 16, only);
    if (*where != 'c')
        bench_gpu(extent, only);
    return 0;
}
