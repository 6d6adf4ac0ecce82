/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lanes_table.c: what fix_lanes.c was compiled for. */
#include "fix_lanes.h"

#define TABLE(lanes) \
    extern const lat_lane_ops lat_lanes_##lanes##_2[], lat_lanes_##lanes##_3[], \
        lat_lanes_##lanes##_4[], lat_lanes_##lanes##_5[], lat_lanes_##lanes##_6[], \
        lat_lanes_##lanes##_7[], lat_lanes_##lanes##_8[]; \
    const lat_lane_ops *const lat_lanes_##lanes[LAT_LANES_MOST + 1] = { \
        [2] = lat_lanes_##lanes##_2, lat_lanes_##lanes##_3, lat_lanes_##lanes##_4, \
        lat_lanes_##lanes##_5,       lat_lanes_##lanes##_6, lat_lanes_##lanes##_7, \
        lat_lanes_##lanes##_8}

TABLE(base);
#if defined(__x86_64__)
TABLE(avx2);
TABLE(avx512);
#endif
