/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_faces.cu: several ranks: g at the rim of a slab, which is the ghost of its neighbours
 * (cuda_halo.cuh: how it gets there). */
#include "fix_gpu.cuh"

typedef lat_cuda_gpu gpu;

static size_t rim_bytes(const gpu *c, int units)
{
    return (size_t)units * c->work.rim * lat_cuda_matrix_bytes(c, lat_cuda_few_rows(c));
}

int lat_cuda_fix_connect(gpu *c)
{
    lat_cuda_work *w = &c->work;
    const lat_cuda_window shore = {w->g, lat_cuda_g_bytes(c), w->groups, {0, w->from + w->own}};
    if (lat_cuda_halo_connect(&c->rims, c->dev.comm, &shore, w->side))
        return -1;
    w->peer = lat_cuda_halo_is_peer(&c->rims);
    w->heard = lat_cuda_flags(&shore);
    w->rim_arrived = lat_cuda_flags(&shore) + 2;
    c->box_units = w->peer ? 1 : c->units; /* those of a copy that is set go one by one */
    return lat_cuda_halo_buffers(&c->rims, rim_bytes(c, c->box_units));
}

static int pack_rims(gpu *c, int unit, int units, int parity)
{
    return lat_cuda_failed(c->ops->rim(&c->work, unit, units, parity, c->rims.box[0], 0, c->stream),
                           "packing rims")
                   || lat_cuda_halo_begin(&c->rims, c->stream)
               ? -1
               : 0;
}

static int unpack_ghosts(gpu *c, int unit, int units, int parity)
{
    return lat_cuda_halo_finish(&c->rims, rim_bytes(c, units), c->stream)
                   || lat_cuda_failed(
                       c->ops->rim(&c->work, unit, units, parity, c->rims.box[1], 1, c->stream),
                       "unpacking ghosts")
               ? -1
               : 0;
}

int lat_cuda_set_ghosts(gpu *c, int copy)
{
    for (int s = 0; s < c->work.slices; s += c->box_units)
        for (int parity = 0; parity < 2; parity++) {
            const int n = c->work.slices - s < c->box_units ? c->work.slices - s : c->box_units,
                      unit = copy * c->work.slices + s;
            if (pack_rims(c, unit, n, parity) || unpack_ghosts(c, unit, n, parity)
                || lat_cuda_failed(cudaStreamSynchronize(c->stream), "unpacking ghosts"))
                return -1;
        }
    return 0;
}

int lat_cuda_half_staged(gpu *c, lat_cuda_how *h, int parity)
{
    h->part = LAT_CUDA_FACE;
    if (lat_cuda_failed(c->ops->half(&c->work, h, parity, c->stream), "a sweep")
        || pack_rims(c, 0, c->units, parity))
        return -1;
    h->part = LAT_CUDA_INTERIOR;
    return lat_cuda_failed(c->ops->half(&c->work, h, parity, c->stream), "a sweep")
                   || unpack_ghosts(c, 0, c->units, parity)
               ? -1
               : 0;
}
