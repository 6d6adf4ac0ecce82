/* SPDX-License-Identifier: BSD-3-Clause */
/* mag.h: maximally Abelian gauge at one site (template, see real.h): relaxation, overrelaxation,
 * functional and theta.
 *
 * Let V be the 2D links of the site, each in the direction away from it, with g of the neighbour
 * applied, V = U g^+, and let M_i be the sum of (column i of V)(column i of V)^+. The functional of
 * the site is sum_i (X_i)_ii with X_i = g M_i g^+ (Hermitian), for any N; the update of
 * arXiv:1212.5221, section 2.2.2, is right for SU(2) only. The X_i add up to 2D, so N - 1 of them
 * (`count`) are enough for links in SU(N).
 *
 * A hit h on the rows (p,q) changes Y_pp, Y = X_p - X_q, and leaves the other terms alone. With
 * d = (Y_pp - Y_qq)/2, e = Y_pq and l = sqrt(d^2 + |e|^2) the maximum is h ~ (d + l, Im e, Re e,
 * 0): half the rotation of the vector (Re e, Im e, d) to the pole. A rotation about the pole (h3)
 * does not change the functional. */

/* X_0 .. X_{count-1}; of each the diagonal and the elements above it. */
typedef struct {
    LAT_(m) x[LAT_N];
} LAT_(mag);

/* m->x[i] += (column i)(column i)^+ of v = w g^+. Both are in memory; w has `rows` rows, g N. */
LAT_HOST_DEVICE void LAT_(mag_add)(LAT_(mag) *m, const LAT_T *w, const LAT_T *g, int rows,
                                   int count)
{
    LAT_(c) u[LAT_N][LAT_N];
    for (int a = 0; a < rows; a++)
        for (int c = 0; c < LAT_N; c++)
            u[a][c] = LAT_(load)(w + 2 * (a * LAT_N + c));
#if LAT_N == 3
    if (rows == 2)
        LAT_(cross)(u[2], u[0], u[1]);
#endif
    LAT_UNROLL
    for (int i = 0; i < count; i++) {
        LAT_(c) v[LAT_N];
        for (int a = 0; a < LAT_N; a++) {
            LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
            for (int c = 0; c < LAT_N; c++)
                s = LAT_(fma_conj)(s, u[a][c], LAT_(load)(g + 2 * (i * LAT_N + c)));
            v[a] = s;
        }
        for (int a = 0; a < LAT_N; a++) {
            m->x[i].e[a][a].re += v[a].re * v[a].re;
            m->x[i].e[a][a].re += v[a].im * v[a].im;
            for (int b = a + 1; b < LAT_N; b++)
                m->x[i].e[a][b] = LAT_(fma_conj)(m->x[i].e[a][b], v[a], v[b]);
        }
    }
}

/* Element (a,b) of a Hermitian matrix of which the upper half is kept. */
LAT_HOST_DEVICE LAT_(c) LAT_(upper)(const LAT_(m) *x, int a, int b)
{
    if (a < b)
        return x->e[a][b];
    LAT_(c) z = {x->e[b][a].re, a == b ? LAT_(set)(0) : LAT_(set)(0) - x->e[b][a].im};
    return z;
}

/* X_i = g M_i g^+. */
LAT_HOST_DEVICE void LAT_(mag_rotate)(LAT_(mag) *m, const LAT_T *g, int count)
{
    LAT_UNROLL
    for (int i = 0; i < count; i++) {
        const LAT_(m) old = m->x[i];
        for (int a = 0; a < LAT_N; a++) {
            LAT_(c) t[LAT_N];
            for (int b = 0; b < LAT_N; b++) {
                t[b].re = t[b].im = LAT_(set)(0);
                for (int c = 0; c < LAT_N; c++)
                    t[b] = LAT_(fma)(t[b], LAT_(load)(g + 2 * (a * LAT_N + c)),
                                     LAT_(upper)(&old, c, b));
            }
            for (int b = a; b < LAT_N; b++) {
                LAT_(c) s = {LAT_(set)(0), LAT_(set)(0)};
                for (int c = 0; c < LAT_N; c++)
                    s = LAT_(fma_conj)(s, t[c], LAT_(load)(g + 2 * (b * LAT_N + c)));
                m->x[i].e[a][b] = s;
            }
        }
    }
}

/* d and e of Y = X_p - X_q. Where X_q is not kept (q = count), it is 2D minus the others. */
LAT_HOST_DEVICE void LAT_(mag_axis)(const LAT_(mag) *m, int p, int q, int count, LAT_T *d,
                                    LAT_(c) *e)
{
    const LAT_(m) *x = &m->x[p];
    *d = LAT_(set)((LAT_S)0.5) * (x->e[p][p].re - x->e[q][q].re);
    *e = x->e[p][q];
    LAT_UNROLL
    for (int i = 0; i < count; i++) {
        /* 2D drops out of d and e. */
        if (q < count ? i != q : 0)
            continue;
        const LAT_S sign = q < count ? -1 : 1;
        *d += LAT_(set)((LAT_S)0.5 * sign) * (m->x[i].e[p][p].re - m->x[i].e[q][q].re);
        e->re += LAT_(set)(sign) * m->x[i].e[p][q].re;
        e->im += LAT_(set)(sign) * m->x[i].e[p][q].im;
    }
}

