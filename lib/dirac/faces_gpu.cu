/* SPDX-License-Identifier: BSD-3-Clause */
/* faces_gpu.cu: faces of spinors between the GPUs of several ranks, by peer memory or through MPI.
 */
#include "cuda_dirac.cuh"
#include "cuda_hop_faces.cuh"
#include "cuda_pack.cuh"

#include "grid/cuda_halo.cuh"

static int failed(cudaError_t e) { return lat_cuda_failed(e, "faces of spinors"); }

static cudaError_t empty(const lat_gpu_space *s, size_t groups)
{
    char *const ghosts = s->window.mine + s->ghosts;
    const unsigned blocks = lat_cuda_blocks(groups, 4);
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE:
        empty_ghosts<LAT_STORAGE_DOUBLE><<<blocks, 128, 0, stream>>>(ghosts, groups);
        break;
    case LAT_STORAGE_SINGLE:
        empty_ghosts<LAT_STORAGE_SINGLE><<<blocks, 128, 0, stream>>>(ghosts, groups);
        break;
    case LAT_STORAGE_HALF:
        empty_ghosts<LAT_STORAGE_HALF><<<blocks, 128, 0, stream>>>(ghosts, groups);
        break;
    }
    return cudaStreamSynchronize(stream);
}

int lat_gpu_faces_open(lat_gpu_space *s)
{
    const lat_grid *grid = s->space.grid;
    if (!grid->halo)
        return 0;
    s->face = (size_t)(s->sites.slice / 32) * s->group;
    s->ghosts = 2 * lat_gpu_packet_numbers(s) * sizeof(double2);
    const size_t faces = (size_t)s->space.columns * s->face;
    if (lat_cuda_window_open(grid->dev, s->ghosts + 4 * faces, "faces of spinors", &s->window)
        || failed(empty(s, 4 * faces / s->group)))
        return -1;
    if (s->window.direct)
        return 0;
    const size_t sums = (size_t)s->space.columns * LAT_GPU_NUMBERS * s->sites.extent[3];
    return lat_cuda_malloc((void **)&s->send, 2 * faces, "faces of spinors")
                   || failed(cudaMallocHost((void **)&s->staged[0], 2 * faces))
                   || failed(cudaMallocHost((void **)&s->staged[1], 2 * faces))
                   || failed(cudaMallocHost((void **)&s->slices_host, sums * sizeof(double)))
               ? -1
               : 0;
}

void lat_gpu_faces_close(lat_gpu_space *s)
{
    lat_cuda_window_close(&s->window);
    cudaFree(s->send);
    cudaFreeHost(s->staged[0]);
    cudaFreeHost(s->staged[1]);
    cudaFreeHost(s->slices_host);
}

static cudaError_t pack_faces(const lat_gpu_space *s, const lat_hop_args *a, uint32_t blocks)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const dim3 grid(blocks, 2);
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE: send_faces<LAT_STORAGE_DOUBLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_SINGLE: send_faces<LAT_STORAGE_SINGLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_HALF: send_faces<LAT_STORAGE_HALF><<<grid, 128, 0, stream>>>(*a); break;
    }
    return cudaGetLastError();
}

/* Waits for the ghosts of one side, blockIdx.z, and column; blocks of four groups. */
template <int P> __global__ void await_faces(const __grid_constant__ lat_hop_args a)
{
    const uint32_t group = blockIdx.x * 4 + threadIdx.x / 32;
    const bool above = blockIdx.z, lower = above != (a.swap != 0);
    if (group < a.faces.groups)
        wait_for_two_spins<P>(a.faces.ghost[above] + blockIdx.y * a.faces.column
                                  + (size_t)group * lat_form<P>::GROUP,
                              threadIdx.x % 32, lower);
}

/* All ghosts, before anything that follows. */
static cudaError_t wait_for_faces(const lat_gpu_space *s, const lat_hop_args *a)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const dim3 grid((a->faces.groups + 3) / 4, (unsigned)a->columns, 2);
    switch (s->space.grid->spec.storage) {
    case LAT_STORAGE_DOUBLE: await_faces<LAT_STORAGE_DOUBLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_SINGLE: await_faces<LAT_STORAGE_SINGLE><<<grid, 128, 0, stream>>>(*a); break;
    case LAT_STORAGE_HALF: await_faces<LAT_STORAGE_HALF><<<grid, 128, 0, stream>>>(*a); break;
    }
    return cudaGetLastError();
}

/* Packed faces to the ghosts, by way of the host and MPI. */
static int exchange_faces(const lat_gpu_space *s, size_t bytes, char *const ghost[2])
{
    const lat_comm *comm = s->space.grid->dev->comm;
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const size_t room = (size_t)s->space.columns * s->face;
    char *const out = s->staged[0], *const in = s->staged[1];
    for (int side = 0; side < 2; side++)
        if (failed(cudaMemcpyAsync(out + side * bytes, s->send + side * room, bytes,
                                   cudaMemcpyDeviceToHost, stream)))
            return -1;
    if (failed(cudaStreamSynchronize(stream)))
        return -1;
    if (lat_cuda_exchange(comm, s->space.grid->spec.lattice.nd - 1, out, in, bytes))
        return -1;
    for (int side = 0; side < 2; side++)
        if (failed(cudaMemcpyAsync(ghost[side], in + side * bytes, bytes, cudaMemcpyHostToDevice,
                                   stream)))
            return -1;
    return 0;
}

/* Blocks that send a face, at most: others are to be at work beside them. */
enum { LAT_FACE_BLOCKS = 32 };

int lat_gpu_faces(lat_gpu_space *s, lat_hop_args *a, bool in_turn)
{
    if (!s->sites.ghosts)
        return 0;
    const lat_comm *comm = s->space.grid->dev->comm;
    const size_t room = (size_t)s->space.columns * s->face;
    const size_t turn = s->ghosts + (++s->exchanges % 2) * 2 * room;
    lat_hop_faces *f = &a->faces;
    char *const ghost[2] = {s->window.mine + turn, s->window.mine + turn + room};
    f->ghost[0] = ghost[0];
    f->ghost[1] = ghost[1];
    f->column = s->face;
    f->groups = s->sites.slice / 32;
    const uint32_t all = (f->groups + 3) / 4,
                   few = a->columns > 1 ? LAT_FACE_BLOCKS / 2 : LAT_FACE_BLOCKS,
                   blocks = all < few ? all : few;
    if (!s->window.direct) {
        f->to[0] = s->send;
        f->to[1] = s->send + room;
        return failed(pack_faces(s, a, blocks))
                       || exchange_faces(s, (size_t)a->columns * s->face, ghost)
                   ? -1
                   : 0;
    }
    f->blocks = blocks;
    for (int side = 0; side < 2; side++) {
        const int rank = (comm->rank + (side ? 1 : comm->size - 1)) % comm->size;
        f->to[side] = s->window.of[rank] + turn + (side ? 0 : room);
    }
    if (in_turn) {
        f->blocks = 0;
        return failed(pack_faces(s, a, all)) || failed(wait_for_faces(s, a)) ? -1 : 0;
    }
    return 0;
}
