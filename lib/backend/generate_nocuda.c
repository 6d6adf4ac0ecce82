/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_nocuda.c: what stands in for making configurations on a GPU. */
#include "generate.h"

#include "common/error.h"

static bool available(void)
{
    lat_fail("this version of lat-heatbath runs on the CPU only");
    return false;
}

const lat_generate lat_generate_gpu = {.name = "gpu", .available = available};
