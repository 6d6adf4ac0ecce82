/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_cuda.cuh: what the host side of the flow on a GPU (flow_gpu.cu) and its kernels
 * (flow_kernels.cu, compiled once for each N) know of each other.
 *
 * Links and staples are fields of N - 1 rows for SU(2) and SU(3), else N; elements of the algebra
 * (site/flow.h) are nd objects of N N reals. All in double. A kernel writes no links that it reads
 * at neighbours: links go from one field to another.
 *
 * Kernels that read ghosts or write to the neighbours' have a number, from 1. On sides where they
 * write there themselves (peers.direct), the first block of each says that the one before is done,
 * and blocks at a face wait until the neighbour has said so: then ghosts have come, and the
 * neighbour has read what is about to be overwritten. */
#pragma once

#include "grid/cuda_halo.cuh"
#include "grid/cuda_reduce.cuh"
extern "C" {
#include "flow_internal.h"
}

/* Neighbours are distances along axes (cuda_grid.cuh). */
typedef struct lat_cuda_flow : lat_cuda_sites {
    lat_cuda_axis along[4][4]; /* for each direction, which comes first, then the others in order */
    double c0, c1;
    double temporal;       /* weight of staples across time of links in space */
    uint32_t below, above; /* with open time, sites here below `below` lie on the first slice, and
                            * from `above` on, on the last one: none without */
    const void *u;         /* links */
    void *to;              /* new links, or staples; peers.side: the neighbours' of that */
    void *y, *again;
    const void *plane; /* staples */
    lat_cuda_peers peers;
    uint32_t number;
} lat_cuda_flow;

/* A plane: mu, nu, the others; and nu, mu, the others. */
typedef struct lat_cuda_plane {
    lat_cuda_axis half[2][4];
    bool first[2]; /* of the planes of mu; of nu */
} lat_cuda_plane;

/* All of them: 01 02 03 12 13 23. */
typedef struct lat_cuda_planes {
    int planes;
    lat_cuda_axis axis[6][4];
} lat_cuda_planes;

typedef struct lat_cuda_flow_ops {
    /* The stage of the Wilson flow, from u to `to`. */
    cudaError_t (*wilson)(const lat_cuda_flow *, const lat_flow_stage *, cudaStream_t);
    /* With rectangles: the staples of a plane, from u to `to`; y of its two directions (beta for
     * the first plane of each); new links, from u to `to`, and `again` = a y + b again. */
    cudaError_t (*staples)(const lat_cuda_flow *, const lat_cuda_plane *, cudaStream_t);
    cudaError_t (*plane)(const lat_cuda_flow *, const lat_cuda_plane *, const lat_flow_stage *,
                         cudaStream_t);
    cudaError_t (*apply)(const lat_cuda_flow *, const lat_flow_stage *, cudaStream_t);
    /* Squares of distances of u from exp(eps again) of the links `plane`: the largest. */
    cudaError_t (*apart)(const lat_cuda_flow *, const lat_flow_stage *, const lat_cuda_sums *,
                         cudaStream_t);
    cudaError_t (*numbers)(const lat_cuda_flow *, const lat_cuda_planes *, const lat_cuda_sums *,
                           cudaStream_t);
} lat_cuda_flow_ops;
