/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_state.h: from what a backend has added up at its sites to the state of each copy. C and C++.
 */
#ifndef LAT_BACKEND_STATE_H
#define LAT_BACKEND_STATE_H

#include "comm/comm.h"
#include "lattice/condition.h"
#include "measure/measure.h"

/* `sum` is [copies][slices][3]: of each slice that is fixed on its own, this rank's sites' shares
 * of the functional added up, their theta added up, and the largest theta; zero for what is not
 * here. Into theta[copies][slices] and s[copies], on all ranks. */
int lat_state_total(const lat_comm *comm, const lat_condition *c, const lat_geometry *geom, int nc,
                    int copies, const double *sum, double *theta, lat_gauge_state *s);

/* Slices of all copies whose theta is not below their copy's bound: those that are left. */
long lat_state_left(const double *theta, const double *bound, int copies, int slices);

#endif
