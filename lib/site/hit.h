/* SPDX-License-Identifier: BSD-3-Clause */
/* hit.h: relaxation and overrelaxation of one site in Landau and Coulomb gauge (template, see
 * real.h): find the h in SU(N) that maximises Re tr(h x), x = g K (landau.h), and replace g by h g.
 *
 * A hit is the update of one SU(2) subgroup. Its element, on the rows (p,q), is four reals,
 *     h = [[h0 + i h3, h2 + i h1], [-h2 + i h1, h0 - i h3]],
 * and Re tr(h x) = h . r + const with r of LAT_(hit_axis): the maximum is at h = r / |r|
 * (arXiv:1212.5221, section 2.2.1; N > 2: Cabibbo, Marinari, PLB 119 (1982) 387). */

/* r, the direction of the maximum, not normalised. */
LAT_HOST_DEVICE void LAT_(hit_axis)(const LAT_(m) *x, int p, int q, LAT_T r[4])
{
    r[0] = x->e[p][p].re + x->e[q][q].re;
    r[1] = LAT_(set)(0) - x->e[q][p].im - x->e[p][q].im;
    r[2] = x->e[q][p].re - x->e[p][q].re;
    r[3] = x->e[q][q].im - x->e[p][p].im;
}

/* m <- h m: rows p and q change. */
LAT_HOST_DEVICE void LAT_(hit_apply)(LAT_(m) *m, int p, int q, const LAT_T h[4])
{
    for (int b = 0; b < LAT_N; b++) {
        LAT_(c) s = m->e[p][b], t = m->e[q][b];
        m->e[p][b].re = h[0] * s.re - h[3] * s.im + h[2] * t.re - h[1] * t.im;
        m->e[p][b].im = h[0] * s.im + h[3] * s.re + h[2] * t.im + h[1] * t.re;
        m->e[q][b].re = h[0] * t.re + h[3] * t.im - h[2] * s.re - h[1] * s.im;
        m->e[q][b].im = h[0] * t.im - h[3] * t.re - h[2] * s.im + h[1] * s.re;
    }
}

/* r <- r / |r|; where |r| = 0 (an idle lane, K = 0) r <- 1. */
LAT_HOST_DEVICE void LAT_(hit_unit)(LAT_T r[4])
{
    const LAT_T tiny = LAT_(set)(LAT_SIZE == 4 ? 1e-30f : 1e-200);
    LAT_T n = r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3];
    r[0] = LAT_(where_gt)(n, tiny, r[0], LAT_(set)(1));
    n = LAT_(where_gt)(n, tiny, n, LAT_(set)(1));
    LAT_T s = LAT_(rsqrt)(n);
    for (int i = 0; i < 4; i++)
        r[i] *= s;
}

/* h <- h^omega to first order, which is (1 - omega) + omega h, normalised; its square is
 * 1 + 2 omega (omega - 1) (1 - h0), as |h| = 1. */
LAT_HOST_DEVICE void LAT_(hit_power)(LAT_T h[4], LAT_T omega)
{
    const LAT_T one = LAT_(set)(1), two = LAT_(set)(2);
    const LAT_T s = LAT_(rsqrt)(one + two * omega * (omega - one) * (one - h[0])), t = s * omega;
    h[0] = t * h[0] + s * (one - omega);
    for (int i = 1; i < 4; i++)
        h[i] *= t;
}

/* Loops over the N (N - 1) / 2 pairs p < q of rows, q fastest: (0,1), (0,2), ... */
#define LAT_FOR_PAIRS(p, q) \
    LAT_UNROLL \
    for (int p = 0; p < LAT_N - 1; p++) \
        LAT_UNROLL \
    for (int q = p + 1; q < LAT_N; q++)

/* Site update, scheme su2 (arXiv:1212.5221, section 2.2.3): the hit of each SU(2) subgroup is
 * overrelaxed. omega = 1 is relaxation. */
LAT_HOST_DEVICE void LAT_(relax_su2)(LAT_(m) *g, LAT_(m) x, LAT_T omega)
{
    LAT_FOR_PAIRS (p, q) {
        LAT_T h[4];
        LAT_(hit_axis)(&x, p, q, h);
        LAT_(hit_unit)(h);
        LAT_(hit_power)(h, omega);
        LAT_(hit_apply)(&x, p, q, h);
        LAT_(hit_apply)(g, p, q, h);
    }
    LAT_(orthonormal)(g);
}

/* Passes over the SU(2) subgroups that find h, the maximum over SU(N). One pass is not enough: what
 * it leaves is amplified by the overrelaxation, and sweeps do not converge. */
#define LAT_RELAX_PASSES 2

/* h is overrelaxed where |1 - h|^2 = 2 (N - Re tr h) is below this. Above, the first order of
 * h^omega is no approximation, and h is taken as it is. */
#define LAT_RELAX_SMALL 1.0

#if LAT_N > 3
/* conj(det m) / |det m| of m = (1 - w) + w h, by elimination; m is near 1, so that no pivots are
 * needed. */
