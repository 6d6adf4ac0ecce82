/* SPDX-License-Identifier: BSD-3-Clause */
/* transform.h: gauge transformations of fields, in double precision.
 *
 * A transformation is a field of kind LAT_TRANSFORM: one SU(N) matrix g(x) a site. */
#pragma once

#include <stdint.h>
#include "field.h"

/* g(x) = 1 on the lattice and in the group of `u`, f64, for the ranks of `comm`: 0, or -1 with
 * lat_error set. To be freed by lat_field_free. */
int lat_transform_new(lat_field *g, const lat_header *u, const lat_comm *comm);

/* g(x) <- Haar random matrices. They depend on seed, global site and the number of the
 * configuration only. */
void lat_transform_random(lat_field *g, uint64_t seed, long config);

/* Projects g(x) to SU(N) by Gram-Schmidt: 0, or -1 where one is singular. */
int lat_transform_project(lat_field *g);

/* U_mu(x) <- g(x) U_mu(x) g(x+mu)^+, and psi(x) <- g(x) psi(x) of every spinor (of a propagator
 * this rotates the sink alone), rounded once to the precision of u. Plaquette, link trace, gauge
 * condition and CRC of the links in the header of u become unknown. Exchanges the halos of both.
 * All ranks call it: 0, or -1 where lattice or group differ. */
int lat_transform_apply(lat_field *u, lat_field *g);

/* g(x) <- h(x) g(x), of one lattice and group, without halo exchange. */
void lat_transform_compose(lat_field *g, const lat_field *h);

/* Is g diagonal, to the last bit? All ranks call it: 1, 0, or -1. */
int lat_transform_diagonal(const lat_field *g);

/* The same as lat_transform_apply without checks, header and halo exchange: the ghosts of g must be
 * up to date. */
void lat_transform_rotate(lat_field *u, const lat_field *g);
