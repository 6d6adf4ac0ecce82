/* SPDX-License-Identifier: BSD-3-Clause */
/* boundary.h: what a header says of the boundaries of the lattice, in the info lines boundary_1 to boundary_4 (x to t),
 * as NERSC's headers do.
 *
 *   PERIODIC      where there is no such line.
 *   ANTIPERIODIC  of fermions. The links are the gauge field itself and have no signs.
 *   OPEN          the links of one slice along that axis are zero: it has no links around the boundary. */
#ifndef LAT_BOUNDARY_H
#define LAT_BOUNDARY_H

#include "header.h"

#define LAT_ANTIPERIODIC "ANTIPERIODIC"
#define LAT_OPEN "OPEN"

/* The word for axis mu; and whether it is this one. */
const char *lat_boundary(const lat_header *head, int mu);
bool lat_boundary_is(const lat_header *head, int mu, const char *word);
int lat_boundary_set(lat_header *head, int mu, const char *word);

/* After a permutation: what was said of axis axes[i] is said of axis i. */
void lat_boundary_permute(lat_header *head, const int axes[LAT_MAX_DIMS]);

/* The first open axis, -1 where there is none. */
int lat_boundary_open(const lat_header *head);

/* Fails where an axis is open, for those who need all links: `who` does, and `instead` (may be NULL) is what to do. */
int lat_boundary_closed(const lat_header *head, const char *name, const char *who, const char *instead);

#endif
