/* SPDX-License-Identifier: BSD-3-Clause */
/* link_lanes.h: pure gauge theory over vectors of sites. link_lanes.c is compiled once for each
 * vector length of the processor family, as fix_lanes.c is; each compilation exports one table. */
#pragma once

#include "generate.h"
#include "grid/lane_links.h"
#include "site/groups.h"

typedef struct lat_link_work {
    lat_lane_links links;
    const int64_t *site; /* of the whole lattice, of every lane: [blocks][lanes] */
    double weight[2];    /* of a plane without and with the last direction: 1/xi, xi */
    double k;            /* beta / N */
} lat_link_work;

/* Of blocks begin .. end-1. */
typedef struct lat_link_lanes {
    /* New U_mu, of blocks of one parity, in the one sweep how->step. */
    void (*update)(const lat_link_work *w, int mu, int begin, int end, const lat_link_sweep *how);
    /* All links back to SU(N). */
    void (*reunit)(const lat_link_work *w, int begin, int end);
    /* Re tr U_p of the plaquettes in positive directions from each site, added up: of planes
     * without the last direction to out[2 i], with it to out[2 i + 1], i being the own site's
     * natural index (grid/cpu_reduce.h). */
    void (*plaquette)(const lat_link_work *w, int begin, int end, double *out);
} lat_link_lanes;
