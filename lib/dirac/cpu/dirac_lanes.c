/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_lanes.c: Dirac operators, a site in each lane of a vector. Compiled as fix_lanes.c is, for
 * each vector length and N: LAT_LANES = base, avx2 or avx512, LAT_N = 2 or 3; dirac_cpu.c chooses
 * at run time. This file expands hop_lanes.h in single and in double. */
#include "dirac/cpu/dirac_lanes.h"
#include "grid/vectors.h"
#if defined(__x86_64__) && !defined(__AVX2__)
#include <immintrin.h>
#endif

#define HALF (4 * LAT_N)   /* vectors of two spins */
#define SPINOR (8 * LAT_N) /* of four */
#define CLOVER LAT_CLOVER_REALS(LAT_N)
#define LINK_REALS (2 * LAT_N * LAT_N)

/* What was loaded stays in a register: gcc would fold the load into each of its uses, and loads are
 * what the kernel is bound by then. STREAM stores past the caches. */
#if defined(__x86_64__)
#define LAT_KEEP(x) asm("" : "+v"(x))
#define FENCE _mm_sfence()
#if BYTES == 64
#define STREAM(p, x) _mm512_stream_ps((float *)(p), (__m512)(x))
#elif BYTES == 32
#define STREAM(p, x) _mm256_stream_ps((float *)(p), (__m256)(x))
#else
#define STREAM(p, x) _mm_stream_ps((float *)(p), (__m128)(x))
#endif
#else
#define LAT_KEEP(x) (void)(x)
#define FENCE (void)0
#define STREAM(p, x) (*(p) = (x))
#endif

/* A hop begins with t, which its sum need not be zero for. */
#define LAT_T_FIRST

/* Prefetches into the first cache, the second one, or the first for one use. */
typedef enum { TO_FIRST, TO_SECOND, TO_FIRST_ONCE } fetch_to;

#include "grid/lanes_single.h"
#include "dirac_lanes_sweeps.h"
#include "grid/lanes_double.h"
#include "dirac_lanes_sweeps.h"

const lat_dirac_lanes LAT_LANES_OF(lat_dirac_lanes)[] = {{hop_f, diagonal_f}, {hop_d, diagonal_d}};
