/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_overlap.h: the overlap operator on host fields, that certifies solutions.
 *
 * It applies plain.h, which shares nothing with lib/dirac, and a polynomial of its own: the
 * interpolation of 1/sqrt(y) at the zeros of a Chebyshev polynomial, to an error that is asked
 * for, summed forwards. With the solver it shares the low modes and the interval alone. A wrong
 * mode, or an eigenvalue outside of the interval, shows in the residual, as sign(H) of this file
 * and the residual of the other then differ.
 *
 * Functions return 0 or a pointer, or -1 or NULL with lat_error set. All ranks call them. */
#pragma once

#include "lattice/fermion.h"
#include "lattice/field.h"

typedef struct lat_plain_overlap lat_plain_overlap;

/* What it takes from an operator: the kernel H = gamma5 (D_W - M0), the mass mu, the modes of H
 * that are projected, and the interval of |H| besides them. */
typedef struct lat_plain_sign {
    lat_fermion kernel; /* D_W - M0 */
    double mu, lower, upper;
    int modes;
    const double *value;                                     /* [modes] */
    int (*mode)(const void *with, int k, lat_field *spinor); /* mode k to a field in double */
    double (*forced)(const void *with, double x); /* what stands for sign(x); NULL: it is that */
    const void *with;
} lat_plain_sign;

/* Borrows the links. delta: of the sign function. */
lat_plain_overlap *lat_plain_overlap_new(const lat_field *links, const lat_plain_sign *sign,
                                         double delta);
void lat_plain_overlap_mass(lat_plain_overlap *m, double mu);
void lat_plain_overlap_free(lat_plain_overlap *m); /* NULL is allowed */

/* out = D x of these columns, others of out stay; x and out are in double. */
int lat_plain_overlap_apply(lat_plain_overlap *m, const lat_field *x, int columns,
                            const int *column, lat_field *out);

/* |b - D x| / |b|; where b is zero: 0 if x is, too, else infinite. */
int lat_plain_overlap_residual(lat_plain_overlap *m, const lat_field *x, const lat_field *b,
                               int columns, const int *column, double *residual);

/* |D^+ D w - value w| of each column of a field of modes with eigenvalues, each of one chirality,
 * at mu = 0, by one sign function: its square is taken to be 1. */
int lat_plain_overlap_modes(lat_plain_overlap *m, const lat_field *modes, double *residual);
