/* SPDX-License-Identifier: BSD-3-Clause */
/* add_block.cuh: the sum over a block of the kernels of this folder. */
#pragma once

enum { THREADS = 128 }; /* of a block */

/* The sum over a block, in a fixed order; thread 0 has it. */
static __device__ __forceinline__ double add_block(double sum)
{
    __shared__ double shared[THREADS / 32];
#pragma unroll
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    __syncthreads(); /* the sum before is read */
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 1; i < THREADS / 32; i++)
            sum += shared[i];
    return sum;
}
