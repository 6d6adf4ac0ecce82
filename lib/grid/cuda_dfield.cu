/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_dfield.cu: fields on a GPU: memory, host fields in and out, units from rank to rank. */
#include "cuda_dfield.cuh"

#include <stdlib.h>
#include <string.h>
#include "cuda_tuning.h"
extern "C" {
#include "base/threads.h"
}
#include "site/sun.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory of two fields, each of which has one parity alone of [object][parity][..]: the first uses
 * the one half of each object, the other the other half. */
typedef struct lat_pair {
    char *base;
    lat_dfield *user[2];
} lat_pair;

/* Bytes of a parity of an object. */
static size_t half_of(const lat_dfield *f, size_t bytes)
{
    return bytes / (2 * (size_t)f->shape.objects);
}

/* A pair of such fields one half of which is free; NULL: none. */
static lat_pair *find_pair(const lat_dfield *f)
{
    for (const lat_dfield *g = f->grid->fields; g; g = g->next)
        if (g != f && g->pair && g->unit_bytes == f->unit_bytes && g->members == f->members
            && g->shape.objects == f->shape.objects && !(g->pair->user[0] && g->pair->user[1]))
            return g->pair;
    return NULL;
}

static void *take_half(lat_dfield *f, lat_pair *p, size_t bytes)
{
    const int slot = p->user[0] ? 1 : 0, parity = f->shape.half - 1;
    p->user[slot] = f;
    f->pair = p;
    return p->base + (ptrdiff_t)(slot - parity) * (ptrdiff_t)half_of(f, bytes);
}

/* Neighbours reach fields with ghosts. */
static int take(const lat_dfield *f, void **p, size_t bytes, const char *what)
{
    return (f->shape.ghosts ? lat_cuda_malloc_shared : lat_cuda_malloc)(p, bytes, what);
}

static void give_back(const lat_dfield *f, void *p)
{
    (f->shape.ghosts ? lat_cuda_free_shared : lat_cuda_free)(p);
}

void *lat_cuda_field_alloc(lat_dfield *f, size_t bytes, const char *what)
{
    void *p = NULL;
    const cudaStream_t stream = lat_cuda_device_of(f->grid->dev)->stream;
    if (f->shape.both) {
        lat_fail("GPU: %s: links at both ends of a site are not stored", what);
        return NULL;
    }
    lat_pair *pair = f->shape.half ? find_pair(f) : NULL;
    if (pair)
        return take_half(f, pair, bytes);
    if (f->shape.half && !(pair = (lat_pair *)lat_alloc_zero(1, sizeof *pair, what)))
        return NULL;
    if (take(f, &p, bytes + LAT_CUDA_FLAGS * sizeof(uint32_t), what)
        || lat_cuda_failed(
            cudaMemsetAsync((char *)p + bytes, 0, LAT_CUDA_FLAGS * sizeof(uint32_t), stream), what)
        || lat_cuda_failed(cudaStreamSynchronize(stream), what)) {
        give_back(f, p);
        free(pair);
        return NULL;
    }
    if (!pair)
        return p;
    pair->base = (char *)p;
    return take_half(f, pair, bytes);
}

void lat_cuda_field_free(lat_dfield *f)
{
    lat_pair *const p = f->pair;
    if (!p) {
        give_back(f, f->data);
        return;
    }
    p->user[p->user[0] == f ? 0 : 1] = NULL;
    if (p->user[0] || p->user[1])
        return;
    give_back(f, p->base);
    free(p);
}

/* ---- kernels --------------------------------------------------------------------------------- */

#define THREADS 128

/* A member of a field and a host field on its way. */
typedef struct transfer {
    lat_cuda_lattice grid;
    char *data; /* of the member */
    size_t unit_bytes;
    int objects, reals, chunks, nc; /* chunks of an object */
    int per_site, full, links;      /* the host field's objects a site, and reals of each */
    double weight[4];
    uint32_t *differs;
} transfer;

