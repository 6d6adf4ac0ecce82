/* SPDX-License-Identifier: BSD-3-Clause */
/* space_gpu.cu: spaces of spinors on GPUs: how sites are numbered, host fields in and out.
 * All have 3 colours; the third one of SU(2) is zero, and stays it, as no operator mixes it with
 * the others (grid/staging.h). */
#include "vector/cuda/cuda_space.cuh"
#include "vector/cuda/cuda_host.cuh"

#include <stdlib.h>
#include <string.h>
#include "grid/cuda_grid.cuh"
#include "grid/cuda_tuning.h"
extern "C" {
#include "base/error.h"
#include "grid/staging.h"
#include "lattice/field.h"
#include "vector/temporal.h"
}

#define THREADS 128

static int failed(cudaError_t e) { return lat_cuda_failed(e, "spinors"); }

size_t lat_gpu_group_bytes(lat_storage storage)
{
    switch (storage) {
    case LAT_STORAGE_DOUBLE: return lat_form<LAT_STORAGE_DOUBLE>::GROUP;
    case LAT_STORAGE_SINGLE: return lat_form<LAT_STORAGE_SINGLE>::GROUP;
    case LAT_STORAGE_HALF: return lat_form<LAT_STORAGE_HALF>::GROUP;
    }
    return 0;
}

/* ---- the space ------------------------------------------------------------------------------- */

/* Groups of 32 sites are bricks in (x/2, y) where one of these fits. */
static void choose_brick(lat_gpu_sites *s)
{
    static const uint32_t bricks[][2] = {{16, 2}, {8, 4}, {4, 8}, {32, 1}, {2, 16}, {1, 32}};
    s->brick[0] = s->extent[0];
    s->brick[1] = s->extent[1];
    for (const uint32_t *b : bricks)
        if (s->extent[0] % b[0] == 0 && s->extent[1] % b[1] == 0) {
            s->brick[0] = b[0];
            s->brick[1] = b[1];
            return;
        }
}

static void set_sites(lat_gpu_sites *s, const lat_grid *grid)
{
    memset(s, 0, sizeof *s);
    for (int mu = 0; mu < 4; mu++)
        s->extent[mu] = (uint32_t)grid->slot.dims[mu];
    s->extent[0] /= 2;
    s->ghosts = grid->halo;
    if (grid->halo) {
        s->extent[3] = (uint32_t)grid->slab.count;
        s->odd = (uint32_t)grid->slab.first & 1;
    }
    choose_brick(s);
    s->across = s->extent[0] / s->brick[0];
    s->plane = s->extent[0] * s->extent[1];
    s->slice = s->plane * s->extent[2];
    s->half = s->slice * s->extent[3];
    s->back = s->ghosts ? 0 : (s->extent[3] - 1) * s->slice;
    s->by_brick[0] = lat_cuda_divide_by(s->brick[0]);
    s->by_brick[1] = lat_cuda_divide_by(s->brick[1]);
    s->by_across = lat_cuda_divide_by(s->across);
    s->by_size = lat_cuda_divide_by(s->brick[0] * s->brick[1]);
    s->by_plane = lat_cuda_divide_by(s->plane);
    s->by_z = lat_cuda_divide_by(s->extent[2]);
    if (s->plane % 32 == 0 && s->extent[3] % 2 == 0) { /* extents of z are even */
        s->strip = s->extent[2] / 2;
        s->by_groups = lat_cuda_divide_by(s->plane / 32);
        s->by_strip = lat_cuda_divide_by(s->strip);
        s->by_pairs_t = lat_cuda_divide_by(s->extent[3] / 2);
        s->middle = s->ghosts ? s->extent[3] / 4 : 0;
    }
}

template <int P> static lat_vector_layout layout_in(void)
{
    lat_vector_layout l = {};
    l.reals = LAT_STAGE_SPINOR;
    l.real = lat_form<P>::BYTES;
    l.side = 32;
    l.run = 16 / lat_form<P>::BYTES;
    l.norm = P == LAT_STORAGE_HALF ? (size_t)lat_form<P>::CHUNKS * 512 : 0;
    return l;
}

static lat_vector_layout layout_of(lat_storage storage)
{
    switch (storage) {
    case LAT_STORAGE_DOUBLE: return layout_in<LAT_STORAGE_DOUBLE>();
    case LAT_STORAGE_SINGLE: return layout_in<LAT_STORAGE_SINGLE>();
    case LAT_STORAGE_HALF: break;
    }
    return layout_in<LAT_STORAGE_HALF>();
}

