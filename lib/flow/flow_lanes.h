/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lanes.h: the gradient flow over vectors of sites. flow_lanes.c is compiled once for each
 * vector length of the processor family and each N, as link_lanes.c is. All in double. */
#pragma once

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
    double temporal;         /* weight of staples across time of links in space */
    int64_t below, above;    /* with open time, sites of the first slice are those below `below`, of
                              * the last slice those from `above` on: none where it is not */
    int mu, nu;              /* of the plane */
    lat_flow_stage stage;
} lat_flow_work;

/* Of blocks begin .. end-1. */
typedef void lat_flow_pass(const lat_flow_work *w, int begin, int end);

/* Numbers of each of their sites, to out[numbers * i ..], i being the own site's natural index
 * (grid/cpu_reduce.h). */
typedef void lat_flow_count(const lat_flow_work *w, int begin, int end, double *out);

typedef struct lat_flow_lanes {
    /* y = beta y + alpha Z, Z = - c0 P[sum of the plaquettes that begin with the link]. */
    lat_flow_pass *force;
    /* The staples of plane mu, nu; then y of U_mu and U_nu = beta y + alpha Z, Z of plaquettes and
     * rectangles of this plane. */
    lat_flow_pass *staples, *plane;
    lat_flow_pass *apply; /* u <- exp(eps y) u */
    /* The square of the largest distance (Frobenius norm) of u from exp(eps again) start. */
    lat_flow_count *apart;
    lat_flow_count *numbers; /* LAT_FLOW_NUMBERS numbers */
} lat_flow_lanes;
