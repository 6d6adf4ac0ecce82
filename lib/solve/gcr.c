/* SPDX-License-Identifier: BSD-3-Clause */
/* gcr.c: generalised conjugate residuals, restarted, with any preconditioner K:
 *
 *     z_k = K r, w_k = A z_k made orthogonal to w_0 .. w_k-1 (z_k with it),
 *     gamma = <w_k,r>/|w_k|^2, x += gamma z_k, r -= gamma w_k
 *
 * Where nothing is left of w_k, or it is not finite, K is 1 in this iteration. */
#include <math.h>
#include "krylov_internal.h"

enum { DEEP = 8 };

typedef struct state {
    lat_helper k;
    lat_dfield *z[DEEP], *w[DEEP];
    lat_numbers dot;                         /* <r,w_k> */
    double square[DEEP][LAT_VECTOR_COLUMNS]; /* |w_k|^2 */
} state;

static int orthogonalise(const lat_run *w, state *g, const lat_part *c, int at)
{
    const lat_system *s = w->s;
    lat_numbers dot[DEEP];
    lat_scalar *to[DEEP] = {NULL};
    const lat_dfield *left[DEEP] = {NULL};
    if (at == 0)
        return 0;
    for (int i = 0; i < at; i++) {
        left[i] = g->w[i];
        to[i] = dot[i];
    }
    if (LAT_OPS(s)->dots(s->space, c, at, left, g->w[at], to, NULL))
        return -1;
    for (int i = 0; i < at; i++)
        for (int a = 0; a < c->columns; a++) {
            const int k = c->column[a];
            const double square = g->square[i][k];
            dot[i][k] = lat_scalar_of(square > 0 ? -lat_z(dot[i][k]) / square : 0);
        }
    return lat_add_all(s, c, at, dot, g->w, g->w[at], NULL)
           || lat_add_all(s, c, at, dot, g->z, g->z[at], NULL);
}

/* z and w of these columns by k, and their products. */
static int direction(lat_run *w, state *g, lat_helper *k, const lat_part *c, int at)
{
    lat_scalar *const to = g->dot;
    const lat_dfield *const r = w->r;
    return lat_helper_apply(k, c, w->norm, g->z[at], g->w[at], w->r) || orthogonalise(w, g, c, at)
           || LAT_OPS(w->s)->dots(w->s->space, c, 1, &r, g->w[at], &to, g->square[at]);
}

/* The same without a preconditioner, where that gave nothing. */
static int direction_without(lat_run *w, state *g, int at)
{
    lat_helper none = {.of = w->s};
    int list[LAT_VECTOR_COLUMNS];
    lat_part c = {w->s->parity, 0, list};
    LAT_FOR_COLUMNS (k, &w->active) {
        const double square = g->square[at][k];
        if (!(square > 0) || !isfinite(square))
            list[c.columns++] = k;
    }
    return g->k.method && c.columns && direction(w, g, &none, &c, at);
}

/* x += gamma z, r -= gamma w. */
static int advance(lat_run *w, state *g, int at, double *norm)
{
    lat_numbers gamma, minus;
    LAT_FOR_COLUMNS (k, &w->active) {
        const double square = g->square[at][k];
        const double complex by = square > 0 ? conj(lat_z(g->dot[k])) / square : 0;
        gamma[k] = lat_scalar_of(by);
        minus[k] = lat_scalar_of(-by);
    }
    return lat_add(w->s, &w->active, gamma, g->z[at], w->x, NULL)
           || lat_add(w->s, &w->active, minus, g->w[at], w->r, norm);
}

/* A multigrid that gains less than this in so many cycles is of a matrix that is near singular,
 * where conjugate gradients are better: the column is given up. */
enum { CYCLES = 20 };
#define CYCLES_GAIN .12 /* .9^20 */

static void give_up(lat_run *w, const double *norm, double *mark)
{
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        if (w->report[k].iterations % CYCLES != CYCLES - 1)
            continue;
        if (mark[k] > 0 && norm[k] > CYCLES_GAIN * CYCLES_GAIN * mark[k])
            lat_run_break(w, k);
        mark[k] = norm[k];
    }
}

static int iterate(lat_run *w, state *g)
{
    double norm[LAT_VECTOR_COLUMNS], mark[LAT_VECTOR_COLUMNS] = {0};
    for (int at = 0; w->active.columns > 0; at = (at + 1) % DEEP) {
        if (direction(w, g, &g->k, &w->active, at) || direction_without(w, g, at)
            || advance(w, g, at, norm))
            return -1;
        if (w->solver == LAT_SOLVER_MG)
            give_up(w, norm, mark);
        if (lat_run_check(w, 1, norm))
            return -1;
    }
    return 0;
}

int lat_gcr(lat_run *w)
{
    state g = {.square = {{0}}};
    int rc = lat_run_vectors(w, DEEP, g.z, "GCR");
    rc = lat_run_vectors(w, DEEP, g.w, "GCR") || rc
         || lat_helper_open(&g.k, w->p->preconditioner, w->s) || iterate(w, &g);
    lat_run_release(w, DEEP, g.z);
    lat_run_release(w, DEEP, g.w);
    lat_helper_close(&g.k);
    return rc;
}
