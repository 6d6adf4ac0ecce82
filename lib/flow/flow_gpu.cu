/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_gpu.cu: the gradient flow on NVIDIA GPUs, one a rank, a thread a link.
 *
 * All work goes to one stream, in order. A stage reads the links of one field and writes those of
 * another, so that the links before a step are still there when it has to be made again. Sums are
 * taken slice by slice in a fixed order: results on one kind of GPU are the same bit for bit, on
 * any number of them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "flow_cuda.cuh"
#include "grid/cuda_dfield.cuh"
extern "C" {
#include "base/error.h"
#include "grid/reduce.h"
#define DECLARE(n, of) extern const lat_cuda_flow_ops lat_cuda_flow_ops_d##n;
LAT_EACH_GROUP(LAT_GPU_FLOW_MOST, DECLARE, )
#undef DECLARE
}

#define ENTRY(n, of) &lat_cuda_flow_ops_d##n,
static const lat_cuda_flow_ops *const all_ops[] = {LAT_EACH_GROUP(LAT_GPU_FLOW_MOST, ENTRY, )};
#undef ENTRY

typedef struct gpu {
    lat_flow flow;
    const lat_cuda_flow_ops *ops;
    cudaStream_t stream; /* the device's */
    lat_dfield *u[3];    /* links; two where steps are fixed */
    lat_cuda_peers peers[3];
    int fields, now,
        start; /* of u: how many; the links as they are; those before the step, or -1 */
    lat_dfield *plane, *y, *again;
    lat_cuda_peers plane_peers;
    lat_cuda_flow work;
    lat_cuda_sums numbers, most;
    uint32_t number; /* of kernels so far */
} gpu;

static void gpu_close(lat_flow *f)
{
    gpu *c = (gpu *)f;
    if (f->grid && f->grid->halo && *lat_error())
        return; /* kernels may wait for neighbours that have failed; the process is about to end */
    cudaStreamSynchronize(c->stream);
    for (lat_dfield *u : c->u)
        lat_dfield_free(u);
    lat_dfield_free(c->plane);
    lat_dfield_free(c->y);
    lat_dfield_free(c->again);
    lat_grid_free(f->grid);
    lat_cuda_sums_close(&c->numbers);
    lat_cuda_sums_close(&c->most);
    free(c);
}

/* ---- opening ---- */

static int check_memory(const gpu *c, const lat_field *u, lat_shape links, lat_shape algebra,
                        lat_shape plane)
{
    const lat_grid *grid = c->flow.grid;
    char text[64], what[96];
    const double bytes = c->fields * (double)lat_dfield_unit_bytes(grid, links)
                         + (c->fields - 1) * (double)lat_dfield_unit_bytes(grid, algebra)
                         + (c->flow.how.c1 != 0) * (double)lat_dfield_unit_bytes(grid, plane);
    snprintf(what, sizeof what, "the flow of lattice %s of SU(%d)",
             lat_dims_text(&u->head.geom, text), u->head.nc);
    return lat_cuda_check_memory(bytes, what);
}

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

static int open_fields(gpu *c, lat_device *dev, const lat_field *u)
{
    const int nc = u->head.nc, nd = u->head.geom.nd;
    const lat_grid_spec spec = {u->head.geom, LAT_STORAGE_DOUBLE, -1, false};
    const lat_shape links = {nd, 2 * nc * c->ops->rows, nc, true, false},
                    plane = {LAT_FLOW_STAPLES, links.reals, nc, true, false},
                    algebra = {nd, nc * nc, 0, false, false};
    lat_flow *f = &c->flow;
    c->fields = f->how.step > 0 ? 2 : 3;
    if (!(f->grid = lat_grid_new(dev, &spec)) || check_memory(c, u, links, algebra, plane))
        return -1;
    for (int i = 0; i < c->fields; i++)
        if (!(c->u[i] = lat_dfield_new(f->grid, links, 1, "links"))
            || (i == 0 && lat_dfield_put(c->u[0], 0, u, NULL)) || connect(c, c->u[i], c->peers + i))
            return -1;
    f->u = c->u[0];
    if (!(c->y = lat_dfield_new(f->grid, algebra, 1, "the flow"))
        || (c->fields == 3 && !(c->again = lat_dfield_new(f->grid, algebra, 1, "the flow"))))
        return -1;
    if (f->how.c1 != 0
        && (!(c->plane = lat_dfield_new(f->grid, plane, 1, "staples"))
            || connect(c, c->plane, &c->plane_peers)))
        return -1;
    return lat_cuda_sums_open(&c->numbers, f->grid, 1, LAT_FLOW_NUMBERS)
                   || lat_cuda_sums_open(&c->most, f->grid, 1, 1)
               ? -1
               : 0;
}

