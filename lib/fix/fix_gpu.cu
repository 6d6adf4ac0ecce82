/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_gpu.cu: gauge fixing on NVIDIA GPUs, one a rank.
 *
 * All work goes to one stream, in order. A half sweep reads g of one parity and writes the other,
 * and sums are taken slice by slice in a fixed order: results on one kind of GPU are the same bit
 * for bit, on any number of them. */
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fix_cuda.cuh"
#include "grid/cuda_dfield.cuh"
#include "grid/cuda_tuning.h"
extern "C" {
#include "balance.h"
#include "base/error.h"
#include "base/memory.h"
#include "fix.h"
#include "fix_state.h"
#define DECLARE(n, of) extern const lat_cuda_ops lat_cuda_ops_f##n, lat_cuda_ops_d##n;
LAT_EACH_GROUP(LAT_GPU_FIX_MOST, DECLARE, )
#undef DECLARE
}

#define ENTRY(n, of) &lat_cuda_ops_f##n, &lat_cuda_ops_d##n,
static const lat_cuda_ops *const all_ops[] = {LAT_EACH_GROUP(LAT_GPU_FIX_MOST, ENTRY, )};
#undef ENTRY
#define BATCH 8 /* copies that share a block */

typedef struct gpu {
    lat_fixer fixer;
    const lat_cuda_ops *ops;
    lat_condition condition;
    int nc, copies;
    lat_grid *grid;
    lat_dfield *u, *g;
    lat_balance balance; /* which slices are swept here */
    lat_cuda_work work;
    cudaStream_t stream; /* the device's */
    lat_cuda_sums sums;
    uint32_t number;                 /* half sweeps so far */
    double *omega, *omega_host;      /* [copies], and what was sent there last */
    lat_cuda_unit *unit, *unit_host; /* units that are swept: [nrows][batch] */
    int nrows, batch;
    int *active, nactive; /* the same as a list of units */
    double *theta;        /* [copies][slices] */
    char description[80];
} gpu;

static void gpu_close(lat_fixer *f)
{
    gpu *c = (gpu *)f;
    if (!c)
        return;
    if (c->grid && c->grid->halo && *lat_error())
        return; /* kernels may wait for neighbours that have failed; the process is about to end */
    cudaStreamSynchronize(c->stream);
    lat_balance_close(&c->balance);
    lat_dfield_free(c->u);
    lat_dfield_free(c->g);
    lat_grid_free(c->grid);
    lat_cuda_sums_close(&c->sums);
    cudaFree(c->unit);
    cudaFree(c->omega);
    free(c->omega_host);
    free(c->unit_host);
    free(c->active);
    free(c->theta);
    free(c);
}

/* ---- which units are swept ---- */

/* Into the list, at the end; true if another one stood there. */
static bool add_unit(gpu *c, int *n, int slot, int copy)
{
    lat_cuda_unit *p = c->unit_host + (*n)++;
    const lat_cuda_unit it = {slot, copy, lat_cuda_site_from(c->grid, slot)};
    const bool other = memcmp(p, &it, sizeof it) != 0;
    *p = it;
    return other;
}

/* Rows of the copies of a slice that are swept; true if the list has changed. */
static bool list_units(gpu *c)
{
    const int slots = c->grid->slots, batch = c->batch;
    int most = 1, n = 0;
    bool other = false;
    c->nactive = 0;
    for (int s = 0; s < slots; s++) {
        int active = 0;
        for (int copy = 0; copy < c->copies; copy++)
            if (lat_balance_active(&c->balance, copy * slots + s)) {
                c->active[c->nactive++] = copy * slots + s;
                active++;
            }
        most = active > most ? active : most;
    }
    c->batch = most < BATCH ? most : BATCH;
    for (int s = 0; s < slots; s++) {
        for (int copy = 0; copy < c->copies; copy++)
            if (lat_balance_active(&c->balance, copy * slots + s))
                other |= add_unit(c, &n, s, copy);
        while (n % c->batch)
            other |= add_unit(c, &n, s, -1);
    }
    c->nrows = n / c->batch;
    return other || c->batch != batch;
}

