/* SPDX-License-Identifier: BSD-3-Clause */
/* rounding_cg: iterations that conjugate gradients take where fields have few bits, on one core.
 *
 *     rounding_cg LINKS.lat KAPPA [CSW]
 *
 * Wilson (clover) quarks, the asymmetric Schur complement, antiperiodic in t, a point source, to
 * |b - S x| = 1e-10 |b| in double. Iterations are in single, but what goes into a hop and what
 * comes out of it is rounded, between the two hops of S as well; x is in single, and links are. So
 * it says what a format costs in iterations before a kernel is written for it: 16-bit fixed point
 * with a norm a site is what GPUs have in half; floating point of 16 bits with a scale a right-hand
 * side is what tensor cores multiply. */
#include <stdint.h>
#include <string.h>
#include "bench.h"
#include "common/io.h"
#include "dirac/dirac.h"
#include "vector/cpu/space_cpu.h"
#include "solve/krylov.h"
#include "stream/stream.h"
#include "../tests/check/fields.h"

typedef enum { NONE, FIXED16, FIXED12, HALF, BFLOAT } format;
static const struct {
    const char *name;
    format format;
    double epsilon;
} formats[] = {
    {"single", NONE, 0x1p-24},
    {"16 bits fixed, a norm a site", FIXED16, 0x1p-16},
    {"12 bits fixed, a norm a site", FIXED12, 0x1p-12},
    {"fp16, a scale a column", HALF, 0x1p-11},
    {"bfloat16", BFLOAT, 0x1p-8},
};

/* An operator, in single with rounded fields or in double. */
typedef struct level {
    lat_grid *grid;
    lat_space *space;
    lat_dirac *d;
    lat_dfield *between, *diagonal, *sum;
    format format;
    lat_system system;
} level;

static const int first = 0;
static const lat_part even = {LAT_EVEN, 1, &first}, odd = {LAT_ODD, 1, &first};

/* ---- formats --------------------------------------------------------------------------------- */

/* v with `bits` of a significand; below 2^least a multiple of the unit there. */
static double floating(double v, int bits, int least)
{
    const uint64_t unit = (uint64_t)1 << (53 - bits);
    uint64_t word;
    if (fabs(v) < ldexp(1, least))
        return rint(ldexp(v, bits - 1 - least)) * ldexp(1, least - bits + 1);
    memcpy(&word, &v, sizeof word);
    word = (word + unit / 2) & -unit;
    memcpy(&v, &word, sizeof v);
    return v;
}

static double largest(const float *v, size_t count, size_t stride)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)v[i * stride]));
    return most;
}

static void round_field(const level *l, const lat_part *p, lat_dfield *x)
{
    const lat_layout *lay = lat_cpu(l->grid)->lay;
    const size_t lanes = (size_t)lay->lanes, block = 24 * lanes;
    int begin, end;
    lat_cpu_blocks(l->grid, p->parity, &begin, &end);
    float *const all = (float *)x->data + (size_t)begin * block;
    const size_t count = (size_t)(end - begin) * block;
    const double steps = l->format == FIXED16 ? 32767 : 2047;
    switch (l->format) {
    case NONE: break;
    case FIXED16:
    case FIXED12:
        for (size_t i = 0; i < count; i += i % block == lanes - 1 ? block - lanes + 1 : 1) {
            const double norm = largest(all + i, 24, lanes);
            for (size_t e = 0; e < 24 && norm > 0; e++) {
                float *const v = all + i + e * lanes;
                *v = (float)(rint((double)*v / norm * steps) / steps * norm);
            }
        }
        break;
    case HALF: {
        const double most = largest(all, count, 1), scale = most > 0 ? 0x1p15 / most : 1;
        for (size_t i = 0; i < count; i++)
            all[i] = (float)(floating((double)all[i] * scale, 11, -14) / scale);
        break;
    }
    case BFLOAT:
        for (size_t i = 0; i < count; i++)
            all[i] = (float)floating((double)all[i], 8, -100);
        break;
    }
}

/* ---- the operator ---------------------------------------------------------------------------- */

