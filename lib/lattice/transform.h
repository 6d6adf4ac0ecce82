/* SPDX-License-Identifier: BSD-3-Clause */
/* transform.h: gauge transformations of fields, in double precision.
 *
 * A transformation is a field of kind LAT_TRANSFORM: one SU(N) matrix g(x) a site. */
#ifndef LAT_TRANSFORM_H
#define LAT_TRANSFORM_H

#include <stdint.h>
#include "field.h"

/* A transformation for the lattice and group of `u`, f64, all g(x) = 1: 0 or -1. Free it. */
int lat_transform_new(lat_field *g, const lat_header *u);

/* Every g(x) a Haar random matrix, which depends on seed, site and the number of the configuration
 * alone. */
void lat_transform_random(lat_field *g, uint64_t seed, long config);

/* Every g(x) projected onto SU(N) by Gram-Schmidt; fails where one is singular. */
int lat_transform_project(lat_field *g);

/* U_mu(x) <- g(x) U_mu(x) g(x+mu)^+, rounded once to u's precision. Fails if lattice or group
 * differ. The plaquette, the link trace and the gauge condition in u's header are forgotten. Both
 * have their ghosts up to date then. */
int lat_transform_apply(lat_field *u, lat_field *g);

/* That alone: ghosts of g are up to date, those of u are not asked for. */
void lat_transform_rotate(lat_field *u, const lat_field *g);

#endif
