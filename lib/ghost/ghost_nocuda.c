/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_nocuda.c: stands in for ghost_gpu.cu where CUDA was not built; no GPU can be opened there.
 */
#include "ghost_gpu.h"

#include "base/error.h"

lat_ghost_gpu *lat_ghost_gpu_new(lat_device *dev, const lat_ghost_sites *s, const double *links)
{
    (void)dev, (void)s, (void)links;
    lat_fail("GPU: built without CUDA");
    return NULL;
}

void lat_ghost_gpu_free(lat_ghost_gpu *g) { (void)g; }

double *lat_ghost_gpu_vector(lat_ghost_gpu *g, const char *what)
{
    (void)g, (void)what;
    return NULL;
}

void lat_ghost_gpu_vector_free(double *v) { (void)v; }

int lat_ghost_gpu_put(lat_ghost_gpu *g, double *to, const double *host)
{
    (void)g, (void)to, (void)host;
    return -1;
}

int lat_ghost_gpu_get(lat_ghost_gpu *g, double *host, const double *from)
{
    (void)g, (void)host, (void)from;
    return -1;
}

int lat_ghost_gpu_copy(lat_ghost_gpu *g, double *to, const double *from)
{
    (void)g, (void)to, (void)from;
    return -1;
}

int lat_ghost_gpu_zero(lat_ghost_gpu *g, double *v)
{
    (void)g, (void)v;
    return -1;
}

int lat_ghost_gpu_over(lat_ghost_gpu *g, lat_ghost_pass_name pass, const lat_ghost_call *c,
                       int numbers, double *sums)
{
    (void)g, (void)pass, (void)c, (void)numbers, (void)sums;
    return -1;
}

int lat_ghost_gpu_invert(lat_ghost_gpu *g, double *v, const bool *idle)
{
    (void)g, (void)v, (void)idle;
    return -1;
}

int lat_ghost_gpu_plain(lat_ghost_gpu *g, const lat_ghost_element *product, size_t products,
                        const double *links)
{
    (void)g, (void)product, (void)products, (void)links;
    return -1;
}

int lat_ghost_gpu_source(lat_ghost_gpu *g, double *b, const lat_ghost_sources *c,
                         const double *wave, size_t waves)
{
    (void)g, (void)b, (void)c, (void)wave, (void)waves;
    return -1;
}
