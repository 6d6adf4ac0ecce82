/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_reduce.cuh: sums of slices on a GPU, for lat_reduce_total (reduce.h).
 *
 * A thread is a site. The threads of a warp that have a part of a row add up what they have; the
 * last block of a slice to come adds up its rows in the order of reduce.h, and the last slice of a
 * unit says so. The parts of a slice do not depend on the number of ranks. The device writes the
 * sums, and then a flag, to the host's memory: to see it there is quicker by microseconds than to
 * wait for the stream.
 */
#ifndef LAT_GRID_CUDA_REDUCE_CUH
#define LAT_GRID_CUDA_REDUCE_CUH

#include "cuda_grid.cuh"

#define LAT_CUDA_SUM_THREADS 256

typedef struct lat_cuda_sums {
    uint32_t slices;      /* of a unit, across the last axis of a slot: lat_reduce_slices */
    uint32_t sites;       /* of a parity of a slice */
    uint32_t blocks;      /* of a slice */
    uint32_t part, parts; /* sites of a parity in a part of a row, a power of two; parts of a row */
    uint32_t y, z;        /* rows of a plane, planes of a slice */
    int one;              /* slots have one dimension: a slice is a site, of one parity */
    int slots;            /* of each member, those that are summed: the first ones */
    double *sum;          /* [units][slices][numbers], on the host */
    double *flag, number; /* [units], on the host: `number` when the sums of a unit are there */
    double *partial;      /* [units][slices][parity][z][y][part][numbers] */
    uint32_t *arrived;    /* [units][slices + 1]: blocks of a slice that have summed up, then
                             slices of the unit; 0 between two kernels */
    int units, slots_here; /* of the field, slots that are not summed included */
} lat_cuda_sums;

/* ---- host: 0, or -1 with lat_error set ------------------------------------------------------- */

int lat_cuda_sums_open(lat_cuda_sums *s, const lat_grid *grid, int members, int numbers);
void lat_cuda_sums_close(lat_cuda_sums *s);

/* The next sums are those of the first `slots` slots: before the kernel is launched, on
 * lat_cuda_sums_blocks. */
void lat_cuda_sums_begin(lat_cuda_sums *s, int slots);
static inline dim3 lat_cuda_sums_blocks(const lat_cuda_sums *s)
{
    return dim3(s->blocks, s->slices, (unsigned)(s->units / s->slots_here * s->slots));
}

/* Waits until they are in s->sum. */
int lat_cuda_sums_finish(const lat_cuda_sums *s, const lat_grid *grid);

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

/* Over threads i to i + n - 1 of a warp, n a power of two, in pairs; for thread i, where n divides
 * i.
 */
template <int K, int MOST>
static __device__ __forceinline__ void lat_cuda_add_warp(double v[K], uint32_t n)
{
    for (uint32_t d = 1; d < n; d *= 2) {
        double w[K];
#pragma unroll
        for (int k = 0; k < K; k++)
            w[k] = __shfl_down_sync(~0u, v[k], d);
        lat_cuda_add_up<K, MOST>(v, w);
    }
}

/* By a warp: all get(i, v), i < n, in pairs as tree.h adds them up; for its first thread. A thread
 * has a branch of each; sums that wait for their partners are in `wait`. */
template <int K, int MOST, class GET>
static __device__ void lat_cuda_add_pairs(double v[K], uint32_t n, const GET &get)
{
    enum { DEPTH = 16 };
    double wait[DEPTH][K];
    uint32_t each = 1, top = 0;
    while (32 * each < n)
        each *= 2;
    for (uint32_t j = 0; j < each; j++) {
        const uint32_t i = threadIdx.x % 32 * each + j;
        for (int k = 0; k < K; k++)
            v[k] = 0;
        if (i < n)
            get(i, v);
        for (uint32_t c = j; c & 1; c /= 2) {
            lat_cuda_add_up<K, MOST>(wait[--top], v);
            for (int k = 0; k < K; k++)
                v[k] = wait[top][k];
        }
        for (int k = 0; k < K; k++)
            wait[top][k] = v[k];
        top++;
    }
    lat_cuda_add_warp<K, MOST>(v, 32);
}

/* By the last block of a slice: its rows, then its planes, to *sum. */
template <int K, int MOST>
static __device__ __noinline__ void lat_cuda_add_slice(const lat_cuda_sums &s, double *partial,
                                                       double *sum)
{
    const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t plane = (size_t)s.y * s.parts * K, parity = s.z * plane;
    double v[K];
    for (uint32_t z = warp; z < s.z; z += LAT_CUDA_SUM_THREADS / 32) {
        lat_cuda_add_pairs<K, MOST>(v, s.y, [&](uint32_t y, double row[K]) {
            const double *p = partial + z * plane + (size_t)y * s.parts * K;
            for (uint32_t j = 0; j < 2 * s.parts; j++) {
                double w[K];
                for (int k = 0; k < K; k++)
                    w[k] = __ldcg(p + j % 2 * parity + (size_t)(j / 2) * K + k);
                lat_cuda_add_up<K, MOST>(row, w);
            }
        });
        __syncwarp(); /* all rows of the plane are read */
        for (int k = 0; k < K && lane == 0; k++)
            __stcg(partial + z * plane + k, v[k]);
    }
    __syncthreads();
    if (warp > 0)
        return;
    lat_cuda_add_pairs<K, MOST>(v, s.z, [&](uint32_t z, double w[K]) {
        for (int k = 0; k < K; k++)
            w[k] = __ldcg(partial + z * plane + k);
    });
    for (int k = 0; k < K && lane == 0; k++)
        sum[k] = v[k];
}

/* The numbers of each thread's site, none of the last MOST below zero, 0 for those without: to the
 * sums of a unit. All threads of all blocks come here, at the end of a kernel. */
template <int K, int MOST>
static __device__ __forceinline__ void lat_cuda_add_slices(const lat_cuda_sums &s, int unit,
                                                           double v[K])
{
    __shared__ bool last;
    const uint32_t n = blockIdx.x * LAT_CUDA_SUM_THREADS + threadIdx.x, slice = blockIdx.y,
                   site = n / (2 * LAT_CUDA_GROUP) * LAT_CUDA_GROUP + n % LAT_CUDA_GROUP,
                   parity = n / LAT_CUDA_GROUP % 2, parts = s.z * s.y * s.parts;
    const size_t at = (size_t)unit * gridDim.y + slice;
    double *const partial = s.partial + at * 2 * parts * K;
    uint32_t *const arrived = s.arrived + (size_t)unit * (gridDim.y + 1);
    lat_cuda_add_warp<K, MOST>(v, s.part);
    if (site % s.part == 0 && site < s.sites)
        for (int k = 0; k < K; k++)
            __stcg(partial + ((size_t)parity * parts + site / s.part) * K + k, v[k]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) /* atomicInc makes it 0 again */
        last = atomicInc(arrived + slice, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    lat_cuda_add_slice<K, MOST>(s, partial, s.sum + at * K);
    if (threadIdx.x > 0)
        return;
    __threadfence_system();
    if (atomicInc(arrived + gridDim.y, gridDim.y - 1) == gridDim.y - 1) {
        __threadfence_system(); /* for all slices: fences are cumulative */
        *(volatile double *)(s.flag + unit) = s.number;
    }
}

#endif
