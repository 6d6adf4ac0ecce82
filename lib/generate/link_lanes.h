/* SPDX-License-Identifier: BSD-3-Clause */
/* link_lanes.h: pure gauge theory over vectors of sites. link_lanes.c is compiled once for each
 * vector length of the processor family, as fix_lanes.c is; each compilation exports one table. */
#ifndef LAT_GENERATE_LINK_LANES_H
#define LAT_GENERATE_LINK_LANES_H

#include "grid/lane_links.h"
#include "site/groups.h"
#include "site/update.h"

typedef struct lat_link_work {
    lat_lane_links links;
    const int64_t *site; /* of the whole lattice, of every lane: [blocks][lanes] */
    double weight[2];    /* of a plane without and with the last direction: 1/xi, xi */
} lat_link_work;

typedef struct lat_link_how {
    double k;          /* beta / N */
    lat_update update; /* heat bath, microcanonical or Metropolis */
    uint64_t seed;
    uint32_t config, step;
} lat_link_how;

/* New U_mu of blocks begin..end-1, all of one parity. */
typedef void lat_link_update(const lat_link_work *w, int mu, int begin, int end,
                             const lat_link_how *how);

/* All links of these blocks back to SU(N). */
typedef void lat_link_reunit(const lat_link_work *w, int begin, int end);

/* Re tr U_p of the plaquettes in positive directions from each site of these blocks, added up: of
 * planes without the last direction to out[2 i], with it to out[2 i + 1], i being the own site's
 * natural index (grid/cpu_reduce.h). */
typedef void lat_link_plaquette(const lat_link_work *w, int begin, int end, double *out);

typedef struct lat_link_lanes {
    int nc, real, lanes, rows; /* as in lat_fix_lanes; rows of a link that are kept */
    lat_link_update *update;
    lat_link_reunit *reunit;
    lat_link_plaquette *plaquette;
} lat_link_lanes;

#endif
