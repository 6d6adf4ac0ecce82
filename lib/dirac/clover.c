/* SPDX-License-Identifier: BSD-3-Clause */
/* clover.c: the clover term of a site. */
#include "dirac/clover.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#include "site/sun.h"

typedef double complex cd;
typedef struct matrix {
    cd e[3][3];
} matrix;

/* ---- leaves ---------------------------------------------------------------------------------- */

static matrix matrix_at(const lat_field *u, size_t at)
{
    double m[LAT_SUN_REALS];
    const int n = u->head.nc;
    matrix v;
    lat_field_get(u, at, m);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            v.e[i][j] = m[2 * (i * n + j)] + I * m[2 * (i * n + j) + 1];
    return v;
}

static matrix link_at(const lat_field *u, size_t x, int mu)
{
    return matrix_at(u, x * (size_t)u->head.geom.nd + (size_t)mu);
}

/* Without the tests for infinities of C's complex product. */
static inline cd mul(cd a, cd b)
{
    return (creal(a) * creal(b) - cimag(a) * cimag(b))
           + I * (creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* a b, each daggered or not. */
static matrix times(int n, const matrix *a, bool dag_a, const matrix *b, bool dag_b)
{
    matrix p;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            cd s = 0;
            for (int k = 0; k < n; k++)
                s += mul(dag_a ? conj(a->e[k][i]) : a->e[i][k],
                         dag_b ? conj(b->e[j][k]) : b->e[k][j]);
            p.e[i][j] = s;
        }
    return p;
}

/* A link, or its adjoint, on a path. */
typedef struct step {
    const matrix *u;
    bool adjoint;
} step;

static void add_leaf(int n, matrix *s, step a, step b, step c, step d)
{
    const matrix ab = times(n, a.u, a.adjoint, b.u, b.adjoint),
                 cd_ = times(n, c.u, c.adjoint, d.u, d.adjoint),
                 p = times(n, &ab, false, &cd_, false);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            s->e[i][j] += p.e[i][j];
}

/* The sum of the four leaves of a plane, counterclockwise from x. Steps along nu come first: from a
 * ghost there is a way within its slice alone. */
static matrix leaves(const lat_field *u, size_t x, int mu, int nu)
{
    const int n = u->head.nc;
    const size_t up = lat_field_next(u, x, nu, 1), down = lat_field_next(u, x, nu, -1),
                 right = lat_field_next(u, x, mu, 1), left = lat_field_next(u, x, mu, -1),
                 up_left = lat_field_next(u, up, mu, -1),
                 down_left = lat_field_next(u, down, mu, -1),
                 down_right = lat_field_next(u, down, mu, 1);
    const matrix m = link_at(u, x, mu), v = link_at(u, x, nu), v_right = link_at(u, right, nu),
                 m_up = link_at(u, up, mu), m_up_left = link_at(u, up_left, mu),
                 v_left = link_at(u, left, nu), m_left = link_at(u, left, mu),
                 v_down_left = link_at(u, down_left, nu), m_down_left = link_at(u, down_left, mu),
                 v_down = link_at(u, down, nu), m_down = link_at(u, down, mu),
                 v_down_right = link_at(u, down_right, nu);
    matrix s;
    memset(&s, 0, sizeof s);
    add_leaf(n, &s, (step){&m, false}, (step){&v_right, false}, (step){&m_up, true},
             (step){&v, true});
    add_leaf(n, &s, (step){&v, false}, (step){&m_up_left, true}, (step){&v_left, true},
             (step){&m_left, false});
    add_leaf(n, &s, (step){&m_left, true}, (step){&v_down_left, true}, (step){&m_down_left, false},
             (step){&v_down, false});
    add_leaf(n, &s, (step){&v_down, true}, (step){&m_down, false}, (step){&v_down_right, false},
             (step){&m, true});
    return s;
}

/* F = -i (S - S^+)/8. */
static matrix field_strength(const lat_field *u, size_t x, int mu, int nu, bool traceless)
{
    const int n = u->head.nc;
    const matrix s = leaves(u, x, mu, nu);
    matrix f;
    cd trace = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            f.e[i][j] = -I * (s.e[i][j] - conj(s.e[j][i])) / 8;
    for (int i = 0; i < n; i++)
        trace += f.e[i][i] / n;
    for (int i = 0; i < n && traceless; i++)
        f.e[i][i] -= trace;
    return f;
}

/* ---- spins ----------------------------------------------------------------------------------- */

/* sigma_munu of the spins with gamma5 = 1 (half 0) and -1 (half 1), from the upper right corner g
 * of gamma_mu: gamma = (0, g; g^+, 0), so gamma_mu gamma_nu = (g_mu g_nu^+, 0; 0, g_mu^+ g_nu). */
static void sigma(int mu, int nu, int half, cd s[2][2])
{
    static const cd corner[4][2][2] = {
        {{0, I}, {I, 0}}, {{0, -1}, {1, 0}}, {{I, 0}, {0, -I}}, {{1, 0}, {0, 1}}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            cd ab = 0, ba = 0;
            for (int k = 0; k < 2; k++) {
                const cd(*a)[2] = corner[mu], (*b)[2] = corner[nu];
                ab += half ? conj(a[k][i]) * b[k][j] : a[i][k] * conj(b[j][k]);
                ba += half ? conj(b[k][i]) * a[k][j] : b[i][k] * conj(a[j][k]);
            }
            s[i][j] = I / 2 * (ab - ba);
        }
}

static void add_plane(lat_clover *c, int n, int mu, int nu, double factor, const matrix *f)
{
    for (int half = 0; half < 2; half++) {
        cd s[2][2];
        sigma(mu, nu, half, s);
        for (int i = 0; i < 2 * n; i++)
            for (int j = 0; j < 2 * n; j++) {
                const cd v = factor * mul(s[i / n][j / n], f->e[i % n][j % n]);
                c->m[half][i][j][0] += creal(v);
                c->m[half][i][j][1] += cimag(v);
            }
    }
}

void lat_clover_at(const lat_field *u, const lat_field *g, const lat_fermion *f, bool traceless,
                   size_t x, lat_clover *c)
{
    const int n = u->head.nc, t = (int)(lat_field_site(u, x) / lat_slice_sites(&u->head));
    const double diagonal = 1 + 3 * f->nu / f->xi + f->mass
                            + lat_fermion_edge(f, t, u->head.geom.dims[LAT_MAX_DIMS - 1]);
    memset(c, 0, sizeof *c);
    c->rows = 2 * n;
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 2 * n; i++)
            c->m[half][i][i][0] = diagonal;
    for (int mu = 0; mu < 4; mu++)
        for (int nu = mu + 1; nu < 4; nu++) {
            const double csw = nu == 3 ? f->csw_t : f->csw / f->xi;
            if (csw != 0) {
                matrix v = field_strength(u, x, mu, nu, traceless);
                if (g) {
                    const matrix a = matrix_at(g, x), left = times(n, &a, false, &v, false);
                    v = times(n, &left, false, &a, true);
                }
                add_plane(c, n, mu, nu, -csw / 2, &v);
            }
        }
}

