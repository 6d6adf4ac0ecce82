/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_nocuda.c: stands in for newton_gpu.cu where CUDA was not built; no GPU can be opened
 * there. */
#include "newton_internal.h"

#include "base/error.h"

lat_newton *lat_newton_gpu(void)
{
    lat_fail("GPU: built without CUDA");
    return NULL;
}
