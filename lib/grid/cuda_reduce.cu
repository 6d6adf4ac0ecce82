/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_reduce.cu: memory for sums, and how the host waits for them. */
#include "cuda_reduce.cuh"

#include <atomic>
#include <string.h>
#include "cuda_device.cuh"
#include "cuda_tuning.h"
extern "C" {
#include "reduce.h"
}

/* The parts of rows, and where they are in a slice. */
static void set_parts(lat_cuda_sums *s, const lat_cuda_grid *w)
{
    const uint32_t half = s->one ? 1 : w->extent[0];
    s->y = w->nd < 3 ? 1 : w->extent[1];
    s->z = w->nd < 4 ? 1 : w->extent[2];
    for (s->part = 1; s->part < LAT_CUDA_GROUP && half % (2 * s->part) == 0;)
        s->part *= 2;
    s->parts = half / s->part;
}

int lat_cuda_sums_open(lat_cuda_sums *s, const lat_grid *grid, int members, int numbers)
{
    const lat_cuda_grid *w = lat_cuda(grid);
    const uint32_t pairs = LAT_CUDA_SUM_THREADS / 2; /* of sites, one of each parity, a block */
    memset(s, 0, sizeof *s);
    s->one = w->nd == 1;
    s->slices = (uint32_t)lat_reduce_slices(grid);
    s->sites = s->one ? 1 : w->stride[w->nd - 1];
    s->blocks = (s->sites + pairs - 1) / pairs;
    s->slots_here = grid->slots;
    set_parts(s, w);
    s->units = members * grid->slots;
    const size_t units = (size_t)s->units, sums = units * s->slices * (size_t)numbers;
    const size_t bytes = (sums + units) * sizeof(double);
    const cudaStream_t stream = lat_cuda_device_of(grid->dev)->stream;
    const size_t partial = sums * 2 * s->z * s->y * s->parts * sizeof(double),
                 arrived = units * (s->slices + 1) * sizeof *s->arrived;
    if (lat_cuda_malloc((void **)&s->partial, partial, "partial sums")
        || lat_cuda_malloc((void **)&s->arrived, arrived, "partial sums")
        || lat_cuda_failed(cudaMemsetAsync(s->arrived, 0, arrived, stream), "partial sums")
        || lat_cuda_failed(cudaMallocHost((void **)&s->sum, bytes), "pinning memory"))
        return -1;
    memset(s->sum, 0, bytes);
    s->flag = s->sum + sums;
    return 0;
}

void lat_cuda_sums_close(lat_cuda_sums *s)
{
    cudaFree(s->partial);
    cudaFree(s->arrived);
    cudaFreeHost(s->sum);
}

void lat_cuda_sums_begin(lat_cuda_sums *s, int slots)
{
    s->slots = slots;
    s->number++;
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
