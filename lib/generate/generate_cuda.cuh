/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_cuda.cuh: what the host side of making configurations on a GPU (generate_gpu.cu) and its
 * kernels (generate_kernels.cu, compiled once for each N and precision) know of each other.
 *
 * Links lie as those of fix_cuda.cuh, the whole lattice being one slice: sites of a parity are
 * numbered with half of x fastest, i = x/2 + X/2 (y + Y (z + Z t)), 32 of them are a group, and
 *     [parity][group][direction][16-byte chunk][32]
 * holds the rows that are kept (site/link.h), N - 1 of SU(2) and SU(3). All sites that an update of
 * direction mu needs are x, one step from x, or the two steps -nu and mu; half of x makes each of
 * those a fixed distance in i for each axis, and distances add up. */
#ifndef LAT_BACKEND_GENERATE_CUDA_CUH
#define LAT_BACKEND_GENERATE_CUDA_CUH

#include "fix/fix_cuda.cuh"

typedef struct lat_cuda_axis {
    int dir;                 /* which one; 0 is the one that is halved */
    uint32_t extent, stride; /* of i; 1 and what you like where there is none */
    lat_cuda_divisor by_stride, by_extent;
    uint64_t site_step; /* of the lattice's natural index */
    double weight;      /* of planes of axis[0] and this one: 1/xi or xi */
} lat_cuda_axis;

typedef struct lat_cuda_links {
    int nd;
    uint32_t half,
        groups; /* sites of a parity; groups of 32 of them, the last one perhaps not full */
    lat_cuda_axis axis[4]; /* an update is of axis[0].dir */
    void *u;
    int overlap;      /* kernels may begin early (compute capability 9) */
    uint32_t dims[4]; /* 1 where there is none */
    /* Several ranks, cut across the last axis, as in lat_cuda_work: a ghost slice at both ends,
     * `rim` sites of a parity each. Alone: from 0, own = half, rim 0. */
    uint32_t from, own, rim;
    uint32_t odd;      /* 1 where x + y + z + t here is odd when it is even in the lattice */
    int64_t site_from; /* the lattice's natural index of what is site 0 here */
    int peer;          /* rims go to their neighbours directly; otherwise the host sees to it */
    lat_cuda_neighbour side[2];
    const uint32_t
        *heard; /* [2]: the last step that is done below and above, so that its rim has come */
} lat_cuda_links;

typedef struct lat_cuda_draw {
    double k;          /* beta / N */
    lat_update update; /* heat bath, microcanonical or Metropolis */
    uint64_t seed;
    uint32_t config, step;
    int part;
    uint32_t number;       /* of this step, an update or a reunitarisation, from 1 */
    uint32_t rim_blocks;   /* blocks of a rim; set by the launch, as are these: */
    uint32_t lead, spread; /* after `lead` others every 2^spread-th block is one of a rim */
} lat_cuda_draw;

#define LAT_CUDA_PARTIALS 1024 /* partial sums of the plaquette, whatever the device is */

typedef struct lat_cuda_link_ops {
    int nc, real, rows;
    size_t matrix;   /* bytes */
    const void *any; /* a kernel: is there one for this device? */
    /* Matrices first .. first+count-1 of a field in natural order, real_raw bytes a real, to their
     * places and back. */
    cudaError_t (*load)(const lat_cuda_links *w, const void *raw, int real_raw, uint64_t first,
                        uint64_t count, cudaStream_t);
    cudaError_t (*get)(const lat_cuda_links *w, void *raw, int real_raw, uint64_t first,
                       uint64_t count, cudaStream_t);
    /* New links of axis[0].dir at the sites of one parity. */
    cudaError_t (*update)(const lat_cuda_links *w, const lat_cuda_draw *how, int parity,
                          cudaStream_t);
    /* All links back to SU(N), ghosts as their owners do; NULL where an update leaves nothing to do
     * (site/link.h). */
    cudaError_t (*reunit)(const lat_cuda_links *w, const lat_cuda_draw *how, cudaStream_t);
    /* partial[LAT_CUDA_PARTIALS][2], which may be the host's: sums of Re tr U_p without the last
     * direction, and with it, after step `number`. */
    cudaError_t (*plaquette)(const lat_cuda_links *w, double *partial, uint32_t number,
                             cudaStream_t);
    /* Links of axis[0].dir of one parity: both rims to box[2][chunks][rim], or from there to both
     * ghosts, below first. */
    cudaError_t (*rim)(const lat_cuda_links *w, int parity, void *box, int into_ghosts,
                       cudaStream_t);
} lat_cuda_link_ops;

#endif
