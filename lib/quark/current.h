/* SPDX-License-Identifier: BSD-3-Clause */
/* current.h: the conserved vector current of Wilson quarks between two legs (docs/vertex.md, "The
 * conserved current").
 *
 * With w as in the operator (nu/xi in space, 1 in time) and p = (p1 + p2)/2, of solutions S(x|p1)
 * and S(x|p2) as in legs.h
 *
 *     G_mu(p2, p1) = 1/V sum_x b(x) (w_mu/2) [ (1 + gamma_mu) U_mu(x-mu)^+ e^{-ip_mu} a(x-mu)
 *                                              - (1 - gamma_mu) U_mu(x) e^{ip_mu} a(x+mu) ]
 *     a(x) = e^{-ip1x} S(x|p1),   b(x) = gamma5 S(x|p2)^+ gamma5 e^{ip2x}
 *
 * a and b are periodic where momenta fit the boundary. Hops that the operator has not are left
 * out. */
#pragma once

#include "legs.h"
#include "lattice/field.h"

typedef struct lat_current {
    const lat_field *links; /* of the operator */
    const lat_field
        *first; /* S(x|p1), with its operator in the header; ghosts of both up to date */
    double n1[4], n2[4];
} lat_current;

/* The part of slice t of this rank, without 1/V, in lat_current_reals numbers. `second` is the
 * slice of S(x|p2). Sums are over chunks in their order. 0, or -1 without memory. */
int lat_current_slice(const lat_current *c, int t, const double *second, double *out);
