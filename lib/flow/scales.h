/* SPDX-License-Identifier: BSD-3-Clause */
/* scales.h: t0 and w0 from densities along the flow.
 *
 * t0 (Luescher, JHEP 08 (2010) 071): t^2 E = 0.3 at t = t0. w0 (Borsanyi et al., JHEP 09 (2012)
 * 010): t d/dt (t^2 E) = 0.3 at t = w0^2. Both are the first crossing from below, between rows at
 * equal distances. The polynomial of third order through the four rows around it has the crossing;
 * derivatives come from the polynomial of fourth order through five rows. */
#pragma once

#define LAT_FLOW_LEVEL .3

typedef struct lat_flow_scales {
    double t0, w0; /* NaN where no row is above */
    int needed;    /* with so many rows they are what they are with any more; INT_MAX: not known */
} lat_flow_scales;

/* t d/dt (t^2 E) at row i, from five rows or all of them; NaN from one row. */
double lat_flow_slope(int rows, const double *t, const double *density, int i);

/* `rows` rows at rising times t, at equal distances, with the densities E. */
lat_flow_scales lat_flow_scales_of(int rows, const double *t, const double *density);
