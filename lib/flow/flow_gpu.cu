/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_gpu.cu: the gradient flow on NVIDIA GPUs, one a rank, a thread a link.
 *
 * All work goes to one stream, in order. A stage reads the links of one field and writes those of
 * another, so that the links before a step are still there when it has to be made again. Sums are
 * taken slice by slice in a fixed order: results on one kind of GPU are the same bit for bit, on
 * any number of them. */
#include <stdint.h>
#include "flow_cuda.cuh"
#include "grid/cuda_dfield.cuh"
#include "grid/cuda_table.h"

LAT_CUDA_DOUBLES(lat_cuda_flow_ops, LAT_GPU_FLOW_MOST);

typedef struct gpu {
    lat_flow flow;
    const lat_cuda_flow_ops *ops;
    cudaStream_t stream; /* the device's */
    lat_dfield *u[3];    /* links; two where steps are fixed */
    lat_cuda_peers peers[3], plane_peers;
    int now, start; /* of u: the links as they are; those before the step, or -1 */
    lat_cuda_flow work;
    uint32_t number; /* of kernels so far */
} gpu;

/* ---- opening ---- */

/* Flags are those of the first field: they count the kernels of all. */
static int connect(gpu *c, lat_dfield *f, lat_cuda_peers *peers)
{
    if (lat_cuda_connect(f, peers))
        return -1;
    peers->received = c->peers[0].received;
    for (int s = 0; s < 2; s++)
        peers->side[s].flag = c->peers[0].side[s].flag;
    return 0;
}

static int gpu_open(lat_flow *f, lat_shape links)
{
    gpu *c = (gpu *)f;
    lat_cuda_flow *w = &c->work;
    c->ops = lat_cuda_flow_ops_table[links.nc];
    c->stream = lat_cuda_device_of(f->grid->dev)->stream;
    c->start = -1;
    for (int i = 0; i < (f->again ? 3 : 2); i++)
        if (!(c->u[i] = i ? lat_dfield_new(f->grid, links, 1, "links") : f->u)
            || connect(c, c->u[i], c->peers + i))
            return -1;
    if (f->plane && connect(c, f->plane, &c->plane_peers))
        return -1;
    *(lat_cuda_sites *)w = *lat_cuda(f->grid);
    for (int mu = 0; mu < w->nd; mu++)
        lat_cuda_axes(f->grid, mu, w->along[mu]);
    w->c0 = 1 - 8 * f->how.c1;
    w->c1 = f->how.c1;
    w->temporal = f->temporal;
    const uint32_t slice = w->own / (uint32_t)lat_reduce_slices(f->grid);
    w->below = lat_flow_end_here(f, false) ? w->from + slice : 0;
    w->above = lat_flow_end_here(f, true) ? w->from + w->own - slice : UINT32_MAX;
    w->y = f->y->data;
    w->again = f->again ? f->again->data : NULL;
    w->plane = f->plane ? f->plane->data : NULL;
    return 0;
}

/* ---- stages ---- */

static int failed(cudaError_t e) { return lat_cuda_failed(e, "the flow"); }

/* Faces that no kernel has written to the neighbours' ghosts. */
static int exchange(lat_dfield *f)
{
    static const int unit = 0;
    for (int parity = 0; parity < 2 && !lat_cuda_direct(f); parity++) {
        const lat_halo_part part = {parity, &unit, 1, 0, f->shape.objects};
        if (lat_cuda_halo_begin(f, &part) || lat_cuda_halo_finish(f))
            return -1;
    }
    return 0;
}

/* The next kernel writes `to`. */
static const lat_cuda_flow *next(gpu *c, const lat_dfield *to, const lat_cuda_peers *peers)
{
    c->work.u = c->u[c->now]->data;
    c->work.to = to->data;
    c->work.peers = *peers;
    c->work.number = ++c->number;
    return &c->work;
}

/* Axis nu to the second place. */
static void axes_of_plane(const lat_grid *grid, int mu, int nu, lat_cuda_axis axis[4])
{
    lat_cuda_axes(grid, mu, axis);
    for (int a = 2; a < 4; a++)
        if (axis[a].dir == nu) {
            const lat_cuda_axis second = axis[1];
            axis[1] = axis[a];
            axis[a] = second;
        }
}

static int planes(gpu *c, const lat_flow_stage *s)
{
    const lat_grid *grid = c->flow.grid;
    for (int mu = 0; mu < c->work.nd; mu++)
        for (int nu = mu + 1; nu < c->work.nd; nu++) {
            lat_cuda_plane q;
            axes_of_plane(grid, mu, nu, q.half[0]);
            axes_of_plane(grid, nu, mu, q.half[1]);
            q.first[0] = nu == (mu == 0);
            q.first[1] = mu == 0;
            const lat_cuda_flow *w = next(c, c->flow.plane, &c->plane_peers);
            if (failed(c->ops->staples(w, &q, c->stream)) || exchange(c->flow.plane))
                return -1;
            w = next(c, c->flow.plane, &c->plane_peers);
            if (failed(c->ops->plane(w, &q, s, c->stream)))
                return -1;
        }
    return 0;
}

static int gpu_stage(lat_flow *f, const lat_flow_stage *s)
{
    gpu *c = (gpu *)f;
    if (s->first)
        c->start = c->now;
    int to = 0;
    while (to == c->now || to == c->start)
        to++;
    if (f->plane
        && ((s->again
             && failed(cudaMemcpyAsync(f->again->data, f->y->data, f->y->unit_bytes,
                                       cudaMemcpyDeviceToDevice, c->stream)))
            || planes(c, s)))
        return -1;
    const lat_cuda_flow *w = next(c, c->u[to], c->peers + to);
    if (failed((f->plane ? c->ops->apply : c->ops->wilson)(w, s, c->stream)) || exchange(c->u[to]))
        return -1;
    c->now = to;
    f->u = c->u[to];
    return 0;
}

static int gpu_restore(lat_flow *f)
{
    gpu *c = (gpu *)f;
    c->now = c->start;
    f->u = c->u[c->now];
    return 0;
}

/* ---- numbers ---- */

static int gpu_apart(lat_flow *f, double eps, int halvings, double *square)
{
    gpu *c = (gpu *)f;
    lat_flow_stage s = {};
    lat_cuda_flow w = c->work;
    s.eps = eps;
    s.halvings = halvings;
    w.u = c->u[c->now]->data;
    w.plane = c->u[c->start]->data;
    return lat_cuda_total(f->grid, 1, NULL, 1, 1, square, [&](const lat_cuda_sums *sums) {
        return c->ops->apart(&w, &s, sums, c->stream);
    });
}

/* And nobody goes on before all have read. */
static int gpu_numbers(lat_flow *f, double *sums_of_slices)
{
    gpu *c = (gpu *)f;
    lat_cuda_planes q = {0, {}};
    for (int mu = 0; mu < c->work.nd; mu++)
        for (int nu = mu + 1; nu < c->work.nd; nu++)
            axes_of_plane(f->grid, mu, nu, q.axis[q.planes++]);
    const lat_cuda_flow *w = next(c, c->u[c->now], c->peers + c->now);
    return lat_cuda_slicewise(
        f->grid, LAT_FLOW_NUMBERS, sums_of_slices,
        [&](const lat_cuda_sums *sums) { return c->ops->numbers(w, &q, sums, c->stream); });
}

const lat_flow_device lat_flow_gpu = {
    LAT_GPU_FLOW_MOST, sizeof(gpu), gpu_open, gpu_stage, gpu_restore, gpu_apart, gpu_numbers,
};
