/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_internal.h: Newton's method from within, for check programs.
 *
 * Elements of the algebra are i w T^a, w being the colours of a vector of lib/ghost: |A|^2 = - tr A
 * A is half the sum of their squares. A unit is a slice of Coulomb gauge, or the lattice. */
#pragma once

#include "ghost_internal.h"
#include "newton.h"

enum {
    LAT_NEWTON_MOST = 3,  /* SU(2) to SU(3) */
    LAT_NEWTON_STEPS = 40 /* at most, of a unit in a run */
};

/* A unit in a run. */
typedef struct lat_newton_unit {
    double share, square; /* of g: sum of Re tr x, and |A|^2 */
    double delta;         /* the trust region: the largest |s|_L; 0: not yet known */
    int steps;
    long iterations;
    bool saddle;
    double ritz;
} lat_newton_unit;

struct lat_newton {
    lat_ghost *m;
    lat_newton_fields fields;
    size_t g_bytes; /* of a g */
    double *x, *r;  /* vectors */
    int nc, units;
    double sites, weights; /* of a unit; all of the condition */
    lat_newton_unit *unit;
    bool *idle; /* [units]: nothing is to be done */
    bool *now;  /* [units]: which of two g a unit has */
    lat_ghost_system *system;
    lat_ghost_coefficients *coefficients;
};

/* g of a copy of `from`, made orthonormal, or g itself (NULL): what the next gradients are of. The
 * first one may be overwritten. */
int lat_newton_begin(lat_newton *n, lat_fixer *from, int copy, lat_field *g);

/* Of units that are not idle: A to n->r, the links that g transforms to the operator, and
 * sums[unit][2], of Re tr x and |A|^2, x being g K (site/landau.h). next: of the g that a step has
 * made. */
int lat_newton_gradient(lat_newton *n, bool next, double *sums);
