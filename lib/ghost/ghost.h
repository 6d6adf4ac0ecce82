/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost.h: the Faddeev-Popov operator of Landau and Coulomb gauge on CPU and GPU, for many real
 * fields w^a(x) side by side, its inverse and its lowest eigenvalues (docs/ghost.md).
 *
 *     M^ab(x,y) = sum_mu w_mu [ A^ab_mu(x) delta_{x,y} - B^ab_mu(x) delta_{x+mu,y}
 *                               - C^ab_mu(x) delta_{x-mu,y} ]
 *     A = Re tr {T^a,T^b} (U_mu(x) + U_mu(x-mu)),  B = 2 Re tr T^b T^a U_mu(x),
 *     C = 2 Re tr T^a T^b U_mu(x-mu),              tr T^a T^b = delta^ab / 2
 *
 * is minus the Hessian of the gauge functional (measure.h) times 2 N W V, for g = exp(i w^a T^a).
 * In Coulomb gauge every slice has an M of its own. A unit is a lattice with an M of its own: the
 * whole one, or a slice.
 *
 * T^a are half the Gell-Mann matrices, for any N: for k = 1 .. N-1 the symmetric and antisymmetric
 * ones of (i,k), i < k, then the diagonal one. The constants are null vectors of M where theta is
 * 0, and M leads into them where it is not. They are projected out in every application.
 *
 * A vector has for each site, pack and colour 8 columns: [site][pack][colour][8]. Sites lie in the
 * order of the lattice, but in Coulomb gauge whose time is not the last axis, time comes before
 * it. Behind the sites of this rank are the ghosts, as in field.h. All sums are taken in a fixed
 * order: results depend neither on threads nor on ranks nor on vector instructions.
 *
 * Functions return 0 or a pointer, or -1 or NULL with lat_error set. All ranks call them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "grid/device.h"
#include "lattice/condition.h"
#include "lattice/field.h"

enum { LAT_GHOST_PACK = 8 }; /* columns of a pack */

typedef struct lat_ghost lat_ghost;

/* The operator of these links, which may be freed afterwards, for `packs` packs of columns; the
 * ghosts of u are up to date. Fails for maximally Abelian gauge and for Landau gauge with a weight
 * of 0, which has more constants. */
lat_ghost *lat_ghost_new(const lat_field *u, const lat_condition *c, int packs);

/* The same on a device; a GPU takes one rank. There vectors are in its memory: lat_ghost_copy has
 * them on the host. 0 packs: ghost_internal.h. */
lat_ghost *lat_ghost_new_on(lat_device *dev, const lat_field *u, const lat_condition *c, int packs);

/* 0 if that device has code for these links; or -1, and the sentence says why not. */
int lat_ghost_check(const lat_device *dev, const lat_field *u);
void lat_ghost_free(lat_ghost *m);

int lat_ghost_units(const lat_ghost *m);                 /* on all ranks; number: the slice */
int lat_ghost_colours(const lat_ghost *m);               /* N^2 - 1 */
int lat_ghost_columns(const lat_ghost *m);               /* 8 packs */
double lat_ghost_unit_sites(const lat_ghost *m);         /* of a unit */
size_t lat_ghost_site(const lat_ghost *m, size_t local); /* of a local site of u: in a vector */

/* A vector; its numbers are undefined. On the CPU free() frees it, too. `what` as for lat_alloc. */
double *lat_ghost_vector(const lat_ghost *m, const char *what);
void lat_ghost_vector_free(const lat_ghost *m, double *v);

/* The own sites of a vector, which may be memory of the host, to another one. */
int lat_ghost_copy(lat_ghost *m, double *to, const double *from);

/* out = P M P in; the projection P takes the constants off. The ghosts of `in` change. */
int lat_ghost_apply(lat_ghost *m, double *out, double *in);

/* <a, b> of each column in each unit: to[unit * columns + column]. */
int lat_ghost_dot(lat_ghost *m, const double *a, const double *b, double *to);

/* A column of a source, a field of one colour: cos(kx) or sin(kx) with k_mu = 2 pi n_mu / L_mu; or
 * delta(x, n), or zero. Along the time of Coulomb gauge n does not count. The constants are
 * projected out. */
typedef enum { LAT_GHOST_ZERO, LAT_GHOST_COS, LAT_GHOST_SIN, LAT_GHOST_POINT } lat_ghost_kind;
typedef struct lat_ghost_column {
    lat_ghost_kind kind;
    int n[LAT_MAX_DIMS], colour;
} lat_ghost_column;
int lat_ghost_source(lat_ghost *m, double *b, const lat_ghost_column *column);

typedef struct lat_ghost_report {
    long iterations;
    double residual; /* the largest |b - M x| / |b| of a column and unit, as the iteration has it */
    bool converged;
    bool indefinite; /* a vector with <p, M p> <= 0 was found: this is no maximum */
} lat_ghost_report;

/* M x = b by conjugate gradients, preconditioned by the inverse Laplacian. b becomes the residual;
 * x is defined by it. Every column of a unit has its own scalars, and stops when its residual is
 * below `residual`. 0, also where it has not converged. */
int lat_ghost_solve(lat_ghost *m, double *x, double *b, double residual, long max_iterations,
                    lat_ghost_report *report);

/* |b - M x| / |b| of each column in each unit, to[unit * columns + column], computed from the
 * definition. The code shares only the order of a vector with lat_ghost_apply. For a column of
 * zeros it is |M x|. lambda, if not NULL: b = lambda[unit * columns + column] x instead, and the
 * result is |lambda x - M x| / |x|; then b is not used. */
int lat_ghost_residual(lat_ghost *m, const lat_field *u, const double *b, double *x,
                       const double *lambda, double *to);

typedef struct lat_ghost_modes {
    int modes;       /* asked for; at most lat_ghost_columns */
    double accuracy; /* |M v - lambda v| <= accuracy |lambda|, |v| = 1 */
    long max_iterations;
    uint64_t seed;
} lat_ghost_modes;

/* The lowest eigenvalues of M without its constants, of each unit, and vectors v of norm 1, by a
 * locally optimal block method (LOBPCG: Knyazev, SIAM J. Sci. Comput. 23 (2001) 517) with the
 * inverse Laplacian. value[unit * columns + k], ascending. More columns than modes make it
 * converge. */
int lat_ghost_lowest(lat_ghost *m, const lat_ghost_modes *wanted, double *v, double *value,
                     lat_ghost_report *report);

/* The lowest eigenvalue of M without its constants, the smallest one of all slices. At a maximum of
 * the functional it is positive, at a saddle negative. residual: |M v - value v| of a vector v of
 * norm 1, by lat_ghost_residual; an eigenvalue is that near to `value`. */
typedef struct lat_ghost_least {
    double value, residual;
    int unit;
    lat_ghost_report report; /* `converged`: the residual is below accuracy |value| */
} lat_ghost_least;
int lat_ghost_minimum(const lat_field *u, const lat_condition *c, double accuracy,
                      long max_iterations, lat_ghost_least *least);