/* To the device, if it has changed. */
static int send_list(gpu *c)
{
    const bool other = list_units(c);
    const size_t bytes = (size_t)c->nrows * (size_t)c->batch * sizeof *c->unit;
    /* From pageable memory: it is free again when the call returns. */
    return other ? lat_cuda_failed(
               cudaMemcpyAsync(c->unit, c->unit_host, bytes, cudaMemcpyHostToDevice, c->stream),
               "sending the list of slices")
                 : 0;
}

static int return_slices(gpu *c)
{
    return lat_balance_return(&c->balance) || send_list(c) ? -1 : 0;
}

static int gpu_set(lat_fixer *f, int copy, const lat_field *g)
{
    gpu *c = (gpu *)f;
    return return_slices(c) || lat_dfield_put(c->g, copy, g, NULL) ? -1 : 0;
}

static int gpu_get(lat_fixer *f, int copy, lat_field *g)
{
    gpu *c = (gpu *)f;
    return return_slices(c) || lat_dfield_get(c->g, copy, g, false) ? -1 : 0;
}

static lat_dfield *gpu_transformations(lat_fixer *f)
{
    gpu *c = (gpu *)f;
    return return_slices(c) ? NULL : c->g;
}

/* ---- opening ---- */

static int few_rows(int nc) { return nc <= 3 ? nc - 1 : nc; }

static lat_shape links_of(const gpu *c, int rows)
{
    const lat_shape s = {c->grid->slot.nd, 2 * c->nc * rows, c->nc, true, false};
    return s;
}

static lat_shape matrix_of(const gpu *c)
{
    const lat_shape s = {1, 2 * c->nc * few_rows(c->nc), c->nc, true, false};
    return s;
}

/* Strips, if links and g of a time slice are more than a part of the second cache: as thick as
 * fits, of whole z. */
static void set_strips(gpu *c)
{
    lat_cuda_work *w = &c->work;
    const double matrix = (double)lat_cuda_object_bytes(c->grid, matrix_of(c)),
                 most = LAT_CUDA_SLICE_BYTES, plane = 2.0 * w->stride[2] * (w->nd + 1) * matrix;
    if (w->nd < 4 || plane * w->extent[2] <= most || (c->grid->halo && c->grid->slab.count < 3))
        return;
    uint32_t thick = w->extent[2] / 2;
    while (thick > 1 && (w->extent[2] % thick || plane * thick > most))
        thick--;
    if (w->stride[2] * thick % 128) /* blocks should not be torn */
        return;
    w->strip = w->stride[2] * thick;
    w->by_strip = lat_cuda_divide_by(w->strip);
    w->times = w->extent[3] - (c->grid->halo ? 4 : 0); /* but ghosts and faces */
    w->by_time = lat_cuda_divide_by(w->times);
}

/* Slots for slices of other ranks, as long as they take no more than a quarter of what is free
 * beside all else; and will it all fit? */
static int make_slots(gpu *c)
{
    char text[64], copies[32] = "", what[128];
    lat_grid *grid = c->grid;
    const double g = (double)c->copies * (double)lat_dfield_unit_bytes(grid, matrix_of(c)),
                 few = g + (double)lat_dfield_unit_bytes(grid, links_of(c, few_rows(c->nc))),
                 all = g + (double)lat_dfield_unit_bytes(grid, links_of(c, c->nc));
    size_t available = 0, total = 0;
    if (lat_cuda_failed(cudaMemGetInfo(&available, &total), "asking for its memory"))
        return -1;
    const double fit = ((double)available - all * grid->slots) / 4 / all;
    const int spare = (int)fmax(0, fmin(fit, lat_balance_capacity(grid)));
    if (spare && lat_grid_set_slots(grid, grid->slots + spare))
        return -1;
    if (c->copies > 1)
        snprintf(copies, sizeof copies, ", %d copies", c->copies);
    snprintf(what, sizeof what, "lattice %s in %s%s", lat_dims_text(&grid->spec.lattice, text),
             lat_storage_name(grid->spec.storage), copies);
    return lat_cuda_check_memory(few * grid->slots, what);
}

