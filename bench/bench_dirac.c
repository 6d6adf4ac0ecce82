/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_dirac: speed of Dirac operators on one core, `make bench-dirac`.
 *
 * Each answer is checked against the plain operator first. Then each line is timed in many short
 * samples, the peak of fused multiply-adds right before and after each: the machine may be shared,
 * and only fractions of what it could do at that moment mean something. Beside the best and the
 * median stand what we must reach and what we aim at: fractions of that peak, of the bandwidth of a
 * copy past the caches (16^3 x 32), or of M (solvers).
 *
 * Flops: 1320 a site of a hop, 2712 a site of S (lib/dirac/dirac.h: flops); those of vector
 * operations of solvers are not counted, but in "with vectors".
 *
 *     bench_dirac [SAMPLES [WORDS]]     only lines whose name has WORDS; LAT_LANES=avx2, base: with
 *                                       vectors of that length
 *     LAT_AHEAD, LAT_PAST=never|always  prefetches, stores past the caches; default: by size
 *     LAT_TEMPORAL=never                links in the gauge they have, where solvers take the
 *                                       temporal gauge; flops and bytes are counted as ever */
#include <stdio.h>
#include "../tests/check/devices.h"
#include "../tests/check/plain_dirac.h"
#include "base/isa.h"
#include "base/threads.h"
#include "bench.h"
#include "dirac/cpu/dirac_cpu.h"
#include "vector/temporal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* ---- what the machine can do ----------------------------------------------------------------- */

/* Twelve chains. Without fused multiply-adds a multiplication and an addition count as one. */
#if defined(__x86_64__)
#define TWELVE(X) X(a) X(b) X(c) X(d) X(e) X(f) X(g) X(h) X(i) X(j) X(k) X(l)
#define FMA(isa, target_, type) \
    __attribute__((target(target_), noinline)) static void chains_##isa(int n) \
    { \
        type m = {0}, a = m, b = m, c = m, d = m, e = m, f = m, g = m, h = m, i = m, j = m, k = m, \
             l = m; \
        for (int turn = 0; turn < n; turn++) { \
            TWELVE(ONE) \
        } \
    }
#define ONE(x) asm volatile("vfmadd213ps %1, %1, %0" : "+v"(x) : "v"(m));
FMA(avx2, "avx2,fma", __m256)
FMA(avx512, "avx512f", __m512)
#define TWO(x) asm volatile("mulps %1, %0" : "+x"(x) : "x"(m));
#define SUM(x) asm volatile("addps %1, %0" : "+x"(x) : "x"(m));
static void chains_base(int n)
{
    __m128 m = {0}, a = m, b = m, c = m, d = m, e = m, f = m, g = m, h = m, i = m, j = m, k = m,
           l = m;
    for (int turn = 0; turn < n; turn++) {
        TWO(a) SUM(b) TWO(c) SUM(d) TWO(e) SUM(f) TWO(g) SUM(h) TWO(i) SUM(j) TWO(k) SUM(l)
    }
}
#endif

/* Gflop/s in single. */
static double peak(void)
{
#if defined(__x86_64__)
    const int n = 200000;
    const double start = bench_time(1);
    double each = 0;
    switch (lat_isa_widest()) {
    case LAT_ISA_BASE: chains_base(n), each = 4; break;
    case LAT_ISA_AVX2: chains_avx2(n), each = 16; break;
    case LAT_ISA_AVX512: chains_avx512(n), each = 32; break;
    }
    return 12. * n * each / (bench_time(1) - start) * 1e-9;
#else
    return NAN;
#endif
}

/* GB/s of a copy that stores past the caches, read and written. */
static double copy(void)
{
#if defined(__AVX__)
    enum { BYTES = 64 << 20 };
    static char *a, *b;
    if (!a) {
        a = lat_alloc(1, BYTES, "copy");
        b = lat_alloc(1, BYTES, "copy");
        need(a && b, "copy");
        memset(a, 0, BYTES);
        memset(b, 0, BYTES);
    }
    const double start = bench_time(1);
    for (size_t i = 0; i < BYTES; i += 32)
        _mm256_stream_ps((float *)(b + i), _mm256_load_ps((float *)(a + i)));
    return 2. * BYTES / (bench_time(1) - start) * 1e-9;
#else
    return bench_copy_bandwidth(64 << 20, 1);
#endif
}

/* ---- what is timed --------------------------------------------------------------------------- */

typedef enum { HOP, SCHUR, CG, BICGSTAB } work;
typedef enum { OF_PEAK, OF_COPY, OF_M } unit;

