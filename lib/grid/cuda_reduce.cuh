/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_reduce.cuh: sums of slices on a GPU, for lat_reduce_total (reduce.h).
 *
 * A thread is a site; blocks add up what theirs have, and the last block of a unit to come adds up
 * the blocks of each slice, always in the same order. The parts of a slice do not depend on the
 * number of ranks. The device writes the sums, and then a flag, to the host's memory: to see it
 * there is quicker by microseconds than to wait for the stream. */
#pragma once

#include <string.h>
#include "cuda_device.cuh"
#include "cuda_grid.cuh"
extern "C" {
#include "reduce.h"
}

#define LAT_CUDA_SUM_THREADS 256

typedef struct lat_cuda_sums {
    uint32_t slices;       /* of a unit, across the last axis of a slot: lat_reduce_slices */
    uint32_t sites;        /* of a parity of a slice */
    uint32_t blocks;       /* of a slice */
    int one;               /* slots have one dimension: a slice is a site, of one parity */
    int slots;             /* of each member, those that are summed: up to the last with a slice */
    int most;              /* there is memory for so many numbers */
    double *sum;           /* [units][slices][numbers], on the host */
    double *flag, number;  /* [units], on the host: `number` when the sums of a unit are there */
    double *partial;       /* [units][slices][blocks][numbers] */
    uint32_t *arrived;     /* [units]: blocks that have summed up; 0 between two kernels */
    int units, slots_here; /* of the field, slots that are not summed included */
} lat_cuda_sums;

/* ---- host ------------------------------------------------------------------------------------ */

/* The grid has memory for the sums of one number of members. begin: before the kernel, on
 * lat_cuda_sums_blocks; NULL with lat_error set. finish: waits until s->sum has them; 0 or -1. */
const lat_cuda_sums *lat_cuda_sums_begin(const lat_grid *grid, int members, int numbers);
int lat_cuda_sums_finish(const lat_cuda_sums *s, const lat_grid *grid);
void lat_cuda_sums_free(lat_cuda_sums *s); /* NULL is allowed */

static inline dim3 lat_cuda_sums_blocks(const lat_cuda_sums *s)
{
    return dim3(s->blocks, s->slices, (unsigned)(s->units / s->slots_here * s->slots));
}

/* Into total, as lat_reduce_total has it, what the kernel that launch(sums) starts adds up. Units
 * (grid.h) that `active` (NULL: all) leaves out count nothing. 0, or -1 with lat_error set; every
 * rank calls it. */
template <class Launch>
static inline int lat_cuda_total(const lat_grid *grid, int members, const bool *active, int numbers,
                                 int most, double *total, Launch launch)
{
    const lat_cuda_sums *s = lat_cuda_sums_begin(grid, members, numbers);
    if (!s || lat_cuda_failed(launch(s), "summing up") || lat_cuda_sums_finish(s, grid))
        return -1;
    const size_t row = (size_t)numbers * s->slices;
    for (int unit = 0; active && unit < s->units; unit++)
        if (!active[unit])
            memset(s->sum + (size_t)unit * row, 0, row * sizeof *s->sum);
    return lat_reduce_total(grid, members, NULL, numbers, most, s->sum, total);
}

