/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_lanes.c: compiled for each vector length of x86, one of which is chosen at run time. */
#include "loops_lanes.h"

#include "base/isa.h"
#include "lattice/iterate.h"

typedef lat_simd8 vec;
/* The same where addresses are those of doubles. */
typedef double loose __attribute__((vector_size(8 * LAT_SIMD8), aligned(8), may_alias));

/* Real k of time group g at site x. */
LAT_INLINE const vec *at(const lat_timewise *w, const vec *f, size_t x, int g)
{
    return f + x * lat_timewise_vectors(w) + g;
}

LAT_INLINE void load(const lat_timewise *w, int n, const vec *from, vec *m)
{
    for (int k = 0; k < 2 * n * n; k++)
        m[k] = from[k * w->groups];
}

LAT_INLINE void store(const lat_timewise *w, int n, const vec *m, vec *to)
{
    for (int k = 0; k < 2 * n * n; k++)
        to[k * w->groups] = m[k];
}

/* c = a b, or with `dag` a b^+. */
LAT_INLINE void product(int n, bool dag, vec *c, const vec *a, const vec *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            vec re = {0}, im = {0};
            for (int k = 0; k < n; k++) {
                const vec *p = a + 2 * (i * n + k), *q = b + 2 * (dag ? j * n + k : k * n + j);
                re += p[0] * q[0];
                im += p[1] * q[0];
                re += dag ? p[1] * q[1] : -(p[1] * q[1]);
                im += dag ? -(p[0] * q[1]) : p[0] * q[1];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

LAT_INLINE void transform(const lat_timewise *w, size_t from, size_t to, int n, vec *u,
                          const vec *g, const int *by)
{
    LAT_SIMD8_MATRIX(a);
    LAT_SIMD8_MATRIX(b);
    LAT_SIMD8_MATRIX(c);
    for (size_t x = from; x < to; x++) {
        const size_t y = lat_loops_shift(w->space, x, by);
        for (int t = 0; t < w->groups; t++) {
            vec *link = u + x * lat_timewise_vectors(w) + t;
            load(w, n, at(w, g, x, t), a);
            load(w, n, link, b);
            product(n, false, c, a, b);
            load(w, n, at(w, g, y, t), b);
            product(n, true, a, c, b);
            store(w, n, a, link);
        }
    }
}

LAT_INLINE void multiply(const lat_timewise *w, size_t from, size_t to, int n, vec *c, const vec *a,
                         const vec *b, const int *by)
{
    LAT_SIMD8_MATRIX(p);
    LAT_SIMD8_MATRIX(q);
    LAT_SIMD8_MATRIX(r);
    for (size_t x = from; x < to; x++) {
        const size_t y = lat_loops_shift(w->space, x, by);
        for (int t = 0; t < w->groups; t++) {
            load(w, n, at(w, a, x, t), p);
            load(w, n, at(w, b, y, t), q);
            product(n, false, r, p, q);
            store(w, n, r, c + x * lat_timewise_vectors(w) + t);
        }
    }
}

/* c = the product along a path that begins at x. */
LAT_INLINE void path(const lat_timewise *w, size_t x, int t, int n, const vec *const *links,
                     const signed char *step, int length, vec *c)
{
    LAT_SIMD8_MATRIX(a);
    LAT_SIMD8_MATRIX(b);
    for (int i = 0; i < n * n; i++) { /* 1 */
        c[2 * i] = (vec){0} + (i % (n + 1) == 0 ? 1. : 0.);
        c[2 * i + 1] = (vec){0};
    }
    for (int s = 0; s < length; s++) {
        const int axis = (step[s] > 0 ? step[s] : -step[s]) - 1;
        int by[LAT_MAX_DIMS] = {0};
        by[axis] = step[s] > 0 ? 1 : -1;
        const size_t y = lat_loops_shift(w->space, x, by);
        load(w, n, at(w, links[axis], step[s] > 0 ? x : y, t), b);
        x = y;
        for (int k = 0; k < 2 * n * n; k++)
            a[k] = c[k];
        if (step[s] > 0)
            product(n, false, c, a, b);
        else
            product(n, true, c, a, b);
    }
}

LAT_INLINE void paths(const lat_timewise *w, size_t from, size_t to, int n, vec *s,
                      const vec *const *links, const lat_loops_paths *p)
{
    const double share = 1. / p->count;
    LAT_SIMD8_MATRIX(one);
    LAT_SIMD8_MATRIX(sum);
    for (size_t x = from; x < to; x++)
        for (int t = 0; t < w->groups; t++) {
            for (int k = 0; k < 2 * n * n; k++)
                sum[k] = (vec){0};
            for (int i = 0; i < p->count; i++) {
                path(w, x, t, n, links, p->step[i], p->length, one);
                for (int k = 0; k < 2 * n * n; k++)
                    sum[k] += share * one[k];
            }
            store(w, n, sum, s + x * lat_timewise_vectors(w) + t);
        }
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* c = a b with the scalars a, or with `dag` b a^+. */
LAT_INLINE void scalar_product(int n, bool dag, vec *c, const double *a, const vec *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            vec re = {0}, im = {0};
            for (int k = 0; k < n; k++) {
                const double *p = a + 2 * (dag ? j * n + k : i * n + k), sign = dag ? -1 : 1;
                const vec *q = b + 2 * (dag ? i * n + k : k * n + j);
                re += p[0] * q[0];
                im += p[0] * q[1];
                re -= sign * p[1] * q[1];
                im += sign * p[1] * q[0];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

/* The line at site x, and behind it what it is one time around the lattice later:
 * P(x) S P(x + R)^+. */
LAT_INLINE void extend(const lat_timewise *w, const lat_loops_lines *l, int n, size_t x,
                       const vec *line, double *to)
{
    const int reals = 2 * n * n;
    const size_t y = lat_loops_shift(w->space, x, l->by);
    LAT_SIMD8_MATRIX(a);
    LAT_SIMD8_MATRIX(b);
    for (int k = 0; k < reals; k++)
        for (int t = 0; t < w->groups; t++)
            *(loose *)(to + (size_t)k * l->extended
                       + LAT_SIMD8 * (size_t)t) = line[k * w->groups + t];
    for (int t = 0; l->around && LAT_SIMD8 * t < l->time; t++) {
        load(w, n, line + t, a);
        scalar_product(n, false, b, l->around + x * (size_t)reals, a);
        scalar_product(n, true, a, l->around + y * (size_t)reals, b);
        for (int k = 0; k < reals; k++)
            *(loose *)(to + (size_t)k * l->extended + (size_t)(l->slices + LAT_SIMD8 * t)) = a[k];
    }
}

/* sums[T - 1] += Re tr of a line at t and a line at t + T, all t. */
LAT_INLINE void overlap(const lat_timewise *w, const lat_loops_lines *l, int n, const vec *line,
                        const double *other, vec *sums)
{
    for (int time = 0; time < l->time; time += 4) {
        vec sum[4] = {{0}};
        for (int k = 0; k < 2 * n * n; k++)
            for (int t = 0; t < w->groups; t++) {
                const vec here = line[k * w->groups + t];
                const double *there = other + (size_t)k * l->extended
                                      + (size_t)(LAT_SIMD8 * t + time + 1);
                for (int q = 0; q < 4; q++)
                    sum[q] += here * *(const loose *)(there + q);
            }
        for (int q = 0; q < 4; q++)
            sums[time + q] += sum[q];
    }
}

LAT_INLINE void gram(const lat_timewise *w, size_t from, size_t to, int n, const lat_loops_lines *l,
                     double *scratch, vec *sums)
{
    const size_t each = 2 * (size_t)(n * n) * l->extended, four = (size_t)lat_loops_four(l->time);
    for (size_t x = from; x < to; x++) {
        size_t pair = 0;
        for (int i = 0; i < l->levels; i++)
            extend(w, l, n, x, at(w, l->line[i], x - l->base, 0), scratch + (size_t)i * each);
        for (int i = 0; i < l->levels; i++)
            for (int j = i; j < l->levels; j++, pair++) {
                const vec *a = at(w, l->line[i], x - l->base, 0),
                          *b = at(w, l->line[j], x - l->base, 0);
                overlap(w, l, n, a, scratch + (size_t)j * each, sums + pair * four);
                if (j > i)
                    overlap(w, l, n, b, scratch + (size_t)i * each, sums + pair * four);
            }
    }
}

/* ---- for each N and vector length ------------------------------------------------------------ */

LAT_ISA_CLONES(transform, LAT_FMA,
               (const lat_timewise *w, size_t from, size_t to, vec *u, const vec *g, const int *by),
               LAT_WITH_COLOURS(w->n, transform(w, from, to, n, u, g, by)))
LAT_ISA_CLONES(multiply, LAT_FMA,
               (const lat_timewise *w, size_t from, size_t to, vec *c, const vec *a, const vec *b,
                const int *by),
               LAT_WITH_COLOURS(w->n, multiply(w, from, to, n, c, a, b, by)))
LAT_ISA_CLONES(paths, LAT_FMA,
               (const lat_timewise *w, size_t from, size_t to, vec *s, const vec *const *links,
                const lat_loops_paths *p),
               LAT_WITH_COLOURS(w->n, paths(w, from, to, n, s, links, p)))
LAT_ISA_CLONES(gram, LAT_FMA,
               (const lat_timewise *w, size_t from, size_t to, const lat_loops_lines *l,
                double *scratch, vec *sums),
               LAT_WITH_COLOURS(w->n, gram(w, from, to, n, l, scratch, sums)))

#define LANES(isa, target) \
    static const lat_loops_lanes lanes_##isa = {transform_##isa, multiply_##isa, paths_##isa, \
                                                gram_##isa};
LAT_ISA_EXPAND(LANES, )

const lat_loops_lanes *lat_loops_lanes_here(void)
{
    static const lat_loops_lanes *const lanes[] = LAT_ISA_EACH(&lanes_, );
    return lanes[lat_isa_widest()];
}
