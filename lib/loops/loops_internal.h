/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_internal.h: what Wilson and Polyakov loops share on the CPU. */
#pragma once

#include "loops_device.h"
#include "loops_lanes.h"

/* Links in temporal gauge: g(x, 0) = 1 makes all links along the last axis 1, but those across the
 * boundary, which are `around`: L(x, 0; slices). */
typedef struct lat_loops_frame {
    const lat_comm *comm;
    lat_geometry space; /* of a slice */
    size_t sites;
    int n, axes; /* spatial ones */
    lat_slab slab;
    int slices;
    bool wide;             /* enough work for several threads, which wait for each other often */
    lat_timewise own, all; /* of this rank's slices; of all slices */
    lat_simd8 *g;          /* of this rank's slices */
    double *around;        /* [sites][2 N N] */
} lat_loops_frame;

/* Of the links of u, or of `how->time_links` of them: 0 or -1. `g`: with g(x). */
int lat_loops_frame_open(lat_loops_frame *f, const lat_field *u, const lat_loops_how *how, bool g);
void lat_loops_frame_close(lat_loops_frame *f);

/* links[level * axes + axis]: timewise spatial links in temporal gauge, zero outside of a window;
 * to be freed, also after -1. */
int lat_loops_links(const lat_loops_frame *f, const lat_field *u, const lat_loops_how *how,
                    lat_simd8 **links);

/* A slice is cut into so many chunks at most, of `each` sites; sums of chunks are added in their
 * order. A rank sums loops of chunks first .. first + count - 1. */
enum { LAT_LOOPS_CHUNKS = 256 };
typedef struct lat_loops_chunks {
    size_t sites, each;
    int count;
} lat_loops_chunks;
lat_loops_chunks lat_loops_chunks_of(size_t sites);
lat_slab lat_loops_chunks_own(const lat_loops_frame *f, const lat_loops_chunks *c, int rank);

/* Chunks first .. first + count - 1 begin and end at these sites. */
static inline size_t lat_loops_begin(const lat_loops_chunks *c, int chunk)
{
    const size_t at = (size_t)chunk * c->each;
    return at < c->sites ? at : c->sites;
}

/* Every rank has all sites of its own slices; it gets all slices of the sites of its chunks. Not
 * for one rank. All ranks call it. */
int lat_loops_gather(const lat_loops_frame *f, const lat_loops_chunks *c, const lat_simd8 *own,
                     lat_simd8 *all);
