/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_cuda.cuh: what the host side of the CUDA backend (fix_gpu.cu) and its kernels
 * (fix_kernels.cu, compiled once for each N and precision) know of each other.
 *
 * Slices that are fixed on their own are lattices of one dimension less; otherwise the whole
 * lattice is one slice. A unit is a slice of a copy, number copy * slices + slice, slices being
 * those that there are places for. The sites of one parity of a slice are numbered with half of x
 * fastest: i = x/2 + X/2 (y + Y (z + Z t)), so that a neighbour in y, z, t is a fixed distance away
 * and one in x the same number or the next. In memory 32 of them are a group: the threads of a warp
 * read each 16 bytes of their matrices side by side. links:
 * [slice][parity][group][direction][16-byte chunk][32] g:     [unit][parity][group][16-byte
 * chunk][32] A matrix is its first `rows` rows; N - 1 of them where the last follows from the
 * others (N <= 3). */
#ifndef LAT_BACKEND_CUDA_CUH
#define LAT_BACKEND_CUDA_CUH

#include <cuda_runtime.h>
#include <stdint.h>
#include "site/groups.h"
#include "site/update.h"

#define LAT_CUDA_GROUP 32

/* n / d for n < 2^31 as a product: (n * mul >> 32) >> shift; mul = 0 stands for d = 1. */
typedef struct lat_cuda_divisor {
    uint32_t mul, shift;
} lat_cuda_divisor;

/* Where the rank that has the slab below (0) or above (1) ours wants our rim: in its ghost. */
typedef struct lat_cuda_neighbour {
    void *g;         /* its g, mapped */
    uint32_t groups; /* its number of them */
    uint32_t ghost;  /* the first site of its ghost on our side */
    uint32_t *told;  /* its word for the last half sweep that we have told it of */
} lat_cuda_neighbour;

typedef struct lat_cuda_work {
    int nd; /* directions of a slice */
    lat_problem problem;
    int rows;               /* of the links */
    int slices;             /* places for them */
    uint32_t half;          /* sites of a parity of a slice */
    uint32_t groups;        /* of 32, the last one perhaps not full */
    uint32_t extent[4];     /* of a slice, the first one halved; 1 where there is none */
    uint32_t stride[4];     /* of i */
    lat_cuda_divisor by[3]; /* extent[0..2] */
    uint32_t
        strip; /* sites of one time in a strip, where the lattice is visited strip by strip; or 0 */
    uint32_t times;                     /* in a strip */
    lat_cuda_divisor by_strip, by_time; /* strip, times */
    uint64_t site_step[4]; /* of the lattice's natural index, along the axes of a slice */
    double weight[4]; /* of the slice's directions; in the links already unless those are two rows
                         of three */
    float weight_single[4];
    void *u, *g;
    /* Several ranks, cut across the last axis: a slice has a ghost of one extent at both ends of
     * it, which is never swept. Own sites of a parity follow each other; their first and last `rim`
     * are the neighbours' ghosts. Alone, or where slices are not cut: from 0, own = half, rim 0. */
    uint32_t from, own, rim;
    uint32_t odd; /* 1 where x + y + z + t of a slice here is odd when it is even in the lattice */
    int peer;     /* rims go to their neighbours directly; otherwise the host sees to it */
    lat_cuda_neighbour side[2];
    const uint32_t *heard;   /* [2]: the last half sweep whose rim has come, from below and above */
    uint32_t *rim_arrived;   /* [2]: blocks done with the rim; 0 between two kernels */
    int processors, overlap; /* of the device; kernels may begin early (compute capability 9) */
    /* the lattice, for fields in natural order */
    int all;  /* directions */
    int time; /* direction across which slices are cut, or -1 */
    uint32_t dims[4];
} lat_cuda_work;

enum {
    LAT_CUDA_ALL,
    LAT_CUDA_FACE,
    LAT_CUDA_INTERIOR
}; /* which own sites: both rims and then the others, or one of these */

/* Units to be swept: rows of `beside` copies of one slice, which share its links; copy -1 is
 * nobody. `from` is the lattice's natural index of what is site 0 of the slice. */
typedef struct lat_cuda_unit {
    int slice, copy;
    int64_t from;
} lat_cuda_unit;

typedef struct lat_cuda_how {
    lat_update update;
    const double *omega; /* [copies], on the device */
    struct {
        double stochastic, beta;
    } real;
    struct {
        float stochastic, beta;
    } single;
    uint64_t seed;
    uint32_t config, step;
    const lat_cuda_unit *unit; /* [nrows][beside], on the device */
    int nrows, beside;
    int part;
    uint32_t number;     /* of the half sweep, from 1 */
    uint32_t rim_blocks; /* blocks of a rim; set by the launch, as is this: */
    uint32_t spread;     /* every 2^spread-th of the first blocks is one of a rim */
} lat_cuda_how;

/* Which units: those of the first `slices` places of each copy. Where sums go:
 * partial[units][state_blocks][3]; sum[units][4], on the host: share of the functional and theta
 * added up, the largest theta, and then, when these are there, `number`. arrived[units] is 0 before
 * and after. */
typedef struct lat_cuda_sums {
    int slices;
    double *partial, *sum;
    uint32_t *arrived;
    double number;
    uint32_t half; /* number of the last half sweep: its rims are waited for */
} lat_cuda_sums;

typedef struct lat_cuda_ops {
    int nc, real;
    const void *any; /* a kernel: is there one for this device? */
    /* Matrices first .. first+count-1 of a field in natural order. load: links, the raw field in
     * real_raw bytes a real; *bad becomes 1 where fewer than N rows do not suffice. set: g of a
     * copy, raw = NULL for 1. */
    cudaError_t (*load)(const lat_cuda_work *w, const void *raw, int real_raw, uint64_t first,
                        uint64_t count, int *bad, cudaStream_t);
    cudaError_t (*set)(const lat_cuda_work *w, int copy, const double *raw, uint64_t first,
                       uint64_t count, cudaStream_t);
    cudaError_t (*get)(const lat_cuda_work *w, int copy, double *raw, uint64_t first,
                       uint64_t count, cudaStream_t);
    /* Visits the sites of one parity. */
    cudaError_t (*half)(const lat_cuda_work *w, const lat_cuda_how *how, int parity, cudaStream_t);
    cudaError_t (*state)(const lat_cuda_work *w, int copies, const lat_cuda_sums *look,
                         cudaStream_t);
    uint64_t (*state_blocks)(const lat_cuda_work *w);
    /* g of one parity of `units` units, from `unit` on: both rims to box, or from box to both
     * ghosts. box[2][units][chunks][rim], chunks of 16 bytes, below first. */
    cudaError_t (*rim)(const lat_cuda_work *w, int unit, int units, int parity, void *box,
                       int into_ghosts, cudaStream_t);
} lat_cuda_ops;

#endif
