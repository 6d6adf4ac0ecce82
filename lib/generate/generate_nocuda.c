/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_nocuda.c: what stands in for making configurations on a GPU where that was not built;
 * nobody finds it. */
#include "grid/bandwidth.h"
#include "generate.h"

const lat_generate lat_generate_gpu = {.name = "gpu"};

double lat_gpu_copy_bandwidth(size_t bytes)
{
    (void)bytes;
    return -1;
}
