/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lanes_table.c: what flow_lanes.c was compiled for. */
#include "flow_lanes.h"

#define DECLARE(n, lanes) extern const lat_flow_ops lat_flow_##lanes##_##n;
#define ENTRY(n, lanes) [n] = &lat_flow_##lanes##_##n,
#define TABLE(lanes) \
    LAT_EACH_GROUP(LAT_CPU_FLOW_MOST, DECLARE, lanes) \
    const lat_flow_ops *const lat_flow_##lanes[LAT_FLOW_MOST + 1] = { \
        LAT_EACH_GROUP(LAT_CPU_FLOW_MOST, ENTRY, lanes)}

TABLE(base);
#if defined(__x86_64__)
TABLE(avx2);
TABLE(avx512);
#endif
