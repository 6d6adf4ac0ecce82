/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_gpu.cu: configurations on NVIDIA GPUs, one a rank, a thread a link (generate_cuda.cuh
 * says how they lie there).
 *
 * All work goes to one stream, in order. An update of one direction and parity reads none of the
 * links it writes, and sums are taken over fixed parts in a fixed order: results on one kind of GPU
 * are the same bit for bit. A rank has a slab of time slices between two ghosts; links do not
 * depend on the number of ranks, sums of theirs do, by rounding. */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "grid/cuda_halo.cuh"
#include "generate_cuda.cuh"
extern "C" {
#include "base/error.h"
#include "generate.h"
#define DECLARE(n, of) \
    extern const lat_cuda_link_ops lat_cuda_link_ops_f##n, lat_cuda_link_ops_d##n;
LAT_EACH_GROUP(LAT_GPU_LINKS_MOST, DECLARE, )
#undef DECLARE
extern const lat_generate lat_generate_gpu;
}

#define ENTRY(n, of) &lat_cuda_link_ops_f##n, &lat_cuda_link_ops_d##n,
static const lat_cuda_link_ops *const all_ops[] = {LAT_EACH_GROUP(LAT_GPU_LINKS_MOST, ENTRY, )};
#undef ENTRY
extern "C" const lat_cuda_link_ops lat_cuda_link_ops_fall3,
    lat_cuda_link_ops_dall3; /* SU(3) with all rows */

typedef struct gpu {
    lat_generator gen;
    const lat_cuda_link_ops *ops;
    lat_action action;
    lat_geometry geom;       /* of the lattice */
    lat_slab slab;           /* the part of the last axis that is here */
    bool cut;                /* there are other ranks, and ghosts */
    lat_cuda_links work;     /* axes in order */
    lat_cuda_links along[4]; /* the same for an update of each direction */
    cudaStream_t stream;
    lat_cuda_halo rims;
    uint32_t number; /* steps so far */
    lat_cuda_staging ferry;
    double *partial; /* [LAT_CUDA_PARTIALS][2] on the host, where the device writes them */
    char words[64];
} gpu;

static void gpu_close(lat_generator *gen)
{
    gpu *c = (gpu *)gen;
    if (!c)
        return;
    if (c->cut && *lat_error())
        return; /* neighbours may still be at work in what would go; the process is about to end */
    if (c->stream)
        cudaStreamSynchronize(c->stream);
    if (lat_cuda_halo_disconnect(&c->rims))
        return;
    lat_cuda_staging_close(&c->ferry);
    cudaFree(c->work.u);
    cudaFreeHost(c->partial);
    if (c->stream)
        cudaStreamDestroy(c->stream);
    free(c);
}

/* ---- fields to and fro ---- */

typedef struct {
    const gpu *c;
    int real;
} passenger;

static cudaError_t place_in(void *context, void *raw, uint64_t first, uint64_t count)
{
    const passenger *p = (const passenger *)context;
    return p->c->ops->load(&p->c->work, raw, p->real, first, count, p->c->stream);
}

static cudaError_t place_out(void *context, void *raw, uint64_t first, uint64_t count)
{
    const passenger *p = (const passenger *)context;
    return p->c->ops->get(&p->c->work, raw, p->real, first, count, p->c->stream);
}

/* Links here before the own ones: those of the ghost below. */
static size_t lead(const gpu *c, const lat_field *u)
{
    return c->cut ? lat_slice_matrices(&u->head) : 0;
}

/* The own links and the ghosts: in the field the one above follows the own slices, and then comes
 * the one below. */
static int fill(gpu *c, const lat_field *u)
{
    passenger p = {c, u->head.real};
    const size_t slice = lead(c, u), most = lat_field_matrices(u) + slice;
    return lat_cuda_upload(&c->ferry, u, 0, most, slice, place_in, &p)
                   || lat_cuda_upload(&c->ferry, u, most, slice, 0, place_in, &p)
               ? -1
               : 0;
}

static int gpu_get(lat_generator *gen, lat_field *u)
{
    gpu *c = (gpu *)gen;
    passenger p = {c, u->head.real};
    return lat_cuda_download(&c->ferry, u, lead(c, u), place_out, &p) || lat_field_exchange(u) ? -1
                                                                                               : 0;
}

/* ---- opening ---- */

/* Its slab, or why not. */
static int take_slab(gpu *c)
{
    char text[64];
    const lat_comm *comm = c->gen.comm;
    const int all = c->geom.dims[c->geom.nd - 1];
    c->slab = lat_slab_of(comm, comm->rank, all);
    c->cut = comm->size > 1;
    if (all < 2 * comm->size && c->cut)
        return lat_fail_usage("lattice %s: expected at most %d ranks, two slices each, found %d",
                              lat_dims_text(&c->geom, text), all / 2, comm->size);
    if (c->geom.nd == 1 && c->cut)
        return lat_fail_usage("lattice %s: GPUs cannot share one dimension, found %d ranks",
                              lat_dims_text(&c->geom, text), comm->size);
    return 0;
}

