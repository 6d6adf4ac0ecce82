/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_internal.h: what the files of lib/newton share, and check programs see. C and C++.
 *
 * A unit is a slice of Coulomb gauge, or the lattice. An element w of the algebra, anti-Hermitian
 * and traceless, is N N - 1 reals, its components in a basis with - tr w w = sum of their squares:
 * of each w_ab, a < b, row by row, sqrt 2 times re and im; then the diagonal. In rows, which
 * Fourier transforms take, sites are in natural order and have lat_newton_row() reals, an even
 * number. */
#ifndef LAT_NEWTON_NEWTON_INTERNAL_H
#define LAT_NEWTON_NEWTON_INTERNAL_H

#include <stddef.h>
#include "newton.h"
#include "newton_cg.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LAT_NEWTON_MOST = 3,  /* SU(2) to SU(3) */
    LAT_NEWTON_STEPS = 40 /* at most, of a unit in a run */
};

/* |s|^2 of a site in a step exp(s): longer ones are cut to that. */
#define LAT_NEWTON_STEP 2.0

static inline int lat_newton_algebra(int nc) { return nc * nc - 1; }
static inline int lat_newton_row(int nc) { return (nc * nc - 1 + 1) / 2 * 2; }

/* A unit in a run. */
typedef struct lat_newton_unit {
    bool busy;            /* it is to be brought on */
    double share, square; /* of g: sum of Re tr x, and |A|^2 */
    double delta;         /* the trust region: the largest |s|_L; 0: not yet known */
    int steps, iterations;
    bool saddle;
    double ritz;
} lat_newton_unit;

/* The CPU or a GPU; functions return 0, or -1 with lat_error set. */
typedef struct lat_newton_side {
    void (*close)(lat_newton *n);

    /* Steps of the units that are busy until each is below theta or stops. What is known of them
     * before: ritz is INFINITY, all else 0. */
    int (*run)(lat_newton *n, lat_fixer *from, int copy, lat_field *g, lat_newton_unit *unit,
               double theta);

    /* For check programs, rows of elements of the algebra (newton_lanes.h), unit by unit, each in
     * its natural order: out = M in for the links that g transforms; and v = L^-1 v, with
     * dot[units] = v . L^-1 v. */
    int (*apply)(lat_newton *n, lat_field *g, float *out, const float *in);
    int (*precondition)(lat_newton *n, float *v, double *dot);
} lat_newton_side;

/* Theirs begin with it. */
struct lat_newton {
    const lat_newton_side *side;
    lat_device *dev;
    lat_condition condition;
    const lat_field *links;
    int nc, units;
    size_t sites; /* of a unit */
};

/* Both fill in `side`, `units` and `sites`; NULL with lat_error set. */
lat_newton *lat_newton_cpu(lat_device *dev, const lat_field *u, const lat_condition *c);
lat_newton *lat_newton_gpu(lat_device *dev, const lat_field *u, const lat_condition *c);

/* Whether there is code for a unit of these extents on a GPU: 0, or -1 with a sentence. */
int lat_newton_gpu_check(const lat_geometry *unit);

/* theta of |A|^2. */
double lat_newton_theta(const lat_newton *n, double square);

/* |r|^2 that ends a solve, in units of |A|^2. */
double lat_newton_tolerance(const lat_newton *n, const lat_newton_unit *u, double target);

/* Are all units below theta? */
bool lat_newton_ended(const lat_newton *n, const lat_newton_unit *u, double theta);

/* After a solve, with the sums of the gradient of exp(s) g: is that to be taken for g? `busy` says
 * whether another step is to follow. */
bool lat_newton_judge(const lat_newton *n, lat_newton_unit *u, const lat_newton_cg *c,
                      const double sums[2], double target);

int lat_newton_apply(lat_newton *n, lat_field *g, float *out, const float *in);
int lat_newton_precondition(lat_newton *n, float *v, double *dot);

#ifdef __cplusplus
}
#endif
#endif
