/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_state.h: from the sums of slices on a device to the state of each copy. C and C++. */
#ifndef LAT_FIX_STATE_H
#define LAT_FIX_STATE_H

#include "grid/grid.h"
#include "lattice/condition.h"
#include "measure/measure.h"

/* sum[units][lat_reduce_slices(grid)][3] of this rank: of each slice across the last axis of a slot
 * the sites' shares of the functional added up, their theta added up, and the largest theta; zero
 * for a unit that is swept elsewhere. Into theta[copies][grid->slices] and s[copies], the same on
 * all ranks, which all call it. */
int lat_state_total(const lat_grid *grid, const lat_condition *c, int nc, int copies,
                    const double *sum, double *theta, lat_gauge_state *s);

/* Slices of all copies whose theta is not below their copy's bound: those that are left. */
long lat_state_left(const double *theta, const double *bound, int copies, int slices);

#endif
