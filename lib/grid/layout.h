/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h: which site is in which lane of which vector, on the CPU.
 *
 * A block is one vector's worth of sites, all of one parity; blocks of even sites come first.
 * Where the extents allow it the lattice is cut into as many equal boxes of even extents as a
 * vector has lanes. A block holds the same site of every box. Then the neighbours of a block are a
 * block again, sometimes with its lanes permuted at the faces of the boxes. Otherwise a block holds
 * consecutive sites of one parity and its neighbours are collected lane by lane. The arithmetic of
 * a site is the same either way.
 *
 * With a halo the layout is of a slab and a ghost slice on either side. Local coordinates are those
 * of the lattice, but along the last axis 0 is the ghost slice below, 1 to count are the own
 * slices, and count + 1 is the ghost slice above. The parity of a site is the parity of its
 * coordinates in the lattice, of ghosts too. Blocks of ghosts follow the own ones; their steps are
 * right within their slice. Lanes do not run along the last axis then. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "comm/comm.h"
#include "common/geometry.h"

/* The neighbour of a block in one of its 2 nd directions: +x, +y, .. -x, -y, .. */
typedef struct lat_step {
    int32_t block; /* where it is; or, if perm is -1, the row of `collect` that lists its slots */
    int32_t perm;  /* 0: lanes as they are; n > 0: lane l comes from lane perm[n][l]; -1: collect */
} lat_step;

/* Sites of one parity in the own face on one side of an axis, and in the ghost slice there: their
 * positions, block * lanes + lane, in natural order, which is the order in which they travel. */
typedef struct lat_face {
    int axis, side; /* LAT_DOWN or LAT_UP */
    int64_t sites, *own;
    int64_t ghosts, *ghost;
} lat_face;

/* At most: both sides of the axis that ranks cut. */
enum { LAT_FACES = LAT_SIDES };

typedef struct lat_layout {
    lat_geometry geom; /* local */
    int lanes;
    bool boxes;         /* cut into boxes, or consecutive sites */
    int nblocks, neven; /* own blocks: 0 .. neven-1 hold even sites, the rest odd ones */
    int nghost;         /* blocks of ghosts, after the own ones */
    int64_t first;  /* natural index of the first own site: the sites of the ghost slice below */
    int64_t *site;  /* [blocks][lanes]: natural index of the site, -1 for a lane that is idle */
    lat_step *step; /* [blocks][2 nd] */
    int nperms;
    int64_t *perm;   /* [nperms][lanes] as 64-bit ... */
    int32_t *perm32; /* ... and as 32-bit lane numbers, as permuting instructions want them */
    int64_t ncollect;
    int64_t *collect; /* [ncollect][lanes]: position = block * lanes + lane */
    int low[2],
        high[2]; /* of each parity: blocks before low and from high on have sites in faces */
    int faces;   /* with ghosts: LAT_FACES */
    lat_face face[2][LAT_FACES]; /* [parity] */
} lat_layout;

/* Cuts the first `axes` axes in two, the longest boxes first, until there are so many boxes; false
 * if they would get odd extents before: boxes[mu] are then as many as there can be. */
bool lat_layout_cut(const lat_geometry *geom, int axes, int count, int boxes[LAT_MAX_DIMS]);

/* For a whole lattice (own NULL), or of the slices `own` of it with a halo. NULL, with lat_error
 * set, if memory is short. Across the boundary of an odd extent a site's neighbour has its own
 * parity: grid.h refuses such lattices where that matters. */
lat_layout *lat_layout_new(const lat_geometry *lattice, const lat_slab *own, int lanes);
void lat_layout_free(lat_layout *lay);

/* The position one step from another, k = 0 .. 2 nd - 1 as in lay->step. An idle one leads to
 * itself. */
static inline int64_t lat_position_next(const lat_layout *lay, int64_t position, int k)
{
    const int64_t b = position / lay->lanes, lane = position % lay->lanes;
    const lat_step s = lay->step[b * 2 * lay->geom.nd + k];
    return s.perm < 0 ? lay->collect[(int64_t)s.block * lay->lanes + lane]
                      : (int64_t)s.block * lay->lanes + lay->perm[s.perm * lay->lanes + lane];
}
