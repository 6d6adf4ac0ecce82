/* SPDX-License-Identifier: BSD-3-Clause */
/* vectors.h: what files *_lanes.c are compiled for: vectors of the length that the compiler's
 * options allow, a site in each lane, and how site functions are to be expanded over them. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX2__)
#define BYTES 32
#else
#define BYTES 16
#endif

typedef float floats __attribute__((vector_size(BYTES)));
typedef double doubles __attribute__((vector_size(BYTES)));

/* What such a file exports, for LAT_LANES = base, avx2 or avx512, and LAT_N:
 *     const lat_NAME_lanes LAT_LANES_OF(lat_NAME_lanes)[] = {..};
 * The table of all of them: lanes.h. */
#define LAT_LANES_JOIN_(of, lanes, n) of##_##lanes##_##n
#define LAT_LANES_JOIN(of, lanes, n) LAT_LANES_JOIN_(of, lanes, n)
#define LAT_LANES_OF(of) LAT_LANES_JOIN(of, LAT_LANES, LAT_N)

#define LAT_HOST_DEVICE static inline __attribute__((always_inline, unused))
/* Parts of an update that several kinds of updates share are functions of their own. What they hand
 * over costs a hundredth of the update, and a copy in each would take the compiler minutes. */
#define APART static __attribute__((noinline, unused))
/* Indices known to the compiler: zeros, and hits whose result nobody reads, are left out. From
 * SU(4) on too much text. */
#if LAT_N <= 3 && !defined(__clang__)
#define LAT_UNROLL _Pragma("GCC unroll 8")
#endif
