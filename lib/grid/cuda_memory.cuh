/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_memory.cuh: what kernels for one N and one precision begin with (template; after
 * cuda_real.cuh): site functions, and matrices in memory as fix_cuda.cuh has them there. */
#include "site/template.h"

#define FULL (2 * LAT_N * LAT_N) /* reals of a matrix */
#define FEW LAT_FREE_ROWS        /* rows of g; of links in SU(N) */
#define PER (16 / LAT_SIZE)      /* reals a chunk */
#define CHUNKS(rows) ((2 * LAT_N * (rows) + PER - 1) / PER)

/* ---- matrices to and from memory ---- */

/* Where the matrix of site i is, counted in chunks, if `chunks` of them are a site's. */
static __device__ __forceinline__ size_t LAT_(at)(uint32_t i, int chunks)
{
    return (size_t)(i / LAT_CUDA_GROUP) * (uint32_t)(chunks * LAT_CUDA_GROUP) + i % LAT_CUDA_GROUP;
}

static __device__ __forceinline__ void LAT_(unpack)(LAT_T *m, LAT_V v, int n)
{
    m[0] = v.x;
    if (n > 1)
        m[1] = v.y;
#if LAT_SIZE == 4
    if (n > 2)
        m[2] = v.z;
    if (n > 3)
        m[3] = v.w;
#endif
}

template <int ROWS> static __device__ __forceinline__ void LAT_(fetch)(LAT_T *m, const LAT_V *p)
{
#pragma unroll
    for (int c = 0; c < CHUNKS(ROWS); c++)
        LAT_(unpack)(m + c * PER, p[c * LAT_CUDA_GROUP], 2 * LAT_N * ROWS - c * PER);
}

template <int ROWS>
static __device__ __forceinline__ void LAT_(fetch_link)(LAT_T *m, const LAT_V *p)
{
#pragma unroll
    for (int c = 0; c < CHUNKS(ROWS); c++)
        LAT_(unpack)(m + c * PER, __ldg(p + c * LAT_CUDA_GROUP), 2 * LAT_N * ROWS - c * PER);
}

template <int ROWS> static __device__ __forceinline__ void LAT_(store)(LAT_V *p, const LAT_T *m)
{
#pragma unroll
    for (int c = 0; c < CHUNKS(ROWS); c++) {
        const int n = 2 * LAT_N * ROWS - c * PER;
        LAT_V v;
        v.x = m[c * PER];
        v.y = n > 1 ? m[c * PER + 1] : 0;
#if LAT_SIZE == 4
        v.z = n > 2 ? m[c * PER + 2] : 0;
        v.w = n > 3 ? m[c * PER + 3] : 0;
#endif
        p[c * LAT_CUDA_GROUP] = v;
    }
}

/* The last row from the others, as orthonormal() of site/matrix.h makes it. */
static __device__ __forceinline__ void LAT_(complete)(LAT_T *m)
{
#if LAT_N == 2
    m[4] = -m[2];
    m[5] = m[3];
    m[6] = m[0];
    m[7] = -m[1];
#elif LAT_N == 3
    LAT_(c) x[3], y[3], z[3];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        x[c] = LAT_(load)(m + 2 * c);
        y[c] = LAT_(load)(m + 6 + 2 * c);
    }
    LAT_(cross)(z, x, y);
#pragma unroll
    for (int c = 0; c < 3; c++) {
        m[12 + 2 * c] = z[c].re;
        m[13 + 2 * c] = z[c].im;
    }
#else
    (void)m;
#endif
}

static __device__ __forceinline__ uint32_t LAT_(quotient)(uint32_t n, lat_cuda_divisor d)
{
    return d.mul ? __umulhi(n, d.mul) >> d.shift : n;
}

/* ---- rims ---- */

/* Which block of a rim this is, *side 0 or 1 for the one below or above; or which one of all
 * others, *side -1. After `lead` others every 2^spread-th block is one of a rim, so that others are
 * at work while rims are on their way to the neighbours. */
static __device__ __forceinline__ uint32_t LAT_(block_of)(uint32_t rim_blocks, uint32_t lead,
                                                          uint32_t spread, int *side)
{
    const uint32_t rims = 2 * rim_blocks, n = blockIdx.x - lead, turn = n >> spread;
    *side = -1;
    if (blockIdx.x < lead)
        return blockIdx.x;
    if (turn < rims && n == turn << spread) {
        *side = turn >= rim_blocks;
        return turn - (*side ? rim_blocks : 0);
    }
    return blockIdx.x - (turn < rims ? turn + 1 : rims);
}

/* Waits until step `number` of the neighbour on that side has come. By acquire: a fence after a
 * plain load takes longer. */
static __device__ __forceinline__ void LAT_(wait_flag)(const uint32_t *heard, int side,
                                                       uint32_t number)
{
    uint32_t come;
    do
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];"
                     : "=r"(come)
                     : "l"(heard + side)
                     : "memory");
    while ((int32_t)(come - number) < 0);
}

/* The last of `blocks` blocks of a rim to come tells the neighbour that step `number` is there. */
static __device__ __forceinline__ void LAT_(signal_flag)(uint32_t *arrived, uint32_t *told,
                                                         uint32_t blocks, uint32_t number)
{
    __threadfence(); /* the last block's fence is for all of them: fences are cumulative */
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
        if (atomicInc(arrived, blocks - 1) == blocks - 1) {
            __threadfence_system();
            *(volatile uint32_t *)told = number;
        }
}
