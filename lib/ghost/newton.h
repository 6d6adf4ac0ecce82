/* SPDX-License-Identifier: BSD-3-Clause */
/* newton.h: Newton's method near a maximum of the functional of Landau or Coulomb gauge, on the CPU
 * or a GPU, in one process, for SU(2) and SU(3).
 *
 * M s = -A is solved by conjugate gradients, M the Faddeev-Popov operator and A the gradient
 * (docs/gauges.md), with the inverse Laplacian as preconditioner; then g <- exp(s) g. Near the
 * maximum that needs some forty applications of M on any lattice, where overrelaxation needs sweeps
 * in proportion to its extent. Solutions stay within a trust region (Steihaug, SIAM J. Numer. Anal.
 * 20 (1983) 626); a step by which the functional falls is not made; a vector p with p.M p <= 0 says
 * that there is a saddle, not a maximum. A, exp(s) g and the functional are in double, the solver
 * is in single. Each slice in Coulomb gauge is a problem of its own.
 *
 * Functions return 0, or -1 with lat_error set. The bits do not depend on the number of threads; on
 * one kind of GPU they are the same each time. */
#pragma once

#include <stdbool.h>
#include "fix/fix.h"
#include "grid/device.h"
#include "lattice/condition.h"
#include "lattice/field.h"
#include "measure/measure.h"

typedef struct lat_newton lat_newton;

/* Can it serve here? 0, or -1 with a sentence that says why not. */
int lat_newton_check(const lat_device *dev, const lat_field *u, const lat_condition *c);

/* For the links u, which are borrowed. NULL where lat_newton_check fails or memory is short. */
lat_newton *lat_newton_open(lat_device *dev, const lat_field *u, const lat_condition *c);
void lat_newton_close(lat_newton *n);

/* What was done, of all slices together. */
typedef struct lat_newton_report {
    int slices, converged; /* all; of these below theta now */
    int saddles;           /* in which p.M p <= 0 was found */
    int steps, iterations; /* steps that were made; of conjugate gradients */
    double ritz;       /* the lowest Ritz value of L^-1 M that the solvers met; INFINITY: none */
    double ended_ritz; /* of slices that steps brought below theta alone */
} lat_newton_report;

/* Steps of each slice until its theta is below `theta`, or until it shows that it is not near
 * enough to a maximum. They begin at g of a copy of `from`,
 * made orthonormal; the result is in g, f64, if all slices are below theta, and otherwise in `from`
 * again. With from = NULL they begin at g itself, in SU(N), and the result is there. s (theta_max
 * is not set) is the state of all slices together; slices[] gets the theta of each. */
int lat_newton_run(lat_newton *n, lat_fixer *from, int copy, lat_field *g, double theta,
                   lat_newton_report *report, lat_gauge_state *s, double *slices);
