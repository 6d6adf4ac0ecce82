/* SPDX-License-Identifier: BSD-3-Clause */
/* single.c: passes over vectors of one column in single precision, and Newton's gradients and steps
 * in double, for each vector length of the processor: ghost_internal.h has the layout. */
#include "base/error.h"
#include "base/isa.h"
#include "ghost_internal.h"

typedef float v4f __attribute__((vector_size(16)));
typedef float v8f __attribute__((vector_size(32)));

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

#define OPERATOR lat_ghost
#define PLACE lat_iterator
#define PLACES eight
#define V v8f
#define VECTOR v8f
#define REAL float
#define LINK v8f
#define STORED v8f
#define APART 1
#define COLOUR(v, c) ((v)[c])
#define UNROLL UNROLL_FEW
#define UNROLL_AXES
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

/* ---- vectors --------------------------------------------------------------------------------- */

/* Reals of a vector from number `at` on: n, eight or four. */
typedef struct span {
    size_t at, n;
} span;

/* Are there some below `end`? */
LAT_INLINE bool some_below(span *i, size_t end)
{
    i->n = end - i->at < 8 ? end - i->at : 8;
    return i->at < end;
}

/* Those of the sites from .. to-1. */
#define EACH_SPAN(m, from, to) \
    for (span i = {(from)*lat_ghost_reals(m), 8}; some_below(&i, (to)*lat_ghost_reals(m)); \
         i.at += i.n)

typedef float v8f_anywhere __attribute__((vector_size(32), aligned(16), may_alias));

LAT_INLINE v8f get8(const double *v, span i)
{
    const float *p = (const float *)v + i.at;
    const v4f none = {0};
    if (i.n == 8)
        return *(const v8f_anywhere *)p;
    return __builtin_shufflevector(*(const v4f *)p, none, 0, 1, 2, 3, 4, 5, 6, 7);
}

LAT_INLINE void put8(double *to, span i, v8f v)
{
    float *p = (float *)to + i.at;
    if (i.n == 8)
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

#define CALL lat_ghost_call
#define INDEX span
#define GET get8
#define PUT put8
#define NAME(x) x##_single
#include "passes.h"

LAT_INLINE void update(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                       size_t to)
{
    const v8f none = {0}, a = none + (float)c->a[unit];
    EACH_SPAN(m, from, to)
    update_single(c, i, a, none); /* L^-1 takes the constants off */
}

LAT_INLINE void norms(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                      double *sums)
{
    v8f product = {0}, square = {0};
    EACH_SPAN(m, from, to)
    norms_single(c, i, &product, &square);
    sums[0] += add8(product);
    sums[1] += add8(square);
}

LAT_INLINE void extend(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                       size_t to)
{
    const v8f none = {0}, b = none + (float)c->b[unit];
    EACH_SPAN(m, from, to)
    extend_single(c, i, b);
}

/* ---- Newton's gradients and steps ------------------------------------------------------------ */

/* A row of a matrix is a vector of two complex numbers, and for SU(3) one more. */
typedef double two __attribute__((vector_size(32), aligned(8), may_alias));
typedef double one __attribute__((vector_size(16), aligned(8), may_alias));

#undef UNROLL
#if defined(__clang__)
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 3")
#endif

/* c = a b, not in place. */
LAT_INLINE void multiply(int n, double *c, const double *a, const double *b)
{
    two b2[3], i2[3];
    one b1[3], i1[3];
    UNROLL
    for (int k = 0; k < n; k++) { /* rows of b, and times i */
        const two minus = {-1, 1, -1, 1};
        b2[k] = *(const two *)(b + 2 * n * k);
        i2[k] = minus * __builtin_shufflevector(b2[k], b2[k], 1, 0, 3, 2);
        if (n == 3) {
            b1[k] = *(const one *)(b + 6 * k + 4);
            i1[k] = (one){-b1[k][1], b1[k][0]};
        }
    }
    UNROLL
    for (int i = 0; i < n; i++) {
        two s2 = {0};
        one s1 = {0};
        UNROLL
        for (int k = 0; k < n; k++) {
            const double re = a[2 * (i * n + k)], im = a[2 * (i * n + k) + 1];
            s2 += re * b2[k];
            s2 += im * i2[k];
            if (n == 3) {
                s1 += re * b1[k];
                s1 += im * i1[k];
            }
        }
        *(two *)(c + 2 * n * i) = s2;
        if (n == 3)
            *(one *)(c + 6 * i + 4) = s1;
    }
}

LAT_INLINE void read_link(LAT_UNUSED const lat_ghost *m, const lat_newton_fields *f, size_t site,
                          int mu, int n, double *u)
{
    lat_load(f->u, site * (size_t)f->u->head.geom.nd + (size_t)mu, n, u);
}

/* What `rotate` has made; v is not needed. */
LAT_INLINE const double *rotated(const lat_ghost *m, const lat_newton_fields *f, const double *g,
                                 const lat_iterator *at, int d, bool back, int n, double *v)
{
    const size_t site = back ? lat_iterator_down(at, m->direction[d]) : at->site;
    (void)g, (void)v;
    return f->links + (site * (size_t)m->directions + (size_t)d) * 2 * (size_t)n * (size_t)n;
}

#include "newton_site.h"
#include "base/error.h"

/* The g of the next gradient, or its neighbour. */
LAT_INLINE double *g_of(const lat_ghost_call *c, int unit, bool other)
{
    return c->newton->g[c->now[unit] != other];
}

LAT_INLINE void rotate(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from,
                       size_t to, int n)
{
    const lat_newton_fields *f = c->newton;
    const size_t reals = 2 * (size_t)n * (size_t)n;
    double *v = f->links + from * (size_t)m->directions * reals;
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at)) {
        const size_t site = natural(m, &at);
        for (int d = 0; d < m->directions; d++, v += reals) {
            const int i = m->direction[d];
            rotate_link(m, f, g_of(c, unit, f->next), site, natural_next(m, &at, site, i, false),
                        m->axis[i], n, v);
        }
    }
}