int64_t lat_gpu_position(const lat_space *space, size_t site)
{
    const lat_gpu_space *const g = lat_gpu_space_of(space);
    const lat_gpu_sites *const s = &g->sites;
    const uint32_t n = (uint32_t)site, row = 2 * s->extent[0];
    const uint32_t x = n % row / 2, y = n / row % s->extent[1], zt = n / row / s->extent[1],
                   size = s->brick[0] * s->brick[1];
    const uint32_t odd = (n % row + y + zt % s->extent[2] + zt / s->extent[2] + s->odd) & 1;
    const uint32_t i = x / s->brick[0] * size + x % s->brick[0]
                       + y / s->brick[1] * s->brick[1] * s->extent[0]
                       + y % s->brick[1] * s->brick[0] + zt * s->plane;
    return (int64_t)odd * 32 * g->groups + i;
}

int lat_gpu_bytes(const lat_space *s, const lat_dfield *x, size_t from, size_t n, void *to)
{
    const cudaStream_t stream = lat_gpu_stream(s);
    return failed(
               cudaMemcpyAsync(to, (const char *)x->data + from, n, cudaMemcpyDeviceToHost, stream))
                   || failed(cudaStreamSynchronize(stream))
               ? -1
               : 0;
}

void lat_gpu_close(lat_space *space)
{
    lat_gpu_space *s = lat_gpu_space_of(space);
    lat_gpu_faces_close(s);
    lat_gpu_sums_close(s);
    free(s);
}

lat_space *lat_gpu_open(lat_grid *grid, int nc, int columns)
{
    const int *const dims = grid->spec.lattice.dims;
    if (!lat_space_gpu_takes(&grid->spec.lattice, grid->halo ? 2 : 1)) {
        lat_fail("Dirac operators on several GPUs: expected a multiple of 64 sites a slice of t, "
                 "found %d x %d x %d",
                 dims[0], dims[1], dims[2]);
        return NULL;
    }
    lat_gpu_space *s = (lat_gpu_space *)calloc(1, sizeof *s);
    if (!s) {
        lat_fail("out of memory: a space of spinors");
        return NULL;
    }
    s->space.ops = &lat_vector_gpu;
    s->space.grid = grid;
    s->space.nc = nc;
    s->space.columns = columns;
    s->space.ahead = true;
    set_sites(&s->sites, grid);
    s->groups = (s->sites.half + 31) / 32;
    s->group = lat_gpu_group_bytes(grid->spec.storage);
    s->parity = s->groups * s->group;
    s->column = 2 * s->parity;
    s->space.layout = layout_of(grid->spec.storage);
    s->space.layout.group = s->group;
    s->space.layout.column = s->column;
    if (lat_agree(grid->dev->comm, lat_gpu_sums_open(s, columns) || lat_gpu_faces_open(s) ? -1 : 0)
        == 0)
        return &s->space;
    lat_gpu_close(&s->space);
    return NULL;
}

/* ---- host spinors ---------------------------------------------------------------------------- */

/* From a host field, to it, or random numbers. */
typedef struct host_spinors {
    const lat_field *from;
    lat_field *to;
    int columns, object[LAT_VECTOR_COLUMNS], column[LAT_VECTOR_COLUMNS];
    lat_parity parity; /* of what is written */
    uint64_t seed;     /* of one column */
    size_t site;       /* the lattice's natural index of the first one here */
} host_spinors;

static void fill_piece(const host_spinors *h, int nc, size_t first, size_t count, double *v)
{
    if (h->from)
        lat_stage_spinors(h->from, h->columns, h->object, first, count, v);
    else
        lat_spinor_draw_sites(h->seed, h->column[0], nc, h->site + first, count, v);
}

/* A piece is [column][site][24]. */
template <int P>
static cudaError_t start_piece(const lat_gpu_space *s, const lat_cuda_device *dev,
                               const host_spinors *h, int b, size_t first, size_t count,
                               char *columns)
{
    const size_t each = count * LAT_STAGE_SPINOR,
                 bytes = (size_t)h->columns * each * sizeof(double);
    double *const raw = (double *)dev->raw[b];
    const double *const g = s->space.temporal ? (const double *)s->space.temporal->device : NULL;
    const unsigned blocks = lat_cuda_blocks(count, THREADS);
    cudaError_t e = cudaSuccess;
    if (!h->to)
        e = cudaMemcpyAsync(raw, dev->pinned[b], bytes, cudaMemcpyHostToDevice, dev->stream);
    for (int k = 0; k < h->columns && !e; k++) {
        char *const column = columns + (size_t)h->column[k] * s->column;
        if (!h->to)
            pack_spinors<P><<<blocks, THREADS, 0, dev->stream>>>(
                s->sites, s->parity, h->parity, raw + (size_t)k * each, h->from ? g : NULL, first,
                count, column);
        else
            unpack_spinors<P>
                <<<blocks, THREADS, 0, dev->stream>>>(s->sites, s->parity, raw + (size_t)k * each,
                                                      LAT_STAGE_SPINOR, g, first, count, column);
        e = cudaGetLastError();
    }
    if (h->to)
        e = e ? e
              : cudaMemcpyAsync(dev->pinned[b], raw, bytes, cudaMemcpyDeviceToHost, dev->stream);
    return e;
}

