/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_diagonal.cuh: the diagonal part of an operator times spinors on a GPU. A thread is a site of
 * a parity. */
#pragma once

#include "dirac/cuda/cuda_dirac.cuh"
#include "dirac/cuda/cuda_links.cuh"
#include "vector/cuda/cuda_site.cuh"

/* out <- a C2 C in + i g5 gamma5 C in, or a C in + i g5 gamma5 in without C2; without clover
 * matrices C is 1. */
typedef struct lat_diagonal_args {
    uint32_t half, groups; /* sites and groups of a parity */
    size_t parity, column; /* bytes */
    int first;             /* parity of blockIdx.z 0 */
    const char *in;
    char *out;
    const char *clover[2], *second[2]; /* C, C2: blocks of each parity; NULL: 1 */
    double a, g5;
    int columns;
    uint8_t active[LAT_VECTOR_COLUMNS];
} lat_diagonal_args;

/* Blocks of the same sites (blockIdx.y) share the columns. */
template <int P>
__global__ void __launch_bounds__(128) diagonal(const __grid_constant__ lat_diagonal_args a)
{
    typedef real_of<P> real;
    const uint32_t i = blockIdx.x * 128 + threadIdx.x, group = i / 32, lane = i % 32;
    const int parity = a.first + (int)blockIdx.z;
    const size_t block = (size_t)group * lat_form<P>::CLOVER;
    if (i >= a.half)
        return;
    WAIT_FOR_GRID();
#pragma unroll 1
    for (int n = (int)blockIdx.y; n < a.columns; n += (int)gridDim.y) {
        const size_t at = (size_t)a.active[n] * a.column + (size_t)parity * a.parity
                          + (size_t)group * lat_form<P>::GROUP;
        real x[24], y[24];
        get_spinor<P>(x, a.in + at, lane, false);
#pragma unroll
        for (int k = 0; k < 24; k++)
            y[k] = x[k];
        if (a.clover[parity])
            clover_times<P, true>(y, a.clover[parity] + block, lane, 0);
        if (a.second[parity]) {
#pragma unroll
            for (int k = 0; k < 24; k++)
                x[k] = y[k];
            clover_times<P, true>(y, a.second[parity] + block, lane, 0);
        }
#pragma unroll
        for (int k = 0; k < 24; k++)
            y[k] = rounded_product((real)a.a, y[k]);
        add_gamma5(y, x, (real)a.g5);
        put_spinor<P, false>(a.out + at, lane, y, false, 0);
    }
}
