/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle.c: the cycle on the finest level, and its smoother. */
#include <complex.h>
#include <math.h>
#include "base/error.h"
#include "multigrid/multigrid_internal.h"

enum { FITTED = 2 }; /* random columns of the fit */

static int apply(lat_multigrid *m, const lat_part *p, lat_dfield *out, lat_dfield *in)
{
    m->applied += p->columns;
    return m->system.apply(m->system.with, false, p, out, in, NULL);
}

/* The coarse solution, m->correction, for m->z: all batches, or this rank's one of two. */
static int solve_coarse(lat_multigrid *m)
{
    const lat_coarse *c = &m->coarse->coarse;
    if (!c->divided || c->active < 2)
        return lat_level_solve(m->coarse, m->correction, m->z);
    const size_t at = (size_t)(c->comm->rank % 2) * lat_coarse_numbers(c);
    lat_level_batches(m->coarse, 1);
    const int rc = lat_level_solve(m->coarse, m->correction + at, m->z + at)
                   || m->ops->swap(c, m->correction);
    lat_level_batches(m->coarse, 2);
    return rc;
}

/* e = P (coarse solution for P^+ r). */
static int correct(lat_multigrid *m, const lat_part *p, lat_dfield *e, const lat_dfield *r)
{
    const int most = m->coarse->coarse.batches * LAT_EIGHT;
    int rc = 0;
    for (int k = 0; k < p->columns && !rc; k += most) {
        const int columns = p->columns - k < most ? p->columns - k : most;
        lat_level_batches(m->coarse, (columns + LAT_EIGHT - 1) / LAT_EIGHT);
        rc = m->ops->fine_restrict(&m->fine, false, columns, p->column + k, r, m->z)
             || solve_coarse(m)
             || m->ops->fine_prolong(&m->fine, false, columns, p->column + k, e, m->correction);
    }
    lat_level_batches(m->coarse, 1);
    return rc ? -1 : 0;
}

/* The same number of all columns. */
static const lat_scalar *all_columns(double a, lat_scalar to[LAT_VECTOR_COLUMNS])
{
    for (int k = 0; k < LAT_VECTOR_COLUMNS; k++)
        to[k] = (lat_scalar){a, 0};
    return to;
}

/* out -= S in. */
static int subtract_applied(const lat_system *s, const lat_part *p, lat_dfield *out, lat_dfield *in)
{
    double minus[LAT_VECTOR_COLUMNS];
    const lat_apply_end end = {.add = minus};
    for (int k = 0; k < LAT_VECTOR_COLUMNS; k++)
        minus[k] = -1;
    return s->apply(s->with, false, p, out, in, &end);
}

/* out = keep q + by S in; in may be q. */
static int step(const lat_system *s, const lat_part *p, double keep, const lat_dfield *q, double by,
                lat_dfield *out, lat_dfield *in)
{
    double numbers[2][LAT_VECTOR_COLUMNS];
    const lat_apply_end end = {.add = numbers[0], .onto = q, .keep = numbers[1]};
    for (int k = 0; k < LAT_VECTOR_COLUMNS; k++) {
        numbers[0][k] = by;
        numbers[1][k] = keep;
    }
    return s->apply(s->with, false, p, out, in, &end);
}

/* q <- q - S e, then e += p(S) q, with q, by Horner's rule: y <- c_i q + S y. */
static int smooth(const lat_smoothing *v, const lat_polynomial *c, const lat_part *p, lat_dfield *e)
{
    lat_space *space = v->system->space;
    const lat_vector_ops *ops = space->ops;
    lat_scalar number[2][LAT_VECTOR_COLUMNS];
    const int last = c->degree - 1;
    if (subtract_applied(v->system, p, v->q, e)
        || (last == 0
            && ops->axpby(space, p, all_columns(c->by[0], number[0]), v->q,
                          all_columns(0, number[1]), v->y[0], NULL)))
        return -1;
    for (int i = last - 1; i >= 0; i--) {
        const bool first = i == last - 1;
        if (step(v->system, p, c->by[i], v->q, first ? c->by[last] : 1, v->y[i % 2],
                 first ? v->q : v->y[(i + 1) % 2]))
            return -1;
    }
    return subtract_applied(v->system, p, v->q, v->y[0])
           || ops->axpby(space, p, NULL, v->y[0], NULL, e, NULL);
}

