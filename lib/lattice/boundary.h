/* SPDX-License-Identifier: BSD-3-Clause */
/* boundary.h: boundary conditions of the lattice, which the header states in the info lines
 * boundary_1 to boundary_4 (x to t), as NERSC headers do:
 *
 *   PERIODIC      where there is no such line.
 *   ANTIPERIODIC  of fermions. The links are the gauge field itself; no signs are in them.
 *   OPEN          the links across the boundary are missing: the links of one slice along that axis
 *                 are zero. */
#pragma once

#include "fermion.h"
#include "field.h"

#define LAT_ANTIPERIODIC "ANTIPERIODIC"
#define LAT_OPEN "OPEN"

/* The word for axis mu, and whether it is `word`; lat_boundary_set is 0 or -1. */
const char *lat_boundary(const lat_header *head, int mu);
bool lat_boundary_is(const lat_header *head, int mu, const char *word);
int lat_boundary_set(lat_header *head, int mu, const char *word);

/* After a permutation: the line of axis axes[i] becomes the line of axis i. */
void lat_boundary_permute(lat_header *head, const int axes[LAT_MAX_DIMS]);

/* The open axes: bit mu. */
unsigned lat_boundary_open(const lat_header *head);

/* With open boundaries: the number of missing links (0 of a transformation), and the fraction of
 * plaquettes that exist. */
size_t lat_boundary_missing(const lat_header *head);
double lat_boundary_plaquettes(const lat_header *head);

/* Is the link along mu with these n reals a missing one? `open`: lat_boundary_open. */
static inline bool lat_boundary_none(unsigned open, int mu, const double *reals, int n)
{
    if (!(open >> mu & 1))
        return false;
    for (int i = 0; i < n; i++)
        if (reals[i] != 0)
            return false;
    return true;
}

/* 0, or -1 where an axis other than `except` (-1: any) is open. The sentence begins with `name`
 * (NULL: nothing), and `who` needs all links: "momenta", say. */
int lat_boundary_closed(const lat_header *head, int except, const char *who, const char *name);

/* With an open last axis: do the links that are missing along it begin on the last slice, all of
 * them? True without. 0, or -1. All ranks call it. */
int lat_boundary_at_end(const lat_field *u);

/* Quarks with open time are zero on the first and the last slice. Are these columns? True for other
 * boundaries. 0, or -1 with a sentence that begins with `name`. All ranks call it. */
int lat_boundary_check_quarks(const lat_fermion *action, const lat_field *x, int columns,
                              const int *column, const char *name);
