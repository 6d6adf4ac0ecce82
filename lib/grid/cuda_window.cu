/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_window.cu: device memory that all ranks of a host map. */
#include "cuda_window.cuh"

#include <stdlib.h>
#include <string.h>
extern "C" {
#include "base/error.h"
#include "base/memory.h"
}

/* What a rank says of its window. */
typedef struct description {
    cudaIpcMemHandle_t handle;
    char gpu[16]; /* its address on the bus */
    int fails;
} description;

/* Two ranks on one GPU run in turns: each would wait through the other's for what it sends. */
static bool share_a_gpu(const description *all, int ranks)
{
    for (int a = 0; a < ranks; a++)
        for (int b = 0; b < a; b++)
            if (!memcmp(all[a].gpu, all[b].gpu, sizeof all[a].gpu))
                return true;
    return false;
}

static cudaError_t map(lat_cuda_window *w, const description *all)
{
    const lat_comm *comm = w->dev->comm;
    for (int r = 0; r < comm->size; r++) {
        if (all[r].fails)
            return cudaErrorInvalidResourceHandle;
        if (r == comm->rank)
            continue;
        const cudaError_t e = cudaIpcOpenMemHandle((void **)&w->of[r], all[r].handle,
                                                   cudaIpcMemLazyEnablePeerAccess);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

static void unmap(lat_cuda_window *w)
{
    for (int r = 0; r < w->dev->comm->size && r < LAT_CUDA_WINDOW_RANKS; r++)
        if (w->of[r] && w->of[r] != w->mine) {
            cudaIpcCloseMemHandle(w->of[r]);
            w->of[r] = NULL;
        }
}

/* Sets w->direct, the same on all ranks. */
static int connect(lat_cuda_window *w)
{
    const lat_comm *comm = w->dev->comm;
    const int wish = w->dev->options.transport;
    if (comm->size == 1 || comm->size > LAT_CUDA_WINDOW_RANKS || comm->host_size != comm->size
        || (wish != LAT_TRANSPORT_AUTO && wish != LAT_TRANSPORT_PEER))
        return 0;
    description my, *all = (description *)lat_alloc((size_t)comm->size, sizeof *all,
                                                    "what ranks say of their memory");
    if (!all)
        return -1;
    memset(&my, 0, sizeof my);
    cudaError_t e = cudaIpcGetMemHandle(&my.handle, w->mine);
    e = e ? e : cudaDeviceGetPCIBusId(my.gpu, sizeof my.gpu, lat_cuda_device_number());
    my.fails = e != cudaSuccess;
    const int rc = comm->gather(comm, &my, sizeof my, all);
    const bool shared = rc == 0 && share_a_gpu(all, comm->size);
    if (rc == 0 && !(shared && wish == LAT_TRANSPORT_AUTO))
        e = map(w, all);
    else if (shared)
        e = cudaErrorPeerAccessUnsupported;
    free(all);
    cudaGetLastError(); /* what failed has been seen */
    double bad = e != cudaSuccess;
    if (rc || comm->max(comm, &bad, 1))
        return -1;
    if (bad == 0) {
        w->direct = true;
        return 0;
    }
    unmap(w);
    if (wish == LAT_TRANSPORT_PEER)
        return lat_fail("--transport peer: GPU %d cannot reach the memory of all others: %s",
                        lat_cuda_device_number(), cudaGetErrorString(e));
    return comm->barrier(comm);
}

int lat_cuda_window_open(const lat_device *dev, size_t bytes, const char *what, lat_cuda_window *w)
{
    memset(w, 0, sizeof *w);
    w->dev = dev;
    int rc = lat_cuda_malloc((void **)&w->mine, bytes, what);
    rc = rc || lat_cuda_failed(cudaMemset(w->mine, 0, bytes), what)
         || lat_cuda_failed(cudaDeviceSynchronize(), what);
    if (lat_agree(dev->comm, rc ? -1 : 0))
        return -1;
    w->of[dev->comm->rank % LAT_CUDA_WINDOW_RANKS] = w->mine;
    return connect(w);
}

void lat_cuda_window_close(lat_cuda_window *w)
{
    if (!w->mine)
        return;
    if (w->direct) {
        const lat_comm *comm = w->dev->comm;
        cudaStreamSynchronize(lat_cuda_device_of(w->dev)->stream);
        if (*lat_error() || comm->barrier(comm))
            return;
        unmap(w);
        if (comm->barrier(comm))
            return;
    }
    cudaFree(w->mine);
    memset(w, 0, sizeof *w);
}
