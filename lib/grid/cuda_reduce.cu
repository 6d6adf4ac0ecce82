/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_reduce.cu: memory for sums, and how the host waits for them. */
#include "cuda_reduce.cuh"

#include <atomic>
#include <stdlib.h>
#include "cuda_tuning.h"

void lat_cuda_sums_free(lat_cuda_sums *s)
{
    if (!s)
        return;
    lat_cuda_free(s->partial);
    lat_cuda_free(s->arrived);
    cudaFreeHost(s->flag);
    free(s);
}

static int reserve(lat_cuda_sums *s, const lat_grid *grid, int members, int numbers)
{
    const lat_cuda_grid *w = lat_cuda(grid);
    const uint32_t pairs = LAT_CUDA_SUM_THREADS / 2; /* of sites, one of each parity, a block */
    s->one = w->nd == 1;
    s->slices = (uint32_t)lat_reduce_slices(grid);
    s->sites = s->one ? 1 : w->stride[w->nd - 1];
    s->blocks = (s->sites + pairs - 1) / pairs;
    s->slots_here = grid->slots;
    s->units = members * grid->slots;
    s->most = numbers;
    const size_t units = (size_t)s->units, sums = units * s->slices * (size_t)numbers;
    const size_t bytes = (units + sums) * sizeof(double);
    const cudaStream_t stream = lat_cuda_device_of(grid->dev)->stream;
    if (lat_cuda_malloc((void **)&s->partial, sums * s->blocks * sizeof(double), "partial sums")
        || lat_cuda_malloc((void **)&s->arrived, units * sizeof *s->arrived, "partial sums")
        || lat_cuda_failed(cudaMemsetAsync(s->arrived, 0, units * sizeof *s->arrived, stream),
                           "partial sums")
        || lat_cuda_failed(cudaMallocHost((void **)&s->flag, bytes), "pinning memory"))
        return -1;
    memset(s->flag, 0, bytes);
    s->sum = s->flag + units;
    return 0;
}

const lat_cuda_sums *lat_cuda_sums_begin(const lat_grid *grid, int members, int numbers)
{
    lat_cuda_sums **const s = &((lat_gpu_grid *)grid)->sums;
    if (!*s || (*s)->units != members * grid->slots || (*s)->most < numbers) {
        lat_cuda_sums_free(*s);
        *s = (lat_cuda_sums *)lat_alloc_zero(1, sizeof **s, "sums of slices");
        if (!*s)
            return NULL;
        if (reserve(*s, grid, members, numbers)) {
            lat_cuda_sums_free(*s);
            *s = NULL;
            return NULL;
        }
    }
    (*s)->slots = grid->slots;
    while (grid->slice[(*s)->slots - 1] < 0)
        (*s)->slots--;
    (*s)->number++;
    return *s;
}

int lat_cuda_sums_finish(const lat_cuda_sums *s, const lat_grid *grid)
{
    int n = 0;
    const int units = s->units / s->slots_here * s->slots;
    for (long i = 0; i < LAT_CUDA_FLAG_READS && n < units; i++)
        while (n < units
               && *(const volatile double *)(s->flag + n / s->slots * s->slots_here + n % s->slots)
                      == s->number)
            n++;
    std::atomic_thread_fence(std::memory_order_acquire);
    return n < units ? lat_cuda_failed(cudaStreamSynchronize(lat_cuda_device_of(grid->dev)->stream),
                                       "sweeps")
                     : 0;
}
