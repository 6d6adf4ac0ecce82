/* SPDX-License-Identifier: BSD-3-Clause */
/* bicgstabl.c: BiCGstab(l): l steps of BiCG, then the residual is minimised over l powers of A.
 *
 *     for j = 0 .. l-1:
 *         beta = alpha <r0,r_j>/rho, rho = <r0,r_j>, u_i = r_i - beta u_i for i <= j, u_j+1 = A u_j
 *         alpha = rho/<r0,u_j+1>, r_i -= alpha u_i+1 for i <= j, r_j+1 = A r_j, x += alpha u_0
 *     g minimises |r_0 - sum g_i r_i|, i = 1 .. l:
 *     x += sum g_i r_i-1, r_0 -= sum g_i r_i, u_0 -= sum g_i u_i, rho = - g_l rho
 *
 * Where a scalar that is divided by vanishes to rounding, a column does the minimisation alone and
 * starts anew with its residual as r0. */
#include <math.h>
#include <string.h>
#include "krylov_internal.h"

enum { L = 4, RESTARTS = 20 };

typedef struct state {
    lat_dfield *r0, *r[L + 1], *u[L + 1]; /* r[0] is the run's r */
    lat_numbers rho, alpha;
    double shadow[LAT_VECTOR_COLUMNS]; /* |r0| */
    bool anew[LAT_VECTOR_COLUMNS];
} state;

/* The column starts anew: u_0 = 0 follows from beta = 0. */
static int start(lat_run *w, state *b, const lat_part *c)
{
    LAT_FOR_COLUMNS (k, c) {
        b->shadow[k] = w->norm[k];
        b->rho[k] = (lat_scalar){1, 0};
        b->alpha[k] = (lat_scalar){0, 0};
        b->anew[k] = false;
    }
    return c->columns ? LAT_OPS(w->s)->copy(w->s->space, c, w->r, b->r0) : 0;
}

/* u_i = r_i - beta u_i, i <= j. */
static int directions(lat_run *w, state *b, int j)
{
    lat_numbers dot, minus;
    lat_scalar *const to = dot;
    const lat_dfield *const r0 = b->r0;
    if (LAT_OPS(w->s)->dots(w->s->space, &w->active, 1, &r0, b->r[j], &to, NULL))
        return -1;
    LAT_FOR_COLUMNS (k, &w->active) {
        const double complex rho = lat_z(dot[k]), before = lat_z(b->rho[k]);
        if (!(cabs(rho) > w->s->epsilon * b->shadow[k] * w->norm[k]) || !(cabs(before) > 0))
            b->anew[k] = true;
        minus[k] = lat_scalar_of(b->anew[k] ? 0 : -lat_z(b->alpha[k]) * rho / before);
        b->rho[k] = dot[k];
    }
    for (int i = 0; i <= j; i++)
        if (LAT_OPS(w->s)->axpby(w->s->space, &w->active, NULL, b->r[i], minus, b->u[i], NULL))
            return -1;
    return 0;
}

/* One step of BiCG. */
static int step(lat_run *w, state *b, int j)
{
    const lat_system *s = w->s;
    double norm[LAT_VECTOR_COLUMNS];
    lat_numbers dot, minus;
    const lat_apply_end end = {.norm = norm, .with = b->r0, .dot = dot};
    if (directions(w, b, j) || s->apply(s->with, false, &w->active, b->u[j + 1], b->u[j], &end))
        return -1;
    LAT_FOR_COLUMNS (k, &w->active) {
        const double complex d = lat_z(dot[k]);
        if (!(cabs(d) > s->epsilon * b->shadow[k] * sqrt(norm[k])))
            b->anew[k] = true;
        b->alpha[k] = lat_scalar_of(b->anew[k] ? 0 : lat_z(b->rho[k]) / d);
        minus[k] = lat_scalar_of(-lat_z(b->alpha[k]));
    }
    for (int i = 0; i <= j; i++)
        if (lat_add(s, &w->active, minus, b->u[i + 1], b->r[i], NULL))
            return -1;
    return s->apply(s->with, false, &w->active, b->r[j + 1], b->r[j], NULL)
           || lat_add(s, &w->active, b->alpha, b->u[0], w->x, NULL);
}

