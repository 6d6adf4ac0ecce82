/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_algebra.h: elements of the algebra at a site, one text for CPU and GPU (template; after
 * site/template.h). newton_internal.h has the basis. */
#ifndef APART
#define APART LAT_HOST_DEVICE
#endif

#define COLOURS (LAT_N * LAT_N - 1)
#define ROW ((COLOURS + 1) / 2 * 2)
#define OFF (LAT_N * (LAT_N - 1)) /* reals off the diagonal */
#define ROOT_HALF ((LAT_S)0.70710678118654752440)
#define ROOT_SIXTH ((LAT_S)0.40824829046386301637)

/* The diagonal of w, its imaginary parts. */
LAT_HOST_DEVICE void LAT_(diagonal)(LAT_T *d, const LAT_T *w)
{
#if LAT_N == 2
    d[0] = LAT_(set)(ROOT_HALF) * w[2];
    d[1] = -d[0];
#else
    const LAT_T a = LAT_(set)(ROOT_HALF) * w[6], b = LAT_(set)(ROOT_SIXTH) * w[7];
    d[0] = b + a;
    d[1] = b - a;
    d[2] = -(b + b);
#endif
}

/* The components of the part of x in the algebra, whose diagonal has the imaginary parts d. */
LAT_HOST_DEVICE void LAT_(components)(LAT_T *w, const LAT_(m) *x, const LAT_T *d)
{
    int i = 0;
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++)
        LAT_UNROLL
    for (int b = a + 1; b < LAT_N; b++, i += 2) {
        w[i] = LAT_(set)(ROOT_HALF) * (x->e[a][b].re - x->e[b][a].re);
        w[i + 1] = LAT_(set)(ROOT_HALF) * (x->e[a][b].im + x->e[b][a].im);
    }
#if LAT_N == 2
    w[2] = LAT_(set)(ROOT_HALF) * (d[0] - d[1]);
#else
    w[6] = LAT_(set)(ROOT_HALF) * (d[0] - d[1]);
    w[7] = LAT_(set)(ROOT_SIXTH) * (d[0] + d[1] - d[2] - d[2]);
#endif
}

/* The matrix w. */
LAT_HOST_DEVICE LAT_(m) LAT_(algebra_matrix)(const LAT_T *w)
{
    LAT_(m) m;
    LAT_T d[LAT_N];
    int i = 0;
    LAT_(diagonal)(d, w);
    for (int a = 0; a < LAT_N; a++) {
        m.e[a][a].re = LAT_(set)(0);
        m.e[a][a].im = d[a];
        for (int b = a + 1; b < LAT_N; b++, i += 2) {
            m.e[a][b].re = LAT_(set)(ROOT_HALF) * w[i];
            m.e[a][b].im = LAT_(set)(ROOT_HALF) * w[i + 1];
            m.e[b][a].re = -m.e[a][b].re;
            m.e[b][a].im = m.e[a][b].im;
        }
    }
    return m;
}

LAT_HOST_DEVICE LAT_(m) LAT_(product)(const LAT_(m) *a, const LAT_(m) *b)
{
    LAT_(m) c;
    for (int i = 0; i < LAT_N; i++)
        for (int j = 0; j < LAT_N; j++) {
            LAT_(c) s = LAT_(mul)(a->e[i][0], b->e[0][j]);
            for (int k = 1; k < LAT_N; k++)
                s = LAT_(fma)(s, a->e[i][k], b->e[k][j]);
            c.e[i][j] = s;
        }
    return c;
}

/* exp(w), |w|^2 cut to LAT_NEWTON_STEP: the series to w^6, made orthonormal. A step needs no more:
 * what is left out makes it another step, not g another group. */
enum { LAT_(series) = 6 };

