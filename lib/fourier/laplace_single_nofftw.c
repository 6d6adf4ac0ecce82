/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_single_nofftw.c: stands in for laplace_single.c where FFTW was not found. */
#include "base/error.h"
#include "laplace_single.h"

const int lat_laplace_single_built = 0;

lat_single_laplace *lat_single_laplace_new(const lat_geometry *geom, const double *weight,
                                           int reals, const lat_comm *comm)
{
    (void)geom, (void)weight, (void)reals, (void)comm;
    lat_fail("the inverse Laplacian in single precision needs FFTW (libfftw3f), and this program "
             "was built without it");
    return NULL;
}

void lat_single_laplace_free(lat_single_laplace *l) { (void)l; }

int lat_single_laplace_invert(const lat_single_laplace *l, float *v)
{
    (void)l, (void)v;
    return -1;
}
