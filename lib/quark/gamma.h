/* SPDX-License-Identifier: BSD-3-Clause */
/* gamma.h: the sixteen gamma matrices, and the changes between the spin bases of other programs.
 *
 * Everything inside is in the basis of DeGrand and Rossi (Chroma, QDP++, Grid): rows of gamma_x,
 * gamma_y, gamma_z, gamma_t with entries at
 *
 *     gamma_x  (0,3) i   (1,2) i   (2,1) -i  (3,0) -i
 *     gamma_y  (0,3) -1  (1,2) 1   (2,1) 1   (3,0) -1
 *     gamma_z  (0,2) i   (1,3) -i  (2,0) -i  (3,1) i
 *     gamma_t  (0,2) 1   (1,3) 1   (2,0) 1   (3,1) 1
 *
 * They are Hermitian, {gamma_mu, gamma_nu} = 2 delta, and gamma5 = gamma_x gamma_y gamma_z gamma_t
 * = diag(1, 1, -1, -1). Each product of them has one entry in each row, a power of i. */
#pragma once

#include <stdbool.h>
#include "lattice/quark.h"

/* Row s has i^power[s] in column[s], and zeros. */
typedef struct lat_gamma {
    unsigned char column[4], power[4];
} lat_gamma;

/* By number: bit mu stands for gamma_mu; the product is in the order x, y, z, t (as in QDP++). */
enum { LAT_GAMMA_ONE = 0, LAT_GAMMA_X = 1, LAT_GAMMA_Y = 2, LAT_GAMMA_Z = 4, LAT_GAMMA_T = 8 };
enum { LAT_GAMMA_5 = 15, LAT_GAMMAS = 16 };

lat_gamma lat_gamma_of(int number);
lat_gamma lat_gamma_mul(lat_gamma a, lat_gamma b); /* a b */
lat_gamma lat_gamma_dag(lat_gamma a);

/* C gamma_mu C^-1 = -gamma_mu^T: C = gamma_y gamma_t. */
lat_gamma lat_gamma_charge(void);

/* A product as text: "1", or factors gx, gy, gz, gt, g5 one after the other, after a sign or not:
 * "g5", "gtg5", "-gygz". 0, or -1 with lat_error set. */
int lat_gamma_parse(const char *text, lat_gamma *g);

/* out = a psi, of the 8 N reals [spin][colour][re, im]; out is not psi. */
void lat_gamma_apply(lat_gamma a, int nc, double *out, const double *psi);

/* psi = T psi_theirs for spinors and S = T S_theirs T^+ for propagators, where T is unitary,
 * gamma_mu T = T gamma_mu_theirs. The entries of T are t, or t / sqrt 2 where `root`: a propagator
 * is changed by sums of four and an exact factor 1/2 alone. The phase of T is free; it cancels in
 * propagators. */
typedef struct lat_basis {
    const char *name, *whose;
    bool root;
    signed char t[4][4][2]; /* re, im */
} lat_basis;

/*   degrand-rossi  Chroma, QDP++, Grid, gpt, qlua, lalibe, CPS, QUDA and PyQUDA by default
 *   milc           MILC: the same matrices, but (1 + gamma) in front of the forward hop
 *   fermilab       Fermilab's FM files
 *   ukqcd          QUDA inside
 *   dirac-pauli    KYU, XQCD
 *   chiral         openQCD, HiRep, tmLQCD's files, QUDA's chiral
 *   bmw            DDalphaAMG BASIS1
 *   ddalphaamg     DDalphaAMG BASIS4 */
extern const lat_basis lat_bases[]; /* ends with a name that is NULL */

/* NULL with a sentence, which lists the names. */
const lat_basis *lat_basis_find(const char *name);

/* In place, at one site. To the basis of DeGrand and Rossi; `back`: from it. A spinor is
 * [spin][colour]; a propagator has 4 N columns [source spin][source colour] of them, and both of
 * its spins change. */
void lat_basis_spinor(const lat_basis *b, bool back, int nc, double *psi);
void lat_basis_propagator(const lat_basis *b, bool back, int nc, double *s);

/* Of a propagator the spin of the source alone. */
void lat_basis_source(const lat_basis *b, bool back, int nc, double *s);

/* T, or T^+, as complex numbers. */
void lat_basis_matrix(const lat_basis *b, bool dagger, double t[4][4][2]);
