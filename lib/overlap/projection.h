/* SPDX-License-Identifier: BSD-3-Clause */
/* projection.h: the part of vectors that low modes w_k of H span: taken out, and put back with the
 * signs of their values. 0, or -1 with lat_error set. */
#pragma once

#include "vector/space.h"
#include "modes/modes.h"

typedef struct lat_projection {
    lat_space *space;
    const lat_modes *modes;
    lat_scalar *dot, *now; /* [modes][columns] */
} lat_projection;

int lat_projection_open(lat_projection *j, lat_space *space, const lat_modes *modes);
void lat_projection_close(lat_projection *j);

/* dot = <w_k, in>; and in -= sum w_k dot_k. */
int lat_projection_take_out(lat_projection *j, const lat_part *p, lat_dfield *in);

/* out += sum w_k (sign(value[k]) dot_k - <w_k, out>). */
int lat_projection_put_back(lat_projection *j, const lat_part *p, lat_dfield *out);
