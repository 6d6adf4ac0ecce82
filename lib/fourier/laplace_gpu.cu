/* SPDX-License-Identifier: BSD-3-Clause */
/* laplace_gpu.cu: the inverse Laplacian on GPUs: lines along each axis (lines.cuh), forwards; those
 * along the last one are also divided by the eigenvalues of L, and go back at once; then the others
 * go back. */
#include <stdlib.h>
#include "grid/cuda_slices.cuh"
#include "lines.cuh"
extern "C" {
#include "base/error.h"
#include "laplace_gpu.h"
}

struct lat_laplace_gpu {
    cudaStream_t stream;
    lat_lines_plan<double2> plan;
    bool cut;             /* the ranks cut an axis of L: */
    lat_cuda_lines whole; /* its lines */
};

int lat_laplace_gpu_check(const lat_geometry *geom) { return lat_lines_check<double2>(geom); }

static int open(lat_laplace_gpu *l, lat_device *dev, const lat_geometry *geom, const double *weight,
                int reals)
{
    const int last = geom->nd - 1, slice = (int)(lat_volume(geom) / (size_t)geom->dims[last]);
    l->cut = dev->comm->size > 1 && weight[last] > 0;
    if (l->cut
        && lat_cuda_lines_open(dev, geom->dims[last], slice, (size_t)reals * sizeof(double),
                               "lines of a Fourier transform", &l->whole))
        return -1;
    const lat_lines_cut cut = {lat_slab_of(dev->comm, dev->comm->rank, geom->dims[last]).count,
                               lat_slab_of(dev->comm, dev->comm->rank, slice)};
    return lat_agree(dev->comm, lat_lines_open(&l->plan, geom, weight, reals,
                                               dev->comm->size > 1 ? &cut : NULL));
}

lat_laplace_gpu *lat_laplace_gpu_new(lat_device *dev, const lat_geometry *geom,
                                     const double *weight, int reals)
{
    lat_laplace_gpu *l = (lat_laplace_gpu *)calloc(1, sizeof *l);
    if (!l) {
        lat_fail("out of memory: a Fourier transform");
        return NULL;
    }
    l->stream = lat_cuda_device_of(dev)->stream;
    if (open(l, dev, geom, weight, reals) == 0)
        return l;
    lat_laplace_gpu_free(l);
    return NULL;
}

void lat_laplace_gpu_free(lat_laplace_gpu *l)
{
    if (!l)
        return;
    lat_cuda_lines_close(&l->whole);
    lat_lines_close(&l->plan);
    free(l);
}

static const char what[] = "the inverse Laplacian";

/* Passes first .. last-1. */
static int forwards(const lat_laplace_gpu *l, double *v, int first, int last)
{
    const lat_lines_plain<double2> io = {(double2 *)v, NULL};
    cudaError_t e = cudaSuccess;
    for (int i = first; i < last && !e; i++)
        e = lat_lines_launch<LAT_LINES_FORWARDS>(&l->plan, i, 1, l->stream, io, NULL);
    return lat_cuda_failed(e, what);
}

static int back(const lat_laplace_gpu *l, double *v, int first, int last)
{
    const lat_lines_plain<double2> io = {(double2 *)v, NULL};
    cudaError_t e = cudaSuccess;
    for (int i = last - 1; i >= first && !e; i--)
        e = lat_lines_launch<LAT_LINES_BACK>(&l->plan, i, 1, l->stream, io, NULL);
    return lat_cuda_failed(e, what);
}

/* The last axis of L, both ways. */
static int invert_last(const lat_laplace_gpu *l, double *v)
{
    const lat_lines_plain<double2> io = {(double2 *)v, NULL};
    const int from = l->plan.before, last = l->plan.passes - 1;
    return forwards(l, v, from, last)
                   || lat_cuda_failed(
                       lat_lines_launch<LAT_LINES_INVERT>(&l->plan, last, 1, l->stream, io, NULL),
                       what)
                   || back(l, v, from, last)
               ? -1
               : 0;
}

int lat_laplace_gpu_invert(lat_laplace_gpu *l, double *v)
{
    return forwards(l, v, 0, l->plan.before) || (l->cut && lat_cuda_lines_to(&l->whole, v))
                   || invert_last(l, l->cut ? (double *)l->whole.window.mine : v)
                   || (l->cut && lat_cuda_lines_from(&l->whole, v)) || back(l, v, 0, l->plan.before)
               ? -1
               : 0;
}
