/* SPDX-License-Identifier: BSD-3-Clause */
/* link_lanes_table.c: what link_lanes.c was compiled for. */
#include "link_lanes.h"

#define ONE(lanes, n) lat_links_##lanes##_##n
#define TABLE(lanes) \
    extern const lat_link_ops ONE(lanes, 2)[], ONE(lanes, 3)[], ONE(lanes, 4)[], ONE(lanes, 5)[], \
        ONE(lanes, 6)[], ONE(lanes, 7)[], ONE(lanes, 8)[], ONE(lanes, 9)[], ONE(lanes, 10)[], \
        ONE(lanes, 11)[], ONE(lanes, 12)[], ONE(lanes, 13)[], ONE(lanes, 14)[], ONE(lanes, 15)[], \
        ONE(lanes, 16)[], lat_links_##lanes##_3_all[]; \
    const lat_link_ops *const lat_links_##lanes[LAT_LINKS_MOST + 1] = { \
        [2] = ONE(lanes, 2), ONE(lanes, 3),  ONE(lanes, 4),  ONE(lanes, 5),  ONE(lanes, 6), \
        ONE(lanes, 7),       ONE(lanes, 8),  ONE(lanes, 9),  ONE(lanes, 10), ONE(lanes, 11), \
        ONE(lanes, 12),      ONE(lanes, 13), ONE(lanes, 14), ONE(lanes, 15), ONE(lanes, 16)}; \
    const lat_link_ops *const lat_links_##lanes##_all = lat_links_##lanes##_3_all

TABLE(base);
#if defined(__x86_64__)
TABLE(avx2);
TABLE(avx512);
#endif
