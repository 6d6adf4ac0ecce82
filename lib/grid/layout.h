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
 * With a halo the layout is of a box and the ghosts around it, along the axes that are cut. Local
 * coordinates are those of the lattice, but along a cut axis 0 is the ghost below, 1 to count are
 * own, and count + 1 is the ghost above. The parity of a site is the parity of its coordinates in
 * the lattice, of ghosts too. Of each parity blocks with sites in faces come first; blocks of
 * ghosts follow all own ones, and their steps are right as far as they lead to own sites or ghosts.
 * Lanes do not run along cut axes, nor along those after them. */
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

/* A rank's part of a lattice, and the axes along which it has ghosts. */
typedef struct lat_own {
    int first[LAT_MAX_DIMS], count[LAT_MAX_DIMS];
    bool cut[LAT_MAX_DIMS];
} lat_own;

/* A number below LAT_TAGS for each neighbour, one step or none away along each axis; `opposite`:
 * the number of the neighbour on the other side. */
static inline void lat_step_of(int number, int step[LAT_MAX_DIMS])
{
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++, number /= 3)
        step[mu] = number % 3 - 1;
}

static inline int lat_step_number(const int step[LAT_MAX_DIMS], bool opposite)
{
    int number = 0;
    for (int mu = LAT_MAX_DIMS - 1; mu >= 0; mu--)
        number = 3 * number + (opposite ? -step[mu] : step[mu]) + 1;
    return number;
}

/* Sites of one parity in the own face, or edge, towards a neighbour, and in the ghosts there: their
 * positions, block * lanes + lane, in natural order, which is the order in which they travel. */
typedef struct lat_face {
    int step[LAT_MAX_DIMS]; /* to the neighbour */
    int64_t sites, *own;
    int64_t ghosts, *ghost;
} lat_face;

typedef struct lat_layout {
    lat_geometry geom; /* local, ghosts included ... */
    lat_geometry here; /* ... and without them */
    int lanes;
    bool boxes;         /* cut into boxes, or consecutive sites */
    int nblocks, neven; /* own blocks: 0 .. neven-1 hold even sites, the rest odd ones */
    int inner[2];       /* of each parity: the first block without sites in faces */
    int nghost;         /* blocks of ghosts, after the own ones */
    int64_t *site;      /* [nblocks][lanes]: natural index among own sites, -1: an idle lane */
    int64_t *local;     /* [blocks][lanes]: natural index among local sites, ghosts included */
    lat_step *step;     /* [blocks][2 nd] */
    int nperms;
    int64_t *perm;   /* [nperms][lanes] as 64-bit ... */
    int32_t *perm32; /* ... and as 32-bit lane numbers, as permuting instructions want them */
    int64_t ncollect;
    int64_t *collect;               /* [ncollect][lanes]: position = block * lanes + lane */
    int plain, faces;               /* faces: plain ones, then edges, where two axes are cut */
    lat_face face[2][LAT_MESSAGES]; /* [parity] */
} lat_layout;

/* Cuts the first `axes` axes in two, the longest boxes first, until there are so many boxes; false
 * if they would get odd extents before: boxes[mu] are then as many as there can be. */
bool lat_layout_cut(const lat_geometry *geom, int axes, int count, int boxes[LAT_MAX_DIMS]);

/* For a whole lattice (own NULL), or of a part of it with a halo. NULL, with lat_error set, if
 * memory is short. Across the boundary of an odd extent a site's neighbour has its own parity:
 * grid.h refuses such lattices where that matters. Of odd extents the last one may be cut. */
lat_layout *lat_layout_new(const lat_geometry *lattice, const lat_own *own, int lanes);
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
