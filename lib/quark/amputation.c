/* SPDX-License-Identifier: BSD-3-Clause */
/* amputation.c: inverse quark propagators, amputated vertices. */
#include "amputation.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "legs.h"

typedef double complex cd;

/* |S| |S^-1| above which S^-1 has no digits that count. */
#define MOST_CONDITION 1e12

static double norm1(int n, const cd *m)
{
    double largest = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += cabs(m[i * n + j]);
        largest = sum > largest || isnan(sum) ? sum : largest;
    }
    return largest;
}

/* Gauss-Jordan with pivots of a column; false where a pivot is zero. m is destroyed. */
static bool eliminate(int n, cd *m, cd *inverse)
{
    for (int i = 0; i < n * n; i++)
        inverse[i] = i % (n + 1) == 0;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            best = cabs(m[i * n + k]) > cabs(m[best * n + k]) ? i : best;
        for (int j = 0; j < n && best != k; j++) {
            const cd a = m[k * n + j], b = inverse[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = a;
            inverse[k * n + j] = inverse[best * n + j];
            inverse[best * n + j] = b;
        }
        const cd pivot = m[k * n + k];
        if (!(cabs(pivot) > 0))
            return false;
        for (int j = 0; j < n; j++) {
            m[k * n + j] /= pivot;
            inverse[k * n + j] /= pivot;
        }
        for (int i = 0; i < n; i++) {
            const cd factor = m[i * n + k];
            for (int j = 0; j < n && i != k; j++) {
                m[i * n + j] -= factor * m[k * n + j];
                inverse[i * n + j] -= factor * inverse[k * n + j];
            }
        }
    }
    return true;
}

/* m is destroyed. */
static int invert(const char *name, int n, cd *m, cd *inverse)
{
    const double size = norm1(n, m);
    const bool done = isfinite(size) && eliminate(n, m, inverse);
    const double condition = done ? size * norm1(n, inverse) : INFINITY;
    if (!(condition <= MOST_CONDITION))
        return lat_fail("%s: expected S(p) that has an inverse, found one of condition number %.2g",
                        name, condition);
    return 0;
}

/* A leg as a matrix [sink][source]. */
static void load(int n, const double *leg, cd *m)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            m[i * n + j] = leg[2 * (j * n + i)] + leg[2 * (j * n + i) + 1] * I;
}

static cd power_of_i(int power)
{
    static const double re[] = {1, 0, -1, 0}, im[] = {0, 1, 0, -1};
    return re[power & 3] + im[power & 3] * I;
}

/* tr[ m Gamma^+ ], the trace over colour, too. */
static cd trace(int nc, const cd *m, lat_gamma g)
{
    const int n = 4 * nc;
    cd sum = 0;
    for (int a = 0; a < 4; a++)
        for (int c = 0; c < nc; c++)
            sum += power_of_i(4 - g.power[a]) * m[(a * nc + c) * n + g.column[a] * nc + c];
    return sum;
}

int lat_leg_parts(const char *name, int nc, const double *leg, const double pbar[4], double part[2])
{
    const int n = 4 * nc;
    cd *m = lat_alloc(2 * (size_t)(n * n), sizeof *m, "S(p)"), *inverse = m + n * n;
    int rc = m ? 0 : -1;
    if (rc == 0) {
        load(n, leg, m);
        rc = invert(name, n, m, inverse);
    }
    if (rc == 0) {
        double square = 0;
        cd slash = 0;
        for (int mu = 0; mu < 4; mu++) {
            square += pbar[mu] * pbar[mu];
            slash += pbar[mu] * trace(nc, inverse, lat_gamma_of(1 << mu));
        }
        part[0] = creal(trace(nc, inverse, lat_gamma_of(LAT_GAMMA_ONE))) / n;
        part[1] = square > 0 ? cimag(slash) / (n * square) : NAN;
    }
    free(m);
    return rc;
}

static double sign5(int spin) { return spin < 2 ? 1 : -1; }

/* G of Gamma from K. */
static void vertex(int nc, const double *k, lat_gamma g, cd *out)
{
    const int n = 4 * nc;
    const size_t R = 16 * (size_t)nc;
    memset(out, 0, (size_t)(n * n) * sizeof *out);
    for (int i = 0; i < n; i++)
        for (int spin = 0; spin < 4; spin++) {
            const cd factor = sign5(i / nc) * sign5(spin) * power_of_i(g.power[spin]);
            const double *re = k + 2 * (size_t)(4 * i + spin) * R, *im = re + R;
            for (int j = 0; j < n; j++) {
                const int s = 4 * j + g.column[spin];
                out[i * n + j] += factor * (re[s] + im[s] * I);
            }
        }
}

