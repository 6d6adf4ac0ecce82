/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_lanes.c: Newton's method, a site in each lane of a vector. Compiled as fix_lanes.c is,
 * once for each vector length, with LAT_N = 2 and 3; newton.c chooses at run time. */
#include "newton_lanes.h"
#include "grid/vectors.h"

#define LAT_T floats
#define LAT_S float
#define LAT_SIZE 4
#define LAT_WIDTH (BYTES / 4)
#define LAT_(x) x##_f
#include "newton_lane_algebra.h"
#include "newton_lane_single.h"
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_

#define LAT_T doubles
#define LAT_S double
#define LAT_SIZE 8
#define LAT_WIDTH (BYTES / 8)
#define LAT_(x) x##_d
#include "newton_lane_algebra.h"
#include "newton_lane_double.h"

#define JOIN_(lanes, n) lat_newton_##lanes##_##n
#define JOIN(lanes, n) JOIN_(lanes, n)

const lat_newton_ops JOIN(LAT_LANES, LAT_N) = {
    {BYTES / 4, BYTES / 8},
    gradient_d,
    step_d,
    rotate_f,
    begin_f,
    direction_f,
    hop_f,
    update_f,
    take_f,
};