/* Object n of the host field as it is stored, real 0 of it; NULL for links across slots. */
template <class T> static __device__ T *find_object(const transfer &t, uint64_t n, int *mu)
{
    int slot, parity;
    uint32_t i;
    *mu = (int)(n % (uint64_t)t.per_site);
    lat_cuda_locate(t.grid, t.grid.first_own + n / (uint64_t)t.per_site, &slot, &parity, &i);
    if (t.links && *mu == t.grid.across)
        return NULL;
    const int object = *mu - (t.links && t.grid.across >= 0 && *mu > t.grid.across);
    const size_t site = (size_t)parity * t.grid.groups * LAT_CUDA_GROUP
                            * (size_t)(t.objects * t.chunks)
                        + lat_cuda_at(i, t.objects * t.chunks)
                        + (size_t)(object * t.chunks) * LAT_CUDA_GROUP;
    return (T *)(t.data + (size_t)slot * t.unit_bytes + 16 * site);
}

/* The last row of SU(2) or SU(3) is not stored. */
static __device__ bool drops_row(const transfer &t)
{
    return t.nc >= 2 && t.nc <= 3 && t.reals == 2 * t.nc * (t.nc - 1);
}

/* Where real e of an object is. */
template <class T> static __device__ size_t offset_of(int e)
{
    const int per = 16 / (int)sizeof(T);
    return (size_t)(e / per * per) * LAT_CUDA_GROUP + (size_t)(e % per);
}

template <class T, class RAW> static __device__ bool last_row_follows(const RAW *u, int nc)
{
    const double bound = 32 * (sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);
    double m[18];
    for (int e = 0; e < 2 * nc * nc; e++)
        m[e] = (double)u[e];
    return lat_sun_last_row_follows(nc, m, bound);
}

/* Objects first .. first+count-1 of the host field, which `raw` has; NULL: unit matrices. */
template <class T, class RAW>
static __global__ void put_objects(const __grid_constant__ transfer t, const RAW *raw,
                                   uint64_t first, uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= count)
        return;
    int mu;
    T *p = find_object<T>(t, first + n, &mu);
    const RAW *m = raw ? raw + n * (uint64_t)t.full : NULL;
    if (m && drops_row(t) && !last_row_follows<T>(m, t.nc))
        *t.differs = 1; /* whoever says so says the same */
    if (!p)
        return;
    for (int e = 0; e < t.chunks * 16 / (int)sizeof(T); e++)
        p[offset_of<T>(e)] = e >= t.reals ? (T)0
                             : m          ? (T)(t.weight[mu] * (double)m[e])
                                          : (T)(t.nc && e % (2 * t.nc + 2) == 0);
}

template <class T, class RAW>
static __global__ void get_objects(const __grid_constant__ transfer t, RAW *raw, uint64_t first,
                                   uint64_t count)
{
    const uint64_t n = (uint64_t)blockIdx.x * THREADS + threadIdx.x;
    if (n >= count)
        return;
    int mu;
    const T *p = find_object<T>(t, first + n, &mu);
    RAW *m = raw + n * (uint64_t)t.full;
    if (!p)
        return; /* as the host has it */
    for (int e = 0; e < t.full; e++)
        m[e] = e < t.reals ? (RAW)(double)p[offset_of<T>(e)] : (RAW)0;
    if (!drops_row(t))
        return;
    double d[18];
    for (int e = 0; e < t.reals; e++)
        d[e] = (double)p[offset_of<T>(e)];
    lat_sun_last_row(t.nc, d);
    for (int e = t.reals; e < t.full; e++)
        m[e] = (RAW)d[e];
}

const void *lat_cuda_any_kernel(void) { return (const void *)get_objects<float, float>; }

template <class T, class RAW>
static cudaError_t launch(const transfer *t, bool put, void *raw, uint64_t first, uint64_t count,
                          cudaStream_t stream)
{
    const unsigned blocks = lat_cuda_blocks(count, THREADS);
    return put ? lat_cuda_start(0, put_objects<T, RAW>, blocks, THREADS, stream, *t,
                                (const RAW *)raw, first, count)
               : lat_cuda_start(0, get_objects<T, RAW>, blocks, THREADS, stream, *t, (RAW *)raw,
                                first, count);
}

