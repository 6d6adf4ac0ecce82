/* SPDX-License-Identifier: BSD-3-Clause */
/* link.h: one link of pure gauge theory (template, see real.h).
 *
 * Wilson action: configurations have weight exp(beta/N sum_p w_p Re tr U_p). As a function of the
 * link U = U_mu(x) alone this is exp(beta/N Re tr U S^+) with the staple sum, which leads from x to
 * x + mu as U does,
 *     S = sum_{nu != mu} w [ U_nu(x) U_mu(x+nu) U_nu(x+mu)^+
 *                            + U_nu(x-nu)^+ U_mu(x-nu) U_nu(x-nu+mu) ].
 * With X = U S^+ the update of a link is LAT_(heat) of heat.h, U instead of g and beta/N instead of
 * 1/T: all SU(2) subgroups (Cabibbo, Marinari, PLB 119 (1982) 387) by heat bath (Kennedy-Pendleton,
 * Creutz), by overrelaxation (the reflection in each subgroup, which leaves the action) or by
 * Metropolis. arXiv:1112.4533 has the staple in both orientations: compare its (9) with (10), (12),
 * (14), (17). */

/* Rows of a link that are stored. The last one of SU(2) and SU(3) follows from the others. */
#define LAT_LINK_ROWS LAT_FREE_ROWS

/* The last row of a product of links from the others, where it is not computed. */
LAT_HOST_DEVICE void LAT_(link_complete)(LAT_(m) *m)
{
    if (LAT_LINK_ROWS < LAT_N)
        LAT_(fill_last)(m);
}

/* A link from its stored rows, row by row, re and im interleaved; and back. */
LAT_HOST_DEVICE LAT_(m) LAT_(link_load)(const LAT_T *p)
{
    LAT_(m) m;
    for (int a = 0; a < LAT_LINK_ROWS; a++)
        for (int b = 0; b < LAT_N; b++)
            m.e[a][b] = LAT_(load)(p + 2 * (a * LAT_N + b));
    LAT_(link_complete)(&m);
    return m;
}

LAT_HOST_DEVICE void LAT_(link_store)(LAT_T *p, const LAT_(m) *m)
{
    for (int a = 0; a < LAT_LINK_ROWS; a++)
        for (int b = 0; b < LAT_N; b++) {
            p[2 * (a * LAT_N + b)] = m->e[a][b].re;
            p[2 * (a * LAT_N + b) + 1] = m->e[a][b].im;
        }
}

/* A row a times a matrix: t = a b, a b^+; or row i of a^+ b. t is none of the others' rows. */
LAT_HOST_DEVICE void LAT_(row_times)(LAT_(c) *t, const LAT_(c) *a, const LAT_(m) *b)
{
    LAT_UNROLL
    for (int j = 0; j < LAT_N; j++) {
        LAT_(c) s = LAT_(mul)(a[0], b->e[0][j]);
        for (int k = 1; k < LAT_N; k++)
            s = LAT_(fma)(s, a[k], b->e[k][j]);
        t[j] = s;
    }
}

LAT_HOST_DEVICE void LAT_(row_times_dag)(LAT_(c) *t, const LAT_(c) *a, const LAT_(m) *b)
{
    LAT_UNROLL
    for (int j = 0; j < LAT_N; j++) {
        LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
        for (int k = 0; k < LAT_N; k++)
            s = LAT_(fma_conj)(s, a[k], b->e[j][k]);
        t[j] = s;
    }
}

LAT_HOST_DEVICE void LAT_(row_dag_times)(LAT_(c) *t, const LAT_(m) *a, int i, const LAT_(m) *b)
{
    LAT_UNROLL
    for (int j = 0; j < LAT_N; j++) {
        LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
        for (int k = 0; k < LAT_N; k++)
            s = LAT_(fma_conj)(s, b->e[k][j], a->e[k][i]);
        t[j] = s;
    }
}

/* v = a b c^+, the staple of three links: its first LAT_LINK_ROWS rows. */
LAT_HOST_DEVICE void LAT_(staple_up)(LAT_(m) *v, const LAT_(m) *a, const LAT_(m) *b,
                                     const LAT_(m) *c)
{
    LAT_UNROLL
    for (int i = 0; i < LAT_LINK_ROWS; i++) {
        LAT_(c) t[LAT_N];
        LAT_(row_times)(t, a->e[i], b);
        LAT_(row_times_dag)(v->e[i], t, c);
    }
}

