/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetry.h: shifts, reflections, permutations of the axes and charge conjugation of fields
 * (docs/conventions.md, "Symmetries of the lattice"). */
#pragma once

#include <stdbool.h>
#include "field.h"

/* First the shift, then the reflections, then the permutation; conjugation commutes with them. */
typedef struct lat_symmetry {
    long shift[LAT_MAX_DIMS];   /* x goes to x + shift, periodically */
    bool reflect[LAT_MAX_DIMS]; /* x_mu goes to -x_mu */
    int axes[LAT_MAX_DIMS];     /* axis i of the result was axis axes[i] */
    bool conjugate;             /* every matrix becomes its complex conjugate */
} lat_symmetry;

/* The identity. */
lat_symmetry lat_symmetry_none(void);

/* Applies s to a field of either kind; U and g that belong together still do, if both are mapped.
 * Bits are copied and signs are changed; nothing is rounded. Plaquette, functional and theta are
 * invariant and stay in the header. Extents, weights, the time axis of Coulomb gauge, boundaries
 * and the axis of the anisotropy are permuted. A reflection daggers links, so that two stored rows
 * of SU(3) become three. For one rank. 0, or -1 with lat_error set. */
int lat_symmetry_apply(lat_field *f, const lat_symmetry *s);
