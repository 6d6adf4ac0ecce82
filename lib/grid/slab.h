/* SPDX-License-Identifier: BSD-3-Clause */
/* slab.h: the layout (layout.h) of a rank's slices across the last axis, with a ghost slice on
 * either side.
 *
 * Local coordinates: those of the lattice, but 0 along the last axis is the ghost before the own
 * slices, which are 1 to count, and count + 1 the ghost after them. The parity of a site is that of
 * its coordinates in the lattice. The ghosts' blocks follow the own ones: nobody sweeps them. Their
 * steps are right within their slice. Lanes do not run along the last axis. */
#ifndef LAT_BACKEND_SLAB_H
#define LAT_BACKEND_SLAB_H

#include "comm/comm.h"
#include "layout.h"

enum { LAT_DOWN, LAT_UP };

typedef struct lat_slab_layout {
    lat_layout
        *lay;   /* geom: local; nblocks: own blocks; site and collect know the ghosts' as well */
    int nghost; /* blocks of ghosts */
    int low[2], high[2]; /* of each parity, blocks up to low and from high on have sites in the own
                            slices at the rim */
    int64_t n[2][2];     /* [parity][side] sites of the own slice there ... */
    int64_t *own[2][2];  /* ... their slots in natural order, */
    int64_t nghosts[2][2]; /* and those of the ghost there, */
    int64_t *ghost[2][2];  /* in the same order: that in which they come */
} lat_slab_layout;

/* For the slices `own` of a lattice; NULL with lat_error set as lat_layout_new. */
lat_slab_layout *lat_slab_layout_new(const lat_geometry *lattice, lat_slab own, int lanes);
void lat_slab_layout_free(lat_slab_layout *s);

#endif
