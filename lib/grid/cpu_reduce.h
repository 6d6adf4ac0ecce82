/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_reduce.h: sums over a lattice on the CPU (reduce.h), from numbers of each site. */
#pragma once

#include "cpu_grid.h"

/* Writes `numbers` numbers for each site of blocks begin .. end-1 of a unit: the numbers of the own
 * site with natural index i to out[i * numbers ..], i being lay->site[]. */
typedef void lat_cpu_numbers(void *context, int unit, int begin, int end, double *out);

/* total[members * grid->slices][numbers + most], as lat_reduce_total has it: the numbers of each
 * slice's own sites added up in the order of reduce.h, and the largest of the last `most` of them
 * (NaN is larger than anything). Units (grid.h) that `active` (NULL: all) leaves out count nothing.
 * Not called by a team. 0, or -1 with lat_error set; every rank calls it. */
int lat_cpu_total(lat_grid *grid, int members, const bool *active, int numbers, int most,
                  lat_cpu_numbers *fn, void *context, double *total);

/* The sums of slices themselves, of one member in one slot, as lat_reduce_slicewise has them. */
int lat_cpu_slicewise(lat_grid *grid, int numbers, lat_cpu_numbers *fn, void *context, double *all);
