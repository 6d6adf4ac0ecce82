/* SPDX-License-Identifier: BSD-3-Clause */
/* bicgstab.c: BiCGstab.
 *
 *     v = A p, alpha = rho/<e,v>, s = r - alpha v,
 *     t = A s, omega = <t,s>/<t,t>, rho' = <e,s> - omega <e,t>, beta = rho'/rho alpha/omega,
 *     x += alpha p + omega s, r = s - omega t, p = r + beta (p - omega v), rho = rho'
 *
 * e is a vector of random signs (vector/space.h: shadow), not the first residual: it takes no
 * memory. So x, r and p are one pass, and the sums of e come with v and t. <e,s> is computed: that
 * it would vanish without rounding, rho' = - omega <e,t>, lets the method stall near the critical
 * mass.
 *
 * Where r is replaced, in reliable updates, p changes by as much, and rho is that of the new r.
 * Where <e,v> or rho vanishes to rounding, a column does a step of minimal residual and starts anew
 * with p = r. */
#include "krylov_internal.h"

enum { RESTARTS = 20 };

typedef struct state {
    lat_dfield *p, *v, *t;
    lat_scalars *by; /* alpha, omega, beta, rho, where the device computes */
} state;

/* rho of these columns, from r. */
static int set_rho(lat_run *w, const state *b, const lat_part *c)
{
    const lat_vector_ops *ops = LAT_OPS(w->s);
    lat_numbers rho;
    return c->columns
           && (ops->shadow(w->s->space, c, w->r, rho)
               || ops->scalars->set(b->by, c, LAT_ROW_RHO, rho));
}

/* The numbers of an iteration: columns leave, or begin anew with another r. */
static int look(lat_run *w, const state *b)
{
    const lat_scalar_ops *scalars = LAT_OPS(w->s)->scalars;
    double norm[LAT_VECTOR_COLUMNS], anew[LAT_VECTOR_COLUMNS];
    int ago, list[LAT_VECTOR_COLUMNS];
    const lat_part *there = lat_run_look(w, &ago);
    if (there->columns == 0)
        return 0;
    if (scalars->read(b->by, there, LAT_STEP_NORM, ago, norm)
        || scalars->read(b->by, there, LAT_STEP_BI_BETA, ago, anew))
        return -1;
    LAT_FOR_COLUMNS (k, &w->active) {
        if (lat_run_stale(w, k))
            norm[k] = w->norm[k] * w->norm[k];
        if (anew[k] > RESTARTS)
            lat_run_break(w, k);
    }
    if (lat_run_check(w, 1, norm))
        return -1;
    const lat_part fresh = lat_run_fresh(w, list);
    return set_rho(w, b, &fresh);
}

static int iterate(lat_run *w, const state *b)
{
    const lat_system *s = w->s;
    const lat_vector_ops *ops = LAT_OPS(s);
    const lat_apply_end of_v = {.scalars = b->by, .step = LAT_STEP_BI_ALPHA, .epsilon = s->epsilon},
                        of_t = {.scalars = b->by,
                                .step = LAT_STEP_BI_BETA,
                                .epsilon = s->epsilon,
                                .with = w->r};
    const lat_coefficient minus = lat_row_of(b->by, LAT_ROW_MINUS);
    while (w->active.columns > 0)
        if (s->apply(s->with, false, &w->active, b->v, b->p, &of_v)
            || ops->add(s->space, &w->active, minus, b->v, w->r)
            || s->apply(s->with, false, &w->active, b->t, w->r, &of_t)
            || ops->bicgstab(s->space, &w->active, b->by, w->x, w->r, b->p, b->t, b->v)
            || look(w, b))
            return -1;
    return 0;
}

int lat_bicgstab(lat_run *w)
{
    const lat_vector_ops *ops = LAT_OPS(w->s);
    state b = {0};
    lat_dfield *v[3];
    int rc = lat_system_vectors(w->s, &w->active, 3, v, "BiCGstab");
    b.p = w->direction = v[0];
    b.v = v[1];
    b.t = v[2];
    rc = rc || ops->copy(w->s->space, &w->active, w->r, b.p)
         || !(b.by = ops->scalars->open(w->s->space)) || set_rho(w, &b, &w->active)
         || iterate(w, &b);
    ops->scalars->close(b.by);
    lat_system_release(w->s, 3, v);
    return rc;
}