static lat_flow *gpu_open(lat_device *dev, const lat_field *u, const lat_flow_how *how)
{
    gpu *c = (gpu *)calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory: a flow");
        return NULL;
    }
    c->flow.how = *how;
    c->ops = all_ops[u->head.nc - 2];
    c->stream = lat_cuda_device_of(dev)->stream;
    c->start = -1;
    if (open_fields(c, dev, u)) {
        gpu_close(&c->flow);
        return NULL;
    }
    lat_cuda_flow *w = &c->work;
    *(lat_cuda_sites *)w = *lat_cuda(c->flow.grid);
    for (int mu = 0; mu < w->nd; mu++)
        lat_cuda_axes(c->flow.grid, mu, w->along[mu]);
    w->c0 = 1 - 8 * how->c1;
    w->c1 = how->c1;
    w->y = c->y->data;
    w->again = c->again ? c->again->data : NULL;
    w->plane = c->plane ? c->plane->data : NULL;
    return &c->flow;
}

/* ---- stages ---- */

static int failed(cudaError_t e) { return lat_cuda_failed(e, "the flow"); }

/* What is exchanged where kernels do not write to the neighbours' ghosts. */
static int exchange(lat_dfield *f, const lat_cuda_peers *peers)
{
    return peers->direct ? 0 : lat_halo_exchange(f, 0);
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

static int planes(gpu *c, const lat_cuda_flow_stage *s)
{
    const lat_grid *grid = c->flow.grid;
    for (int mu = 0; mu < c->work.nd; mu++)
        for (int nu = mu + 1; nu < c->work.nd; nu++) {
            lat_cuda_plane q;
            axes_of_plane(grid, mu, nu, q.half[0]);
            axes_of_plane(grid, nu, mu, q.half[1]);
            q.first[0] = nu == (mu == 0);
            q.first[1] = mu == 0;
            const lat_cuda_flow *w = next(c, c->plane, &c->plane_peers);
            if (failed(c->ops->staples(w, &q, c->stream)) || exchange(c->plane, &c->plane_peers))
                return -1;
            w = next(c, c->plane, &c->plane_peers);
            if (failed(c->ops->plane(w, &q, s, c->stream)))
                return -1;
        }
    return 0;
}

static int gpu_stage(lat_flow *f, const lat_flow_stage *how)
{
    gpu *c = (gpu *)f;
    const lat_cuda_flow_stage s = {how->beta,  how->alpha, how->eps,
                                   how->a,     how->b,     lat_flow_halvings(how->bound),
                                   how->again, how->last};
    if (how->first)
        c->start = c->now;
    int to = 0;
    while (to == c->now || to == c->start)
        to++;
    if (c->plane
        && ((how->again
             && failed(cudaMemcpyAsync(c->again->data, c->y->data, c->y->unit_bytes,
                                       cudaMemcpyDeviceToDevice, c->stream)))
            || planes(c, &s)))
        return -1;
    const lat_cuda_flow *w = next(c, c->u[to], c->peers + to);
    if (failed((c->plane ? c->ops->apply : c->ops->wilson)(w, &s, c->stream))
        || exchange(c->u[to], c->peers + to))
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

static int gpu_apart(lat_flow *f, double eps, double bound, double *square)
{
    gpu *c = (gpu *)f;
    const lat_cuda_flow_stage s = {0, 0, eps, 0, 0, lat_flow_halvings(bound), 0, 0};
    lat_cuda_flow w = c->work;
    w.u = c->u[c->now]->data;
    w.plane = c->u[c->start]->data;
    lat_cuda_sums_begin(&c->most, 1);
    return failed(c->ops->apart(&w, &s, &c->most, c->stream))
                   || lat_cuda_sums_finish(&c->most, f->grid)
                   || lat_reduce_total(f->grid, 1, 1, 1, c->most.sum, square)
               ? -1
               : 0;
}

static int gpu_numbers(lat_flow *f, double total[LAT_FLOW_NUMBERS])
{
    gpu *c = (gpu *)f;
    lat_cuda_planes q = {0, {}};
    for (int mu = 0; mu < c->work.nd; mu++)
        for (int nu = mu + 1; nu < c->work.nd; nu++)
            axes_of_plane(f->grid, mu, nu, q.axis[q.planes++]);
    const lat_cuda_flow *w = next(c, c->u[c->now], c->peers + c->now);
    lat_cuda_sums_begin(&c->numbers, 1);
    return failed(c->ops->numbers(w, &q, &c->numbers, c->stream))
                   || lat_cuda_sums_finish(&c->numbers, f->grid)
                   || lat_reduce_total(f->grid, 1, LAT_FLOW_NUMBERS, 0, c->numbers.sum,
                                       total) /* and nobody goes on before all have read */
               ? -1
               : 0;
}

const lat_flow_device lat_flow_gpu = {
    LAT_GPU_FLOW_MOST, gpu_open, gpu_close, gpu_stage, gpu_restore, gpu_apart, gpu_numbers,
};
