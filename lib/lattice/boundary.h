/* SPDX-License-Identifier: BSD-3-Clause */
/* boundary.h: what a header says of the boundaries of the lattice, in the info lines boundary_1 to
 * boundary_4 (x to t), as NERSC's headers do.
 *
 *   PERIODIC      where there is no such line.
 *   ANTIPERIODIC  of fermions. The links are the gauge field itself and have no signs.
 *   OPEN          the links of one slice along that axis are zero: it has no links around the
 * boundary. */
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

/* The open axes: bit mu. */
unsigned lat_boundary_open(const lat_header *head);

/* Links that are not there (not of a transformation), and the share of plaquettes that are, where
 * so is each open axis. */
size_t lat_boundary_missing(const lat_header *head);
double lat_boundary_plaquettes(const lat_header *head);

/* Is the link along mu with these reals one of those? `open` as above. */
static inline bool lat_boundary_none(unsigned open, int mu, const double *reals, int n)
{
    if (!(open >> mu & 1))
        return false;
    for (int i = 0; i < n; i++)
        if (reals[i] != 0)
            return false;
    return true;
}

/* Fails where an axis other than `except` (-1: any) is open, for `who`, "Landau propagators", say,
 * that need all links. */
int lat_boundary_closed(const lat_header *head, int except, const char *who);

#endif