/* Objects first .. first+count-1 between `raw` and the field. */
static cudaError_t move(const transfer *t, lat_storage storage, lat_real real, bool put, void *raw,
                        uint64_t first, uint64_t count, cudaStream_t stream)
{
    switch (storage) {
    case LAT_STORAGE_SINGLE:
        return real == LAT_F32 ? launch<float, float>(t, put, raw, first, count, stream)
                               : launch<float, double>(t, put, raw, first, count, stream);
    case LAT_STORAGE_DOUBLE:
        return real == LAT_F32 ? launch<double, float>(t, put, raw, first, count, stream)
                               : launch<double, double>(t, put, raw, first, count, stream);
    case LAT_STORAGE_HALF: break; /* spinors alone: lib/dirac */
    }
    return cudaErrorNotSupported;
}

/* ---- host fields ----------------------------------------------------------------------------- */

static transfer transfer_of(const lat_dfield *f, int member, const lat_field *host)
{
    const lat_shape *s = &f->shape;
    const int nc = host ? host->head.nc : s->nc, nd = f->grid->spec.lattice.nd;
    transfer t = {};
    t.grid = *lat_cuda(f->grid);
    t.unit_bytes = f->unit_bytes;
    t.data = (char *)f->data + (size_t)member * (size_t)f->grid->slots * f->unit_bytes;
    t.objects = s->objects;
    t.reals = s->reals;
    t.chunks = (int)(lat_cuda_object_bytes(f->grid, *s) / 16);
    t.nc = s->nc;
    t.links = host ? host->head.kind == LAT_GAUGE : s->objects > 1;
    t.per_site = t.links ? nd : 1;
    t.full = 2 * nc * nc;
    t.differs = lat_cuda_flags(f) + LAT_CUDA_DIFFERS;
    for (double &w : t.weight)
        w = 1;
    return t;
}

static uint64_t own_objects(const transfer *t, const lat_dfield *f)
{
    const lat_cuda_lattice *w = &t->grid;
    uint64_t n = (uint64_t)t->per_site;
    for (int mu = 0; mu < w->directions; mu++)
        n *= w->dims[mu] - (mu == w->directions - 1 && f->grid->halo ? 2 : 0);
    return n;
}

/* Does a host field have what the field stores? */
static int check_shape(const transfer *t, const lat_dfield *f)
{
    const int objects = t->links ? f->grid->slot.nd : 1;
    if (t->objects == objects && t->reals <= t->full && (!t->nc || t->full == 2 * t->nc * t->nc))
        return 0;
    return lat_fail("a field of %d objects of %d reals: found a host field of %d of %d", t->objects,
                    t->reals, objects, t->full);
}

/* Objects at .. at+count-1 between a pinned buffer and the field, in the stream. */
static cudaError_t start_piece(const transfer *t, const lat_cuda_device *dev, lat_storage storage,
                               const lat_field *host, bool put, int b, uint64_t at, size_t count)
{
    const size_t size = (size_t)t->full * (size_t)host->head.real, bytes = count * size;
    const bool links_across = t->links && t->grid.across >= 0;
    cudaError_t e = cudaSuccess;
    if (put)
        e = cudaMemcpyAsync(dev->raw[b], dev->pinned[b], bytes, cudaMemcpyHostToDevice,
                            dev->stream);
    else if (links_across) /* what the field does not have stays as it is */
        e = cudaMemcpyAsync(dev->raw[b], (const char *)host->data + at * size, bytes,
                            cudaMemcpyHostToDevice, dev->stream);
    e = e ? e : move(t, storage, host->head.real, put, dev->raw[b], at, count, dev->stream);
    if (!put && !e)
        e = cudaMemcpyAsync(dev->pinned[b], dev->raw[b], bytes, cudaMemcpyDeviceToHost,
                            dev->stream);
    return e;
}