static int describe(gpu *c)
{
    char text[64];
    lat_cuda_links *w = &c->work;
    uint64_t site = 1, half = 1;
    if (take_slab(c))
        return -1;
    w->nd = c->geom.nd;
    for (int a = 0; a < 4; a++) {
        const bool last = a == w->nd - 1;
        const int whole = a < w->nd ? c->geom.dims[a] : 1,
                  extent = last ? c->slab.count + 2 * c->cut : whole;
        lat_cuda_axis *axis = w->axis + a;
        if (a < w->nd && whole % 2)
            return lat_fail("lattice %s: extent %d is odd; even and odd sites need even extents",
                            lat_dims_text(&c->geom, text), whole);
        axis->dir = a;
        w->dims[a] = (uint32_t)extent;
        axis->extent = (uint32_t)(a == 0 ? extent / 2 : extent);
        axis->stride = (uint32_t)half;
        axis->site_step = site;
        if (last)
            w->site_from = ((int64_t)c->slab.first - c->cut) * (int64_t)site;
        site *= (uint64_t)whole;
        half *= axis->extent;
        if (half >= (UINT64_C(1) << 31) - LAT_CUDA_GROUP)
            return lat_fail("lattice %s: too large for one GPU", lat_dims_text(&c->geom, text));
        axis->by_stride = lat_cuda_divide_by(axis->stride);
        axis->by_extent = lat_cuda_divide_by(axis->extent);
    }
    w->half = (uint32_t)half;
    w->rim = c->cut ? w->axis[w->nd - 1].stride : 0;
    w->from = w->rim;
    w->own = w->half - 2 * w->rim;
    w->odd = c->cut && c->slab.first % 2 == 0; /* site 0 here is one time before the first */
    w->groups = (w->half + LAT_CUDA_GROUP - 1) / LAT_CUDA_GROUP;
    return 0;
}

/* Each direction in turn is axis 0. */
static void turn(gpu *c)
{
    const int nd = c->work.nd;
    for (int mu = 0; mu < nd; mu++) {
        lat_cuda_links *w = c->along + mu;
        *w = c->work;
        w->axis[0] = c->work.axis[mu];
        for (int a = 1; a < 4; a++) {
            w->axis[a] = c->work.axis[a <= mu ? a - 1 : a];
            w->axis[a].weight = mu == nd - 1 || w->axis[a].dir == nd - 1 ? c->action.xi
                                                                         : 1 / c->action.xi;
        }
    }
}

static size_t link_bytes(const gpu *c)
{
    return 2 * (size_t)c->work.groups * LAT_CUDA_GROUP * (size_t)c->work.nd * c->ops->matrix;
}

static int allocate(gpu *c)
{
    char text[64], what[96];
    const size_t bytes = link_bytes(c);
    snprintf(what, sizeof what, "lattice %s of SU(%d) in %s", lat_dims_text(&c->geom, text),
             c->ops->nc, c->ops->real == 4 ? "single" : "double");
    if (lat_cuda_check_memory((double)bytes + (double)lat_cuda_staging_bytes(), what)
        || lat_cuda_failed(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking),
                           "making a stream")
        || lat_cuda_malloc(&c->work.u, bytes + LAT_CUDA_FLAGS * sizeof(uint32_t), "the links")
        || lat_cuda_failed(
            cudaMallocHost((void **)&c->partial, 2 * LAT_CUDA_PARTIALS * sizeof *c->partial),
            "pinning memory"))
        return -1;
    return lat_cuda_staging_open(&c->ferry, c->stream);
}

static size_t rim_bytes(const gpu *c) { return (size_t)c->work.rim * c->ops->matrix; }

/* How rims will travel; and nobody updates, and writes our ghosts, before they are filled. */
static int meet(gpu *c)
{
    lat_cuda_links *w = &c->work;
    const lat_cuda_window shore = {w->u, link_bytes(c), w->groups, {0, w->from + w->own}};
    if (lat_cuda_halo_connect(&c->rims, c->gen.comm, &shore, w->side)
        || (!lat_cuda_halo_is_peer(&c->rims) && lat_cuda_halo_buffers(&c->rims, rim_bytes(c))))
        return -1;
    w->peer = lat_cuda_halo_is_peer(&c->rims);
    w->heard = lat_cuda_flags(&shore);
    return lat_cuda_halo_ready(&c->rims, c->stream);
}

