/* SPDX-License-Identifier: BSD-3-Clause */
/* gamma.c: gamma matrices and spin bases. */
#include "gamma.h"

#include <string.h>
#include "base/error.h"

/* ---- the sixteen ----------------------------------------------------------------------------- */

static const lat_gamma one = {{0, 1, 2, 3}, {0, 0, 0, 0}};
static const lat_gamma direction[4] = {{{3, 2, 1, 0}, {1, 1, 3, 3}},
                                       {{3, 2, 1, 0}, {2, 0, 0, 2}},
                                       {{2, 3, 0, 1}, {1, 3, 3, 1}},
                                       {{2, 3, 0, 1}, {0, 0, 0, 0}}};

lat_gamma lat_gamma_mul(lat_gamma a, lat_gamma b)
{
    lat_gamma c;
    for (int s = 0; s < 4; s++) {
        const int k = a.column[s];
        c.column[s] = b.column[k];
        c.power[s] = (unsigned char)((a.power[s] + b.power[k]) % 4);
    }
    return c;
}

lat_gamma lat_gamma_of(int number)
{
    lat_gamma g = one;
    for (int mu = 0; mu < 4; mu++)
        if (number >> mu & 1)
            g = lat_gamma_mul(g, direction[mu]);
    return g;
}

lat_gamma lat_gamma_dag(lat_gamma a)
{
    lat_gamma c = one;
    for (int s = 0; s < 4; s++) {
        c.column[a.column[s]] = (unsigned char)s;
        c.power[a.column[s]] = (unsigned char)((4 - a.power[s]) % 4);
    }
    return c;
}

lat_gamma lat_gamma_charge(void) { return lat_gamma_of(LAT_GAMMA_Y | LAT_GAMMA_T); }

int lat_gamma_parse(const char *text, lat_gamma *g)
{
    static const char names[] = "xyzt5";
    const char *p = text;
    *g = one;
    if (*p == '-' || *p == '+')
        memset(g->power, *p++ == '-' ? 2 : 0, sizeof g->power);
    if (!strcmp(p, "1"))
        return 0;
    while (p[0] == 'g' && p[1] && strchr(names, p[1])) {
        const int i = (int)(strchr(names, p[1]) - names);
        *g = lat_gamma_mul(*g, i < 4 ? direction[i] : lat_gamma_of(LAT_GAMMA_5));
        p += 2;
    }
    if (*p || p == text || p[-1] == '-' || p[-1] == '+')
        return lat_fail_usage("expected a product of gamma matrices, such as g5, gtg5, gx or 1, "
                              "found '%s'",
                              text);
    return 0;
}

/* z = i^power w. */
static inline void rotate(double z[2], int power, const double w[2])
{
    const double re = w[0], im = w[1];
    z[0] = power == 0 ? re : power == 1 ? -im : power == 2 ? -re : im;
    z[1] = power == 0 ? im : power == 1 ? re : power == 2 ? -im : -re;
}

void lat_gamma_apply(lat_gamma a, int nc, double *out, const double *psi)
{
    for (int s = 0; s < 4; s++)
        for (int c = 0; c < nc; c++)
            rotate(out + 2 * (s * nc + c), a.power[s], psi + 2 * (a.column[s] * nc + c));
}

/* ---- bases ----------------------------------------------------------------------------------- */

/* Entries of T. */
#define O \
    { \
        0, 0 \
    }
#define P \
    { \
        1, 0 \
    }
#define M \
    { \
        -1, 0 \
    }
#define I \
    { \
        0, 1 \
    }
#define J \
    { \
        0, -1 \
    }

