/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle.c: the cycle on the finest level, and its smoother. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "multigrid/multigrid_internal.h"

enum { DEGREE = LAT_MULTIGRID_DEGREE, FITTED = 2 }; /* random columns of the fit */

static int apply(lat_multigrid *m, const lat_part *p, lat_dfield *out, lat_dfield *in)
{
    m->applied += p->columns;
    return m->system.apply(m->system.with, false, p, out, in, NULL);
}

/* Columns first .. of a part: at most eight. */
static int some_columns(const lat_part *p, int first)
{
    return p->columns - first < LAT_EIGHT ? p->columns - first : LAT_EIGHT;
}

/* e = P (coarse solution for P^+ r), of columns first .. of the part, in so many batches. */
static int correct_some(lat_multigrid *m, const lat_part *p, int first, int batches, lat_dfield *e,
                        const lat_dfield *r)
{
    const size_t batch = lat_coarse_numbers(&m->coarse->coarse);
    lat_level_batches(m->coarse, batches);
    int rc = 0;
    for (int b = 0, k = first; b < batches && !rc; b++, k += LAT_EIGHT)
        rc = m->ops->fine_restrict(&m->fine, false, some_columns(p, k), p->column + k, r,
                                   m->z + (size_t)b * batch);
    rc = rc || lat_level_solve(m->coarse, m->correction, m->z);
    for (int b = 0, k = first; b < batches && !rc; b++, k += LAT_EIGHT)
        rc = m->ops->fine_prolong(&m->fine, false, some_columns(p, k), p->column + k, e,
                                  m->correction + (size_t)b * batch);
    lat_level_batches(m->coarse, 1);
    return rc ? -1 : 0;
}

static int correct(lat_multigrid *m, const lat_part *p, lat_dfield *e, const lat_dfield *r)
{
    const int most = m->coarse->coarse.batches * LAT_EIGHT;
    for (int k = 0; k < p->columns; k += most) {
        const int columns = p->columns - k < most ? p->columns - k : most;
        if (correct_some(m, p, k, (columns + LAT_EIGHT - 1) / LAT_EIGHT, e, r))
            return -1;
    }
    return 0;
}

/* The same number of all columns. */
static const lat_scalar *all_columns(double a, lat_scalar to[LAT_VECTOR_COLUMNS])
{
    for (int k = 0; k < LAT_VECTOR_COLUMNS; k++)
        to[k] = (lat_scalar){a, 0};
    return to;
}

/* power[0] = r - S e, s = S e, power[i] = S^i power[0]. */
static int powers(lat_multigrid *m, const lat_part *p, lat_dfield *e, lat_dfield *s,
                  const lat_dfield *r)
{
    const lat_vector_ops *ops = m->system.space->ops;
    lat_scalar minus[LAT_VECTOR_COLUMNS];
    if (apply(m, p, s, e) || ops->copy(m->system.space, p, r, m->power[0])
        || ops->axpby(m->system.space, p, all_columns(-1, minus), s, NULL, m->power[0], NULL))
        return -1;
    for (int i = 0; i < DEGREE; i++)
        if (apply(m, p, m->power[i + 1], m->power[i]))
            return -1;
    return 0;
}

int lat_multigrid_cycle(void *with, const lat_part *p, lat_dfield *e, lat_dfield *s, lat_dfield *r)
{
    lat_multigrid *m = with;
    const lat_vector_ops *ops = m->system.space->ops;
    lat_scalar number[DEGREE][LAT_VECTOR_COLUMNS];
    const lat_scalar *by[DEGREE];
    const lat_dfield *low[DEGREE], *high[DEGREE];
    for (int i = 0; i < DEGREE; i++) {
        by[i] = all_columns(m->smoother[i], number[i]);
        low[i] = m->power[i];
        high[i] = m->power[i + 1];
    }
    return correct(m, p, e, r) || powers(m, p, e, s, r)
                   || ops->axpys(m->system.space, p, DEGREE, by, low, e, NULL)
                   || ops->axpys(m->system.space, p, DEGREE, by, high, s, NULL)
               ? -1
               : 0;
}

/* ---- the smoother's coefficients ------------------------------------------------------------- */

enum { MOST = LAT_MULTIGRID_SEARCH };

/* Solves g c = b, b the last column, by elimination; g is Hermitian and positive. Directions that
 * rounding has left nothing of get nothing. */
