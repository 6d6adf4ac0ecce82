/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_lanes_table.c: what dirac_lanes.c was compiled for. */
#include "dirac_lanes.h"
#include "site/groups.h"

#define DECLARE(n, lanes) extern const lat_dirac_lanes lat_dirac_##lanes##_##n[];
#define ENTRY(n, lanes) [n] = lat_dirac_##lanes##_##n,
#define TABLE(lanes) \
    LAT_EACH_GROUP(LAT_DIRAC_MOST, DECLARE, lanes) \
    const lat_dirac_lanes *const lat_dirac_##lanes[LAT_DIRAC_MOST + 1] = { \
        LAT_EACH_GROUP(LAT_DIRAC_MOST, ENTRY, lanes)}

TABLE(base);
#if defined(__x86_64__)
TABLE(avx2);
TABLE(avx512);
#endif
