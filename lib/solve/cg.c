/* SPDX-License-Identifier: BSD-3-Clause */
/* cg.c: conjugate gradients of the normal equations A^+ A x = A^+ b, which carry s = A^+ (b - A x):
 *
 *     q = A p, alpha = |s|^2/|q|^2, s -= alpha A^+ q, beta = |s|^2/|s of before|^2,
 *     x += alpha p, p = s + beta p
 *
 * |r|^2, r = b - A x, falls by alpha |s|^2 in each iteration, and is not believed to be below
 * rounding; r itself is made in reliable updates alone. To carry r and make s = A^+ r of it takes a
 * pass more, and fails in 16 bits: near critical kappa |s| is far below |A| |r|, and the rounding
 * of r buries it. After an update s is that of the new r, and p is made orthogonal to it but for s
 * itself, as it would be. */
#include <math.h>
#include <string.h>
#include "krylov_internal.h"

typedef struct state {
    lat_dfield *p, *s, *q;
    double gamma[LAT_SPINOR_COLUMNS];  /* |s|^2 */
    double square[LAT_SPINOR_COLUMNS]; /* |r|^2 */
    double alpha[LAT_SPINOR_COLUMNS], minus[LAT_SPINOR_COLUMNS], beta[LAT_SPINOR_COLUMNS];
} state;

/* s = A^+ r of these columns. */
static int gradient(lat_run *w, state *g, const lat_spinor_part *c)
{
    const lat_dirac_end end = {.norm = g->gamma};
    for (int i = 0; i < c->columns; i++)
        g->square[c->column[i]] = w->norm[c->column[i]] * w->norm[c->column[i]];
    return w->s->apply(w->s->with, true, c, g->s, w->r, &end);
}

/* For columns with a new r: p += (1 - <s, p>/|s|^2) s. */
static int renew(lat_run *w, state *g)
{
    int list[LAT_SPINOR_COLUMNS];
    lat_spinor_part c = {w->s->parity, 0, list};
    lat_scalars dot, plus;
    lat_scalar *const to = dot;
    const lat_dfield *const s = g->s;
    for (int i = 0; i < w->active.columns; i++)
        if (w->fresh[w->list[i]])
            list[c.columns++] = w->list[i];
    if (c.columns == 0)
        return 0;
    if (gradient(w, g, &c) || LAT_OPS(w->s)->dots(w->s->space, &c, 1, &s, g->p, &to, NULL))
        return -1;
    for (int i = 0; i < c.columns; i++) {
        const int k = list[i];
        plus[k] = lat_scalar_of(g->gamma[k] > 0 ? 1 - lat_z(dot[k]) / g->gamma[k] : 0);
    }
    return lat_add(w->s, &c, plus, g->s, g->p, NULL);
}

/* 0 where A p is 0, which ends in stagnation. */
static double step_length(double gamma, double q) { return q > 0 ? gamma / q : 0; }

/* After an iteration: |r|^2, gamma. */
static void account(const lat_run *w, state *g, int k, double next)
{
    const double least = w->s->epsilon * w->last[k];
    g->square[k] = fmax(g->square[k] - g->alpha[k] * g->gamma[k], least * least);
    g->beta[k] = g->gamma[k] > 0 ? next / g->gamma[k] : 0;
    g->gamma[k] = next;
}

/* A device that does not wait: the host looks at the numbers of an iteration while the next one
 * runs, so that updates, and columns that leave, are an iteration late, each by its own numbers.
 * The iteration that runs then is not accounted for: after the update r is known. */
static int iterate_ahead(lat_run *w, state *g)
{
    const lat_system *s = w->s;
    double q[LAT_SPINOR_COLUMNS], next[LAT_SPINOR_COLUMNS];
    int before[LAT_SPINOR_COLUMNS]; /* columns of the iteration that has not been looked at */
    bool renewed[LAT_SPINOR_COLUMNS] = {false}; /* since it was begun */
    lat_spinor_part pending = {s->parity, 0, before};
    while (w->active.columns > 0) {
        if (s->cg_iterate(s->with, &w->active, w->x, g->p, g->s, g->q))
            return -1;
        if (pending.columns && s->cg_numbers(s->with, &pending, 1, q, next))
            return -1;
        const bool first = pending.columns == 0;
        for (int i = 0; i < w->active.columns && !first; i++) {
            const int k = w->list[i];
            if (!renewed[k]) {
                g->alpha[k] = step_length(g->gamma[k], q[k]);
                account(w, g, k, next[k]);
            }
        }
        pending.columns = w->active.columns;
        memcpy(before, w->list, sizeof(int) * (size_t)pending.columns);
        if (first)
            continue;
        if (lat_run_check(w, 1, g->square) || renew(w, g))
            return -1;
        int list[LAT_SPINOR_COLUMNS];
        lat_spinor_part fresh = {s->parity, 0, list};
        for (int i = 0; i < w->active.columns; i++) {
            const int k = w->list[i];
            if ((renewed[k] = w->fresh[k]))
                list[fresh.columns++] = k;
        }
        if (fresh.columns && s->cg_begin(s->with, &fresh, g->gamma))
            return -1;
    }
    return 0;
}

static int iterate(lat_run *w, state *g)
{
    const lat_system *s = w->s;
    double q[LAT_SPINOR_COLUMNS], next[LAT_SPINOR_COLUMNS];
    const lat_dirac_end of_q = {.norm = q}, of_s = {.add = g->minus, .norm = next};
    if (gradient(w, g, &w->active) || LAT_OPS(s)->copy(s->space, &w->active, g->s, g->p))
        return -1;
    if (s->cg_begin)
        return s->cg_begin(s->with, &w->active, g->gamma) ? -1 : iterate_ahead(w, g);
    while (w->active.columns > 0) {
        if (s->apply(s->with, false, &w->active, g->q, g->p, &of_q))
            return -1;
        for (int i = 0; i < w->active.columns; i++) {
            const int k = w->list[i];
            g->alpha[k] = step_length(g->gamma[k], q[k]);
            g->minus[k] = -g->alpha[k];
        }
        if (s->apply(s->with, true, &w->active, g->s, g->q, &of_s))
            return -1;
        for (int i = 0; i < w->active.columns; i++)
            account(w, g, w->list[i], next[w->list[i]]);
        if (LAT_OPS(s)->cg(s->space, &w->active, g->alpha, g->beta, NULL, w->x, g->p, g->s)
            || lat_run_check(w, 1, g->square) || renew(w, g))
            return -1;
    }
    return 0;
}

int lat_cg(lat_run *w)
{
    lat_dfield *v[3];
    int rc = lat_run_vectors(w, 3, v, "conjugate gradients");
    state g = {.p = v[0], .s = v[1], .q = v[2]};
    rc = rc || iterate(w, &g);
    lat_run_release(w, 3, v);
    return rc;
}
