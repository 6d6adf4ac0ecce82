/* SPDX-License-Identifier: BSD-3-Clause */
/* box.h: the grid of ranks, and the box of a lattice that each of them has on its device.
 *
 * Ranks cut the last axis into slabs, or, as --grid says, the axes before it, too, but never x.
 * Ranks are numbered as sites are: lower axes first. Of an axis other than the last one the parts
 * are equal and even. Host fields are slabs on any grid (field.h); what works on a box takes a host
 * field as one. */
#pragma once

#include "field.h"

typedef struct lat_box {
    int ranks[LAT_MAX_DIMS], at[LAT_MAX_DIMS]; /* of the grid; of this rank in it */
    int first[LAT_MAX_DIMS], count[LAT_MAX_DIMS];
} lat_box;

/* The box of this rank: on the grid of --grid (lat_comm_grid), or where that is not given on slabs,
 * if a rank gets two slices, else with two, four or eight parts of the axis before the last one.
 * -1, with a sentence that names a grid that can be, if there is one. */
int lat_box_of(const lat_comm *comm, const lat_geometry *lattice, lat_box *box);

/* The box of another rank of the same grid. */
lat_box lat_box_at(const lat_box *box, const lat_geometry *lattice, int rank);

/* The rank so many steps away along each axis, periodically. */
int lat_box_rank(const lat_box *box, const int step[LAT_MAX_DIMS]);

/* The grid of ranks of a lattice, such as "1,1,2,4"; "1" where there is none. */
const char *lat_box_text(const lat_comm *comm, const lat_geometry *lattice, char text[64]);

/* Is it a slab: is the last axis alone cut? */
bool lat_box_slab(const lat_box *box, const lat_geometry *lattice);

/* v = this rank's box of a host field, n objects a site, undefined. 0, or -1 with lat_error set. */
int lat_box_part(const lat_box *box, const lat_field *u, int n, bool ghosts, lat_field *v);

/* v = this rank's box of a host field, whose ghosts need not be up to date: these n objects of each
 * site. `ghosts`: with the sites around it along cut axes. v belongs to no communicator. All ranks
 * call it: 0, or -1 with lat_error set. */
int lat_box_take(const lat_box *box, const lat_field *u, int n, const int *object, bool ghosts,
                 lat_field *v);

/* The same of all objects of a site, with ghosts, where ranks of u have boxes; where they have
 * slabs v has no data. */
int lat_box_take_own(const lat_comm *comm, const lat_field *u, lat_field *v);

/* And back: the objects of v become these of u. */
int lat_box_give(const lat_box *box, const lat_field *v, int n, const int *object, lat_field *u);
