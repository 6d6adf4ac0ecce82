/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_window.cu: device memory that all ranks of a host map. */
#include "cuda_window.cuh"

#include <stdlib.h>
#include <string.h>
#include "cuda_carry.cuh"

/* What a rank says of its memory. */
typedef struct description {
    cudaIpcMemHandle_t handle;
    int host;
    char gpu[16]; /* its address on the bus */
    int fails;
} description;

/* What a rank asks for, and finds. */
typedef struct mapping {
    const lat_device *dev;
    bool all; /* ranks are wanted, or the two neighbours */
    char **of;
    description *there; /* [ranks] */
    char *reached;      /* [ranks][ranks]: has the first mapped the second? */
    cudaError_t error;
} mapping;

static bool wanted(const mapping *m, int a, int b)
{
    const int size = m->dev->comm->size, d = (b - a + size) % size;
    return d && (m->all || d == 1 || d == size - 1);
}

/* Two ranks on one GPU run in turns: each would wait through the other's for what it sends. */
static bool shares_gpu(const mapping *m, int rank)
{
    const description *there = m->there, *my = there + rank;
    for (int r = 0; r < m->dev->comm->size; r++)
        if (r != rank && there[r].host == my->host
            && !memcmp(there[r].gpu, my->gpu, sizeof my->gpu))
            return true;
    return false;
}

static cudaError_t map_rank(const mapping *m, int rank)
{
    const int me = m->dev->comm->rank;
    if (m->there[me].host != m->there[rank].host
        || (m->all && m->dev->options.transport == LAT_TRANSPORT_AUTO
            && (shares_gpu(m, me) || shares_gpu(m, rank))))
        return cudaErrorPeerAccessUnsupported;
    if (m->there[me].fails || m->there[rank].fails)
        return cudaErrorInvalidResourceHandle;
    return cudaIpcOpenMemHandle((void **)&m->of[rank], m->there[rank].handle,
                                cudaIpcMemLazyEnablePeerAccess);
}

static void unmap_rank(char **of, int rank)
{
    if (of[rank])
        cudaIpcCloseMemHandle(of[rank]);
    of[rank] = NULL;
}

/* Pairs stay of which both have mapped each other: LAT_CUDA_MAP_SOME and so on. */
static int keep_pairs(const mapping *m)
{
    const int size = m->dev->comm->size, me = m->dev->comm->rank;
    bool some = false, every = true;
    for (int a = 0; a < size; a++)
        for (int b = 0; b < a; b++) {
            const bool both = m->reached[a * size + b] && m->reached[b * size + a];
            some |= both;
            every &= both || !wanted(m, a, b);
            if (!both && (a == me || b == me))
                unmap_rank(m->of, a == me ? b : a);
        }
    return every ? LAT_CUDA_MAP_ALL : some ? LAT_CUDA_MAP_SOME : LAT_CUDA_MAP_NONE;
}

static int map_ranks(mapping *m, void *mine)
{
    const lat_comm *comm = m->dev->comm;
    const size_t size = (size_t)comm->size;
    char *const my = m->reached + size * size; /* its row */
    description own;
    memset(&own, 0, sizeof own);
    m->of[comm->rank] = (char *)mine;
    own.host = comm->host;
    m->error = cudaIpcGetMemHandle(&own.handle, mine);
    if (m->error == cudaSuccess)
        m->error = cudaDeviceGetPCIBusId(own.gpu, sizeof own.gpu, lat_cuda_device_number());
    own.fails = m->error != cudaSuccess;
    if (comm->gather(comm, &own, sizeof own, m->there))
        return -1;
    for (int r = 0; r < comm->size; r++) {
        if (!wanted(m, comm->rank, r))
            continue;
        const cudaError_t e = map_rank(m, r);
        my[r] = e == cudaSuccess;
        if (e)
            m->error = e;
    }
    cudaGetLastError(); /* what failed has been seen */
    if (comm->gather(comm, my, size, m->reached))
        return -1;
    const int how = keep_pairs(m);
    return how != LAT_CUDA_MAP_ALL && comm->barrier(comm) ? -1 : how;
}

int lat_cuda_map(const lat_device *dev, void *mine, bool all, char **of)
{
    const lat_comm *comm = dev->comm;
    const int wish = dev->options.transport;
    const size_t size = (size_t)comm->size;
    if (wish != LAT_TRANSPORT_AUTO && wish != LAT_TRANSPORT_PEER)
        return LAT_CUDA_MAP_NONE;
    if (wish == LAT_TRANSPORT_PEER && comm->host_size != comm->size)
        return lat_fail_usage(
            "--transport peer: expected all %d ranks on one host, found %d on this one", comm->size,
            comm->host_size);
    mapping m = {dev, all, of, NULL, NULL, cudaSuccess};
    m.there = (description *)lat_alloc(size, sizeof *m.there, "what ranks say of their memory");
    m.reached = (char *)lat_alloc_zero(size + 1, size, "what ranks say of their memory");
    const int how = m.there && m.reached ? map_ranks(&m, mine) : -1;
    free(m.there);
    free(m.reached);
    if (wish != LAT_TRANSPORT_PEER || how < 0 || how == LAT_CUDA_MAP_ALL)
        return how;
    return m.error ? lat_fail("--transport peer: GPU %d cannot reach the memory of %s: %s",
                              lat_cuda_device_number(), all ? "all others" : "its neighbours",
                              cudaGetErrorString(m.error))
                   : lat_fail(LAT_ANOTHER_FAILED);
}

int lat_cuda_unmap(const lat_device *dev, char **of)
{
    const lat_comm *comm = dev->comm;
    if (*lat_error()) /* a kernel may wait for a rank that has failed */
        return -1;
    cudaStreamSynchronize(lat_cuda_device_of(dev)->stream);
    if (comm->barrier(comm))
        return -1;
    for (int r = 0; r < comm->size; r++)
        if (r != comm->rank)
            unmap_rank(of, r);
    return comm->barrier(comm);
}

int lat_cuda_window_open(const lat_device *dev, size_t bytes, const char *what, lat_cuda_window *w)
{
    const lat_comm *comm = dev->comm;
    memset(w, 0, sizeof *w);
    w->dev = dev;
    w->of = (char **)lat_alloc_zero((size_t)comm->size, sizeof *w->of, what);
    int rc = lat_rc(!w->of || lat_cuda_malloc_shared((void **)&w->mine, bytes, what)
                    || lat_cuda_failed(cudaMemset(w->mine, 0, bytes), what)
                    || lat_cuda_failed(cudaDeviceSynchronize(), what));
    if (lat_agree(comm, rc))
        return -1;
    rc = comm->size > 1 ? lat_cuda_map(dev, w->mine, true, w->of) : LAT_CUDA_MAP_NONE;
    w->mapped = rc > LAT_CUDA_MAP_NONE;
    w->direct = rc == LAT_CUDA_MAP_ALL && comm->size <= LAT_CUDA_WINDOW_RANKS;
    return rc < 0 ? -1 : 0;
}

void lat_cuda_window_close(lat_cuda_window *w)
{
    if (w->mapped && lat_cuda_unmap(w->dev, w->of))
        return;
    lat_cuda_free_shared(w->mine);
    free(w->of);
    memset(w, 0, sizeof *w);
}