/* With fewer rows if all links are in SU(N) to rounding, else with all of them. */
static int load_links(gpu *c, const lat_field *u)
{
    int *rows = &c->work.rows, follow = 0;
    for (*rows = few_rows(c->nc);; *rows = c->nc) {
        /* Weights of whole links are in the links. */
        const double *weight = *rows == c->nc || c->nc == 2 ? c->condition.weight : NULL;
        if (!(c->u = lat_dfield_new(c->grid, links_of(c, *rows), 1, "the links"))
            || lat_dfield_put(c->u, 0, u, weight) || (follow = lat_cuda_rows_follow(c->u)) < 0)
            return -1;
        if (follow)
            return 0;
        lat_dfield_free(c->u);
    }
}

/* What kernels know. */
static int describe(gpu *c)
{
    lat_cuda_work *w = &c->work;
    const lat_cuda_device *dev = lat_cuda_device_of(c->fixer.dev);
    *(lat_cuda_grid *)w = *lat_cuda(c->grid);
    w->problem = lat_gauge_table[c->condition.gauge].problem;
    w->u = c->u->data;
    w->g = c->g->data;
    for (int a = 0; a < w->nd; a++) {
        w->weight[a] = c->condition.weight[c->grid->axis[a]];
        w->weight_single[a] = (float)w->weight[a];
    }
    w->processors = dev->processors;
    w->overlap = dev->overlap;
    set_strips(c);
    return lat_cuda_connect(c->g, &w->peers);
}

static int open_fields(gpu *c, const lat_field *u, lat_real real)
{
    const lat_grid_spec spec = {u->head.geom, lat_storage_of(real), c->condition.time, false};
    if (!(c->grid = lat_grid_new(c->fixer.dev, &spec)))
        return -1;
    if (c->copies > INT_MAX / BATCH / 2 / c->grid->slices)
        return lat_fail("%d copies of %d slices each are too many at once", c->copies,
                        c->grid->slices);
    if (make_slots(c)
        || !(c->g = lat_dfield_new(c->grid, matrix_of(c), c->copies, "the transformations"))
        || load_links(c, u)
        || lat_balance_open(&c->balance, c->u, c->g, true, LAT_CUDA_MIGRATION_SWEEPS * c->copies))
        return -1;
    for (int i = 0; i < c->copies; i++)
        if (lat_dfield_put(c->g, i, NULL, NULL))
            return -1;
    return describe(c);
}

static int open_lists(gpu *c)
{
    const size_t copies = (size_t)c->copies, units = copies * (size_t)c->grid->slots,
                 states = copies * (size_t)c->grid->slices;
    if (lat_cuda_sums_open(&c->sums, c->grid, c->copies, 3)
        || lat_cuda_malloc((void **)&c->unit, units * BATCH * sizeof *c->unit, "the list of slices")
        || lat_cuda_malloc((void **)&c->omega, copies * sizeof *c->omega, "omega")
        || lat_cuda_failed(cudaMemsetAsync(c->omega, 0, copies * sizeof *c->omega, c->stream),
                           "setting omega"))
        return -1;
    c->omega_host = (double *)lat_alloc(copies, sizeof *c->omega_host, "omega");
    c->theta = (double *)lat_alloc(states, sizeof *c->theta, "theta of slices");
    c->active = (int *)lat_alloc(units, sizeof *c->active, "the list of slices");
    c->unit_host = (lat_cuda_unit *)lat_alloc(units * BATCH, sizeof *c->unit_host,
                                              "the list of slices");
    if (!c->omega_host || !c->theta || !c->active || !c->unit_host)
        return -1;
    memset(c->omega_host, 0, copies * sizeof *c->omega_host);
    memset(c->unit_host, 0xff, units * BATCH * sizeof *c->unit_host); /* nothing has been sent */
    for (size_t i = 0; i < states; i++)
        c->theta[i] = INFINITY;
    return send_list(c);
}

