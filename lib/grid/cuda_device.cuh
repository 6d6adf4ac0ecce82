/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_device.cuh: a GPU as a device (device.h), for all that runs on it: errors, memory, its
 * stream; with base/error.h and base/memory.h. Functions return 0, or -1 with lat_error set. */
#pragma once

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
extern "C" {
#include "base/error.h"
#include "base/memory.h"
#include "device.h"
#include "lattice/field.h"
}

/* All work goes to one stream, in order. Two pairs of staging buffers, one half each at work: host
 * fields in natural order, on the device and pinned on the host. */
typedef struct lat_cuda_device {
    lat_device dev;
    int processors; /* multiprocessors */
    int overlap;    /* kernels may begin early (compute capability 9) */
    cudaStream_t stream;
    void *raw[2], *pinned[2];
    cudaEvent_t done[2];              /* a pair of buffers is free again */
    struct lat_cuda_carrier *carrier; /* of several ranks (cuda_carry.cuh) */
} lat_cuda_device;

static inline const lat_cuda_device *lat_cuda_device_of(const lat_device *dev)
{
    return (const lat_cuda_device *)dev;
}

/* For lat_grid_ops. */
void lat_cuda_device_close(lat_device *dev);

/* CUDA is started for this process, if it has not been; false, with lat_error set, if no GPU can be
 * used. */
extern "C" bool lat_cuda_available(const lat_device_options *options, const lat_comm *comm);

/* The GPU that is used, once there is one. */
int lat_cuda_device_number(void);

/* e, and what was being done, as an error. */
int lat_cuda_failed(cudaError_t e, const char *what);

/* `bytes` on the device, for `what`. lat_cuda_free waits for the device; what it frees is kept for
 * the next that ask. NULL is allowed. */
int lat_cuda_malloc(void **p, size_t bytes, const char *what);
void lat_cuda_free(void *p);

/* Such as other ranks, or MPI, reach. */
int lat_cuda_malloc_shared(void **p, size_t bytes, const char *what);
void lat_cuda_free_shared(void *p);

/* Blocks of so many threads for n of them. */
static inline unsigned lat_cuda_blocks(uint64_t n, unsigned threads)
{
    return (unsigned)((n + threads - 1) / threads);
}

/* Objects between host and device, at most `most` at a time, through both pairs of staging buffers:
 * the host is at work on one, the device on the other.
 *     bool host(at, n, b)            objects at .. at+n-1 to pinned[b] (put), or from there; put:
 *                                    false if there is nothing to send
 *     cudaError_t device(at, n, b)   puts the copies, and kernels, of these into the stream
 * What is fetched is on the host at the end; what is sent is on its way. */
template <class Host, class Device>
static inline int lat_cuda_staged(const lat_cuda_device *dev, bool put, size_t count, size_t most,
                                  const char *what, Host host, Device device)
{
    const size_t pieces = (count + most - 1) / most;
    for (size_t k = 0; k < pieces + (put ? 0 : 2); k++) {
        const int b = (int)(k % 2);
        const size_t at = k * most, n = count - at < most ? count - at : most, old = at - 2 * most,
                     left = count - old;
        if (lat_cuda_failed(cudaEventSynchronize(dev->done[b]), what))
            return -1;
        if (put ? !host(at, n, b) : k >= 2 && !host(old, left < most ? left : most, b))
            continue;
        if (k < pieces
            && (lat_cuda_failed(device(at, n, b), what)
                || lat_cuda_failed(cudaEventRecord(dev->done[b], dev->stream), what)))
            return -1;
    }
    return 0;
}

/* So bytes to the device (`put`), or back. */
int lat_cuda_transfer(const lat_cuda_device *dev, bool put, void *there, void *host, size_t bytes,
                      const char *what);

/* Matrices of a host field in double on the device, [held][18] in natural order, ghosts behind own
 * ones (staging.h, cuda_staging.cu). 0, or -1 with lat_error set. */
int lat_cuda_upload_links(const lat_cuda_device *dev, const lat_field *u, double **all);

/* The same, to be changed; copied from `there`, where they are on the device already. */
int lat_cuda_bring_links(const lat_cuda_device *dev, const lat_field *u, const double *there,
                         double **all);

/* In a kernel: lets the next one begin where this one has begun everywhere, and waits for the one
 * before to be done. What does not depend on that one comes before this. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WAIT_FOR_GRID() (cudaTriggerProgrammaticLaunchCompletion(), cudaGridDependencySynchronize())
#else
#define WAIT_FOR_GRID() ((void)0)
#endif

/* Launches a kernel that may begin, if `overlap`, while the last blocks of the one before are still
 * at work: it waits for them itself (WAIT_FOR_GRID). `shared`: bytes of dynamic shared memory a
 * block. */
template <class... K, class... A>
static inline cudaError_t lat_cuda_start_with(size_t shared, int overlap, void (*kernel)(K...),
                                              dim3 grid, dim3 block, cudaStream_t stream, A... a)
{
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = overlap ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, a...);
}

template <class... K, class... A>
static inline cudaError_t lat_cuda_start(int overlap, void (*kernel)(K...), dim3 grid, dim3 block,
                                         cudaStream_t stream, A... a)
{
    return lat_cuda_start_with(0, overlap, kernel, grid, block, stream, a...);
}
