/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.c: passes over vectors, 8 columns side by side, for each vector length of the processor.
 * Products are not fused with sums (-ffp-contract=off in the Makefile), and every sum is one of a
 * column in the order of the sites: the bits are the same for all vector lengths. */
#include "base/isa.h"
#include "ghost_internal.h"

typedef double v2 __attribute__((vector_size(16)));
typedef double v4 __attribute__((vector_size(32)));
typedef double v8 __attribute__((vector_size(64)));

#if defined(__clang__)
#define UNROLL_FEW
#else
#define UNROLL_FEW _Pragma("GCC unroll 8")
#endif
#define OPERATOR lat_ghost
#define CALL lat_ghost_call
#define PLACE lat_iterator
#define UP lat_iterator_up
#define DOWN lat_iterator_down
#define UNROLL_AXES
#define VECTOR double
#define REAL double
#define LINK double
#define COLOUR(v, c) (*(V *)((v) + (size_t)(c)*LAT_GHOST_PACK))
#define V v2
#define WIDTH 2
#define NAME_(x, n) x##_base_##n
#include "hop_groups.h"
#if defined(__x86_64__)
#define V v4
#define WIDTH 4
#define NAME_(x, n) x##_avx2_##n
#include "hop_groups.h"
#define V v8
#define WIDTH 8
#define NAME_(x, n) x##_avx512_##n
#include "hop_groups.h"
#endif
#undef COLOUR
#undef LINK
#undef REAL
#undef VECTOR

/* ---- vectors --------------------------------------------------------------------------------- */

/* Packs of 8 columns: number p of a site, and colours there. */
#define EACH_PACK(m, from, to) \
    for (size_t site = from; site < to; site++) \
        for (size_t p = 0; p < (size_t)m->packs; p++) \
            for (size_t colour = 0, at = (site * (size_t)m->packs + p) * (size_t)m->colours * 8; \
                 colour < (size_t)m->colours; colour++, at += 8)

LAT_INLINE v8 get(const double *p) { return *(const v8 *)p; }
LAT_INLINE void put(double *p, v8 v) { *(v8 *)p = v; }

#define INDEX size_t
#define GET(p, i) get((p) + (i))
#define PUT(p, i, v) put((p) + (i), v)
#define V v8
#define NAME(x) x##_wide
#include "passes.h"
#undef V

/* Of a pack: the factor of a unit, the mean of a colour there, and its sums. */
LAT_INLINE v8 factor_of(const lat_ghost *m, const double *factor, int unit, size_t p)
{
    return get(factor + (size_t)unit * (size_t)m->columns + 8 * p);
}
LAT_INLINE v8 mean_of(const lat_ghost *m, const double *mean, int unit, size_t p, size_t colour)
{
    return get(mean + (size_t)unit * lat_ghost_reals(m) + (p * (size_t)m->colours + colour) * 8);
}
LAT_INLINE v8 *sum_of(double *sums, size_t p) { return (v8 *)(sums + 8 * p); }

/* One pack of `in` with one of `other` after the other: 8 sums stay in registers. */
LAT_INLINE void gram(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                     double *sums)
{
    const size_t pack = (size_t)m->colours * 8, reals = lat_ghost_reals(m);
    for (size_t p = 0; p < (size_t)m->packs; p++)
        for (size_t q = 0; q < (size_t)m->packs; q++) {
            v8 sum[8] = {{0}};
            for (size_t site = from; site < to; site++)
                for (size_t k = 0; k < pack; k += 8) {
                    const double *a = c->in + site * reals + p * pack + k;
                    const v8 b = get(c->other + site * reals + q * pack + k);
                    for (int i = 0; i < 8; i++)
                        sum[i] += b * a[i];
                }
            for (size_t i = 0; i < 8; i++) {
                double *to_sum = sums + (8 * p + i) * (size_t)m->columns + 8 * q;
                put(to_sum, get(to_sum) + sum[i]);
            }
        }
}

LAT_INLINE void combine_site(const lat_ghost *m, double *const *array, const double *a, size_t at)
{
    const size_t columns = (size_t)m->columns, pack = (size_t)m->colours * 8;
    for (size_t k = 0; k < pack; k += 8) {
        v8 x[8], rest[8]; /* packs: at most 8 */
        for (size_t q = 0; q < (size_t)m->packs; q++) {
            v8 sum[3] = {{0}};
            for (size_t part = 0; part < 3; part++)
                for (size_t i = 0; i < columns; i++)
                    sum[part] += get(a + (part * columns + i) * columns + 8 * q)
                                 * array[part][at + i / 8 * pack + k + i % 8];
            rest[q] = sum[1] + sum[2];
            x[q] = sum[0] + rest[q];
        }
        for (size_t q = 0; q < (size_t)m->packs; q++) {
            put(array[0] + at + q * pack + k, x[q]);
            put(array[2] + at + q * pack + k, rest[q]);
        }
    }
}

