/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_gpu.cu: what each rank has computed of a coarse level, to all of them, so that coarse
 * levels are whole on each GPU.
 *
 * Calls take one half of the window and the other in turn. Nobody writes to a half that is still
 * read: a rank is at call k + 2 when all others have sent k + 1, which they do when they have done
 * with k. */
#include "multigrid/cuda/cuda_multigrid.cuh"

#include <stdlib.h>
#include "grid/cuda_carry.cuh"

static const int THREADS = 256;

enum { FLAGS = LAT_CUDA_WINDOW_RANKS * sizeof(uint32_t) };

static int failed(cudaError_t e) { return lat_cuda_failed(e, "what ranks give each other"); }

/* ---- memory ---------------------------------------------------------------------------------- */

static int32_t *upload_sites(const lat_coarse *c)
{
    int32_t *const list = lat_mg_sites_by_rank(&c->sites, c->comm->size);
    void *there = NULL;
    if (list)
        there = lat_mg_upload(c->dev, list, (size_t)c->sites.count * sizeof *list,
                              "a coarse lattice");
    free(list);
    return (int32_t *)there;
}

int lat_mg_gather_open(const lat_coarse *c, lat_mg_gather *g)
{
    const int ranks = c->comm->size;
    g->comm = c->comm;
    g->dev = c->dev;
    g->own = c->sites.count / ranks; /* ranks divide them */
    g->part = (size_t)g->own * (size_t)c->rows * sizeof(lat_eight);
    if (lat_cuda_window_open(c->dev, FLAGS + 2 * g->part * (size_t)ranks, "vectors of all ranks",
                             &g->window)
        || !(g->site = upload_sites(c)))
        return -1;
    if (g->window.direct || lat_cuda_carrier_has_nccl(lat_cuda_carrier_of(g->dev)))
        return 0;
    return lat_rc(failed(cudaMallocHost((void **)&g->mine, g->part))
                  || failed(cudaMallocHost((void **)&g->all, g->part * (size_t)ranks)));
}

void lat_mg_gather_close(lat_mg_gather *g)
{
    lat_cuda_window_close(&g->window);
    lat_cuda_free(g->site);
    cudaFreeHost(g->mine);
    cudaFreeHost(g->all);
}

/* ---- one exchange ---------------------------------------------------------------------------- */

/* What ranks give each other, in units of 16 bytes: `each` of every site of a rank's blocks, which
 * are `apart` units apart; or, without `site`, `units` side by side. */
typedef struct push_args {
    const uint4 *from;
    const int32_t *site; /* [rank][own] */
    uint32_t units, each, apart, own;
    bool back;         /* at the sites of the rank that gets them; direct windows alone */
    size_t half, part; /* bytes: where this call's parts begin in a window */
    char *mine, *window[LAT_CUDA_WINDOW_RANKS];
    int rank, ranks;
    uint32_t call;
} push_args;

/* Where unit i of what a rank gives to another is. */
DEVICE size_t place_of(const push_args &a, int gives, int gets, uint32_t i)
{
    if (!a.site)
        return i;
    const uint32_t k = i / a.each;
    const int32_t *const site = a.site + (a.back ? gets : gives) * a.own;
    return (size_t)site[k] * a.apart + i - k * a.each;
}

/* To the windows of others, or (own) to that of this rank. */
template <bool OWN> static __global__ void push(const __grid_constant__ push_args a)
{
    const int other = ((int)blockIdx.y + 1 + a.rank) % a.ranks;
    uint4 *const to = (uint4 *)((OWN ? a.mine : a.window[other]) + a.half
                                + (size_t)a.rank * a.part);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < a.units;
         i += gridDim.x * blockDim.x)
        to[i] = a.from[place_of(a, a.rank, other, i)];
    __threadfence_system();
}

/* From this rank's window: what rank `first` and those after it have given. */
static __global__ void take(const __grid_constant__ push_args a, int first, uint4 *to)
{
    const int other = ((int)blockIdx.y + first) % a.ranks;
    const uint4 *const from = (const uint4 *)(a.mine + a.half + (size_t)other * a.part);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < a.units;
         i += gridDim.x * blockDim.x)
        to[place_of(a, other, a.rank, i)] = from[i];
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
    lat_cuda_wait_flag((const uint32_t *)a.mine + k, a.call);
}

static unsigned blocks_of(const push_args *a)
{
    const unsigned blocks = lat_cuda_blocks(a->units, THREADS), most = 256;
    return blocks < most ? blocks : most;
}

