/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_cuda.cuh: what the host side of gauge fixing on a GPU (fix_gpu.cu) and its kernels
 * (fix_kernels.cu, compiled once for each N and precision) know of each other.
 *
 * Links are a field of nd objects, one member; g is a field of one object, a member for each copy
 * (grid/cuda_grid.cuh). A matrix is its first rows; N - 1 of them where the last follows from the
 * others (N <= 3). */
#pragma once

#include "grid/cuda_halo.cuh"
#include "grid/cuda_reduce.cuh"
#include "site/groups.h"
#include "site/update.h"

typedef struct lat_cuda_work : lat_cuda_grid {
    lat_problem problem;
    int rows; /* of the links */
    void *u, *g;
    lat_cuda_peers peers; /* of g */
    double weight[4]; /* of a slot's directions; in the links already unless those are two rows of
                         three */
    uint32_t strip;   /* sites of one time in a strip, where sweeps go strip by strip; or 0 */
    uint32_t times;   /* in a strip */
    lat_cuda_divisor by_strip, by_time; /* strip, times */
    int processors, overlap;            /* of the device */
} lat_cuda_work;

/* Units to be swept: rows of `batch` copies of a slot, which share its links; copy -1 is nobody.
 * `from` is the lattice's natural index of the slot's site 0. */
typedef struct lat_cuda_unit {
    int slice, copy;
    int64_t from;
} lat_cuda_unit;

typedef struct lat_cuda_how : lat_cuda_step {
    lat_update update;
    const double *omega; /* [copies], on the device */
    double stochastic, beta;
    uint64_t seed;
    uint32_t config, step;
    const lat_cuda_unit *unit; /* [nrows][batch], on the device */
    int nrows, batch;
} lat_cuda_how;

typedef struct lat_cuda_ops {
    /* Updates the sites of one parity. */
    cudaError_t (*half)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t);
    /* Functional, theta and the largest theta (grid/cuda_reduce.cuh), after half sweep `number`. */
    cudaError_t (*state)(const lat_cuda_work *w, const lat_cuda_sums *sums, uint32_t number,
                         cudaStream_t);
} lat_cuda_ops;
