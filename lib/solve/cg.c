/* SPDX-License-Identifier: BSD-3-Clause */
/* cg.c: conjugate gradients of the normal equations, which carry r = b - A x itself:
 *
 *     q = A p, alpha = |s|^2/|q|^2, x += alpha p, r -= alpha q,
 *     s = A^+ r, beta = |s|^2/|s of before|^2, p = s + beta p
 *
 * After a reliable update r is a new one, and p is made orthogonal to the new s, as it would be. */
#include <math.h>
#include "krylov_internal.h"

typedef struct state {
    lat_dfield *p, *s, *q;
    double gamma[LAT_SPINOR_COLUMNS], alpha[LAT_SPINOR_COLUMNS], beta[LAT_SPINOR_COLUMNS];
} state;

/* alpha = |s|^2/|q|^2; 0 where A p is 0, which ends in stagnation. */
static void step_length(const lat_run *w, state *g, const double *q, lat_scalars minus)
{
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        g->alpha[k] = q[k] > 0 ? g->gamma[k] / q[k] : 0;
        minus[k] = (lat_scalar){-g->alpha[k], 0};
    }
}

/* p -= <s,p>/|s|^2 s for columns with a new residual. */
static int reorthogonalise(lat_run *w, state *g, const double *norm)
{
    int list[LAT_SPINOR_COLUMNS];
    lat_spinor_part c = {w->s->parity, 0, list};
    lat_scalars dot, minus;
    lat_scalar *const to = dot;
    const lat_dfield *const s = g->s;
    for (int i = 0; i < w->active.columns; i++)
        if (w->fresh[w->list[i]] && norm[w->list[i]] > 0)
            list[c.columns++] = w->list[i];
    if (c.columns == 0)
        return 0;
    if (LAT_OPS(w->s)->dots(w->s->space, &c, 1, &s, g->p, &to, NULL))
        return -1;
    for (int i = 0; i < c.columns; i++) {
        const int k = list[i];
        minus[k] = lat_scalar_of(-lat_z(dot[k]) / norm[k]);
    }
    return lat_add(w->s, &c, minus, g->s, g->p, NULL);
}

/* s = A^+ r; beta. */
static int gradient(lat_run *w, state *g)
{
    double next[LAT_SPINOR_COLUMNS];
    const lat_dirac_end end = {.norm = next};
    if (w->s->apply(w->s->with, true, &w->active, g->s, w->r, &end) || reorthogonalise(w, g, next))
        return -1;
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        g->beta[k] = g->gamma[k] > 0 ? next[k] / g->gamma[k] : 0;
        g->gamma[k] = next[k];
    }
    return 0;
}

/* x += alpha p has to come before the check of r, which may take x away; p = s + beta p comes after
 * it. So the two are passes of their own. */
static int iterate(lat_run *w, state *g)
{
    const lat_system *s = w->s;
    double square[LAT_SPINOR_COLUMNS], norm[LAT_SPINOR_COLUMNS];
    const lat_dirac_end of_p = {.norm = g->gamma}, of_q = {.norm = square};
    lat_scalars minus, plus, beta;
    if (s->apply(s->with, true, &w->active, g->p, w->r, &of_p))
        return -1;
    while (w->active.columns > 0) {
        if (s->apply(s->with, false, &w->active, g->q, g->p, &of_q))
            return -1;
        step_length(w, g, square, minus);
        for (int i = 0; i < w->active.columns; i++)
            plus[w->list[i]] = (lat_scalar){g->alpha[w->list[i]], 0};
        if (lat_add(s, &w->active, plus, g->p, w->x, NULL)
            || lat_add(s, &w->active, minus, g->q, w->r, norm) || lat_run_check(w, 1, norm))
            return -1;
        if (w->active.columns == 0)
            break;
        if (gradient(w, g))
            return -1;
        for (int i = 0; i < w->active.columns; i++)
            beta[w->list[i]] = (lat_scalar){g->beta[w->list[i]], 0};
        if (LAT_OPS(s)->axpby(s->space, &w->active, NULL, g->s, beta, g->p, NULL))
            return -1;
    }
    return 0;
}

int lat_cg(lat_run *w)
{
    state g;
    lat_dfield *v[3];
    int rc = lat_run_vectors(w, 3, v, "conjugate gradients");
    g.p = v[0];
    g.s = v[1];
    g.q = v[2];
    rc = rc || iterate(w, &g);
    lat_run_release(w, 3, v);
    return rc;
}
