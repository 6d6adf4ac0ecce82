/* SPDX-License-Identifier: BSD-3-Clause */
/* vertex.c: the three-gluon vertex in the soft and the symmetric limit. */
#include "vertex.h"

#include <math.h>
#include <string.h>
#include "site/groups.h"

enum { ND = LAT_MAX_DIMS };

typedef double complex matrix[LAT_MAX_COLOURS * LAT_MAX_COLOURS];
typedef double tensor[ND][ND][ND];

static const double complex *field(const lat_gluon_legs *v, int leg, int mu)
{
    return v->a + (size_t)(leg * v->nd + mu) * (size_t)(v->nc * v->nc);
}

static double angle(const lat_gluon_legs *v, int leg, int mu)
{
    return 2 * M_PI * v->n[leg][mu] / v->extent[mu];
}

static double hat(const lat_gluon_legs *v, int leg, int mu)
{
    return 2 * sin(angle(v, leg, mu) / 2);
}

/* P_munu(p) = delta_munu - phat_mu phat_nu / phat^2. */
static void projector(const lat_gluon_legs *v, int leg, double p[ND][ND])
{
    double square = 0;
    for (int mu = 0; mu < v->nd; mu++)
        square += hat(v, leg, mu) * hat(v, leg, mu);
    for (int mu = 0; mu < v->nd; mu++)
        for (int nu = 0; nu < v->nd; nu++)
            p[mu][nu] = (mu == nu) - hat(v, leg, mu) * hat(v, leg, nu) / square;
}

/* a b - b a */
static void commutator(int n, const double complex *a, const double complex *b, double complex *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double complex sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j] - b[i * n + k] * a[k * n + j];
            c[i * n + j] = sum;
        }
}

/* Re tr a b */
static double trace(int n, const double complex *a, const double complex *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            sum += creal(a[i * n + k] * b[k * n + i]);
    return sum;
}

static double norm(const lat_gluon_legs *v)
{
    return -2 / (v->nc * (v->nc * v->nc - 1) * v->sites);
}

static void adjoint(int n, const double complex *a, double complex *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[i * n + j] = conj(a[j * n + i]);
}

double lat_gluon_soft(const lat_gluon_legs *v, int leg)
{
    const int n = v->nc;
    double p[ND][ND], square = 0, sum = 0;
    matrix along = {0}, minus, c;
    projector(v, leg, p);
    for (int rho = 0; rho < v->nd; rho++) {
        const double s = 2 * sin(angle(v, leg, rho));
        const double complex *zero = field(v, 0, rho);
        square += s * s;
        for (int i = 0; i < n * n; i++)
            along[i] += s * zero[i];
    }
    for (int mu = 0; mu < v->nd; mu++)
        for (int nu = 0; nu < v->nd; nu++) {
            adjoint(n, field(v, leg, nu), minus);
            commutator(n, field(v, leg, mu), minus, c);
            sum += p[mu][nu] * trace(n, c, along);
        }
    return norm(v) * sum / ((v->nd - 1) * square); /* sum of P_munu^2 is nd - 1 */
}

/* The vertex of the Wilson action at lowest order (Rothe, Lattice Gauge Theories, chapter 15). */
static void tree_level(const lat_gluon_legs *v, const int leg[3], tensor t)
{
    memset(t, 0, sizeof(tensor));
    for (int mu = 0; mu < v->nd; mu++)
        for (int rho = 0; rho < v->nd; rho++) {
            double p[3], c[3];
            for (int i = 0; i < 3; i++) { /* of momenta i and i + 1, and of i + 2 along mu */
                p[i] = 2 * sin((angle(v, leg[i], rho) - angle(v, leg[(i + 1) % 3], rho)) / 2);
                c[i] = cos(angle(v, leg[(i + 2) % 3], mu) / 2);
            }
            t[mu][mu][rho] += p[0] * c[0];
            t[rho][mu][mu] += p[1] * c[1];
            t[mu][rho][mu] += p[2] * c[2];
        }
}

static void outer(const lat_gluon_legs *v, const int leg[3], tensor t)
{
    double d[3][ND], square = 0;
    for (int mu = 0; mu < v->nd; mu++) {
        square += hat(v, leg[0], mu) * hat(v, leg[0], mu);
        for (int i = 0; i < 3; i++)
            d[i][mu] = hat(v, leg[(i + 1) % 3], mu) - hat(v, leg[(i + 2) % 3], mu);
    }
    for (int mu = 0; mu < v->nd; mu++)
        for (int nu = 0; nu < v->nd; nu++)
            for (int rho = 0; rho < v->nd; rho++)
                t[mu][nu][rho] = d[0][mu] * d[1][nu] * d[2][rho] / square;
}

/* Each index on what is transverse to the momentum of its leg. */
static void transverse(const lat_gluon_legs *v, const int leg[3], tensor t)
{
    double p[3][ND][ND];
    for (int i = 0; i < 3; i++)
        projector(v, leg[i], p[i]);
    tensor old;
    for (int which = 0; which < 3; which++) {
        memcpy(old, t, sizeof old);
        for (int mu = 0; mu < v->nd; mu++)
            for (int nu = 0; nu < v->nd; nu++)
                for (int rho = 0; rho < v->nd; rho++) {
                    double sum = 0;
                    for (int k = 0; k < v->nd; k++)
                        sum += which == 0   ? p[0][mu][k] * old[k][nu][rho]
                               : which == 1 ? p[1][nu][k] * old[mu][k][rho]
                                            : p[2][rho][k] * old[mu][nu][k];
                    t[mu][nu][rho] = sum;
                }
    }
}

static double dot(int nd, const tensor a, const tensor b)
{
    double sum = 0;
    for (int mu = 0; mu < nd; mu++)
        for (int nu = 0; nu < nd; nu++)
            for (int rho = 0; rho < nd; rho++)
                sum += a[mu][nu][rho] * b[mu][nu][rho];
    return sum;
}

void lat_gluon_symmetric(const lat_gluon_legs *v, const int leg[3], double out[2])
{
    const int n = v->nc, nd = v->nd;
    tensor lambda[2], t;
    matrix c;
    tree_level(v, leg, lambda[0]);
    outer(v, leg, lambda[1]);
    transverse(v, leg, lambda[0]);
    transverse(v, leg, lambda[1]);
    for (int mu = 0; mu < nd; mu++)
        for (int nu = 0; nu < nd; nu++) {
            commutator(n, field(v, leg[0], mu), field(v, leg[1], nu), c);
            for (int rho = 0; rho < nd; rho++)
                t[mu][nu][rho] = norm(v) * trace(n, c, field(v, leg[2], rho));
        }
    const double a = dot(nd, lambda[0], lambda[0]), b = dot(nd, lambda[0], lambda[1]),
                 d = dot(nd, lambda[1], lambda[1]), x = dot(nd, lambda[0], t),
                 y = dot(nd, lambda[1], t), determinant = a * d - b * b;
    out[0] = (d * x - b * y) / determinant;
    out[1] = (a * y - b * x) / determinant;
}
