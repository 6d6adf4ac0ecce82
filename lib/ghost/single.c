/* SPDX-License-Identifier: BSD-3-Clause */
/* single.c: passes over vectors of one column in single precision, for each vector length of the
 * processor: ghost_internal.h has the layout. */
#include "base/isa.h"
#include "ghost_internal.h"

typedef float v4f __attribute__((vector_size(16)));
typedef float v8f __attribute__((vector_size(32)));

/* Element of 2 T^a for the diagonal one number k: the first k are this, the next is -k times it. */
LAT_INLINE double diagonal_factor(int k) { return __builtin_sqrt(2.0 / (k * (k + 1))); }

#if defined(__clang__)
#define UNROLL_FEW
#else
#define UNROLL_FEW _Pragma("GCC unroll 18")
#endif

/* Eight sites of a block, one after the other; the last one again in lanes without a site. */
typedef struct eight {
    size_t site[8], up[LAT_MAX_DIMS][8], down[LAT_MAX_DIMS][8];
} eight;

LAT_INLINE void eight_sites(const lat_ghost *m, lat_iterator *at, int count, eight *x)
{
    for (int l = 0; l < 8; l++) {
        x->site[l] = at->site;
        for (int d = 0; d < m->directions; d++) {
            x->up[d][l] = lat_iterator_up(at, m->direction[d]);
            x->down[d][l] = lat_iterator_down(at, m->direction[d]);
        }
        if (l + 1 < count)
            lat_iterator_next(at);
    }
    lat_iterator_next(at);
}

/* 1 in the first lanes, 0 in the others. */
LAT_INLINE v8f lanes_below(int count)
{
    v8f one = {0};
    for (int l = 0; l < count; l++)
        one[l] = 1;
    return one;
}

/* Rows become columns: pairs, then fours, then halves. */
LAT_INLINE void transpose8(v8f *v)
{
    v8f a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            b[i + 2 * k] = __builtin_shufflevector(a[i + k], a[i + k + 2], 0, 1, 8, 9, 4, 5, 12,
                                                   13);
            b[i + 2 * k + 1] = __builtin_shufflevector(a[i + k], a[i + k + 2], 2, 3, 10, 11, 6, 7,
                                                       14, 15);
        }
    for (int i = 0; i < 4; i++) {
        v[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        v[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

#define V v8f
#define VECTOR v8f
#define REAL float
#define LINK v8f
#define COLOUR(v, c) ((v)[c])
#define UNROLL UNROLL_FEW
#define SIZE 2
#define NAME(x) x##_single_2
#include "single_hop.h"
#undef SIZE
#undef NAME
#define SIZE 3
#define NAME(x) x##_single_3
#include "single_hop.h"
#undef SIZE
#undef NAME
#undef UNROLL
#undef COLOUR
#undef LINK
#undef REAL
#undef VECTOR
#undef V

LAT_INLINE void hop(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                    double *sums)
{
    if (m->nc == 2)
        hop_single_2(m, c, from, to, sums);
    else
        hop_single_3(m, c, from, to, sums);
}

/* The reals of the sites from .. to-1, eight at a time, the last ones fewer. */
#define EACH_EIGHT(m, from, to) \
    for (size_t at = (from)*lat_ghost_reals(m), end = (to)*lat_ghost_reals(m), \
                n = end - at < 8 ? end - at : 8; \
         at < end; at += n, n = end - at < 8 ? end - at : 8)

typedef float v8f_anywhere __attribute__((vector_size(32), aligned(16), may_alias));

LAT_INLINE v8f get8(const float *p, size_t n)
{
    const v4f none = {0};
    if (n == 8)
        return *(const v8f_anywhere *)p;
    return __builtin_shufflevector(*(const v4f *)p, none, 0, 1, 2, 3, 4, 5, 6, 7);
}

LAT_INLINE void put8(float *p, v8f v, size_t n)
{
    if (n == 8)
        *(v8f_anywhere *)p = v;
    else
        *(v4f *)p = __builtin_shufflevector(v, v, 0, 1, 2, 3);
}

LAT_INLINE double add8(v8f v)
{
    double sum = 0;
    for (int l = 0; l < 8; l++)
        sum += (double)v[l];
    return sum;
}

LAT_INLINE void update(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                       size_t to)
{
    const float a = (float)c->a[unit], *p = (const float *)c->in;
    float *x = (float *)c->out, *r = (float *)c->also, *q = (float *)c->third;
    EACH_EIGHT(m, from, to)
    {
        const v8f next = get8(r + at, n) - a * get8(q + at, n);
        put8(x + at, get8(x + at, n) + a * get8(p + at, n), n);
        put8(r + at, next, n);
        put8(q + at, next, n);
    }
}

LAT_INLINE void norms(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                      double *sums)
{
    const float *a = (const float *)c->in, *b = (const float *)c->other;
    v8f product = {0}, square = {0};
    EACH_EIGHT(m, from, to)
    {
        const v8f v = get8(a + at, n);
        product += v * get8(b + at, n);
        square += v * v;
    }
    sums[0] += add8(product);
    sums[1] += add8(square);
}

LAT_INLINE void extend(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                       size_t to)
{
    const float b = (float)c->b[unit], *in = (const float *)c->in;
    float *out = (float *)c->out;
    EACH_EIGHT(m, from, to)
    put8(out + at, get8(in + at, n) + b * get8(out + at, n), n);
}

/* ---- for each vector length ------------------------------------------------------------------ */

#define PASS(name, isa, attribute, call) \
    attribute static void name##_##isa(const lat_ghost *m, const lat_ghost_call *c, int unit, \
                                       size_t from, size_t to, double *sums) \
    { \
        (void)unit, (void)sums; \
        call; \
    }

#define EXPAND(isa, attribute) \
    PASS(hop, isa, attribute, hop(m, c, from, to, sums)) \
    PASS(update, isa, attribute, update(m, c, unit, from, to)) \
    PASS(norms, isa, attribute, norms(m, c, from, to, sums)) \
    PASS(extend, isa, attribute, extend(m, c, unit, from, to)) \
    static const lat_ghost_kernels kernels_##isa = { \
        .hop = hop_##isa, .update = update_##isa, .norms = norms_##isa, .extend = extend_##isa};

LAT_ISA_EXPAND(EXPAND, LAT_FMA)

const lat_ghost_kernels *lat_ghost_single_kernels(void)
{
    static const lat_ghost_kernels *const all[] = LAT_ISA_EACH(&kernels_, );
    return all[lat_isa_widest()];
}
