/* SPDX-License-Identifier: BSD-3-Clause */
/* baryon_lanes.h: baryons at LANES sites side by side, 2, 4 or 8, by functions AS(name) that may
 * have the instructions of TARGET (template; contract_baryons.c expands it for each).
 *
 * For O = eps_abc (q_a^T G r_b) p_c the conjugate operator is eps_abc pbar_c rbar_b Gb qbar_a with
 * Gb = gamma_t G* gamma_t. With D = G R Gb^T, R the propagator of r, and
 *
 *     E(Q, D)^cc'_rb = eps_abc eps_a'b'c' sum_m D^bb'_mr Q^aa'_mb
 *
 * the contraction q-q, r-r, p-p is sum_cc' (tr E^cc') P^cc', and the contraction of q with p and p
 * with q is
 * + sum_cc' P'^cc' E^cc': the sign of the exchange comes from renaming a' and c' in eps. */
#define number AS(number_of_)
#define matrix AS(matrix_of_)
#define propagator AS(propagator_of_)

typedef double AS(reals_of_) __attribute__((vector_size(8 * LANES)));
typedef struct number {
    AS(reals_of_) re, im;
} number;

/* [sink colour][source colour][sink spin][source spin] */
typedef number matrix[4][4];
typedef struct propagator {
    matrix s[3][3];
} propagator;

/* s += a b */
static inline __attribute__((always_inline)) TARGET void AS(add_product)(number *s, number a,
                                                                         number b)
{
    s->re += a.re * b.re;
    s->re -= a.im * b.im;
    s->im += a.re * b.im;
    s->im += a.im * b.re;
}

static TARGET number AS(times)(number z, int power) /* i^power z */
{
    switch (power % 4) {
    case 0: return z;
    case 1: return (number){-z.im, z.re};
    case 2: return (number){-z.re, -z.im};
    default: return (number){z.im, -z.re};
    }
}

