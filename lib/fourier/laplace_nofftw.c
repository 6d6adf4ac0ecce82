/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_nofftw.c: stands in for laplace.c where FFTW was not found. */
#include "laplace.h"
#include "base/error.h"

const int lat_laplace_built = 0;

lat_laplace *lat_laplace_new(const lat_geometry *geom, const double *weight, int reals,
                             const lat_comm *comm)
{
    (void)geom, (void)weight, (void)reals, (void)comm;
    lat_fail("the inverse Laplacian needs FFTW, and this program was built without it");
    return NULL;
}

void lat_laplace_free(lat_laplace *l) { (void)l; }

int lat_laplace_invert(const lat_laplace *l, double *v)
{
    (void)l, (void)v;
    return -1;
}