/* h of the maximum over the SU(2) subgroup (p,q). */
LAT_HOST_DEVICE void LAT_(mag_hit)(const LAT_(mag) *m, int p, int q, int count, LAT_T h[4])
{
    LAT_T d;
    LAT_(c) e;
    LAT_(mag_axis)(m, p, q, count, &d, &e);
    const LAT_T tiny = LAT_(set)(LAT_SIZE == 4 ? (LAT_S)1e-30 : (LAT_S)1e-200);
    const LAT_T e2 = e.re * e.re + e.im * e.im, n = d * d + e2 + tiny;
    const LAT_T l = n * LAT_(rsqrt)(n);
    /* d + l without cancellation where d < 0: e2 / (l - d), and h scaled by l - d. */
    const LAT_T minus = l - d;
    h[0] = LAT_(where_gt)(d, LAT_(set)(0), d + l, e2);
    h[1] = LAT_(where_gt)(d, LAT_(set)(0), e.im, e.im * minus);
    h[2] = LAT_(where_gt)(d, LAT_(set)(0), e.re, e.re * minus);
    h[3] = LAT_(set)(0);
    LAT_(hit_unit)(h);
}

/* X_i <- h X_i h^+ for a hit with h3 = 0. */
LAT_HOST_DEVICE void LAT_(mag_apply)(LAT_(mag) *m, int p, int q, int count, const LAT_T h[4])
{
    const LAT_T two = LAT_(set)(2), aa = h[0] * h[0], bb = h[1] * h[1] + h[2] * h[2];
    /* beta = h2 + i h1; ab = alpha beta, b2 = beta^2 */
    const LAT_(c) ab = {h[0] * h[2], h[0] * h[1]},
                  b2 = {h[2] * h[2] - h[1] * h[1], two * h[1] * h[2]};
    LAT_UNROLL
    for (int i = 0; i < count; i++) {
        LAT_(m) *x = &m->x[i];
        const LAT_T s = x->e[p][p].re, t = x->e[q][q].re,
                    across = two * (ab.re * x->e[p][q].re + ab.im * x->e[p][q].im);
        const LAT_(c) e = x->e[p][q];
        x->e[p][p].re = aa * s + bb * t + across;
        x->e[q][q].re = bb * s + aa * t - across;
        x->e[p][q].re = aa * e.re - b2.re * e.re - b2.im * e.im + ab.re * (t - s);
        x->e[p][q].im = aa * e.im - b2.im * e.re + b2.re * e.im + ab.im * (t - s);
        LAT_UNROLL
        for (int c = 0; c < LAT_N; c++) {
            if (c == p || c == q)
                continue;
            const LAT_(c) u = LAT_(upper)(x, p, c), v = LAT_(upper)(x, q, c);
            const LAT_(c) y = {h[0] * u.re + h[2] * v.re - h[1] * v.im,
                               h[0] * u.im + h[2] * v.im + h[1] * v.re};
            const LAT_(c) z = {h[0] * v.re - h[2] * u.re - h[1] * u.im,
                               h[0] * v.im - h[2] * u.im + h[1] * u.re};
            if (p < c)
                x->e[p][c] = y;
            else
                x->e[c][p].re = y.re, x->e[c][p].im = LAT_(set)(0) - y.im;
            if (q < c)
                x->e[q][c] = z;
            else
                x->e[c][q].re = z.re, x->e[c][q].im = LAT_(set)(0) - z.im;
        }
    }
}

/* Site updates: as relax_su2 and relax_sun of hit.h. */
LAT_HOST_DEVICE void LAT_(mag_relax_su2)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T omega)
{
    LAT_FOR_PAIRS (p, q) {
        LAT_T h[4];
        LAT_(mag_hit)(&m, p, q, count, h);
        LAT_(hit_power)(h, omega);
        LAT_(mag_apply)(&m, p, q, count, h);
        LAT_(hit_apply)(g, p, q, h);
    }
    LAT_(orthonormal)(g);
}

LAT_HOST_DEVICE void LAT_(mag_relax_sun)(LAT_(m) *g, LAT_(mag) m, int count, LAT_T omega)
{
    LAT_(m) h;
    LAT_(unit)(&h);
    for (int pass = 0; pass < LAT_RELAX_PASSES; pass++)
        LAT_FOR_PAIRS (p, q) {
            LAT_T r[4];
            LAT_(mag_hit)(&m, p, q, count, r);
            LAT_(mag_apply)(&m, p, q, count, r);
            LAT_(hit_apply)(&h, p, q, r);
        }
    LAT_(overrelax)(g, &h, omega);
}

/* *part: F = 1/(2 N D V) sum of it; theta(x) = sum_{a<b} |(X_a - X_b)_ab|^2 / N. `links` is 2D. */
LAT_HOST_DEVICE void LAT_(mag_state)(const LAT_(mag) *m, int count, LAT_S links, LAT_T *part,
                                     LAT_T *theta)
{
    LAT_T sum = LAT_(set)(count < LAT_N ? links : 0), off = LAT_(set)(0);
    LAT_UNROLL
    for (int i = 0; i < count; i++) {
        sum += m->x[i].e[i][i].re;
        if (count < LAT_N)
            sum -= m->x[i].e[LAT_N - 1][LAT_N - 1].re;
    }
    LAT_FOR_PAIRS (p, q) {
        LAT_T d;
        LAT_(c) e;
        LAT_(mag_axis)(m, p, q, count, &d, &e);
        off += e.re * e.re + e.im * e.im;
    }
    *part = sum;
    *theta = off * LAT_(set)((LAT_S)(1.0 / LAT_N));
}