/* d = G R H, G and H products of gamma matrices. */
static TARGET void AS(sandwich)(propagator *d, lat_gamma g, const propagator *r, lat_gamma h)
{
    for (int c = 0; c < 9; c++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                d->s[c / 3][c % 3][i][h.column[j]] = AS(times)(r->s[c / 3][c % 3][g.column[i]][j],
                                                               g.power[i] + h.power[j]);
}

static TARGET void AS(diquark)(propagator *e, const propagator *q, const propagator *d)
{
    memset(e, 0, sizeof *e);
    for (int c = 0; c < 9; c++)
        for (int term = 0; term < 4; term++) {
            const pair l = eps[c / 3][term / 2], r = eps[c % 3][term % 2];
            const matrix *x = &d->s[l.b][r.b], *y = &q->s[l.a][r.a];
            for (int rho = 0; rho < 4; rho++)
                for (int beta = 0; beta < 4; beta++) {
                    number sum = {{0}, {0}};
                    for (int mu = 0; mu < 4; mu++)
                        AS(add_product)(&sum, (*x)[mu][rho], (*y)[mu][beta]);
                    e->s[c / 3][c % 3][rho][beta].re += l.sign * r.sign * sum.re;
                    e->s[c / 3][c % 3][rho][beta].im += l.sign * r.sign * sum.im;
                }
        }
}

/* g += direct sum (tr E) P + exchange sum P E. */
static TARGET void AS(add)(matrix g, double direct, double exchange, const propagator *p,
                           const propagator *e)
{
    for (int c = 0; c < 9; c++) {
        const matrix *x = &p->s[c / 3][c % 3], *y = &e->s[c / 3][c % 3];
        number trace = {{0}, {0}};
        for (int i = 0; i < 4; i++) {
            trace.re += direct * (*y)[i][i].re;
            trace.im += direct * (*y)[i][i].im;
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                number sum = {{0}, {0}};
                for (int k = 0; exchange != 0 && k < 4; k++)
                    AS(add_product)(&sum, (*x)[i][k], (*y)[k][j]);
                g[i][j].re += exchange * sum.re;
                g[i][j].im += exchange * sum.im;
                AS(add_product)(&g[i][j], trace, (*x)[i][j]);
            }
    }
}

/* D of r for the diquark with C times this gamma matrix. */
static TARGET void AS(middle)(propagator *d, int gamma, const propagator *r)
{
    const lat_gamma t = lat_gamma_of(LAT_GAMMA_T);
    const lat_gamma g = lat_gamma_mul(lat_gamma_charge(), lat_gamma_of(gamma));
    /* Gb^T = (gamma_t G* gamma_t)^T = gamma_t G^+ gamma_t, gamma_t being symmetric. */
    AS(sandwich)(d, g, r, lat_gamma_mul(t, lat_gamma_mul(lat_gamma_dag(g), t)));
}

/* eps (q^T C gamma5 r) q */
static TARGET void AS(octet)(matrix g, const propagator *q, const propagator *r)
{
    propagator d, e;
    AS(middle)(&d, LAT_GAMMA_5, r);
    AS(diquark)(&e, q, &d);
    AS(add)(g, 1, 1, q, &e);
}

/* The nine contractions of the three terms, those that are equal for u = d collected. */
static TARGET void AS(lambda)(matrix g, const propagator *u, const propagator *s)
{
    propagator light, strange, e;
    AS(middle)(&light, LAT_GAMMA_5, u);
    AS(middle)(&strange, LAT_GAMMA_5, s);
    AS(diquark)(&e, u, &light);
    AS(add)(g, 4. / 6, 4. / 6, s, &e);
    AS(diquark)(&e, u, &strange);
    AS(add)(g, 2. / 6, -2. / 6, u, &e);
    AS(diquark)(&e, s, &light);
    AS(add)(g, 0, 4. / 6, u, &e);
}

/* Six contractions: C gamma_k is symmetric, so that two and four of them are equal. */
static TARGET void AS(delta)(matrix g, const propagator *u)
{
    for (int k = 0; k < 3; k++) {
        propagator d, e;
        AS(middle)(&d, 1 << k, u);
        AS(diquark)(&e, u, &d);
        AS(add)(g, 2. / 3, 4. / 3, u, &e);
    }
}

/* tr (1 +- gamma_t)/2 g */
static TARGET number AS(project)(const matrix g, bool backward)
{
    const lat_gamma t = lat_gamma_of(LAT_GAMMA_T); /* ones alone */
    const double sign = backward ? -0.5 : 0.5;
    number sum = {{0}, {0}};
    for (int i = 0; i < 4; i++) {
        sum.re += 0.5 * g[i][i].re + sign * g[t.column[i]][i].re;
        sum.im += 0.5 * g[i][i].im + sign * g[t.column[i]][i].im;
    }
    return sum;
}

/* ---- non-relativistic ------------------------------------------------------------------------ */

/* The 2 x 2 upper spins of T^+ S T. */
static TARGET void AS(upper)(propagator *to, const propagator *from)
{
    double t[4][4][2];
    lat_basis_matrix(lat_basis_find("dirac-pauli"), false, t);
    memset(to, 0, sizeof *to);
    for (int c = 0; c < 9; c++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                for (int k = 0; k < 16; k++) {
                    const double *l = t[k / 4][i], *r = t[k % 4][j];
                    number z;
                    const number *x = &from->s[c / 3][c % 3][k / 4][k % 4];
                    number *y = &to->s[c / 3][c % 3][i][j];
                    z.re = l[0] * x->re + l[1] * x->im;
                    z.im = l[0] * x->im - l[1] * x->re;
                    y->re += r[0] * z.re - r[1] * z.im;
                    y->im += r[0] * z.im + r[1] * z.re;
                }
}

/* sum eps_abc eps_a'b'c' A^aa' A^bb' C^cc', of the spins [a, b, c][sink, source]. */
static TARGET number AS(triple)(const propagator *a, const propagator *c, const int spin[3][2])
{
    number all = {{0}, {0}};
    for (int cc = 0; cc < 9; cc++) {
        number two = {{0}, {0}};
        for (int term = 0; term < 4; term++) {
            const pair x = eps[cc / 3][term / 2], y = eps[cc % 3][term % 2];
            number z = {{0}, {0}};
            AS(add_product)
            (&z, a->s[x.a][y.a][spin[0][0]][spin[0][1]], a->s[x.b][y.b][spin[1][0]][spin[1][1]]);
            two.re += x.sign * y.sign * z.re;
            two.im += x.sign * y.sign * z.im;
        }
        AS(add_product)(&all, two, c->s[cc / 3][cc % 3][spin[2][0]][spin[2][1]]);
    }
    return all;
}

/* eps u1 (u1 d2 - u2 d1)/sqrt 2: two terms at each end, two contractions each. */
static TARGET number AS(nucleon_nr)(const propagator *u, const propagator *d)
{
    static const struct {
        int second, third;
        double sign;
    } terms[2] = {{0, 1, 1}, {1, 0, -1}};
    number sum = {{0}, {0}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            const double sign = terms[i].sign * terms[j].sign / 2;
            const int s = terms[i].second, r = terms[j].second;
            const int straight[3][2] = {{0, 0}, {s, r}, {terms[i].third, terms[j].third}},
                      across[3][2] = {{0, r}, {s, 0}, {terms[i].third, terms[j].third}};
            const number direct = AS(triple)(u, d, straight), crossed = AS(triple)(u, d, across);
            sum.re += sign * (direct.re + crossed.re);
            sum.im += sign * (direct.im + crossed.im);
        }
    return sum;
}

static TARGET number AS(non_relativistic)(lat_channel_kind kind, const propagator *u,
                                          const propagator *s)
{
    propagator x, y;
    AS(upper)(&x, u);
    if (kind == LAT_DELTA_NR) {
        const number z = AS(triple)(&x, &x, (const int[3][2]){{0}});
        return (number){6 * z.re, 6 * z.im};
    }
    if (kind == LAT_NUCLEON_NR)
        return AS(nucleon_nr)(&x, &x);
    AS(upper)(&y, s);
    return AS(nucleon_nr)(&x, &y);
}

/* The propagators of `count` sites; other lanes repeat the last one. */
static TARGET void AS(load)(propagator *to, const double *from, int count)
{
    for (int lane = 0; lane < LANES; lane++) {
        const double *s = from + 288 * (lane < count ? lane : count - 1);
        for (int column = 0; column < 12; column++)
            for (int i = 0; i < 12; i++, s += 2) {
                number *z = &to->s[i % 3][column % 3][i / 3][column / 3];
                z->re[lane] = s[0];
                z->im[lane] = s[1];
            }
    }
}

/* lat_baryon_sites */
static TARGET void AS(sites)(const lat_channel *channel, int channels, const double *first,
                             const double *second, int count, cplx *value)
{
    propagator u, s_own, *const s = first == second ? &u : &s_own;
    matrix g; /* of the last channel: forward and backward ones share it */
    lat_channel_kind last = LAT_MESON;
    AS(load)(&u, first, count);
    if (s != &u)
        AS(load)(s, second, count);
    for (int k = 0; k < channels; k++) {
        const lat_channel *c = &channel[k];
        if (!lat_channel_baryon(c))
            continue;
        if (c->kind != last) {
            memset(g, 0, sizeof g);
            last = c->kind;
            switch (c->kind) {
            case LAT_NUCLEON: AS(octet)(g, &u, &u); break;
            case LAT_SIGMA: AS(octet)(g, &u, s); break;
            case LAT_XI: AS(octet)(g, s, &u); break;
            case LAT_LAMBDA: AS(lambda)(g, &u, s); break;
            case LAT_DELTA: AS(delta)(g, &u); break;
            default: break; /* has no such matrix */
            }
        }
        const number z = c->kind <= LAT_DELTA ? AS(project)(g, c->backward)
                                              : AS(non_relativistic)(c->kind, &u, s);
        for (int lane = 0; lane < count; lane++)
            value[k * LAT_ISA_MOST_DOUBLES + lane] = (cplx){z.re[lane], z.im[lane]};
    }
}

#undef propagator
#undef matrix
#undef number
#undef AS
#undef TARGET
#undef LANES
