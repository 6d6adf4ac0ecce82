/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_links.h: matrices of SU(N) in vector lanes, as lat_dfield has them on the CPU. What reads
 * them is in lane_staples.h, a template. */
#pragma once

#include "layout.h"

/* Blocks in the layout's order, in each the objects (links: the directions), of each its rows that
 * are kept (N - 1 for SU(2) and SU(3), else N; re, im), then the lane: element e of object k of
 * block b, lane l is at [((b * objects + k) * elements + e) * lanes + l]. */
typedef struct lat_lane_links {
    const lat_layout *lay;
    void *data;
    int objects;
} lat_lane_links;
