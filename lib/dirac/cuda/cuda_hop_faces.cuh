/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_faces.cuh: where t is cut among ranks: the faces that a hop sends, the ghosts that it
 * waits for. */
#pragma once

#include "dirac/cuda/cuda_hop_sites.cuh"
#include "grid/cuda_device.cuh"

/* Block `block` of those that send a face, side 0 or 1: two spins of each site of `in`. From a
 * slice the hop goes down (to the rank below) with the spins that a forward hop reads. Out of line:
 * it is not to take the place of the hop's instructions. */
template <int P>
static __device__ __noinline__ void send_face(const lat_hop_args &a, uint32_t block,
                                              uint32_t blocks, int side)
{
    typedef lat_form<P> form;
    const lat_hop_faces &f = a.faces;
    const uint32_t lane = threadIdx.x % 32, first = side ? a.lattice.sites.half / 32 - f.groups : 0;
    const bool lower = (side == 0) != (a.swap != 0);
    for (uint32_t group = block * 4 + threadIdx.x % 128 / 32; group < f.groups; group += 4 * blocks)
        for (uint32_t n = threadIdx.x / 128; n < (uint32_t)a.columns; n += blockDim.x / 128)
            copy_two_spins<P>(a.in + (size_t)a.active[n] * a.lattice.column
                                  + (size_t)(first + group) * form::GROUP,
                              f.to[side] + n * f.column + (size_t)group * form::GROUP, lane, lower);
}

/* Is this block one of those? It sends its part then. */
template <int P> DEVICE bool sends(const lat_hop_args &a)
{
    if (blockIdx.x >= 2 * a.faces.blocks)
        return false;
    WAIT_FOR_GRID();
    const int side = blockIdx.x >= a.faces.blocks;
    if (blockIdx.y == 0)
        send_face<P>(a, blockIdx.x - (side ? a.faces.blocks : 0), a.faces.blocks, side);
    return true;
}

/* Where a hop does not take ghosts as they come: before a site is computed it waits for those of a
 * column that it reads, and empties them afterwards. Out of line as send_face is. */
template <int P, bool EMPTY>
static __device__ __noinline__ void ghost_of(char *ghost, uint32_t next, bool lower)
{
    char *const group = ghost + (size_t)(next / 32) * (size_t)lat_form<P>::GROUP;
    if (EMPTY)
        empty_two_spins<P>(group, next % 32, lower);
    else
        wait_for_two_spins<P>(group, next % 32, lower);
}

template <int P, bool EMPTY>
DEVICE void edge_ghosts(const lat_hop_args &a, const lat_hop_site &p, size_t column)
{
    if (p.crosses >> 3 & 1)
        ghost_of<P, EMPTY>(a.faces.ghost[1] + column, p.next[3], !a.swap);
    if (p.crosses >> 7 & 1)
        ghost_of<P, EMPTY>(a.faces.ghost[0] + column, p.next[7], a.swap);
}

/* A kernel of its own, where faces go through the host. */
template <int P> __global__ void send_faces(const __grid_constant__ lat_hop_args a)
{
    send_face<P>(a, blockIdx.x, gridDim.x, (int)blockIdx.y);
}
