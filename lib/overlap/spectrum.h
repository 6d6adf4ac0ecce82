/* SPDX-License-Identifier: BSD-3-Clause */
/* spectrum.h: the lowest modes of D^+ D = (1 + c P sign(H) P)/2, mu = 0, P = (1 + c gamma5)/2, in
 * both chiralities c: by Lanczos in one of them, and in the other one for what is not a partner.
 *
 * Returns 0, or -1 with lat_error set; all ranks of the device call it. */
#pragma once

#include "overlap.h"

/* The `count` lowest of each, chirality + first, ascending; o has one column. value,
 * residual: [2 count]; fewer than the spinors of one chirality have. `modes`, a host field of as
 * many columns (NULL: none), gets the vectors. */
int lat_overlap_spectrum(lat_overlap *o, int count, double tolerance, double *value,
                         double *residual, lat_field *modes);
