/* SPDX-License-Identifier: BSD-3-Clause */
/* fine.h: the finest level: batches of lib/vector, whose vectors have sites in their lanes, and the
 * columns that transfers want.
 *
 * Components of a site are those of gamma5 = + and - of the host's basis, [chirality][spin][colour]
 * (vector/space.h). In single precision. C and C++. */
#pragma once

#include "dirac/dirac.h"
#include "multigrid/level.h"

typedef struct lat_mg_fine {
    const lat_mg_ops *ops;
    lat_space *space;
    lat_dirac *d;
    const lat_field *links; /* ghosts are up to date */
    const lat_field *box;   /* of lat_multigrid_options; in a setup */
    const double *at_hand;  /* on a GPU: they are there already; while it is opened */
    lat_transfer down;
    void *there; /* of the device */
} lat_mg_fine;

/* Blocks for the lattice, which must fit ranks: 0, or -1 with lat_error set. */
int lat_mg_fine_check(const lat_geometry *lattice, const lat_device *dev, int block[LAT_MAX_DIMS]);

/* For the links, which are set, above `coarse`, with these blocks and n vectors. 0, or -1 with
 * lat_error set; lat_mg_fine_close in either case. */
int lat_mg_fine_open(lat_mg_fine *f, lat_dirac *d, const int block[LAT_MAX_DIMS],
                     const lat_coarse *coarse, int n);
void lat_mg_fine_close(lat_mg_fine *f);

/* Weight and phase of the forward hop from coordinate x of direction mu; 0: there is none. */
void lat_mg_fine_factor(const lat_mg_fine *f, int mu, int x, double *re, double *im);

/* place[site of the blocks' list]: its position, without multiples of `half`. */
void lat_mg_fine_places(const lat_mg_fine *f, int64_t half, int32_t *place);

/* Eight columns of a host field in either precision from `first` on become those of `stage`, which
 * is in double and has no others, in single precision; or back, to a field in single precision. */
void lat_mg_to_stage(const lat_field *f, int first, lat_field *stage);
void lat_mg_from_stage(const lat_field *stage, int first, lat_field *f);
