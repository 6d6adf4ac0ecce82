/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_lanes_table.c: what newton_lanes.c was compiled for. */
#include "newton_lanes.h"

#define DECLARE(n, lanes) extern const lat_newton_ops lat_newton_##lanes##_##n;
#define ENTRY(n, lanes) [n] = &lat_newton_##lanes##_##n,
#define TABLE(lanes) \
    LAT_EACH_GROUP(3, DECLARE, lanes) \
    const lat_newton_ops *const lat_newton_##lanes[LAT_NEWTON_MOST + 1] = { \
        LAT_EACH_GROUP(3, ENTRY, lanes)}

TABLE(base);
#if defined(__x86_64__)
TABLE(avx2);
TABLE(avx512);
#endif
