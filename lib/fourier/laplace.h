/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace.h: the inverse of the lattice Laplacian, by Fourier transforms on the CPU (FFTW).
 *
 *     L f(x) = sum_mu w_mu [ 2 f(x) - f(x + mu) - f(x - mu) ]
 *
 * for many real fields side by side. Axes of weight 0 are not part of L: their slices are lattices
 * of their own. The constants, of each slice, are the null space of L; the inverse has none of
 * them. The bits depend neither on threads nor on ranks. */
#pragma once

#include "comm/comm.h"
#include "common/geometry.h"

typedef struct lat_laplace lat_laplace;

/* For fields [site][reals], `reals` even, sites in natural order. The ranks have slabs across the
 * last axis (lat_slab_of). At most one weight is 0, for the last axis or the one before.
 * NULL with lat_error set, also where this program was built without FFTW. All ranks call it. */
lat_laplace *lat_laplace_new(const lat_geometry *geom, const double *weight, int reals,
                             const lat_comm *comm);
void lat_laplace_free(lat_laplace *l);

/* v <- L^-1 v on the sites of this rank; v is aligned to 64 bytes. All ranks call it: 0, or -1 with
 * lat_error set. */
int lat_laplace_invert(const lat_laplace *l, double *v);

/* The same in single precision, on one process (comm: NULL): a preconditioner. Calls for different
 * v may run at a time. */
typedef struct lat_single_laplace lat_single_laplace;
lat_single_laplace *lat_single_laplace_new(const lat_geometry *geom, const double *weight,
                                           int reals, const lat_comm *comm);
void lat_single_laplace_free(lat_single_laplace *l);
int lat_single_laplace_invert(const lat_single_laplace *l, float *v);

/* Was this program built with FFTW, in double and in single precision? */
extern const int lat_laplace_built, lat_laplace_single_built;
