/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_nocuda.c: stands in for laplace_gpu.cu where CUDA was not built; no GPU can be opened
 * there. */
#include "laplace_gpu.h"

#include "base/error.h"

int lat_laplace_gpu_check(const lat_geometry *geom, bool single)
{
    (void)geom, (void)single;
    return lat_fail("GPU: built without CUDA");
}
