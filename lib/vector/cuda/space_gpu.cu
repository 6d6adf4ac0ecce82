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
#include "grid/staging.h"
#include "lattice/field.h"
#include "vector/temporal.h"
}

#define THREADS 128

/* ---- the space ------------------------------------------------------------------------------- */

static void set_sites(lat_gpu_sites *s, const lat_grid *grid)
{
    memset(s, 0, sizeof *s);
    for (int mu = 0; mu < 4; mu++)
        s->extent[mu] = (uint32_t)grid->here.dims[mu];
    s->extent[0] /= 2;
    for (int mu = 1; mu < 4; mu++)
        s->ghosts |= grid->cut[mu] ? 0x11u << mu : 0;
    s->lead = grid->boxed;
    s->odd = (uint32_t)(grid->box.first[1] + grid->box.first[2] + grid->box.first[3]) & 1;
    if (!lat_gpu_brick(s->extent[0], (uint32_t)grid->spec.lattice.dims[1], s->brick)) {
        s->brick[0] = s->extent[0];
        s->brick[1] = s->extent[1];
    }
    s->across = s->extent[0] / s->brick[0];
    s->plane = s->extent[0] * s->extent[1];
    s->slice = s->plane * s->extent[2];
    s->half = s->slice * s->extent[3];
    s->back = grid->cut[3] ? 0 : (s->extent[3] - 1) * s->slice;
    s->back_z = grid->cut[2] ? 0 : (s->extent[2] - 1) * s->plane;
    s->by_brick[0] = lat_cuda_divide_by(s->brick[0]);
    s->by_brick[1] = lat_cuda_divide_by(s->brick[1]);
    s->by_across = lat_cuda_divide_by(s->across);
    s->by_size = lat_cuda_divide_by(s->brick[0] * s->brick[1]);
    s->by_plane = lat_cuda_divide_by(s->plane);
    s->by_z = lat_cuda_divide_by(s->extent[2]);
    if (s->plane % 32 == 0 && s->extent[3] % 2 == 0) { /* extents of z are even */
        s->strip = s->extent[2] / 2;
        s->by_groups = lat_cuda_divide_by(s->plane / 32);
        s->pairs[0] = s->strip;
        s->pairs[1] = s->extent[3] / 2;
        s->by_pairs_t = lat_cuda_divide_by(s->pairs[1]);
        s->begin[1] = grid->cut[3] ? s->extent[3] / 4 : 0;
    }
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t n = 1;
    while (n < least)
        n *= 2;
    return n;
}

/* What of a slice is a branch: planes, or where y is cut rows of bricks of one plane, as far as
 * they begin, on all ranks, at a multiple of their number, a power of two. */
static void set_branches(lat_gpu_space *s)
{
    const lat_grid *grid = s->space.grid;
    const uint32_t z = s->sites.extent[2], y = s->sites.extent[1] / s->sites.brick[1];
    const bool cut_z = grid->cut[2], cut_y = grid->cut[1];
    s->planes = cut_y ? 1 : cut_z ? z & -z : z;
    s->rows = cut_y ? y & -y : y;
    s->in_y = y / s->rows;
    s->there_y = s->in_y * (cut_y ? (uint32_t)grid->box.ranks[1] : 1);
    s->branches = z / s->planes * s->in_y;
    s->there = cut_y || cut_z ? (uint32_t)grid->spec.lattice.dims[2] / s->planes : 1;
    s->width_y = power_of_two(s->there_y);
    s->width = power_of_two(s->there) * s->width_y;
}

/* Where sites are in the whole lattice. */
static void set_whole(lat_gpu_space *s)
{
    const lat_grid *grid = s->space.grid;
    const uint32_t here = s->sites.extent[2], all = (uint32_t)grid->spec.lattice.dims[2],
                   row = s->sites.extent[0],
                   plane = row * (uint32_t)grid->spec.lattice.dims[1]; /* of the whole lattice */
    s->whole.before = ((uint32_t)grid->box.first[3] * all + (uint32_t)grid->box.first[2]) * plane;
    s->whole.over = (all - here) * plane;
    s->whole.by_slice = lat_cuda_divide_by(here * plane);
    s->in_planes.before = (uint32_t)grid->box.first[1] * row;
    s->in_planes.over = plane - s->sites.plane;
    s->in_planes.by_plane = s->sites.by_plane;
}