/* e += p(S) (r - S e) by v, which may have fewer bits, and s = S e up to these. */
static int smooth_in(lat_multigrid *m, const lat_smoothing *v, const lat_part *p, lat_dfield *e,
                     lat_dfield *s, const lat_dfield *r)
{
    lat_space *low = v->system->space, *high = m->system.space;
    const lat_vector_ops *ops = high->ops;
    lat_scalar number[LAT_VECTOR_COLUMNS];
    lat_dfield *const own = v->e ? v->e : e;
    m->applied += p->columns * (m->now->degree + 1);
    return ops->convert(low, p, high, r, v->q) || (v->e && ops->convert(low, p, high, e, own))
           || smooth(v, m->now, p, own) || (v->e && ops->convert(high, p, low, own, e))
           || ops->convert(high, p, low, v->q, s)
           || ops->axpby(high, p, NULL, r, all_columns(-1, number), s, NULL);
}

/* Has the space of fewer bits all columns of the part? (Setups have more than a solve may need.) */
static bool fits(const lat_smoothing *v, const lat_part *p)
{
    return v->system && p->columns && p->column[p->columns - 1] < v->system->space->columns;
}

int lat_multigrid_cycle(void *with, const lat_part *p, lat_dfield *e, lat_dfield *s, lat_dfield *r)
{
    lat_multigrid *m = with;
    if (correct(m, p, e, r))
        return -1;
    if (fits(&m->half, p))
        return lat_rc(smooth_in(m, &m->half, p, e, s, r));
    return lat_rc(lat_multigrid_smoothing_open(&m->single, &m->system, false)
                  || smooth_in(m, &m->single, p, e, s, r));
}

int lat_multigrid_smoothing_open(lat_smoothing *v, const lat_system *s, bool rounded)
{
    lat_dfield **const field[] = {&v->q, &v->y[0], &v->y[1], &v->e};
    v->system = s;
    for (int i = 0; i < (rounded ? 4 : 3); i++)
        if (!*field[i] && !(*field[i] = lat_vector_new_of(s->space, LAT_ODD, "the smoother")))
            return -1;
    return 0;
}

void lat_multigrid_smoothing_close(lat_smoothing *v)
{
    lat_dfield *const field[] = {v->q, v->y[0], v->y[1], v->e};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        lat_dfield_free(field[i]);
    *v = (lat_smoothing){.system = NULL};
}

/* ---- coefficients of smoothers --------------------------------------------------------------- */

enum { MOST = LAT_MULTIGRID_SEARCH };

/* Powers of S are rounded to 2^-24, some times over. One whose part apart from those before it is,
 * squared, less than this of the whole would get coefficients of noise. (By 1e-9 and less, with S
 * that four powers nearly solve, they were in the thousands.) */
#define APART 1e-8

/* Solves g c = b, b the last column, by elimination; g is Hermitian and positive. From the first
 * power that is noise on c is 0. */
static bool solve_small(int n, double complex g[MOST][MOST + 1], double complex *c)
{
    double whole[MOST];
    int i;
    for (i = 0; i < n; i++)
        whole[i] = creal(g[i][i]);
    for (i = 0; i < n && creal(g[i][i]) > APART * whole[i]; i++)
        for (int k = i + 1; k < n; k++) {
            const double complex f = g[k][i] / g[i][i];
            for (int j = i; j <= n; j++)
                g[k][j] -= f * g[i][j];
        }
    for (int k = i; k < n; k++)
        c[k] = 0;
    for (int k = i - 1; k >= 0; k--) {
        c[k] = g[k][n];
        for (int j = k + 1; j < i; j++)
            c[k] -= g[k][j] * c[j];
        c[k] /= g[k][k];
    }
    return i > 0;
}

