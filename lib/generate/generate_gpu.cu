/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_gpu.cu: configurations on NVIDIA GPUs, one a rank, a thread a link.
 *
 * All work goes to one stream, in order. An update of one direction and parity reads none of the
 * links it writes, and sums are taken slice by slice in a fixed order: results on one kind of GPU
 * are the same bit for bit, on any number of them. */
#include <stdint.h>
#include "generate_cuda.cuh"
#include "grid/cuda_dfield.cuh"
#include "grid/cuda_table.h"
extern "C" {
#include "generate_internal.h"
}

LAT_CUDA_TABLE(lat_cuda_link_ops, LAT_GPU_LINKS_MOST);

typedef struct gpu {
    lat_generator gen;
    const lat_cuda_link_ops *ops;
    lat_cuda_links along[4]; /* for an update of each direction; along[0] has the axes in order */
    cudaStream_t stream;     /* the device's */
    uint32_t number;         /* steps so far */
} gpu;

/* What kernels know: each direction in turn is axis 0. */
static int gpu_open(lat_generator *gen)
{
    gpu *c = (gpu *)gen;
    const int last = gen->grid->slot.nd - 1;
    const double xi = gen->action.xi;
    lat_cuda_peers peers;
    c->ops = lat_cuda_link_ops_table[gen->nc][gen->real == LAT_F64];
    c->stream = lat_cuda_device_of(gen->dev)->stream;
    if (lat_cuda_connect(gen->u, &peers))
        return -1;
    for (int mu = 0; mu <= last; mu++) {
        lat_cuda_links *w = c->along + mu;
        *(lat_cuda_sites *)w = *lat_cuda(gen->grid);
        lat_cuda_axes(gen->grid, mu, w->axis);
        for (int a = 1; a < 4; a++)
            w->weight[a] = mu == last || w->axis[a].dir == last ? xi : 1 / xi;
        w->site_from = lat_cuda_site_from(gen->grid, 0);
        w->u = gen->u->data;
        w->peers = peers;
        w->overlap = lat_cuda_device_of(gen->dev)->overlap;
    }
    lat_cuda_describe(gen->u, gen->description, sizeof gen->description);
    return 0;
}

static int gpu_sweep(lat_generator *gen, const lat_link_sweep *how, long n)
{
    static const int unit = 0;
    gpu *c = (gpu *)gen;
    lat_cuda_draw draw = {};
    draw.k = gen->action.beta / gen->nc;
    draw.update = how->update;
    draw.seed = how->seed;
    draw.config = how->config;
    draw.step = how->step;
    for (long i = 0; i < n; i++, draw.step++)
        for (int k = 0; k < 2 * gen->grid->slot.nd; k++) {
            const int mu = k / 2, parity = k % 2;
            const lat_halo_part part = {parity, &unit, 1, mu, 1};
            draw.number = ++c->number;
            if (lat_cuda_sweep(gen->u, &part, &draw, [&] {
                    return c->ops->update(c->along + mu, &draw, parity, c->stream);
                }))
                return -1;
        }
    if (!c->ops->reunit)
        return 0;
    draw.number = ++c->number;
    return lat_cuda_failed(c->ops->reunit(c->along, &draw, c->stream), "a sweep");
}

/* And nobody goes on before all have read their ghosts. */
static int gpu_plaquettes(lat_generator *gen, double sum[2])
{
    gpu *c = (gpu *)gen;
    return lat_cuda_total(gen->grid, 1, NULL, 2, 0, sum, [&](const lat_cuda_sums *sums) {
        return c->ops->plaquette(c->along, sums, c->number, c->stream);
    });
}

const lat_generate_device lat_generate_gpu = {
    LAT_GPU_LINKS_MOST, sizeof(gpu), gpu_open, gpu_sweep, gpu_plaquettes,
};
