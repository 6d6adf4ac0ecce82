/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_site.c: Newton's gradient and step on the CPU, in double, for each vector length of the
 * processor. A matrix is 2 N N doubles; a row of it is a vector of two complex numbers, and for
 * SU(3) one more. Links and g are host fields, in natural order; single.c has the order of vectors
 * and of the operator's links. */
#include <math.h>
#include "base/isa.h"
#include "ghost_internal.h"
#include "newton_internal.h"

typedef double two __attribute__((vector_size(32), aligned(8), may_alias));
typedef double one __attribute__((vector_size(16), aligned(8), may_alias));

enum { MATRIX = 18 }; /* reals, at most */

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

LAT_INLINE void adjoint(int n, double *c, const double *a)
{
    UNROLL
    for (int i = 0; i < n; i++)
        UNROLL
    for (int j = 0; j < n; j++) {
        c[2 * (i * n + j)] = a[2 * (j * n + i)];
        c[2 * (i * n + j) + 1] = -a[2 * (j * n + i) + 1];
    }
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The site of u and g, and the next one along our axis i. */
LAT_INLINE size_t natural(const lat_ghost *m, const lat_iterator *at)
{
    size_t site = 0;
    for (int i = 0; i < at->nd; i++)
        site += (size_t)at->x[i] * m->natural[i];
    return site;
}
LAT_INLINE size_t natural_up(const lat_ghost *m, const lat_iterator *at, size_t site, int i)
{
    return site + m->natural[i]
           - (at->x[i] + 1 == at->extent[i] ? m->natural[i] * (size_t)at->extent[i] : 0);
}

/* The links that g transforms, without weights, as they lie in a vector. */
LAT_INLINE void rotate(const lat_ghost *m, const lat_newton_fields *f, int unit, size_t from,
                       size_t to, int n)
{
    const size_t nd = (size_t)f->u->head.geom.nd, reals = 2 * (size_t)n * (size_t)n;
    const double *g = f->g[f->now[unit] ^ f->next].data;
    double *v = f->links + from * (size_t)m->directions * reals;
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at)) {
        const size_t site = natural(m, &at);
        for (int d = 0; d < m->directions; d++, v += reals) {
            double u[MATRIX], product[MATRIX], after[MATRIX];
            const int i = m->direction[d];
            lat_load(f->u, site * nd + (size_t)m->axis[i], n, u);
            multiply(n, product, g + site * reals, u);
            adjoint(n, after, g + natural_up(m, &at, site, i) * reals);
            multiply(n, v, product, after);
        }
    }
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* x += weight v, or v^+ (back); v's, or v^+'s, first rows to lane `lane` of where the operator has
 * them. */
LAT_INLINE void take_link(int n, const double *v, bool back, double weight, double *x, float *lane)
{
    UNROLL
    for (int i = 0; i < n; i++)
        UNROLL
    for (int j = 0; j < n; j++) {
        const double *p = v + 2 * (back ? j * n + i : i * n + j), re = p[0],
                     im = back ? -p[1] : p[1];
        const int k = 2 * (i * n + j);
        x[k] += weight * re;
        x[k + 1] += weight * im;
        if (i < n - 1) {
            lane[8 * k] = (float)re;
            lane[8 * (k + 1)] = (float)im;
        }
    }
}

/* The Hermitian part of x / 2. */
LAT_INLINE void take_diagonal(int n, const double *x, float *lane)
{
    for (int a = 0, k = n; a < n; a++) {
        lane[8 * a] = (float)(x[2 * (a * n + a)] / 2);
        for (int b = a + 1; b < n; b++, k += 2) {
            const double *p = x + 2 * (a * n + b), *q = x + 2 * (b * n + a);
            lane[8 * k] = (float)((p[0] + q[0]) / 4);
            lane[8 * (k + 1)] = (float)((p[1] - q[1]) / 4);
        }
    }
}

/* a of x's part i a T^a in the algebra (ghost.h); returns |A|^2. */
LAT_INLINE double take_gradient(int n, const double *x, float *a)
{
    double trace = x[1], square = 0;
    for (int k = 1, c = 0; k < n; k++) {
        for (int i = 0; i < k; i++, c += 2) {
            const double *p = x + 2 * (i * n + k), *q = x + 2 * (k * n + i), re = p[1] + q[1],
                         im = p[0] - q[0];
            a[c] = (float)re;
            a[c + 1] = (float)im;
            square += re * re + im * im;
        }
        const double own = x[2 * (k * n + k) + 1],
                     diagonal = (trace - k * own) * sqrt(2.0 / (k * (k + 1)));
        a[c++] = (float)diagonal;
        square += diagonal * diagonal;
        trace += own;
    }
    return square / 2;
}