static bool solve_small(int n, double complex g[MOST][MOST + 1], double complex *c)
{
    for (int i = 0; i < n; i++) {
        if (!(creal(g[i][i]) > 0))
            return false;
        for (int k = i + 1; k < n; k++) {
            const double complex f = g[k][i] / g[i][i];
            for (int j = i; j <= n; j++)
                g[k][j] -= f * g[i][j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        c[i] = g[i][n];
        for (int j = i + 1; j < n; j++)
            c[i] -= g[i][j] * c[j];
        c[i] /= g[i][i];
    }
    return true;
}

/* The size of S, by which powers are scaled in small systems. */
static double scale_of(const lat_multigrid *m)
{
    const lat_fermion *f = &m->d->fermion;
    return 1 + 3 * f->nu / f->xi + f->mass;
}

/* dot[i][j] = <S^(i+1) q, S^(j+1) q>, and <S^(i+1) q, q> for j = n, from power[i] = S^i q. */
static int gram(const lat_multigrid *m, const lat_part *p, int n, lat_dfield *const *power,
                lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS])
{
    for (int j = 0; j <= n; j++) {
        lat_scalar *to[MOST];
        const lat_dfield *of[MOST];
        for (int i = 0; i < n; i++) {
            of[i] = power[i + 1];
            to[i] = dot[i][j];
        }
        if (m->system.space->ops->dots(m->system.space, p, n, of, power[j < n ? j + 1 : 0], to,
                                       NULL))
            return -1;
    }
    return 0;
}

/* Column k: c[i] of S^i, for which |q - sum_i c_i S^(i+1) q| is least. */
static bool coefficients(int n, double scale, lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS],
                         int k, double complex *c)
{
    double complex g[MOST][MOST + 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++)
            g[i][j] = (dot[i][j][k].re + dot[i][j][k].im * I)
                      * pow(scale, -(i + 1) - (j < n ? j + 1 : 0));
    if (!solve_small(n, g, c))
        return false;
    for (int i = 0; i < n; i++)
        c[i] *= pow(scale, -(i + 1));
    return true;
}

int lat_multigrid_fit(lat_multigrid *m)
{
    const lat_part p = {LAT_ODD, FITTED, lat_column_numbers};
    lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS];
    double sum[DEGREE] = {0};
    int fitted = 0;
    if (m->ops->fine_random(&m->fine, FITTED, UINT64_MAX, m->x[0])
        || correct(m, &p, m->x[1], m->x[0]) || powers(m, &p, m->x[1], m->power[DEGREE], m->x[0])
        || gram(m, &p, DEGREE, m->power, dot))
        return -1;
    for (int k = 0; k < p.columns; k++) {
        double complex c[MOST];
        if (!coefficients(DEGREE, scale_of(m), dot, k, c))
            continue;
        for (int i = 0; i < DEGREE; i++)
            sum[i] += creal(c[i]);
        fitted++;
    }
    for (int i = 0; i < DEGREE; i++)
        m->smoother[i] = fitted ? sum[i] / fitted : 0;
    return 0;
}

int lat_multigrid_least(lat_multigrid *m, lat_dfield *x, const lat_dfield *b,
                        lat_dfield *const power[MOST + 1])
{
    lat_space *space = m->system.space;
    const lat_part p = {LAT_ODD, LAT_MULTIGRID_COLUMNS, lat_column_numbers};
    lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS], number[MOST][LAT_VECTOR_COLUMNS] = {{{0}}};
    const lat_scalar *by[MOST];
    const lat_dfield *of[MOST];
    if (space->ops->copy(space, &p, b, power[0]))
        return -1;
    for (int i = 0; i < MOST; i++)
        if (apply(m, &p, power[i + 1], power[i]))
            return -1;
    if (gram(m, &p, MOST, power, dot))
        return -1;
    for (int k = 0; k < p.columns; k++) {
        double complex c[MOST];
        if (coefficients(MOST, scale_of(m), dot, k, c))
            for (int i = 0; i < MOST; i++)
                number[i][k] = (lat_scalar){creal(c[i]), cimag(c[i])};
    }
    for (int i = 0; i < MOST; i++) {
        by[i] = number[i];
        of[i] = power[i];
    }
    return space->ops->zero(space, &p, x) || space->ops->axpys(space, &p, MOST, by, of, x, NULL)
               ? -1
               : 0;
}
