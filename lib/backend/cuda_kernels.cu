/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_kernels.cu: the kernels of the CUDA backend, compiled once for each N (LAT_N) and precision (LAT_SIZE) */
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "cuda.h"

#define LAT_WIDTH 1
#if LAT_SIZE == 4
#define LAT_T float
#define LAT_S float
#define LAT_V float4
#define LETTER f
#define WEIGHT(w) (w).weight_single
#define HOW(how) (how).single
#else
#define LAT_T double
#define LAT_S double
#define LAT_V double2
#define LETTER d
#define WEIGHT(w) (w).weight
#define HOW(how) (how).real
#endif
#define LAT_HD static __device__ __forceinline__
#if LAT_N <= 3
#define LAT_UNROLL _Pragma("unroll")
#else
#define LAT_UNROLL _Pragma("unroll 1")
#endif
#define JOIN_(a, b, c) a##_##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define LAT_(x) JOIN(x, LETTER, LAT_N)

/* Links are read once a half sweep: they need no room in the first cache. */
#ifndef BLOCKX
#define BLOCKX 128
#endif
#ifdef MINB
#define BOUNDS __launch_bounds__(256, MINB)
#else
#define BOUNDS
#endif
#ifndef POLICY
#define POLICY 0
#endif
#if POLICY == 0
#define LOAD_LINK(p) __ldg(p)
#elif POLICY == 1
#define LOAD_LINK(p) __ldcs(p)
#elif POLICY == 2
static __device__ __forceinline__ LAT_V load_link(const LAT_V *p)
{
    LAT_V v;
#if LAT_SIZE == 4
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
#else
    asm volatile("ld.global.nc.L1::no_allocate.v2.f64 {%0,%1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(p));
#endif
    return v;
}
#define LOAD_LINK(p) load_link(p)
#endif

#include "cuda_sweeps.cuh"

extern "C" const lat_cuda_ops LAT_(lat_cuda_ops);
const lat_cuda_ops LAT_(lat_cuda_ops) = {
    LAT_N, LAT_SIZE, (const void *)LAT_(total),
    LAT_(load), LAT_(set), LAT_(get), LAT_(sweep), LAT_(sum), LAT_(state_blocks),
};
