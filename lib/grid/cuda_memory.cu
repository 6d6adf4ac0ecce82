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

/* ---- memory that is kept --------------------------------------------------------------------- */

/* The driver takes a millisecond for a vector, and more when it gets one back: what is freed stays
 * with the process for the next job, up to half of the GPU's memory. NULL: this GPU cannot. */
static cudaMemPool_t kept(void)
{
    static cudaMemPool_t pool;
    static bool asked;
    const int gpu = lat_cuda_device_number();
    int can = 0;
    size_t available = 0, total = 0;
    if (asked)
        return pool;
    asked = true;
    cudaError_t e = cudaDeviceGetAttribute(&can, cudaDevAttrMemoryPoolsSupported, gpu);
    e = e || !can ? cudaErrorNotSupported : cudaMemGetInfo(&available, &total);
    uint64_t most = total / 2;
    e = e ? e : cudaDeviceGetDefaultMemPool(&pool, gpu);
    e = e ? e : cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most);
    if (e)
        pool = NULL;
    (void)cudaGetLastError();
    return pool;
}

static size_t unused(void)
{
    uint64_t reserved = 0, used = 0;
    if (!kept() || cudaMemPoolGetAttribute(kept(), cudaMemPoolAttrReservedMemCurrent, &reserved)
        || cudaMemPoolGetAttribute(kept(), cudaMemPoolAttrUsedMemCurrent, &used))
        return 0;
    return reserved - used;
}

/* What is free, with all that is kept and not used. */
static int free_memory(size_t *available, size_t *total)
{
    const cudaError_t e = cudaMemGetInfo(available, total);
    *available += e ? 0 : unused();
    return lat_cuda_failed(e, "asking for its memory");
}

/* Once more without what is kept, where there is no memory. */
static cudaError_t take(void **p, size_t bytes, bool shared)
{
    cudaError_t e = cudaSuccess;
    bytes = bytes ? bytes : 1;
    for (int tries = 0; tries < 2; tries++) {
        e = shared || !kept() ? cudaMalloc(p, bytes) : cudaMallocAsync(p, bytes, 0);
        if (e != cudaErrorMemoryAllocation || !kept())
            break;
        (void)cudaGetLastError();
        cudaMemPoolTrimTo(kept(), 0);
    }
    return e || shared ? e : cudaStreamSynchronize(0);
}

static int take_or_fail(void **p, size_t bytes, bool shared, const char *what)
{
    const cudaError_t e = take(p, bytes, shared);
    if (e != cudaErrorMemoryAllocation)
        return lat_cuda_failed(e, what);
    size_t available = 0, total = 0;
    if (free_memory(&available, &total))
        return -1;
    return lat_fail("GPU: out of memory: %s need %.2f GB, %.2f GB of %.2f GB are free", what,
                    gigabytes((double)bytes), gigabytes((double)available),
                    gigabytes((double)total));
}

int lat_cuda_malloc(void **p, size_t bytes, const char *what)
{
    return take_or_fail(p, bytes, false, what);
}

int lat_cuda_malloc_shared(void **p, size_t bytes, const char *what)
{
    return take_or_fail(p, bytes, true, what);
}

/* What is kept may be taken at once, so nothing may be at work in it. */
void lat_cuda_free(void *p)
{
    if (!p)
        return;
    cudaDeviceSynchronize();
    if (kept())
        cudaFreeAsync(p, 0);
    else
        cudaFree(p);
}

void lat_cuda_free_shared(void *p) { cudaFree(p); }

void lat_gpu_give_back(void)
{
    size_t available = 0, total = 0;
    uint64_t used = 0;
    cudaDeviceSynchronize();
    if (kept() && !cudaMemGetInfo(&available, &total)
        && !cudaMemPoolGetAttribute(kept(), cudaMemPoolAttrUsedMemCurrent, &used))
        cudaMemPoolTrimTo(kept(), (size_t)used + total / 8);
}

int lat_gpu_check_memory(double bytes, const char *what)
{
    size_t available = 0, total = 0;
    if (free_memory(&available, &total))
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
    return free_memory(&available, &total) ? -1 : (double)available;
}

/* ---- how fast it is -------------------------------------------------------------------------- */

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
    lat_cuda_free(a);
    lat_cuda_free(b);
    return bad ? -1 : 2.0 * (double)bytes / (double)best * 1e-6;
}
