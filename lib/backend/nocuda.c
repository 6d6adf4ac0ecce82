/* SPDX-License-Identifier: BSD-3-Clause */
/* nocuda.c: what stands in for the CUDA backend where it was not built. */
#include "backend.h"

#include "common/error.h"

static bool available(void)
{
    lat_fail("this lat was built without CUDA (%s)", LAT_CUDA_WHY);
    return false;
}

const lat_backend lat_backend_gpu = {.name = "gpu", .available = available};