static lat_generator *gpu_open(const lat_field *u, lat_real real, const lat_action *action,
                               const lat_comm *comm)
{
    const int nc = u->head.nc;
    if (lat_cuda_check_group(nc, lat_generate_gpu.groups))
        return NULL;
    gpu *c = (gpu *)calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory: a generator");
        return NULL;
    }
    c->gen.backend = &lat_generate_gpu;
    c->gen.comm = comm;
    c->ops = all_ops[2 * (nc - 2) + (real == LAT_F64)];
    if (lat_generate_all_rows && nc == 3)
        c->ops = real == LAT_F64 ? &lat_cuda_link_ops_dall3 : &lat_cuda_link_ops_fall3;
    c->action = *action;
    c->geom = u->head.geom;
    cudaDeviceProp p = {};
    bool bad = lat_cuda_failed(cudaGetDeviceProperties(&p, lat_cuda_device_number()),
                               "asking what it is");
    c->work.overlap = p.major >= 9;
    bad = bad || describe(c) || allocate(c) || fill(c, u) || (c->cut && meet(c));
    if (bad) {
        gpu_close(&c->gen);
        return NULL;
    }
    turn(c);
    if (c->cut)
        snprintf(c->words, sizeof c->words, "gpu %.30s x %d, %s", p.name, comm->size,
                 lat_cuda_halo_transport(&c->rims));
    else
        snprintf(c->words, sizeof c->words, "gpu %.50s", p.name);
    return &c->gen;
}

static const char *gpu_words(const lat_generator *gen) { return ((const gpu *)gen)->words; }

/* ---- sweeps ---- */

/* An update whose rims go by way of the host while the rest is at work. */
static int update_by_host(gpu *c, const lat_cuda_links *w, lat_cuda_draw *draw, int parity)
{
    draw->part = LAT_CUDA_FACE;
    if (lat_cuda_failed(c->ops->update(w, draw, parity, c->stream), "a sweep")
        || lat_cuda_failed(c->ops->rim(w, parity, c->rims.box[0], 0, c->stream), "packing rims")
        || lat_cuda_halo_begin(&c->rims, c->stream))
        return -1;
    draw->part = LAT_CUDA_INTERIOR;
    return lat_cuda_failed(c->ops->update(w, draw, parity, c->stream), "a sweep")
                   || lat_cuda_halo_finish(&c->rims, rim_bytes(c), c->stream)
                   || lat_cuda_failed(c->ops->rim(w, parity, c->rims.box[1], 1, c->stream),
                                      "unpacking ghosts")
               ? -1
               : 0;
}

static int gpu_sweep(lat_generator *gen, const lat_link_sweep *how, long n)
{
    gpu *c = (gpu *)gen;
    const bool by_host = c->cut && !c->work.peer;
    lat_cuda_draw draw = {c->action.beta / c->ops->nc,
                          how->update,
                          how->seed,
                          how->config,
                          how->step,
                          LAT_CUDA_ALL,
                          0,
                          0,
                          0,
                          0};
    for (long i = 0; i < n; i++, draw.step++)
        for (int mu = 0; mu < c->work.nd; mu++)
            for (int parity = 0; parity < 2; parity++) {
                draw.number = ++c->number;
                if (by_host ? update_by_host(c, c->along + mu, &draw, parity)
                            : lat_cuda_failed(
                                c->ops->update(c->along + mu, &draw, parity, c->stream), "a sweep"))
                    return -1;
            }
    if (!c->ops->reunit)
        return 0;
    draw.number = ++c->number;
    return lat_cuda_failed(c->ops->reunit(&c->work, &draw, c->stream), "a sweep");
}

static int gpu_plaquette(lat_generator *gen, double *spatial, double *temporal)
{
    gpu *c = (gpu *)gen;
    const int nd = c->work.nd;
    const double traces = (double)lat_volume(&c->geom) * c->ops->nc;
    double sum[2] = {0, 0};
    if (lat_cuda_failed(c->ops->plaquette(&c->work, c->partial, c->number, c->stream), "summing up")
        || lat_cuda_failed(cudaStreamSynchronize(c->stream), "sweeps"))
        return -1;
    for (int i = 0; i < 2 * LAT_CUDA_PARTIALS; i++)
        sum[i % 2] += c->partial[i];
    if (gen->comm->sum(gen->comm, sum,
                       2)) /* and nobody goes on before all have read their ghosts */
        return -1;
    *spatial = nd > 2 ? sum[0] / (traces * ((nd - 1) * (nd - 2) / 2)) : NAN;
    *temporal = nd > 1 ? sum[1] / (traces * (nd - 1)) : NAN;
    return 0;
}

const lat_generate lat_generate_gpu = {
    "gpu", gpu_open, gpu_close, gpu_words, gpu_sweep, gpu_plaquette, gpu_get, LAT_GPU_LINKS_MOST,
};
