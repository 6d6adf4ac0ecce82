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

/* The same of y. */
template <int P> __global__ void await_rows(const __grid_constant__ lat_hop_args a)
{
    const uint32_t n = blockIdx.x * 128 + threadIdx.x;
    if (n < a.rows.sites)
        wait_for_ghost<P, true>(a.rows.ghost[blockIdx.z] + blockIdx.y * a.rows.column
                                    + (size_t)(n / 32) * lat_form<P>::GROUP,
                                n % 32, false);
}

/* Blocks of four groups, of the largest face of t and z, and of a face of y. */
static uint32_t blocks_of(const lat_hop_faces *f)
{
    const uint32_t t = f->first < LAT_Z_DOWN ? f->groups[0] : 0,
                   z = f->end > LAT_Z_DOWN ? f->groups[1] : 0;
    return ((t > z ? t : z) + 3) / 4;
}
static uint32_t blocks_of_rows(const lat_hop_args *a) { return (a->rows.sites + 127) / 128; }

/* All faces to the neighbours, or packed. */
static int send_all(const lat_gpu_space *s, const lat_hop_args *a)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const dim3 sides(blocks_of(&a->faces), (unsigned)(a->faces.end - a->faces.first)),
        rows(blocks_of_rows(a), 2);
    return failed(lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        const cudaError_t e = sides.y ? lat_cuda_start(false, send_faces<P>, sides, 128, stream, *a)
                                      : cudaSuccess;
        return e || !rows.x ? e : lat_cuda_start(false, send_rows<P>, rows, 128, stream, *a);
    }));
}

/* All ghosts are there before anything that follows. */
static int await_all(const lat_gpu_space *s, const lat_hop_args *a)
{
    const cudaStream_t stream = lat_gpu_stream(&s->space);
    const dim3 sides(blocks_of(&a->faces), (unsigned)a->columns,
                     (unsigned)(a->faces.end - a->faces.first)),
        rows(blocks_of_rows(a), (unsigned)a->columns, 2);
    return failed(lat_by_storage(s->space.grid->spec.storage, [&](auto P) {
        const cudaError_t e = sides.z
                                  ? lat_cuda_start(false, await_faces<P>, sides, 128, stream, *a)
                                  : cudaSuccess;
        return e || !rows.x ? e : lat_cuda_start(false, await_rows<P>, rows, 128, stream, *a);
    }));
}

/* Packed faces to the ghosts of the neighbours: begun. */
static int exchange_faces(const lat_gpu_space *s, const lat_hop_args *a)
{
    lat_message m[LAT_FACES];
    int n = 0;
    for (int side = 0; side < LAT_FACES; side++) {
        const bool y = side >= LAT_Y_DOWN;
        const int rank = lat_gpu_neighbour(s, side);
        const size_t bytes = (size_t)a->columns * s->face[side / 2];
        if (s->carried >> side & 1)
            m[n++] = {rank,
                      rank,
                      side,
                      side ^ 1,
                      y ? a->rows.to[side % 2] : a->faces.to[side],
                      y ? a->rows.ghost[side % 2] : a->faces.ghost[side],
                      bytes,
                      bytes};
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

/* Where ghosts of this exchange are, here and on the neighbours. */
static void set_faces(lat_gpu_space *s, lat_hop_args *a)
{
    const size_t at = s->ghosts + ++s->exchanges % 2 * s->half;
    lat_hop_faces *const f = &a->faces;
    lat_hop_rows *const r = &a->rows;
    f->first = s->face[0] ? LAT_T_DOWN : LAT_Z_DOWN;
    f->end = s->face[1] ? LAT_Y_DOWN : LAT_Z_DOWN;
    for (int axis = 0; axis < 2; axis++) {
        f->column[axis] = s->face[axis];
        f->groups[axis] = (uint32_t)(s->face[axis] / s->group);
    }
    r->column = s->face[2];
    r->sites = s->face[2] ? s->sites.extent[0] * s->sites.extent[2] * s->sites.extent[3] : 0;
    r->in_planes = s->in_planes;
    for (int side = 0; side < LAT_FACES; side++) {
        const bool y = side >= LAT_Y_DOWN;
        if (!s->face[side / 2])
            continue;
        (y ? r->ghost[side % 2] : f->ghost[side]) = s->window.mine + at + s->side[side];
        (y ? r->to[side % 2] : f->to[side]) = s->carried >> side & 1
                                                  ? s->send + s->side[side]
                                                  : s->window.of[lat_gpu_neighbour(s, side)] + at
                                                        + s->side[side ^ 1];
    }
}

int lat_gpu_faces(lat_gpu_space *s, lat_hop_args *a, bool in_turn)
{
    if (!s->sites.ghosts)
        return 0;
    set_faces(s, a);
    lat_hop_faces *const f = &a->faces;
    const uint32_t all = blocks_of(f), rows = blocks_of_rows(a),
                   few = a->columns > 1 ? LAT_FACE_BLOCKS / 2 : LAT_FACE_BLOCKS;
    if (s->carried)
        return lat_rc(send_all(s, a) || exchange_faces(s, a));
    if (in_turn)
        return lat_rc(send_all(s, a) || await_all(s, a));
    f->blocks = all < few ? all : few;
    a->rows.blocks = rows < few ? rows : few;
    f->senders = f->blocks * (uint32_t)(f->end - f->first) + 2 * a->rows.blocks;
    return 0;
}