/* The size of S, by which powers are scaled in small systems. */
static double scale_of(const lat_multigrid *m)
{
    const lat_fermion *f = &m->d->fermion;
    return 1 + 3 * f->nu / f->xi + f->mass;
}

/* dot[i][j] = <S^(i+1) q, S^(j+1) q>, i, j < n, and dot[i][MOST] = <S^(i+1) q, q>, from power[i] =
 * S^i q. */
static int gram(const lat_multigrid *m, const lat_part *p, int n, lat_dfield *const *power,
                lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS])
{
    for (int j = 0; j <= n; j++) {
        lat_scalar *to[MOST];
        const lat_dfield *of[MOST];
        for (int i = 0; i < n; i++) {
            of[i] = power[i + 1];
            to[i] = dot[i][j < n ? j : MOST];
        }
        if (m->system.space->ops->dots(m->system.space, p, n, of, power[j < n ? j + 1 : 0], to,
                                       NULL))
            return -1;
    }
    return 0;
}

/* Column k: c[i] of S^i, i < n, for which |q - sum_i c_i S^(i+1) q| is least. */
static bool coefficients(int n, double scale, lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS],
                         int k, double complex *c)
{
    double complex g[MOST][MOST + 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= n; j++) {
            const lat_scalar z = dot[i][j < n ? j : MOST][k];
            g[i][j] = (z.re + z.im * I) * pow(scale, -(i + 1) - (j < n ? j + 1 : 0));
        }
    if (!solve_small(n, g, c))
        return false;
    for (int i = 0; i < n; i++)
        c[i] *= pow(scale, -(i + 1));
    return true;
}

/* Columns of m->x, which are r: power[0] = r - S e after a coarse correction e, and power[i] =
 * S^i power[0]. */
static int powers(lat_multigrid *m, const lat_part *p, lat_dfield *const *power)
{
    const lat_vector_ops *ops = m->system.space->ops;
    lat_dfield *const e = power[1];
    if (correct(m, p, e, m->x) || ops->copy(m->system.space, p, m->x, power[0])
        || subtract_applied(&m->system, p, power[0], e))
        return -1;
    m->applied += p->columns;
    for (int i = 0; i < LAT_MULTIGRID_DEGREE; i++)
        if (apply(m, p, power[i + 1], power[i]))
            return -1;
    return 0;
}

/* The mean of the columns' coefficients. */
static void set_smoother(const lat_multigrid *m, int degree, int columns,
                         lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS], lat_polynomial *to)
{
    int fitted = 0;
    *to = (lat_polynomial){.degree = degree};
    for (int k = 0; k < columns; k++) {
        double complex c[MOST];
        if (!coefficients(degree, scale_of(m), dot, k, c))
            continue;
        for (int i = 0; i < degree; i++)
            to->by[i] += creal(c[i]);
        fitted++;
    }
    for (int i = 0; i < degree && fitted; i++)
        to->by[i] /= fitted;
    while (to->degree > 1 && to->by[to->degree - 1] == 0)
        to->degree--;
}

static int fit(lat_multigrid *m, const lat_part *p, lat_dfield *const *power)
{
    lat_scalar dot[MOST][MOST + 1][LAT_VECTOR_COLUMNS];
    if (m->ops->fine_random(&m->fine, FITTED, UINT64_MAX, m->x) || powers(m, p, power)
        || gram(m, p, LAT_MULTIGRID_DEGREE, power, dot))
        return -1;
    set_smoother(m, LAT_MULTIGRID_DEGREE, FITTED, dot, &m->smoother);
    set_smoother(m, LAT_MULTIGRID_SETUP_DEGREE, FITTED, dot, &m->rough);
    m->now = &m->smoother;
    return 0;
}

int lat_multigrid_fit(lat_multigrid *m)
{
    enum { COUNT = LAT_MULTIGRID_DEGREE + 1 };
    const lat_part p = {LAT_ODD, FITTED, lat_column_numbers};
    lat_dfield *power[COUNT];
    const int rc = lat_rc(lat_system_vectors(&m->system, &p, COUNT, power, "powers of S")
                          || fit(m, &p, power));
    lat_system_release(&m->system, COUNT, power);
    return rc;
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
