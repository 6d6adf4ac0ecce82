/* SPDX-License-Identifier: BSD-3-Clause */
/* certify_nocuda.c: stands in for plain_gpu.cu where CUDA was not built; no GPU can be opened
 * there.
 */
#include "plain_gpu.h"

lat_plain_gpu *lat_plain_gpu_new(lat_device *dev, const lat_field *links, const lat_fermion *action)
{
    (void)dev, (void)links, (void)action;
    return NULL;
}

void lat_plain_gpu_free(lat_plain_gpu *m) { (void)m; }

const double *lat_plain_gpu_links(const lat_plain_gpu *m)
{
    (void)m;
    return NULL;
}

int lat_plain_gpu_residual(lat_plain_gpu *m, const double *x, const lat_field *b, int columns,
                           const int *column, double *residual)
{
    (void)m, (void)x, (void)b, (void)columns, (void)column, (void)residual;
    return -1;
}
