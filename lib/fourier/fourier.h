/* SPDX-License-Identifier: BSD-3-Clause */
/* fourier.h: Fourier transforms on a GPU, by cuFFT. The library is looked for when the first one is
 * asked for, so programs start without it. Functions return 0, or -1 with lat_error set. */
#pragma once

#include <stddef.h>
typedef struct lat_fourier lat_fourier;

/* For real fields on a lattice of nd (1 to 4) extents, the first one fastest. NULL if it cannot be
 * done here. */
lat_fourier *lat_fourier_new(int nd, const int *extent);
void lat_fourier_free(lat_fourier *f);

/* sum_x exp(-2 pi i n x / extent) a(x) for 0 <= n_0 <= extent_0 / 2 and all of the other n: pairs
 * of real and imaginary part, the first fastest, as FFTW orders them. */
int lat_fourier_run(lat_fourier *f, const double *a, double *transform);
