/* SPDX-License-Identifier: BSD-3-Clause */
/* link.h: one link of pure gauge theory (template, see real.h).
 *
 * Wilson action: configurations have weight exp(beta/N sum_p w_p Re tr U_p). As a function of the
 * link U = U_mu(x) alone it is exp(beta/N Re tr U S^+) with the staple sum, which leads from x to x
 * + mu as U does, S = sum_{nu != mu} w [ U_nu(x) U_mu(x+nu) U_nu(x+mu)^+ + U_nu(x-nu)^+ U_mu(x-nu)
 * U_nu(x-nu+mu) ]. So with x = U S^+ an update is the visit LAT_(heat) of heat.h, U in the place of
 * g and 1/T = beta/N: Cabibbo and Marinari (1982) over all SU(2) subgroups, by heat bath
 * (Kennedy-Pendleton, Creutz), by overrelaxation (the mirror image in each subgroup: the action
 * stays) or by Metropolis. (The generation paper has the staple in both orientations: its (9)
 * against (10), (12), (14), (17).) */

/* Rows of a link that are kept; the last one of SU(2) and SU(3) follows from the others.
 * (Benchmarks have SU(3) with all of them.) */
#ifndef LAT_LINK_ROWS
#define LAT_LINK_ROWS LAT_FREE_ROWS
#endif

/* The last row of a product of links from its first ones, where it is not computed. */
LAT_HOST_DEVICE void LAT_(link_complete)(LAT_(m) *m)
{
    if (LAT_LINK_ROWS < LAT_N)
        LAT_(fill_last)(m);
}

/* A link from its rows in memory, and back. */
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

/* v = a b c^+, the staple of three links: the rows that are kept. */
LAT_HOST_DEVICE void LAT_(staple_up)(LAT_(m) *v, const LAT_(m) *a, const LAT_(m) *b,
                                     const LAT_(m) *c)
{
    LAT_UNROLL
    for (int i = 0; i < LAT_LINK_ROWS; i++) {
        LAT_(c) t[LAT_N];
        LAT_UNROLL
        for (int j = 0; j < LAT_N; j++) {
            t[j] = LAT_(mul)(a->e[i][0], b->e[0][j]);
            for (int k = 1; k < LAT_N; k++)
                t[j] = LAT_(fma)(t[j], a->e[i][k], b->e[k][j]);
        }
        LAT_UNROLL
        for (int j = 0; j < LAT_N; j++) {
            LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
            for (int k = 0; k < LAT_N; k++)
                s = LAT_(fma_conj)(s, t[k], c->e[j][k]);
            v->e[i][j] = s;
        }
    }
}

/* v = a^+ b c. */
LAT_HOST_DEVICE void LAT_(staple_down)(LAT_(m) *v, const LAT_(m) *a, const LAT_(m) *b,
                                       const LAT_(m) *c)
{
    LAT_UNROLL
    for (int i = 0; i < LAT_LINK_ROWS; i++) {
        LAT_(c) t[LAT_N];
        LAT_UNROLL
        for (int j = 0; j < LAT_N; j++) {
            LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
            for (int k = 0; k < LAT_N; k++)
                s = LAT_(fma_conj)(s, b->e[k][j], a->e[k][i]);
            t[j] = s;
        }
        LAT_UNROLL
        for (int j = 0; j < LAT_N; j++) {
            LAT_(c) s = LAT_(mul)(t[0], c->e[0][j]);
            for (int k = 1; k < LAT_N; k++)
                s = LAT_(fma)(s, t[k], c->e[k][j]);
            v->e[i][j] = s;
        }
    }
}

/* s += w v, v completed first. */
LAT_HOST_DEVICE void LAT_(staple_add)(LAT_(m) *s, LAT_(m) v, LAT_T w)
{
    LAT_(link_complete)(&v);
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            s->e[a][b].re += w * v.e[a][b].re;
            s->e[a][b].im += w * v.e[a][b].im;
        }
}

/* u drawn anew from the weight above; k = beta/N, kind as for LAT_(heat). Its rows are
 * orthonormalised every time. */
LAT_HOST_DEVICE void LAT_(link_update)(LAT_(m) *u, const LAT_(m) *staples, LAT_T k, int kind,
                                       const LAT_(rng) *d)
{
    LAT_(m) x;
    LAT_UNROLL
    for (int a = 0; a < LAT_N; a++)
        LAT_UNROLL
    for (int b = 0; b < LAT_N; b++) {
        LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
        for (int c = 0; c < LAT_N; c++)
            s = LAT_(fma_conj)(s, u->e[a][c], staples->e[b][c]);
        x.e[a][b] = s;
    }
    LAT_(heat)(u, x, k, kind, d);
}

/* Re tr a b^+ of links; the rows that are kept are enough for SU(2). */
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
        for (int a = k + 1; a < LAT_N;
             a++) { /* the larger of rows k and a to row k, lane by lane */
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

/* u back to SU(N) by Gram-Schmidt, as the generation paper does: what LAT_(heat) leaves of SU(2)
 * and SU(3) needs nothing; of others, whose rows are orthonormal, the last row takes the phase that
 * makes det = 1. */
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