static lat_vector_layout layout_of(lat_storage storage)
{
    return lat_by_storage(storage, [](auto P) {
        typedef lat_form<P.value> form;
        lat_vector_layout l = {};
        l.reals = LAT_STAGE_SPINOR;
        l.real = form::BYTES;
        l.side = 32;
        l.run = 16 / form::BYTES;
        l.norm = P.value == LAT_STORAGE_HALF ? (size_t)form::CHUNKS * 512 : 0;
        return l;
    });
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
    cudaError_t e = cudaMemcpyAsync(to, (const char *)x->data + from, n, cudaMemcpyDeviceToHost,
                                    stream);
    e = e ? e : cudaStreamSynchronize(stream);
    return lat_cuda_failed(e, "spinors");
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
    if (!lat_space_gpu_takes(&grid->spec.lattice, grid->dev->comm)) {
        uint32_t brick[2];
        if (grid->cut[1] && lat_gpu_brick((uint32_t)dims[0] / 2, (uint32_t)dims[1], brick))
            lat_fail("Dirac operators on GPUs that cut y: expected a multiple of %u sites in a "
                     "rank's part of y, or a --grid that leaves y whole, found %d",
                     brick[1], grid->box.count[1]);
        else if (grid->boxed)
            lat_fail("Dirac operators on GPUs that cut %c: expected a multiple of 64 sites in x "
                     "and y, found %d x %d",
                     grid->cut[1] ? 'y' : 'z', dims[0], dims[1]);
        else
            lat_fail("Dirac operators on several GPUs: expected a multiple of 64 sites a slice of "
                     "t, found %d x %d x %d",
                     dims[0], dims[1], dims[2]);
        return NULL;
    }
    lat_gpu_space *s = (lat_gpu_space *)lat_alloc_zero(1, sizeof *s, "a space of spinors");
    if (!s)
        return NULL;
    s->space.ops = &lat_vector_gpu;
    s->space.grid = grid;
    s->space.nc = nc;
    s->space.columns = columns;
    s->space.ahead = true;
    set_sites(&s->sites, grid);
    set_branches(s);
    set_whole(s);
    s->groups = (s->sites.half + 31) / 32;
    s->group = lat_gpu_group_bytes(grid->spec.storage);
    s->parity = s->groups * s->group;
    s->column = 2 * s->parity;
    s->space.layout = layout_of(grid->spec.storage);
    s->space.layout.group = s->group;
    s->space.layout.column = s->column;
    const lat_comm *comm = grid->dev->comm;
    if (lat_agree(comm, lat_gpu_sums_open(s, columns)) == 0
        && lat_agree(comm, lat_gpu_faces_open(s)) == 0)
        return &s->space;
    lat_gpu_close(&s->space);
    return NULL;
}

/* ---- host spinors ---------------------------------------------------------------------------- */

cudaError_t lat_gpu_move(const lat_gpu_space *s, bool put, const lat_gpu_piece *piece, char *column)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const unsigned blocks = lat_cuda_blocks(piece->count, THREADS);
    const double *const g = piece->rotated && s->space.temporal
                                ? (const double *)s->space.temporal->device
                                : NULL;
    return lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        return lat_cuda_start(false, put ? move_spinors<P, true> : move_spinors<P, false>, blocks,
                              THREADS, stream, s->sites, *piece, g, s->parity, column);
    });
}

/* Sites at .. at+n-1 of the columns of a part, from host(at, n, v) to the field (put), or back:
 * v[column][site][24] is filled, or has come; put: false where there is nothing to send. rotated:
 * the host has its own gauge, the column that of the space. */