typedef struct line {
    const char *name, *dims;
    lat_storage storage;
    int columns, reals;
    bool clover;
    work work;
    unit unit;
    double must, aim;
} line;

#define S LAT_STORAGE_SINGLE
#define D LAT_STORAGE_DOUBLE
static const line lines[] = {
    {"hop 8^4 single", "8 8 8 8", S, 1, 18, false, HOP, OF_PEAK, .50, .58},
    {"hop 8^4 single, 12 reals", "8 8 8 8", S, 1, 12, false, HOP, OF_PEAK, 0, 0},
    {"hop 8^4 double", "8 8 8 8", D, 1, 18, false, HOP, OF_PEAK, .47, .54},
    {"hop 8^4 double, 12 reals", "8 8 8 8", D, 1, 12, false, HOP, OF_PEAK, 0, 0},
    {"hop 16^4 single", "16 16 16 16", S, 1, 12, false, HOP, OF_PEAK, .40, .46},
    {"hop 16^4 double", "16 16 16 16", D, 1, 12, false, HOP, OF_PEAK, .34, .42},
    {"hop 16^3x32 single", "16 16 16 32", S, 1, 12, false, HOP, OF_COPY, .75, .9},
    {"hop 16^4 single, 12 columns", "16 16 16 16", S, 12, 12, false, HOP, OF_PEAK, .40, .48},
    {"hop 16^4 single, 4 columns", "16 16 16 16", S, 4, 12, false, HOP, OF_PEAK, 0, 0},
    {"hop 16^4 double, 2 columns", "16 16 16 16", D, 2, 12, false, HOP, OF_PEAK, 0, 0},
    {"M 8^4 single", "8 8 8 8", S, 1, 18, false, SCHUR, OF_M, .9, .95},
    {"M 16^4 single", "16 16 16 16", S, 1, 12, false, SCHUR, OF_PEAK, .37, .37},
    {"clover M 8^4 single", "8 8 8 8", S, 1, 12, true, SCHUR, OF_PEAK, .34, .42},
    {"CG 8^4 single", "8 8 8 8", S, 1, 18, false, CG, OF_M, .90, .94},
    {"BiCGstab 8^4 single", "8 8 8 8", S, 1, 18, false, BICGSTAB, OF_M, .82, .9},
};

typedef struct bed {
    const line *l;
    lat_field u;
    lat_temporal *gauge;
    lat_grid *grid;
    lat_space *s;
    lat_dirac *d;
    lat_dfield *f[5];
    lat_scalars *by; /* of BiCGstab */
    int all[12];
    lat_part odd;
} bed;

static lat_cache from_environment(const char *name)
{
    const char *v = getenv(name);
    return !v ? LAT_CACHE_AUTO : !strcmp(v, "never") ? LAT_CACHE_NEVER : LAT_CACHE_ALWAYS;
}

static void set_up(bed *b, const line *l)
{
    *b = (bed){.l = l};
    b->u = field_new(LAT_GAUGE, geometry_of(l->dims), 3, LAT_F64);
    fill_near_one_fast(&b->u, ROUGH, 5);
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = .2;
    f.csw = f.csw_t = l->clover ? 1 : 0;
    f.boundary[3].theta = 1;
    const lat_grid_spec spec = {b->u.head.geom, l->storage, -1, false, true};
    const lat_dirac_options options = {.reals = l->reals};
    need((b->grid = lat_grid_new(cpu_device(), &spec))
             && (!bench_temporal() || !lat_temporal_open(cpu_device(), &b->u, NULL, &b->gauge))
             && (b->s = lat_space_open_in(b->grid, 3, l->columns, b->gauge))
             && (b->by = b->s->ops->scalars->open(b->s))
             && (b->d = lat_dirac_open(b->s, &b->u, &f, &options)),
         l->name);
    lat_cpu_dirac_of(b->d)->ahead = from_environment("LAT_AHEAD");
    lat_cpu_dirac_of(b->d)->past_cache = from_environment("LAT_PAST");
    for (int c = 0; c < l->columns; c++)
        b->all[c] = c;
    b->odd = (lat_part){LAT_ODD, l->columns, b->all};
    const lat_part both = {LAT_BOTH, l->columns, b->all};
    for (int i = 0; i < 5; i++)
        need((b->f[i] = lat_vector_new(b->s, "spinors")) != NULL
                 && !b->s->ops->random(b->s, &both, (uint64_t)i, b->f[i]),
             "spinors");
}

