/* SPDX-License-Identifier: BSD-3-Clause */
/* check_gamma.c: gamma matrices: their algebra, and that each basis has the matrices of its
 * program.
 */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "check.h"
#include "base/error.h"
#include "quark/gamma.h"

typedef double complex matrix[4][4];

static void dense(lat_gamma g, matrix m)
{
    static const double complex unit[4] = {1, I, -1, -I};
    memset(m, 0, sizeof(matrix));
    for (int s = 0; s < 4; s++)
        m[s][g.column[s]] = unit[g.power[s]];
}

static void product(matrix c, matrix a, matrix b)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c[i][j] = 0;
            for (int k = 0; k < 4; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
}

static double distance(matrix a, matrix b)
{
    double largest = 0;
    for (int i = 0; i < 16; i++)
        largest = fmax(largest, cabs(a[i / 4][i % 4] - b[i / 4][i % 4]));
    return largest;
}

static lat_gamma conj_of(lat_gamma a)
{
    for (int s = 0; s < 4; s++)
        a.power[s] = (unsigned char)((4 - a.power[s]) % 4);
    return a;
}

static lat_gamma minus(lat_gamma a)
{
    for (int s = 0; s < 4; s++)
        a.power[s] = (unsigned char)((a.power[s] + 2) % 4);
    return a;
}

static bool equal(lat_gamma a, lat_gamma b)
{
    return !memcmp(a.column, b.column, 4) && !memcmp(a.power, b.power, 4);
}

static lat_gamma parsed(const char *text)
{
    lat_gamma g;
    CHECK(lat_gamma_parse(text, &g) == 0, "%s: %s", text, lat_error());
    return g;
}

static void check_algebra(void)
{
    const lat_gamma one = lat_gamma_of(0), g5 = lat_gamma_of(LAT_GAMMA_5);
    for (int mu = 0; mu < 4; mu++)
        for (int nu = 0; nu < 4; nu++) {
            const lat_gamma a = lat_gamma_of(1 << mu), b = lat_gamma_of(1 << nu);
            const lat_gamma ab = lat_gamma_mul(a, b), ba = lat_gamma_mul(b, a);
            CHECK(equal(ab, mu == nu ? one : minus(ba)), "%d %d", mu, nu);
        }
    for (int n = 0; n < LAT_GAMMAS; n++) {
        const lat_gamma g = lat_gamma_of(n), c = lat_gamma_charge();
        matrix m, p;
        CHECK(equal(lat_gamma_mul(g, lat_gamma_dag(g)), one), "%d", n);
        for (int k = 0; k < n; k++) {
            double complex trace = 0;
            dense(lat_gamma_mul(lat_gamma_dag(lat_gamma_of(k)), g), m);
            for (int i = 0; i < 4; i++)
                trace += m[i][i];
            CHECK(trace == 0, "%d and %d", k, n);
        }
        dense(lat_gamma_mul(g, lat_gamma_of(5)), m);
        matrix a, b;
        dense(g, a);
        dense(lat_gamma_of(5), b);
        product(p, a, b);
        CHECK(distance(m, p) == 0, "product %d", n);
        /* C gamma_mu C^-1 = -gamma_mu^T = -conj gamma_mu */
        if (n == 1 || n == 2 || n == 4 || n == 8) {
            const lat_gamma l = lat_gamma_mul(lat_gamma_mul(c, g), lat_gamma_dag(c));
            CHECK(equal(l, minus(conj_of(g))), "C %d", n);
        }
    }
    static const lat_gamma chirality = {{0, 1, 2, 3}, {0, 0, 2, 2}};
    CHECK(equal(g5, chirality), "gamma5");
}

/* What the programs document: the sigma_k in the corners, and gamma_t. */
static void sigma(matrix m, int k, double complex up, double complex down)
{
    static const double complex s[3][2][2] = {
        {{0, 1}, {1, 0}}, {{0, -I}, {I, 0}}, {{1, 0}, {0, -1}}};
    memset(m, 0, sizeof(matrix));
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            m[i][2 + j] = up * s[k][i][j];
            m[2 + i][j] = down * s[k][i][j];
        }
}

static void time_matrix(matrix m, double diagonal, double corner)
{
    memset(m, 0, sizeof(matrix));
    for (int i = 0; i < 2; i++) {
        m[i][i] = diagonal;
        m[2 + i][2 + i] = -diagonal;
        m[i][2 + i] = m[2 + i][i] = corner;
    }
}

