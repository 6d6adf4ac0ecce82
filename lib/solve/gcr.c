/* SPDX-License-Identifier: BSD-3-Clause */
/* gcr.c: generalised conjugate residuals, restarted, with any preconditioner K:
 *
 *     z_k = K r,  w_k = A z_k - sum_i<k h_ik w_i,  h_ik = <w_i, A z_k>/|w_i|^2
 *     gamma_k = <w_k, r>/|w_k|^2,  r -= gamma_k w_k
 *
 * r is orthogonal to w_0 .. w_k-1, so that <w_k, r> is <A z_k, r>. x gets its share of the z when
 * it is wanted, and before a restart: sum_k c_k z_k with c_k = gamma_k - sum_i>k h_ki c_i.
 *
 * Where nothing is left of w_k, or it is not finite, K is 1 in this iteration.
 *
 * r keeps of w_0 what rounding, relative to the first |r|, has left there. As it falls that is more
 * and more of r, and nothing takes it away. So a column whose |r| has fallen by FELL forgets the w
 * that it has: h_ik is 0 for them. */
#include <math.h>
#include "krylov_internal.h"

/* Iterations until it begins anew; a multigrid, which needs few, gains nothing by more than six. */
enum { DEEP = 8, DEEP_MULTIGRID = 6 };
#define FELL 1e-4 /* single's epsilon is then 6e-4 of r */

typedef struct state {
    lat_helper k;
    lat_dfield *z[DEEP], *w[DEEP];
    int count;                               /* of both that there are */
    lat_numbers dot;                         /* <r,A z_k> */
    lat_numbers h[DEEP][DEEP];               /* h[i][k], i < k */
    lat_numbers gamma[DEEP];                 /* that x has not got yet */
    double square[DEEP][LAT_VECTOR_COLUMNS]; /* |w_k|^2 */
    int from[LAT_VECTOR_COLUMNS];            /* w before this are forgotten, .. */
    double begin[LAT_VECTOR_COLUMNS];        /* .. when |r| was that */
} state;

/* Before iteration `at`. */
static void forget(const lat_run *w, state *g, int at)
{
    LAT_FOR_COLUMNS (k, &w->active)
        if (at == 0 || w->norm[k] < FELL * g->begin[k]) {
            g->from[k] = at;
            g->begin[k] = w->norm[k];
        }
}

/* z and w of these columns by k, and their products. */
static int direction(lat_run *w, state *g, lat_helper *k, const lat_part *c, int at)
{
    const lat_system *s = w->s;
    lat_numbers minus[DEEP];
    lat_scalar *to[DEEP + 1] = {g->dot};
    const lat_dfield *left[DEEP + 1] = {w->r};
    for (int i = 0; i < at; i++) {
        left[i + 1] = g->w[i];
        to[i + 1] = g->h[i][at];
    }
    if (lat_helper_apply(k, c, w->norm, g->z[at], g->w[at], w->r)
        || LAT_OPS(s)->dots(s->space, c, at + 1, left, g->w[at], to, g->square[at]))
        return -1;
    for (int i = 0; i < at; i++)
        LAT_FOR_COLUMNS (n, c) {
            const double square = g->square[i][n];
            const bool old = i < g->from[n];
            const double complex h = square > 0 && !old ? lat_z(g->h[i][at][n]) / square : 0;
            g->h[i][at][n] = lat_scalar_of(h);
            minus[i][n] = lat_scalar_of(-h);
        }
    return at && lat_add_all(s, c, at, minus, g->w, g->w[at], g->square[at]);
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

/* r -= gamma w. */
static int advance(lat_run *w, state *g, int at, double *norm)
{
    lat_numbers minus;
    LAT_FOR_COLUMNS (k, &w->active) {
        const double square = g->square[at][k];
        const double complex by = square > 0 ? conj(lat_z(g->dot[k])) / square : 0;
        g->gamma[at][k] = lat_scalar_of(by);
        minus[k] = lat_scalar_of(-by);
    }
    g->count = at + 1;
    return lat_add(w->s, &w->active, minus, g->w[at], w->r, norm);
}

/* x gets what it has not got yet. */
static int settle(lat_run *w, const lat_part *p)
{
    state *g = w->method;
    lat_numbers c[DEEP];
    for (int k = g->count - 1; k >= 0; k--)
        LAT_FOR_COLUMNS (n, p) {
            double complex by = lat_z(g->gamma[k][n]);
            for (int i = k + 1; i < g->count; i++)
                by -= lat_z(g->h[k][i][n]) * lat_z(c[i][n]);
            c[k][n] = lat_scalar_of(by);
            g->gamma[k][n] = lat_scalar_of(0);
        }
    return g->count && lat_add_all(w->s, p, g->count, c, g->z, w->x, NULL);
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

static int iterate(lat_run *w, state *g, int deep)
{
    double norm[LAT_VECTOR_COLUMNS], mark[LAT_VECTOR_COLUMNS] = {0};
    for (int at = 0; w->active.columns > 0; at = (at + 1) % deep) {
        if (at == 0 && settle(w, &w->active))
            return -1;
        g->count = at;
        forget(w, g, at);
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
    const int most = w->solver == LAT_SOLVER_MG ? DEEP_MULTIGRID : DEEP,
              deep = w->p->max_iterations < most ? (int)w->p->max_iterations : most;
    state g = {.count = 0};
    w->settle = settle;
    w->method = &g;
    const int rc = lat_system_vectors(w->s, &w->active, deep, g.z, "GCR")
                   || lat_system_vectors(w->s, &w->active, deep, g.w, "GCR")
                   || lat_helper_open(&g.k, w->p->preconditioner, w->s) || iterate(w, &g, deep);
    w->settle = NULL;
    lat_system_release(w->s, DEEP, g.z);
    lat_system_release(w->s, DEEP, g.w);
    lat_helper_close(&g.k);
    return rc;
}