/* ---- inverse --------------------------------------------------------------------------------- */

typedef cd square[LAT_CLOVER_ROWS][LAT_CLOVER_ROWS];

static void swap_rows(square a, int i, int j, int n)
{
    for (int k = 0; k < n && i != j; k++) {
        const cd t = a[i][k];
        a[i][k] = a[j][k];
        a[j][k] = t;
    }
}

/* Gauss-Jordan with the largest pivot of each column. *det gets the phase of the determinant, *log
 * the logarithm of its size. False if a pivot vanishes against the largest element. */
static bool invert_hermitian(square a, int n, cd *det, double *log_det)
{
    double largest = 0;
    int row[LAT_CLOVER_ROWS];
    *det = 1;
    *log_det = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            largest = fmax(largest, cabs(a[i][j]));
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (cabs(a[i][k]) > cabs(a[best][k]))
                best = i;
        row[k] = best;
        const double size = cabs(a[best][k]);
        if (!(size > largest * 1e-14) || !isfinite(size))
            return false;
        swap_rows(a, k, best, n);
        const cd pivot = a[k][k];
        *det *= pivot / size * (best == k ? 1 : -1);
        *log_det += log(size);
        a[k][k] = 1;
        for (int j = 0; j < n; j++)
            a[k][j] /= pivot;
        for (int i = 0; i < n; i++) {
            const cd t = a[i][k];
            if (i == k)
                continue;
            a[i][k] = 0;
            for (int j = 0; j < n; j++)
                a[i][j] -= mul(t, a[k][j]);
        }
    }
    for (int k = n - 1; k >= 0; k--) /* columns back */
        for (int i = 0; i < n && row[k] != k; i++) {
            const cd t = a[i][k];
            a[i][k] = a[i][row[k]];
            a[i][row[k]] = t;
        }
    return true;
}

int lat_clover_invert(lat_clover *c, double twist, double *log, int *negative)
{
    const int n = c->rows;
    *log = 0;
    *negative = 0;
    for (int half = 0; half < 2; half++) {
        square a, h = {{0}};
        cd det;
        double size;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                h[i][j] = c->m[half][i][j][0] + I * c->m[half][i][j][1];
        memcpy(a, h, sizeof a);
        for (int i = 0; i < n && twist != 0; i++)
            for (int j = 0; j < n; j++) {
                a[i][j] = i == j ? twist * twist : 0;
                for (int k = 0; k < n; k++)
                    a[i][j] += mul(h[i][k], h[k][j]);
            }
        if (!invert_hermitian(a, n, &det, &size))
            return half + 1;
        *log += twist != 0 ? size / 2 : size;
        *negative += twist == 0 && creal(det) < 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const cd v = (a[i][j] + conj(a[j][i])) / 2;
                c->m[half][i][j][0] = creal(v);
                c->m[half][i][j][1] = cimag(v);
            }
    }
    return 0;
}

void lat_clover_pack(const lat_clover *c, int which, double factor, double *to)
{
    for (int i = 0; i < c->rows; i++)
        *to++ = factor * c->m[which][i][i][0];
    for (int i = 0; i < c->rows; i++)
        for (int j = 0; j < i; j++)
            for (int e = 0; e < 2; e++)
                *to++ = factor * c->m[which][i][j][e];
}
