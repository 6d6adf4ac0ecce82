/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_single_nofftw.c: stands in for laplace_single.c where FFTW was not found. */
#include "base/error.h"
#include "laplace_single.h"

const int lat_laplace_single_built = 0;

lat_laplace_single *lat_laplace_single_new(const lat_geometry *geom, const double *weight,
                                           int reals)
{
    (void)geom, (void)weight, (void)reals;
    lat_fail("the inverse Laplacian in single precision needs FFTW (libfftw3f), and this program "
             "was built without it");
    return NULL;
}

void lat_laplace_single_free(lat_laplace_single *l) { (void)l; }

int lat_laplace_single_invert(const lat_laplace_single *l, float *v, double *dot)
{
    (void)l, (void)v, (void)dot;
    return -1;
}
