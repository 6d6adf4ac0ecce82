/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_halo.cu: rims to neighbours' ghosts, what the host does for it. */
#include "cuda_halo.cuh"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_host.cuh"
extern "C" {
#include "base/error.h"
#include "base/memory.h"
}

#define PIECE ((size_t)1 << 28) /* that MPI is given at a time */

/* ---- neighbours ---- */

/* What a rank says of itself. */
typedef struct card {
    cudaIpcMemHandle_t handle;
    lat_cuda_window shore;
    int fails;
} card;

static bool mpi_is_aware(void)
{
    int (*query)(void) = (int (*)(void))dlsym(RTLD_DEFAULT,
                                              "MPIX_Query_cuda_support"); /* OpenMPI's, MPICH's */
    return query && query() == 1;
}

/* Maps the neighbours' memory; their cards are below and above. */
static cudaError_t map_neighbours(lat_cuda_halo *r, const card *below, const card *above,
                                  lat_cuda_neighbour side[2])
{
    const card *const cards[2] = {below, above};
    for (int s = 0; s < 2; s++) {
        const lat_cuda_window *there = &cards[s]->shore;
        if (cards[s]->fails)
            return cudaErrorInvalidResourceHandle;
        if (s == 1 && below == above) {
            r->mapped[1] = r->mapped[0];
        } else {
            const cudaError_t e = cudaIpcOpenMemHandle(&r->mapped[s], cards[s]->handle,
                                                       cudaIpcMemLazyEnablePeerAccess);
            if (e != cudaSuccess)
                return e;
        }
        side[s].g = r->mapped[s];
        side[s].groups = there->groups;
        side[s].ghost = there->ghost[1 - s];
        side[s].told = (uint32_t *)((char *)r->mapped[s] + there->bytes)
                       + (1 - s); /* its heard[] */
    }
    return cudaSuccess;
}

/* -1, or 1 if all ranks have it, or 0. */
static int try_peers(lat_cuda_halo *r, const lat_cuda_window *mine, lat_cuda_neighbour side[2])
{
    const lat_comm *comm = r->comm;
    card my, *all = (card *)lat_alloc((size_t)comm->size, sizeof(card), "what the ranks say");
    memset(&my, 0, sizeof my);
    my.shore = *mine;
    if (!all
        || lat_cuda_failed(cudaMemset(lat_cuda_flags(mine), 0, LAT_CUDA_FLAGS * sizeof(uint32_t)),
                           "setting words")
        || lat_cuda_failed(cudaDeviceSynchronize(), "setting words"))
        return -1;
    cudaError_t e = cudaIpcGetMemHandle(&my.handle, mine->memory);
    my.fails = e != cudaSuccess;
    if (comm->gather(comm, &my, sizeof my, all))
        return -1;
    if (e == cudaSuccess)
        e = map_neighbours(r, all + (comm->rank + comm->size - 1) % comm->size,
                           all + (comm->rank + 1) % comm->size, side);
    free(all);
    cudaGetLastError(); /* what failed has been seen */
    if (e != cudaSuccess && lat_gpu_opts.transport == LAT_TRANSPORT_PEER)
        return lat_fail("--transport peer: GPU %d cannot reach its neighbours' memory: %s",
                        lat_cuda_device_number(), cudaGetErrorString(e));
    double bad = e != cudaSuccess;
    return comm->max(comm, &bad, 1) ? -1 : bad == 0;
}

int lat_cuda_halo_connect(lat_cuda_halo *r, const lat_comm *comm, const lat_cuda_window *mine,
                          lat_cuda_neighbour side[2])
{
    const int wish = lat_gpu_opts.transport, one_host = comm->host_size == comm->size;
    int peers = 0;
    r->comm = comm;
    if (wish == LAT_TRANSPORT_PEER && !one_host)
        return lat_fail_usage(
            "--transport peer: expected all %d ranks on one host, found %d on this one", comm->size,
            comm->host_size);
    if ((wish == LAT_TRANSPORT_PEER || wish == LAT_TRANSPORT_AUTO) && one_host
        && (peers = try_peers(r, mine, side)) < 0)
        return -1;
    if (wish == LAT_TRANSPORT_CUDA_AWARE && !mpi_is_aware())
        return lat_fail_usage("--transport cuda-aware: this MPI does not say that it is");
    r->transport = peers                                            ? LAT_TRANSPORT_PEER
                   : wish != LAT_TRANSPORT_STAGED && mpi_is_aware() ? LAT_TRANSPORT_CUDA_AWARE
                                                                    : LAT_TRANSPORT_STAGED;
    return lat_cuda_failed(cudaStreamCreateWithFlags(&r->travel, cudaStreamNonBlocking),
                           "making a stream")
                   || lat_cuda_failed(cudaEventCreateWithFlags(&r->packed, cudaEventDisableTiming),
                                      "making an event")
                   || lat_cuda_failed(cudaEventCreateWithFlags(&r->arrived, cudaEventDisableTiming),
                                      "making an event")
               ? -1
               : 0;
}

