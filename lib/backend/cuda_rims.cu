/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_rims.cu: several ranks: how the rims of a slab come to be the ghosts of its neighbours, peer memory, staged, or by an MPI that knows
 * device memory. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_gpu.cuh"
extern "C" {
#include "common/error.h"
}

typedef lat_cuda_gpu gpu;

/* ---- by way of the host ---- */

static size_t rim_bytes(const gpu *c) { return (size_t)c->work.rim * lat_cuda_matrix_bytes(c, lat_cuda_few_rows(c)); }

/* The boxes to the neighbours and theirs here, `units` units in each half of a box: through the host, or by an MPI that
 * knows device memory. */
#define PIECE ((size_t)1 << 28)
static int swap_boxes(gpu *c, int units)
{
    const lat_comm *comm = c->dev.comm;
    const bool aware = c->transport == LAT_TRANSPORT_CUDA_AWARE;
    const size_t side = rim_bytes(c) * (size_t)units;
    char *out = (char *)(aware ? c->box[0] : c->box_host[0]), *in = (char *)(aware ? c->box[1] : c->box_host[1]);
    if ((!aware && lat_cuda_failed(cudaMemcpyAsync(out, c->box[0], 2 * side, cudaMemcpyDeviceToHost, c->travel), "fetching rims"))
        || lat_cuda_failed(cudaStreamSynchronize(c->travel), "fetching rims"))
        return -1;
    for (size_t at = 0; at < side; at += PIECE) {
        const size_t n = side - at < PIECE ? side - at : PIECE;
        const lat_exchange x = {out + at, out + side + at, in + at, in + side + at, n, n, n, n};
        if (comm->begin(comm, &x) || comm->finish(comm))
            return -1;
    }
    if (!aware && lat_cuda_failed(cudaMemcpyAsync(c->box[1], in, 2 * side, cudaMemcpyHostToDevice, c->travel), "sending ghosts"))
        return -1;
    return lat_cuda_failed(cudaEventRecord(c->arrived_rim, c->travel), "sending ghosts")
        || lat_cuda_failed(cudaStreamWaitEvent(c->stream, c->arrived_rim, 0), "sending ghosts") ? -1 : 0;
}

static int pack_rims(gpu *c, int unit, int units, int parity)
{
    return lat_cuda_failed(c->ops->rim(&c->work, unit, units, parity, c->box[0], 0, c->stream), "packing rims")
        || lat_cuda_failed(cudaEventRecord(c->packed, c->stream), "packing rims")
        || lat_cuda_failed(cudaStreamWaitEvent(c->travel, c->packed, 0), "packing rims") ? -1 : 0;
}

static int unpack_ghosts(gpu *c, int unit, int units, int parity)
{
    return lat_cuda_failed(c->ops->rim(&c->work, unit, units, parity, c->box[1], 1, c->stream), "unpacking ghosts");
}

/* All ghosts of a copy, when it is new. */
int lat_cuda_set_ghosts(gpu *c, int copy)
{
    for (int s = 0; s < c->work.slices; s += c->box_units)
        for (int parity = 0; parity < 2; parity++) {
            const int n = c->work.slices - s < c->box_units ? c->work.slices - s : c->box_units, unit = copy * c->work.slices + s;
            if (pack_rims(c, unit, n, parity) || swap_boxes(c, n) || unpack_ghosts(c, unit, n, parity)
                || lat_cuda_failed(cudaStreamSynchronize(c->stream), "unpacking ghosts"))
                return -1;
        }
    return 0;
}

/* A half sweep whose rims go by way of the host while the rest is visited. */
int lat_cuda_half_by_host(gpu *c, lat_cuda_how *h, int parity)
{
    h->part = LAT_CUDA_RIM;
    if (lat_cuda_failed(c->ops->half(&c->work, h, parity, c->stream), "a sweep") || pack_rims(c, 0, c->units, parity))
        return -1;
    h->part = LAT_CUDA_INNER;
    return lat_cuda_failed(c->ops->half(&c->work, h, parity, c->stream), "a sweep") || swap_boxes(c, c->units)
        || unpack_ghosts(c, 0, c->units, parity) ? -1 : 0;
}

/* ---- neighbours ---- */

static uint32_t *words_of(void *g, size_t bytes) { return (uint32_t *)((char *)g + bytes); }

/* What a rank says of itself. */
typedef struct card {
    cudaIpcMemHandle_t handle;
    uint64_t words;      /* where they are, behind g */
    uint32_t groups, ghost[2];
    int fails;
} card;

static bool mpi_is_aware(void)
{
    int (*query)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"); /* OpenMPI's */
    return query && query() == 1;
}

