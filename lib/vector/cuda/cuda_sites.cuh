/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_sites.cuh: how sites of a parity are numbered on a GPU. */
#pragma once

#include "grid/cuda_grid.cuh"
#include "vector/cuda/cuda_spinor.cuh"
#include "vector/faces.h"

/* Sites of a parity: i = within a brick of bx x by sites in (x/2, y) + bricks + slices of z and t.
 * A brick of 32 sites is a group: neighbours in z and t are whole groups then. Where no brick fits
 * it is the whole plane, and i is x/2 + X/2 (y + Y (z + Z t)). */
typedef struct lat_gpu_sites {
    uint32_t extent[4];        /* the first one halved */
    uint32_t half;             /* sites of a parity */
    uint32_t brick[2], across; /* bx, by; bricks side by side in x */
    uint32_t plane, slice;     /* sites of an (x, y) plane, of a slice of t */
    uint32_t strip; /* pairs of z before the next pair of t, in tile order; 0: no tiles */
    lat_cuda_divisor by_brick[2], by_across, by_size, by_plane, by_z; /* by_size: bx by */
    lat_cuda_divisor by_groups, by_strip, by_pairs_t; /* of tile order: groups of a plane, .. */
    uint32_t odd;
    uint32_t
        back; /* from a site of slice 0 to its neighbour back in t: the last slice, or a ghost */
    uint32_t back_z;             /* from one of plane 0 of a slice to its neighbour back in z */
    uint32_t pairs[2], begin[2]; /* of z and t in tile order: how many, and the first one */
    uint32_t ghosts; /* bit k, of 1, 2, 3, 5, 6, 7: neighbours k (y+, z+, t+, y-, z-, t-) across the
                      * boundary of this rank's box are ghosts */
    uint32_t lead;   /* 1: host fields with ghosts are boxes, ghosts before own sites and behind
                      * them; 0: slabs, ghosts behind them */
} lat_gpu_sites;

/* Where z is cut, the numbers of sites have gaps in the whole lattice: there site i of a parity has
 * number i + before + over t. */
typedef struct lat_gpu_whole {
    uint32_t before, over;
    lat_cuda_divisor by_slice;
} lat_gpu_whole;

DEVICE uint32_t whole_number(const lat_gpu_whole &w, uint32_t i)
{
    return i + w.before + (w.over ? lat_cuda_quotient(i, w.by_slice) * w.over : 0);
}

/* Where y is cut, planes have gaps, too: site i has number i + before + over (z + Z t) in whole
 * planes of this rank's slices, and from there whole_number() goes on. */
typedef struct lat_gpu_rows {
    uint32_t before, over;
    lat_cuda_divisor by_plane;
} lat_gpu_rows;

DEVICE uint32_t whole_number(const lat_gpu_whole &w, const lat_gpu_rows &r, uint32_t i)
{
    return whole_number(w, i + r.before + (r.over ? lat_cuda_quotient(i, r.by_plane) * r.over : 0));
}

DEVICE uint32_t hop_x(const lat_gpu_sites &s, uint32_t x)
{
    const uint32_t q = lat_cuda_quotient(x, s.by_brick[0]);
    return q * (s.brick[0] * s.brick[1]) + x - q * s.brick[0];
}

DEVICE uint32_t hop_y(const lat_gpu_sites &s, uint32_t y)
{
    const uint32_t q = lat_cuda_quotient(y, s.by_brick[1]);
    return q * (s.extent[0] * s.brick[1]) + (y - q * s.brick[1]) * s.brick[0];
}

/* Coordinates of site i, c[0] being half of x; returns whether x is odd. */
DEVICE bool hop_coordinates(const lat_gpu_sites &s, uint32_t i, int parity, uint32_t c[4])
{
    const uint32_t zt = lat_cuda_quotient(i, s.by_plane), r = i - zt * s.plane;
    const uint32_t size = s.brick[0] * s.brick[1];
    const uint32_t b = lat_cuda_quotient(r, s.by_size), in = r - b * size;
    const uint32_t by = lat_cuda_quotient(b, s.by_across), bx = b - by * s.across;
    const uint32_t iy = lat_cuda_quotient(in, s.by_brick[0]), ix = in - iy * s.brick[0];
    c[0] = bx * s.brick[0] + ix;
    c[1] = by * s.brick[1] + iy;
    c[3] = lat_cuda_quotient(zt, s.by_z);
    c[2] = zt - c[3] * s.extent[2];
    return (c[1] + c[2] + c[3] + (uint32_t)parity + s.odd) & 1;
}

/* The number of a block in the order of a launch, behind `senders`, which send faces. */
DEVICE uint32_t block_number(bool backwards, uint32_t senders)
{
    return backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x - senders;
}
