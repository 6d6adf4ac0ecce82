/* SPDX-License-Identifier: BSD-3-Clause */
/* check_contract.c: contractions against sums over all colours, spins and Wick contractions. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "check.h"
#include "base/error.h"
#include "quark/contract.h"
#include "site/sun.h"

typedef double complex matrix[4][4];

/* Propagators of all sites of a slice, [site][source spin][source colour][spin][colour]. */
enum { X = 3, Y = 2, Z = 4, SITES = X * Y * Z, MOST = 32 * 3 * 3 };
static double prop[2][SITES * MOST];

static void fill(double *s, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i += 2)
        lat_sun_normal(s + i, seed, i, 0, 0, 0);
}

static double complex at(const double *s, int nc, int spin, int colour, int from, int source)
{
    const double *z = s + 2 * (((from * nc + source) * 4 + spin) * nc + colour);
    return z[0] + I * z[1];
}

static void dense(lat_gamma g, matrix m)
{
    static const double complex unit[4] = {1, I, -1, -I};
    memset(m, 0, sizeof(matrix));
    for (int s = 0; s < 4; s++)
        m[s][g.column[s]] = unit[g.power[s]];
}

static void product(matrix c, matrix a, matrix b)
{
    matrix sum = {{0}};
    for (int i = 0; i < 64; i++)
        sum[i / 16][i % 4] += a[i / 16][i / 4 % 4] * b[i / 4 % 4][i % 4];
    memcpy(c, sum, sizeof(matrix));
}

static void adjoint(matrix c, matrix a)
{
    for (int i = 0; i < 16; i++)
        c[i / 4][i % 4] = conj(a[i % 4][i / 4]);
}

/* - tr [ A S1 gamma_t B^+ gamma_t gamma5 S2^+ gamma5 ], literally. */
static double complex meson(const lat_channel *c, int nc, const double *s1, const double *s2)
{
    matrix a, b, t, g5;
    double complex sum = 0;
    dense(lat_gamma_of(LAT_GAMMA_T), t);
    dense(lat_gamma_of(LAT_GAMMA_5), g5);
    dense(c->sink, a);
    dense(c->source, b);
    adjoint(b, b);
    matrix was;
    dense(c->source, was);
    adjoint(b, was);
    product(b, t, b);
    product(b, b, t);
    product(b, b, g5);
    product(a, g5, a);
    for (int i = 0; i < 256; i++) {
        const int p = i / 64, q = i / 16 % 4, r = i / 4 % 4, s = i % 4;
        double complex colours = 0;
        for (int k = 0; k < nc * nc; k++)
            colours += at(s1, nc, q, k / nc, r, k % nc) * conj(at(s2, nc, p, k / nc, s, k % nc));
        sum -= a[p][q] * b[r][s] * colours;
    }
    return sum;
}

/* ---- baryons --------------------------------------------------------------------------------- */

/* weight eps_abc (f_a^T C gamma g_b) h_c, of flavours u = 0, d = 1, s = 2. */
typedef struct term {
    double weight;
    int flavour[3];
} term;

static const int orders[6][4] = {{0, 1, 2, 1},  {1, 2, 0, 1},  {2, 0, 1, 1},
                                 {0, 2, 1, -1}, {2, 1, 0, -1}, {1, 0, 2, -1}};

/* All contractions of two terms with C gamma at the sink and its conjugate at the source. */
static void contract(matrix g, const term *o, const term *p, matrix gamma, matrix bar)
{
    for (int order = 0; order < 6; order++) {
        const int *to = orders[order];
        bool match = true;
        for (int i = 0; i < 3; i++)
            match &= o->flavour[i] == p->flavour[to[i]];
        if (!match)
            continue;
        for (int k = 0; k < 6 * 6 * 4096; k++) {
            const int *l = orders[k % 6], *r = orders[k / 6 % 6], spins = k / 36;
            const int sink[3] = {spins % 4, spins / 4 % 4, spins / 16 % 4};
            const int from[3] = {spins / 64 % 4, spins / 256 % 4, spins / 1024};
            double complex z = gamma[sink[0]][sink[1]] * bar[from[0]][from[1]];
            if (z == 0)
                continue;
            z *= l[3] * r[3] * to[3] * o->weight * p->weight;
            for (int i = 0; i < 3; i++)
                z *= at(prop[o->flavour[i] == 2], 3, sink[i], l[i], from[to[i]], r[to[i]]);
            g[sink[2]][from[2]] += z;
        }
    }
}

