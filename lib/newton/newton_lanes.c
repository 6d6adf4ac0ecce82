/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_lanes.c: Newton's method, a site in each lane of a vector. Compiled as fix_lanes.c is,
 * once for each vector length, with LAT_N = 2 and 3; newton.c chooses at run time. */
#include "newton_lanes.h"
#include "grid/vectors.h"

#include "grid/lanes_single.h"
#include "site/template.h"
#include "grid/permute.h"
#include "fix/fix_lane_local.h"
#undef ELEMENTS
#include "newton_algebra.h"
#include "newton_lane_single.h"
#include "grid/lanes_double.h"
#include "site/template.h"
#include "grid/permute.h"
#include "fix/fix_lane_local.h"
#undef ELEMENTS
#include "newton_algebra.h"
#include "newton_lane_double.h"

const lat_newton_lanes LAT_LANES_OF(lat_newton_lanes)[] = {{
    {BYTES / 4, BYTES / 8},
    gradient_d,
    step_d,
    rotate_f,
    begin_f,
    direction_f,
    hop_f,
    update_f,
    take_f,
}};
