/* SPDX-License-Identifier: BSD-3-Clause */
/* gauss_gpu.h: gauge covariant Gaussian smearing of quark fields on a GPU, a slice at a time: what
 * quark/gauss.h does on the CPU, where the formula is. C and C++. */
#pragma once

#include "grid/device.h"
#include "lattice/field.h"

typedef struct lat_gauss_gpu lat_gauss_gpu;

/* On a GPU; its memory, some fields of a slice, is taken when it is needed. NULL with lat_error
 * set. */
lat_gauss_gpu *lat_gauss_gpu_open(lat_device *dev);
void lat_gauss_gpu_close(lat_gauss_gpu *g); /* NULL is allowed */

/* Is SU(nc) there? */
static inline bool lat_gauss_gpu_takes(int nc) { return nc == 2 || nc == 3; }

/* `steps` steps of width `width` on slice t of this rank, as lat_gauss_slice: psi, on the host, is
 * [site][column][spin][colour][re, im] with `columns` columns. 0, or -1 with lat_error set. */
int lat_gauss_gpu_slice(lat_gauss_gpu *g, const lat_field *u, int t, double width, int steps,
                        int columns, double *psi);
