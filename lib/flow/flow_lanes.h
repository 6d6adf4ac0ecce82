/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lanes.h: the gradient flow over vectors of sites. flow_lanes.c is compiled once for each
 * vector length of the processor family and each N, as link_lanes.c is. All in double. */
#ifndef LAT_FLOW_FLOW_LANES_H
#define LAT_FLOW_FLOW_LANES_H

#include "flow_internal.h"
#include "grid/lane_links.h"
#include "site/groups.h"

/* Links and staples of planes have ghosts; the others have not. An element of the algebra
 * (site/flow.h) of each link: number e of U_mu of block b, lane l is at
 * [((b * nd + mu) * N N + e) * lanes + l]. */
typedef struct lat_flow_work {
    lat_lane_links u, start; /* links; those before the step */
    lat_lane_links plane;    /* of LAT_FLOW_STAPLES; with rectangles alone */
    double *y, *again;       /* elements of the algebra; `again` with `start` */
    double c0, c1;           /* of the action: of plaquettes, of rectangles */
    int mu, nu;              /* of the plane */
} lat_flow_work;

/* Blocks begin .. end-1, unless it says otherwise. */

/* y = beta y + alpha Z, Z = - c0 P[sum of the plaquettes that begin with the link]. */
typedef void lat_flow_force(const lat_flow_work *w, double beta, double alpha, int begin, int end);

/* The staples of plane mu, nu; then y of U_mu and U_nu = beta y + alpha Z, Z of plaquettes and
 * rectangles of this plane. */
typedef void lat_flow_plane(const lat_flow_work *w, int begin, int end);

/* u <- exp(eps y) u. The eigenvalues of eps y are at most 2^halvings. */
typedef void lat_flow_apply(const lat_flow_work *w, double eps, int halvings, int begin, int end);

/* The square of the largest distance (Frobenius norm) of u from exp(eps again) start among the
 * links of each site: to out[i], i being the own site's natural index (grid/cpu_reduce.h). */
typedef void lat_flow_apart(const lat_flow_work *w, double eps, int halvings, int begin, int end,
                            double *out);

/* LAT_FLOW_NUMBERS numbers of each site, to out[LAT_FLOW_NUMBERS i ..]. */
typedef void lat_flow_numbers(const lat_flow_work *w, int begin, int end, double *out);

typedef struct lat_flow_lanes {
    int nc, rows; /* rows of a link that are kept */
    lat_flow_force *force;
    lat_flow_plane *staples;
    lat_flow_force *plane;
    lat_flow_apply *apply;
    lat_flow_apart *apart;
    lat_flow_numbers *numbers;
} lat_flow_lanes;

#endif
