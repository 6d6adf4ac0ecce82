/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_tensor.cuh: products by tensor cores: inputs of 11 bits (TF32), sums in single precision. */
#pragma once

#include "multigrid/cuda/cuda_multigrid.cuh"

/* sum += a b, of a warp: a has 16 rows and 8 columns, b 8 rows and 8 columns, rounded by
 * mg_rounded. With g = lane / 4 and t = lane % 4 a lane has a(g, t), a(g + 8, t), a(g, t + 4), a(g
 * + 8, t + 4); b(t, g), b(t + 4, g); and of the sum (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2
 * t + 1). */
DEVICE void mg_multiply(float sum[4], const float a[4], const uint32_t b[2])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])),
                   "r"(__float_as_uint(a[2])), "r"(__float_as_uint(a[3])), "r"(b[0]), "r"(b[1]));
#else
    const uint32_t lane = threadIdx.x % 32, row = lane / 4;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const float up = __shfl_sync(~0u, a[k / 4 * 2], row * 4 + k % 4),
                    low = __shfl_sync(~0u, a[k / 4 * 2 + 1], row * 4 + k % 4);
        for (int j = 0; j < 2; j++) {
            const float x = __uint_as_float(
                __shfl_sync(~0u, b[k / 4], (lane % 4 * 2 + (uint32_t)j) * 4 + k % 4));
            sum[j] = fmaf(up, x, sum[j]);
            sum[2 + j] = fmaf(low, x, sum[2 + j]);
        }
    }
#endif
}

/* The 11 bits that tensor cores take. */
DEVICE uint32_t mg_rounded(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
#else
    return __float_as_uint(x);
#endif
}