LAT_INLINE void combine(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                        size_t to)
{
    const size_t columns = (size_t)m->columns, reals = lat_ghost_reals(m);
    const double *a = c->a + (size_t)unit * 3 * columns * columns;
    for (size_t site = from; site < to; site++) {
        combine_site(m, c->array, a, site * reals);
        combine_site(m, c->array + 3, a, site * reals);
    }
}

/* ---- for each vector length ------------------------------------------------------------------ */

#define HOP(isa) \
    switch (m->nc) { \
    case 2: hop_sites_##isa##_2(m, c, from, to, sums, 2); break; \
    case 3: hop_sites_##isa##_3(m, c, from, to, sums, 3); break; \
    case 4: hop_sites_##isa##_4(m, c, from, to, sums, 4); break; \
    default: hop_sites_##isa##_any(m, c, from, to, sums, m->nc); \
    }

#define PASS(name, isa, attribute, ...) \
    attribute static void name##_##isa(const lat_ghost *m, const lat_ghost_call *c, int unit, \
                                       size_t from, size_t to, double *sums) \
    { \
        (void)unit, (void)sums; \
        __VA_ARGS__; \
    }

#define EACH(m, call) \
    EACH_PACK(m, from, to) \
    call

/* What all vector lengths share: clang hands no v8 to a function of other instructions. */
#define SHARED(name, ...) \
    LAT_INLINE void name##_all(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from, \
                               size_t to, double *sums) \
    { \
        (void)unit, (void)sums; \
        __VA_ARGS__; \
    }
SHARED(shift, EACH(m, shift_wide(c, at, mean_of(m, c->mean, unit, p, colour))))
SHARED(update, EACH(m, update_wide(c, at, factor_of(m, c->a, unit, p),
                                   mean_of(m, c->mean, unit, p, colour))))
SHARED(dot, EACH(m, dot_wide(c, at, sum_of(sums, p))))
SHARED(norms, EACH(m, norms_wide(c, at, sum_of(sums, p), sum_of(sums + m->columns, p))))
SHARED(extend, EACH(m, extend_wide(c, at, factor_of(m, c->b, unit, p))))
SHARED(defect, EACH(m, defect_wide(c, at, factor_of(m, c->a, unit, p), sum_of(sums, p))))
SHARED(gram, gram(m, c, from, to, sums))
SHARED(combine, combine(m, c, unit, from, to))

#define ALL(name, isa, attribute) PASS(name, isa, attribute, name##_all(m, c, unit, from, to, sums))

#define EXPAND(isa, attribute) \
    PASS(hop, isa, attribute, HOP(isa)) \
    PASS(plain, isa, attribute, plain_sites_##isa##_any(m, c, unit, from, to, sums)) \
    ALL(shift, isa, attribute) \
    ALL(update, isa, attribute) \
    ALL(dot, isa, attribute) \
    ALL(norms, isa, attribute) \
    ALL(extend, isa, attribute) \
    ALL(defect, isa, attribute) \
    ALL(gram, isa, attribute) \
    ALL(combine, isa, attribute) \
    static const lat_ghost_kernels kernels_##isa = { \
        [LAT_GHOST_HOP] = hop_##isa,       [LAT_GHOST_SHIFT] = shift_##isa, \
        [LAT_GHOST_UPDATE] = update_##isa, [LAT_GHOST_DOT] = dot_##isa, \
        [LAT_GHOST_NORMS] = norms_##isa,   [LAT_GHOST_EXTEND] = extend_##isa, \
        [LAT_GHOST_DEFECT] = defect_##isa, [LAT_GHOST_PLAIN] = plain_##isa, \
        [LAT_GHOST_GRAM] = gram_##isa,     [LAT_GHOST_COMBINE] = combine_##isa};

LAT_ISA_EXPAND(EXPAND, "")

lat_ghost_pass *const *lat_ghost_wide_kernels(void)
{
    static lat_ghost_pass *const *const all[] = LAT_ISA_EACH(kernels_, );
    return all[lat_isa_widest()];
}
