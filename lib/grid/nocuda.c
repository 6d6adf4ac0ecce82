/* SPDX-License-Identifier: BSD-3-Clause */
/* nocuda.c: what stands in for the CUDA backend where it was not built. */
#include "fix/fix.h"

#include "base/build.h"
#include "base/error.h"

static bool available(void)
{
    lat_fail("this lat was built without CUDA (%s)", lat_no_cuda);
    return false;
}

const lat_backend lat_backend_gpu = {.name = "gpu", .available = available};
