/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_nocuda.c: stands in for spinor_gpu.cu, dirac_gpu.cu, temporal_gpu.cu and gauss_gpu.cu where
 * CUDA was not built; no GPU can be opened there. */
#include "dirac.h"
#include "gauss_gpu.h"
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

lat_gauss_gpu *lat_gauss_gpu_open(lat_device *dev)
{
    (void)dev;
    return NULL;
}

void lat_gauss_gpu_close(lat_gauss_gpu *g) { (void)g; }

int lat_gauss_gpu_slice(lat_gauss_gpu *g, const lat_field *u, int t, double width, int steps,
                        int columns, double *psi)
{
    (void)g, (void)u, (void)t, (void)width, (void)steps, (void)columns, (void)psi;
    return -1;
}