/* By NCCL, or through the memory of the hosts, where GPUs do not reach each other. */
static int carry(lat_mg_gather *g, char *parts, size_t bytes)
{
    if (lat_cuda_carrier_has_nccl(lat_cuda_carrier_of(g->dev)))
        return lat_cuda_carry_gather(lat_cuda_carrier_of(g->dev), lat_mg_stream(g->dev), parts,
                                     g->part);
    if (lat_mg_gpu_fetch(g->dev, g->mine, parts + (size_t)g->comm->rank * g->part, bytes)
        || g->comm->gather(g->comm, g->mine, bytes, g->all))
        return -1;
    for (int k = 0; k < g->comm->size; k++)
        if (lat_mg_gpu_send(g->dev, parts + (size_t)k * g->part, g->all + (size_t)k * bytes, bytes))
            return -1;
    return 0;
}

/* What all give is in this rank's window; but its own only where it is carried. */
static int exchange(lat_mg_gather *g, push_args *a)
{
    const cudaStream_t stream = lat_mg_stream(g->dev);
    a->part = g->part;
    a->half = FLAGS + (++g->calls % 2) * g->part * (size_t)g->comm->size;
    a->mine = g->window.mine;
    a->rank = g->comm->rank;
    a->ranks = g->comm->size;
    a->call = g->calls;
    if (!g->window.direct) {
        lat_mg_start(stream, 0, push<true>, blocks_of(a), THREADS, *a);
        return carry(g, a->mine + a->half, a->units * sizeof(uint4));
    }
    for (int k = 0; k < a->ranks; k++)
        a->window[k] = g->window.of[k];
    lat_mg_start(stream, 0, push<false>, dim3(blocks_of(a), (unsigned)a->ranks - 1), THREADS, *a);
    lat_mg_start(stream, 0, meet, 1, 32, *a);
    return 0;
}

/* ---- what is exchanged ----------------------------------------------------------------------- */

int lat_mg_gather_face(lat_mg_gather *g, const void *mine, size_t bytes, void *to, int of)
{
    for (size_t at = 0; at < bytes; at += g->part) {
        const size_t some = bytes - at < g->part ? bytes - at : g->part;
        push_args a = {};
        a.from = (const uint4 *)((const char *)mine + at);
        a.units = (uint32_t)(some / sizeof(uint4));
        if (exchange(g, &a)
            || failed(cudaMemcpyAsync((char *)to + at, a.mine + a.half + (size_t)of * g->part, some,
                                      cudaMemcpyDeviceToDevice, lat_mg_stream(g->dev))))
            return -1;
    }
    return lat_mg_launched();
}

/* The place of a pointer in vectors of sites, and how many units a site has there. */
static push_args of_sites(const lat_coarse *c, const void *from, size_t each, size_t apart)
{
    const lat_mg_gather *const g = &lat_mg_gpu_of(c)->gather;
    push_args a = {};
    a.from = (const uint4 *)from;
    a.site = g->site;
    a.own = (uint32_t)g->own;
    a.each = (uint32_t)(each / sizeof(uint4));
    a.apart = (uint32_t)(apart / sizeof(uint4));
    a.units = a.own * a.each;
    return a;
}

/* Exchanges, and takes to `to` what `givers` ranks from `first` on have given. */
static int exchange_sites(const lat_coarse *c, push_args *a, int first, int givers, void *to)
{
    if (exchange(&lat_mg_gpu_of(c)->gather, a))
        return -1;
    lat_mg_start(lat_mg_stream(c->dev), 0, take, dim3(blocks_of(a), (unsigned)givers), THREADS, *a,
                 first, (uint4 *)to);
    return lat_mg_launched();
}

int lat_mg_gather_sites(const lat_coarse *c, size_t bytes, void *v)
{
    const size_t each = (size_t)c->rows * sizeof(lat_eight);
    for (size_t at = 0; at < bytes && c->ranks; at += each) {
        push_args a = of_sites(c, (char *)v + at, each, bytes);
        if (exchange_sites(c, &a, c->comm->rank + 1, c->comm->size - 1, (char *)v + at))
            return -1;
    }
    return 0;
}

int lat_mg_gpu_gather(const lat_coarse *c, lat_eight *v)
{
    return lat_mg_gather_sites(c, (size_t)c->rows * sizeof *v, v);
}

int lat_mg_gpu_swap(const lat_coarse *c, lat_eight *v)
{
    const size_t site = (size_t)c->rows * sizeof *v, numbers = lat_coarse_numbers(c);
    const int has = c->comm->rank % 2, other = 1 - has;
    push_args a = of_sites(c, v + (size_t)has * numbers, site, site);
    a.back = true;
    return exchange_sites(c, &a, other, 1, v + (size_t)other * numbers);
}
