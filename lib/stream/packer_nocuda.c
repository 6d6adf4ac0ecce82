/* SPDX-License-Identifier: BSD-3-Clause */
/* packer_nocuda.c: stands in for packer_gpu.cu where CUDA was not built; no GPU can be opened
 * there. */
#include "packer.h"

lat_packer *lat_packer_open(size_t held)
{
    (void)held;
    return NULL;
}

double lat_packer_bytes(void) { return 0; }
void lat_packer_close(lat_packer *p) { (void)p; }

int lat_packer_begin(lat_packer *p, const void *data, size_t bytes)
{
    (void)p, (void)data, (void)bytes;
    return -1;
}

int lat_packer_block(void *packer, size_t i, size_t done, lat_packed *block)
{
    (void)packer, (void)i, (void)done, (void)block;
    return -1;
}

const void *lat_packer_rest(void *packer, size_t from, size_t n, size_t done)
{
    (void)packer, (void)from, (void)n, (void)done;
    return NULL;
}

void *lat_packer_copy(const void *host, size_t bytes, void *old)
{
    (void)host, (void)bytes, (void)old;
    return NULL;
}
