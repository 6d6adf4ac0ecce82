/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_fill.h: from the elements of a set in an HDF5 file to the numbers of a field. */
#pragma once

#include "hdf5.h"

#define LAT_HDF5_INSIDE_MOST (4 * 16 * 16 * 2) /* reals of an element: four links of SU(16) */

typedef struct lat_hdf5_filler {
    const lat_hdf5_set *set;
    void *data;                                     /* reals of the set's precision */
    size_t stride[8], inside[LAT_HDF5_INSIDE_MOST]; /* of its axes; of the reals of an element */
    size_t reals;
} lat_hdf5_filler;

/* `stride`: reals of the field between two values of each axis of the set, its nested arrays
 * included, and of re and im. An element has at most LAT_HDF5_INSIDE_MOST reals. */
void lat_hdf5_fill_plan(lat_hdf5_filler *w, const lat_hdf5_set *set, void *data,
                        const size_t stride[LAT_HDF5_RANK + 1]);

/* Are there links, and no spinors? Not on a pipe. (fmt_hdf5.c) */
bool lat_hdf5_has_links(lat_input *in);

/* A lat_hdf5_put with a filler. */
void lat_hdf5_fill(void *filler, const uint64_t *index, const unsigned char *element);
