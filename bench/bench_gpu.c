/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_gpu: speed of the sweeps on one GPU, `make bench-gpu`.
 *
 * For each line the answer is checked first: the functional after some sweeps against that of the
 * CPU backend in double. Then the sweeps are timed, median of 7, some hundred sweeps each. Rates
 * are by the count of the gauge-fixing paper, 2274 flop a site and sweep, in all gauges and groups.
 * Above them stands the copy bandwidth of the same run; "copy" is the part of it that the bytes of
 * a sweep are, each counted once.
 *
 *     bench_gpu [NAME [LATTICE [unchecked]]]     lines that contain NAME and LATTICE alone */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fix/fix.h"
#include "bench.h"
#include "base/error.h"
#include "base/threads.h"
#include "base/memory.h"
#include "lattice/transform.h"
#include "site/sun.h"
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"

#define FLOP 2274.0
#define REPEAT 7

static const double omega[16] = {1.7, 1.7, 1.7, 1.7, 1.7, 1.7, 1.7, 1.7,
                                 1.7, 1.7, 1.7, 1.7, 1.7, 1.7, 1.7, 1.7};

#define SU2 \
    { \
        .update = LAT_UPDATE_RELAX_SU2, .omega = omega, .temperature = 1 \
    }
#define SU3 \
    { \
        .update = LAT_UPDATE_RELAX_SUN, .omega = omega, .temperature = 1 \
    }
#define STOCHASTIC(scheme) \
    { \
        .update = LAT_UPDATE_STOCHASTIC_##scheme, .omega = omega, .stochastic = 0.3, \
        .temperature = 1, .seed = 1 \
    }
#define BATH \
    { \
        .update = LAT_UPDATE_HEATBATH, .temperature = 0.5, .seed = 1 \
    }
#define COLD \
    { \
        .update = LAT_UPDATE_HEATBATH, .temperature = 0.15, .seed = 1 \
    }
#define MICRO \
    { \
        .update = LAT_UPDATE_MICROCANONICAL, .temperature = 1 \
    }

typedef struct line {
    const char *name, *dims;
    int nc;
    lat_gauge gauge;
    lat_real real;
    int copies;
    lat_sweep how;
    double must, aim; /* Tflop/s; below zero: ms a sweep; 0: nothing was promised */
} line;

/* What a larger group does, in single and double: every algorithm; Coulomb gauge. */
#define LARGER(name, dims, nc, copies) \
    {name, dims, nc, LAT_LANDAU, LAT_F32, copies, SU2, 0, 0}, \
        {name " su3", dims, nc, LAT_LANDAU, LAT_F32, copies, SU3, 0, 0}, \
        {name " heat bath", dims, nc, LAT_LANDAU, LAT_F32, copies, COLD, 0, 0}, \
        {name " microcanonical", dims, nc, LAT_LANDAU, LAT_F32, copies, MICRO, 0, 0}, \
        {name " stochastic", dims, nc, LAT_LANDAU, LAT_F32, copies, STOCHASTIC(SU2), 0, 0}, \
        {name " stochastic su3", dims, nc, LAT_LANDAU, LAT_F32, copies, STOCHASTIC(SUN), 0, 0}, \
        {name " Coulomb", dims, nc, LAT_COULOMB, LAT_F32, copies, SU2, 0, 0}, \
        {name, dims, nc, LAT_LANDAU, LAT_F64, copies, SU2, 0, 0}, \
        {name " su3", dims, nc, LAT_LANDAU, LAT_F64, copies, SU3, 0, 0}, \
        {name " heat bath", dims, nc, LAT_LANDAU, LAT_F64, copies, COLD, 0, 0}, \
        {name " microcanonical", dims, nc, LAT_LANDAU, LAT_F64, copies, MICRO, 0, 0}, \
        {name " stochastic", dims, nc, LAT_LANDAU, LAT_F64, copies, STOCHASTIC(SU2), 0, 0}, \
    { \
        name " stochastic su3", dims, nc, LAT_LANDAU, LAT_F64, copies, STOCHASTIC(SUN), 0, 0 \
    }

