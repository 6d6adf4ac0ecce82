/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_real.cuh: the reals and the names of kernels that are compiled once for each N (LAT_N) and
 * precision (LAT_SIZE); see site/real.h. */
#define LAT_WIDTH 1
#undef LAT_T
#undef LAT_S
#undef LAT_V
#undef LETTER
#if LAT_SIZE == 4
#define LAT_T float
#define LAT_S float
#define LAT_V float4
#define LETTER f
#else
#define LAT_T double
#define LAT_S double
#define LAT_V double2
#define LETTER d
#endif
#define LAT_HOST_DEVICE static __device__ __forceinline__
#ifndef LAT_REGISTERS
#define LAT_REGISTERS 3 /* matrices of such N are in registers */
#endif
#if LAT_N <= LAT_REGISTERS
#define LAT_UNROLL _Pragma("unroll")
#else
#define LAT_UNROLL _Pragma("unroll 1")
#endif
#define JOIN_(a, b, c) a##_##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
#define LAT_(x) JOIN(x, LETTER, LAT_N)
