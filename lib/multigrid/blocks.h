/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h: how a lattice is cut into blocks, which are the sites of a coarser lattice.
 *
 * Extents of blocks follow from the lattice alone. Sites of a coarse lattice are numbered: even
 * ones first, then odd ones, each in natural order; where an extent is odd there are no even and
 * odd sites, and all count as odd. A rank has the blocks of its slab or box of the fine lattice. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "lattice/box.h"

/* A coarse lattice. */
typedef struct lat_mg_sites {
    lat_geometry geom;
    bool even_odd;
    int count, odd;     /* sites; the number of the first odd one */
    int32_t *number;    /* [natural index] */
    int32_t *next;      /* [count][8]: +x, +y, +z, +t, -x .. */
    int from[2], to[2]; /* even and odd sites that this rank computes: from .. to-1 */
    int32_t *blocks;    /* [count]: the blocks of each rank, one rank after the other; NULL: a rank
                           has blocks from .. to-1 */
} lat_mg_sites;

/* fine: this rank's box of the finest lattice, whose blocks the sites are; NULL: all of them are
 * this rank's. 0, or -1 with lat_error set. */
int lat_mg_sites_open(lat_mg_sites *s, const lat_geometry *geom, const lat_comm *comm,
                      const lat_box *fine);
void lat_mg_sites_close(lat_mg_sites *s);

/* [count]: the sites of a rank's blocks, one rank after the other. NULL with lat_error set; the
 * caller frees it. */
int32_t *lat_mg_sites_by_rank(const lat_mg_sites *s, int ranks);

/* Extents of blocks of a fine lattice: the first of 4, 3, 5, 2 and 6 that divides an extent such
 * that the quotient is even, else the first that divides it. 0, or -1 with lat_error set: an extent
 * that none divides. */
int lat_mg_fine_blocks(const lat_geometry *lattice, int block[LAT_MAX_DIMS]);

/* Of a coarse lattice: the first of 2, 3 and 5 that leaves an even extent, else 1. False where all
 * are 1. */
bool lat_mg_coarse_blocks(const lat_geometry *lattice, int block[LAT_MAX_DIMS]);

/* The sites of this rank, block by block: a list of even sites, then of odd ones. Those of block b
 * and parity p are list[start[p][b]] .. list[start[p][b + 1] - 1]. Blocks are those of this rank,
 * in natural order; `site` says which sites of the coarse lattice they are. */
typedef struct lat_blocks {
    int block[LAT_MAX_DIMS];
    lat_geometry own, coarse; /* of this rank's part; blocks in it */
    bool cut[LAT_MAX_DIMS];   /* other ranks have what follows along this axis */
    int count;                /* blocks of this rank */
    int64_t sites;
    int64_t *start[2]; /* [count + 1] */
    int64_t *list;     /* [sites]: natural index in this rank's part */
    int64_t *position; /* [natural index]: where in the list */
    int32_t *site;     /* [count] */
} lat_blocks;

/* box: of this rank; NULL: all. 0, or -1 with lat_error set. */
int lat_blocks_open(lat_blocks *b, const lat_geometry *lattice, const lat_box *box,
                    const int block[LAT_MAX_DIMS], const lat_mg_sites *coarse);
void lat_blocks_close(lat_blocks *b);

/* Sites of the face across an axis; of all faces of other ranks that follow this rank's sites. */
int64_t lat_blocks_face(const lat_blocks *b, int mu);
int64_t lat_blocks_ghosts(const lat_blocks *b);

/* The places in the list of the sites of the first face across an axis, in natural order. NULL with
 * lat_error set; the caller frees it. */
int64_t *lat_blocks_first_face(const lat_blocks *b, int mu);

/* next[site of the list][4]: twice the place in the list of its forward neighbour, + 1 where that
 * is in the same block. Along cut axes sites of the next ranks follow the list, those of their
 * first faces in natural order, axis by axis. NULL with lat_error set; the caller frees it. */
int32_t *lat_blocks_next(const lat_blocks *b);

/* The block that a site of this rank is in, by its natural index there. */
int lat_block_of(const lat_blocks *b, int64_t own);