/* v = a^+ b c: the same rows. */
LAT_HOST_DEVICE void LAT_(staple_down)(LAT_(m) *v, const LAT_(m) *a, const LAT_(m) *b,
                                       const LAT_(m) *c)
{
    LAT_UNROLL
    for (int i = 0; i < LAT_LINK_ROWS; i++) {
        LAT_(c) t[LAT_N];
        LAT_(row_dag_times)(t, a, i, b);
        LAT_(row_times)(v->e[i], t, c);
    }
}

/* s += w x. */
LAT_HOST_DEVICE void LAT_(matrix_add)(LAT_(m) *s, LAT_T w, const LAT_(m) *x)
{
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            s->e[a][b].re += w * x->e[a][b].re;
            s->e[a][b].im += w * x->e[a][b].im;
        }
}

/* The same, after the last row of v is completed. */
LAT_HOST_DEVICE void LAT_(staple_add)(LAT_(m) *s, LAT_(m) v, LAT_T w)
{
    LAT_(link_complete)(&v);
    LAT_(matrix_add)(s, w, &v);
}

/* The update of link u: k = beta/N, `update` as for LAT_(heat). The rows of u are orthonormal to
 * rounding afterwards. */
LAT_HOST_DEVICE void LAT_(link_update)(LAT_(m) *u, const LAT_(m) *staples, LAT_T k,
                                       lat_update update, const LAT_(rng) *rng)
{
    LAT_(m) x;
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++)
        LAT_(row_times_dag)(x.e[a], u->e[a], staples);
    LAT_(heat)(u, x, k, update, rng);
}

/* Re tr a b^+ of links. */
LAT_HOST_DEVICE LAT_T LAT_(link_overlap)(const LAT_(m) *a, const LAT_(m) *b)
{
    LAT_T s = LAT_(set)(0);
    LAT_UNROLL
    for (int i = 0; i < LAT_N; i++)
        for (int j = 0; j < LAT_N; j++)
            s += a->e[i][j].re * b->e[i][j].re + a->e[i][j].im * b->e[i][j].im;
    return s;
}

#if LAT_N > 3
/* det u of a unitary u, by elimination with pivots. */
LAT_HOST_DEVICE LAT_(c) LAT_(link_det)(const LAT_(m) *u)
{
    LAT_(m) m = *u;
    LAT_(c) det = {LAT_(set)(1), LAT_(set)(0)};
    LAT_UNROLL
    for (int k = 0; k < LAT_N; k++) {
        LAT_UNROLL
        for (int a = k + 1; a < LAT_N; a++) { /* rows k and a: the larger to row k, in each lane */
            const LAT_(c) p = m.e[k][k], q = m.e[a][k];
            const LAT_T size = p.re * p.re + p.im * p.im, other = q.re * q.re + q.im * q.im;
            for (int b = k; b < LAT_N; b++) {
                const LAT_(c) s = m.e[k][b], t = m.e[a][b];
                m.e[k][b].re = LAT_(where_gt)(other, size, t.re, s.re);
                m.e[k][b].im = LAT_(where_gt)(other, size, t.im, s.im);
                m.e[a][b].re = LAT_(where_gt)(other, size, LAT_(set)(0) - s.re, t.re);
                m.e[a][b].im = LAT_(where_gt)(other, size, LAT_(set)(0) - s.im, t.im);
            }
        }
        const LAT_(c) d = m.e[k][k];
        const LAT_T r = LAT_(rsqrt)(d.re * d.re + d.im * d.im), inverse = LAT_(set)(0) - r * r;
        det = LAT_(mul)(det, d);
        LAT_UNROLL
        for (int a = k + 1; a < LAT_N; a++) {
            const LAT_(c) zero = {LAT_(set)(0), LAT_(set)(0)};
            LAT_(c) f = LAT_(fma_conj)(zero, m.e[a][k], d);
            f.re *= inverse;
            f.im *= inverse;
            for (int b = k + 1; b < LAT_N; b++)
                m.e[a][b] = LAT_(fma)(m.e[a][b], f, m.e[k][b]);
        }
    }
    return det;
}
#endif

/* Projects u to SU(N) by Gram-Schmidt (arXiv:1112.4533). N > 3: rows that are orthonormal leave the
 * phase of det free; the last row is multiplied so that det = 1. */
LAT_HOST_DEVICE void LAT_(link_reunit)(LAT_(m) *u)
{
    LAT_(orthonormal)(u);
#if LAT_N > 3
    const LAT_(c) det = LAT_(link_det)(u);
    const LAT_T r = LAT_(rsqrt)(det.re * det.re + det.im * det.im);
    const LAT_(c) back = {det.re * r, LAT_(set)(0) - det.im * r};
    for (int b = 0; b < LAT_N; b++)
        u->e[LAT_N - 1][b] = LAT_(mul)(back, u->e[LAT_N - 1][b]);
#endif
}
