/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_cuda.cuh: what the host side of making configurations on a GPU (generate_gpu.cu) and its
 * kernels (generate_kernels.cu, compiled once for each N and precision) know of each other.
 *
 * Links are a field of nd objects, one member (grid/cuda_grid.cuh), of the rows that are kept
 * (site/link.h), N - 1 of SU(2) and SU(3). All sites that an update of direction mu needs are x,
 * one step from x, or the two steps -nu and mu: distances in i along axes, the first of which is
 * mu. */
#pragma once

#include "grid/cuda_halo.cuh"
#include "grid/cuda_reduce.cuh"
#include "site/groups.h"
#include "site/update.h"

typedef struct lat_cuda_links : lat_cuda_sites {
    lat_cuda_axis axis[4]; /* an update is of axis[0].dir */
    double weight[4];      /* of planes of axis[0] and that one: 1/xi or xi */
    int64_t site_from;     /* the lattice's natural index of what is site 0 here */
    void *u;
    lat_cuda_peers peers;
    int overlap; /* kernels may begin early (compute capability 9) */
} lat_cuda_links;

typedef struct lat_cuda_draw : lat_cuda_step {
    double k;          /* beta / N */
    lat_update update; /* heat bath, microcanonical or Metropolis */
    uint64_t seed;
    uint32_t config, step;
} lat_cuda_draw;

typedef struct lat_cuda_link_ops {
    /* New links of axis[0].dir at the sites of one parity. */
    cudaError_t (*update)(const lat_cuda_links *w, const lat_cuda_draw *how, int parity,
                          cudaStream_t);
    /* All links back to SU(N), ghosts as their owners do; NULL where an update leaves nothing to do
     * (site/link.h). */
    cudaError_t (*reunit)(const lat_cuda_links *w, const lat_cuda_draw *how, cudaStream_t);
    /* Sums of Re tr U_p without the last direction, and with it, after step `number`; axes in
     * order. */
    cudaError_t (*plaquette)(const lat_cuda_links *w, const lat_cuda_sums *sums, uint32_t number,
                             cudaStream_t);
} lat_cuda_link_ops;
