/* SPDX-License-Identifier: BSD-3-Clause */
/* index.h: the index of the overlap operator, in two ways that share nothing but D_W.
 *
 * By spectral flow: H(m) = gamma5 (D_W - m) has as many negative as positive eigenvalues for m < 0,
 * as D_W has no spectrum to the left of 0. The index is the number of eigenvalues of H that are
 * negative at m0 beyond half of them. m grows in steps for which Weyl's theorem,
 * |lambda(m) - lambda(m')| <= |m - m'|, leaves no doubt: no mode reaches 0, or the k lowest modes
 * stay the k lowest.
 *
 * By chirality: zero modes of D have one. On spinors of chirality c, D^+ D = (1 + c P sign(H) P)/2
 * at mu = 0; each nonzero eigenvalue x of it stands for the pair x +- i sqrt(x - x^2) of D.
 *
 * Functions return 0, or -1 with lat_error set; all ranks of the device call them. */
#pragma once

#include "overlap.h"

/* *index: negative eigenvalues at m0, less half of all. `most`: modes that are followed at once, at
 * most. *steps: how many. */
int lat_overlap_flow(lat_device *device, const lat_field *links, const lat_fermion *overlap,
                     int most, int *index, int *steps);

/* Zero modes of chirality + and -: eigenvalues of D^+ D that are 0 to the bounds of all errors.
 * `guess`: how many there may be of one. o has one column. */
int lat_overlap_zero_modes(lat_overlap *o, int guess, int count[2]);
