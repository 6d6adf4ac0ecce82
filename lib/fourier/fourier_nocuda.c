/* SPDX-License-Identifier: BSD-3-Clause */
/* fourier_nocuda.c: what stands in for Fourier transforms by cuFFT where it was not found. */
#include "fourier.h"

#include "base/build.h"
#include "base/error.h"

lat_fourier *lat_fourier_new(int nd, const int *extent)
{
    (void)nd, (void)extent;
    lat_fail("this lat was built without cuFFT (%s)", lat_no_cufft);
    return NULL;
}

void lat_fourier_free(lat_fourier *f) { (void)f; }

int lat_fourier_run(lat_fourier *f, const double *a, double *transform)
{
    (void)f, (void)a, (void)transform;
    return -1; /* there is none */
}
