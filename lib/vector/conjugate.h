/* SPDX-License-Identifier: BSD-3-Clause */
/* conjugate.h: conjugate gradients of several systems A x = b side by side, each with scalars of
 * its own (Hestenes, Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409), preconditioned by K
 * (Concus, Golub, O'Leary 1976). From z = K r, rho' = <r, z> and beta = 0:
 *
 *     p = z + beta p, rho = rho', q = A p, alpha = rho/<p, q>,
 *     x += alpha p, r -= alpha q, z = K r, rho' = <r, z>, beta = rho'/rho
 *
 * The loop is here, with its scalars and the list of columns that go on. Vectors are the caller's,
 * in any layout. Where a device computes the scalars, solve/cg.c has the loop. */
#pragma once

#include "vector/space.h"

typedef struct lat_conjugate {
    lat_part active; /* columns that go on, in `list`: the caller sets both, and next */
    int *list;
    double *rho, *next, *pq, *alpha, *beta; /* by column: next is rho', pq <p, q>; where pq is not
                                               positive, alpha is 0 */
    long iterations;                        /* of all active columns, so far */
} lat_conjugate;

/* What the caller does, in this order. They return 0, or end the run by another number. */
typedef struct lat_conjugate_calls {
    int (*direction)(void *with); /* p; before it x, if `step` has left that, by the same alpha */
    bool (*ended)(void *with, int column); /* true: the column leaves, with scalars of 0 */
    int (*product)(void *with);            /* q and pq */
    int (*step)(void *with); /* x, r, z and next; it may change alpha, and set rho to 0: then beta
                                becomes 0, and directions begin anew */
} lat_conjugate_calls;

/* Memory for columns 0 .. columns-1, of zeros; 0, or -1 with lat_error set. */
int lat_conjugate_open(lat_conjugate *c, int columns);
void lat_conjugate_close(lat_conjugate *c);

/* Iterates until all columns have ended: 0, or what one of the calls has returned. */
int lat_conjugate_run(lat_conjugate *c, const lat_conjugate_calls *calls, void *with);
