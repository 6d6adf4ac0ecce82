/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_grid.cuh: the sites of a grid (grid.h) on a GPU, for kernels and for what launches them.
 *
 * The sites of one parity of a slot, ghosts included, are numbered with half of x fastest,
 * i = x/2 + X/2 (y + Y (z + Z t)): a neighbour in y, z, t is a fixed distance away, and one in x
 * has the same number or the next. 32 sites are a group: the threads of a warp read 16 bytes (a
 * chunk) of their objects side by side. A field is
 *     [unit][parity][group][object][chunk][32]
 *
 * There are two forms of neighbours. A site's coordinates (lat_cuda_find): neighbours one by one,
 * few registers. Distances in i (lat_cuda_distances): the axes in any order, and distances add up,
 * so that sites two steps away are as cheap. */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>
extern "C" {
#include "grid.h"
}

#define LAT_CUDA_GROUP 32

/* n / d for n < 2^31 as a product: (n * mul >> 32) >> shift; mul = 0 stands for d = 1. */
typedef struct lat_cuda_divisor {
    uint32_t mul, shift;
} lat_cuda_divisor;

/* Three structs, so that a kernel is given no more than it needs: a launch takes the longer, the
 * more parameters it has. First the numbers of sites. */
typedef struct lat_cuda_sites {
    int nd, slots;   /* axes of a slot */
    uint32_t half;   /* sites of a parity of a slot, ghosts included */
    uint32_t groups; /* of 32, the last one perhaps not full */
    /* Own sites of a parity follow each other; the first and the last `face` of them are the
     * neighbours' ghosts, and as many ghosts lie before and behind them. Without a halo: from 0,
     * own = half, face 0. */
    uint32_t from, own, face;
    uint32_t odd; /* 1 where x + y + z + t of a slice here is odd when it is even in the lattice */
} lat_cuda_sites;

/* With their coordinates. */
typedef struct lat_cuda_grid : lat_cuda_sites {
    uint32_t extent[4];     /* of a slot, ghosts included, the first one halved; 1: there is none */
    uint32_t stride[4];     /* of i */
    lat_cuda_divisor by[3]; /* extent[0..2] */
    uint64_t site_step[4];  /* of the lattice's natural index, along the axes of a slot */
} lat_cuda_grid;

/* With the order of host fields: the lattice's directions, the one across which slots are cut (-1:
 * none), and extents here, ghosts included; natural index of the first own site here. */
typedef struct lat_cuda_lattice : lat_cuda_grid {
    int directions, across;
    uint32_t dims[4];
    uint64_t first_own;
} lat_cuda_lattice;

/* ---- host ------------------------------------------------------------------------------------ */

typedef struct lat_gpu_grid {
    lat_grid grid;
    lat_cuda_lattice cuda;
    int64_t site_from;          /* the lattice's natural index of site 0 of the slot of slice 0 */
    uint64_t slice_step;        /* of that index, from slice to slice */
    struct lat_cuda_sums *sums; /* cuda_reduce.cuh; NULL before the first ones */
} lat_gpu_grid;

static inline const lat_cuda_lattice *lat_cuda(const lat_grid *grid)
{
    return &((const lat_gpu_grid *)grid)->cuda;
}

/* The lattice's natural index of site 0 of a slot. */
static inline int64_t lat_cuda_site_from(const lat_grid *grid, int slot)
{
    const lat_gpu_grid *g = (const lat_gpu_grid *)grid;
    return g->site_from + (int64_t)grid->slice[slot] * (int64_t)g->slice_step;
}

/* Bytes of an object of that shape: whole chunks, and in half its norm. */
size_t lat_cuda_object_bytes(const lat_grid *grid, lat_shape shape);

lat_cuda_divisor lat_cuda_divide_by(uint32_t d);

/* An axis of a slot, for neighbours as distances. */
typedef struct lat_cuda_axis {
    int dir;                 /* which one; 0 is the one that is halved */
    uint32_t extent, stride; /* of i; extent 1 where there is none */
    lat_cuda_divisor by_stride, by_extent;
    uint64_t site_step; /* of the lattice's natural index */
} lat_cuda_axis;

/* Axis `first`, then the others in order. */
void lat_cuda_axes(const lat_grid *grid, int first, lat_cuda_axis axis[4]);

/* ---- kernels --------------------------------------------------------------------------------- */

static __device__ __forceinline__ uint32_t lat_cuda_quotient(uint32_t n, lat_cuda_divisor d)
{
    return d.mul ? __umulhi(n, d.mul) >> d.shift : n;
}

