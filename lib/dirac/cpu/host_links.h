/* SPDX-License-Identifier: BSD-3-Clause */
/* host_links.h: links of host fields into the lanes of a CPU, as an operator has them. Arithmetic
 * is in double, four lanes in a vector; the text is compiled for the vector lengths of x86. A call
 * does a block, whose sites are site[lanes], by natural index; -1: an idle lane. */
#pragma once

#include "grid/team.h"
#include "lattice/field.h"

/* Links as an operator has them: G(x) U_mu(x) G(x+mu)^+ of a gauge g, NULL: 1. */
typedef struct lat_host_links {
    const lat_field *u, *g;
    bool unit;           /* those of t are 1 but on the last slice */
    int reals;           /* of a link */
    lat_lane_view to[2]; /* [direction of a hop][reals]: those of t, and of space */
} lat_host_links;

typedef struct lat_link_lanes {
    /* Returns which directions of t have links that are all 1, bits d, forwards and backwards:
     * those are not written. */
    unsigned (*links)(const lat_host_links *t, const int64_t *site, int64_t block);

    /* Of matrices first .. first+count-1 of SU(nc), count <= 4: by how much the last row of one, or
     * its last column, differs at most from what the others make it; NaN where numbers are none. */
    double (*follows)(const lat_field *u, int nc, size_t first, size_t count);
} lat_link_lanes;

const lat_link_lanes *lat_link_lanes_widest(void); /* of this processor */
