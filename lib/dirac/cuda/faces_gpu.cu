/* SPDX-License-Identifier: BSD-3-Clause */
/* faces_gpu.cu: faces of spinors between the GPUs of several ranks, by peer memory or by the
 * carrier of the device. */
#include "dirac/cuda/cuda_dirac.cuh"
#include "dirac/cuda/cuda_hop_faces.cuh"
#include "grid/cuda_carry.cuh"

static int failed(cudaError_t e) { return lat_cuda_failed(e, "faces of spinors"); }

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

/* Both faces to the neighbours, or packed; then, if `await`, all ghosts are there before anything
 * that follows. */
static cudaError_t send_both(const lat_gpu_space *s, const lat_hop_args *a, uint32_t blocks,
                             bool await)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const dim3 all((a->faces.groups + 3) / 4, (unsigned)a->columns, 2);
    return lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        const cudaError_t e = lat_cuda_start(false, send_faces<P>, dim3(blocks, 2), 128, stream,
                                             *a);
        return e || !await ? e : lat_cuda_start(false, await_faces<P>, all, 128, stream, *a);
    });
}

/* Packed faces to the ghosts of the neighbours. */
static int exchange_faces(const lat_gpu_space *s, size_t bytes, char *const ghost[2])
{
    const lat_device *dev = s->space.grid->dev;
    const size_t room = (size_t)s->space.columns * s->face;
    lat_message m[LAT_SIDES];
    for (int side = 0; side < LAT_SIDES; side++)
        m[side] = lat_slab_message(dev->comm, side, s->send + (size_t)side * room, ghost[side],
                                   bytes, bytes);
    return lat_cuda_carry(lat_cuda_device_of(dev)->carrier, lat_gpu_stream(&s->space), LAT_SIDES,
                          m);
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
    f->ghost[0] = s->window.mine + turn;
    f->ghost[1] = f->ghost[0] + room;
    f->column = s->face;
    f->groups = s->sites.slice / 32;
    const uint32_t all = (f->groups + 3) / 4,
                   few = a->columns > 1 ? LAT_FACE_BLOCKS / 2 : LAT_FACE_BLOCKS,
                   blocks = all < few ? all : few;
    if (!s->window.direct) {
        f->to[0] = s->send;
        f->to[1] = s->send + room;
        return lat_rc(failed(send_both(s, a, blocks, false))
                      || exchange_faces(s, (size_t)a->columns * s->face, f->ghost));
    }
    f->blocks = blocks;
    for (int side = 0; side < 2; side++) {
        const int rank = (comm->rank + (side ? 1 : comm->size - 1)) % comm->size;
        f->to[side] = s->window.of[rank] + turn + (side ? 0 : room);
    }
    if (!in_turn)
        return 0;
    f->blocks = 0;
    return failed(send_both(s, a, all, true));
}
