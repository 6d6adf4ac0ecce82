/* SPDX-License-Identifier: BSD-3-Clause */
/* contract_baryons.c: baryons at one site, SU(3).
 *
 * For O = eps_abc (q_a^T G r_b) p_c the conjugate operator is eps_abc pbar_c rbar_b Gb qbar_a with
 * Gb = gamma_t G* gamma_t. With D = G R Gb^T, R the propagator of r, and
 *
 *     E(Q, D)^cc'_rb = eps_abc eps_a'b'c' sum_m D^bb'_mr Q^aa'_mb
 *
 * the contraction q-q, r-r, p-p is sum_cc' (tr E^cc') P^cc', and that of q with p and p with q is
 * + sum_cc' P'^cc' E^cc': the sign of the exchange is that of renaming a' and c' in eps. */
#include <string.h>
#include "contract_internal.h"

/* eps_abc eps_a'b'c' of fixed c, c': four products of two colour indices each. */
typedef struct pair {
    int a, b, sign;
} pair;
static const pair eps[3][2] = {
    {{1, 2, 1}, {2, 1, -1}}, {{2, 0, 1}, {0, 2, -1}}, {{0, 1, 1}, {1, 0, -1}}};

static cplx times(cplx z, int power) /* i^power z */
{
    switch (power % 4) {
    case 0: return z;
    case 1: return (cplx){-z.im, z.re};
    case 2: return (cplx){-z.re, -z.im};
    default: return (cplx){z.im, -z.re};
    }
}

