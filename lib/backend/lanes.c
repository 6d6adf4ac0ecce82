/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.c: the sweeps, a site in each lane of a vector. Compiled once for each vector length with
 * LAT_LANES = base, avx2 or avx512 and that instruction set switched on; cpu.c chooses at run time.
 * This file expands sweeps.h for every N and precision. */
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

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define LAT_N 2
#include "sweeps_n.h"
#undef LAT_N
#define LAT_N 3
#include "sweeps_n.h"
#undef LAT_N
#define LAT_N 4
#include "sweeps_n.h"
#undef LAT_N
#define LAT_N 5
#include "sweeps_n.h"
#undef LAT_N
#define LAT_N 6
#include "sweeps_n.h"
#undef LAT_N
#define LAT_N 7
#include "sweeps_n.h"
#undef LAT_N
#define LAT_N 8
#include "sweeps_n.h"
#undef LAT_N

#define ENTRY(n) \
    {n, 4, BYTES / 4, sweep_f##n, state_f##n}, \
    {n, 8, BYTES / 8, sweep_d##n, state_d##n}

const lat_lane_ops JOIN(lat_lanes_, LAT_LANES)[] = {
    ENTRY(2), ENTRY(3), ENTRY(4), ENTRY(5), ENTRY(6), ENTRY(7), ENTRY(8), {0, 0, 0, NULL, NULL}};
