/* SPDX-License-Identifier: BSD-3-Clause */
/* hop.h: one forward hop of the fine operator, for Galerkin's product. */
#pragma once

#include "multigrid/cpu/kernels.h"

/* to [4 nc], chiralities + and -: -1/2 (1 - gamma_mu) u psi of eight columns of P at the neighbour,
 * p [2 nc][n][re, im], which have this chirality alone. u: the link, weight and phase included. */
void lat_mg_hop(int nc, int mu, const float *u, int chirality, const float *p, int n,
                lat_eight *to);
