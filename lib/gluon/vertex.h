/* SPDX-License-Identifier: BSD-3-Clause */
/* vertex.h: the three-gluon vertex from the gauge field in momentum space (docs/vertex.md).
 *
 * A_mu(p) are the N x N matrices of docs/conventions.md, "Gluon propagator"; momenta are
 * p_mu = 2 pi n_mu / L_mu with |n_mu| < L_mu / 2, so that A_mu(-p) = A_mu(p)^+. The colours are
 * projected on f^abc:
 *
 *     T_munurho(p1,p2,p3) = -2 Re tr( [A_mu(p1), A_nu(p2)] A_rho(p3) ) / (N (N^2-1) V)
 *
 * with p1 + p2 + p3 = 0 exactly. It does not change when legs are exchanged with their indices. */
#pragma once

#include <complex.h>
#include "common/geometry.h"

typedef struct lat_gluon_legs {
    int nc, nd;               /* directions, 2 at least; 3 for the symmetric limit */
    int extent[LAT_MAX_DIMS]; /* of these */
    double sites;
    const int (*n)[LAT_MAX_DIMS]; /* of each leg; n[0] is 0 */
    const double complex *a;      /* [leg][direction][row][column] */
} lat_gluon_legs;

/* The soft limit, of p, -p and 0, where p belongs to `leg`: sum lambda T / sum lambda^2 with the
 * tree-level tensor lambda_munurho = 2 sin(p_rho) P_munu(p). */
double lat_gluon_soft(const lat_gluon_legs *v, int leg);

/* For the legs i, j, k, whose momenta add up to 0 and have one phat^2: the coefficients of
 * T = out[0] lambda0 + out[1] lambda1, which are the best in least squares. lambda0 is the
 * tree-level tensor of the Wilson action, lambda1 = (p2-p3)_mu (p3-p1)_nu (p1-p2)_rho / phat^2 with
 * phat for p. Both are projected on transverse directions of each leg. */
void lat_gluon_symmetric(const lat_gluon_legs *v, const int leg[3], double out[2]);
