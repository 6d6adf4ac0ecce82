/* SPDX-License-Identifier: BSD-3-Clause */
/* bicgstab.c: BiCGstab.
 *
 *     v = A p, alpha = rho/<r0,v>, r -= alpha v,
 *     t = A r, omega = <t,r>/<t,t>, x += alpha p + omega r, r -= omega t,
 *     beta = <r0,r>/rho alpha/omega, p = r + beta (p - omega v)
 *
 * rho is <r0,r>, computed: the cheaper - omega <r0,t> lets it stall near the critical mass. Where
 * <r0,v> or rho vanishes to rounding, a column does a step of minimal residual and starts anew with
 * its residual as r0. */
#include <math.h>
#include "krylov_internal.h"

enum { RESTARTS = 20 };

typedef struct state {
    lat_dfield *r0, *p, *v, *t;
    lat_scalars rho, alpha, omega, beta;
    double shadow[LAT_SPINOR_COLUMNS]; /* |r0| */
    bool anew[LAT_SPINOR_COLUMNS];
} state;

/* alpha, from <r0,v> and |v|^2. */
static void first_step(lat_run *w, state *b, const lat_scalar *dot, const double *norm,
                       lat_scalars minus)
{
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        const double complex d = lat_z(dot[k]);
        b->anew[k] = !(cabs(d) > w->s->epsilon * b->shadow[k] * sqrt(norm[k]));
        b->alpha[k] = lat_scalar_of(b->anew[k] ? 0 : lat_z(b->rho[k]) / d);
        minus[k] = lat_scalar_of(-lat_z(b->alpha[k]));
    }
}

/* omega, from <r,t> and |t|^2. */
static void second_step(lat_run *w, state *b, const lat_scalar *dot, const double *norm)
{
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        b->omega[k] = lat_scalar_of(norm[k] > 0 ? conj(lat_z(dot[k])) / norm[k] : 0);
    }
}

/* beta, from <r0,r>. Columns that start anew: beta = 0, r0 = r. */
static int direction(lat_run *w, state *b, const lat_scalar *dot)
{
    int list[LAT_SPINOR_COLUMNS];
    lat_spinor_part anew = {w->s->parity, 0, list};
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        const double complex rho = lat_z(dot[k]), omega = lat_z(b->omega[k]);
        const double least = w->s->epsilon * b->shadow[k] * w->norm[k];
        if (b->anew[k] || !(cabs(rho) > least) || !(cabs(omega) > 0)) {
            b->beta[k] = (lat_scalar){0, 0};
            b->shadow[k] = w->norm[k];
            b->rho[k] = (lat_scalar){w->norm[k] * w->norm[k], 0};
            list[anew.columns++] = k;
            if (++w->restarts[k] > RESTARTS)
                lat_run_break(w, k);
        } else {
            b->beta[k] = lat_scalar_of(rho / lat_z(b->rho[k]) * lat_z(b->alpha[k]) / omega);
            b->rho[k] = dot[k];
        }
    }
    return anew.columns ? LAT_OPS(w->s)->copy(w->s->space, &anew, w->r, b->r0) : 0;
}

/* <r0,r> anew for columns whose r has been replaced. */
static int refresh(lat_run *w, const state *b, lat_scalar *dot)
{
    int list[LAT_SPINOR_COLUMNS];
    lat_spinor_part c = {w->s->parity, 0, list};
    const lat_dfield *const r0 = b->r0;
    for (int i = 0; i < w->active.columns; i++)
        if (w->fresh[w->list[i]])
            list[c.columns++] = w->list[i];
    return c.columns ? LAT_OPS(w->s)->dots(w->s->space, &c, 1, &r0, w->r, &dot, NULL) : 0;
}

static int iterate(lat_run *w, state *b)
{
    const lat_system *s = w->s;
    double norm[LAT_SPINOR_COLUMNS];
    lat_scalars dot, minus;
    const lat_dirac_end with_r0 = {.norm = norm, .with = b->r0, .dot = dot},
                        with_r = {.norm = norm, .with = w->r, .dot = dot};
    while (w->active.columns > 0) {
        if (s->apply(s->with, false, &w->active, b->v, b->p, &with_r0))
            return -1;
        first_step(w, b, dot, norm, minus);
        if (lat_add(s, &w->active, minus, b->v, w->r, NULL)
            || s->apply(s->with, false, &w->active, b->t, w->r, &with_r))
            return -1;
        second_step(w, b, dot, norm);
        if (LAT_OPS(s)->bicgstab(s->space, &w->active, b->alpha, b->omega, w->x, b->p, w->r, b->t,
                                 b->r0, dot, norm)
            || lat_run_check(w, 1, norm) || refresh(w, b, dot) || direction(w, b, dot)
            || (w->active.columns
                && LAT_OPS(s)->bicgstab_direction(s->space, &w->active, b->beta, b->omega, w->r,
                                                  b->v, b->p)))
            return -1;
    }
    return 0;
}

static int begin(lat_run *w, state *b)
{
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        b->shadow[k] = w->norm[k];
        b->rho[k] = (lat_scalar){w->norm[k] * w->norm[k], 0};
    }
    return LAT_OPS(w->s)->copy(w->s->space, &w->active, w->r, b->r0)
           || LAT_OPS(w->s)->copy(w->s->space, &w->active, w->r, b->p);
}

int lat_bicgstab(lat_run *w)
{
    state b;
    lat_dfield *v[4];
    int rc = lat_run_vectors(w, 4, v, "BiCGstab");
    b.r0 = v[0];
    b.p = v[1];
    b.v = v[2];
    b.t = v[3];
    rc = rc || begin(w, &b) || iterate(w, &b);
    lat_run_release(w, 4, v);
    return rc;
}
