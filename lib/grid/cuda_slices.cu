/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_slices.cu: ghosts and lines of vectors whose slices lie one after the other. */
#include "cuda_slices.cuh"

#include <string.h>
#include "cuda_halo.cuh"
extern "C" {
#include "base/error.h"
}

static cudaStream_t stream_of(const lat_cuda_window *w)
{
    return lat_cuda_device_of(w->dev)->stream;
}

/* Memory of the host where windows are not mapped. */
static int stage(const lat_cuda_window *w, size_t bytes, char **staged)
{
    if (w->direct || !bytes)
        return 0;
    return lat_cuda_failed(cudaMallocHost((void **)staged, bytes), "pinning memory");
}

/* What the device has been given is done, on all ranks. */
static int meet(const lat_cuda_window *w, cudaStream_t stream, const char *what)
{
    return lat_cuda_failed(cudaStreamSynchronize(stream), what)
                   || w->dev->comm->barrier(w->dev->comm)
               ? -1
               : 0;
}

/* ---- ghosts ---------------------------------------------------------------------------------- */

static const char faces[] = "faces of slices";

int lat_cuda_ghosts_open(const lat_device *dev, int slices, size_t bytes, const char *what,
                         lat_cuda_ghosts *g)
{
    memset(g, 0, sizeof *g);
    g->bytes = bytes;
    g->own = (size_t)slices * bytes;
    if (lat_cuda_window_open(dev, 2 * bytes, what, &g->window))
        return -1;
    const int rc = stage(&g->window, 4 * bytes, &g->staged)
                   || lat_cuda_failed(cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking),
                                      faces)
                   || lat_cuda_failed(cudaEventCreateWithFlags(&g->event, cudaEventDisableTiming),
                                      faces);
    return lat_agree(dev->comm, rc ? -1 : 0);
}

void lat_cuda_ghosts_close(lat_cuda_ghosts *g)
{
    lat_cuda_window_close(&g->window);
    cudaFreeHost(g->staged);
    if (g->event)
        cudaEventDestroy(g->event);
    if (g->stream)
        cudaStreamDestroy(g->stream);
}

int lat_cuda_ghosts_begin(lat_cuda_ghosts *g, void *vector)
{
    const char *const first = (const char *)vector;
    const lat_comm *comm = g->window.dev->comm;
    const int below = (comm->rank + comm->size - 1) % comm->size,
              above = (comm->rank + 1) % comm->size;
    const bool direct = g->window.direct;
    g->ghosts = (char *)vector + g->own;
    cudaError_t e = cudaEventRecord(g->event, stream_of(&g->window));
    e = e ? e : cudaStreamWaitEvent(g->stream, g->event, 0);
    e = e ? e
          : cudaMemcpyAsync(direct ? g->window.of[below] : g->staged, first, g->bytes,
                            cudaMemcpyDefault, g->stream);
    e = e ? e
          : cudaMemcpyAsync((direct ? g->window.of[above] : g->staged) + g->bytes,
                            g->ghosts - g->bytes, g->bytes, cudaMemcpyDefault, g->stream);
    return lat_cuda_failed(e, faces);
}