/* d = G R H, G and H products of gamma matrices. */
static void sandwich(site_propagator *d, lat_gamma g, const site_propagator *r, lat_gamma h)
{
    for (int c = 0; c < 9; c++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                d->s[c / 3][c % 3][i][h.column[j]] = times(r->s[c / 3][c % 3][g.column[i]][j],
                                                           g.power[i] + h.power[j]);
}

static void diquark(site_propagator *e, const site_propagator *q, const site_propagator *d)
{
    memset(e, 0, sizeof *e);
    for (int c = 0; c < 9; c++)
        for (int term = 0; term < 4; term++) {
            const pair l = eps[c / 3][term / 2], r = eps[c % 3][term % 2];
            const site_matrix *x = &d->s[l.b][r.b], *y = &q->s[l.a][r.a];
            for (int rho = 0; rho < 4; rho++)
                for (int beta = 0; beta < 4; beta++) {
                    cplx sum = {0, 0};
                    for (int mu = 0; mu < 4; mu++)
                        cplx_add(&sum, (*x)[mu][rho], (*y)[mu][beta]);
                    e->s[c / 3][c % 3][rho][beta].re += l.sign * r.sign * sum.re;
                    e->s[c / 3][c % 3][rho][beta].im += l.sign * r.sign * sum.im;
                }
        }
}

/* g += direct sum (tr E) P + exchange sum P E. */
static void add(site_matrix g, double direct, double exchange, const site_propagator *p,
                const site_propagator *e)
{
    for (int c = 0; c < 9; c++) {
        const site_matrix *x = &p->s[c / 3][c % 3], *y = &e->s[c / 3][c % 3];
        cplx trace = {0, 0};
        for (int i = 0; i < 4; i++) {
            trace.re += direct * (*y)[i][i].re;
            trace.im += direct * (*y)[i][i].im;
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                cplx sum = {0, 0};
                for (int k = 0; exchange != 0 && k < 4; k++)
                    cplx_add(&sum, (*x)[i][k], (*y)[k][j]);
                g[i][j].re += exchange * sum.re;
                g[i][j].im += exchange * sum.im;
                cplx_add(&g[i][j], trace, (*x)[i][j]);
            }
    }
}

/* D of r for the diquark with C times this gamma matrix. */
static void middle(site_propagator *d, int gamma, const site_propagator *r)
{
    const lat_gamma t = lat_gamma_of(LAT_GAMMA_T);
    const lat_gamma g = lat_gamma_mul(lat_gamma_charge(), lat_gamma_of(gamma));
    /* Gb^T = (gamma_t G* gamma_t)^T = gamma_t G^+ gamma_t, gamma_t being symmetric. */
    sandwich(d, g, r, lat_gamma_mul(t, lat_gamma_mul(lat_gamma_dag(g), t)));
}

/* eps (q^T C gamma5 r) q */
static void octet(site_matrix g, const site_propagator *q, const site_propagator *r)
{
    site_propagator d, e;
    middle(&d, LAT_GAMMA_5, r);
    diquark(&e, q, &d);
    add(g, 1, 1, q, &e);
}

/* The nine contractions of the three terms, those that are equal for u = d collected. */
static void lambda(site_matrix g, const site_propagator *u, const site_propagator *s)
{
    site_propagator light, strange, e;
    middle(&light, LAT_GAMMA_5, u);
    middle(&strange, LAT_GAMMA_5, s);
    diquark(&e, u, &light);
    add(g, 4. / 6, 4. / 6, s, &e);
    diquark(&e, u, &strange);
    add(g, 2. / 6, -2. / 6, u, &e);
    diquark(&e, s, &light);
    add(g, 0, 4. / 6, u, &e);
}

/* Six contractions: C gamma_k is symmetric, so that two and four of them are equal. */
static void delta(site_matrix g, const site_propagator *u)
{
    for (int k = 0; k < 3; k++) {
        site_propagator d, e;
        middle(&d, 1 << k, u);
        diquark(&e, u, &d);
        add(g, 2. / 3, 4. / 3, u, &e);
    }
}

/* tr (1 +- gamma_t)/2 g */
static cplx project(const site_matrix g, bool backward)
{
    const lat_gamma t = lat_gamma_of(LAT_GAMMA_T); /* ones alone */
    const double sign = backward ? -0.5 : 0.5;
    cplx sum = {0, 0};
    for (int i = 0; i < 4; i++) {
        sum.re += 0.5 * g[i][i].re + sign * g[t.column[i]][i].re;
        sum.im += 0.5 * g[i][i].im + sign * g[t.column[i]][i].im;
    }
    return sum;
}

/* ---- non-relativistic ------------------------------------------------------------------------ */

/* The 2 x 2 upper spins of T^+ S T. */
static void upper(site_propagator *to, const site_propagator *from)
{
    double t[4][4][2];
    lat_basis_matrix(lat_basis_find("dirac-pauli"), false, t);
    memset(to, 0, sizeof *to);
    for (int c = 0; c < 9; c++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                for (int k = 0; k < 16; k++) {
                    const double *l = t[k / 4][i], *r = t[k % 4][j];
                    cplx z = {0, 0};
                    cplx_add(&z, (cplx){l[0], -l[1]}, from->s[c / 3][c % 3][k / 4][k % 4]);
                    cplx_add(&to->s[c / 3][c % 3][i][j], z, (cplx){r[0], r[1]});
                }
}

/* sum eps_abc eps_a'b'c' A^aa' B^bb' C^cc' of these spins. */
static cplx triple(const site_propagator *a, int i, int j, const site_propagator *b, int k, int l,
                   const site_propagator *c, int m, int n)
{
    cplx all = {0, 0};
    for (int cc = 0; cc < 9; cc++) {
        cplx two = {0, 0};
        for (int term = 0; term < 4; term++) {
            const pair x = eps[cc / 3][term / 2], y = eps[cc % 3][term % 2];
            cplx z = {0, 0};
            cplx_add(&z, a->s[x.a][y.a][i][j], b->s[x.b][y.b][k][l]);
            two.re += x.sign * y.sign * z.re;
            two.im += x.sign * y.sign * z.im;
        }
        cplx_add(&all, two, c->s[cc / 3][cc % 3][m][n]);
    }
    return all;
}

/* eps u1 (u1 d2 - u2 d1)/sqrt 2: two terms at each end, two contractions each. */
static cplx nucleon_nr(const site_propagator *u, const site_propagator *d)
{
    static const struct {
        int second, third;
        double sign;
    } terms[2] = {{0, 1, 1}, {1, 0, -1}};
    cplx sum = {0, 0};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const double sign = terms[i].sign * terms[j].sign / 2;
            const int s = terms[i].second, r = terms[j].second;
            const cplx direct = triple(u, 0, 0, u, s, r, d, terms[i].third, terms[j].third);
            const cplx crossed = triple(u, 0, r, u, s, 0, d, terms[i].third, terms[j].third);
            sum.re += sign * (direct.re + crossed.re);
            sum.im += sign * (direct.im + crossed.im);
        }
    return sum;
}

static cplx non_relativistic(lat_channel_kind kind, const site_propagator *u,
                             const site_propagator *s)
{
    site_propagator x, y;
    upper(&x, u);
    if (kind == LAT_DELTA_NR) {
        const cplx z = triple(&x, 0, 0, &x, 0, 0, &x, 0, 0);
        return (cplx){6 * z.re, 6 * z.im};
    }
    if (kind == LAT_NUCLEON_NR)
        return nucleon_nr(&x, &x);
    upper(&y, s);
    return nucleon_nr(&x, &y);
}

cplx lat_baryon_site(const lat_channel *c, const site_propagator *u, const site_propagator *s,
                     site_baryon *last)
{
    if (last->known && last->kind == c->kind)
        return project(last->g, c->backward);
    memset(last, 0, sizeof *last);
    switch (c->kind) {
    case LAT_NUCLEON: octet(last->g, u, u); break;
    case LAT_SIGMA: octet(last->g, u, s); break;
    case LAT_XI: octet(last->g, s, u); break;
    case LAT_LAMBDA: lambda(last->g, u, s); break;
    case LAT_DELTA: delta(last->g, u); break;
    default: return non_relativistic(c->kind, u, s);
    }
    last->known = true;
    last->kind = c->kind;
    return project(last->g, c->backward);
}