static lat_fixer *gpu_open(lat_device *dev, const lat_field *u, const lat_condition *condition,
                           lat_real real, int copies)
{
    const int nc = u->head.nc;
    if (lat_gauge_check_group(condition->gauge, nc)
        || lat_device_check_group(true, nc, lat_fix_gpu.groups))
        return NULL;
    gpu *c = (gpu *)calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory");
        return NULL;
    }
    c->fixer.ops = &lat_fix_gpu;
    c->fixer.dev = dev;
    c->ops = all_ops[2 * (nc - 2) + (real == LAT_F64)];
    c->condition = *condition;
    c->nc = nc;
    c->copies = copies;
    c->stream = lat_cuda_device_of(dev)->stream;
    if (open_fields(c, u, real) || open_lists(c)) {
        gpu_close(&c->fixer);
        return NULL;
    }
    lat_cuda_describe(c->g, c->description, sizeof c->description);
    return &c->fixer;
}

static const char *gpu_description(const lat_fixer *f) { return ((const gpu *)f)->description; }

/* ---- sweeps ---- */

static int send_omega(gpu *c, const double *omega)
{
    const size_t bytes = (size_t)c->copies * sizeof *omega;
    if (!memcmp(c->omega_host, omega, bytes))
        return 0;
    memcpy(c->omega_host, omega, bytes);
    return lat_cuda_failed(
        cudaMemcpyAsync(c->omega, omega, bytes, cudaMemcpyHostToDevice, c->stream),
        "sending omega");
}

typedef struct half_sweep {
    const gpu *c;
    lat_cuda_how how;
    int parity;
} half_sweep;

static cudaError_t launch_half(void *context, int sites)
{
    half_sweep *s = (half_sweep *)context;
    s->how.part = sites;
    return s->c->ops->half(&s->c->work, &s->how, s->parity, s->c->stream);
}

static int gpu_sweep(lat_fixer *f, const lat_sweep *how, long n)
{
    gpu *c = (gpu *)f;
    half_sweep s;
    lat_cuda_how *h = &s.how;
    memset(&s, 0, sizeof s);
    s.c = c;
    h->update = how->update;
    h->omega = c->omega;
    h->real.stochastic = how->stochastic;
    h->real.beta = 1 / how->temperature;
    h->single.stochastic = (float)how->stochastic;
    h->single.beta = (float)h->real.beta;
    h->seed = how->seed;
    h->config = how->config;
    h->step = how->step;
    h->unit = c->unit;
    h->nrows = c->nrows;
    h->batch = c->batch;
    lat_balance_swept(&c->balance, n);
    if (how->omega && send_omega(c, how->omega))
        return -1;
    if (c->nrows == 0)
        return 0;
    for (long k = 0; k < n; k++, h->step++)
        for (s.parity = 0; s.parity < 2; s.parity++) {
            const lat_halo_part part = {s.parity, c->active, c->nactive, 0, 1};
            h->number = ++c->number;
            if (lat_cuda_sweep(c->g, &part, launch_half, &s))
                return -1;
        }
    return 0;
}

/* ---- functional and theta ---- */

static int gpu_state(lat_fixer *f, lat_gauge_state *s, double *slices)
{
    gpu *c = (gpu *)f;
    const size_t row = 3 * (size_t)c->sums.slices;
    lat_cuda_sums_begin(&c->sums, lat_balance_slots_used(&c->balance));
    if (lat_cuda_failed(c->ops->state(&c->work, &c->sums, c->number, c->stream), "summing up")
        || lat_cuda_sums_finish(&c->sums, c->grid))
        return -1;
    for (int unit = 0; unit < c->sums.units; unit++)
        if (!lat_balance_here(&c->balance, unit))
            memset(c->sums.sum + (size_t)unit * row, 0, row * sizeof *c->sums.sum);
    if (lat_state_total(c->grid, &c->condition, c->nc, c->copies, c->sums.sum, c->theta, s))
        return -1;
    if (slices)
        memcpy(slices, c->theta, (size_t)c->copies * (size_t)c->grid->slices * sizeof *slices);
    return 0;
}

static long gpu_freeze(lat_fixer *f, const double *theta)
{
    gpu *c = (gpu *)f;
    return lat_balance_freeze(&c->balance, c->theta, theta) || send_list(c)
               ? -1
               : lat_state_left(c->theta, theta, c->copies, c->grid->slices);
}

const lat_fix_ops lat_fix_gpu = {
    gpu_open,  gpu_close, gpu_description, gpu_set,          gpu_get,
    gpu_sweep, gpu_state, gpu_freeze,      LAT_GPU_FIX_MOST, gpu_transformations,
};