static const line lines[] = {
    {"overrelaxation", "32 32 32 32", 3, LAT_LANDAU, LAT_F32, 1, SU2, 17, 20},
    {"overrelaxation", "48 48 48 48", 3, LAT_LANDAU, LAT_F32, 1, SU2, 17, 20},
    {"overrelaxation", "64 64 64 32", 3, LAT_LANDAU, LAT_F32, 1, SU2, 17, 20},
    {"overrelaxation", "32 32 32 32", 3, LAT_LANDAU, LAT_F64, 1, SU2, 7.5, 9},
    {"overrelaxation", "48 48 48 48", 3, LAT_LANDAU, LAT_F64, 1, SU2, 7.5, 9},
    {"8 copies", "32 32 32 32", 3, LAT_LANDAU, LAT_F32, 8, SU2, 22, 28},
    {"8 copies", "32 32 32 32", 3, LAT_LANDAU, LAT_F64, 8, SU2, 0, 0},
    {"overrelaxation", "16 16 16 16", 3, LAT_LANDAU, LAT_F32, 1, SU2, 14, 18},
    {"8 copies", "16 16 16 16", 3, LAT_LANDAU, LAT_F32, 8, SU2, 0, 0},
    {"MAG overrelaxation", "32 32 32 32", 3, LAT_MAG, LAT_F32, 1, SU2, 14, 17},
    {"MAG overrelaxation", "32 32 32 32", 3, LAT_MAG, LAT_F64, 1, SU2, 0, 0},
    {"MAG su3", "32 32 32 32", 3, LAT_MAG, LAT_F32, 1, SU3, 0, 0},
    {"heat bath", "32 32 32 32", 3, LAT_LANDAU, LAT_F32, 1, BATH, -0.20, -0.16},
    {"heat bath", "32 32 32 32", 3, LAT_LANDAU, LAT_F64, 1, BATH, 0, 0},
    {"MAG heat bath", "32 32 32 32", 3, LAT_MAG, LAT_F32, 1, BATH, 0, 0},
    {"microcanonical", "32 32 32 32", 3, LAT_LANDAU, LAT_F32, 1, MICRO, 0, 0},
    {"Coulomb overrelaxation", "32 32 32 32", 3, LAT_COULOMB, LAT_F32, 1, SU2, -0.15, -0.11},
    {"Coulomb overrelaxation", "32 32 32 32", 3, LAT_COULOMB, LAT_F64, 1, SU2, 0, 0},
    {"su3", "32 32 32 32", 3, LAT_LANDAU, LAT_F32, 1, SU3, 15, 18},
    {"su3", "32 32 32 32", 3, LAT_LANDAU, LAT_F64, 1, SU3, 0, 0},
    {"su3, 8 copies", "32 32 32 32", 3, LAT_LANDAU, LAT_F32, 8, SU3, 0, 0},
    {"SU(2)", "32 32 32 32", 2, LAT_LANDAU, LAT_F32, 1, SU2, 0, 0},
    {"SU(2)", "32 32 32 32", 2, LAT_LANDAU, LAT_F64, 1, SU2, 0, 0},
    LARGER("SU(4)", "32 32 32 32", 4, 1),
    LARGER("SU(6)", "16 16 16 16", 6, 1),
    LARGER("SU(8)", "16 16 16 16", 8, 1),
    {"SU(8), 8 copies", "16 16 16 16", 8, LAT_LANDAU, LAT_F32, 8, SU2, 0, 0},
};

/* Seconds of n sweeps and one measurement of theta, which waits for them. */
static double seconds(lat_fixer *dev, const lat_sweep *how, long n)
{
    lat_gauge_state s[16];
    double start = bench_now();
    if (lat_fix_sweep(dev, how, n) || lat_fix_state(dev, s, NULL))
        exit(lat_report(LAT_FAILED));
    return bench_now() - start;
}

static const char *last_dims = "";
static int last_nc;
static lat_field links;

