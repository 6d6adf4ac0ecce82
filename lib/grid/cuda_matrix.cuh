/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_matrix.cuh: what kernels for one N and one precision begin with (template; after
 * cuda_real.cuh): site functions, and matrices in memory as cuda_grid.cuh has them there. */
#include "cuda_grid.cuh"
#include "site/template.h"

#define FULL (2 * LAT_N * LAT_N) /* reals of a matrix */
#define FEW LAT_FREE_ROWS        /* rows of g; of links in SU(N) */
#define PER (16 / LAT_SIZE)      /* reals a chunk */
#define CHUNKS(rows) ((2 * LAT_N * (rows) + PER - 1) / PER)

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

/* The last row from the others. */
static __device__ __forceinline__ void LAT_(complete)(LAT_T *m) { LAT_(fill_last)((LAT_(m) *)m); }

/* v[a] from registers, not by way of local memory, where loops over directions are not unrolled. */
static __device__ __forceinline__ uint32_t LAT_(one_of)(const uint32_t v[4], int a)
{
    return a < 2 ? a == 0 ? v[0] : v[1] : a == 2 ? v[2] : v[3];
}
