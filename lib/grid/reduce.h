/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h: sums over a lattice, in double, in a fixed order that depends on the lattice alone:
 * sites of a slice across the last axis of a slot, then the slices in pairs (tree.h). So the sums
 * have the same bits on any number and grid of ranks and any threads, and on the CPU with any
 * vector length if the numbers have. On the CPU a slice is the sum of its rows in x, in pairs over
 * y, then in pairs over z.
 *
 * The devices make sums of slices (lat_cpu_total, lat_cuda_total), or, where ranks cut slices, too,
 * of parts of them that are branches of those trees; this adds them up. C and C++. */
#pragma once

#include "grid.h"

/* Into how many parts slices are cut, all ranks together: [apart][z][y], where z and y are the two
 * axes before the last one, y the lower one. Sums over y are in pairs, then over z, then of those
 * apart one after the other. NULL below: slices are whole. */
typedef struct lat_reduce_parts {
    int apart, z, y;
} lat_reduce_parts;
enum { LAT_REDUCE_MOST = 2 }; /* largest numbers, at most */

/* The parts of a slice that this rank has. */
lat_reduce_parts lat_reduce_own(const lat_grid *grid, const lat_reduce_parts *parts);

/* Slices across the last axis of a slot that this rank has, or has parts of. */
int lat_reduce_slices(const lat_grid *grid);

/* sum[units][slices][parts][numbers]: this rank's, units as in grid.h. To total[members *
 * grid->slices][numbers]: member * grid->slices + slice, the same bits on all ranks. The last
 * `most` of the numbers are not added up: the largest is taken, NaN being larger than anything. 0,
 * or -1 with lat_error set; every rank calls it. */
int lat_reduce_total(const lat_grid *grid, int members, const lat_reduce_parts *parts, int numbers,
                     int most, const double *sum, double *total);

/* The slices themselves, of one member in one slot: to all[slices of the lattice][numbers], the
 * same bits on all ranks. 0, or -1 with lat_error set; every rank calls it. */
int lat_reduce_slicewise(const lat_grid *grid, const lat_reduce_parts *parts, int numbers,
                         const double *sum, double *all);
