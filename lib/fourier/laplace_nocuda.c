/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_nocuda.c: stands in for laplace_gpu.cu where CUDA was not built; no GPU can be opened
 * there. */
#include "laplace_gpu.h"

#include "base/error.h"

int lat_laplace_gpu_check(const lat_geometry *geom)
{
    (void)geom;
    return lat_fail("GPU: built without CUDA");
}

lat_laplace_gpu *lat_laplace_gpu_new(lat_device *dev, const lat_geometry *geom,
                                     const double *weight, int reals)
{
    (void)dev, (void)geom, (void)weight, (void)reals;
    lat_fail("GPU: built without CUDA");
    return NULL;
}

void lat_laplace_gpu_free(lat_laplace_gpu *l) { (void)l; }

int lat_laplace_gpu_invert(lat_laplace_gpu *l, double *v)
{
    (void)l, (void)v;
    return -1;
}
