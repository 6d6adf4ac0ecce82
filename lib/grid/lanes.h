/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h: kernels over vectors of sites, compiled for each vector length and each N (lib/lanes.mk,
 * which defines LAT_LANES = base, avx2 or avx512, and LAT_N).
 *
 * lat_NAME_lanes is a struct of functions. NAME_lanes.c ends with
 *     const lat_NAME_lanes LAT_LANES_OF(lat_NAME_lanes)[] = {..};
 * and the file that chooses has LAT_LANES_TABLE(lat_NAME_lanes, MOST); it finds what was compiled
 * in lat_NAME_lanes_table[lat_isa_widest()][N]. */
#ifndef LAT_GRID_LANES_H
#define LAT_GRID_LANES_H

#include "base/isa.h"
#include "site/groups.h"

#define LAT_LANES_JOIN_(of, lanes, n) of##_##lanes##_##n
#define LAT_LANES_JOIN(of, lanes, n) LAT_LANES_JOIN_(of, lanes, n)
#define LAT_LANES_OF(of) LAT_LANES_JOIN(of, LAT_LANES, LAT_N)

#define LAT_LANES_BASE(n, of) [n] = of##_base_##n,
#define LAT_LANES_AVX2(n, of) [n] = of##_avx2_##n,
#define LAT_LANES_AVX512(n, of) [n] = of##_avx512_##n,
#if defined(__x86_64__)
#define LAT_LANES_DECLARE(n, of) \
    extern const of of##_base_##n[], of##_avx2_##n[], of##_avx512_##n[];
#define LAT_LANES_WIDER(of, most) \
    [LAT_ISA_AVX2] = {LAT_EACH_GROUP(most, LAT_LANES_AVX2, of)}, [LAT_ISA_AVX512] = { \
                                                                     LAT_EACH_GROUP( \
                                                                         most, LAT_LANES_AVX512, \
                                                                         of)}
#else
#define LAT_LANES_DECLARE(n, of) extern const of of##_base_##n[];
#define LAT_LANES_WIDER(of, most)
#endif
#define LAT_LANES_TABLE(of, most) \
    LAT_EACH_GROUP(most, LAT_LANES_DECLARE, of) \
    static const of *const of##_table[][LAT_MAX_COLOURS + 1] = { \
        [LAT_ISA_BASE] = {LAT_EACH_GROUP(most, LAT_LANES_BASE, of)}, LAT_LANES_WIDER(of, most)}

#endif
