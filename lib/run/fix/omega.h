/* SPDX-License-Identifier: BSD-3-Clause */
/* omega.h: the overrelaxation parameter omega, tuned while a copy is relaxed (--omega auto). */
#pragma once

#include "lattice/condition.h"

/* The state of the tuning of one copy. Only doubles, so that a checkpoint can keep it as it is. All
 * 0 at the beginning. */
typedef struct lat_omega {
    double omega;
    double theta, sweep; /* at the beginning of the interval over which the rate is measured */
    double lowest;       /* 2 - the smallest omega to be tried */
    double flat; /* convergence tests in a row that asked for an omega closer to 2 than usual */
} lat_omega;

/* At a convergence test, theta (of the worst slice) after so many sweeps: returns omega for the
 * next sweeps. `extent` is the largest extent of the directions that the condition couples. */
double lat_omega_update(lat_omega *o, lat_gauge gauge, int extent, double theta, long sweeps);
