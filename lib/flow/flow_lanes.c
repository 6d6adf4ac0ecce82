/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lanes.c: the gradient flow, a site in each lane of a vector of doubles. Compiled as
 * link_lanes.c is, once for each vector length and N; flow_cpu.c chooses at run time. */
#include "flow_lanes.h"
#include "grid/vectors.h"

#include "grid/lanes_double.h"
#include "flow_lane_sweeps.h"

const lat_flow_lanes LAT_LANES_OF(lat_flow_lanes)[] = {
    {force_d, staples_d, plane_d, apply_d, apart_d, numbers_d}};
