/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_memory.cu: errors and memory, for all that runs on a GPU. */
#include <math.h>
#include "cuda_device.cuh"
extern "C" {
#include "device.h"
}

int lat_cuda_failed(cudaError_t e, const char *what)
{
    return e == cudaSuccess ? 0 : lat_fail("GPU: %s: %s", what, cudaGetErrorString(e));
}

static double gigabytes(double bytes) { return bytes * 1e-9; }

int lat_cuda_malloc(void **p, size_t bytes, const char *what)
{
    const cudaError_t e = cudaMalloc(p, bytes ? bytes : 1);
    if (e != cudaErrorMemoryAllocation)
        return lat_cuda_failed(e, what);
    size_t available = 0, total = 0;
    cudaMemGetInfo(&available, &total);
    return lat_fail("GPU: out of memory: %s need %.2f GB, %.2f GB of %.2f GB are free", what,
                    gigabytes((double)bytes), gigabytes((double)available),
                    gigabytes((double)total));
}

int lat_gpu_check_memory(double bytes, const char *what)
{
    size_t available = 0, total = 0;
    if (lat_cuda_failed(cudaMemGetInfo(&available, &total), "asking for its memory"))
        return -1;
    if (bytes <= (double)available)
        return 0;
    const double gpus = ceil(bytes / (0.97 * (double)total));
    return lat_fail(
        "%s needs %.2f GB on the GPU, which has %.2f GB free of %.2f GB; %.0f such GPU%s would do",
        what, gigabytes(bytes), gigabytes((double)available), gigabytes((double)total), gpus,
        gpus > 1 ? "s" : " with nothing else on it");
}

double lat_gpu_free_bytes(void)
{
    size_t available = 0, total = 0;
    if (lat_cuda_failed(cudaMemGetInfo(&available, &total), "asking for its memory"))
        return -1;
    return (double)available;
}

double lat_gpu_copy_bandwidth(size_t bytes)
{
    static const char what[] = "a benchmark";
    void *a = NULL, *b = NULL;
    cudaEvent_t begin = NULL, end = NULL;
    float ms = 0, best = INFINITY;
    int bad = lat_cuda_malloc(&a, bytes, what) || lat_cuda_malloc(&b, bytes, what)
              || lat_cuda_failed(cudaEventCreate(&begin), what)
              || lat_cuda_failed(cudaEventCreate(&end), what);
    for (int i = 0; i < 10 && !bad; i++) {
        cudaEventRecord(begin, 0);
        cudaError_t e = cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, 0);
        cudaEventRecord(end, 0);
        e = e ? e : cudaEventSynchronize(end);
        bad = lat_cuda_failed(e ? e : cudaEventElapsedTime(&ms, begin, end), what);
        best = fminf(best, ms);
    }
    if (begin)
        cudaEventDestroy(begin);
    if (end)
        cudaEventDestroy(end);
    cudaFree(a);
    cudaFree(b);
    return bad ? -1 : 2.0 * (double)bytes / (double)best * 1e-6;
}
