/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_diagonal.cuh: the diagonal part of an operator times spinors on a GPU. A thread is a site of
 * a parity, of a column or of all. */
#ifndef LAT_DIRAC_CUDA_DIAGONAL_CUH
#define LAT_DIRAC_CUDA_DIAGONAL_CUH

#include "dirac/cuda/cuda_dirac.cuh"
#include "dirac/cuda/cuda_links.cuh"
#include "vector/cuda/cuda_site.cuh"

/* y <- a C2 C x + i g5 gamma5 C x; without clover matrices C and C2 are 1. */
typedef struct lat_diagonal_args {
    uint32_t half, groups; /* sites, groups of a parity */
    size_t parity, column; /* bytes */
    int first;             /* parity of blockIdx.z 0 */
    const char *x;
    char *y;
    const char *clover[2], *clover2[2]; /* blocks of each parity; NULL: none */
    lat_scalar a;
    double g5;
    int columns;
    uint8_t active[LAT_VECTOR_COLUMNS];
} lat_diagonal_args;

/* blockIdx.y: the column. */
template <int P>
__global__ void __launch_bounds__(128) diagonal(const __grid_constant__ lat_diagonal_args a)
{
    typedef lat_form<P> form;
    typedef typename form::real real;
    const uint32_t i = blockIdx.x * 128 + threadIdx.x, group = i / 32, lane = i % 32;
    const int parity = a.first + (int)blockIdx.z;
    if (i >= a.half)
        return;
    const size_t at = (size_t)a.active[blockIdx.y] * a.column + (size_t)parity * a.parity
                      + (size_t)group * form::GROUP,
                 block = (size_t)group * form::CLOVER;
    real x[24], y[24];
    WAIT_FOR_GRID();
    get_spinor<P>(x, a.x + at, lane, false);
    if (a.clover[parity])
        clover_times<P>(x, a.clover[parity] + block, lane, read_once());
#pragma unroll
    for (int k = 0; k < 24; k++)
        y[k] = x[k];
    if (a.clover2[parity])
        clover_times<P>(y, a.clover2[parity] + block, lane, read_once());
    times(y, a.a);
    add_gamma5(y, x, (real)a.g5);
    put_spinor<P, false>(a.y + at, lane, y, false, read_once());
}

/* Of several columns, without clover2: the matrices of a warp's sites are brought
 * to shared memory once for all. */
template <int P>
__global__ void __launch_bounds__(128) diagonal_many(const __grid_constant__ lat_diagonal_args a)
{
    typedef lat_form<P> form;
    typedef typename form::real real;
    extern __shared__ __align__(128) char shared[];
    const uint32_t i = blockIdx.x * 128 + threadIdx.x, group = i / 32, lane = i % 32;
    const int parity = a.first + (int)blockIdx.z;
    if (group >= a.groups)
        return;
    char *const held = shared + threadIdx.x / 32 * form::CLOVER;
    const char *const matrices = a.clover[parity] + (size_t)group * form::CLOVER;
    const uint64_t policy = read_once();
    for (uint32_t k = lane * 16; k < form::CLOVER; k += 512)
        *(uint4 *)(held + k) = load16_once(matrices + k, policy);
    __syncwarp();
    if (i >= a.half)
        return;
#pragma unroll 1
    for (int n = 0; n < a.columns; n++) {
        const size_t at = (size_t)a.active[n] * a.column + (size_t)parity * a.parity
                          + (size_t)group * form::GROUP;
        real x[24], y[24];
        get_spinor<P>(x, a.x + at, lane, false);
        clover_times<P, true>(x, held, lane, policy);
#pragma unroll
        for (int k = 0; k < 24; k++)
            y[k] = x[k];
        times(y, a.a);
        add_gamma5(y, x, (real)a.g5);
        put_spinor<P, false>(a.y + at, lane, y, false, policy);
    }
}

#endif
