/* SPDX-License-Identifier: BSD-3-Clause */
/* link_lanes_table.c: what link_lanes.c was compiled for. */
#include "link_lanes.h"

#define DECLARE(n, lanes) extern const lat_link_ops lat_links_##lanes##_##n[];
#define ENTRY(n, lanes) [n] = lat_links_##lanes##_##n,
#define TABLE(lanes) \
    LAT_EACH_GROUP(LAT_CPU_LINKS_MOST, DECLARE, lanes) \
    const lat_link_ops *const lat_links_##lanes[LAT_LINKS_MOST + 1] = { \
        LAT_EACH_GROUP(LAT_CPU_LINKS_MOST, ENTRY, lanes)}

TABLE(base);
#if defined(__x86_64__)
TABLE(avx2);
TABLE(avx512);
#endif