/* The sums of slices themselves, of one member in one slot, as lat_reduce_slicewise has them. */
template <class Launch>
static inline int lat_cuda_slicewise(const lat_grid *grid, int numbers, double *all, Launch launch)
{
    const lat_cuda_sums *s = lat_cuda_sums_begin(grid, 1, numbers);
    return !s || lat_cuda_failed(launch(s), "summing up") || lat_cuda_sums_finish(s, grid)
                   || lat_reduce_slicewise(grid, NULL, numbers, s->sum, all)
               ? -1
               : 0;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* The site of a thread, and its unit. Warps take the parities in turn: the second of the two sites
 * that read a link finds it in a cache. */
typedef struct lat_cuda_summand {
    int member, slot, parity;
    uint32_t i;
    bool there; /* otherwise the thread has no site */
} lat_cuda_summand;

static __device__ __forceinline__ lat_cuda_summand lat_cuda_summand_of(const lat_cuda_sites &w,
                                                                       const lat_cuda_sums &s)
{
    lat_cuda_summand p;
    const uint32_t n = blockIdx.x * LAT_CUDA_SUM_THREADS + threadIdx.x,
                   k = n / (2 * LAT_CUDA_GROUP) * LAT_CUDA_GROUP + n % LAT_CUDA_GROUP;
    p.member = (int)blockIdx.z / s.slots;
    p.slot = (int)blockIdx.z % s.slots;
    p.parity = (int)(n / LAT_CUDA_GROUP % 2);
    p.i = w.from + (s.one ? blockIdx.y / 2 : blockIdx.y * s.sites) + k;
    p.there = k < s.sites && (!s.one || p.parity == (int)(blockIdx.y % 2));
    return p;
}

/* The larger one; NaN is larger than anything. */
static __device__ __forceinline__ double lat_cuda_worse(double a, double b)
{
    return a >= b || a != a ? a : b;
}

/* v += w, but of the last MOST of K numbers the larger one. */
template <int K, int MOST>
static __device__ __forceinline__ void lat_cuda_add_up(double v[K], const double w[K])
{
#pragma unroll
    for (int k = 0; k < K; k++)
        v[k] = k < K - MOST ? v[k] + w[k] : lat_cuda_worse(v[k], w[k]);
}

/* Over the threads of a warp, always in the same order; for its first one. */
template <int K, int MOST> static __device__ __forceinline__ void lat_cuda_add_warp(double v[K])
{
#pragma unroll
    for (int d = 16; d; d /= 2) {
        double w[K];
#pragma unroll
        for (int k = 0; k < K; k++)
            w[k] = __shfl_down_sync(~0u, v[k], d);
        lat_cuda_add_up<K, MOST>(v, w);
    }
}

/* The numbers of each thread's site, none of the last MOST below zero, 0 for those without: to the
 * sums of a unit. All threads of all blocks come here, at the end of a kernel. */
template <int K, int MOST>
static __device__ __forceinline__ void lat_cuda_add_slices(const lat_cuda_sums &s, int unit,
                                                           double v[K])
{
    __shared__ double warp[LAT_CUDA_SUM_THREADS / 32][K];
    __shared__ bool last;
    const uint32_t number = threadIdx.x / 32, lane = threadIdx.x % 32;
    double *const partial = s.partial + (size_t)unit * gridDim.y * gridDim.x * K;
    lat_cuda_add_warp<K, MOST>(v);
    if (lane == 0)
        for (int k = 0; k < K; k++)
            warp[number][k] = v[k];
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t blocks = gridDim.x * gridDim.y;
        for (int j = 1; j < LAT_CUDA_SUM_THREADS / 32; j++)
            lat_cuda_add_up<K, MOST>(v, warp[j]);
        for (int k = 0; k < K; k++)
            __stcg(partial + ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * K + k, v[k]);
        __threadfence();
        last = atomicInc(s.arrived + unit, blocks - 1) == blocks - 1; /* which makes it 0 again */
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    for (uint32_t slice = number; slice < gridDim.y; slice += LAT_CUDA_SUM_THREADS / 32) {
        const double *p = partial + (size_t)slice * gridDim.x * K;
        for (int k = 0; k < K; k++)
            v[k] = 0;
#pragma unroll 4
        for (uint32_t b = lane; b < gridDim.x; b += 32) {
            double w[K];
            for (int k = 0; k < K; k++)
                w[k] = __ldcg(p + (size_t)b * K + k);
            lat_cuda_add_up<K, MOST>(v, w);
        }
        lat_cuda_add_warp<K, MOST>(v);
        if (lane == 0)
            for (int k = 0; k < K; k++)
                s.sum[((size_t)unit * gridDim.y + slice) * K + (size_t)k] = v[k];
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system(); /* for all of the block: fences are cumulative */
        *(volatile double *)(s.flag + unit) = s.number;
    }
}
