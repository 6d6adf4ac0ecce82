/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_algebra.h: elements i w T^a of the algebra at a site on a GPU, w in the order of ghost.h
 * (template; after site/template.h, for N = 2 and 3). newton_site.c has the same for the CPU. */

#define COLOURS (LAT_N * LAT_N - 1)
#define ROW (LAT_N * LAT_N / 2 * 2)

/* Element of 2 T^a for the diagonal one number k: the first k are this, the next is -k times it. */
LAT_HOST_DEVICE LAT_T LAT_(diagonal_factor)(int k)
{
    return k == 1 ? LAT_(set)(1) : LAT_(set)((LAT_S)0.57735026918962576451);
}

/* w of x's part in the algebra. */
LAT_HOST_DEVICE void LAT_(colours)(LAT_T *w, const LAT_(m) *x)
{
    LAT_T trace = x->e[0][0].im;
    int c = 0;
    LAT_UNROLL
    for (int k = 1; k < LAT_N; k++) {
        LAT_UNROLL
        for (int i = 0; i < k; i++, c += 2) {
            w[c] = x->e[i][k].im + x->e[k][i].im;
            w[c + 1] = x->e[i][k].re - x->e[k][i].re;
        }
        w[c++] = (trace - LAT_(set)((LAT_S)k) * x->e[k][k].im) * LAT_(diagonal_factor)(k);
        trace += x->e[k][k].im;
    }
}

/* The matrix of w. */
LAT_HOST_DEVICE LAT_(m) LAT_(algebra_matrix)(const LAT_T *w)
{
    const LAT_T half = LAT_(set)((LAT_S)0.5);
    LAT_(m) m;
    memset(&m, 0, sizeof m);
    for (int k = 1, c = 0; k < LAT_N; k++) {
        for (int i = 0; i < k; i++, c += 2) {
            m.e[i][k].re = half * w[c + 1];
            m.e[k][i].re = -half * w[c + 1];
            m.e[i][k].im = m.e[k][i].im = half * w[c];
        }
        const LAT_T d = half * w[c++] * LAT_(diagonal_factor)(k);
        for (int i = 0; i < k; i++)
            m.e[i][i].im += d;
        m.e[k][k].im -= LAT_(set)((LAT_S)k) * d;
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

/* exp(w), |w|^2 / 2 cut to LAT_NEWTON_STEP: the series to w^6, made orthonormal. A step needs no
 * more: what is left out makes it another step, not g another group. */
LAT_HOST_DEVICE void LAT_(exponential)(LAT_(m) *e, LAT_T *w)
{
    const LAT_T one = LAT_(set)(1);
    LAT_T square = LAT_(set)((LAT_S)1e-30);
    for (int i = 0; i < COLOURS; i++)
        square += LAT_(set)((LAT_S)0.5) * w[i] * w[i];
    const LAT_T cut = LAT_(where_gt)(square, LAT_(set)((LAT_S)LAT_NEWTON_STEP),
                                     LAT_(rsqrt)(square) * LAT_(set)((LAT_S)sqrt(LAT_NEWTON_STEP)),
                                     one);
    for (int i = 0; i < COLOURS; i++)
        w[i] *= cut;
    const LAT_(m) x = LAT_(algebra_matrix)(w);
    memset(e, 0, sizeof *e);
    for (int a = 0; a < LAT_N; a++)
        e->e[a][a].re = one;
    for (int k = 6; k > 0; k--) {
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
