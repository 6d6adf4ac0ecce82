/* SPDX-License-Identifier: BSD-3-Clause */
/* krylov_internal.h: what the methods share: the list of active columns, reliable updates, the end
 * of a column.
 *
 * A method is a loop
 *
 *     while (w->active.columns > 0) {
 *         ... one iteration of all active columns: w->x += .., w->r -= .., norm = |w->r|^2 ...
 *         lat_run_check(w, 1, norm);   columns leave; w->fresh[column]: r has been replaced
 *     }
 *
 * On a device that does not wait for its host (vector/scalars.h) the host reads the numbers of an
 * iteration while the next one runs (lat_run_look). Then updates, and columns that leave, are an
 * iteration late, each by its own numbers. */
#pragma once

#include <complex.h>
#include "krylov.h"

/* Scalars of all columns. */
typedef lat_scalar lat_numbers[LAT_VECTOR_COLUMNS];

typedef struct lat_run {
    const lat_equation *p;
    const lat_system *s; /* the inner one */
    lat_solver solver;
    lat_dfield *x, *r;     /* inner: the solution since the last update, and the residual */
    lat_space *of_x;       /* the inner space, or one of more bits */
    lat_dfield *outer_r;   /* is r if inner is outer; then x is p->x */
    lat_dfield *direction; /* NULL, or one that is r and more: where r is replaced, it changes by as
                              much */
    int (*settle)(struct lat_run *w, const lat_part *p); /* NULL; or brings x to where r is */
    void *method;                                        /* what settle knows */
    lat_part active;                                     /* of list */
    int list[LAT_VECTOR_COLUMNS];
    bool fresh[LAT_VECTOR_COLUMNS];
    lat_solve_report *report;
    double norm[LAT_VECTOR_COLUMNS]; /* |r| */
    double peak[LAT_VECTOR_COLUMNS]; /* largest |r| since the last update */
    double last[LAT_VECTOR_COLUMNS]; /* |r| of the last update */
    double best[LAT_VECTOR_COLUMNS]; /* smallest |r|, and the iteration that had it */
    long best_at[LAT_VECTOR_COLUMNS];
    int stalls[LAT_VECTOR_COLUMNS];   /* updates one after the other that have not helped */
    int restarts[LAT_VECTOR_COLUMNS]; /* of the method, after a breakdown */
    long window;                      /* iterations without progress that are stagnation; 0: any */
    long step;                        /* iterations of the batch */

    lat_part looked, running; /* lat_run_look: of `before` and `now` */
    int before[LAT_VECTOR_COLUMNS], now[LAT_VECTOR_COLUMNS];
} lat_run;

/* After so many iterations. norm[column] = |r|^2. These functions return 0; else the run fails. */
int lat_run_check(lat_run *w, int iterations, const double *norm);

/* The columns whose numbers can be read, once an iteration has been begun: those of this one, and
 * ago is 0; or those of the one before, none at first, and ago is 1. */
const lat_part *lat_run_look(lat_run *w, int *ago);

/* Are the numbers that can be read those of an r that has been replaced since? */
static inline bool lat_run_stale(const lat_run *w, int column)
{
    return w->s->space->ahead && w->fresh[column];
}

/* Active columns whose r has just been replaced, in list. */
lat_part lat_run_fresh(const lat_run *w, int list[LAT_VECTOR_COLUMNS]);

/* A method gives up a column at the next check: it broke down, or is too slow. */
void lat_run_break(lat_run *w, int column);
void lat_run_slow(lat_run *w, int column);

enum { LAT_HELPER_VECTORS = 32 }; /* that a method may hold */

/* The linear algebra of a system, of vector/space.h, with the system for the space. */
#define LAT_OPS(s) ((s)->space->ops)

/* y += c x. */
static inline int lat_add(const lat_system *s, const lat_part *p, const lat_scalar *c,
                          const lat_dfield *x, lat_dfield *y, double *norm)
{
    return LAT_OPS(s)->axpys(s->space, p, 1, &c, &x, y, norm);
}

/* y += sum of c[i] v[i], i < n <= LAT_VECTOR_TERMS. */
int lat_add_all(const lat_system *s, const lat_part *p, int n, lat_numbers *c, lat_dfield *const *v,
                lat_dfield *y, double *norm);

static inline double complex lat_z(lat_scalar c) { return c.re + c.im * I; }
static inline lat_scalar lat_scalar_of(double complex z)
{
    return (lat_scalar){creal(z), cimag(z)};
}

int lat_cg(lat_run *w);
int lat_bicgstab(lat_run *w);
int lat_bicgstabl(lat_run *w);
int lat_gcr(lat_run *w); /* the run is in the outer precision */
int lat_mr(lat_run *w);

/* A preconditioner at work: a method, and the vectors that it needs, which are kept from call to
 * call. */
typedef struct lat_helper {
    const lat_method *method; /* NULL: e = r */
    const lat_system *of;     /* that is solved */
    lat_system system;        /* of the method, with vectors from `kept` */
    lat_dfield *b, *x, *kept[LAT_HELPER_VECTORS];
    int count; /* in `kept` */
} lat_helper;

int lat_helper_open(lat_helper *h, const lat_method *method, const lat_system *of);
void lat_helper_close(lat_helper *h); /* of zeros is allowed */

/* e, about A^-1 r, and s = A e. norm[column]: |r|. */
int lat_helper_apply(lat_helper *h, const lat_part *p, const double *norm, lat_dfield *e,
                     lat_dfield *s, lat_dfield *r);
