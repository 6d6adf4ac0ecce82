/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lanes_table.c: what fix_lanes.c was compiled for. */
#include "fix_lanes.h"

#define DECLARE(n, lanes) extern const lat_lane_ops lat_lanes_##lanes##_##n[];
#define ENTRY(n, lanes) [n] = lat_lanes_##lanes##_##n,
#define TABLE(lanes) \
    LAT_EACH_GROUP(LAT_CPU_FIX_MOST, DECLARE, lanes) \
    const lat_lane_ops *const lat_lanes_##lanes[LAT_FIX_MOST + 1] = { \
        LAT_EACH_GROUP(LAT_CPU_FIX_MOST, ENTRY, lanes)}

TABLE(base);
#if defined(__x86_64__)
TABLE(avx2);
TABLE(avx512);
#endif
