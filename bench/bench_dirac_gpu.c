/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_dirac_gpu: speed of hops and clover terms on one GPU, `make bench-dirac-gpu`.
 *
 * For each line the answer is checked first: every column against the CPU's operator in double.
 * Then hops from odd to even sites and back are timed, median of 7. Rates are those of one
 * right-hand side, 1320 flop a site that is written, 1872 with a clover term (QUDA's count). Bytes
 * are the fewest: every link of a site once for all columns, every spinor once. Beside them stands
 * the copy bandwidth of the same run.
 *
 *     bench_dirac_gpu [NAME [LATTICE [unchecked]]]     lines that contain NAME and LATTICE alone
 *     LAT_REALS=12|18          reals a link, for what operators choose
 *     LAT_TEMPORAL=never       links in the gauge they have, where solvers take the temporal gauge;
 *                              flops and bytes are counted as ever */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dirac/dirac.h"
#include "vector/temporal.h"
#include "bench.h"
#include "base/error.h"
#include "base/threads.h"
#include "../tests/check/devices.h"
#include "../tests/check/fields.h"

#define REPEAT 7

typedef enum { HOP, SUM, CLOVER, INVERSE } work; /* D; x + a D; A + a D; A^-1 D */

typedef struct line {
    const char *name, *dims;
    work work;
    lat_storage storage;
    int columns;
    double must, aim; /* Tflop/s a right-hand side; below zero: microseconds; 0: no promise */
} line;

#define EACH(dims) \
    {"hop", dims, HOP, LAT_STORAGE_DOUBLE, 1, 0, 0}, \
        {"hop", dims, HOP, LAT_STORAGE_SINGLE, 1, 0, 0}, \
        {"hop", dims, HOP, LAT_STORAGE_HALF, 1, 0, 0}, \
        {"hop", dims, HOP, LAT_STORAGE_DOUBLE, 12, 0, 0}, \
        {"hop", dims, HOP, LAT_STORAGE_SINGLE, 12, 0, 0}, \
    { \
        "hop", dims, HOP, LAT_STORAGE_HALF, 12, 0, 0 \
    }

static const line lines[] = {
    {"hop", "32 32 32 64", HOP, LAT_STORAGE_DOUBLE, 1, 4.5, 4.8},
    {"hop", "32 32 32 64", HOP, LAT_STORAGE_DOUBLE, 12, 7.8, 9.5},
    {"hop", "32 32 32 64", HOP, LAT_STORAGE_SINGLE, 1, 9.2, 9.8},
    {"hop", "32 32 32 64", HOP, LAT_STORAGE_SINGLE, 12, 17, 21},
    {"hop", "32 32 32 64", HOP, LAT_STORAGE_HALF, 1, 13.4, 17},
    {"hop", "32 32 32 64", HOP, LAT_STORAGE_HALF, 12, 18.5, 24},
    {"A^-1 D", "32 32 32 64", INVERSE, LAT_STORAGE_SINGLE, 1, 8.6, 9.2},
    {"A^-1 D", "32 32 32 64", INVERSE, LAT_STORAGE_SINGLE, 12, 11, 15},
    {"A^-1 D", "32 32 32 64", INVERSE, LAT_STORAGE_DOUBLE, 1, 0, 0},
    {"A^-1 D", "32 32 32 64", INVERSE, LAT_STORAGE_DOUBLE, 12, 0, 0},
    {"A^-1 D", "32 32 32 64", INVERSE, LAT_STORAGE_HALF, 1, 0, 0},
    {"A^-1 D", "32 32 32 64", INVERSE, LAT_STORAGE_HALF, 12, 0, 0},
    {"x + a D", "32 32 32 64", SUM, LAT_STORAGE_DOUBLE, 1, 0, 0},
    {"x + a D", "32 32 32 64", SUM, LAT_STORAGE_SINGLE, 1, 0, 0},
    {"x + a D", "32 32 32 64", SUM, LAT_STORAGE_SINGLE, 12, 0, 0},
    {"x + a D", "32 32 32 64", SUM, LAT_STORAGE_HALF, 1, 0, 0},
    {"x + a D", "32 32 32 64", SUM, LAT_STORAGE_HALF, 12, 0, 0},
    {"hop", "16 16 16 16", HOP, LAT_STORAGE_SINGLE, 1, -6.5, -5},
    {"hop", "16 16 16 16", HOP, LAT_STORAGE_SINGLE, 12, -2.5, -1.8},
    {"hop", "16 16 16 16", HOP, LAT_STORAGE_HALF, 12, 0, 0},
    {"A^-1 D", "16 16 16 16", INVERSE, LAT_STORAGE_HALF, 12, 0, 0},
    {"hop", "8 8 8 16", HOP, LAT_STORAGE_DOUBLE, 12, 0, 0},
    {"hop", "8 8 8 16", HOP, LAT_STORAGE_SINGLE, 12, 0, 0},
    {"hop", "8 8 8 16", HOP, LAT_STORAGE_HALF, 12, 0, 0},
    EACH("24 24 24 48"),
    EACH("32 32 32 32"),
    EACH("48 48 48 96"),
};

static lat_field links;

static const lat_fermion *fermion(bool clover)
{
    static lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = -0.5;
    f.csw = f.csw_t = clover ? 1 : 0;
    f.boundary[3].theta = 1;
    return &f;
}

static bool has_clover(work w) { return w == CLOVER || w == INVERSE; }

/* An operator with its space and two batches of which the first is random. */
typedef struct setting {
    lat_temporal *gauge;
    lat_grid *grid;
    lat_space *space;
    lat_dirac *d;
    lat_dfield *in, *out;
} setting;

static void leave(setting *s)
{
    lat_dfield_free(s->in);
    lat_dfield_free(s->out);
    lat_dirac_close(s->d);
    lat_space_close(s->space);
    lat_temporal_close(s->gauge);
    lat_grid_free(s->grid);
}

static const int all[LAT_VECTOR_COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

static setting enter(lat_device *dev, const line *l, lat_storage storage)
{
    setting s = {0};
    const lat_part both = {LAT_BOTH, l->columns, all};
    const char *reals = getenv("LAT_REALS");
    const lat_dirac_options options = {.reals = reals ? atoi(reals) : 0};
    if (!(s.grid = lat_grid_of_spinors(dev, &links.head.geom, storage))
        || (bench_temporal() && dev->gpu && lat_temporal_open(dev, &links, NULL, &s.gauge))
        || !(s.space = lat_space_open_in(s.grid, 3, l->columns, s.gauge))
        || !(s.d = lat_dirac_open(s.space, &links, fermion(has_clover(l->work)), &options))
        || !(s.in = lat_vector_new(s.space, "spinors"))
        || !(s.out = lat_vector_new(s.space, "spinors"))
        || s.space->ops->random(s.space, &both, 1, s.in))
        exit(lat_report(LAT_FAILED));
    return s;
}

/* What went in, of the columns that are compared, by way of the host: random numbers are those of a
 * gauge. */
static void same_in(const line *l, const setting *from, const setting *to, lat_field *f)
{
    for (int c = 0; c < l->columns; c += 5)
        if (lat_spinor_get(from->space, from->in, c, f, 0)
            || lat_spinor_put(to->space, to->in, c, f, 0))
            exit(lat_report(LAT_FAILED));
}

/* The work once, onto sites of a parity; onto odd ones from what the one before made, as the second
 * hop of a Schur complement does. CLOVER and INVERSE come as one application of it, two hops. */
static void once(const line *l, const setting *s, lat_parity parity)
{
    const lat_part p = {parity, l->columns, all};
    lat_dfield *const in = parity == LAT_ODD ? s->out : s->in;
    int rc = -1;
    switch (l->work) {
    case HOP: rc = s->d->ops->hop(s->d, false, &p, 0, NULL, 1, s->out, in); break;
    case SUM: rc = s->d->ops->hop(s->d, false, &p, 1, s->in, -0.02, s->out, in); break;
    case CLOVER:
        rc = s->d->ops->apply(s->d, (lat_dirac_matrix){LAT_ASYMMETRIC, LAT_PLAIN}, &p, s->out,
                              s->in, NULL);
        break;
    case INVERSE:
        rc = s->d->ops->apply(s->d, (lat_dirac_matrix){LAT_SYMMETRIC, LAT_PLAIN}, &p, s->out, s->in,
                              NULL);
        break;
    }
    if (rc)
        exit(lat_report(LAT_FAILED));
}

static int hops(const line *l) { return has_clover(l->work) ? 2 : 1; }

/* The largest |out - CPU's out| / |CPU's out| of the columns; -1: memory would not do. */
static double apart(const line *l, const setting *gpu)
{
    line one = *l;
    one.columns = l->columns;
    setting cpu = enter(cpu_device(), &one, LAT_STORAGE_DOUBLE);
    lat_field f[2];
    double worst = 0;
    for (int i = 0; i < 2; i++)
        f[i] = field_new(LAT_SPINOR, links.head.geom, 3, LAT_F64);
    same_in(l, gpu, &cpu, &f[0]);
    once(l, &cpu, LAT_EVEN);
    once(l, gpu, LAT_EVEN);
    for (int c = 0; c < l->columns; c += 5) {
        double d = 0, n = 0;
        if (lat_spinor_get(cpu.space, cpu.out, c, &f[0], 0)
            || lat_spinor_get(gpu->space, gpu->out, c, &f[1], 0))
            exit(lat_report(LAT_FAILED));
        const double *a = f[0].data, *b = f[1].data;
#pragma omp parallel for reduction(+ : d, n)
        for (size_t i = 0; i < lat_field_reals(&f[0]); i++) {
            d += (a[i] - b[i]) * (a[i] - b[i]);
            n += a[i] * a[i];
        }
        worst = fmax(worst, sqrt(d / n));
    }
    lat_field_free(&f[0]);
    lat_field_free(&f[1]);
    leave(&cpu);
    return worst;
}

static double bound(lat_storage storage)
{
    switch (storage) {
    case LAT_STORAGE_DOUBLE: return 1e-14;
    case LAT_STORAGE_SINGLE: return 1e-6;
    case LAT_STORAGE_HALF: return 3e-4;
    }
    return 0;
}

/* Seconds of n times the work, alternating between parities, and a sum, which waits for them. */
static double seconds(const line *l, const setting *s, long n)
{
    static const int first[] = {0};
    const lat_part p = {LAT_EVEN, 1, first};
    double norm;
    const double start = bench_now();
    for (long i = 0; i < n; i++)
        once(l, s, i % 2 ? LAT_ODD : LAT_EVEN);
    if (s->space->ops->dots(s->space, &p, 0, NULL, s->out, NULL, &norm))
        exit(lat_report(LAT_FAILED));
    return bench_now() - start;
}

static void measure(const line *l, double copy, bool checked)
{
    static const char *last = "";
    if (strcmp(last, l->dims)) {
        lat_field_free(&links);
        links = field_new(LAT_GAUGE, geometry_of(l->dims), 3, LAT_F64);
        fill_near_one_fast(&links, ROUGH, 1);
        last = l->dims;
    }
    setting s = enter(gpu_device(), l, l->storage);
    const double off = checked ? apart(l, &s) : 0;
    if (!(off <= bound(l->storage))) {
        printf("%-8s %-12s %-6s %2d: differs from the CPU's by %g\n", l->name, l->dims,
               lat_storage_name(l->storage), l->columns, off);
        leave(&s);
        return;
    }
    seconds(l, &s, 10);
    const long n = 2 * (long)(0.01 / (seconds(l, &s, 10) / 10)) + 4;
    double t[REPEAT];
    for (int r = 0; r < REPEAT; r++) /* two lengths: without the sum */
        t[r] = (seconds(l, &s, 2 * n) - seconds(l, &s, n)) / (double)n / hops(l) / l->columns;
    const double dt = bench_median(t, REPEAT), half = (double)lat_volume(&links.head.geom) / 2;
    const double tflops = (has_clover(l->work) ? 1872 : 1320) * half / dt * 1e-12;
    const double real = (double)lat_storage_bytes(l->storage), n_spinors = l->work == HOP   ? 2
                                                                           : l->work == SUM ? 3
                                                                                            : 2.5;
    const double bytes = half
                         * ((8.0 * s.d->reals + (has_clover(l->work) ? 72 : 0)) * real / l->columns
                            + n_spinors * (24 * real + (l->storage == LAT_STORAGE_HALF ? 4 : 0)));
    char promise[64];
    printf("%-8s %-12s %-6s %2d %2d  %9.2f %7.2f %7.0f %6.3f  %8.1e  %s\n", l->name, l->dims,
           lat_storage_name(l->storage), s.d->reals, l->columns, dt * 1e6, tflops,
           bytes / dt * 1e-9, bytes / dt * 1e-9 / copy, off,
           bench_promise(promise, l->must < 0 ? "%4.1fus" : "%6.1f",
                         l->must < 0 ? dt * 1e6 : tflops, l->must, l->aim));
    fflush(stdout);
    leave(&s);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_dirac_gpu";
    if (!gpu_device())
        return lat_report(LAT_FAILED);
    const double copy = lat_gpu_copy_bandwidth((size_t)1 << 30);
    if (copy < 0)
        return lat_report(LAT_FAILED);
    printf("copy on the device, 1 GiB: %.0f GB/s read and written\n", copy);
    printf("%-8s %-12s %-6s %2s %2s  %9s %7s %7s %6s  %8s  %s\n", "", "lattice", "prec.", "R", "n",
           "us/rhs", "Tflop/s", "GB/s", "copy", "off", "  must    aim");
    for (int i = 0; i < (int)(sizeof lines / sizeof *lines); i++)
        if ((argc < 2 || strstr(lines[i].name, argv[1]))
            && (argc < 3 || strstr(lines[i].dims, argv[2])))
            measure(lines + i, copy, argc < 4);
    lat_field_free(&links);
    return 0;
}
