/* SPDX-License-Identifier: BSD-3-Clause */
/* legs.h: quark propagators in momentum space, and amputated vertices of the sixteen bilinears
 * (docs/momentum.md).
 *
 * Momenta are p_mu = 2 pi n_mu / L_mu; n may be any number. With n1, n2 given, of solutions S(x|p)
 * for the source exp(ipx),
 *
 *     S(p)       = 1/V sum_x e^{-ipx} S(x|p)
 *     G(p2, p1)  = 1/V sum_x [ gamma5 S(x|p2)^+ gamma5 ] e^{i(p2-p1)x} Gamma S(x|p1)
 *     Lambda     = [ gamma5 S(p2)^+ gamma5 ]^-1 G(p2, p1) S(p1)^-1
 *
 * gamma5 S(p2)^+ gamma5 is S(p2), but of the opposite twist where the mass is twisted.
 *
 * Sums are linear in what they are made of, so that means over configurations are means of the
 * numbers below. A "leg" is S(p), n x n complex numbers, n = 4 N, [source][sink]; a pair has S(p1),
 * S(p2), and then G of all Gamma in an order of legs.c. amputation.h makes Lambda of it. */
#pragma once

#include "gamma.h"
#include "lattice/header.h"

/* Reals of a leg, and of a pair; of G of the conserved current, four legs, of mu each. */
size_t lat_leg_reals(int nc);
size_t lat_pair_reals(int nc);
size_t lat_current_reals(int nc);

/* What is summed of propagators: S(p); a pair; a pair and behind it G of the conserved current. */
typedef enum { LAT_LEG, LAT_PAIR, LAT_PAIR_CURRENT } lat_legs_kind;
size_t lat_legs_reals(lat_legs_kind kind, int nc);

/* The part of global slice t, without 1/V. `first` and `second`, which may be one, are the slice
 * of S(x|p1) and S(x|p2), [site][source spin][source colour][spin][colour][re, im]. second NULL:
 * out is S(p1), else a pair. Chunks of sites have sums of their own, which are added in their
 * order. 0, or -1 without memory. */
typedef struct lat_legs {
    const lat_header *head;
    double n1[4], n2[4];
} lat_legs;
int lat_legs_slice(const lat_legs *l, int t, const double *first, const double *second,
                   double *out);

/* For a propagator of a point source: out[k] is the leg sum_{x in slice} e^{-ip(x - x0)} S(x) of
 * the spatial momentum number k. In one sum along x, y and z after the other. 0, or -1. */
typedef struct lat_fourier {
    const lat_header *head;
    const double (*n)[3];
    int count;
    int place[4]; /* x0 */
} lat_fourier;
int lat_fourier_slice(const lat_fourier *f, const double *slice, double *out);

/* The sum over time of spatial momentum number k and n along t, of what lat_fourier_slice made of
 * all slices. */
void lat_fourier_time(const lat_fourier *f, int k, double n, const double *all, double *leg);

/* e^{-i 2 pi n x / L} in z. */
void lat_momentum_phase(double n, int x, int L, double z[2]);
