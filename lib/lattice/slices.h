/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.h: slices of a field: all sites of one coordinate along the last axis. In natural order
 * they are contiguous, one after the other. So a field can be read, measured and written a few
 * slices at a time. */
#pragma once

#include "header.h"

/* The number of slices; sites, matrices and bytes (whole matrices of head->real) of one. */
static inline int lat_slices(const lat_header *head) { return head->geom.dims[head->geom.nd - 1]; }

static inline size_t lat_slice_sites(const lat_header *head)
{
    return lat_volume(&head->geom) / (size_t)lat_slices(head);
}

static inline size_t lat_slice_matrices(const lat_header *head)
{
    return lat_header_matrices(head) / (size_t)lat_slices(head);
}

static inline size_t lat_slice_bytes(const lat_header *head)
{
    return lat_slice_matrices(head) * lat_header_full_reals(head) * (size_t)head->real;
}

/* Are slices one after the other in this order of sites and links in nd dimensions? */
static inline bool lat_order_sliced(const lat_order *o, int nd)
{
    return !o->sites[0] || o->sites[0] == "xyzt"[nd - 1];
}
