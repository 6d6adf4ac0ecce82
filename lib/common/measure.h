/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.h: what a field is, measured on the host in double precision (docs/conventions.md).
 *
 * Sums are taken in an order that does not depend on the number of threads. */
#ifndef LAT_MEASURE_H
#define LAT_MEASURE_H

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
    double theta;      /* mean over sites */
    double theta_max;  /* largest of a site, tr Delta Delta^+ / N */
} lat_gauge_state;

/* Landau gauge: F = 1/(N D V) sum Re tr U_mu(x); Delta(x) = sum_mu (U_mu(x) - U_mu(x-mu)) - h.c.
 * - trace; theta = 1/(N V) sum_x tr Delta Delta^+. */
int lat_measure_landau(const lat_field *f, lat_gauge_state *s);

#endif
