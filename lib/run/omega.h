/* SPDX-License-Identifier: BSD-3-Clause */
/* omega.h: an overrelaxation parameter that finds itself while a copy is relaxed (--omega auto). */
#ifndef LAT_FIXING_OMEGA_H
#define LAT_FIXING_OMEGA_H

#include "lattice/condition.h"

/* Doubles alone, so that a checkpoint keeps it as it is. All 0: at the beginning. */
typedef struct lat_omega {
    double omega;
    double theta, sweep; /* where the stretch began over which the rate is measured */
    double lowest;       /* 2 - the smallest omega to be tried */
    double flat;         /* looks in a row that asked for an omega closer to 2 than is usual */
} lat_omega;

/* Told of theta (of the worst slice) after so many sweeps, says with which omega to go on. `extent`
 * is the longest of the directions that are relaxed together. */
double lat_omega_update(lat_omega *o, lat_gauge gauge, int extent, double theta, long sweeps);

#endif
