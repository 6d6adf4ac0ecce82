/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_grid.cu: grids on a GPU, and the table of what a GPU does for lib/grid. */
#include "cuda_grid.cuh"

#include <stdlib.h>
#include "cuda_device.cuh"
#include "cuda_dfield.cuh"
#include "cuda_halo.cuh"
#include "cuda_reduce.cuh"
extern "C" {
#include "grid_internal.h"
}

/* n / d = (n * mul >> 32) >> shift for n < 2^31: with L = ceil(log2 d), mul = ceil(2^(31+L) / d) <
 * 2^32 and the error n (mul d - 2^(31+L)) / 2^(31+L) < d n / 2^(31+L) <= n / 2^31 < 1 (Granlund,
 * Montgomery 1994). */
lat_cuda_divisor lat_cuda_divide_by(uint32_t d)
{
    lat_cuda_divisor by = {0, 0};
    if (d == 1)
        return by;
    uint32_t log = 0;
    while ((UINT64_C(1) << log) < d)
        log++;
    by.mul = (uint32_t)(((UINT64_C(1) << (31 + log)) + d - 1) / d);
    by.shift = log - 1;
    return by;
}

/* Extents and steps: of the lattice as it is here, and of a slot. */
static void set_axes(lat_gpu_grid *g)
{
    const lat_grid *grid = &g->grid;
    const lat_geometry *all = &grid->spec.lattice;
    lat_cuda_lattice *w = &g->cuda;
    const int last = all->nd - 1;
    uint64_t step = 1, here = 1;
    w->directions = all->nd;
    w->across = grid->spec.across;
    for (int a = 0; a < 4; a++)
        w->extent[a] = w->dims[a] = 1;
    for (int mu = 0; mu < all->nd; mu++) {
        const bool cut = mu == last && (grid->halo || grid->distributed);
        const int extent = cut           ? grid->slab.count + (grid->halo ? 2 : 0)
                           : grid->boxed ? grid->box.count[mu]
                                         : all->dims[mu];
        w->dims[mu] = (uint32_t)extent;
        if (mu == w->across) {
            g->slice_step = step;
        } else {
            w->site_step[w->nd] = step;
            w->extent[w->nd++] = (uint32_t)extent;
        }
        if (mu == last && grid->halo) {
            g->site_from = ((int64_t)grid->slab.first - 1) * (int64_t)step;
            w->first_own = here;
        }
        step *= (uint64_t)all->dims[mu];
        here *= (uint64_t)extent;
    }
    w->extent[0] /= 2;
    w->odd = grid->halo && grid->slab.first % 2 == 0; /* site 0 is one slice before the first */
}

/* Numbers of sites; or why a GPU cannot have them. */
static int set_sites(lat_gpu_grid *g)
{
    char text[64];
    lat_cuda_lattice *w = &g->cuda;
    const lat_grid *grid = &g->grid;
    uint64_t half = 1;
    if (grid->halo && w->nd < 2)
        return lat_fail_usage(
            "lattice %s: GPUs cannot share a lattice or slices of one dimension, found %d ranks",
            lat_dims_text(&grid->spec.lattice, text), grid->dev->comm->size);
    for (int a = 0; a < 4; a++) {
        w->stride[a] = (uint32_t)half;
        half *= w->extent[a];
        if (half >= (UINT64_C(1) << 31) - LAT_CUDA_GROUP)
            return lat_fail("lattice %s: too large for one GPU",
                            lat_dims_text(&grid->spec.lattice, text));
    }
    for (int a = 0; a < 3; a++)
        w->by[a] = lat_cuda_divide_by(w->extent[a]);
    w->half = (uint32_t)half;
    w->groups = (w->half + LAT_CUDA_GROUP - 1) / LAT_CUDA_GROUP;
    w->face = grid->halo ? w->stride[w->nd - 1] : 0;
    w->from = w->face;
    w->own = w->half - 2 * w->face;
    return 0;
}

void lat_cuda_axes(const lat_grid *grid, int first, lat_cuda_axis axis[4])
{
    const lat_cuda_grid *w = lat_cuda(grid);
    for (int i = 0; i < 4; i++) {
        const int a = i == 0 ? first : i <= first ? i - 1 : i;
        axis[i].dir = a;
        axis[i].extent = w->extent[a];
        axis[i].stride = w->stride[a];
        axis[i].by_stride = lat_cuda_divide_by(w->stride[a]);
        axis[i].by_extent = lat_cuda_divide_by(w->extent[a]);
        axis[i].site_step = w->site_step[a];
    }
}

static void gpu_grid_free(lat_grid *grid)
{
    lat_cuda_sums_free(((lat_gpu_grid *)grid)->sums);
    free(grid);
}

static lat_grid *gpu_grid_new(const lat_grid *common)
{
    lat_gpu_grid *g = (lat_gpu_grid *)lat_alloc_zero(1, sizeof *g, "a grid");
    if (!g)
        return NULL;
    g->grid = *common;
    set_axes(g);
    if (set_sites(g)) {
        free(g);
        return NULL;
    }
    return &g->grid;
}

static int gpu_slots_changed(lat_grid *grid)
{
    ((lat_gpu_grid *)grid)->cuda.slots = grid->slots;
    return 0;
}

/* Whoever launches a kernel says where the sites of a slot are. */
static void gpu_assigned(lat_grid *, int) {}

size_t lat_cuda_object_bytes(const lat_grid *grid, lat_shape shape)
{
    const lat_storage storage = grid->spec.storage;
    const size_t norm = storage == LAT_STORAGE_HALF ? sizeof(float) : 0;
    return ((size_t)shape.reals * lat_storage_bytes(storage) + 15) / 16 * 16 + norm;
}

static size_t gpu_unit_bytes(const lat_grid *grid, lat_shape shape)
{
    return 2 * (size_t)lat_cuda(grid)->groups * LAT_CUDA_GROUP * (size_t)shape.objects
           * lat_cuda_object_bytes(grid, shape);
}

extern "C" const lat_grid_ops lat_grid_gpu;
const lat_grid_ops lat_grid_gpu = {
    lat_cuda_device_close, gpu_grid_new,           gpu_grid_free,        gpu_slots_changed,
    gpu_assigned,          gpu_unit_bytes,         lat_cuda_field_alloc, lat_cuda_field_free,
    lat_cuda_put,          lat_cuda_get,           lat_cuda_migrate,     lat_cuda_halo_new,
    lat_cuda_halo_free,    lat_cuda_halo_exchange,
};