/* c = a b */
static void product(int n, const cd *a, const cd *b, cd *c)
{
    memset(c, 0, (size_t)(n * n) * sizeof *c);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

/* The left leg, gamma5 S^+ gamma5. */
static void load_left(int nc, const double *leg, cd *m)
{
    const int n = 4 * nc;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            m[i * n + j] = sign5(i / nc) * sign5(j / nc)
                           * (leg[2 * (i * n + j)] - leg[2 * (i * n + j) + 1] * I);
}

/* The inverse legs of a pair, and memory for two matrices. */
typedef struct amputation {
    int nc, n;
    cd *left, *right, *g, *h;
} amputation;

static int amputation_make(amputation *a, const char *name, int nc, const double *pair)
{
    const int n = 4 * nc, size = n * n;
    *a = (amputation){.nc = nc, .n = n};
    if (!(a->left = lat_alloc(4 * (size_t)size, sizeof *a->left, "a vertex")))
        return -1;
    a->right = a->left + size;
    a->g = a->right + size;
    a->h = a->g + size;
    load_left(nc, pair + lat_leg_reals(nc), a->g);
    if (invert(name, n, a->g, a->left))
        return -1;
    load(n, pair, a->g);
    return invert(name, n, a->g, a->right);
}

/* g becomes S2^-1 g S1^-1. */
static void amputate(const amputation *a)
{
    product(a->n, a->left, a->g, a->h);
    product(a->n, a->h, a->right, a->g);
}

int lat_pair_traces(const char *name, int nc, const double *pair, double t[LAT_GAMMAS][LAT_GAMMAS])
{
    amputation m;
    const int rc = amputation_make(&m, name, nc, pair);
    for (int a = 0; rc == 0 && a < LAT_GAMMAS; a++) {
        vertex(nc, pair + 2 * lat_leg_reals(nc), lat_gamma_of(a), m.g);
        amputate(&m);
        for (int b = 0; b < LAT_GAMMAS; b++)
            t[a][b] = creal(trace(nc, m.g, lat_gamma_of(b))) / m.n;
    }
    free(m.left);
    return rc;
}

static double norm2(int n, const cd *m)
{
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += creal(m[i]) * creal(m[i]) + cimag(m[i]) * cimag(m[i]);
    return sqrt(sum);
}

/* d += factor S2^-1 g S1^-1, where g is there. */
static void add_amputated(const amputation *m, cd factor, cd *d)
{
    amputate(m);
    for (int i = 0; i < m->n * m->n; i++)
        d[i] += factor * m->g[i];
}

int lat_pair_current(const char *name, int nc, const double *pair, const lat_ward *w,
                     double t[4][4], double *defect)
{
    const size_t leg = lat_leg_reals(nc);
    const int size = 16 * nc * nc;
    amputation m;
    cd *d = lat_alloc((size_t)size, sizeof *d, "a Ward identity");
    const int rc = amputation_make(&m, name, nc, pair) || !d ? -1 : 0;
    for (int i = 0; rc == 0 && i < size; i++)
        d[i] = m.left[i] - m.right[i];
    for (int mu = 0; rc == 0 && mu < 4; mu++) {
        load(m.n, pair + lat_pair_reals(nc) + (size_t)mu * leg, m.g);
        add_amputated(&m, w->qhat[mu] * I, d);
        for (int nu = 0; nu < 4; nu++)
            t[mu][nu] = creal(trace(nc, m.g, lat_gamma_of(1 << nu))) / m.n;
    }
    for (int i = 0; rc == 0 && i < 2; i++) {
        vertex(nc, pair + 2 * leg, lat_gamma_of(i ? LAT_GAMMA_5 : LAT_GAMMA_ONE), m.g);
        add_amputated(&m, i ? w->twist * I : w->mass, d);
    }
    if (rc == 0)
        *defect = norm2(m.n, d) / (norm2(m.n, m.left) + norm2(m.n, m.right));
    LAT_FREE(m.left, d);
    return rc;
}
