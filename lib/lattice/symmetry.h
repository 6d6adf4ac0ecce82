/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetry.h: shifts, reflections, permutations of the axes and charge conjugation of fields
 * (docs/conventions.md, "Symmetries of the lattice"). */
#ifndef LAT_SYMMETRY_H
#define LAT_SYMMETRY_H

#include <stdbool.h>
#include "field.h"

/* First the shift, then the reflections, then the permutation; conjugation commutes with them. */
typedef struct lat_symmetry {
    long shift[LAT_MAX_DIMS];   /* what is at x goes to x + shift, periodically */
    bool reflect[LAT_MAX_DIMS]; /* what is at x_mu goes to -x_mu */
    int axes[LAT_MAX_DIMS];     /* axis number i of the result was axis number axes[i] */
    bool conjugate;             /* every matrix becomes its complex conjugate */
} lat_symmetry;

/* Changes nothing. */
lat_symmetry lat_symmetry_none(void);

/* Fields of either kind: applied to g and to U it gives what belongs together again. Bits are moved
 * and signs turned, nothing is rounded. The numbers of the header are invariants and stay; extents,
 * weights, the time axis of Coulomb gauge, boundaries and the axis of the anisotropy follow the
 * axes. Two rows of SU(3) become three with a reflection, since links are daggered. */
int lat_symmetry_apply(lat_field *f, const lat_symmetry *s);

#endif