/* After rotate(); sums: Re tr x, |A|^2. */
LAT_INLINE void gradient(const lat_ghost *m, const lat_newton_fields *f, size_t from, size_t to,
                         double *sums, int n)
{
    const size_t block = from / m->block, first = block * m->block, row = lat_ghost_reals(m),
                 reals = 2 * (size_t)n * (size_t)n, all = (size_t)m->directions * reals;
    const int link = 8 * 2 * n * (n - 1);
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at)) {
        const size_t i = at.site - first;
        float *lane = m->lanes + (block * m->groups + i / 8) * lat_ghost_group_reals(m) + i % 8,
              *a = (float *)f->gradient + at.site * row;
        double x[MATRIX] = {0};
        for (int d = 0; d < m->directions; d++) {
            const int axis = m->direction[d];
            const size_t of = (size_t)d * reals;
            take_link(n, f->links + at.site * all + of, false, m->weight[axis], x, lane + d * link);
            take_link(n, f->links + lat_iterator_down(&at, axis) * all + of, true, m->weight[axis],
                      x, lane + (m->directions + d) * link);
        }
        take_diagonal(n, x, lane + 2 * m->directions * link);
        a[row - 1] = 0;
        sums[1] += take_gradient(n, x, a);
        for (int k = 0; k < n; k++)
            sums[0] += x[2 * (k * n + k)];
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* exp(s), s = i scale w T^a, |s|^2 cut to LAT_NEWTON_STEP: the series to s^6. */
LAT_INLINE void exponential(int n, const float *w, double scale, double *e)
{
    double s[MATRIX] = {0}, product[MATRIX], square = 0;
    for (int k = 0; k < n * n - 1; k++)
        square += (double)w[k] * (double)w[k];
    square *= scale * scale / 2;
    scale *= square > LAT_NEWTON_STEP ? sqrt(LAT_NEWTON_STEP / square) : 1;
    for (int k = 1, c = 0; k < n; k++) {
        for (int i = 0; i < k; i++, c += 2) {
            s[2 * (i * n + k)] = scale / 2 * (double)w[c + 1];
            s[2 * (k * n + i)] = -scale / 2 * (double)w[c + 1];
            s[2 * (i * n + k) + 1] = s[2 * (k * n + i) + 1] = scale / 2 * (double)w[c];
        }
        const double d = scale / 2 * (double)w[c++] * sqrt(2.0 / (k * (k + 1)));
        for (int i = 0; i < k; i++)
            s[2 * (i * n + i) + 1] += d;
        s[2 * (k * n + k) + 1] -= k * d;
    }
    for (int k = 0; k < 2 * n * n; k++)
        e[k] = k % 2 == 0 && k / 2 % (n + 1) == 0;
    for (int k = 6; k > 0; k--) {
        multiply(n, product, s, e);
        for (int i = 0; i < 2 * n * n; i++)
            e[i] = product[i] / k + (i % 2 == 0 && i / 2 % (n + 1) == 0 ? 1 : 0);
    }
}

/* To the other g of a unit: exp(scale s) g. */
LAT_INLINE void step(const lat_ghost *m, const lat_newton_fields *f, int unit, size_t from,
                     size_t to, double scale, int n)
{
    const size_t row = lat_ghost_reals(m), reals = 2 * (size_t)n * (size_t)n;
    const double *g = f->g[f->now[unit]].data;
    double *next = f->g[1 - f->now[unit]].data;
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at)) {
        const size_t site = natural(m, &at);
        double e[MATRIX];
        exponential(n, (const float *)f->step + at.site * row, scale, e);
        multiply(n, next + site * reals, e, g + site * reals);
        lat_sun_gram_schmidt(n, next + site * reals);
    }
}

/* ---- for each vector length ------------------------------------------------------------------ */

/* For SU(2) and SU(3), N being a constant. */
#define PASS(name, isa, attribute, call) \
    attribute static void name##_##isa(const lat_ghost *m, const lat_ghost_call *c, int unit, \
                                       size_t from, size_t to, double *sums) \
    { \
        const lat_newton_fields *f = c->newton; \
        (void)sums, (void)unit; \
        if (m->nc == 2) { \
            enum { n = 2 }; \
            call; \
        } else { \
            enum { n = 3 }; \
            call; \
        } \
    }

#define EXPAND(isa, attribute) \
    PASS(rotate, isa, attribute, rotate(m, f, unit, from, to, n)) \
    PASS(gradient, isa, attribute, gradient(m, f, from, to, sums, n)) \
    PASS(step, isa, attribute, step(m, f, unit, from, to, c->a[unit], n)) \
    static const lat_newton_kernels kernels_##isa = {rotate_##isa, gradient_##isa, step_##isa};

LAT_ISA_EXPAND(EXPAND, LAT_FMA)

const lat_newton_kernels *lat_newton_kernels_of(void)
{
    static const lat_newton_kernels *const all[] = LAT_ISA_EACH(&kernels_, );
    return all[lat_isa_widest()];
}