/* Solves a g = h by elimination with pivoting; where a pivot vanishes that g is 0. */
static void eliminate(double complex a[L][L], double complex h[L], double complex g[L])
{
    int row[L] = {0, 1, 2, 3};
    double largest = 0;
    for (int i = 0; i < L; i++)
        largest = fmax(largest, cabs(a[i][i]));
    for (int i = 0; i < L; i++) {
        for (int j = i + 1; j < L; j++)
            if (cabs(a[row[j]][i]) > cabs(a[row[i]][i])) {
                const int other = row[i];
                row[i] = row[j];
                row[j] = other;
            }
        for (int j = i + 1; j < L && cabs(a[row[i]][i]) > 0; j++) {
            const double complex f = a[row[j]][i] / a[row[i]][i];
            for (int k = i; k < L; k++)
                a[row[j]][k] -= f * a[row[i]][k];
            h[row[j]] -= f * h[row[i]];
        }
    }
    for (int i = L - 1; i >= 0; i--) {
        double complex sum = h[row[i]];
        for (int k = i + 1; k < L; k++)
            sum -= a[row[i]][k] * g[k];
        g[i] = cabs(a[row[i]][i]) > 1e-30 * largest ? sum / a[row[i]][i] : 0;
    }
}

/* gram[i][j] = <r_j,r_i>, j <= i. */
static int products(lat_run *w, const state *b, lat_numbers gram[L + 1][L + 1])
{
    for (int i = 1; i <= L; i++) {
        const lat_dfield *left[L + 1];
        lat_scalar *to[L + 1];
        for (int j = 0; j < i; j++) {
            left[j] = b->r[j];
            to[j] = gram[i][j];
        }
        double norm[LAT_VECTOR_COLUMNS];
        if (LAT_OPS(w->s)->dots(w->s->space, &w->active, i, left, b->r[i], to, norm))
            return -1;
        for (int a = 0; a < w->active.columns; a++)
            gram[i][i][w->list[a]] = (lat_scalar){norm[w->list[a]], 0};
    }
    return 0;
}

/* g of each column; minus = -g. */
static int minimise(lat_run *w, state *b, lat_numbers g[L], lat_numbers minus[L])
{
    lat_numbers gram[L + 1][L + 1];
    if (products(w, b, gram))
        return -1;
    for (int c = 0; c < w->active.columns; c++) {
        const int k = w->list[c];
        double complex a[L][L], h[L], x[L];
        for (int i = 0; i < L; i++) {
            h[i] = conj(lat_z(gram[i + 1][0][k]));
            for (int j = 0; j <= i; j++) {
                a[j][i] = lat_z(gram[i + 1][j + 1][k]);
                a[i][j] = conj(a[j][i]);
            }
        }
        eliminate(a, h, x);
        for (int i = 0; i < L; i++) {
            g[i][k] = lat_scalar_of(x[i]);
            minus[i][k] = lat_scalar_of(-x[i]);
        }
        b->rho[k] = lat_scalar_of(-x[L - 1] * lat_z(b->rho[k]));
        if (!(cabs(x[L - 1]) > 0))
            b->anew[k] = true;
    }
    return 0;
}

/* Columns that broke down begin again. */
static int restart(lat_run *w, state *b)
{
    int list[LAT_VECTOR_COLUMNS];
    lat_part c = {w->s->parity, 0, list};
    LAT_FOR_COLUMNS (k, &w->active) {
        if (!b->anew[k])
            continue;
        if (++w->restarts[k] > RESTARTS)
            lat_run_break(w, k);
        list[c.columns++] = k;
    }
    return start(w, b, &c);
}

static int iterate(lat_run *w, state *b)
{
    double norm[LAT_VECTOR_COLUMNS];
    lat_numbers g[L], minus[L];
    while (w->active.columns > 0) {
        for (int j = 0; j < L; j++)
            if (step(w, b, j))
                return -1;
        if (minimise(w, b, g, minus) || lat_add_all(w->s, &w->active, L, g, b->r, w->x, NULL)
            || lat_add_all(w->s, &w->active, L, minus, b->r + 1, w->r, norm)
            || lat_add_all(w->s, &w->active, L, minus, b->u + 1, b->u[0], NULL)
            || lat_run_check(w, L, norm) || restart(w, b))
            return -1;
    }
    return 0;
}

int lat_bicgstabl(lat_run *w)
{
    state b;
    lat_dfield *v[2 * L + 2];
    int rc = lat_system_vectors(w->s, &w->active, 2 * L + 2, v, "BiCGstab(l)");
    memset(b.anew, 0, sizeof b.anew);
    b.r0 = v[0];
    b.r[0] = w->r;
    b.u[0] = v[1];
    for (int i = 1; i <= L; i++) {
        b.r[i] = v[2 * i];
        b.u[i] = v[2 * i + 1];
    }
    rc = rc || start(w, &b, &w->active) || iterate(w, &b);
    lat_system_release(w->s, 2 * L + 2, v);
    return rc;
}