/* After rotate(). */
LAT_INLINE void gradient(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                         double *sums, int n)
{
    const size_t block = from / m->block, first = block * m->block;
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at)) {
        const size_t i = at.site - first;
        gradient_site(m, c->newton, NULL, &at,
                      m->lanes + (block * m->groups + i / 8) * m->group_reals + i % 8, n, sums);
    }
}

LAT_INLINE void step(const lat_ghost *m, const lat_ghost_call *c, int unit, size_t from, size_t to,
                     int n)
{
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at))
        step_site(m, c->newton, g_of(c, unit, false), g_of(c, unit, true), &at, c->a[unit], n);
}

LAT_INLINE void keep(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to, int n)
{
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at))
        keep_site(m, c->newton->g[1], c->newton->g[0], &at, n);
}

/* ---- for each vector length ------------------------------------------------------------------ */

/* For SU(2) and SU(3), N being a constant. */
#define PASS(name, isa, attribute, call) \
    attribute static void name##_##isa(const lat_ghost *m, const lat_ghost_call *c, int unit, \
                                       size_t from, size_t to, double *sums) \
    { \
        (void)unit, (void)sums; \
        if (m->nc == 2) { \
            enum { n = 2 }; \
            call; \
        } else { \
            enum { n = 3 }; \
            call; \
        } \
    }

#define EXPAND(isa, attribute) \
    PASS(hop, isa, attribute, \
         n == 2 ? hop_single_2(m, c, from, to, sums) : hop_single_3(m, c, from, to, sums)) \
    PASS(update, isa, attribute, update(m, c, unit, from, to)) \
    PASS(norms, isa, attribute, norms(m, c, from, to, sums)) \
    PASS(extend, isa, attribute, extend(m, c, unit, from, to)) \
    PASS(rotate, isa, attribute, rotate(m, c, unit, from, to, n)) \
    PASS(gradient, isa, attribute, gradient(m, c, from, to, sums, n)) \
    PASS(step, isa, attribute, step(m, c, unit, from, to, n)) \
    PASS(keep, isa, attribute, keep(m, c, from, to, n)) \
    static const lat_ghost_kernels kernels_##isa = { \
        [LAT_GHOST_HOP] = hop_##isa,       [LAT_GHOST_UPDATE] = update_##isa, \
        [LAT_GHOST_NORMS] = norms_##isa,   [LAT_GHOST_EXTEND] = extend_##isa, \
        [LAT_GHOST_ROTATE] = rotate_##isa, [LAT_GHOST_GRADIENT] = gradient_##isa, \
        [LAT_GHOST_STEP] = step_##isa,     [LAT_GHOST_KEEP] = keep_##isa};

LAT_ISA_EXPAND(EXPAND, LAT_FMA)

lat_ghost_pass *const *lat_ghost_single_kernels(void)
{
    static lat_ghost_pass *const *const all[] = LAT_ISA_EACH(kernels_, );
    return all[lat_isa_widest()];
}
