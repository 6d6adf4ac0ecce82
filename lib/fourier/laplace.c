/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace.c: the inverse of the lattice Laplacian in double. */
#include "laplace.h"

const int lat_laplace_built = 1;

/* Many fields: a line is wide enough; and ranks may share the sites of a slice in any way. */
enum { SIDE_BY_SIDE = 1 };

#define REAL double
#define FFT(x) fftw_##x
#define NAME(x) lat_##x
#include "laplace_text.h"