static void theirs(const char *name, int mu, matrix m)
{
    dense(lat_gamma_of(1 << mu), m);
    if (!strcmp(name, "fermilab"))
        mu < 3 ? sigma(m, mu, 1, 1) : time_matrix(m, 1, 0);
    else if (!strcmp(name, "ukqcd"))
        mu < 3 ? sigma(m, mu, I, -I) : time_matrix(m, 1, 0);
    else if (!strcmp(name, "dirac-pauli"))
        mu < 3 ? sigma(m, mu, -I, I) : time_matrix(m, 1, 0);
    else if (!strcmp(name, "chiral"))
        mu < 3 ? sigma(m, mu, -I, I) : time_matrix(m, 0, -1);
    else if (!strcmp(name, "ddalphaamg")) /* gamma_x has the other sign, and so has gamma5 */
        mu == 0 ? sigma(m, mu, I, -I) : mu < 3 ? sigma(m, mu, -I, I) : time_matrix(m, 0, -1);
    const bool minus = !strcmp(name, "milc") || !strcmp(name, "bmw");
    for (int i = 0; i < 16; i++)
        m[i / 4][i % 4] *= minus ? -1 : 1;
}

static void check_bases(void)
{
    for (const lat_basis *b = lat_bases; b->name; b++) {
        double t[4][4][2];
        matrix T, left, right, g, h;
        lat_basis_matrix(b, false, t);
        for (int i = 0; i < 16; i++)
            T[i / 4][i % 4] = t[i / 4][i % 4][0] + I * t[i / 4][i % 4][1];
        for (int mu = 0; mu < 4; mu++) {
            dense(lat_gamma_of(1 << mu), g);
            theirs(b->name, mu, h);
            product(left, g, T);
            product(right, T, h);
            CHECK(distance(left, right) < 1e-15, "%s, gamma %d", b->name, mu);
        }
    }
    lat_error_clear();
    CHECK(lat_basis_find("weyl") == NULL && strstr(lat_error(), "dirac-pauli"), "%s", lat_error());
    lat_error_clear();
}

static void check_changes(int nc)
{
    double s[2 * 16 * 16 * 16], was[2 * 16 * 16 * 16];
    const int spinor = 8 * nc, all = 4 * nc * spinor;
    for (int i = 0; i < all; i++)
        was[i] = sin(i + 1.0);
    for (const lat_basis *b = lat_bases; b->name; b++) {
        double a = 0, t = 0;
        memcpy(s, was, sizeof s);
        lat_basis_propagator(b, true, nc, s);
        lat_basis_propagator(b, false, nc, s);
        for (int i = 0; i < all; i++)
            a = fmax(a, fabs(s[i] - was[i]));
        CHECK(a < (b->root ? 4e-15 : 1e-300), "%s: %g", b->name, a);
        /* S = psi chi^+: each by itself; chi^+ at source spin 1, colour 0 is 1 - 2i there. */
        memset(s, 0, sizeof s);
        for (int c = 0; c < 4 * nc; c++) {
            const double complex x = conj((double)(c + 1) * (1 + 0.3 * c * I));
            for (int i = 0; i < spinor / 2; i++) {
                const double complex z = (was[2 * i] + I * was[2 * i + 1]) * x;
                s[c * spinor + 2 * i] = creal(z);
                s[c * spinor + 2 * i + 1] = cimag(z);
            }
        }
        double psi[8 * 16], chi[8 * 16];
        memcpy(psi, was, sizeof psi);
        for (int c = 0; c < 4 * nc; c++) {
            chi[2 * c] = c + 1;
            chi[2 * c + 1] = 0.3 * c * (c + 1);
        }
        lat_basis_spinor(b, false, nc, psi);
        lat_basis_spinor(b, false, nc, chi);
        lat_basis_propagator(b, false, nc, s);
        for (int c = 0; c < 4 * nc; c++)
            for (int i = 0; i < 4 * nc; i++) {
                const double complex z = (psi[2 * i] + I * psi[2 * i + 1])
                                         * conj(chi[2 * c] + I * chi[2 * c + 1]);
                t = fmax(t, cabs(z - s[c * spinor + 2 * i] - I * s[c * spinor + 2 * i + 1]));
            }
        CHECK(t < 1e-14 * 16 * nc * nc, "%s: %g", b->name, t);
    }
}

int main(void)
{
    check_case(
        "the gamma matrices anticommute, square to one, and sixteen products are independent");
    check_algebra();

    check_case("products are read from text");
    CHECK(equal(parsed("gtg5"), minus(parsed("g5gt"))), "gtg5");
    CHECK(equal(parsed("gxgygzgt"), parsed("g5")), "g5");
    CHECK(equal(parsed("-gygz"), parsed("gzgy")), "-gygz");
    CHECK(equal(parsed("1"), lat_gamma_of(0)), "1");
    static const char *const wrong[] = {"", "-", "g", "g6", "gx5", "1g5", "G5", "g5 ", "+"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lat_gamma g;
        CHECK(lat_gamma_parse(wrong[i], &g) < 0, "'%s'", wrong[i]);
        lat_error_clear();
    }

    check_case("gamma T = T gamma of the program, for each basis");
    check_bases();

    check_case("spinors and propagators there and back, N = 2, 3");
    check_changes(2);
    check_changes(3);
    return check_done();
}