/* |F of the GPU - F of the CPU in double| after a few sweeps. */
static double apart(const line *l, const lat_field *u, const lat_condition *c)
{
    lat_device *const devices[2] = {cpu_device(), gpu_device()};
    lat_gauge_state s[2][16];
    for (int i = 0; i < 2; i++) {
        lat_fixer *dev = lat_fix_open(devices[i], u, c, i ? l->real : LAT_F64, 1);
        if (!dev || lat_fix_sweep(dev, &l->how, 3) || lat_fix_state(dev, s[i], NULL))
            exit(lat_report(LAT_FAILED));
        lat_fix_close(dev);
    }
    return fabs(s[0]->functional - s[1]->functional);
}

/* Bytes of a site and sweep: the links to its neighbours, g read, written, and read as a neighbour.
 */
static double bytes_of(const line *l)
{
    const int rows = l->nc <= 3 ? l->nc - 1 : l->nc;
    return ((l->gauge == LAT_COULOMB ? 6 : 8) + 3) * 2.0 * l->nc * rows * (int)l->real;
}

static void measure(const line *l, bool checked, double copy)
{
    if (strcmp(l->dims, last_dims) || l->nc != last_nc) {
        lat_field_free(&links);
        links = field_new(LAT_GAUGE, geometry_of(l->dims), l->nc, LAT_F64);
        fill_near_one_fast(&links, ROUGH, 1);
        last_dims = l->dims;
        last_nc = l->nc;
    }
    const lat_condition c = lat_condition_of(l->gauge, &links.head.geom, -1);
    const double off = checked ? apart(l, &links, &c) : 0;
    if (!(off <= (l->real == LAT_F64 ? 1e-12 : 1e-5))) {
        printf("%-23s %-12s: F differs from the CPU's by %g\n", l->name, l->dims, off);
        return;
    }
    lat_fixer *dev = lat_fix_open(gpu_device(), &links, &c, l->real, l->copies);
    if (!dev)
        exit(lat_report(LAT_FAILED));
    const double sites = (double)lat_volume(&links.head.geom) * l->copies;
    seconds(dev, &l->how, 10);
    const long n = (long)(0.05 / (seconds(dev, &l->how, 20) / 20)) + 10;
    double t[REPEAT], state[REPEAT];
    for (int r = 0; r < REPEAT; r++)
        state[r] = seconds(dev, &l->how, 0);
    const double check = bench_median(state, REPEAT);
    for (int r = 0; r < REPEAT; r++)
        t[r] = (seconds(dev, &l->how, n) - check) / (double)n;
    const double dt = bench_median(t, REPEAT), tflops = FLOP * sites / dt * 1e-12;
    char promise[64];
    printf("%-23s %-12s %-6s %6d  %9.4f %9.4f %9.2f  %6.2f  %6.2f  %8.1e  %s\n", l->name, l->dims,
           l->real == LAT_F32 ? "single" : "double", l->copies, dt * 1e3, t[0] * 1e3, tflops,
           bytes_of(l) * sites / dt * 1e-9 / copy, check / dt, off,
           bench_promise(promise, l->must < 0 ? "%4.2fms" : "%6.1f",
                         l->must < 0 ? dt * 1e3 : tflops, l->must, l->aim));
    fflush(stdout);
    lat_fix_close(dev);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_gpu";
    if (!gpu_device())
        return lat_report(LAT_FAILED);
    const double copy = lat_gpu_copy_bandwidth((size_t)1 << 30);
    if (copy < 0)
        return lat_report(LAT_FAILED);
    printf("copy on the device, 1 GiB: %.0f GB/s read and written\n", copy);
    printf("%-23s %-12s %-6s %6s  %9s %9s %9s  %6s  %6s  %8s  %s\n", "Landau unless said",
           "lattice", "prec.", "copies", "ms/sweep", "best", "Tflop/s", "copy", "check", "F - CPU",
           "  must    aim");
    for (int i = 0; i < (int)(sizeof lines / sizeof *lines); i++)
        if ((argc < 2 || strstr(lines[i].name, argv[1]))
            && (argc < 3 || strstr(lines[i].dims, argv[2])))
            measure(lines + i, argc < 4, copy);
    lat_field_free(&links);
    return 0;
}
