/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.h: what a field is, measured on the host in double precision (docs/conventions.md).
 *
 * Sums are taken in an order that does not depend on the number of threads. */
#ifndef LAT_MEASURE_H
#define LAT_MEASURE_H

#include "condition.h"
#include "field.h"

/* Mean of Re tr U_p / N over all plaquettes (0 in one dimension: NaN), and of Re tr U_mu / N
 * over all links. */
int lat_measure_plaquette(const lat_field *f, double *plaquette, double *link_trace);

/* Polyakov loop along mu: mean over the transverse sites of tr prod U_mu / N; re, im. */
int lat_measure_polyakov(const lat_field *f, int mu, double loop[2]);

typedef struct lat_deviation {
    double det_mean, det_max;             /* |1 - det U| over all matrices */
    double unitarity_mean, unitarity_max; /* largest element of |U U^+ - 1|, a matrix each */
} lat_deviation;
int lat_measure_deviation(const lat_field *f, lat_deviation *d);

typedef struct lat_gauge_state {
    double functional;
    double theta;       /* mean over sites */
    double theta_max;   /* of a site */
    double theta_slice; /* largest mean over a slice that is fixed on its own; else as theta */
} lat_gauge_state;

/* How well the links fulfil a gauge condition, docs/gauges.md and docs/conventions.md:
 *   Landau, Coulomb  F = 1/(N W V) sum w_mu Re tr U_mu(x), W = sum w_mu;
 *                    Delta(x) = sum_mu w_mu (U_mu(x) - U_mu(x-mu)) - h.c. - trace;
 *                    theta(x) = tr Delta Delta^+ / N
 *   MAG              F = 1/(N D V) sum |U_mu(x)_ii|^2; theta(x) = sum_{a<b} |X_ab|^2 / N,
 *                    X_ab = sum over the 2 D links V away from x of
 *                    V_aa conj(V_ba) - V_ab conj(V_bb)
 * `slices`, if not NULL, gets theta of each slice (lat_condition_slices of them). */
int lat_measure_gauge(const lat_field *f, const lat_condition *c, lat_gauge_state *s, double *slices);

#endif
