/* SPDX-License-Identifier: BSD-3-Clause */
/* assign.h: which rank sweeps which slice, where slices are fixed independently and converge at
 * different times. The largest work of the busiest rank goes to the idlest (longest processing time
 * first, Graham 1969), as long as the busiest gains. */
#pragma once

#include "comm/comm.h"

/* One slice, from a rank to another. */
typedef struct lat_migration {
    int slice, from, to;
} lat_migration;

/* For slices 0 .. slices-1: at[slices], the rank of each; work[slices], how much there is to do for
 * it (0: it has converged); theta[slices], how far it is from being done; capacity[ranks], how many
 * more slices each rank can take. Writes to list[slices] the migrations, in order, after which the
 * busiest rank has less to do than now, by *gain. Returns how many, or -1 with lat_error set. The
 * same on all ranks that know the same; no rank communicates. */
int lat_assign_slices(const lat_comm *comm, int slices, const int *at, const int *work,
                      const double *theta, const int *capacity, lat_migration *list, int *gain);
