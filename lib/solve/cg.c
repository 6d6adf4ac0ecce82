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
#include "base/median.h"
#include "krylov_internal.h"

/* Does a column promise an end? It is judged after a quarter and after half of the iterations that
 * it may have, but not before 5000, by the second half of them: by medians of log |r|, of the last
 * hundred. |r| stays where it is while CG finds a small singular value s1, and falls then. To stay
 * for as long as that, s1 has to be a thousandth of the next one, which is small itself: below what
 * single precision resolves. So a column is given up if at its rate |r| takes a hundred times the
 * iterations that are left. */
enum { SOME = 100, FIRST = 2500, PARTS = 8 };
#define MORE 100

typedef struct watch {
    double r[LAT_VECTOR_COLUMNS][SOME]; /* log |r| */
    double old[LAT_VECTOR_COLUMNS];     /* its median then */
    long begin[LAT_VECTOR_COLUMNS];     /* iterations before cg */
} watch;

typedef struct state {
    lat_dfield *p, *s, *q;
    lat_scalars *by;                   /* gamma, alpha, beta, where the device computes */
    double gamma[LAT_VECTOR_COLUMNS];  /* |s|^2, as the host knows it */
    double square[LAT_VECTOR_COLUMNS]; /* |r|^2 */
    watch seen;
} state;

/* s = A^+ r of these columns, and gamma. */
static int gradient(lat_run *w, state *g, const lat_part *c)
{
    const lat_apply_end end = {.norm = g->gamma};
    lat_numbers gamma;
    if (w->s->apply(w->s->with, true, c, g->s, w->r, &end))
        return -1;
    LAT_FOR_COLUMNS (k, c) {
        g->square[k] = w->norm[k] * w->norm[k];
        gamma[k] = lat_scalar_real(g->gamma[k]);
    }
    return LAT_OPS(w->s)->scalars->set(g->by, c, LAT_ROW_GAMMA, gamma);
}

/* For columns with a new r: p += (1 - <s, p>/|s|^2) s. */
static int renew(lat_run *w, state *g)
{
    int list[LAT_VECTOR_COLUMNS];
    const lat_part c = lat_run_fresh(w, list);
    lat_numbers dot, plus;
    lat_scalar *const to = dot;
    const lat_dfield *const s = g->s;
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

/* After an iteration: |r|^2, gamma. */
static void account(const lat_run *w, state *g, int k, double q, double next)
{
    const double least = w->s->epsilon * w->last[k];
    g->square[k] = fmax(g->square[k] - lat_cg_alpha(g->gamma[k], q) * g->gamma[k], least * least);
    g->gamma[k] = next;
}

/* The iteration of column k that is being accounted for. */
static void look(lat_run *w, state *g, int k)
{
    watch *const v = &g->seen;
    const long all = w->p->max_iterations - v->begin[k],
               first = all / PARTS > FIRST ? all / PARTS : FIRST,
               now = w->report[k].iterations + 1 - v->begin[k];
    v->r[k][now % SOME] = .5 * log(g->square[k]);
    if (now != first && now != 2 * first && now != 4 * first)
        return;
    const double r = lat_median(SOME, v->r[k]), fell = v->old[k] - r,
                 left = r - log(w->p->target[k]);
    if (now > first && left * (double)(now / 2) > MORE * (double)(all - now) * fell)
        lat_run_slow(w, k);
    v->old[k] = r;
}

static int iterate(lat_run *w, state *g)
{
    const lat_system *s = w->s;
    const lat_vector_ops *ops = LAT_OPS(s);
    double q[LAT_VECTOR_COLUMNS], next[LAT_VECTOR_COLUMNS];
    int ago;
    const lat_apply_end of_q = {.scalars = g->by, .step = LAT_STEP_CG_ALPHA},
                        of_s = {.scalars = g->by, .step = LAT_STEP_CG_BETA};
    const lat_coefficient alpha = lat_row_of(g->by, LAT_ROW_ALPHA),
                          beta = lat_row_of(g->by, LAT_ROW_BETA), one = lat_number(NULL);
    LAT_FOR_COLUMNS (k, &w->active)
        g->seen.begin[k] = w->report[k].iterations;
    if (gradient(w, g, &w->active) || ops->copy(s->space, &w->active, g->s, g->p))
        return -1;
    while (w->active.columns > 0) {
        if (s->apply(s->with, false, &w->active, g->q, g->p, &of_q)
            || s->apply(s->with, true, &w->active, g->s, g->q, &of_s)
            || ops->cg(s->space, &w->active, alpha, beta, one, w->x, g->p, g->s))
            return -1;
        const lat_part *there = lat_run_look(w, &ago);
        if (there->columns == 0)
            continue;
        if (ops->scalars->read(g->by, there, LAT_STEP_CG_ALPHA, ago, q)
            || ops->scalars->read(g->by, there, LAT_STEP_CG_BETA, ago, next))
            return -1;
        LAT_FOR_COLUMNS (k, &w->active) {
            if (!lat_run_stale(w, k))
                account(w, g, k, q[k], next[k]);
            look(w, g, k);
        }
        if (lat_run_check(w, 1, g->square) || renew(w, g))
            return -1;
    }
    return 0;
}

int lat_cg(lat_run *w)
{
    state g = {.by = NULL};
    lat_dfield *v[3];
    int rc = lat_system_vectors(w->s, &w->active, 3, v, "conjugate gradients");
    g.s = v[0];
    g.q = v[1];
    g.p = v[2];
    rc = rc || !(g.by = LAT_OPS(w->s)->scalars->open(w->s->space)) || iterate(w, &g);
    LAT_OPS(w->s)->scalars->close(g.by);
    lat_system_release(w->s, 3, v);
    return rc;
}
