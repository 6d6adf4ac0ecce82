/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_halo.cuh: halo exchange between GPUs (halo.h).
 *
 * Faces go through send and receive buffers and the carrier of the device (cuda_carry.cuh). To a
 * neighbour on the same host whose memory the GPU reaches (CUDA IPC) kernels of sweeps write the
 * face themselves, into its ghost, once a field is connected, and the two wait for each other by
 * flags. Functions return 0, or -1 with lat_error set; every rank calls all of them. */
#pragma once

#include "cuda_device.cuh"
#include "cuda_grid.cuh"
#include "cuda_window.cuh"
extern "C" {
#include "halo.h"
}

/* Where the rank that has the slab below (0) or above (1) ours wants our face: in its ghost. */
typedef struct lat_cuda_neighbour {
    void *data;      /* its field, mapped */
    uint32_t groups; /* its number of them */
    uint32_t ghost;  /* the first site of its ghost on our side */
    uint32_t *flag;  /* its flag for us: the last step that it knows of */
} lat_cuda_neighbour;

/* What kernels know of a field's halo. */
typedef struct lat_cuda_peers {
    unsigned direct; /* bits of sides: they write faces to that neighbour's ghost; the host sees to
                      * the others */
    lat_cuda_neighbour side[2];
    const uint32_t *received; /* [2]: the last step of the ranks below and above */
    uint32_t *face_done;      /* [2]: blocks done with a face; 0 between two kernels */
} lat_cuda_peers;

/* ---- host ------------------------------------------------------------------------------------ */

/* For lat_grid_ops. */
int lat_cuda_halo_new(lat_dfield *f);
void lat_cuda_halo_free(lat_dfield *f);
int lat_cuda_halo_exchange(lat_dfield *f, const lat_halo_part *part);

/* Starts an exchange on the sides that are not direct, if there are any; what `part` points to
 * stays until the other one, which waits for it. */
int lat_cuda_halo_begin(lat_dfield *f, const lat_halo_part *part);
int lat_cuda_halo_finish(lat_dfield *f);

/* Finds out how faces of sweeps go to the neighbours; *peers is for the kernels of sweeps, all zero
 * without a halo. After the first lat_dfield_put; nobody writes ghosts until all ranks are here. */
int lat_cuda_connect(lat_dfield *f, lat_cuda_peers *peers);

/* A few words for provenance, and how faces go: "gpu NVIDIA H200 x 4, peer and nccl". */
void lat_cuda_describe(const lat_dfield *f, char *text, size_t size);

/* What kernels of a sweep know of their part in it. */
enum { LAT_CUDA_ALL, LAT_CUDA_FACE, LAT_CUDA_INTERIOR };
typedef struct lat_cuda_step {
    int part;              /* own sites: both faces and then the interior, or one of these */
    uint32_t number;       /* of this step, from 1 */
    uint32_t face_blocks;  /* blocks of a face; set by the launch, as are these: */
    uint32_t lead, spread; /* after `lead` others every 2^spread-th block is one of a face */
} lat_cuda_step;

/* Sets s->face_blocks for blocks of so many sites of a parity; returns the number of others. */
static inline unsigned lat_cuda_divide(const lat_cuda_sites *w, lat_cuda_step *s, unsigned sites)
{
    s->face_blocks = s->part == LAT_CUDA_INTERIOR ? 0 : lat_cuda_blocks(w->face, sites);
    return s->part == LAT_CUDA_FACE ? 0 : lat_cuda_blocks(w->own - 2 * w->face, sites);
}

enum { LAT_CUDA_ABOVE = 1 << LAT_UP, LAT_CUDA_BOTH = LAT_CUDA_ABOVE | 1 << LAT_DOWN };

/* Does nobody but kernels see to the ghosts of sweeps of f? */
bool lat_cuda_direct(const lat_dfield *f);

/* A sweep writes what `part` says of f: faces, which are exchanged while the interior is computed;
 * or all at once. launch() launches the kernel for s->part on the device's stream. */
