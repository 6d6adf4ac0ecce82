/* SPDX-License-Identifier: BSD-3-Clause */
/* gcr.c: generalised conjugate residuals, restarted, with any preconditioner:
 *
 *     z_k = K r, w_k = A z_k made orthogonal to w_0 .. w_k-1 (z_k with it),
 *     gamma = <w_k,r>/|w_k|^2, x += gamma z_k, r -= gamma w_k
 *
 * K: some steps of minimal residual in the preconditioner's space; r itself where that is the outer
 * space. */
#include <math.h>
#include "krylov_internal.h"

enum { DEEP = 8, STEPS = 6 };

typedef struct state {
    const lat_system *k; /* of K, NULL without */
    lat_dfield *z[DEEP], *w[DEEP];
    lat_dfield *kr, *kz, *kt;                /* of K: residual, solution, A times the residual */
    double square[DEEP][LAT_VECTOR_COLUMNS]; /* |w_k|^2 */
} state;

/* z = K r. */
static int precondition(const lat_run *w, state *g, lat_dfield *z)
{
    const lat_system *k = g->k;
    const lat_part *c = &w->active;
    double norm[LAT_VECTOR_COLUMNS];
    lat_numbers dot, omega, minus;
    const lat_apply_end end = {.norm = norm, .with = g->kr, .dot = dot};
    if (!k)
        return LAT_OPS(w->s)->copy(w->s->space, c, w->r, z);
    if (LAT_OPS(k)->convert(k->space, c, w->s->space, w->r, g->kr)
        || LAT_OPS(k)->zero(k->space, c, g->kz))
        return -1;
    for (int step = 0; step < STEPS; step++) {
        if (k->apply(k->with, false, c, g->kt, g->kr, &end))
            return -1;
        for (int i = 0; i < c->columns; i++) {
            const int a = w->list[i];
            const double complex by = norm[a] > 0 ? conj(lat_z(dot[a])) / norm[a] : 0;
            omega[a] = lat_scalar_of(by);
            minus[a] = lat_scalar_of(-by);
        }
        if (lat_add(k, c, omega, g->kr, g->kz, NULL) || lat_add(k, c, minus, g->kt, g->kr, NULL))
            return -1;
    }
    return LAT_OPS(w->s)->convert(w->s->space, c, k->space, g->kz, z);
}

/* v[at] += sum c_i v_i, i < at. */
static int add_all(const lat_run *w, int at, lat_numbers *c, lat_dfield *const *v)
{
    const lat_scalar *by[DEEP];
    const lat_dfield *x[DEEP];
    for (int i = 0; i < at; i++) {
        by[i] = c[i];
        x[i] = v[i];
    }
    return LAT_OPS(w->s)->axpys(w->s->space, &w->active, at, by, x, v[at], NULL);
}

static int orthogonalise(const lat_run *w, state *g, int at)
{
    lat_numbers dot[DEEP];
    lat_scalar *to[DEEP];
    const lat_dfield *left[DEEP];
    if (at == 0)
        return 0;
    for (int i = 0; i < at; i++) {
        left[i] = g->w[i];
        to[i] = dot[i];
    }
    if (LAT_OPS(w->s)->dots(w->s->space, &w->active, at, left, g->w[at], to, NULL))
        return -1;
    for (int i = 0; i < at; i++)
        for (int a = 0; a < w->active.columns; a++) {
            const int k = w->list[a];
            const double square = g->square[i][k];
            dot[i][k] = lat_scalar_of(square > 0 ? -lat_z(dot[i][k]) / square : 0);
        }
    return add_all(w, at, dot, g->w) || add_all(w, at, dot, g->z);
}

/* x += gamma z, r -= gamma w. */
static int advance(lat_run *w, state *g, int at, double *norm)
{
    lat_numbers dot, gamma, minus;
    lat_scalar *const to = dot;
    const lat_dfield *const r = w->r;
    if (LAT_OPS(w->s)->dots(w->s->space, &w->active, 1, &r, g->w[at], &to, g->square[at]))
        return -1;
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        const double square = g->square[at][k];
        const double complex by = square > 0 ? conj(lat_z(dot[k])) / square : 0;
        gamma[k] = lat_scalar_of(by);
        minus[k] = lat_scalar_of(-by);
    }
    return lat_add(w->s, &w->active, gamma, g->z[at], w->x, NULL)
           || lat_add(w->s, &w->active, minus, g->w[at], w->r, norm);
}

static int iterate(lat_run *w, state *g)
{
    double norm[LAT_VECTOR_COLUMNS];
    for (int at = 0; w->active.columns > 0; at = (at + 1) % DEEP)
        if (precondition(w, g, g->z[at])
            || w->s->apply(w->s->with, false, &w->active, g->w[at], g->z[at], NULL)
            || orthogonalise(w, g, at) || advance(w, g, at, norm) || lat_run_check(w, 1, norm))
            return -1;
    return 0;
}

int lat_gcr(lat_run *w, const lat_system *preconditioner)
{
    state g = {.k = preconditioner == w->s ? NULL : preconditioner};
    lat_dfield **const own[] = {&g.kr, &g.kz, &g.kt};
    int rc = lat_run_vectors(w, DEEP, g.z, "GCR");
    rc = lat_run_vectors(w, DEEP, g.w, "GCR") || rc;
    for (int i = 0; i < 3 && g.k && rc == 0; i++)
        rc = (*own[i] = g.k->vector(g.k->with, "GCR")) ? 0 : -1;
    rc = rc || iterate(w, &g);
    lat_run_release(w, DEEP, g.z);
    lat_run_release(w, DEEP, g.w);
    for (int i = 0; i < 3 && g.k; i++)
        g.k->release(g.k->with, *own[i]);
    return rc;
}
