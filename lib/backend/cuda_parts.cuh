/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_parts.cuh: what kernels for one N and one precision begin with (template; after cuda_real.cuh): site functions,
 * matrices in memory as cuda.cuh has them there, sums, launches. */
#include "site/template.h"

#define FULL (2 * LAT_N * LAT_N)             /* reals of a matrix */
#define FEW (LAT_N <= 3 ? LAT_N - 1 : LAT_N) /* rows of g; of links in SU(N) */
#define PER (16 / LAT_SIZE)                  /* reals a chunk */
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

template <int ROWS> static __device__ __forceinline__ void LAT_(fetch_link)(LAT_T *m, const LAT_V *p)
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

/* ---- sums ---- */

#define SUM_THREADS 128

/* The larger one; NaN is larger than anything. */
static __device__ __forceinline__ double LAT_(worse)(double a, double b)
{
    return a >= b || a != a ? a : b;
}

/* s[0], s[1] added up and s[2] the largest over the threads of a block, always in the same order; for thread 0. */
static __device__ __forceinline__ void LAT_(reduce)(double s[3])
{
    __shared__ double warp[SUM_THREADS / 32][3];
#pragma unroll
    for (int d = 16; d; d /= 2) {
        s[0] += __shfl_down_sync(~0u, s[0], d);
        s[1] += __shfl_down_sync(~0u, s[1], d);
        s[2] = LAT_(worse)(s[2], __shfl_down_sync(~0u, s[2], d));
    }
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < 3; k++)
            warp[threadIdx.x / 32][k] = s[k];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int j = 1; j < SUM_THREADS / 32; j++) {
            s[0] += warp[j][0];
            s[1] += warp[j][1];
            s[2] = LAT_(worse)(s[2], warp[j][2]);
        }
}

static __global__ void __launch_bounds__(SUM_THREADS) LAT_(total)(const double *partial, uint32_t blocks, double *sum)
{
    const double *p = partial + 3 * (size_t)blockIdx.x * blocks;
    double s[3] = {0, 0, 0};
    for (uint32_t b = threadIdx.x; b < blocks; b += SUM_THREADS) {
        s[0] += p[3 * b];
        s[1] += p[3 * b + 1];
        s[2] = LAT_(worse)(s[2], p[3 * b + 2]);
    }
    LAT_(reduce)(s);
    if (threadIdx.x == 0)
        for (int k = 0; k < 3; k++)
            sum[3 * (size_t)blockIdx.x + (size_t)k] = s[k];
}

/* ---- launches ---- */

static unsigned LAT_(blocks)(uint64_t n, unsigned threads)
{
    return (unsigned)((n + threads - 1) / threads);
}

/* A kernel that may begin while the last blocks of the one before are still at work, if `early`: it waits for them itself. */
template <class... P, class... A>
static cudaError_t LAT_(start)(void (*kernel)(P...), int early, dim3 grid, dim3 block, cudaStream_t stream, A... arguments)
{
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = early ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}
