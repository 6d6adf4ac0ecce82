/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_internal.h: what the files of Newton's method share, and check programs see. C and C++.
 *
 * Elements of the algebra are i w T^a, w being the colours of a vector of lib/ghost: |A|^2 = - tr A
 * A is half the sum of their squares. A unit is a slice of Coulomb gauge, or the lattice. */
#ifndef LAT_GHOST_NEWTON_INTERNAL_H
#define LAT_GHOST_NEWTON_INTERNAL_H

#include "ghost_gpu.h"
#include "newton.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LAT_NEWTON_MOST = 3,  /* SU(2) to SU(3) */
    LAT_NEWTON_STEPS = 40 /* at most, of a unit in a run */
};

/* |s|^2 of a site in a step exp(s): longer ones are cut to that. */
#define LAT_NEWTON_STEP 2.0

/* The CPU or a GPU; functions return 0, or -1 with lat_error set. */
typedef struct lat_newton_side {
    int (*open)(lat_newton *n); /* after what both have */
    void (*close)(lat_newton *n);

    /* g of a copy of `from`, made orthonormal, or g itself: what the next gradients are of. */
    int (*begin)(lat_newton *n, lat_fixer *from, int copy, const lat_field *g, double theta);

    /* Of units that are not idle: A to n->r, the links that g transforms to the operator, and
     * sums[unit][2], of Re tr x and |A|^2, x being g K (site/landau.h). next: of the g that `step`
     * has made. */
    int (*gradient)(lat_newton *n, bool next, double *sums);

    /* exp(scale x) g, x being n->x: the next g of units that are not idle. */
    int (*step)(lat_newton *n, const double *scale);

    /* The result in g; or in the sweeps again, if `back`. */
    int (*end)(lat_newton *n, lat_fixer *from, int copy, lat_field *g, bool back);
} lat_newton_side;

/* A unit in a run. */
typedef struct lat_newton_unit {
    double share, square; /* of g: sum of Re tr x, and |A|^2 */
    double delta;         /* the trust region: the largest |s|_L; 0: not yet known */
    int steps;
    long iterations;
    bool saddle;
    double ritz;
} lat_newton_unit;

/* Theirs begin with it. */
struct lat_newton {
    const lat_newton_side *side;
    lat_device *dev;
    lat_condition condition;
    const lat_field *links;
    struct lat_ghost *m;
    double *x, *r; /* vectors */
    int nc, units;
    double sites;  /* of a unit */
    double margin; /* theta of `gradient` is to be below so much of the one asked for */
    lat_newton_unit *unit;
    bool *idle; /* [units]: nothing is to be done */
    int *now;   /* [units]: which of two g a unit has */
    struct lat_ghost_system *system;
    struct lat_ghost_coefficients *coefficients;
};

/* One with `side` alone; NULL with lat_error set. */
lat_newton *lat_newton_cpu(void);
lat_newton *lat_newton_gpu(void);

#ifdef __cplusplus
}
#endif
#endif
