/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_gpu.cu: configurations on NVIDIA GPUs, one a rank, a thread a link.
 *
 * All work goes to one stream, in order. An update of one direction and parity reads none of the
 * links it writes, and sums are taken slice by slice in a fixed order: results on one kind of GPU
 * are the same bit for bit, on any number of them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "generate_cuda.cuh"
#include "grid/cuda_dfield.cuh"
extern "C" {
#include "base/error.h"
#include "generate.h"
#include "grid/reduce.h"
#define DECLARE(n, of) \
    extern const lat_cuda_link_ops lat_cuda_link_ops_f##n, lat_cuda_link_ops_d##n;
LAT_EACH_GROUP(LAT_GPU_LINKS_MOST, DECLARE, )
#undef DECLARE
}

#define ENTRY(n, of) &lat_cuda_link_ops_f##n, &lat_cuda_link_ops_d##n,
static const lat_cuda_link_ops *const all_ops[] = {LAT_EACH_GROUP(LAT_GPU_LINKS_MOST, ENTRY, )};
#undef ENTRY

typedef struct gpu {
    lat_generator gen;
    const lat_cuda_link_ops *ops;
    lat_action action;
    int nc;
    lat_grid *grid;
    lat_dfield *u;
    lat_cuda_links along[4]; /* for an update of each direction; along[0] has the axes in order */
    cudaStream_t stream;     /* the device's */
    uint32_t number;         /* steps so far */
    lat_cuda_sums sums;
    char description[80];
} gpu;

static void gpu_close(lat_generator *gen)
{
    gpu *c = (gpu *)gen;
    if (!c)
        return;
    if (c->grid && c->grid->halo && *lat_error())
        return; /* kernels may wait for neighbours that have failed; the process is about to end */
    cudaStreamSynchronize(c->stream);
    lat_dfield_free(c->u);
    lat_grid_free(c->grid);
    lat_cuda_sums_close(&c->sums);
    free(c);
}

static int gpu_get(lat_generator *gen, lat_field *u)
{
    const gpu *c = (const gpu *)gen;
    return lat_dfield_get(c->u, 0, u, true) || lat_field_exchange(u) ? -1 : 0;
}

/* ---- opening ---- */

static int open_field(gpu *c, const lat_field *u, lat_real real)
{
    char text[64], what[96];
    const lat_grid_spec spec = {u->head.geom, lat_storage_of(real), -1, false};
    const lat_shape shape = {u->head.geom.nd, 2 * c->nc * c->ops->rows, c->nc, true, false};
    if (!(c->grid = lat_grid_new(c->gen.dev, &spec)))
        return -1;
    snprintf(what, sizeof what, "lattice %s of SU(%d) in %s", lat_dims_text(&u->head.geom, text),
             c->nc, real == LAT_F32 ? "single" : "double");
    if (lat_cuda_check_memory((double)lat_dfield_unit_bytes(c->grid, shape), what)
        || !(c->u = lat_dfield_new(c->grid, shape, 1, "the links"))
        || lat_dfield_put(c->u, 0, u, NULL))
        return -1;
    return lat_cuda_sums_open(&c->sums, c->grid, 1, 2);
}

/* What kernels know: each direction in turn is axis 0. */
static int describe(gpu *c)
{
    const int last = c->grid->slot.nd - 1;
    lat_cuda_peers peers;
    if (lat_cuda_connect(c->u, &peers))
        return -1;
    for (int mu = 0; mu <= last; mu++) {
        lat_cuda_links *w = c->along + mu;
        *(lat_cuda_sites *)w = *lat_cuda(c->grid);
        lat_cuda_axes(c->grid, mu, w->axis);
        for (int a = 1; a < 4; a++)
            w->weight[a] = mu == last || w->axis[a].dir == last ? c->action.xi : 1 / c->action.xi;
        w->site_from = lat_cuda_site_from(c->grid, 0);
        w->u = c->u->data;
        w->peers = peers;
        w->overlap = lat_cuda_device_of(c->gen.dev)->overlap;
    }
    return 0;
}

static lat_generator *gpu_open(lat_device *dev, const lat_field *u, lat_real real,
                               const lat_action *action)
{
    const int nc = u->head.nc;
    if (lat_device_check_group(true, nc, lat_generate_gpu.groups))
        return NULL;
    gpu *c = (gpu *)calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory: a generator");
        return NULL;
    }
    c->gen.ops = &lat_generate_gpu;
    c->gen.dev = dev;
    c->ops = all_ops[2 * (nc - 2) + (real == LAT_F64)];
    c->action = *action;
    c->nc = nc;
    c->stream = lat_cuda_device_of(dev)->stream;
    if (open_field(c, u, real) || describe(c)) {
        gpu_close(&c->gen);
        return NULL;
    }
    lat_cuda_describe(c->u, c->description, sizeof c->description);
    return &c->gen;
}

static const char *gpu_description(const lat_generator *gen)
{
    return ((const gpu *)gen)->description;
}

/* ---- sweeps ---- */

typedef struct update {
    const gpu *c;
    lat_cuda_draw draw;
    int mu, parity;
} update;

static cudaError_t launch_update(void *context, int sites)
{
    update *p = (update *)context;
    p->draw.part = sites;
    return p->c->ops->update(p->c->along + p->mu, &p->draw, p->parity, p->c->stream);
}

static int gpu_sweep(lat_generator *gen, const lat_link_sweep *how, long n)
{
    static const int unit = 0;
    gpu *c = (gpu *)gen;
    update p = {c,
                {c->action.beta / c->nc, how->update, how->seed, how->config, how->step,
                 LAT_CUDA_ALL, 0, 0, 0, 0},
                0,
                0};
    for (long i = 0; i < n; i++, p.draw.step++)
        for (p.mu = 0; p.mu < c->grid->slot.nd; p.mu++)
            for (p.parity = 0; p.parity < 2; p.parity++) {
                const lat_halo_part part = {p.parity, &unit, 1, p.mu, 1};
                p.draw.number = ++c->number;
                if (lat_cuda_sweep(c->u, &part, launch_update, &p))
                    return -1;
            }
    if (!c->ops->reunit)
        return 0;
    p.draw.number = ++c->number;
    return lat_cuda_failed(c->ops->reunit(c->along, &p.draw, c->stream), "a sweep");
}

static int gpu_plaquette(lat_generator *gen, double *spatial, double *temporal)
{
    gpu *c = (gpu *)gen;
    double total[2];
    lat_cuda_sums_begin(&c->sums, 1);
    if (lat_cuda_failed(c->ops->plaquette(c->along, &c->sums, c->number, c->stream), "summing up")
        || lat_cuda_sums_finish(&c->sums, c->grid)
        || lat_reduce_total(c->grid, 1, 2, 0, c->sums.sum,
                            total)) /* and nobody goes on before all have read their ghosts */
        return -1;
    lat_generate_means(&c->grid->spec.lattice, c->nc, total, spatial, temporal);
    return 0;
}

const lat_generate_ops lat_generate_gpu = {
    gpu_open, gpu_close, gpu_description, gpu_sweep, gpu_plaquette, gpu_get, LAT_GPU_LINKS_MOST,
};