/* S = A - D A^-1 D/4, hop by hop. */
static int apply(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                 const lat_apply_end *end)
{
    level *l = with;
    const lat_dirac_ops *ops = l->d->ops;
    const lat_vector_ops *algebra = l->space->ops;
    round_field(l, p, in);
    if (ops->hop(l->d, dagger, &even, 0, NULL, -.5, l->between, in)
        || ops->diagonal(l->d, true, dagger, &even, l->between, l->between))
        return -1;
    round_field(l, &even, l->between);
    if (ops->diagonal(l->d, false, dagger, p, l->diagonal, in)
        || ops->hop(l->d, dagger, p, 1, l->diagonal, .5, l->sum, l->between))
        return -1;
    const bool adds = lat_apply_adds(end);
    const lat_scalar one = {1, 0}, zero = {0, 0}, *const old = adds ? &one : &zero,
                     add = !adds      ? one
                           : end->add ? (lat_scalar){end->add[0], 0}
                                      : end->scalars->row[LAT_ROW_MINUS][0];
    double norm;
    if (algebra->axpby(l->space, p, &add, l->sum, old, out, NULL))
        return -1;
    round_field(l, p, out);
    if (lat_apply_sums(end) && algebra->dots(l->space, p, 0, NULL, out, NULL, &norm))
        return -1;
    if (end && end->scalars)
        lat_scalars_take(end->scalars, p, end->step, end->epsilon, 1, &norm);
    else if (end)
        lat_apply_hand_over(end, p, &norm);
    return 0;
}

static lat_dfield *vector(void *with, const char *what)
{
    return lat_vector_new(((level *)with)->space, what);
}

static void release(void *with, lat_dfield *v)
{
    (void)with;
    lat_dfield_free(v);
}

static void level_open(level *l, lat_device *dev, const lat_field *u, const lat_fermion *f,
                       lat_storage storage)
{
    static const lat_dirac_options all_reals = {.reals = 18};
    const lat_grid_spec spec = {.lattice = u->head.geom, .storage = storage, .across = -1};
    *l = (level){.grid = lat_grid_new(dev, &spec)};
    need(l->grid && (l->space = lat_space_open(l->grid, 3, 1))
             && (l->d = lat_dirac_open(l->space, u, f, &all_reals))
             && (l->between = lat_vector_new(l->space, "between hops"))
             && (l->diagonal = lat_vector_new(l->space, "A p"))
             && (l->sum = lat_vector_new(l->space, "a sum")),
         "the operator");
    l->system = (lat_system){.space = l->space,
                             .parity = LAT_ODD,
                             .epsilon = storage == LAT_STORAGE_DOUBLE ? 0x1p-53 : 0x1p-24,
                             .apply = apply,
                             .vector = vector,
                             .release = release,
                             .with = l};
}

int main(int argc, char **argv)
{
    lat_input *in = argc > 2 ? lat_input_open(argv[1], &lat_comm_self) : NULL;
    const lat_device_options cpu = {.choice = LAT_DEVICE_CPU};
    lat_device *dev = lat_device_open(&cpu, &lat_comm_self);
    lat_field u, source;
    level outer, inner;
    lat_fermion f;
    if (argc < 3 || !in || lat_stream_read(in, &u) != 1 || u.head.nc != 3 || !dev) {
        fprintf(stderr, "usage: rounding_cg LINKS.lat KAPPA [CSW]; links of SU(3): %s\n",
                lat_error());
        return 2;
    }
    bench_threads(1);
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = 1 / (2 * atof(argv[2])) - 4;
    f.csw = f.csw_t = argc > 3 ? atof(argv[3]) : 0;
    f.boundary[3].theta = 1;
    level_open(&outer, dev, &u, &f, LAT_STORAGE_DOUBLE);
    level_open(&inner, dev, &u, &f, LAT_STORAGE_SINGLE);
    source = field_new(LAT_SPINOR, u.head.geom, 3, LAT_F64);
    memset(source.data, 0, lat_field_reals(&source) * sizeof(double));
    ((double *)source.data)[24] = 1; /* at x = 1, odd */
    lat_dfield *b = vector(&outer, "a source"), *x = vector(&outer, "a solution");
    need(b && x && !lat_spinor_put(outer.space, b, 0, &source, 0), "a source");
    printf("# conjugate gradients to 1e-10, kappa %s, csw %g; updates where |r| fell to .1\n",
           argv[2], f.csw);
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        const double target = 1e-10;
        lat_solve_report report = {0};
        inner.format = formats[k].format;
        inner.system.epsilon = formats[k].epsilon;
        const lat_equation equation = {.outer = &outer.system,
                                       .inner = &inner.system,
                                       .b = b,
                                       .x = x,
                                       .from_zero = true,
                                       .target = &target,
                                       .max_iterations = 20000,
                                       .delta = .1};
        need(!outer.space->ops->zero(outer.space, &odd, x)
                 && !lat_solve(&equation, LAT_SOLVER_CG, 1, &first, &report),
             "a solve");
        printf("%-30s %6ld iterations, %4ld updates, residual %.1e, %s\n", formats[k].name,
               report.iterations, report.updates, report.residual, lat_end_text(report.end));
        fflush(stdout);
    }
    return 0;
}
