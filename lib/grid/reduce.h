/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h: sums over a lattice, in double, in a fixed order that depends on the lattice alone:
 * sites of a slice across the last axis of a slot, then the slices in pairs (tree.h). So the sums
 * have the same bits on any number of ranks and threads, and on the CPU with any vector length if
 * the numbers have. On the CPU a slice is the sum of its rows in x, in pairs over y, then in pairs
 * over z.
 *
 * The devices make sums of slices (lat_cpu_total, lat_cuda_total); this adds them up.
 * C and C++. */
#pragma once

#include "grid.h"

/* Slices across the last axis of a slot that this rank has: the slab's if slots are cut among
 * ranks, else all. */
int lat_reduce_slices(const lat_grid *grid);

/* sum[units][slices][numbers]: this rank's, units as in grid.h. To total[members *
 * grid->slices][numbers]: member * grid->slices + slice, the same bits on all ranks. The last
 * `most` of the numbers are not added up: the largest is taken, NaN being larger than anything. 0,
 * or -1 with lat_error set; every rank calls it. */
int lat_reduce_total(const lat_grid *grid, int members, int numbers, int most, const double *sum,
                     double *total);

/* The slices themselves, of one member in one slot: to all[slices of the lattice][numbers], the
 * same bits on all ranks. 0, or -1 with lat_error set; every rank calls it. */
int lat_reduce_slicewise(const lat_grid *grid, int numbers, const double *sum, double *all);
