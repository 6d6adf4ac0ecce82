/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_site.h: Newton's gradient and step at a site in double (template), one text for CPU and
 * GPU: single.c and ghost_single.cuh are made of it. OPERATOR has axes and weights, PLACE is a site
 * with its coordinates, LAT_INLINE qualifies functions. Who includes it has
 *
 *     void multiply(int n, double *c, const double *a, const double *b);     c = a b
 *     void read_link(const OPERATOR *m, const lat_newton_fields *f, size_t site, int mu, int n,
 *                    double *u);
 *     const double *rotated(const OPERATOR *m, const lat_newton_fields *f, const double *g,
 *                           const PLACE *at, int d, bool back, int n, double *v);
 *
 * the last one for the link of direction d from a site, or to it (`back`), as g transforms it; v is
 * work space. A matrix is 2 N N doubles, u and g lie in natural order; `lane` points to where the
 * operator has the links of a site (ghost_internal.h). */

enum { MATRIX = 18 }; /* reals, at most */

/* ---- links ----------------------------------------------------------------------------------- */

/* The site of u and g, and the next one along our axis i, or the one before. */
LAT_INLINE size_t natural(const OPERATOR *m, const PLACE *at)
{
    size_t site = 0;
    for (int i = 0; i < at->nd; i++)
        site += (size_t)at->x[i] * m->natural[i];
    return site;
}
LAT_INLINE size_t natural_next(const OPERATOR *m, const PLACE *at, size_t site, int i, bool back)
{
    const size_t stride = m->natural[i], round = stride * (size_t)at->extent[i];
    if (back)
        return site - stride + (at->x[i] == 0 ? round : 0);
    return site + stride - (at->x[i] + 1 == at->extent[i] ? round : 0);
}

/* v = g U g^+ of the link along mu from `site` to `next`. */
LAT_INLINE void rotate_link(const OPERATOR *m, const lat_newton_fields *f, const double *g,
                            size_t site, size_t next, int mu, int n, double *v)
{
    const size_t reals = 2 * (size_t)n * (size_t)n;
    double u[MATRIX], product[MATRIX], after[MATRIX];
    read_link(m, f, site, mu, n, u);
    multiply(n, product, g + site * reals, u);
    lat_sun_dag(n, after, g + next * reals);
    multiply(n, v, product, after);
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* x += weight v, or v^+ (back); v's, or v^+'s, first rows to `lane`. */
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

/* A of g's links, and these, to the operator; sums: Re tr x, |A|^2, x being g K (site/landau.h). */
LAT_INLINE void gradient_site(const OPERATOR *m, const lat_newton_fields *f, const double *g,
                              const PLACE *at, float *lane, int n, double *sums)
{
    const int link = 8 * 2 * n * (n - 1), row = n * n / 2 * 2;
    float *a = (float *)f->gradient + (size_t)at->site * (size_t)row;
    double x[MATRIX] = {0}, v[MATRIX];
    for (int d = 0; d < m->directions; d++) {
        const double weight = m->weight[m->direction[d]];
        take_link(n, rotated(m, f, g, at, d, false, n, v), false, weight, x, lane + d * link);
        take_link(n, rotated(m, f, g, at, d, true, n, v), true, weight, x,
                  lane + (m->directions + d) * link);
    }
    take_diagonal(n, x, lane + 2 * m->directions * link);
    a[row - 1] = 0;
    sums[1] += take_gradient(n, x, a);
    for (int k = 0; k < n; k++)
        sums[0] += x[2 * (k * n + k)];
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* exp(s), s = i scale w T^a, |s|^2 cut to LAT_NEWTON_STEP: the series to s^6. What is left out
 * makes it another step, not g another group: g is made orthonormal. */
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

/* next = exp(scale s) g. */
LAT_INLINE void step_site(const OPERATOR *m, const lat_newton_fields *f, const double *g,
                          double *next, const PLACE *at, double scale, int n)
{
    const size_t at_g = natural(m, at) * 2 * (size_t)n * (size_t)n,
                 row = (size_t)n * (size_t)n / 2 * 2;
    double e[MATRIX];
    exponential(n, (const float *)f->step + (size_t)at->site * row, scale, e);
    multiply(n, next + at_g, e, g + at_g);
    lat_sun_gram_schmidt(n, next + at_g);
}

/* next = g. */
LAT_INLINE void keep_site(const OPERATOR *m, const double *g, double *next, const PLACE *at, int n)
{
    const size_t reals = 2 * (size_t)n * (size_t)n, at_g = natural(m, at) * reals;
    memcpy(next + at_g, g + at_g, reals * sizeof *g);
}
