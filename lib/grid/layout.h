/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h: which site is in which lane of which vector.
 *
 * A block is one vector's worth of sites, all of one parity; blocks of even sites come first.
 * Where the extents allow it the lattice is cut into as many equal boxes of even extents as a
 * vector has lanes, and a block holds the same site of every box: then the neighbours of a
 * block are a block again, sometimes with its lanes permuted at the rim of the boxes. Otherwise
 * a block holds consecutive sites of one parity and its neighbours are collected lane by lane.
 * The arithmetic of a site is the same either way. */
#ifndef LAT_BACKEND_LAYOUT_H
#define LAT_BACKEND_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include "common/geometry.h"

/* The neighbour of a block in one of its 2 nd directions: +x, +y, .. -x, -y, .. */
typedef struct lat_step {
    int32_t block; /* where it is; or, if perm is -1, the row of `collect` that lists its slots */
    int32_t perm;  /* 0: lanes as they are; n > 0: lane l comes from lane perm[n][l]; -1: collect */
} lat_step;

typedef struct lat_layout {
    lat_geometry geom;
    int lanes;
    bool boxes;         /* cut into boxes, or consecutive sites */
    int nblocks, neven; /* blocks 0 .. neven-1 hold even sites, the rest odd ones */
    int64_t *site;  /* [nblocks][lanes]: natural index of the site, -1 for a lane that is idle */
    lat_step *step; /* [nblocks][2 nd] */
    int nperms;
    int64_t *perm;   /* [nperms][lanes] as 64-bit ... */
    int32_t *perm32; /* ... and as 32-bit lane numbers, as permuting instructions want them */
    int64_t ncollect;
    int64_t *collect; /* [ncollect][lanes]: slot = block * lanes + lane */
} lat_layout;

/* NULL, with lat_error set, if an extent is odd or 1 (no checkerboard) or memory is short. */
lat_layout *lat_layout_new(const lat_geometry *geom, int lanes);
void lat_layout_free(lat_layout *lay);

/* The slot one step from another, k = 0 .. 2 nd - 1 as in lay->step. An idle one leads to itself.
 */
static inline int64_t lat_slot_next(const lat_layout *lay, int64_t slot, int k)
{
    const int64_t b = slot / lay->lanes, lane = slot % lay->lanes;
    const lat_step s = lay->step[b * 2 * lay->geom.nd + k];
    return s.perm < 0 ? lay->collect[(int64_t)s.block * lay->lanes + lane]
                      : (int64_t)s.block * lay->lanes + lay->perm[s.perm * lay->lanes + lane];
}

#endif
