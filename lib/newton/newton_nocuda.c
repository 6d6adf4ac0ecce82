/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_nocuda.c: stands in for newton_gpu.cu where CUDA was not built; no GPU can be opened
 * there. */
#include "newton_internal.h"

#include "base/error.h"

int lat_newton_gpu_check(const lat_geometry *unit)
{
    (void)unit;
    return lat_fail("GPU: built without CUDA");
}

lat_newton *lat_newton_gpu(lat_device *dev, const lat_field *u, const lat_condition *c)
{
    (void)dev, (void)u, (void)c;
    lat_fail("GPU: built without CUDA");
    return NULL;
}
