/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_internal.h: what check programs see of newton.c beside newton.h. */
#ifndef LAT_NEWTON_NEWTON_INTERNAL_H
#define LAT_NEWTON_NEWTON_INTERNAL_H

#include "newton.h"

/* out = M in for the links that g transforms: rows of elements of the algebra (newton_lanes.h),
 * slice by slice, each in its natural order. */
int lat_newton_apply(lat_newton *n, lat_field *g, float *out, const float *in);

#endif
