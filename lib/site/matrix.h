/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.h: N by N complex matrices over LAT_T, N = LAT_N at compile time (template, see real.h).
 *
 * In memory a matrix is its elements row by row, re then im, LAT_WIDTH sites side by side in each;
 * `rows` may be fewer than N: SU(3) needs two rows, because the third is conj(row 0 x row 1).
 * (sun.h has the same for N at run time, in double, on the host.) */

/* LAT_(c): a complex number; LAT_(m): a matrix, e[row][column]. */
typedef struct {
    LAT_T re, im;
} LAT_(c);
typedef struct {
    LAT_(c) e[LAT_N][LAT_N];
} LAT_(m);

/* s + a b and s + a conj(b). */
LAT_HOST_DEVICE LAT_(c) LAT_(fma)(LAT_(c) s, LAT_(c) a, LAT_(c) b)
{
    s.re += a.re * b.re;
    s.re -= a.im * b.im;
    s.im += a.re * b.im;
    s.im += a.im * b.re;
    return s;
}

LAT_HOST_DEVICE LAT_(c) LAT_(fma_conj)(LAT_(c) s, LAT_(c) a, LAT_(c) b)
{
    s.re += a.re * b.re;
    s.re += a.im * b.im;
    s.im += a.im * b.re;
    s.im -= a.re * b.im;
    return s;
}

LAT_HOST_DEVICE LAT_(c) LAT_(mul)(LAT_(c) a, LAT_(c) b)
{
    LAT_(c) s = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return s;
}

LAT_HOST_DEVICE LAT_(c) LAT_(load)(const LAT_T *p)
{
    LAT_(c) s = {p[0], p[1]};
    return s;
}

#if LAT_N == 3
/* z = conj(x cross y): the third row of an SU(3) matrix from the first two. */
LAT_HOST_DEVICE void LAT_(cross)(LAT_(c) z[3], const LAT_(c) x[3], const LAT_(c) y[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        z[i].re = x[j].re * y[k].re - x[j].im * y[k].im - x[k].re * y[j].re + x[k].im * y[j].im;
        z[i].im = x[k].re * y[j].im + x[k].im * y[j].re - x[j].re * y[k].im - x[j].im * y[k].re;
    }
}
#endif

/* k += w g^+, both in memory; w has `rows` rows, g has N. Where w is two rows of an SU(3) link, the
 * third row of the product, which is in SU(3) too, follows from its first two; that is cheaper than
 * to rebuild the third row of w. Only then the product is multiplied by `weight`: links that are
 * stored whole have the weight in them. */
LAT_HOST_DEVICE void LAT_(add_mul_dag)(LAT_(m) *k, const LAT_T *w, const LAT_T *g, int rows,
                                       LAT_T weight)
{
    LAT_(c) v[LAT_N][LAT_N];
    for (int a = 0; a < rows; a++) {
        for (int b = 0; b < LAT_N; b++) {
            LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
            if (rows == LAT_N)
                s = k->e[a][b];
            for (int c = 0; c < LAT_N; c++)
                s = LAT_(fma_conj)(s, LAT_(load)(w + 2 * (a * LAT_N + c)),
                                   LAT_(load)(g + 2 * (b * LAT_N + c)));
            if (rows == LAT_N)
                k->e[a][b] = s;
            else
                v[a][b] = s;
        }
    }
#if LAT_N == 3
    if (rows == 2) {
        LAT_(cross)(v[2], v[0], v[1]);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                k->e[a][b].re += weight * v[a][b].re;
                k->e[a][b].im += weight * v[a][b].im;
            }
    }
#endif
    (void)v;
    (void)weight;
}

#if LAT_N == 3
/* k += weight w g^+ from all rows of w and two of g: two columns of the product, and the third from
 * them. Cheaper where g is stored as two rows, above all where one link serves several g. */
LAT_HOST_DEVICE void LAT_(add_mul_dag_columns)(LAT_(m) *k, const LAT_T *w, const LAT_T *g,
                                               LAT_T weight)
{
    LAT_(c) v[2][3], z[3];
    for (int b = 0; b < 2; b++)
        for (int a = 0; a < 3; a++) {
            LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
            for (int c = 0; c < 3; c++)
                s = LAT_(fma_conj)(s, LAT_(load)(w + 2 * (a * 3 + c)),
                                   LAT_(load)(g + 2 * (b * 3 + c)));
            v[b][a] = s;
        }
    LAT_(cross)(z, v[0], v[1]);
    for (int a = 0; a < 3; a++) {
        k->e[a][0].re += weight * v[0][a].re;
        k->e[a][0].im += weight * v[0][a].im;
        k->e[a][1].re += weight * v[1][a].re;
        k->e[a][1].im += weight * v[1][a].im;
        k->e[a][2].re += weight * z[a].re;
        k->e[a][2].im += weight * z[a].im;
    }
}
#endif