/* Where site i of a parity is, counted in chunks, if `chunks` of them are a site's. */
static __device__ __forceinline__ size_t lat_cuda_at(uint32_t i, int chunks)
{
    return (size_t)(i / LAT_CUDA_GROUP) * (uint32_t)(chunks * LAT_CUDA_GROUP) + i % LAT_CUDA_GROUP;
}

typedef struct lat_cuda_coordinates {
    uint32_t i, c[4];
    int late; /* x is 2 c[0] + 1, not 2 c[0] */
} lat_cuda_coordinates;

static __device__ __forceinline__ lat_cuda_coordinates lat_cuda_find(const lat_cuda_grid &w,
                                                                     uint32_t i, int parity)
{
    lat_cuda_coordinates p;
    p.i = i;
#pragma unroll
    for (int a = 0; a < 3; a++) {
        const uint32_t q = lat_cuda_quotient(i, w.by[a]);
        p.c[a] = i - q * w.extent[a];
        i = q;
    }
    p.c[3] = i;
    p.late = (p.c[1] + p.c[2] + p.c[3] + (uint32_t)parity + w.odd) & 1;
    return p;
}

static __device__ __forceinline__ uint32_t lat_cuda_up(const lat_cuda_grid &w,
                                                       const lat_cuda_coordinates &p, int mu)
{
    if (mu == 0 && !p.late)
        return p.i;
    return p.c[mu] + 1 == w.extent[mu] ? p.i - p.c[mu] * w.stride[mu] : p.i + w.stride[mu];
}

static __device__ __forceinline__ uint32_t lat_cuda_down(const lat_cuda_grid &w,
                                                         const lat_cuda_coordinates &p, int mu)
{
    if (mu == 0 && p.late)
        return p.i;
    return p.c[mu] == 0 ? p.i + (w.extent[mu] - 1) * w.stride[mu] : p.i - w.stride[mu];
}

/* The lattice's natural index; `from`: that of the slot's site 0. */
static __device__ __forceinline__ int64_t lat_cuda_site(const lat_cuda_grid &w,
                                                        const lat_cuda_coordinates &p, int64_t from)
{
    uint64_t s = (uint64_t)(2 * p.c[0] + (uint32_t)p.late) * w.site_step[0];
#pragma unroll
    for (int a = 1; a < 4; a++)
        s += p.c[a] * w.site_step[a];
    return (int64_t)s + from;
}

/* Distances in i to the next site along each axis and to the one before; the natural index. */
typedef struct lat_cuda_distances {
    uint32_t up[4], down[4];
    uint64_t site;
} lat_cuda_distances;

static __device__ __forceinline__ lat_cuda_distances lat_cuda_find(const lat_cuda_sites &w,
                                                                   const lat_cuda_axis axis[4],
                                                                   uint32_t i, int parity,
                                                                   int64_t from)
{
    lat_cuda_distances s;
    uint32_t c[4], sum = (uint32_t)parity + w.odd;
    s.site = (uint64_t)from;
#pragma unroll
    for (int a = 0; a < 4; a++) {
        const uint32_t q = lat_cuda_quotient(i, axis[a].by_stride);
        c[a] = q - lat_cuda_quotient(q, axis[a].by_extent) * axis[a].extent;
        if (axis[a].dir)
            sum += c[a];
    }
    const uint32_t late = sum & 1; /* x is 2 c + 1, not 2 c */
#pragma unroll
    for (int a = 0; a < 4; a++) {
        const uint32_t one = axis[a].stride, round = one * axis[a].extent;
        s.up[a] = c[a] + 1 == axis[a].extent ? one - round : one;
        s.down[a] = c[a] == 0 ? round - one : 0 - one;
        if (axis[a].dir == 0) {
            s.up[a] = late ? s.up[a] : 0;
            s.down[a] = late ? 0 : s.down[a];
            c[a] = 2 * c[a] + late;
        }
        s.site += c[a] * axis[a].site_step;
    }
    return s;
}

/* Slot, parity and number of a site, by its natural index here. */
static __device__ __forceinline__ void lat_cuda_locate(const lat_cuda_lattice &w, uint64_t site,
                                                       int *slot, int *parity, uint32_t *i)
{
    uint32_t c[4] = {0, 0, 0, 0}, sum = 0;
    *slot = 0;
    for (int mu = 0, a = 0; mu < w.directions; mu++) {
        const uint32_t x = (uint32_t)(site % w.dims[mu]);
        site /= w.dims[mu];
        if (mu == w.across)
            *slot = (int)x;
        else
            c[a++] = x;
    }
    for (int a = 0; a < 4; a++)
        sum += c[a];
    *parity = (sum + w.odd) & 1;
    *i = c[0] / 2 + c[1] * w.stride[1] + c[2] * w.stride[2] + c[3] * w.stride[3];
}