LAT_HOST_DEVICE LAT_(c) LAT_(phase)(const LAT_(m) *h, LAT_T w)
{
    LAT_(m) m;
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            m.e[a][b].re = w * h->e[a][b].re + (a == b ? LAT_(set)(1) - w : LAT_(set)(0));
            m.e[a][b].im = w * h->e[a][b].im;
        }
    LAT_(c) det = m.e[0][0];
    for (int k = 0; k < LAT_N - 1; k++) {
        const LAT_(c) d = m.e[k][k];
        const LAT_T s = LAT_(rsqrt)(d.re * d.re + d.im * d.im);
        for (int a = k + 1; a < LAT_N; a++) {
            /* minus the factor that clears element (a,k): - m_ak / d */
            LAT_(c) f = {LAT_(set)(0), LAT_(set)(0)};
            f = LAT_(fma_conj)(f, m.e[a][k], d);
            f.re *= LAT_(set)(0) - s * s;
            f.im *= LAT_(set)(0) - s * s;
            for (int b = k + 1; b < LAT_N; b++)
                m.e[a][b] = LAT_(fma)(m.e[a][b], f, m.e[k][b]);
        }
        det = LAT_(mul)(det, m.e[k + 1][k + 1]);
    }
    const LAT_T s = LAT_(rsqrt)(det.re * det.re + det.im * det.im);
    det.re *= s;
    det.im *= LAT_(set)(0) - s;
    return det;
}
#endif

/* m <- 1. */
LAT_HOST_DEVICE void LAT_(unit)(LAT_(m) *m)
{
    for (int a = 0; a < LAT_N; a++)
        for (int b = 0; b < LAT_N; b++) {
            m->e[a][b].re = LAT_(set)(a == b);
            m->e[a][b].im = LAT_(set)(0);
        }
}

/* g <- h^omega g for the h of one site in SU(N): h^omega = (1 - omega) + omega h to first order.
 * Orthonormalising the rows of the product projects it to SU(N), and takes the rounding off g. */
LAT_HOST_DEVICE void LAT_(overrelax)(LAT_(m) *g, const LAT_(m) *h, LAT_T omega)
{
    LAT_T trace = h->e[0][0].re;
    for (int a = 1; a < LAT_N; a++)
        trace += h->e[a][a].re;
    const LAT_T bound = LAT_(set)((LAT_S)(LAT_N - 0.5 * LAT_RELAX_SMALL));
    const LAT_T w = LAT_(where_gt)(trace, bound, omega, LAT_(set)(1));
    const LAT_(m) old = *g;
    for (int a = 0; a < LAT_FREE_ROWS; a++)
        for (int b = 0; b < LAT_N; b++) {
            LAT_(c) s = {(LAT_(set)(1) - w) * old.e[a][b].re, (LAT_(set)(1) - w) * old.e[a][b].im};
            LAT_(c) t = LAT_(mul)(h->e[a][0], old.e[0][b]);
            for (int c = 1; c < LAT_N; c++)
                t = LAT_(fma)(t, h->e[a][c], old.e[c][b]);
            g->e[a][b].re = s.re + w * t.re;
            g->e[a][b].im = s.im + w * t.im;
        }
    LAT_(orthonormal)(g);
#if LAT_N > 3
    /* The first order of h^omega is in U(N), whose maximum is another one: det back to 1. */
    const LAT_(c) back = LAT_(phase)(h, LAT_(where_gt)(trace, bound, omega, LAT_(set)(0)));
    for (int b = 0; b < LAT_N; b++)
        g->e[LAT_N - 1][b] = LAT_(mul)(back, g->e[LAT_N - 1][b]);
#endif
}

/* h <- r h for the hits r of row 0, p = 0 and q = 1 .. N-1 in this order, h = 1 at the beginning:
 * before hit q only the first q rows and columns of h differ from 1. */
LAT_HOST_DEVICE void LAT_(hit_first)(LAT_(m) *h, int q, const LAT_T r[4])
{
    for (int b = 0; b < q; b++) {
        const LAT_(c) s = h->e[0][b];
        h->e[0][b].re = r[0] * s.re - r[3] * s.im;
        h->e[0][b].im = r[0] * s.im + r[3] * s.re;
        h->e[q][b].re = LAT_(set)(0) - r[2] * s.re - r[1] * s.im;
        h->e[q][b].im = r[1] * s.re - r[2] * s.im;
    }
    h->e[0][q].re = r[2];
    h->e[0][q].im = r[1];
    h->e[q][q].re = r[0];
    h->e[q][q].im = LAT_(set)(0) - r[3];
}

/* Site update, scheme su3, for any N: hits without overrelaxation find h, which is overrelaxed as a
 * whole. */
LAT_HOST_DEVICE void LAT_(relax_sun)(LAT_(m) *g, LAT_(m) x, LAT_T omega)
{
    LAT_(m) h;
    LAT_(unit)(&h);
    LAT_UNROLL
    for (int pass = 0; pass < LAT_RELAX_PASSES; pass++)
        LAT_FOR_PAIRS (p, q) {
            LAT_T r[4];
            LAT_(hit_axis)(&x, p, q, r);
            LAT_(hit_unit)(r);
            LAT_(hit_apply)(&x, p, q, r);
            if (pass == 0 && p == 0)
                LAT_(hit_first)(&h, q, r);
            else
                LAT_(hit_apply)(&h, p, q, r);
        }
    LAT_(overrelax)(g, &h, omega);
}