static cudaError_t start(const lat_gpu_space *s, const lat_cuda_device *dev, const host_spinors *h,
                         int b, size_t first, size_t count, char *columns)
{
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE:
        return start_piece<LAT_STORAGE_DOUBLE>(s, dev, h, b, first, count, columns);
    case LAT_STORAGE_SINGLE:
        return start_piece<LAT_STORAGE_SINGLE>(s, dev, h, b, first, count, columns);
    case LAT_STORAGE_HALF:
        return start_piece<LAT_STORAGE_HALF>(s, dev, h, b, first, count, columns);
    }
    return cudaErrorNotSupported;
}

/* All columns of some sites at a time. Most of a source is zero, and stays on the host. */
static int transfer_spinors(lat_space *space, lat_dfield *x, const host_spinors *h)
{
    const lat_gpu_space *s = lat_gpu_space_of(space);
    const lat_cuda_device *dev = lat_cuda_device_of(space->grid->dev);
    for (int k = 0; k < h->columns && h->from; k++)
        if (failed(cudaMemsetAsync((char *)x->data + (size_t)h->column[k] * s->column, 0, s->column,
                                   dev->stream)))
            return -1;
    return lat_cuda_staged(
        dev, !h->to, 2 * (size_t)s->sites.half,
        LAT_CUDA_STAGE / ((size_t)h->columns * LAT_STAGE_SPINOR * sizeof(double)), "spinors",
        [&](size_t at, size_t n, int b) {
            double *const v = (double *)dev->pinned[b];
            if (h->from && lat_stage_zero(h->from, h->columns, h->object, at, n))
                return false;
            if (h->to)
                lat_unstage_spinors(h->to, h->columns, h->object, at, n, v);
            else
                fill_piece(h, space->nc, at, n, v);
            return true;
        },
        [&](size_t at, size_t n, int b) { return start(s, dev, h, b, at, n, (char *)x->data); });
}

static int check_host(const lat_space *s, const lat_part *p, const lat_field *host,
                      const int *object)
{
    const int objects = (int)lat_header_objects(&host->head);
    for (int i = 0; i < p->columns; i++) {
        const int k = object[p->column[i]];
        if (host->head.nc != s->nc || k < 0 || k >= objects
            || lat_header_full_reals(&host->head) != 8 * (size_t)s->nc)
            return lat_fail("spinor %d of a host field: it has %d of SU(%d)", k, objects,
                            host->head.nc);
    }
    return 0;
}

/* Columns of a host field, all of them together. */
static host_spinors of_host(const lat_part *p, const int *object)
{
    host_spinors h = {};
    h.columns = p->columns;
    h.parity = LAT_BOTH;
    for (int i = 0; i < p->columns; i++) {
        h.column[i] = p->column[i];
        h.object[i] = object[p->column[i]];
    }
    return h;
}

int lat_gpu_put(lat_space *s, const lat_part *p, lat_dfield *x, const lat_field *host,
                const int *object)
{
    host_spinors h = of_host(p, object);
    h.from = host;
    return check_host(s, p, host, object) || (p->columns && transfer_spinors(s, x, &h)) ? -1 : 0;
}

int lat_gpu_get(lat_space *s, const lat_part *p, const lat_dfield *x, lat_field *host,
                const int *object)
{
    host_spinors h = of_host(p, object);
    h.to = host;
    return check_host(s, p, host, object)
                   || (p->columns && transfer_spinors(s, (lat_dfield *)x, &h))
               ? -1
               : 0;
}

int lat_gpu_random(lat_space *s, const lat_part *p, uint64_t seed, lat_dfield *x)
{
    const lat_grid *grid = s->grid;
    const size_t slice = 2 * (size_t)lat_gpu_space_of(s)->sites.slice,
                 site = grid->halo ? (size_t)grid->slab.first * slice : 0;
    for (int i = 0; i < p->columns; i++) {
        const host_spinors h = {NULL, NULL, 1, {0}, {p->column[i]}, p->parity, seed, site};
        if (transfer_spinors(s, x, &h))
            return -1;
    }
    return 0;
}