/* Maps the neighbours' memory; their cards are below and above. */
static cudaError_t map_neighbours(gpu *c, const card *below, const card *above, bool same)
{
    const card *const cards[2] = {below, above};
    lat_cuda_work *w = &c->work;
    for (int side = 0; side < 2; side++) {
        const card *k = cards[side];
        if (k->fails)
            return cudaErrorInvalidResourceHandle;
        if (side == 1 && same) {
            c->mapped[1] = c->mapped[0];
        } else {
            const cudaError_t e = cudaIpcOpenMemHandle(&c->mapped[side], k->handle, cudaIpcMemLazyEnablePeerAccess);
            if (e != cudaSuccess)
                return e;
        }
        w->side[side].g = c->mapped[side];
        w->side[side].groups = k->groups;
        w->side[side].ghost = k->ghost[1 - side];
        w->side[side].told = words_of(c->mapped[side], k->words) + (1 - side); /* its heard[] */
    }
    return cudaSuccess;
}

/* -1, or 1 if all ranks have it, or 0. */
static int try_peers(gpu *c)
{
    const lat_comm *comm = c->dev.comm;
    lat_cuda_work *w = &c->work;
    uint32_t *words = words_of(w->g, lat_cuda_g_bytes(c));
    card mine, *all = (card *)lat_alloc((size_t)comm->size, sizeof(card), "what the ranks say");
    memset(&mine, 0, sizeof mine);
    w->heard = words;
    w->rim_arrived = words + 2;
    mine.words = lat_cuda_g_bytes(c);
    mine.groups = w->groups;
    mine.ghost[1] = w->from + w->own;
    if (!all || lat_cuda_failed(cudaMemset(words, 0, LAT_CUDA_WORDS * sizeof *words), "setting words")
        || lat_cuda_failed(cudaDeviceSynchronize(), "setting words"))
        return -1;
    cudaError_t e = cudaIpcGetMemHandle(&mine.handle, w->g);
    mine.fails = e != cudaSuccess;
    if (comm->gather(comm, &mine, sizeof mine, all))
        return -1;
    const int below = (comm->rank + comm->size - 1) % comm->size, above = (comm->rank + 1) % comm->size;
    if (e == cudaSuccess)
        e = map_neighbours(c, all + below, all + above, below == above);
    free(all);
    cudaGetLastError(); /* what failed has been seen */
    if (e != cudaSuccess && lat_gpu_opts.transport == LAT_TRANSPORT_PEER)
        return lat_fail("--transport peer: GPU %d cannot reach its neighbours' memory: %s", lat_cuda_number(), cudaGetErrorString(e));
    double bad = e != cudaSuccess;
    return comm->max(comm, &bad, 1) ? -1 : bad == 0;
}

/* How rims will travel. */
int lat_cuda_meet_neighbours(gpu *c)
{
    const lat_comm *comm = c->dev.comm;
    const int wish = lat_gpu_opts.transport, one_host = comm->host_size == comm->size;
    int peers = 0;
    if (wish == LAT_TRANSPORT_PEER && !one_host)
        return lat_fail_usage("--transport peer: expected all %d ranks on one host, found %d on this one", comm->size, comm->host_size);
    if ((wish == LAT_TRANSPORT_PEER || wish == LAT_TRANSPORT_AUTO) && one_host && (peers = try_peers(c)) < 0)
        return -1;
    if (wish == LAT_TRANSPORT_CUDA_AWARE && !mpi_is_aware())
        return lat_fail_usage("--transport cuda-aware: this MPI does not say that it is");
    c->transport = peers ? LAT_TRANSPORT_PEER
        : wish != LAT_TRANSPORT_STAGED && mpi_is_aware() ? LAT_TRANSPORT_CUDA_AWARE : LAT_TRANSPORT_STAGED;
    c->work.peer = peers;
    c->box_units = peers ? 1 : c->units; /* those of a copy that is set go one by one */
    const size_t bytes = 2 * rim_bytes(c) * (size_t)c->box_units;
    for (int i = 0; i < 2; i++)
        if (lat_cuda_room(&c->box[i], bytes, "rims") || lat_cuda_failed(cudaMallocHost(&c->box_host[i], bytes), "pinning memory"))
            return -1;
    return lat_cuda_failed(cudaStreamCreateWithFlags(&c->travel, cudaStreamNonBlocking), "making a stream")
        || lat_cuda_failed(cudaEventCreateWithFlags(&c->packed, cudaEventDisableTiming), "making an event")
        || lat_cuda_failed(cudaEventCreateWithFlags(&c->arrived_rim, cudaEventDisableTiming), "making an event") ? -1 : 0;
}

/* Nobody's memory goes while another one has it mapped. */
int lat_cuda_leave_neighbours(gpu *c)
{
    const lat_comm *comm = c->dev.comm;
    if (c->transport != LAT_TRANSPORT_PEER)
        return 0;
    if (comm->barrier(comm))
        return -1;
    for (int side = 0; side < 2; side++)
        if (c->mapped[side] && (side == 0 || c->mapped[1] != c->mapped[0]))
            cudaIpcCloseMemHandle(c->mapped[side]);
    return comm->barrier(comm);
}