template <class Launch>
static inline int lat_cuda_sweep(lat_dfield *f, const lat_halo_part *part, lat_cuda_step *s,
                                 Launch launch)
{
    static const char what[] = "a sweep";
    s->part = LAT_CUDA_ALL;
    if (lat_cuda_direct(f))
        return lat_cuda_failed(launch(), what);
    s->part = LAT_CUDA_FACE;
    if (lat_cuda_failed(launch(), what) || lat_cuda_halo_begin(f, part))
        return -1;
    s->part = LAT_CUDA_INTERIOR;
    return lat_cuda_failed(launch(), what) || lat_cuda_halo_finish(f) ? -1 : 0;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Which block of a face this is, *side 0 or 1 for the one below or above; or which one of all
 * others, *side -1. After `lead` others every 2^spread-th block is one of a face, so that others
 * are at work while faces are on their way to the neighbours. */
static __device__ __forceinline__ uint32_t lat_cuda_block_of(uint32_t face_blocks, uint32_t lead,
                                                             uint32_t spread, int *side)
{
    const uint32_t faces = 2 * face_blocks, n = blockIdx.x - lead, number = n >> spread;
    *side = -1;
    if (blockIdx.x < lead)
        return blockIdx.x;
    if (number < faces && n == number << spread) {
        *side = number >= face_blocks;
        return number - (*side ? face_blocks : 0);
    }
    return blockIdx.x - (number < faces ? number + 1 : faces);
}

/* The site of number k of a block's, of `many`; w.half or more if there is none; *side: 0 or 1 in
 * the face below or above, otherwise -1. Sweeps go through the interior to and fro: what the last
 * one touched last is still in the second cache. */
static __device__ __forceinline__ uint32_t lat_cuda_site_of(const lat_cuda_sites &w,
                                                            const lat_cuda_step &s, int parity,
                                                            uint32_t many, uint32_t k, int *side)
{
    const uint32_t b = lat_cuda_block_of(s.face_blocks, s.lead, s.spread, side),
                   inner = gridDim.x - 2 * s.face_blocks;
    if (*side >= 0) {
        const uint32_t n = b * many + k;
        return n < w.face ? w.from + n + (*side ? w.own - w.face : 0) : w.half;
    }
    const uint32_t n = (parity ? inner - 1 - b : b) * many + k;
    return n < w.own - 2 * w.face ? w.from + w.face + n : w.half;
}

/* The neighbour's ghost of site i of our face, of a unit of `chunks` chunks a site. */
template <class V>
static __device__ __forceinline__ V *lat_cuda_ghost(const lat_cuda_sites &w,
                                                    const lat_cuda_peers &peers, int side,
                                                    uint64_t unit, int parity, uint32_t i,
                                                    int chunks)
{
    const lat_cuda_neighbour &s = peers.side[side];
    const uint32_t n = i - w.from - (side ? w.own - w.face : 0);
    return (V *)s.data
           + (2 * unit + (uint64_t)parity) * s.groups * (uint32_t)(LAT_CUDA_GROUP * chunks)
           + lat_cuda_at(s.ghost + n, chunks);
}

/* Does a block of a face, or of none (side -1), write to the neighbour? */
static __device__ __forceinline__ bool lat_cuda_sends(const lat_cuda_peers &peers, int side)
{
    return side >= 0 && (peers.direct >> side & 1);
}

/* A block waits for step `number` of the neighbours on the sides of a mask, which are direct. All
 * its threads come here. */
static __device__ __forceinline__ void lat_cuda_await(const lat_cuda_peers &peers, unsigned sides,
                                                      uint32_t number)
{
    if (threadIdx.x < LAT_SIDES && threadIdx.y == 0 && (sides >> threadIdx.x & 1))
        lat_cuda_wait_flag(peers.received + (int)threadIdx.x, number);
    __syncthreads();
}

/* The last of `blocks` blocks of a face to come tells the neighbour that step `number` is there. */
static __device__ __forceinline__ void lat_cuda_signal_face(const lat_cuda_peers &peers, int side,
                                                            uint32_t blocks, uint32_t number)
{
    __threadfence(); /* the last block's fence is for all of them: fences are cumulative */
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0)
        if (atomicInc(peers.face_done + side, blocks - 1) == blocks - 1) {
            __threadfence_system();
            *(volatile uint32_t *)peers.side[side].flag = number;
        }
}

/* The first block tells the neighbours that all steps up to `number`, of kernels before this one,
 * are done: faces have come, ghosts have been read. */
static __device__ __forceinline__ void lat_cuda_signal_step(const lat_cuda_peers &peers,
                                                            uint32_t number)
{
    if (peers.direct && blockIdx.x + blockIdx.y == 0 && threadIdx.x < LAT_SIDES && threadIdx.y == 0
        && (peers.direct >> threadIdx.x & 1)) {
        __threadfence_system(); /* what kernels before have written is seen here, and hence there */
        *(volatile uint32_t *)peers.side[threadIdx.x].flag = number;
    }
}
