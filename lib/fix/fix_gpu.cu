/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_gpu.cu: gauge fixing on NVIDIA GPUs, one a rank.
 *
 * All work goes to one stream, in order. A half sweep reads g of one parity and writes the other,
 * and sums are taken slice by slice in a fixed order: results on one kind of GPU are the same bit
 * for bit, on any number of them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fix_cuda.cuh"
#include "grid/cuda_dfield.cuh"
#include "grid/cuda_table.h"
#include "grid/cuda_tuning.h"
extern "C" {
#include "fix_internal.h"
}

LAT_CUDA_TABLE(lat_cuda_ops, LAT_GPU_FIX_MOST);
#define BATCH 8 /* copies that share a block */

typedef struct gpu {
    lat_fixer fixer;
    const lat_cuda_ops *ops;
    lat_cuda_work work;
    cudaStream_t stream;             /* the device's */
    uint32_t number;                 /* half sweeps so far */
    double *omega, *omega_host;      /* [copies], and what was sent there last */
    lat_cuda_unit *unit, *unit_host; /* units that are swept: [nrows][batch] */
    int nrows, batch;
} gpu;

static void gpu_close(lat_fixer *f)
{
    gpu *c = (gpu *)f;
    lat_cuda_free(c->unit);
    lat_cuda_free(c->omega);
    free(c->omega_host);
    free(c->unit_host);
}

/* ---- which units are swept ---- */

static bool swept(const gpu *c, int slot, int copy)
{
    const lat_balance *b = &c->fixer.balance;
    return b->here[copy * b->grid->slots + slot]
           && b->active[copy * b->grid->slices + b->grid->slice[slot]];
}

/* Into the list, at the end; true if another one stood there. */
static bool add_unit(gpu *c, int *n, int slot, int copy)
{
    lat_cuda_unit *p = c->unit_host + (*n)++;
    const lat_cuda_unit it = {slot, copy, lat_cuda_site_from(c->fixer.grid, slot)};
    const bool other = memcmp(p, &it, sizeof it) != 0;
    *p = it;
    return other;
}

/* Rows of the copies of a slice that are swept; true if the list has changed. */
static bool list_units(gpu *c)
{
    const int slots = c->fixer.grid->slots, copies = c->fixer.copies, batch = c->batch;
    int most = 1, n = 0;
    bool other = false;
    for (int s = 0; s < slots; s++) {
        int active = 0;
        for (int copy = 0; copy < copies; copy++)
            active += swept(c, s, copy);
        most = active > most ? active : most;
    }
    c->batch = most < BATCH ? most : BATCH;
    for (int s = 0; s < slots; s++) {
        for (int copy = 0; copy < copies; copy++)
            if (swept(c, s, copy))
                other |= add_unit(c, &n, s, copy);
        while (n % c->batch)
            other |= add_unit(c, &n, s, -1);
    }
    c->nrows = n / c->batch;
    return other || c->batch != batch;
}

/* To the device, if it has changed. */
static int gpu_listed(lat_fixer *f)
{
    gpu *c = (gpu *)f;
    const bool other = list_units(c);
    const size_t bytes = (size_t)c->nrows * (size_t)c->batch * sizeof *c->unit;
    /* From pageable memory: it is free again when the call returns. */
    return other ? lat_cuda_failed(
               cudaMemcpyAsync(c->unit, c->unit_host, bytes, cudaMemcpyHostToDevice, c->stream),
               "sending the list of slices")
                 : 0;
}

/* ---- opening ---- */

static lat_shape links_of(const lat_fixer *f, int rows)
{
    const lat_shape s = {f->grid->slot.nd, 2 * f->nc * rows, f->nc, true, false, 0, false};
    return s;
}

static lat_shape matrix_of(const lat_fixer *f)
{
    const lat_shape s = {1, 2 * f->nc * lat_free_rows(f->nc), f->nc, true, false, 0, false};
    return s;
}

/* Strips, if links and g of a time slice are more than a part of the second cache: as thick as
 * fits, of whole z. */
static void set_strips(const lat_fixer *f, lat_cuda_work *w)
{
    const lat_grid *grid = f->grid;
    const double matrix = (double)lat_cuda_object_bytes(grid, matrix_of(f)),
                 most = LAT_CUDA_SLICE_BYTES, plane = 2.0 * w->stride[2] * (w->nd + 1) * matrix;
    if (w->nd < 4 || plane * w->extent[2] <= most || (grid->halo && grid->slab.count < 3))
        return;
    uint32_t thick = w->extent[2] / 2;
    while (thick > 1 && (w->extent[2] % thick || plane * thick > most))
        thick--;
    if (w->stride[2] * thick % 128) /* blocks should not be torn */
        return;
    w->strip = w->stride[2] * thick;
    w->by_strip = lat_cuda_divide_by(w->strip);
    w->times = w->extent[3] - (grid->halo ? 4 : 0); /* but ghosts and faces */
    w->by_time = lat_cuda_divide_by(w->times);
}

/* Slots for slices of other ranks, as long as they take no more than a quarter of what is free
 * beside all else; and will it all fit? */
static int make_slots(const lat_fixer *f)
{
    char text[64], copies[32] = "", what[128];
    lat_grid *grid = f->grid;
    const double g = (double)f->copies * (double)lat_dfield_unit_bytes(grid, matrix_of(f)),
                 few = g + (double)lat_dfield_unit_bytes(grid, links_of(f, lat_free_rows(f->nc))),
                 all = g + (double)lat_dfield_unit_bytes(grid, links_of(f, f->nc));
    const double available = lat_gpu_free_bytes();
    if (available < 0)
        return -1;
    const double fit = (available - all * grid->slots) / 4 / all;
    const int spare = (int)fmax(0, fmin(fit, lat_balance_capacity(grid)));
    if (spare && lat_grid_set_slots(grid, grid->slots + spare))
        return -1;
    if (f->copies > 1)
        snprintf(copies, sizeof copies, ", %d copies", f->copies);
    snprintf(what, sizeof what, "lattice %s in %s%s", lat_dims_text(&grid->spec.lattice, text),
             lat_storage_name(grid->spec.storage), copies);
    return lat_gpu_check_memory(few * grid->slots, what);
}

