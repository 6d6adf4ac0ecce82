/* SPDX-License-Identifier: BSD-3-Clause */
/* assign.h: which rank sweeps which slice, where slices are fixed independently and are done at
 * different times: those that are not done are dealt out again, so that no rank waits for another
 * one longer than it must. */
#ifndef LAT_BACKEND_DEAL_H
#define LAT_BACKEND_DEAL_H

#include "comm/comm.h"

/* One slice, from a rank to another. */
typedef struct lat_migration {
    int slice, from, to;
} lat_migration;

/* Slices 0 .. slices-1: at[] is where each is, work[] how much there is to do for it (0: it is
 * done), theta[] how far it is from being done; room[ranks] how many more slices each rank can
 * take. Writes to move[slices] those moves, in order, after which the rank that has most to do has
 * less than now, by *less, if there are any: how many. The same on all ranks that know the same. */
int lat_assign_slices(const lat_comm *comm, int slices, const int *at, const int *work,
                      const double *theta, const int *room, lat_migration *move, int *less);

#endif