static void tear_down(bed *b)
{
    for (int i = 0; i < 5; i++)
        lat_dfield_free(b->f[i]);
    lat_dirac_close(b->d);
    b->s->ops->scalars->close(b->by);
    lat_space_close(b->s);
    lat_temporal_close(b->gauge);
    lat_grid_free(b->grid);
    lat_field_free(&b->u);
}

/* Scalars do not matter for the time, but numbers are to stay finite: as good as zero. */
static void once(bed *b, work what)
{
    static const double small = -1e-30;
    static const lat_scalar almost[12] = {{1e-30, 0}}, minus[12] = {{-1e-30, 1e-30}};
    const lat_dirac_matrix direct = {LAT_SYMMETRIC, LAT_PLAIN},
                           dagger = {LAT_SYMMETRIC, LAT_DAGGER};
    const lat_part *p = &b->odd;
    double norm[12];
    lat_scalar dot[12];
    int rc = 0;
    switch (what) {
    case HOP: rc = b->d->ops->hop(b->d, false, p, 0, NULL, 1, b->f[1], b->f[0]); break;
    case SCHUR: rc = b->d->ops->apply(b->d, direct, p, b->f[1], b->f[0], NULL); break;
    case CG: { /* q = S p, |q|^2; r -= alpha S^+ q, |r|^2; x += alpha p, p = r + beta p */
        const lat_apply_end first = {.norm = norm}, second = {.add = &small, .norm = norm};
        rc = b->d->ops->apply(b->d, direct, p, b->f[1], b->f[0], &first)
             || b->d->ops->apply(b->d, dagger, p, b->f[2], b->f[1], &second)
             || b->s->ops->cg(b->s, p, lat_number(almost), lat_number(NULL), lat_number(almost),
                              b->f[3], b->f[0], b->f[2]);
        break;
    }
    case BICGSTAB: { /* v = S p, <e, v>; s = r - alpha v; t = S s, its sums; x, r and p */
        lat_scalar more[2][12];
        const lat_apply_end first = {.norm = norm, .shadow = dot}, second = {.norm = norm,
                                                                             .with = b->f[2],
                                                                             .dot = dot,
                                                                             .shadow = more[0],
                                                                             .shadow_in = more[1]};
        rc = b->d->ops->apply(b->d, direct, p, b->f[1], b->f[0], &first)
             || b->s->ops->axpby(b->s, p, minus, b->f[1], NULL, b->f[2], NULL)
             || b->d->ops->apply(b->d, direct, p, b->f[4], b->f[2], &second)
             || b->s->ops->bicgstab(b->s, p, b->by, b->f[3], b->f[2], b->f[0], b->f[4], b->f[1]);
        break;
    }
    }
    need(rc == 0, b->l->name);
}

static double flops(const bed *b, work what)
{
    const double volume = (double)lat_volume(&b->u.head.geom) * b->l->columns;
    const lat_dirac_matrix m = {LAT_SYMMETRIC, LAT_PLAIN};
    switch (what) {
    case HOP: return 1320 * volume / 2;
    case SCHUR: return b->d->ops->flops(b->d, m) * volume;
    case CG: return 2 * b->d->ops->flops(b->d, m) * volume;
    case BICGSTAB: return 2 * b->d->ops->flops(b->d, m) * volume;
    }
    return 0;
}

/* Of vector operations, a site of one parity: CG 2 norms, 3 real axpy; BiCGstab 6 complex axpy, one
 * product, 3 norms, 3 sums with signs (see `once`). */
