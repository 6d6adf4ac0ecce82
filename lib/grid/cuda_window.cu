/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_window.cu: device memory that all ranks of a host map. */
#include "cuda_window.cuh"

#include <stdlib.h>
#include <string.h>
#include "cuda_carry.cuh"

/* What a rank says of its memory. */
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

static cudaError_t map_ranks(const lat_comm *comm, const description *there, bool all, char **of)
{
    const int size = comm->size, me = comm->rank, down = (me + size - 1) % size,
              up = (me + 1) % size;
    for (int r = 0; r < size; r++) {
        if (r == me || (!all && r != down && r != up))
            continue;
        if (there[r].fails)
            return cudaErrorInvalidResourceHandle;
        const cudaError_t e = cudaIpcOpenMemHandle((void **)&of[r], there[r].handle,
                                                   cudaIpcMemLazyEnablePeerAccess);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

static void unmap_ranks(const lat_comm *comm, char **of)
{
    for (int r = 0; r < comm->size; r++)
        if (of[r] && r != comm->rank) {
            cudaIpcCloseMemHandle(of[r]);
            of[r] = NULL;
        }
}

int lat_cuda_map(const lat_device *dev, void *mine, bool all, char **of)
{
    const lat_comm *comm = dev->comm;
    const int wish = dev->options.transport;
    if (comm->host_size != comm->size || (wish != LAT_TRANSPORT_AUTO && wish != LAT_TRANSPORT_PEER))
        return 0;
    description my, *there = (description *)lat_alloc((size_t)comm->size, sizeof *there,
                                                      "what ranks say of their memory");
    if (!there)
        return -1;
    memset(&my, 0, sizeof my);
    of[comm->rank] = (char *)mine;
    cudaError_t e = cudaIpcGetMemHandle(&my.handle, mine);
    e = e ? e : cudaDeviceGetPCIBusId(my.gpu, sizeof my.gpu, lat_cuda_device_number());
    my.fails = e != cudaSuccess;
    const int rc = comm->gather(comm, &my, sizeof my, there);
    if (rc == 0 && all && wish == LAT_TRANSPORT_AUTO && share_a_gpu(there, comm->size))
        e = cudaErrorPeerAccessUnsupported;
    else if (rc == 0 && e == cudaSuccess)
        e = map_ranks(comm, there, all, of);
    free(there);
    cudaGetLastError(); /* what failed has been seen */
    double bad = e != cudaSuccess;
    if (rc || comm->max(comm, &bad, 1))
        return -1;
    if (bad == 0)
        return 1;
    unmap_ranks(comm, of);
    if (wish == LAT_TRANSPORT_PEER)
        return e ? lat_fail("--transport peer: GPU %d cannot reach the memory of %s: %s",
                            lat_cuda_device_number(), all ? "all others" : "its neighbours",
                            cudaGetErrorString(e))
                 : lat_fail(LAT_ANOTHER_FAILED);
    return comm->barrier(comm);
}

int lat_cuda_unmap(const lat_device *dev, char **of)
{
    const lat_comm *comm = dev->comm;
    if (*lat_error()) /* a kernel may wait for a rank that has failed */
        return -1;
    cudaStreamSynchronize(lat_cuda_device_of(dev)->stream);
    if (comm->barrier(comm))
        return -1;
    unmap_ranks(comm, of);
    return comm->barrier(comm);
}

int lat_cuda_window_open(const lat_device *dev, size_t bytes, const char *what, lat_cuda_window *w)
{
    memset(w, 0, sizeof *w);
    w->dev = dev;
    int rc = lat_cuda_malloc_shared((void **)&w->mine, bytes, what);
    rc = rc || lat_cuda_failed(cudaMemset(w->mine, 0, bytes), what)
         || lat_cuda_failed(cudaDeviceSynchronize(), what);
    if (lat_agree(dev->comm, rc ? -1 : 0))
        return -1;
    w->of[dev->comm->rank % LAT_CUDA_WINDOW_RANKS] = w->mine;
    if (dev->comm->size > 1 && dev->comm->size <= LAT_CUDA_WINDOW_RANKS)
        rc = lat_cuda_map(dev, w->mine, true, w->of);
    w->direct = rc > 0;
    if (rc == 0 && dev->comm->size > 1)
        rc = lat_cuda_carrier_prepare(lat_cuda_device_of(dev)->carrier);
    return rc < 0 ? -1 : 0;
}

void lat_cuda_window_close(lat_cuda_window *w)
{
    if (!w->mine)
        return;
    if (w->direct && lat_cuda_unmap(w->dev, w->of))
        return;
    lat_cuda_free_shared(w->mine);
    memset(w, 0, sizeof *w);
}
