/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c: the sweeps, a site in each lane of a vector. Compiled once for each vector length and N with
 * LAT_LANES = base, avx2 or avx512, that instruction set switched on, and LAT_N = 2 .. 8; cpu.c
 * chooses at run time. This file expands sweeps.h in single and in double. */
#include <math.h>
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif
#include "lanes.h"

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX2__)
#define BYTES 32
#else
#define BYTES 16
#endif

typedef float floats __attribute__((vector_size(BYTES)));
typedef double doubles __attribute__((vector_size(BYTES)));

#define LAT_HD static inline __attribute__((always_inline, unused))
/* Parts of a visit that several kinds of sweep share are functions of their own: what they hand over
 * costs a hundredth of the visit, and a copy in each would take the compiler minutes. */
#define APART static __attribute__((noinline, unused))
/* Indices known to the compiler: zeros, and hits whose result nobody reads, are left out. From SU(4) on too much text. */
#if LAT_N <= 3 && !defined(__clang__)
#define LAT_UNROLL _Pragma("GCC unroll 8")
#endif

#define LAT_T floats
#define LAT_S float
#define LAT_SIZE 4
#define LAT_WIDTH (BYTES / 4)
#define LAT_(x) x##_f
#include "sweeps.h"
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_

#define LAT_T doubles
#define LAT_S double
#define LAT_SIZE 8
#define LAT_WIDTH (BYTES / 8)
#define LAT_(x) x##_d
#include "sweeps.h"

#define JOIN_(lanes, n) lat_lanes_##lanes##_##n
#define JOIN(lanes, n) JOIN_(lanes, n)

const lat_lane_ops JOIN(LAT_LANES, LAT_N)[] = {
    {LAT_N, 4, BYTES / 4, sweep_f, state_f}, {LAT_N, 8, BYTES / 8, sweep_d, state_d}};
