/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h: tables of kernels over vectors of sites, which are compiled for each vector length and
 * each N (lib/lanes.mk).
 *
 * lat_NAME_lanes is a struct of functions. NAME_lanes.c exports those that it was compiled for
 * (vectors.h). The file that chooses has LAT_LANES_TABLE(lat_NAME_lanes, MOST), and finds them in
 * lat_NAME_lanes_table[lat_isa_widest()][N]. */
#pragma once

#include "base/isa.h"
#include "site/groups.h"

#define LAT_LANES_BASE(n, of) [n] = of##_base_##n,
#define LAT_LANES_AVX2(n, of) [n] = of##_avx2_##n,
#define LAT_LANES_AVX512(n, of) [n] = of##_avx512_##n,
#if defined(__x86_64__)
#define LAT_LANES_DECLARE(n, of) \
    extern const of of##_base_##n[], of##_avx2_##n[], of##_avx512_##n[];
#define LAT_LANES_ROWS(of, most) \
    {LAT_EACH_GROUP(most, LAT_LANES_BASE, of)}, {LAT_EACH_GROUP(most, LAT_LANES_AVX2, of)}, \
    { \
        LAT_EACH_GROUP(most, LAT_LANES_AVX512, of) \
    }
#else
#define LAT_LANES_DECLARE(n, of) extern const of of##_base_##n[];
#define LAT_LANES_ROWS(of, most) \
    { \
        LAT_EACH_GROUP(most, LAT_LANES_BASE, of) \
    }
#endif
/* Rows in the order of lat_isa. */
#define LAT_LANES_TABLE(of, most) \
    LAT_EACH_GROUP(most, LAT_LANES_DECLARE, of) \
    static const of *const of##_table[][LAT_MAX_COLOURS + 1] = {LAT_LANES_ROWS(of, most)}
