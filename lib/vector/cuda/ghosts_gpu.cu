/* SPDX-License-Identifier: BSD-3-Clause */
/* ghosts_gpu.cu: the memory in which the GPUs of several ranks give each other faces and sums. */
#include <stdlib.h>
#include "grid/cuda_carry.cuh"
#include "vector/cuda/cuda_space.cuh"
extern "C" {
#include "common/options.h"
}

static int failed(cudaError_t e) { return lat_cuda_failed(e, "faces of spinors"); }

static cudaError_t empty(const lat_gpu_space *s, size_t groups)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const cudaError_t e = lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        return lat_cuda_start(false, empty_ghosts<P>, lat_cuda_blocks(groups, 4), 128, stream,
                              s->window.mine + s->ghosts, groups);
    });
    return e ? e : cudaStreamSynchronize(stream);
}

/* Ranks may have different numbers of slices: sides begin where those with most have them. */
static void set_sides(lat_gpu_space *s)
{
    const lat_grid *grid = s->space.grid;
    const size_t slices = s->sites.extent[3], columns = (size_t)s->space.columns,
                 ranks = (size_t)grid->box.ranks[3],
                 most = ((size_t)grid->spec.lattice.dims[3] + ranks - 1) / ranks,
                 row = (size_t)s->sites.extent[0] * s->sites.extent[2], /* of a slice */
        here[] = {s->sites.slice / 32, s->sites.plane / 32 * slices, (row * slices + 31) / 32},
                 there[] = {here[0], s->sites.plane / 32 * most, (row * most + 31) / 32};
    s->half = 0;
    for (int side = 0; side < LAT_FACES; side++) {
        const bool cut = grid->cut[lat_face_axis(side)];
        s->face[side / 2] = cut ? here[side / 2] * s->group : 0;
        s->side[side] = s->half;
        s->half += cut ? columns * there[side / 2] * s->group : 0;
    }
}

/* Faces go to peers, or they are carried; all ranks know whether there are both. */
static int choose_ways(lat_gpu_space *s)
{
    const lat_device *dev = s->space.grid->dev;
    char text[LAT_CUDA_WAYS];
    double any[2] = {0, 0}; /* peers, carried */
    for (int side = 0; side < LAT_FACES; side++) {
        if (!s->face[side / 2])
            continue;
        const bool peer = s->window.of[lat_gpu_neighbour(s, side)] != NULL;
        s->carried |= (unsigned)!peer << side;
        any[peer ? 0 : 1] = 1;
    }
    if (dev->comm->max(dev->comm, any, 2)
        || (!s->window.direct && lat_cuda_carrier_prepare(lat_cuda_carrier_of(dev))))
        return -1;
    lat_cuda_describe_faces(dev, any[0] > 0, any[1] > 0, text, sizeof text);
    lat_verbose("faces of spinors: %s", text);
    return 0;
}

/* Which branches of the lattice rank r has, to branch[]; it returns their number. */
static uint32_t branches_of(const lat_gpu_space *s, int r, lat_gpu_branch *branch)
{
    const lat_grid *grid = s->space.grid;
    const lat_box box = lat_box_at(&grid->box, &grid->spec.lattice, r);
    const uint32_t some = (uint32_t)box.count[2] / s->planes, y = (uint32_t)box.at[1] * s->in_y,
                   slices = (uint32_t)box.count[3] * some * s->in_y;
    for (uint32_t k = 0; k < slices; k++) {
        const uint32_t zt = k / s->in_y, z = (uint32_t)box.first[2] / s->planes + zt % some;
        branch[((uint32_t)box.first[3] + zt / some) * s->width + z * s->width_y + y + k % s->in_y] =
            {(uint32_t)r, slices, k};
    }
    return slices;
}

static int open_gather(lat_gpu_space *s, size_t numbers)
{
    static const char what[] = "sums of ranks";
    const lat_grid *grid = s->space.grid;
    lat_gpu_gather *g = &s->gather;
    const size_t count = (size_t)grid->spec.lattice.dims[3] * s->width;
    const int ranks = grid->dev->comm->size;
    lat_gpu_branch *branch = (lat_gpu_branch *)lat_alloc_zero(count, sizeof *branch, what);
    for (int r = 0; branch && r < ranks; r++) {
        const uint32_t has = branches_of(s, r, branch);
        g->most = has > g->most ? has : g->most;
    }
    const int rc = lat_rc(
        !branch
        || lat_cuda_malloc((void **)&g->all, (size_t)ranks * numbers * g->most * sizeof *g->all,
                           what)
        || lat_cuda_malloc((void **)&g->branch, count * sizeof *branch, what)
        || failed(cudaMemcpy(g->branch, branch, count * sizeof *branch, cudaMemcpyHostToDevice)));
    free(branch);
    return rc;
}

/* Sums over ranks, where not all of them write to all windows. */
static int open_sums(lat_gpu_space *s)
{
    const size_t numbers = (size_t)s->space.columns * lat_gpu_numbers_of_ranks(s),
                 slices = s->sites.extent[3] * s->branches;
    if (s->window.direct)
        return 0;
    if (lat_cuda_carrier_has_nccl(lat_cuda_carrier_of(s->space.grid->dev)))
        return open_gather(s, numbers);
    return failed(cudaMallocHost((void **)&s->slices_host, numbers * slices * sizeof(double)));
}

int lat_gpu_faces_open(lat_gpu_space *s)
{
    const lat_grid *grid = s->space.grid;
    if (!grid->halo)
        return 0;
    s->ghosts = 2 * lat_gpu_packet_numbers(s) * sizeof(double2);
    set_sides(s);
    if (lat_cuda_window_open(grid->dev, s->ghosts + 2 * s->half, "faces of spinors", &s->window)
        || choose_ways(s) || failed(empty(s, 2 * s->half / s->group))
        || (s->carried && lat_cuda_malloc_shared((void **)&s->send, s->half, "faces of spinors")))
        return -1;
    return open_sums(s);
}

void lat_gpu_faces_close(lat_gpu_space *s)
{
    lat_cuda_window_close(&s->window);
    lat_cuda_free_shared(s->send);
    lat_cuda_free(s->gather.branch);
    lat_cuda_free(s->gather.all);
    cudaFreeHost(s->slices_host);
}
