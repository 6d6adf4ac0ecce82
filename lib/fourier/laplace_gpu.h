/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_gpu.h: the inverse of the lattice Laplacian (laplace.h) on a GPU, for many real fields
 * side by side, by Fourier transforms of our own (lines.cuh). (cuFFT knows three dimensions at
 * most, and an order of sites that nobody needs here.) C and C++. */
#pragma once

#include <stdbool.h>
#include "common/geometry.h"
#include "grid/device.h"

typedef struct lat_laplace_gpu lat_laplace_gpu;

/* 0 if there is code for these extents: products of 2, 3, 5, 7, 11 and 13, at most 1024, in single
 * precision of 2, 3, 5 and 7, at most 4096; otherwise -1 with a sentence. */
int lat_laplace_gpu_check(const lat_geometry *geom, bool single);

/* For fields [unit][site][reals] on the device, of double or float (`single`), `reals` even, sites
 * in natural order, on one rank. At most one weight is 0. NULL with lat_error set. */
lat_laplace_gpu *lat_laplace_gpu_new(lat_device *dev, const lat_geometry *geom,
                                     const double *weight, int reals, bool single, int units);
void lat_laplace_gpu_free(lat_laplace_gpu *l);

/* v <- L^-1 v, of units that are not idle (idle[units] on the device; NULL: all), in the device's
 * stream: 0, or -1 with lat_error set. */
int lat_laplace_gpu_invert(lat_laplace_gpu *l, void *v, const bool *idle);
