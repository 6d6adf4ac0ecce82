/* SPDX-License-Identifier: BSD-3-Clause */
/* table_gpu.cu: the table of a GPU, and its memory. */
#include "multigrid/cuda/cuda_multigrid.cuh"

static int failed(cudaError_t e) { return lat_cuda_failed(e, "a multigrid"); }

void *lat_mg_gpu_alloc(const lat_device *dev, size_t count, size_t size, const char *what)
{
    void *p = NULL;
    if (lat_cuda_malloc(&p, count * size, what))
        return NULL;
    if (failed(cudaMemsetAsync(p, 0, count * size, lat_mg_stream(dev)))) {
        lat_cuda_free(p);
        return NULL;
    }
    return p;
}

void lat_mg_gpu_free(void *p) { lat_cuda_free(p); }

int lat_mg_gpu_send(const lat_device *dev, void *to, const void *host, size_t bytes)
{
    const cudaStream_t s = lat_mg_stream(dev);
    return failed(cudaMemcpyAsync(to, host, bytes, cudaMemcpyHostToDevice, s))
           || failed(cudaStreamSynchronize(s));
}

int lat_mg_gpu_fetch(const lat_device *dev, void *host, const void *from, size_t bytes)
{
    const cudaStream_t s = lat_mg_stream(dev);
    return failed(cudaMemcpyAsync(host, from, bytes, cudaMemcpyDeviceToHost, s))
           || failed(cudaStreamSynchronize(s));
}

void *lat_mg_upload(const lat_device *dev, const void *host, size_t bytes, const char *what)
{
    void *p = lat_mg_gpu_alloc(dev, 1, bytes, what);
    if (p && lat_mg_gpu_send(dev, p, host, bytes)) {
        lat_cuda_free(p);
        return NULL;
    }
    return p;
}

extern "C" {
const lat_mg_ops lat_multigrid_gpu = {lat_mg_gpu_alloc,
                                      lat_mg_gpu_free,
                                      lat_mg_gpu_send,
                                      lat_mg_gpu_fetch,
                                      lat_mg_gpu_coarse_open,
                                      lat_mg_gpu_coarse_close,
                                      lat_mg_gpu_finish,
                                      lat_mg_gpu_hop,
                                      lat_mg_gpu_inverse,
                                      lat_mg_gpu_diagonal,
                                      lat_mg_gpu_dense,
                                      lat_mg_gpu_apply,
                                      lat_mg_gpu_gather,
                                      lat_mg_gpu_swap,
                                      lat_mg_gpu_dots,
                                      lat_mg_gpu_adds,
                                      lat_mg_gpu_look,
                                      lat_mg_gpu_found,
                                      lat_mg_gpu_run,
                                      lat_mg_gpu_transfer_open,
                                      lat_mg_gpu_transfer_close,
                                      lat_mg_gpu_make,
                                      lat_mg_gpu_restrict,
                                      lat_mg_gpu_prolong,
                                      lat_mg_gpu_take,
                                      lat_mg_gpu_give,
                                      lat_mg_gpu_galerkin,
                                      lat_mg_gpu_fine_open,
                                      lat_mg_gpu_fine_close,
                                      lat_mg_gpu_fine_restrict,
                                      lat_mg_gpu_fine_prolong,
                                      lat_mg_gpu_fine_take,
                                      lat_mg_gpu_fine_give,
                                      lat_mg_gpu_fine_random,
                                      lat_mg_gpu_fine_round,
                                      lat_mg_gpu_fine_galerkin,
                                      true};
}