template <class Host>
static int transfer_spinors(const lat_space *space, const lat_part *p, lat_dfield *x, bool put,
                            bool rotated, Host host)
{
    const lat_gpu_space *s = lat_gpu_space_of(space);
    const lat_cuda_device *dev = lat_cuda_device_of(space->grid->dev);
    const size_t columns = (size_t)p->columns, site = columns * LAT_STAGE_SPINOR * sizeof(double);
    const auto start = [&](size_t at, size_t n, int b) {
        double *const raw = (double *)dev->raw[b];
        cudaError_t e = put ? cudaMemcpyAsync(raw, dev->pinned[b], n * site, cudaMemcpyHostToDevice,
                                              dev->stream)
                            : cudaSuccess;
        for (size_t k = 0; k < columns && !e; k++) {
            const lat_gpu_piece piece = {
                raw + k * n * LAT_STAGE_SPINOR, LAT_STAGE_SPINOR, at, n, p->parity, rotated};
            e = lat_gpu_move(s, put, &piece, (char *)x->data + (size_t)p->column[k] * s->column);
        }
        return e || put ? e
                        : cudaMemcpyAsync(dev->pinned[b], raw, n * site, cudaMemcpyDeviceToHost,
                                          dev->stream);
    };
    if (columns == 0)
        return 0;
    return lat_cuda_staged(
        dev, put, 2 * (size_t)s->sites.half, LAT_CUDA_STAGE / site, "spinors",
        [&](size_t at, size_t n, int b) { return host(at, n, (double *)dev->pinned[b]); }, start);
}

/* The objects of the columns of a part, in its order. */
static void list_objects(const lat_part *p, const int *object, int of[LAT_VECTOR_COLUMNS])
{
    for (int i = 0; i < p->columns; i++)
        of[i] = object[p->column[i]];
}

/* Most of a source is zero, and stays on the host. */
int lat_gpu_put(lat_space *s, const lat_part *p, lat_dfield *x, const lat_field *host,
                const int *object)
{
    const lat_part both = {LAT_BOTH, p->columns, p->column};
    int of[LAT_VECTOR_COLUMNS];
    list_objects(p, object, of);
    return lat_rc(s->ops->zero(s, &both, x)
                  || transfer_spinors(s, &both, x, true, true, [&](size_t at, size_t n, double *v) {
                         if (lat_stage_zero(host, p->columns, of, at, n))
                             return false;
                         lat_stage_spinors(host, p->columns, of, at, n, v);
                         return true;
                     }));
}

int lat_gpu_get(lat_space *s, const lat_part *p, const lat_dfield *x, lat_field *host,
                const int *object)
{
    int of[LAT_VECTOR_COLUMNS];
    list_objects(p, object, of);
    return transfer_spinors(s, p, (lat_dfield *)x, false, true,
                            [&](size_t at, size_t n, const double *v) {
                                lat_unstage_spinors(host, p->columns, of, at, n, v);
                                return true;
                            });
}

/* Own sites at .. at+n-1, slice by slice, or where y is cut plane by plane, as they are in the
 * whole lattice. */
static void draw_sites(const lat_space *s, uint64_t seed, int column, size_t at, size_t n,
                       double *v)
{
    const lat_gpu_space *g = lat_gpu_space_of(s);
    const size_t slice = 2 * (size_t)g->sites.slice, plane = 2 * (size_t)g->sites.plane,
                 run = g->in_planes.over ? plane : slice;
    for (size_t count; n > 0; at += count, n -= count, v += count * LAT_STAGE_SPINOR) {
        const size_t left = run - at % run,
                     before = g->whole.before + at / slice * (size_t)g->whole.over
                              + g->in_planes.before + at / plane * (size_t)g->in_planes.over;
        count = n < left ? n : left;
        lat_spinor_draw_sites(seed, column, s->nc, 2 * before + at, count, v);
    }
}

int lat_gpu_random(lat_space *s, const lat_part *p, uint64_t seed, lat_dfield *x)
{
    for (int i = 0; i < p->columns; i++) {
        const lat_part one = {p->parity, 1, p->column + i};
        if (transfer_spinors(s, &one, x, true, false, [&](size_t at, size_t n, double *v) {
                draw_sites(s, seed, p->column[i], at, n, v);
                return true;
            }))
            return -1;
    }
    return 0;
}