/* x = g k, g in memory with N rows. */
LAT_HOST_DEVICE LAT_(m) LAT_(mul_left)(const LAT_T *g, const LAT_(m) *k)
{
    LAT_(m) x;
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            LAT_(c) s = LAT_(mul)(LAT_(load)(g + 2 * a * LAT_N), k->e[0][b]);
            for (int c = 1; c < LAT_N; c++)
                s = LAT_(fma)(s, LAT_(load)(g + 2 * (a * LAT_N + c)), k->e[c][b]);
            x.e[a][b] = s;
        }
    return x;
}

/* The last row from the others, N = 2 and 3; of other N nothing. */
LAT_HOST_DEVICE void LAT_(fill_last)(LAT_(m) *m)
{
#if LAT_N == 2
    m->e[1][0].re = -m->e[0][1].re;
    m->e[1][0].im = m->e[0][1].im;
    m->e[1][1].re = m->e[0][0].re;
    m->e[1][1].im = -m->e[0][0].im;
#elif LAT_N == 3
    LAT_(cross)(m->e[2], m->e[0], m->e[1]);
#else
    (void)m;
#endif
}

/* Rows that LAT_(orthonormal) orthonormalises one by one. N = 2 and 3: all but the last, which is
 * chosen so that det = 1. Other N: all, and det keeps its phase. */
#define LAT_FREE_ROWS (LAT_N <= 3 ? LAT_N - 1 : LAT_N)

/* row a -= (row a . conj row b) row b, for a row b of length 1. */
LAT_HOST_DEVICE void LAT_(row_clear)(LAT_(m) *m, int a, int b)
{
    LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
    for (int c = 0; c < LAT_N; c++)
        s = LAT_(fma_conj)(s, m->e[a][c], m->e[b][c]);
    s.re = -s.re;
    s.im = -s.im;
    for (int c = 0; c < LAT_N; c++)
        m->e[a][c] = LAT_(fma)(m->e[a][c], s, m->e[b][c]);
}

/* |row a|^2 */
LAT_HOST_DEVICE LAT_T LAT_(row_square)(const LAT_(m) *m, int a)
{
    LAT_T n = m->e[a][0].re * m->e[a][0].re + m->e[a][0].im * m->e[a][0].im;
    for (int c = 1; c < LAT_N; c++)
        n += m->e[a][c].re * m->e[a][c].re + m->e[a][c].im * m->e[a][c].im;
    return n;
}

/* row a *= s */
LAT_HOST_DEVICE void LAT_(row_scale)(LAT_(m) *m, int a, LAT_T s)
{
    for (int c = 0; c < LAT_N; c++) {
        m->e[a][c].re *= s;
        m->e[a][c].im *= s;
    }
}

/* Gram-Schmidt of the rows, from the first. */
LAT_HOST_DEVICE void LAT_(orthonormal)(LAT_(m) *m)
{
    for (int a = 0; a < LAT_FREE_ROWS; a++) {
        for (int b = 0; b < a; b++)
            LAT_(row_clear)(m, a, b);
        LAT_(row_scale)(m, a, LAT_(rsqrt)(LAT_(row_square)(m, a)));
    }
    LAT_(fill_last)(m);
}

/* Gram-Schmidt to first order, for rows that are orthonormal up to rounding: the error left is the
 * square of the error before. It needs no square root, and its rows are independent. */
LAT_HOST_DEVICE void LAT_(orthonormal_again)(LAT_(m) *m)
{
    LAT_UNROLL
    for (int a = LAT_FREE_ROWS - 1; a >= 0; a--) { /* the rows above are still as they were */
        const LAT_T n = LAT_(row_square)(m, a);
        LAT_UNROLL
        for (int b = 0; b < a; b++)
            LAT_(row_clear)(m, a, b);
        LAT_(row_scale)(m, a, LAT_(set)((LAT_S)1.5) - LAT_(set)((LAT_S)0.5) * n);
    }
    LAT_(fill_last)(m);
}