const lat_basis lat_bases[] = {
    {LAT_BASIS,
     "Chroma, QDP++, Grid, QUDA",
     false,
     {{P, O, O, O}, {O, P, O, O}, {O, O, P, O}, {O, O, O, P}}},
    {"milc", "MILC", false, {{P, O, O, O}, {O, P, O, O}, {O, O, M, O}, {O, O, O, M}}},
    {"fermilab", "FM files", true, {{O, P, O, J}, {M, O, I, O}, {O, P, O, I}, {M, O, J, O}}},
    {"ukqcd", "QUDA inside", true, {{O, P, O, P}, {M, O, M, O}, {O, P, O, M}, {M, O, P, O}}},
    {"dirac-pauli", "KYU, XQCD", true, {{O, P, O, M}, {M, O, P, O}, {O, P, O, P}, {M, O, M, O}}},
    {"chiral",
     "openQCD, HiRep, tmLQCD",
     false,
     {{O, O, O, P}, {O, O, M, O}, {O, M, O, O}, {P, O, O, O}}},
    {"bmw", "DDalphaAMG BASIS1", false, {{P, O, O, O}, {O, P, O, O}, {O, O, M, O}, {O, O, O, M}}},
    {"ddalphaamg",
     "DDalphaAMG BASIS4",
     false,
     {{P, O, O, O}, {O, M, O, O}, {O, O, M, O}, {O, O, O, P}}},
    {NULL, NULL, false, {{O}}}};

const lat_basis *lat_basis_find(const char *name)
{
    char list[256] = "";
    for (const lat_basis *b = lat_bases; b->name; b++) {
        if (!strcmp(b->name, name))
            return b;
        strcat(strcat(list, b == lat_bases ? "" : ", "), b->name);
    }
    return lat_fail_null("expected a spin basis (%s), found '%s'", list, name);
}

void lat_basis_matrix(const lat_basis *b, bool dagger, double t[4][4][2])
{
    const double scale = b->root ? 0.70710678118654752440 : 1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            t[i][j][0] = scale * (dagger ? b->t[j][i] : b->t[i][j])[0];
            t[i][j][1] = scale * (dagger ? -b->t[j][i][1] : b->t[i][j][1]);
        }
}

/* sum += t z; t of a row of T, or conj t. */
static inline void add(double sum[2], const signed char t[2], bool conj, const double z[2])
{
    const double re = t[0], im = conj ? -t[1] : t[1];
    sum[0] += re * z[0] - im * z[1];
    sum[1] += re * z[1] + im * z[0];
}

/* The spin index of n complex numbers each, `stride` complex numbers apart, by T or T^+, without
 * the factor of the root. */
static void change(const lat_basis *b, bool dagger, bool conj, int n, int stride, double *z)
{
    for (int c = 0; c < n; c++) {
        double new[4][2] = {{0}};
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                add(new[i], dagger ? b->t[j][i] : b->t[i][j], dagger != conj,
                    z + 2 * (j * stride + c));
        for (int i = 0; i < 4; i++)
            memcpy(z + 2 * (i * stride + c), new[i], sizeof new[i]);
    }
}

/* z times `factor` where entries have a root. */
static void scale_root(const lat_basis *b, double factor, int reals, double *z)
{
    for (int i = 0; b->root && i < reals; i++)
        z[i] *= factor;
}

void lat_basis_spinor(const lat_basis *b, bool back, int nc, double *psi)
{
    change(b, back, false, nc, nc, psi);
    scale_root(b, 0.70710678118654752440, 8 * nc, psi);
}

/* S_ab -> sum T_ac S_cd conj(T_bd): the sink by T, the source by conj T. */
void lat_basis_propagator(const lat_basis *b, bool back, int nc, double *s)
{
    const int spinor = 4 * nc, column = nc * spinor;
    for (int i = 0; i < 4 * nc; i++)
        change(b, back, false, nc, nc, s + 2 * i * spinor);
    change(b, back, true, column, column, s);
    scale_root(b, 0.5, 2 * 4 * column, s);
}

void lat_basis_source(const lat_basis *b, bool back, int nc, double *s)
{
    const int column = 4 * nc * nc;
    change(b, back, true, column, column, s);
    scale_root(b, 0.70710678118654752440, 2 * 4 * column, s);
}