static double complex baryon(const lat_channel *c)
{
    static const struct {
        int terms;
        term term[3];
    } operators[] = {[LAT_NUCLEON] = {1, {{1, {0, 1, 0}}}},
                     [LAT_SIGMA] = {1, {{1, {0, 2, 0}}}},
                     [LAT_XI] = {1, {{1, {2, 0, 2}}}},
                     [LAT_LAMBDA] = {3, {{2, {0, 1, 2}}, {1, {0, 2, 1}}, {-1, {1, 2, 0}}}},
                     [LAT_DELTA] = {1, {{1, {0, 0, 0}}}}};
    const double norm = c->kind == LAT_LAMBDA ? 6 : c->kind == LAT_DELTA ? 3 : 1;
    double complex sum = 0;
    matrix t;
    dense(lat_gamma_of(LAT_GAMMA_T), t);
    for (int k = 0; k < (c->kind == LAT_DELTA ? 3 : 1); k++) {
        matrix g = {{0}}, gamma, bar, charge;
        dense(lat_gamma_charge(), charge);
        dense(lat_gamma_of(c->kind == LAT_DELTA ? 1 << k : LAT_GAMMA_5), gamma);
        product(gamma, charge, gamma);
        for (int i = 0; i < 16; i++)
            bar[i / 4][i % 4] = conj(gamma[i / 4][i % 4]);
        product(bar, t, bar);
        product(bar, bar, t);
        for (int i = 0; i < 9; i++)
            if (i / 3 < operators[c->kind].terms && i % 3 < operators[c->kind].terms)
                contract(g, &operators[c->kind].term[i / 3], &operators[c->kind].term[i % 3], gamma,
                         bar);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                sum += ((i == j) + (c->backward ? -1 : 1) * t[j][i]) / 2 * g[i][j] / norm;
    }
    return sum;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static lat_header header(int x, int y, int z, int nc)
{
    lat_header head;
    lat_header_init(&head);
    head.geom = (lat_geometry){4, {x, y, z, 1}};
    head.nc = nc;
    return head;
}

static void check_one_site(const char *text, int nc, bool two)
{
    static const int zero[1][3] = {{0}};
    const lat_header head = header(1, 1, 1, nc);
    lat_contraction c = {.head = &head, .momentum = zero, .momenta = 1};
    double out[2 * 300];
    lat_channel *list = lat_channels_parse(text, nc, &c.channels);
    if (!CHECK(list != NULL, "%s: %s", text, lat_error()))
        return;
    c.channel = list;
    fill(prop[0], MOST, 3);
    fill(prop[1], MOST, 4);
    if (!two)
        memcpy(prop[1], prop[0], MOST * sizeof *prop[0]);
    CHECK(!lat_contract_slice(&c, prop[0], two ? prop[1] : prop[0], out), "%s", lat_error());
    for (int i = 0; i < c.channels; i++) {
        const double complex expected = lat_channel_baryon(&list[i])
                                            ? baryon(&list[i])
                                            : meson(&list[i], nc, prop[0], prop[1]);
        /* Some 1e5 products of size 1 and more. */
        CHECK(cabs(expected - out[2 * i] - I * out[2 * i + 1]) < 1e-11 * (1 + cabs(expected)),
              "%s: %.15g %.15g, expected %.15g %.15g", list[i].name, out[2 * i], out[2 * i + 1],
              creal(expected), cimag(expected));
    }
    free(list);
}

/* The non-relativistic operators are the relativistic ones whose lower components are absent:
 * C gamma5 of two upper components is eps up to a phase. */
static void check_upper(void)
{
    static const int zero[1][3] = {{0}};
    const lat_header head = header(1, 1, 1, 3);
    lat_contraction c = {.head = &head, .momentum = zero, .momenta = 1};
    const lat_basis *b = lat_basis_find("dirac-pauli");
    double out[2 * 3];
    lat_channel *list = lat_channels_parse("nucleon,nucleon_nr,nucleon_backward", 3, &c.channels);
    c.channel = list;
    fill(prop[0], MOST, 5);
    for (int i = 0; i < MOST; i++) {
        const int spin = i / 6 % 4, from = i / 72;
        /* The same for both spins, as of a quark at rest. */
        prop[0][i] *= spin == from && spin < 2;
        if (spin == 1 && from == 1)
            prop[0][i] = prop[0][i - 72 - 6];
    }
    lat_basis_propagator(b, false, 3, prop[0]);
    CHECK(!lat_contract_slice(&c, prop[0], prop[0], out), "%s", lat_error());
    /* Both spins in the trace; (u^T C gamma5 d) has both orders, once the factor of sqrt 2. */
    CHECK(fabs(out[0] / out[2] - 4) < 1e-12 && fabs(out[0]) > 1e-3, "%g and %g", out[0], out[2]);
    CHECK(fabs(out[4]) < 1e-12 * fabs(out[0]), "backward %g of %g", out[4], out[0]);
    free(list);
}

static void check_momenta(void)
{
    const lat_header head = header(X, Y, Z, 3);
    int momenta, channels;
    int(*p)[3] = lat_momenta_parse("1,0,0/0,1,-1/-2,0,3", &head.geom, &momenta);
    lat_channel *list = lat_channels_parse("rho_x,delta", 3, &channels), *one = list;
    if (!CHECK(p && list && momenta == 3 && channels == 2, "%s", lat_error()))
        return;
    fill(prop[0], SITES * MOST, 6);
    lat_contraction c = {.head = &head,
                         .channel = list,
                         .momentum = (const int(*)[3])p,
                         .channels = 2,
                         .momenta = 3,
                         .place = {2, 1, 3}};
    double all[12], each[4];
    static const int zero[1][3] = {{0}};
    CHECK(!lat_contract_slice(&c, prop[0], prop[0], all), "%s", lat_error());
    double complex sum[6] = {0};
    const lat_header small = header(1, 1, 1, 3);
    for (int site = 0; site < SITES; site++) {
        const int x[3] = {site % X - 2, site / X % Y - 1, site / X / Y - 3};
        c = (lat_contraction){
            .head = &small, .channel = one, .momentum = zero, .channels = 2, .momenta = 1};
        CHECK(!lat_contract_slice(&c, prop[0] + site * MOST, prop[0] + site * MOST, each), "%s",
              lat_error());
        for (int k = 0; k < 6; k++) {
            const int *n = p[k % 3];
            const double turns = (double)n[0] * x[0] / X + (double)n[1] * x[1] / Y
                                 + (double)n[2] * x[2] / Z;
            sum[k] += (each[2 * (k / 3)] + I * each[2 * (k / 3) + 1]) * cexp(2 * M_PI * I * turns);
        }
    }
    for (int k = 0; k < 6; k++)
        CHECK(cabs(sum[k] - all[2 * k] - I * all[2 * k + 1]) < 1e-11 * (1 + cabs(sum[k])),
              "number %d: %g %g", k, all[2 * k], all[2 * k + 1]);
    free(p);
    free(list);
}

static void check_lists(void)
{
    const lat_geometry geom = {4, {4, 2, 3, 8}};
    int count;
    int(*p)[3] = lat_momenta_parse("1", &geom, &count);
    /* (0,1,0) is its own negative where the extent is 2. */
    CHECK(p && count == 6 && p[0][0] == 0 && p[1][0] == 1, "%d momenta", count);
    free(p);
    p = lat_momenta_parse("100", &geom, &count);
    CHECK(p && count == 24, "%d momenta", count);
    free(p);
    static const char *const wrong[] = {"", "x", "-1", "1,2", "1,2,3/", "1,2,3;4,5", "1,2,3,4"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lat_error_clear();
        CHECK(!lat_momenta_parse(wrong[i], &geom, &count) && *lat_error(), "'%s'", wrong[i]);
    }
    static const char *const none[] = {"",
                                       "pion,",
                                       "kaon",
                                       "g5",
                                       "g5:",
                                       "g5:gx:g5",
                                       "axial",
                                       "nucleon_backwards",
                                       "nucleon_nr_backward"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        lat_error_clear();
        CHECK(!lat_channels_parse(none[i], 3, &count) && *lat_error(), "'%s'", none[i]);
    }
    lat_error_clear();
    CHECK(!lat_channels_parse("delta", 2, &count) && strstr(lat_error(), "three colours"), "%s",
          lat_error());
    lat_error_clear();
    lat_channel *list = lat_channels_parse("rho,pion,rho_x,all", 3, &count);
    CHECK(list && count == 12 + 1 + 13 && !strcmp(list[0].name, "rho_x")
              && !strcmp(list[3].name, "pion"),
          "%d channels", count);
    free(list);
}

int main(void)
{
    check_case("mesons are their traces, of one and of two propagators");
    check_one_site("mesons,gxgy:gt,1:-gzg5,gtg5:gtg5", 3, false);
    check_one_site("mesons,gxgy:gt,1:-gzg5", 3, true);
    check_one_site("mesons,gxgy:gt", 2, true);
    check_case("baryons are the sums over all Wick contractions");
    check_one_site("nucleon,nucleon_backward,sigma,xi,lambda,lambda_backward,delta", 3, false);
    check_one_site("nucleon,sigma,sigma_backward,xi,lambda,delta,delta_backward", 3, true);
    check_case("upper components alone");
    check_upper();
    check_case("momenta are phases from the source on");
    check_momenta();
    check_case("lists of channels and momenta");
    check_lists();
    return check_done();
}
