/* SPDX-License-Identifier: BSD-3-Clause */
/* unitary.h: links in double precision whose inverse is their adjoint. */
#pragma once

#include "field.h"

/* u becomes a field of doubles whose links are in SU(N) to rounding: other links are replaced by
 * the nearest ones, and the header states no plaquette then. Missing links of an open boundary stay
 * zero. 0, or -1 with a sentence that begins with `who`. All ranks call it. */
int lat_links_unitary(lat_field *u, const char *who);
