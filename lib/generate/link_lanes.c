/* SPDX-License-Identifier: BSD-3-Clause */
/* link_lanes.c: pure gauge theory, a site in each lane of a vector. Compiled as fix_lanes.c is,
 * once for each vector length and N: LAT_LANES = base, avx2 or avx512, LAT_N = 2 .. 16;
 * generate_cpu.c chooses at run time. This file expands link_lane_sweeps.h in single and double. */
#include "link_lanes.h"
#include "grid/vectors.h"

#include "grid/lanes_single.h"
#include "link_lane_sweeps.h"
#include "grid/lanes_double.h"
#include "link_lane_sweeps.h"

const lat_link_lanes LAT_LANES_OF(lat_link_lanes)[] = {{update_f, reunit_f, plaquette_f},
                                                       {update_d, reunit_d, plaquette_d}};