/* A member and a host field. */
static int transfer_field(const transfer *t, const lat_dfield *f, const lat_field *host, bool put)
{
    const lat_cuda_device *dev = lat_cuda_device_of(f->grid->dev);
    const size_t size = (size_t)t->full * (size_t)host->head.real;
    return lat_cuda_staged(
        dev, put, own_objects(t, f), LAT_CUDA_STAGE / size,
        put ? "sending a field" : "fetching a field",
        [&](size_t at, size_t n, int b) {
            char *const data = (char *)host->data + at * size;
            lat_memcpy(put ? dev->pinned[b] : data, put ? data : dev->pinned[b], n * size);
            return true;
        },
        [&](size_t at, size_t n, int b) {
            return start_piece(t, dev, f->grid->spec.storage, host, put, b, at, n);
        });
}

int lat_cuda_put(lat_dfield *f, int member, const lat_field *host, const double *weight)
{
    transfer t = transfer_of(f, member, host);
    if (!host)
        return lat_cuda_failed(move(&t, f->grid->spec.storage, LAT_F64, true, NULL, 0,
                                    own_objects(&t, f), lat_cuda_device_of(f->grid->dev)->stream),
                               "setting a field");
    for (int mu = 0; weight && mu < t.per_site; mu++)
        t.weight[mu] = weight[mu];
    return check_shape(&t, f) || transfer_field(&t, f, host, true) ? -1 : 0;
}

int lat_cuda_get(const lat_dfield *f, int member, lat_field *host)
{
    const transfer t = transfer_of(f, member, host);
    return check_shape(&t, f) || transfer_field(&t, f, host, false) ? -1 : 0;
}

int lat_cuda_get_there(const lat_dfield *f, int member, double *there)
{
    const transfer t = transfer_of(f, member, NULL);
    return lat_cuda_failed(move(&t, f->grid->spec.storage, LAT_F64, false, there, 0,
                                own_objects(&t, f), lat_cuda_device_of(f->grid->dev)->stream),
                           "copying a field");
}

int lat_cuda_rows_follow(const lat_dfield *f)
{
    static const char what[] = "sending a field";
    const lat_comm *comm = f->grid->dev->comm;
    const cudaStream_t stream = lat_cuda_device_of(f->grid->dev)->stream;
    uint32_t differs = 0;
    if (lat_cuda_failed(cudaMemcpyAsync(&differs, lat_cuda_flags(f) + LAT_CUDA_DIFFERS,
                                        sizeof differs, cudaMemcpyDeviceToHost, stream),
                        what)
        || lat_cuda_failed(cudaStreamSynchronize(stream), what))
        return -1;
    double anywhere = differs;
    return comm->max(comm, &anywhere, 1) ? -1 : anywhere == 0;
}

int lat_cuda_migrate(lat_dfield *f, int unit, int rank, bool send)
{
    static const char what[] = "sending a slice";
    const lat_cuda_device *dev = lat_cuda_device_of(f->grid->dev);
    const lat_comm *comm = f->grid->dev->comm;
    char *const p = (char *)f->data + (size_t)unit * f->unit_bytes;
    void *here = dev->pinned[0];
    if (lat_cuda_failed(cudaEventSynchronize(dev->done[0]), what))
        return -1;
    for (size_t at = 0; at < f->unit_bytes; at += LAT_CUDA_STAGE) {
        const size_t n = f->unit_bytes - at < LAT_CUDA_STAGE ? f->unit_bytes - at : LAT_CUDA_STAGE;
        if (!send && comm->receive(comm, rank, here, n))
            return -1;
        if (lat_cuda_failed(cudaMemcpyAsync(send ? here : p + at, send ? p + at : here, n,
                                            cudaMemcpyDefault, dev->stream),
                            what)
            || lat_cuda_failed(cudaStreamSynchronize(dev->stream), what)
            || (send && comm->send(comm, rank, here, n)))
            return -1;
    }
    return 0;
}
