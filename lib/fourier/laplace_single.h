/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_single.h: the inverse of the lattice Laplacian in single precision, on one process: a
 * preconditioner. laplace.h has the definition, double precision and ranks. */
#ifndef LAT_FOURIER_LAPLACE_SINGLE_H
#define LAT_FOURIER_LAPLACE_SINGLE_H

#include "common/geometry.h"

typedef struct lat_laplace_single lat_laplace_single;

/* For fields [site][reals], `reals` even, sites in natural order, all weights above 0. NULL with
 * lat_error set, also where this program was built without FFTW in single precision. */
lat_laplace_single *lat_laplace_single_new(const lat_geometry *geom, const double *weight,
                                           int reals);
void lat_laplace_single_free(lat_laplace_single *l);

/* v <- L^-1 v, without constants; v is aligned to 64 bytes. *dot: v . L^-1 v. Calls for different v
 * may run at a time. The bits do not depend on threads. 0, or -1 with lat_error set. */
int lat_laplace_single_invert(const lat_laplace_single *l, float *v, double *dot);

/* Was this program built with FFTW in single precision? */
extern const int lat_laplace_single_built;

#endif
