/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_single.h: the inverse of the lattice Laplacian in single precision, on one process: a
 * preconditioner. laplace.h has the definition; the functions are those of its names. */
#pragma once

#include "comm/comm.h"
#include "common/geometry.h"

typedef struct lat_single_laplace lat_single_laplace;

/* comm: NULL. */
lat_single_laplace *lat_single_laplace_new(const lat_geometry *geom, const double *weight,
                                           int reals, const lat_comm *comm);
void lat_single_laplace_free(lat_single_laplace *l);

/* Calls for different v may run at a time. */
int lat_single_laplace_invert(const lat_single_laplace *l, float *v);

/* Was this program built with FFTW in single precision? */
extern const int lat_laplace_single_built;
