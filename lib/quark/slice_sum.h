/* SPDX-License-Identifier: BSD-3-Clause */
/* slice_sum.h: sums of many numbers over the sites of a slice. (lattice/iterate.h has sums of
 * few.) */
#pragma once

#include <stddef.h>

/* Adds what sites from .. to-1 have to `sum`, with the help of `scratch`, which nobody else has. */
typedef void lat_slice_sum_fn(const void *with, size_t from, size_t to, double *scratch,
                              double *sum);

/* out[numbers]: the sum over `sites` sites by fn, with `scratch` doubles for each of its chunks, of
 * which there are 64 at most. They are what the lattice says, and added in their order, so that the
 * number of threads changes no bit. 0, or -1 without memory. */
int lat_slice_sum(size_t sites, size_t numbers, size_t scratch, lat_slice_sum_fn *fn,
                  const void *with, double *out);
