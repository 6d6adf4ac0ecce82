/* SPDX-License-Identifier: BSD-3-Clause */
/* ghosts_gpu.cu: the memory in which the GPUs of several ranks give each other faces and sums. */
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
                 most = ((size_t)grid->spec.lattice.dims[3] + ranks - 1) / ranks;
    s->first_side = grid->cut[3] ? LAT_T_DOWN : LAT_Z_DOWN;
    s->end_side = grid->cut[2] ? LAT_FACES : LAT_Z_DOWN;
    s->face[0] = s->sites.slice / 32 * s->group;
    s->face[1] = s->sites.plane / 32 * slices * s->group;
    s->half = 0;
    for (int side = s->first_side; side < s->end_side; side++) {
        s->side[side] = s->half;
        s->half += columns
                   * (side < LAT_Z_DOWN ? s->face[0] : s->sites.plane / 32 * most * s->group);
    }
}

/* Faces go to peers, or they are carried; all ranks know whether there are both. */
static int choose_ways(lat_gpu_space *s)
{
    const lat_device *dev = s->space.grid->dev;
    char text[LAT_CUDA_WAYS];
    double any[2] = {0, 0}; /* peers, carried */
    for (int side = s->first_side; side < s->end_side; side++) {
        const bool peer = s->window.of[lat_gpu_neighbour(s, side)] != NULL;
        s->carried |= (unsigned)!peer << side;
        any[peer ? 0 : 1] = 1;
    }
    if (dev->comm->max(dev->comm, any, 2)
        || (any[1] > 0 && lat_cuda_carrier_prepare(lat_cuda_device_of(dev)->carrier)))
        return -1;
    lat_cuda_describe_faces(dev, any[0] > 0, any[1] > 0, text, sizeof text);
    lat_verbose("faces of spinors: %s", text);
    return 0;
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
    const size_t sums = (size_t)s->space.columns * LAT_GPU_NUMBERS * s->sites.extent[3]
                        * s->branches;
    return s->window.direct
               ? 0
               : failed(cudaMallocHost((void **)&s->slices_host, sums * sizeof(double)));
}

void lat_gpu_faces_close(lat_gpu_space *s)
{
    lat_cuda_window_close(&s->window);
    lat_cuda_free_shared(s->send);
    cudaFreeHost(s->slices_host);
}
