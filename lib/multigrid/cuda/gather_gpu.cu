/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_gpu.cu: what each rank has computed of a coarse level, to all of them, so that coarse
 * levels are whole on each GPU.
 *
 * Calls take one half of the window and the other in turn. Nobody writes to a half that is still
 * read: a rank is at call k + 2 when all others have sent k + 1, which they do when they have done
 * with k. */
#include "multigrid/cuda/cuda_multigrid.cuh"

#include <stdlib.h>

static const int THREADS = 256;

enum { FLAGS = LAT_CUDA_WINDOW_RANKS * sizeof(uint32_t) };

static int failed(cudaError_t e) { return lat_cuda_failed(e, "what ranks give each other"); }

/* ---- memory ---------------------------------------------------------------------------------- */

int lat_mg_gather_open(const lat_coarse *c, lat_mg_gather *g)
{
    const int ranks = c->comm->size;
    g->comm = c->comm;
    g->dev = c->dev;
    g->part = (size_t)(c->sites.to[1] - c->sites.from[1]) * (size_t)c->rows * sizeof(lat_eight);
    if (lat_cuda_window_open(c->dev, FLAGS + 2 * g->part * (size_t)ranks, "vectors of all ranks",
                             &g->window))
        return -1;
    if (g->window.direct)
        return 0;
    return lat_rc(failed(cudaMallocHost((void **)&g->mine, g->part))
                  || failed(cudaMallocHost((void **)&g->all, g->part * (size_t)ranks)));
}

void lat_mg_gather_close(lat_mg_gather *g)
{
    lat_cuda_window_close(&g->window);
    cudaFreeHost(g->mine);
    cudaFreeHost(g->all);
}

/* ---- GPUs that reach each other's memory ------------------------------------------------------
 */

typedef struct push_args {
    const uint4 *from;
    size_t units, to; /* of 16 bytes; bytes from the beginning of windows */
    char *window[LAT_CUDA_WINDOW_RANKS];
    int rank, ranks;
    uint32_t call;
} push_args;

/* To the window of each other rank, which is blockIdx.y. */
static __global__ void push(const __grid_constant__ push_args a)
{
    const int other = ((int)blockIdx.y + 1 + a.rank) % a.ranks;
    uint4 *const to = (uint4 *)(a.window[other] + a.to);
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.units;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = a.from[i];
    __threadfence_system();
}

/* Thread k: tells rank k that it is there, and waits for what rank k sends. */
static __global__ void meet(const __grid_constant__ push_args a)
{
    const int k = (int)threadIdx.x;
    if (k == a.rank || k >= a.ranks)
        return;
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"((uint32_t *)a.window[k] + a.rank),
                 "r"(a.call)
                 : "memory");
    lat_cuda_wait_flag((const uint32_t *)a.window[a.rank] + k, a.call);
}

static void start_push(lat_mg_gather *g, const char *mine, size_t bytes, size_t half)
{
    push_args a = {};
    a.from = (const uint4 *)mine;
    a.units = bytes / sizeof(uint4);
    a.rank = g->comm->rank;
    a.ranks = g->comm->size;
    a.to = half + (size_t)a.rank * g->part;
    a.call = g->calls;
    for (int k = 0; k < a.ranks; k++)
        a.window[k] = g->window.of[k];
    const unsigned blocks = lat_cuda_blocks(a.units, THREADS), most = 256;
    lat_mg_start(lat_mg_stream(g->dev), 0, push,
                 dim3(blocks < most ? blocks : most, (unsigned)a.ranks - 1), THREADS, a);
    lat_mg_start(lat_mg_stream(g->dev), 0, meet, 1, 32, a);
}

/* ---- others -----------------------------------------------------------------------------------
 */

/* Through the memory of the hosts. */
static int stage(lat_mg_gather *g, const char *mine, size_t bytes, char *to)
{
    if (lat_mg_gpu_fetch(g->dev, g->mine, mine, bytes)
        || g->comm->gather(g->comm, g->mine, bytes, g->all))
        return -1;
    for (int k = 0; k < g->comm->size; k++)
        if (lat_mg_gpu_send(g->dev, to + (size_t)k * g->part, g->all + (size_t)k * bytes, bytes))
            return -1;
    return 0;
}

int lat_mg_gather_run(lat_mg_gather *g, const void *mine, size_t bytes, void *to, int only)
{
    const cudaStream_t stream = lat_mg_stream(g->dev);
    for (size_t at = 0; at < bytes; at += g->part) {
        const size_t some = bytes - at < g->part ? bytes - at : g->part,
                     half = FLAGS + (++g->calls % 2) * g->part * (size_t)g->comm->size;
        if (g->window.direct)
            start_push(g, (const char *)mine + at, some, half);
        else if (stage(g, (const char *)mine + at, some, g->window.mine + half))
            return -1;
        for (int k = 0; k < g->comm->size; k++)
            if (k != g->comm->rank && (only == LAT_MG_OF_ALL || only == k)
                && failed(cudaMemcpyAsync((char *)to + (only == k ? 0 : (size_t)k * bytes) + at,
                                          g->window.mine + half + (size_t)k * g->part, some,
                                          cudaMemcpyDeviceToDevice, stream)))
                return -1;
    }
    return lat_mg_launched();
}

int lat_mg_gather_sites(const lat_coarse *c, size_t site, void *v)
{
    for (int parity = 0; parity < 2 && c->ranks; parity++) {
        const size_t bytes = (size_t)(c->sites.to[parity] - c->sites.from[parity]) * site;
        char *const first = (char *)v + (parity ? (size_t)c->sites.odd : 0) * site;
        if (lat_mg_gather_run(&lat_mg_gpu_of(c)->gather, first + (size_t)c->comm->rank * bytes,
                              bytes, first, LAT_MG_OF_ALL))
            return -1;
    }
    return 0;
}

int lat_mg_gpu_gather(const lat_coarse *c, lat_eight *v)
{
    return lat_mg_gather_sites(c, (size_t)c->rows * sizeof *v, v);
}