APART void LAT_(exponential)(LAT_(m) *e, LAT_T *w)
{
    LAT_T square = LAT_(set)((LAT_S)1e-30);
    for (int i = 0; i < COLOURS; i++)
        square += w[i] * w[i];
    const LAT_T most = LAT_(set)((LAT_S)LAT_NEWTON_STEP), one = LAT_(set)(1),
                cut = LAT_(where_gt)(square, most,
                                     LAT_(rsqrt)(square) * LAT_(set)((LAT_S)sqrt(LAT_NEWTON_STEP)),
                                     one);
    for (int i = 0; i < COLOURS; i++)
        w[i] *= cut;
    const LAT_(m) x = LAT_(algebra_matrix)(w);
    memset(e, 0, sizeof *e);
    for (int a = 0; a < LAT_N; a++)
        e->e[a][a].re = one;
    for (int k = LAT_(series); k > 0; k--) {
        const LAT_T over = LAT_(set)((LAT_S)(1.0 / k));
        *e = LAT_(product)(&x, e);
        for (int a = 0; a < LAT_N; a++) {
            for (int b = 0; b < LAT_N; b++) {
                e->e[a][b].re *= over;
                e->e[a][b].im *= over;
            }
            e->e[a][a].re += one;
        }
    }
    LAT_(orthonormal)(e);
}

/* ---- the operator ---------------------------------------------------------------------------- */

/* s += weight w p for a link and an element of the algebra, both times sqrt 2 of p off its diagonal
 * (p as its components are). Of the diagonal of s only the imaginary parts. */
LAT_HOST_DEVICE void LAT_(add_link)(LAT_(m) *s, LAT_T *sd, const LAT_(m) *u, const LAT_T *p,
                                    LAT_T weight)
{
    LAT_(c) o[LAT_N][LAT_N];
    LAT_T d[LAT_N];
    int i = 0;
    LAT_(diagonal)(d, p);
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++) {
        d[a] *= weight * LAT_(set)((LAT_S)1.41421356237309504880);
        LAT_UNROLL
        for (int b = a + 1; b < LAT_N; b++, i += 2) {
            o[a][b].re = weight * p[i];
            o[a][b].im = weight * p[i + 1];
            o[b][a].re = -o[a][b].re;
            o[b][a].im = o[a][b].im;
        }
    }
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++)
        LAT_UNROLL
    for (int b = 0; b < LAT_N; b++) {
        LAT_(c) t = s->e[a][b];
        if (a == b)
            t.im = sd[a];
        else
            t.re -= u->e[a][b].im * d[b];
        t.im += u->e[a][b].re * d[b];
        LAT_UNROLL
        for (int c = 0; c < LAT_N; c++)
            if (c != b) {
                if (a != b) {
                    t.re += u->e[a][c].re * o[c][b].re;
                    t.re -= u->e[a][c].im * o[c][b].im;
                }
                t.im += u->e[a][c].re * o[c][b].im;
                t.im += u->e[a][c].im * o[c][b].re;
            }
        if (a == b)
            sd[a] = t.im;
        else
            s->e[a][b] = t;
    }
}

/* - p H, whose part in the algebra is that of - (p H + H p) / 2; p as above. */
LAT_HOST_DEVICE void LAT_(site_part)(LAT_(m) *s, LAT_T *sd, const LAT_T *h, const LAT_T *p)
{
    LAT_(m) m, o;
    LAT_T d[LAT_N];
    int i = 0, j = LAT_N;
    LAT_(diagonal)(d, p);
    for (int a = 0; a < LAT_N; a++) {
        m.e[a][a].re = h[a];
        m.e[a][a].im = LAT_(set)(0);
        o.e[a][a].re = LAT_(set)(0);
        o.e[a][a].im = d[a] * LAT_(set)((LAT_S)-1.41421356237309504880);
        for (int b = a + 1; b < LAT_N; b++, i += 2, j += 2) {
            m.e[a][b].re = m.e[b][a].re = h[j];
            m.e[a][b].im = h[j + 1];
            m.e[b][a].im = -h[j + 1];
            o.e[a][b].re = -p[i];
            o.e[a][b].im = o.e[b][a].im = -p[i + 1];
            o.e[b][a].re = p[i];
        }
    }
    *s = LAT_(product)(&o, &m);
    for (int a = 0; a < LAT_N; a++)
        sd[a] = s->e[a][a].im;
}