int lat_cuda_ghosts_finish(lat_cuda_ghosts *g)
{
    const bool direct = g->window.direct;
    char *const in = g->staged + 2 * g->bytes; /* from below, from above */
    if (direct ? meet(&g->window, g->stream, faces)
               : lat_cuda_failed(cudaStreamSynchronize(g->stream), faces)
                     || lat_cuda_exchange(g->window.dev->comm, g->staged, in, g->bytes))
        return -1;
    cudaError_t e = cudaMemcpyAsync(g->ghosts, direct ? g->window.mine : in + g->bytes, g->bytes,
                                    cudaMemcpyDefault, g->stream);
    e = e ? e
          : cudaMemcpyAsync(g->ghosts + g->bytes, direct ? g->window.mine + g->bytes : in, g->bytes,
                            cudaMemcpyDefault, g->stream);
    e = e ? e : cudaEventRecord(g->event, g->stream);
    return lat_cuda_failed(e ? e : cudaStreamWaitEvent(stream_of(&g->window), g->event, 0), faces);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static const char lines[] = "lines of a transform";

/* The sites of a slice whose lines a rank has, and its slices. */
static lat_slab share_of(const lat_cuda_lines *l, int rank)
{
    return lat_slab_of(l->window.dev->comm, rank, l->sites);
}
static lat_slab own_of(const lat_cuda_lines *l, int rank)
{
    return lat_slab_of(l->window.dev->comm, rank, l->slices);
}

int lat_cuda_lines_open(const lat_device *dev, int slices, int sites, size_t bytes,
                        const char *what, lat_cuda_lines *l)
{
    memset(l, 0, sizeof *l);
    l->slices = slices;
    l->sites = sites;
    l->bytes = bytes;
    l->own = lat_slab_of(dev->comm, dev->comm->rank, slices);
    l->share = lat_slab_of(dev->comm, dev->comm->rank, sites);
    if (lat_cuda_window_open(dev, (size_t)slices * (size_t)l->share.count * bytes, what,
                             &l->window))
        return -1;
    const size_t most = (size_t)(sites / dev->comm->size + 1) * bytes;
    return lat_agree(dev->comm, stage(&l->window, 2 * most, &l->staged));
}

void lat_cuda_lines_close(lat_cuda_lines *l)
{
    lat_cuda_window_close(&l->window);
    cudaFreeHost(l->staged);
}

/* Between the sites of `part` in the slices of the vector and `there`, [slice][part]. */
static cudaError_t copy_part(const lat_cuda_lines *l, char *vector, lat_slab part, char *there,
                             bool back)
{
    const size_t width = (size_t)part.count * l->bytes, pitch = (size_t)l->sites * l->bytes;
    char *const here = vector + (size_t)part.first * l->bytes;
    if (!width || !l->own.count)
        return cudaSuccess;
    return cudaMemcpy2DAsync(back ? here : there, back ? pitch : width, back ? there : here,
                             back ? width : pitch, width, (size_t)l->own.count, cudaMemcpyDefault,
                             stream_of(&l->window));
}

/* All windows are mapped: from and to each of them, the next rank's first. */
static int copy_direct(const lat_cuda_lines *l, char *vector, bool back)
{
    const lat_comm *comm = l->window.dev->comm;
    cudaError_t e = cudaSuccess;
    for (int i = 1; i <= comm->size && !e; i++) {
        const int rank = (comm->rank + i) % comm->size;
        const lat_slab part = share_of(l, rank);
        e = copy_part(l, vector, part,
                      l->window.of[rank] + (size_t)l->own.first * (size_t)part.count * l->bytes,
                      back);
    }
    return lat_cuda_failed(e, lines);
}

static int to_host(const lat_cuda_lines *l, char *host, const char *from, size_t bytes)
{
    const cudaError_t e = cudaMemcpyAsync(host, from, bytes, cudaMemcpyDefault,
                                          stream_of(&l->window));
    return lat_cuda_failed(e ? e : cudaStreamSynchronize(stream_of(&l->window)), lines);
}

/* With one other rank, slice by slice: what this one has in slices and that one wants in lines. */
static int trade(const lat_cuda_lines *l, char *vector, int other, bool back)
{
    const lat_comm *comm = l->window.dev->comm;
    const lat_slab part = share_of(l, other), theirs = own_of(l, other);
    const size_t in_slices = (size_t)part.count * l->bytes,
                 in_lines = (size_t)l->share.count * l->bytes;
    const int out_rows = back ? theirs.count : l->own.count,
              in_rows = back ? l->own.count : theirs.count;
    char *const out = l->staged, *const in = l->staged
                                             + (size_t)(l->sites / comm->size + 1) * l->bytes;
    for (int row = 0; row < out_rows || row < in_rows; row++) {
        char *const slices = vector
                             + ((size_t)row * (size_t)l->sites + (size_t)part.first) * l->bytes,
                    *const here = l->window.mine + (size_t)(theirs.first + row) * in_lines,
                    *const from = back ? here : slices, *const to = back ? slices : here;
        const size_t out_bytes = row < out_rows ? (back ? in_lines : in_slices) : 0,
                     in_bytes = row < in_rows ? (back ? in_slices : in_lines) : 0;
        if (out_bytes && to_host(l, out, from, out_bytes))
            return -1;
        const bool first = comm->rank < other;
        if ((first && out_bytes && comm->send(comm, other, out, out_bytes))
            || (in_bytes && comm->receive(comm, other, in, in_bytes))
            || (!first && out_bytes && comm->send(comm, other, out, out_bytes)))
            return -1;
        /* it is read when the next one is fetched, which waits */
        if (in_bytes
            && (lat_cuda_failed(
                    cudaMemcpyAsync(to, in, in_bytes, cudaMemcpyDefault, stream_of(&l->window)),
                    lines)
                || lat_cuda_failed(cudaStreamSynchronize(stream_of(&l->window)), lines)))
            return -1;
    }
    return 0;
}

/* In rounds in which every rank has one partner, or itself. */
static int copy_staged(const lat_cuda_lines *l, char *vector, bool back)
{
    const lat_comm *comm = l->window.dev->comm;
    for (int round = 0; round < comm->size; round++) {
        const int other = (round - comm->rank + comm->size) % comm->size;
        if (other != comm->rank) {
            if (trade(l, vector, other, back))
                return -1;
            continue;
        }
        char *const there = l->window.mine
                            + (size_t)l->own.first * (size_t)l->share.count * l->bytes;
        if (lat_cuda_failed(copy_part(l, vector, l->share, there, back), lines))
            return -1;
    }
    return 0;
}

int lat_cuda_lines_to(lat_cuda_lines *l, void *vector)
{
    if (!l->window.direct)
        return copy_staged(l, (char *)vector, false);
    return copy_direct(l, (char *)vector, false) || meet(&l->window, stream_of(&l->window), lines)
               ? -1
               : 0;
}

/* Nobody writes to a window that is still read. */
int lat_cuda_lines_from(lat_cuda_lines *l, void *vector)
{
    const cudaStream_t stream = stream_of(&l->window);
    if (!l->window.direct)
        return copy_staged(l, (char *)vector, true);
    return meet(&l->window, stream, lines) || copy_direct(l, (char *)vector, true)
                   || meet(&l->window, stream, lines)
               ? -1
               : 0;
}
