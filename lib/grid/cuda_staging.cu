/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_staging.cu: matrices of a host field to a GPU. */
#include "cuda_device.cuh"
#include "cuda_tuning.h"

extern "C" {
#include "base/threads.h"
#include "staging.h"
}

int lat_cuda_transfer(const lat_cuda_device *dev, bool put, void *there, void *host, size_t bytes,
                      const char *what)
{
    return lat_cuda_staged(
        dev, put, bytes, LAT_CUDA_STAGE, what,
        [&](size_t at, size_t n, int b) {
            char *const here = (char *)host + at;
            lat_memcpy(put ? dev->pinned[b] : here, put ? here : dev->pinned[b], n);
            return true;
        },
        [&](size_t at, size_t n, int b) {
            char *const device = (char *)there + at;
            return cudaMemcpyAsync(put ? device : dev->pinned[b], put ? dev->pinned[b] : device, n,
                                   cudaMemcpyDefault, dev->stream);
        });
}

int lat_cuda_upload_links(const lat_cuda_device *dev, const lat_field *u, double **all)
{
    const size_t n = lat_field_held(u), link = LAT_STAGE_LINK * sizeof(double);
    if (lat_cuda_malloc((void **)all, n * link, "the links"))
        return -1;
    return lat_cuda_staged(
        dev, true, n, LAT_CUDA_STAGE / link, "links",
        [&](size_t at, size_t count, int b) {
            lat_stage_links(u, at, count, (double *)dev->pinned[b]);
            return true;
        },
        [&](size_t at, size_t count, int b) {
            return cudaMemcpyAsync(*all + at * LAT_STAGE_LINK, dev->pinned[b], count * link,
                                   cudaMemcpyHostToDevice, dev->stream);
        });
}

int lat_cuda_bring_links(const lat_cuda_device *dev, const lat_field *u, const double *there,
                         double **all)
{
    const size_t bytes = lat_field_held(u) * LAT_STAGE_LINK * sizeof(double);
    if (!there)
        return lat_cuda_upload_links(dev, u, all);
    return lat_rc(lat_cuda_malloc((void **)all, bytes, "the links")
                  || lat_cuda_failed(
                      cudaMemcpyAsync(*all, there, bytes, cudaMemcpyDeviceToDevice, dev->stream),
                      "the links"));
}
