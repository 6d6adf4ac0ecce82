/* SPDX-License-Identifier: BSD-3-Clause */
/* faces_gpu.cu: faces of spinors between the GPUs of several ranks: to peer memory, or by the
 * carrier of the device. */
#include "dirac/cuda/cuda_dirac.cuh"
#include "dirac/cuda/cuda_hop_faces.cuh"
#include "grid/cuda_carry.cuh"

static int failed(cudaError_t e) { return lat_cuda_failed(e, "faces of spinors"); }

/* Waits for the ghosts of one side, by blockIdx.z, and column; blocks of four groups. */
template <int P> __global__ void await_faces(const __grid_constant__ lat_hop_args a)
{
    const lat_hop_faces &f = a.faces;
    const uint32_t group = blockIdx.x * 4 + threadIdx.x / 32;
    const int side = f.first + (int)blockIdx.z;
    const char *const ghost = f.ghost[side] + blockIdx.y * f.column[side / 2]
                              + (size_t)group * lat_form<P>::GROUP;
    if (group >= f.groups[side / 2])
        return;
    if (side < LAT_Z_DOWN)
        wait_for_ghost<P, false>(ghost, threadIdx.x % 32, (side == LAT_T_UP) != (a.swap != 0));
    else
        wait_for_ghost<P, true>(ghost, threadIdx.x % 32, false);
}

/* Blocks of four groups, of the largest face. */
static uint32_t blocks_of(const lat_hop_faces *f)
{
    const uint32_t t = f->first < LAT_Z_DOWN ? f->groups[0] : 0,
                   z = f->end > LAT_Z_DOWN ? f->groups[1] : 0;
    return ((t > z ? t : z) + 3) / 4;
}

/* All faces to the neighbours, or packed. */
static int send_all(const lat_gpu_space *s, const lat_hop_args *a, uint32_t blocks)
{
    const dim3 sides(blocks, (unsigned)(a->faces.end - a->faces.first));
    return failed(lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        return lat_cuda_start(false, send_faces<P>, sides, 128, lat_gpu_stream(&s->space), *a);
    }));
}

/* All ghosts are there before anything that follows. */
static int await_all(const lat_gpu_space *s, const lat_hop_args *a)
{
    const dim3 all(blocks_of(&a->faces), (unsigned)a->columns,
                   (unsigned)(a->faces.end - a->faces.first));
    return failed(lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        return lat_cuda_start(false, await_faces<P>, all, 128, lat_gpu_stream(&s->space), *a);
    }));
}

/* Packed faces to the ghosts of the neighbours: begun. */
static int exchange_faces(const lat_gpu_space *s, const lat_hop_args *a)
{
    const lat_hop_faces *f = &a->faces;
    lat_message m[LAT_FACES];
    int n = 0;
    for (int side = f->first; side < f->end; side++) {
        const int rank = lat_gpu_neighbour(s, side);
        const size_t bytes = (size_t)a->columns * f->column[side / 2];
        if (s->carried >> side & 1)
            m[n++] = {rank, rank, side, side ^ 1, f->to[side], f->ghost[side], bytes, bytes};
    }
    return lat_cuda_carry_begin(lat_cuda_carrier_of(s->space.grid->dev), lat_gpu_stream(&s->space),
                                n, m);
}

int lat_gpu_faces_come(const lat_gpu_space *s, const lat_hop_args *a, bool in_turn)
{
    return lat_rc(
        lat_cuda_carry_finish(lat_cuda_carrier_of(s->space.grid->dev), lat_gpu_stream(&s->space))
        || (in_turn && await_all(s, a)));
}

/* Blocks that send a face, at most: others are to be at work beside them. */
enum { LAT_FACE_BLOCKS = 32 };

int lat_gpu_faces(lat_gpu_space *s, lat_hop_args *a, bool in_turn)
{
    if (!s->sites.ghosts)
        return 0;
    const size_t at = s->ghosts + ++s->exchanges % 2 * s->half;
    lat_hop_faces *f = &a->faces;
    f->first = s->first_side;
    f->end = s->end_side;
    for (int axis = 0; axis < 2; axis++) {
        f->column[axis] = s->face[axis];
        f->groups[axis] = (uint32_t)(s->face[axis] / s->group);
    }
    for (int side = f->first; side < f->end; side++) {
        f->ghost[side] = s->window.mine + at + s->side[side];
        f->to[side] = s->carried >> side & 1
                          ? s->send + s->side[side]
                          : s->window.of[lat_gpu_neighbour(s, side)] + at + s->side[side ^ 1];
    }
    const uint32_t all = blocks_of(f), few = a->columns > 1 ? LAT_FACE_BLOCKS / 2 : LAT_FACE_BLOCKS,
                   blocks = all < few ? all : few;
    if (s->carried)
        return lat_rc(send_all(s, a, all) || exchange_faces(s, a));
    if (in_turn)
        return lat_rc(send_all(s, a, all) || await_all(s, a));
    f->blocks = blocks;
    f->senders = blocks * (uint32_t)(f->end - f->first);
    return 0;
}
