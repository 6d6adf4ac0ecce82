/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.h: the Wilson-clover operator on host fields, in double, that certifies solutions.
 *
 * It is written from the definition, with explicit gamma matrices, and shares nothing with the
 * kernels of lib/dirac and lib/site. A solution is a solution if this operator says so.
 *
 *   M psi(x) = (1 + 3 nu/xi + m) psi(x)
 *              - 1/2 sum_mu w_mu [ (1 - gamma_mu) U_mu(x) psi(x+mu)
 *                                  + (1 + gamma_mu) U_mu(x-mu)^+ psi(x-mu) ]
 *              - 1/2 sum_{mu<nu} c_munu sigma_munu F_munu(x) psi(x)  +  i twist gamma5 psi(x)
 *
 * with w = nu/xi in space, 1 in time; c = csw/xi in spatial planes, csw_t in planes with time;
 * sigma_munu = (i/2) [gamma_mu, gamma_nu]; F_munu = -i (S - S^+)/8, S the sum of the four leaves of
 * the plane, counterclockwise from x; gamma matrices of DeGrand and Rossi, rows with entries
 *
 *   gamma_x  (0,3) i   (1,2) i   (2,1) -i  (3,0) -i
 *   gamma_y  (0,3) -1  (1,2) 1   (2,1) 1   (3,0) -1
 *   gamma_z  (0,2) i   (1,3) -i  (2,0) -i  (3,1) i
 *   gamma_t  (0,2) 1   (1,3) 1   (2,0) 1   (3,1) 1
 *
 * A hop across the boundary from L-1 to 0 has the phase exp(i pi theta), the hop back its
 * conjugate; Dirichlet: there is none; open time, with its c_F: lattice/fermion.h. Leaves are made
 * of the links, which are periodic.
 *
 * Fields are spinors or propagators of four dimensions in either precision; ghosts of links and of
 * what the operator is applied to are up to date (lat_field_exchange). Results are the same bits on
 * any number of threads and ranks, and for a column whatever columns are beside it. All ranks call
 * these functions: 0 or a pointer, or -1 or NULL with lat_error set. */
#pragma once

#include "lattice/fermion.h"
#include "lattice/field.h"

typedef struct lat_plain lat_plain;

/* Borrows the links, whose clover term is made when it is needed first. Refuses an action other
 * than "wilson", and fields without four dimensions. */
lat_plain *lat_plain_new(const lat_field *links, const lat_fermion *action);
void lat_plain_free(lat_plain *m);

/* out = M x, or M^+ x, of these columns; others of out stay. The ghosts of out are not touched. out
 * must not be x. */
int lat_plain_apply(lat_plain *m, bool dagger, const lat_field *x, int columns, const int *column,
                    lat_field *out);

/* residual[i] = |b - M x| / |b| of column[i]; where b is zero: 0 if x is, too, else infinite. */
int lat_plain_residual(lat_plain *m, const lat_field *x, const lat_field *b, int columns,
                       const int *column, double *residual);
