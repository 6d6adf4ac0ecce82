/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_gpu.h: the inverse of the lattice Laplacian (laplace.h) on a GPU, for many real fields
 * side by side, by Fourier transforms of our own (lines.cuh). (cuFFT knows three dimensions at
 * most, and an order of sites that nobody needs here.) Every rank calls every function. C and C++.
 */
#ifndef LAT_FOURIER_LAPLACE_GPU_H
#define LAT_FOURIER_LAPLACE_GPU_H

#include "common/geometry.h"
#include "grid/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lat_laplace_gpu lat_laplace_gpu;

/* 0 if there is code for these extents: products of 2, 3, 5, 7, 11 and 13, at most 1024; otherwise
 * -1 with a sentence. */
int lat_laplace_gpu_check(const lat_geometry *geom);

/* For fields [site][reals] on the device, `reals` even, sites in natural order; ranks have slabs
 * across the last axis, of which each one gets lines as whole as on one rank: the bits are
 * the same. At most one weight is 0. NULL with lat_error set. */
lat_laplace_gpu *lat_laplace_gpu_new(lat_device *dev, const lat_geometry *geom,
                                     const double *weight, int reals);
void lat_laplace_gpu_free(lat_laplace_gpu *l);

/* v <- L^-1 v, in the device's stream: 0, or -1 with lat_error set. */
int lat_laplace_gpu_invert(lat_laplace_gpu *l, double *v);

#ifdef __cplusplus
}
#endif
#endif
