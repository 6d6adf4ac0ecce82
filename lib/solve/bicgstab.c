/* SPDX-License-Identifier: BSD-3-Clause */
/* bicgstab.c: BiCGstab.
 *
 *     v = A p, alpha = rho/<e,v>, s = r - alpha v,
 *     t = A s, omega = <t,s>/<t,t>, rho' = <e,s> - omega <e,t>, beta = rho'/rho alpha/omega,
 *     x += alpha p + omega s, r = s - omega t, p = r + beta (p - omega v), rho = rho'
 *
 * e is a vector of random signs (dirac/spinor.h: shadow), not the first residual: it takes no
 * memory. So x, r and p are one pass, and the sums of e come with v and t. <e,s> is computed: that
 * it would vanish without rounding, rho' = - omega <e,t>, lets the method stall near the critical
 * mass.
 *
 * Where r is replaced, in reliable updates, p changes by as much, and rho is that of the new r.
 * Where <e,v> or rho vanishes to rounding, a column does a step of minimal residual and starts anew
 * with p = r. */
#include <math.h>
#include <string.h>
#include "krylov_internal.h"

enum { RESTARTS = 20 };

typedef struct state {
    lat_dfield *p, *v, *t;
    lat_scalars rho, alpha, omega, beta;
    bool anew[LAT_SPINOR_COLUMNS];
} state;

/* alpha, from <e,v> and |v|^2. */
static void first_step(lat_run *w, state *b, const lat_scalar *ev, const double *norm,
                       lat_scalars minus)
{
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        const double complex d = lat_z(ev[k]);
        b->anew[k] = !(cabs(d) > w->s->epsilon * sqrt(norm[k]));
        b->alpha[k] = lat_scalar_of(b->anew[k] ? 0 : lat_z(b->rho[k]) / d);
        minus[k] = lat_scalar_of(-lat_z(b->alpha[k]));
    }
}

/* omega, from <s,t> and |t|^2; rho and beta. Columns that start anew: beta = 0. */
static void second_step(lat_run *w, state *b, const lat_scalar *dot, const double *norm,
                        const lat_scalar *et, const lat_scalar *es)
{
    for (int i = 0; i < w->active.columns; i++) {
        const int k = w->list[i];
        const double complex omega = norm[k] > 0 ? conj(lat_z(dot[k])) / norm[k] : 0,
                             before = lat_z(b->rho[k]), rho = lat_z(es[k]) - omega * lat_z(et[k]);
        b->omega[k] = lat_scalar_of(omega);
        b->rho[k] = lat_scalar_of(rho);
        if (!(cabs(rho) > w->s->epsilon * cabs(omega) * sqrt(norm[k])) || !(cabs(before) > 0)
            || !(cabs(omega) > 0))
            b->anew[k] = true;
        b->beta[k] = lat_scalar_of(b->anew[k] ? 0 : rho / before * lat_z(b->alpha[k]) / omega);
        if (b->anew[k] && ++w->restarts[k] > RESTARTS)
            lat_run_break(w, k);
    }
}

/* rho anew for columns whose r has been replaced. */
static int refresh(lat_run *w, state *b)
{
    int list[LAT_SPINOR_COLUMNS];
    lat_spinor_part c = {w->s->parity, 0, list};
    for (int i = 0; i < w->active.columns; i++)
        if (w->fresh[w->list[i]])
            list[c.columns++] = w->list[i];
    return c.columns ? LAT_OPS(w->s)->shadow(w->s->space, &c, w->r, b->rho) : 0;
}

/* A device that does not wait: the host looks at the numbers of an iteration while the next one
 * runs, so that updates, and columns that leave, are an iteration late, each by its own numbers. */
static int iterate_ahead(lat_run *w, state *b)
{
    const lat_system *s = w->s;
    double norm[LAT_SPINOR_COLUMNS];
    int before[LAT_SPINOR_COLUMNS], list[LAT_SPINOR_COLUMNS], anew[LAT_SPINOR_COLUMNS];
    bool renewed[LAT_SPINOR_COLUMNS] = {false}; /* since the iteration was begun */
    lat_spinor_part pending = {s->parity, 0, before}, fresh = {s->parity, 0, list};
    while (w->active.columns > 0) {
        if (s->bicgstab_iterate(s->with, &w->active, w->x, w->r, b->p, b->t, b->v)
            || (pending.columns && s->bicgstab_numbers(s->with, &pending, 1, norm, anew)))
            return -1;
        const bool first = pending.columns == 0;
        for (int i = 0; i < w->active.columns && !first; i++) {
            const int k = w->list[i];
            if (renewed[k])
                norm[k] = w->norm[k] * w->norm[k];
            if (anew[k] > RESTARTS)
                lat_run_break(w, k);
        }
        pending.columns = w->active.columns;
        memcpy(before, w->list, sizeof(int) * (size_t)pending.columns);
        if (first)
            continue;
        if (lat_run_check(w, 1, norm) || refresh(w, b))
            return -1;
        fresh.columns = 0;
        for (int i = 0; i < w->active.columns; i++) {
            const int k = w->list[i];
            if ((renewed[k] = w->fresh[k]))
                list[fresh.columns++] = k;
        }
        if (fresh.columns && s->bicgstab_begin(s->with, &fresh, b->rho, false))
            return -1;
    }
    return 0;
}

static int iterate(lat_run *w, state *b)
{
    const lat_system *s = w->s;
    if (s->bicgstab_begin)
        return s->bicgstab_begin(s->with, &w->active, b->rho, true) ? -1 : iterate_ahead(w, b);
    double norm[LAT_SPINOR_COLUMNS];
    lat_scalars dot, minus, ev, et, es;
    const lat_dirac_end of_v = {.norm = norm, .shadow = ev},
                        of_t = {
                            .norm = norm, .with = w->r, .dot = dot, .shadow = et, .shadow_in = es};
    while (w->active.columns > 0) {
        if (s->apply(s->with, false, &w->active, b->v, b->p, &of_v))
            return -1;
        first_step(w, b, ev, norm, minus);
        if (lat_add(s, &w->active, minus, b->v, w->r, NULL)
            || s->apply(s->with, false, &w->active, b->t, w->r, &of_t))
            return -1;
        second_step(w, b, dot, norm, et, es);
        if (LAT_OPS(s)->bicgstab(s->space, &w->active, b->alpha, b->omega, b->beta, w->x, w->r,
                                 b->p, b->t, b->v, norm)
            || lat_run_check(w, 1, norm) || refresh(w, b))
            return -1;
    }
    return 0;
}

int lat_bicgstab(lat_run *w)
{
    state b;
    lat_dfield *v[3];
    int rc = lat_run_vectors(w, 3, v, "BiCGstab");
    b.p = w->direction = v[0];
    b.v = v[1];
    b.t = v[2];
    rc = rc || LAT_OPS(w->s)->copy(w->s->space, &w->active, w->r, b.p)
         || LAT_OPS(w->s)->shadow(w->s->space, &w->active, w->r, b.rho) || iterate(w, &b);
    lat_run_release(w, 3, v);
    return rc;
}
