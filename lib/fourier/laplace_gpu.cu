/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_gpu.cu: the inverse Laplacian on a GPU: lines along each axis (lines.cuh), forwards;
 * those along the last one are also divided by the eigenvalues of L, and go back at once; then the
 * others go back. */
#include <stdlib.h>
#include "lines.cuh"
extern "C" {
#include "laplace_gpu.h"
}

struct lat_laplace_gpu {
    cudaStream_t stream;
    bool single;
    int units;
    lat_lines_plan<double2> wide; /* one of both */
    lat_lines_plan<float2> narrow;
};

int lat_laplace_gpu_check(const lat_geometry *geom, bool single)
{
    return single ? lat_lines_check<float2>(geom) : lat_lines_check<double2>(geom);
}

lat_laplace_gpu *lat_laplace_gpu_new(lat_device *dev, const lat_geometry *geom,
                                     const double *weight, int reals, bool single, int units)
{
    lat_laplace_gpu *l = (lat_laplace_gpu *)lat_alloc_zero(1, sizeof *l, "a Fourier transform");
    if (!l)
        return NULL;
    l->stream = lat_cuda_device_of(dev)->stream;
    l->single = single;
    l->units = units;
    if ((single ? lat_lines_open(&l->narrow, geom, weight, reals)
                : lat_lines_open(&l->wide, geom, weight, reals))
        == 0)
        return l;
    lat_laplace_gpu_free(l);
    return NULL;
}

void lat_laplace_gpu_free(lat_laplace_gpu *l)
{
    if (!l)
        return;
    lat_lines_close(&l->wide);
    lat_lines_close(&l->narrow);
    free(l);
}

template <class C>
static cudaError_t invert(const lat_lines_plan<C> *p, int units, cudaStream_t stream, C *v,
                          const bool *idle)
{
    const int last = p->passes - 1;
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < last && !e; i++)
        e = lat_lines_launch<LAT_LINES_FORWARDS>(p, i, units, stream, v, idle);
    e = e ? e : lat_lines_launch<LAT_LINES_INVERT>(p, last, units, stream, v, idle);
    for (int i = last - 1; i >= 0 && !e; i--)
        e = lat_lines_launch<LAT_LINES_BACK>(p, i, units, stream, v, idle);
    return e;
}

int lat_laplace_gpu_invert(lat_laplace_gpu *l, void *v, const bool *idle)
{
    return lat_cuda_failed(l->single ? invert(&l->narrow, l->units, l->stream, (float2 *)v, idle)
                                     : invert(&l->wide, l->units, l->stream, (double2 *)v, idle),
                           "the inverse Laplacian");
}
