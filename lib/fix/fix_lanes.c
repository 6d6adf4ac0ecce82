/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lanes.c: the sweeps, a site in each lane of a vector. Compiled once for each vector length
 * and N with LAT_LANES = base, avx2 or avx512, that instruction set switched on, and LAT_N = 2 ..
 * 8; fix_cpu.c chooses at run time. This file expands fix_lane_sweeps.h in single and in double. */
#include "fix_lanes.h"
#include "grid/vectors.h"

#include "grid/lanes_single.h"
#include "fix_lane_sweeps.h"
#include "grid/lanes_double.h"
#include "fix_lane_sweeps.h"

const lat_fix_lanes LAT_LANES_OF(lat_fix_lanes)[] = {{sweep_f, state_f}, {sweep_d, state_d}};