/* With fewer rows if all links are in SU(N) to rounding, else with all of them. */
static int load_links(lat_fixer *f, const lat_field *u, int *rows)
{
    int follow = 0;
    for (*rows = lat_free_rows(f->nc);; *rows = f->nc) {
        /* Weights of whole links are in the links. */
        const double *weight = *rows == f->nc || f->nc == 2 ? f->condition.weight : NULL;
        if (!(f->u = lat_dfield_new(f->grid, links_of(f, *rows), 1, "the links"))
            || lat_dfield_put(f->u, 0, u, weight) || (follow = lat_cuda_rows_follow(f->u)) < 0)
            return -1;
        if (follow)
            return 0;
        lat_dfield_free(f->u);
    }
}

static int gpu_open(lat_fixer *f, const lat_field *u, lat_real real)
{
    gpu *c = (gpu *)f;
    c->ops = lat_cuda_ops_table[f->nc][real == LAT_F64];
    c->stream = lat_cuda_device_of(f->dev)->stream;
    return lat_rc(
        make_slots(f)
        || !(f->g = lat_dfield_new(f->grid, matrix_of(f), f->copies, "the transformations"))
        || load_links(f, u, &c->work.rows)
        || lat_balance_open(&f->balance, f->u, f->g, true, LAT_CUDA_MIGRATION_SWEEPS * f->copies));
}

/* What kernels know. */
static int describe(gpu *c)
{
    lat_fixer *f = &c->fixer;
    lat_cuda_work *w = &c->work;
    const lat_cuda_device *dev = lat_cuda_device_of(f->dev);
    *(lat_cuda_grid *)w = *lat_cuda(f->grid);
    w->problem = lat_gauge_table[f->condition.gauge].problem;
    w->u = f->u->data;
    w->g = f->g->data;
    for (int a = 0; a < w->nd; a++)
        w->weight[a] = f->condition.weight[f->grid->axis[a]];
    w->processors = dev->processors;
    w->overlap = dev->overlap;
    set_strips(f, w);
    if (lat_cuda_connect(f->g, &w->peers))
        return -1;
    lat_cuda_describe(f->g, f->description, sizeof f->description);
    return 0;
}

static int gpu_ready(lat_fixer *f)
{
    gpu *c = (gpu *)f;
    const size_t copies = (size_t)f->copies, units = copies * (size_t)f->grid->slots * BATCH;
    if (describe(c)
        || lat_cuda_malloc((void **)&c->unit, units * sizeof *c->unit, "the list of slices")
        || lat_cuda_malloc((void **)&c->omega, copies * sizeof *c->omega, "omega")
        || lat_cuda_failed(cudaMemsetAsync(c->omega, 0, copies * sizeof *c->omega, c->stream),
                           "setting omega"))
        return -1;
    c->omega_host = (double *)lat_alloc(copies, sizeof *c->omega_host, "omega");
    c->unit_host = (lat_cuda_unit *)lat_alloc(units, sizeof *c->unit_host, "the list of slices");
    if (!c->omega_host || !c->unit_host)
        return -1;
    memset(c->omega_host, 0, copies * sizeof *c->omega_host);
    memset(c->unit_host, 0xff, units * sizeof *c->unit_host); /* nothing has been sent */
    return 0;
}

/* ---- sweeps ---- */

static int send_omega(gpu *c, const double *omega)
{
    const size_t bytes = (size_t)c->fixer.copies * sizeof *omega;
    if (!memcmp(c->omega_host, omega, bytes))
        return 0;
    memcpy(c->omega_host, omega, bytes);
    return lat_cuda_failed(
        cudaMemcpyAsync(c->omega, omega, bytes, cudaMemcpyHostToDevice, c->stream),
        "sending omega");
}

static int gpu_sweep(lat_fixer *f, const lat_sweep *how, long n)
{
    gpu *c = (gpu *)f;
    lat_cuda_how h = {};
    h.update = how->update;
    h.omega = c->omega;
    h.stochastic = how->stochastic;
    h.beta = 1 / how->temperature;
    h.seed = how->seed;
    h.config = how->config;
    h.step = how->step;
    h.unit = c->unit;
    h.nrows = c->nrows;
    h.batch = c->batch;
    if (how->omega && send_omega(c, how->omega))
        return -1;
    if (c->nrows == 0)
        return 0;
    for (long k = 0; k < n; k++, h.step++)
        for (int parity = 0; parity < 2; parity++) {
            const lat_halo_part part = {parity, f->balance.list, f->balance.listed, 0, 1};
            h.number = ++c->number;
            if (lat_cuda_sweep(f->g, &part, &h,
                               [&] { return c->ops->half(&c->work, &h, parity, c->stream); }))
                return -1;
        }
    return 0;
}

/* ---- functional and theta ---- */

static int gpu_sums(lat_fixer *f, double *total)
{
    gpu *c = (gpu *)f;
    return lat_cuda_total(f->grid, f->copies, f->balance.here, 3, 1, total,
                          [&](const lat_cuda_sums *sums) {
                              return c->ops->state(&c->work, sums, c->number, c->stream);
                          });
}

const lat_fix_device lat_fix_gpu = {
    LAT_GPU_FIX_MOST, sizeof(gpu), gpu_open, gpu_ready, gpu_close, gpu_listed, gpu_sweep, gpu_sums,
};
