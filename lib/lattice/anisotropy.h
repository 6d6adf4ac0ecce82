/* SPDX-License-Identifier: BSD-3-Clause */
/* anisotropy.h: what a header says of the anisotropy that a configuration was made with, in the
 * info lines xi, its bare value, and xi_axis, the direction whose planes weigh xi. Where there is
 * no xi_axis it is the last one. */
#ifndef LAT_ANISOTROPY_H
#define LAT_ANISOTROPY_H

#include "header.h"

/* *xi for the last direction, 1 where the header says nothing. Fails where it is no number, or one
 * of another direction. */
int lat_anisotropy(const lat_header *head, double *xi);

/* After a permutation: axis number i was axis number axes[i]. */
int lat_anisotropy_permute(lat_header *head, const int axes[LAT_MAX_DIMS]);

#endif
