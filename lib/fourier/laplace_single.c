/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_single.c: the inverse of the lattice Laplacian in single precision. */
#include "laplace.h"

const int lat_laplace_single_built = 1;

enum { SIDE_BY_SIDE = 16 };

#define REAL float
#define FFT(x) fftwf_##x
#define NAME(x) lat_single_##x
#include "laplace_text.h"
