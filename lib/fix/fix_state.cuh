/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_state.cuh: functional and theta (template; after fix_sweeps.cuh, whose local problem it
 * takes). A thread is a site; what it has is added up over its block, and then over the blocks of a
 * unit, for the host. */

#define SUM_THREADS 256

/* The larger one; NaN is larger than anything. */
static __device__ __forceinline__ double LAT_(worse)(double a, double b)
{
    return a >= b || a != a ? a : b;
}

/* s[0], s[1] added up and s[2] the largest over the threads of a block, always in the same order;
 * for thread 0. */
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

/* The sums of a block, in thread 0, to memory. The block that is the last one to come adds up those
 * of all, always in the same order, for the host. */
static __device__ __forceinline__ void LAT_(total)(const lat_cuda_sums &look, int unit, double s[3])
{
    __shared__ bool last;
    double *const p = look.partial + 3 * (size_t)unit * gridDim.x;
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; k++)
            __stcg(p + 3 * blockIdx.x + k, s[k]);
        __threadfence();
        last = atomicInc(look.arrived + unit, gridDim.x - 1)
               == gridDim.x - 1; /* and 0 again after the last one */
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    s[0] = s[1] = s[2] = 0;
#pragma unroll 4
    for (uint32_t b = threadIdx.x; b < gridDim.x; b += SUM_THREADS) {
        s[0] += __ldcg(p + 3 * b);
        s[1] += __ldcg(p + 3 * b + 1);
        s[2] = LAT_(worse)(s[2], __ldcg(p + 3 * b + 2));
    }
    LAT_(reduce)(s);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; k++)
            look.sum[4 * (size_t)unit + (size_t)k] = s[k];
        __threadfence_system();
        *(volatile double *)(look.sum + 4 * (size_t)unit + 3) = look.number;
    }
}

template <int R>
static __device__ __forceinline__ void LAT_(state_of)(const lat_cuda_work &,
                                                      const LAT_(problem) < LAT_LINEAR > &l,
                                                      LAT_T *share, LAT_T *theta)
{
    LAT_(landau_state)(&l.x, share, theta);
}

#if LAT_N <= LAT_ABELIAN_MOST
template <int R>
static __device__ __forceinline__ void LAT_(state_of)(const lat_cuda_work &w,
                                                      const LAT_(problem) < LAT_ABELIAN > &l,
                                                      LAT_T *share, LAT_T *theta)
{
    LAT_(mag_state)(&l.x, COUNT(R), (LAT_S)(2 * w.nd), share, theta);
}
#endif

template <int P, int R, int D>
static __global__ void __launch_bounds__(SUM_THREADS, LAT_N <= 3 ? 2 : 1)
    LAT_(state)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_sums look)
{
    /* Warps take the parities in turn: the second of the two sites that read a link finds it in a
     * cache. */
    const uint32_t n = blockIdx.x * SUM_THREADS + threadIdx.x, pair = n / (2 * LAT_CUDA_GROUP);
    const int parity = (int)(n / LAT_CUDA_GROUP % 2), copy = (int)blockIdx.y / look.slices,
              slice = (int)blockIdx.y % look.slices;
    const uint32_t own = pair * LAT_CUDA_GROUP + n % LAT_CUDA_GROUP, i = w.from + own;
    double s[3] = {0, 0, 0};
    WAIT_FOR_GRID();
    if (w.peer) {
        if (threadIdx.x < 2)
            LAT_(wait_flag)(w.heard, (int)threadIdx.x, look.half);
        __syncthreads();
    }
    if (own < w.own) {
        const LAT_(view)<1> v = LAT_(fields_of)<R, 1>(w, slice, &copy, parity);
        const LAT_(coords) p = LAT_(find)(w, i, parity);
        LAT_T own[FULL], share, theta;
        LAT_(problem)<P> l = {};
        LAT_(links)<R, D, 1>(w, v, p, [&](int, const LAT_T *u, const LAT_T *g, LAT_T weight) {
            LAT_(take)<R>(&l, u, g, weight);
        });
        LAT_(fetch)<FEW>(own, v.g[0] + LAT_(at)(i, CHUNKS(FEW)));
        LAT_(complete)(own);
        LAT_(turn_to)<R>(&l, own);
        LAT_(state_of)<R>(w, l, &share, &theta);
        s[0] = (double)share;
        s[1] = s[2] = (double)theta;
    }
    LAT_(reduce)(s);
    LAT_(total)(look, copy * w.slices + slice, s);
}
