/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_nocuda.c: stands in for spinor_gpu.cu, dirac_gpu.cu and temporal_gpu.cu where CUDA was not
 * built; no GPU can be opened there. */
#include "dirac.h"
#include "temporal.h"

const lat_spinor_ops lat_spinor_gpu = {.open = NULL};
const lat_dirac_ops lat_dirac_gpu = {.open = NULL};

int lat_temporal_to_gpu(lat_temporal *t, lat_device *dev)
{
    (void)t;
    (void)dev;
    return -1;
}

void lat_temporal_gpu_close(lat_temporal *t) { (void)t; }
