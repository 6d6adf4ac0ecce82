/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_faces.cuh: where y, z or t is cut among ranks: the faces that a hop sends, the ghosts
 * that it waits for. */
#pragma once

#include "dirac/cuda/cuda_hop_sites.cuh"
#include "grid/cuda_device.cuh"

/* Block `block` of those that send a face: of t two spins of each site of `in`, of z all. From a
 * slice the hop goes down (to the rank below) with the spins that a forward hop reads. Out of line:
 * it is not to take the place of the hop's instructions. */
template <int P>
static __device__ __noinline__ void send_face(const lat_hop_args &a, uint32_t block,
                                              uint32_t blocks, int side)
{
    typedef lat_form<P> form;
    const lat_hop_faces &f = a.faces;
    const lat_gpu_sites &s = a.lattice.sites;
    const uint32_t lane = threadIdx.x % 32, groups = f.groups[side / 2];
    const bool lower = (side == LAT_T_DOWN) != (a.swap != 0);
    for (uint32_t group = block * 4 + threadIdx.x % 128 / 32; group < groups; group += 4 * blocks) {
        const uint32_t own = lat_face_place(s.plane / 32, s.slice / 32, s.extent[3], side, group);
        for (uint32_t n = threadIdx.x / 128; n < (uint32_t)a.columns; n += blockDim.x / 128) {
            const char *const from = a.in + (size_t)a.active[n] * a.lattice.column
                                     + (size_t)own * form::GROUP;
            char *const to = f.to[side] + n * f.column[side / 2] + (size_t)group * form::GROUP;
            if (side < LAT_Z_DOWN)
                copy_to_ghost<P, false>(from, to, lane, lower);
            else
                copy_to_ghost<P, true>(from, to, lane, false);
        }
    }
}

/* The same of a face of y, side 0 or 1: all spins. A lane finds its site in the row. */
template <int P>
static __device__ __noinline__ void send_row(const lat_hop_args &a, uint32_t block, uint32_t blocks,
                                             int side)
{
    typedef lat_form<P> form;
    const lat_gpu_sites &s = a.lattice.sites;
    const uint32_t y = hop_y(s, side ? s.extent[1] - 1 : 0);
    for (uint32_t n = block * 128 + threadIdx.x % 128; n < a.rows.sites; n += 128 * blocks) {
        uint32_t zt;
        const uint32_t x = lat_face_place_y(s.extent[0], n, &zt),
                       own = hop_x(s, x) + y + zt * s.plane;
        for (uint32_t k = 0; k < (uint32_t)a.columns; k++) {
            const char *const from = a.in + (size_t)a.active[k] * a.lattice.column
                                     + (size_t)(own / 32) * form::GROUP;
            char *const to = a.rows.to[side] + k * a.rows.column + (size_t)(n / 32) * form::GROUP;
            move_to_ghost<P, true>(from, own % 32, to, n % 32, false);
        }
    }
}

/* Is this block one of those? It sends its part then. */
template <int P, int GHOSTS> DEVICE bool sends(const lat_hop_args &a)
{
    if (blockIdx.x >= a.faces.senders)
        return false;
    WAIT_FOR_GRID();
    uint32_t block = blockIdx.x;
    int side = a.faces.first;
    if (GHOSTS == LAT_GHOSTS_OF_Y) {
        const uint32_t of_side = a.rows.blocks;
        if (block < 2 * of_side) {
            if (blockIdx.y == 0)
                send_row<P>(a, block % of_side, of_side, block >= of_side);
            return true;
        }
        block -= 2 * of_side;
    }
    for (; block >= a.faces.blocks; block -= a.faces.blocks)
        side++;
    if (blockIdx.y == 0)
        send_face<P>(a, block, a.faces.blocks, side);
    return true;
}

/* Ghosts that a hop does not take as they come: before a site is computed it waits for those of a
 * column that it reads, and empties them afterwards. Out of line as send_face is, and once for all,
 * as a call costs registers. */
template <int P, bool EMPTY, bool WHOLE>
DEVICE void ghost_of(char *ghost, uint32_t next, bool lower)
{
    char *const group = ghost + (size_t)(next / 32) * (size_t)lat_form<P>::GROUP;
    if (EMPTY)
        empty_ghost<P, WHOLE>(group, next % 32, lower);
    else
        wait_for_ghost<P, WHOLE>(group, next % 32, lower);
}

/* Of site i; n: the place of the column in `active`; which: bits k of neighbours. It finds them
 * again, as to keep them costs registers, too. */
template <int P, int GHOSTS, bool EMPTY>
static __device__ __noinline__ void ghosts_of(const lat_hop_args &a, uint32_t i, int n,
                                              uint32_t which)
{
    const lat_hop_site p = hop_site<GHOSTS>(a.lattice.sites, i, a.parity);
    const size_t t = (size_t)n * a.faces.column[0], z = (size_t)n * a.faces.column[1];
    const uint32_t ghosts = p.crosses & which;
    if (GHOSTS == LAT_GHOSTS_OF_Y && ghosts >> 1 & 1)
        ghost_of<P, EMPTY, true>(a.rows.ghost[1] + n * a.rows.column, p.next[1], false);
    if (GHOSTS == LAT_GHOSTS_OF_Y && ghosts >> 5 & 1)
        ghost_of<P, EMPTY, true>(a.rows.ghost[0] + n * a.rows.column, p.next[5], false);
    if (ghosts >> 2 & 1)
        ghost_of<P, EMPTY, true>(a.faces.ghost[LAT_Z_UP] + z, p.next[2], false);
    if (ghosts >> 3 & 1)
        ghost_of<P, EMPTY, false>(a.faces.ghost[LAT_T_UP] + t, p.next[3], !a.swap);
    if (ghosts >> 6 & 1)
        ghost_of<P, EMPTY, true>(a.faces.ghost[LAT_Z_DOWN] + z, p.next[6], false);
    if (ghosts >> 7 & 1)
        ghost_of<P, EMPTY, false>(a.faces.ghost[LAT_T_DOWN] + t, p.next[7], a.swap);
}

template <int P, int GHOSTS, bool EMPTY>
DEVICE void edge_ghosts(const lat_hop_args &a, const lat_hop_site &p, int n, uint32_t which)
{
    const uint32_t ghosts = p.crosses >> 16 & which;
    if (ghosts)
        ghosts_of<P, GHOSTS, EMPTY>(a, p.i, n, ghosts);
}

/* Kernels of their own, where some faces are carried. */
template <int P> __global__ void send_faces(const __grid_constant__ lat_hop_args a)
{
    send_face<P>(a, blockIdx.x, gridDim.x, a.faces.first + (int)blockIdx.y);
}
template <int P> __global__ void send_rows(const __grid_constant__ lat_hop_args a)
{
    send_row<P>(a, blockIdx.x, gridDim.x, (int)blockIdx.y);
}