static double vector_flops(const bed *b)
{
    const double sites = (double)lat_volume(&b->u.head.geom) / 2 * b->l->columns;
    return b->l->work == CG ? sites * (2 * 48 + 3 * 48) : sites * (6 * 96 + 96 + 3 * 48 + 3 * 24);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* The hop on a small lattice, in one way through the text or another. */
static void check(const line *l)
{
    line small = *l;
    small.dims = "8 8 8 8";
    small.work = SCHUR;
    bed b;
    set_up(&b, &small);
    const plain p = {.u = &b.u, .f = b.d->fermion};
    const size_t n = plain_reals(&p) / 2;
    cd *in = calloc(n, sizeof *in), *out = calloc(n, sizeof *out), *right = calloc(n, sizeof *in);
    lat_field host = {.data = NULL};
    lat_header_init(&host.head);
    host.head.geom = b.u.head.geom;
    lat_header_make_spinors(&host.head, LAT_SPINOR, 1);
    need(in && out && right && !lat_field_alloc(&host, &lat_comm_self), "spinors");
    const int c = l->columns - 1;
    once(&b, SCHUR);
    need(!lat_spinor_get(b.s, b.f[0], c, &host, 0), "a spinor");
    memcpy(in, host.data, n * sizeof *in);
    need(!lat_spinor_get(b.s, b.f[1], c, &host, 0), "a spinor");
    memcpy(out, host.data, n * sizeof *in);
    plain_schur(&p, true, false, 1, in, right);
    plain_only(&p, 1, out);
    double off = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        off += cabs(out[i] - right[i]) * cabs(out[i] - right[i]);
        all += cabs(right[i]) * cabs(right[i]);
    }
    const double bound = 40 * (l->storage == D ? 0x1p-53 : 0x1p-24);
    if (!(sqrt(off / all) <= bound)) {
        fprintf(stderr, "bench_dirac: %s: off by %g, at most %g expected\n", l->name,
                sqrt(off / all), bound);
        exit(1);
    }
    lat_field_free(&host);
    free(in);
    free(out);
    free(right);
    tear_down(&b);
}

/* ---- time ------------------------------------------------------------------------------------ */

#define MOST 400

/* Flops by time of a few runs. */
static double rate(bed *b, work what, int repeat)
{
    const double start = bench_time(1);
    for (int i = 0; i < repeat; i++)
        once(b, what);
    return flops(b, what) * repeat / (bench_time(1) - start) * 1e-9;
}

static void time_line(const line *l, int samples)
{
    static double fraction[MOST], gflops[MOST];
    bed b;
    set_up(&b, l);
    const int wide = l->storage == D ? 2 : 1;
    const work other = l->work == SCHUR ? HOP : SCHUR;
    const int repeat = (int)(.01 / (flops(&b, l->work) / 60e9)) + 1;
    rate(&b, l->work, 1);
    double best_copy = 0;
    for (int i = 0; i < samples; i++) {
        const double before = l->unit == OF_PEAK   ? peak()
                              : l->unit == OF_COPY ? copy()
                                                   : rate(&b, other, repeat);
        gflops[i] = rate(&b, l->work, repeat);
        const double after = l->unit == OF_PEAK   ? peak()
                             : l->unit == OF_COPY ? copy()
                                                  : rate(&b, other, repeat);
        best_copy = fmax(best_copy, fmax(before, after));
        const double reference = (before + after) / 2;
        fraction[i] = l->unit == OF_PEAK ? gflops[i] * wide / reference
                      : l->unit == OF_COPY
                          ? gflops[i] / 1320 * (8 * l->reals + 48) * 4 * wide / reference
                          : gflops[i] / reference;
    }
    const double more = l->work >= CG ? 1 + vector_flops(&b) / flops(&b, l->work) : 0;
    const double median = bench_median(fraction, samples),
                 best = fraction[samples - 1 - samples / 10];
    bench_median(gflops, samples);
    printf("%-28s %7.1f %7.1f   %.3f %.3f of %-4s", l->name, gflops[samples - 1],
           gflops[samples / 2], best, median,
           l->unit == OF_PEAK   ? "peak"
           : l->unit == OF_COPY ? "copy"
           : l->work == SCHUR   ? "hops"
                                : "M");
    if (l->must > 0)
        printf("  must %.2f %s, aim %.2f %s", l->must, best >= l->must ? "yes" : "NO ", l->aim,
               best >= l->aim ? "yes" : "no");
    if (more > 0)
        printf("; with vectors %.3f %.3f", best * more, median * more);
    if (l->unit == OF_COPY)
        printf("; copy %.0f GB/s", best_copy);
    puts("");
    fflush(stdout);
    tear_down(&b);
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    bench_threads(1);
    const int samples = argc > 1 && atoi(argv[1]) > 0 && atoi(argv[1]) <= MOST ? atoi(argv[1]) : 41;
    double most = 0;
    for (int i = 0; i < 20; i++)
        most = fmax(most, peak());
    printf("# %s, one core; peak %.0f Gflop/s in single, copy past the caches %.1f GB/s\n",
           lat_isa_name(lat_isa_widest()), most, copy());
    printf("# Gflop/s: best, median of %d samples; fraction: the tenth best of a hundred, median\n",
           samples);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (argc > 2 && !strstr(lines[i].name, argv[2]))
            continue;
        check(&lines[i]);
        time_line(&lines[i], samples);
    }
    return 0;
}