int lat_cuda_halo_ready(const lat_cuda_halo *r, cudaStream_t stream)
{
    return lat_cuda_failed(cudaStreamSynchronize(stream), "setting ghosts")
                   || r->comm->barrier(r->comm)
               ? -1
               : 0;
}

bool lat_cuda_halo_is_peer(const lat_cuda_halo *r) { return r->transport == LAT_TRANSPORT_PEER; }

const char *lat_cuda_halo_transport(const lat_cuda_halo *r)
{
    static const char *const ways[] = {"", "peer", "staged", "cuda-aware"};
    return ways[r->transport];
}

/* ---- boxes ---- */

static bool aware(const lat_cuda_halo *r) { return r->transport == LAT_TRANSPORT_CUDA_AWARE; }

int lat_cuda_halo_buffers(lat_cuda_halo *r, size_t bytes)
{
    for (int i = 0; i < 2; i++)
        if (lat_cuda_malloc(&r->box[i], 2 * bytes, "rims")
            || (!aware(r)
                && lat_cuda_failed(cudaMallocHost(&r->box_host[i], 2 * bytes), "pinning memory")))
            return -1;
    return 0;
}

int lat_cuda_halo_begin(lat_cuda_halo *r, cudaStream_t stream)
{
    return lat_cuda_failed(cudaEventRecord(r->packed, stream), "packing rims")
                   || lat_cuda_failed(cudaStreamWaitEvent(r->travel, r->packed, 0), "packing rims")
               ? -1
               : 0;
}

int lat_cuda_halo_finish(lat_cuda_halo *r, size_t bytes, cudaStream_t stream)
{
    const bool here = aware(r);
    char *out = (char *)(here ? r->box[0] : r->box_host[0]),
         *in = (char *)(here ? r->box[1] : r->box_host[1]);
    if ((!here
         && lat_cuda_failed(
             cudaMemcpyAsync(out, r->box[0], 2 * bytes, cudaMemcpyDeviceToHost, r->travel),
             "fetching rims"))
        || lat_cuda_failed(cudaStreamSynchronize(r->travel), "fetching rims"))
        return -1;
    for (size_t at = 0; at < bytes; at += PIECE) {
        const size_t n = bytes - at < PIECE ? bytes - at : PIECE;
        const lat_exchange x = {out + at, out + bytes + at, in + at, in + bytes + at, n, n, n, n};
        if (r->comm->begin(r->comm, &x) || r->comm->finish(r->comm))
            return -1;
    }
    if (!here
        && lat_cuda_failed(
            cudaMemcpyAsync(r->box[1], in, 2 * bytes, cudaMemcpyHostToDevice, r->travel),
            "sending ghosts"))
        return -1;
    return lat_cuda_failed(cudaEventRecord(r->arrived, r->travel), "sending ghosts")
                   || lat_cuda_failed(cudaStreamWaitEvent(stream, r->arrived, 0), "sending ghosts")
               ? -1
               : 0;
}

/* ---- the end ---- */

/* Whoever has been mapped is, and stays so until all have come here. */
static int unmap(lat_cuda_halo *r)
{
    if (!lat_cuda_halo_is_peer(r))
        return 0;
    if (r->comm->barrier(r->comm))
        return -1;
    for (int s = 0; s < 2; s++)
        if (r->mapped[s] && (s == 0 || r->mapped[1] != r->mapped[0]))
            cudaIpcCloseMemHandle(r->mapped[s]);
    return r->comm->barrier(r->comm);
}

int lat_cuda_halo_disconnect(lat_cuda_halo *r)
{
    if (!r->comm)
        return 0;
    if (*lat_error() || unmap(r))
        return -1;
    for (int i = 0; i < 2; i++) {
        cudaFree(r->box[i]);
        cudaFreeHost(r->box_host[i]);
    }
    if (r->packed)
        cudaEventDestroy(r->packed);
    if (r->arrived)
        cudaEventDestroy(r->arrived);
    if (r->travel)
        cudaStreamDestroy(r->travel);
    return 0;
}
