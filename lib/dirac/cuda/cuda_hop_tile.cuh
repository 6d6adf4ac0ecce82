/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_tile.cuh: the Wilson hop of several columns in double and single, by way of shared
 * memory: a h(x), or with an affine end, on one rank.
 *
 * It has the sites, the arithmetic and the bits of hop_many in cuda_hop.cuh. The tile of a block
 * are four groups, of 2 x 2 planes in (z, t). What it reads of a column is copied to shared memory
 * while the column before is computed: its own sites, which are neighbours of each other, into one
 * of two buffers in turn; of each site the neighbours outside of the tile, of which an axis has one
 * at most. A thread copies the latter to a place of its own, and asks for those of the next column
 * when it has read them. So there is one barrier a column, and from the second cache comes each
 * spinor 3.5 times; the first cache finds fewer of them again (bench/history). Where registers do
 * for it, a thread holds its links of space, which are a third of what shared memory had to give.
 */
#pragma once

#include <cuda_pipeline.h>
#include "dirac/cuda/cuda_hop.cuh"

/* Shared memory: links of the four groups, of t alone if HELD; then, in bytes from there, buffers
 * of own sites; neighbours outside in x (one a row of a brick, 8 rows at most), in y, in z, and in
 * t (two spins). All as groups of spinors lie; x is one group for the four. */
template <int P, int R, bool HELD> struct hop_tile_form {
    enum {
        FIRST = HELD ? 6 : 0, /* direction of which links are there */
        BLOCK = lat_link_form<P, R>::BLOCK,
        LINKS = (8 - FIRST) * BLOCK,
        IN_SPACE = (6 - FIRST) * BLOCK,
        GROUP = lat_form<P>::GROUP,
        PAIR = lat_form<P>::PAIR,
        OWN = 4 * GROUP,
        X = 2 * OWN,
        Y = X + GROUP,
        Z = Y + OWN,
        T = Z + OWN,
        BYTES = 4 * LINKS + T + OWN / 2
    };
};

/* The accessor of a site's spinors (cuda_hop_stencil.cuh), and the copies that go on meanwhile. */
template <int P, class Form, class Begin> struct in_tile {
    uint32_t own;     /* where the site's spinor goes, first buffer */
    uint32_t from[8]; /* where those of its neighbours are; of those inside: in the first buffer */
    uint32_t outside[4]; /* neighbour of an axis outside of the tile, ~0: none */
    uint32_t to[4];      /* where it goes */
    uint32_t inside;     /* bit k: neighbour k is inside */
    uint32_t site, buffer;
    bool swap;
    bool more;            /* there is a next column: */
    const char *next, *x; /* its spinors, and what it begins with */
    const lat_hop_args *args;
    Begin *begin;

    /* first: group of warp 0; at: the first own site in shared memory. */
    METHOD void place(const lat_hop_args &a, const lat_hop_site &p, uint32_t first, uint32_t at)
    {
        const lat_gpu_sites &s = a.lattice.sites;
        const uint32_t warp = threadIdx.x / 32, lane = p.i % 32, z = s.plane / 32, t = s.slice / 32;
        site = p.i;
        swap = a.swap != 0;
        args = &a;
        own = at + warp * Form::GROUP + lane * 16;
        inside = 0;
        to[0] = at + Form::X + warp * 128 + lat_cuda_quotient(lane, s.by_brick[0]) * 16;
        to[1] = at + Form::Y + warp * Form::GROUP + lane * 16;
        to[2] = at + Form::Z + warp * Form::GROUP + lane * 16;
        to[3] = at + Form::T + warp * Form::PAIR + lane * 16;
#pragma unroll
        for (int k = 0; k < 4; k++)
            outside[k] = ~0u;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const uint32_t n = p.next[k], d = n / 32 - first;
            if (d == 0 || d == z || d == t || d == t + z) {
                inside |= 1u << k;
                from[k] = at + n % 32 * 16
                          + ((d == z || d == t + z) + 2 * (d >= t)) * (uint32_t)Form::GROUP;
            } else {
                from[k] = to[k % 4] - (k == 3 ? Form::PAIR : 0);
                outside[k % 4] = n;
            }
        }
    }

    /* Two spins of site n, or all; with swap the lower ones come first. */
    DEVICE void copy_pair(uint32_t to, const char *from)
    {
#pragma unroll
        for (int c = 0; c < lat_form<P>::PAIR_CHUNKS; c++)
            __pipeline_memcpy_async(__cvta_shared_to_generic(to + c * 512), from + c * 512, 16);
    }
    METHOD void copy(uint32_t to, const char *column, uint32_t n) const
    {
        const char *const at = column + (size_t)(n / 32) * Form::GROUP + n % 32 * 16;
        copy_pair(to + (swap ? Form::PAIR : 0), at);
        copy_pair(to + (swap ? 0 : Form::PAIR), at + Form::PAIR);
    }
    METHOD void copy_own(const char *column, uint32_t to_buffer) const
    {
        copy(own + to_buffer, column, site);
    }
    METHOD void copy_outside(const char *column, int axis) const
    {
        if (outside[axis] != ~0u)
            copy(to[axis], column, outside[axis]);
    }
    METHOD void copy_t(const char *column) const
    {
        if (outside[3] == ~0u)
            return;
        const bool forward = !(inside >> 3 & 1);
        copy_pair(to[3], column + (size_t)(outside[3] / 32) * Form::GROUP + outside[3] % 32 * 16
                             + (forward != swap ? Form::PAIR : 0));
    }

    /* Of t two spins. What has been read of a neighbour outside is asked for of the next column. */
    template <int N> METHOD void fetch(hop_words<P> &w) const
    {
        enum { K = N / 2, BACK = N % 2, D = K + 4 * BACK };
        if (N == 4 || N == 6) /* z, t */
            __pipeline_wait_prior(3);
        const uint32_t at = from[D] + (inside >> D & 1 ? buffer : 0)
                            + (K == 3 && !BACK ? Form::PAIR : 0);
#pragma unroll
        for (int c = 0; c < (K == 3 ? 1 : 2) * lat_form<P>::PAIR_CHUNKS; c++)
            load16_shared(w.w + 4 * c, at + c * 512);
        if (N == 4)
            begin->fetch(*args, x, site % 32);
        if (N == 3 && more) {
            copy_outside(next, 0);
            copy_outside(next, 1);
        }
        if (N == 5 && more)
            copy_outside(next, 2);
        if (N == 7 && more)
            copy_t(next);
        if (N == 3 || N == 5 || N == 7)
            __pipeline_commit();
    }
};

/* A thread is a site. Loads from shared memory run a direction ahead of the arithmetic. HELD: links
 * of space are in registers. */
template <int P, int R, class End, bool HELD, int BLOCKS>
__global__ void __launch_bounds__(128, BLOCKS) hop_tile(const __grid_constant__ lat_hop_args a)
{
    typedef hop_tile_form<P, R, HELD> form;
    typedef typename End::template begin<P> start;
    extern __shared__ __align__(128) char shared[];
    __shared__ __align__(8) uint64_t barrier;
    const hop_block b = block_of<false>(a);
    const uint32_t i = hop_number(a.lattice.sites, b.number, threadIdx.x);
    const lat_hop_site p = site_of<false>(a, i, b);
    const uint64_t policy = policy_of(a);
    start begin;
    in_tile<P, form, start> tile;
    tile.place(a, p, hop_number(a.lattice.sites, b.number, 0) / 32,
               (uint32_t)__cvta_generic_to_shared(shared) + 4 * form::LINKS);
    tile.begin = &begin;
    const char *const group = a.links + (size_t)p.group * lat_link_form<P, R>::ALL;
    links_at_hand<P, R, form::FIRST> links = {
        {}, shared + threadIdx.x / 32 * form::LINKS, p.i % 32};
#define HOLD(n) links.template hold<n>(p, group, policy);
    LAT_EACH_DIRECTION(HOLD)
#undef HOLD
    bring<form::LINKS, form::IN_SPACE, 0>((char *)links.shared, group + form::FIRST * form::BLOCK,
                                          NULL, p, &barrier, policy);
    const char *const in = spinors_in<P>(a, b), *const x = a.end.x + (size_t)p.group * form::GROUP;
    WAIT_FOR_GRID();
    const int first = (int)blockIdx.y, step = (int)gridDim.y;
    const size_t at = (size_t)a.active[first] * a.lattice.column;
    tile.copy_own(in + at, 0);
    tile.copy_outside(in + at, 0);
    tile.copy_outside(in + at, 1);
    __pipeline_commit();
    tile.copy_outside(in + at, 2);
    __pipeline_commit();
    tile.copy_t(in + at);
    __pipeline_commit();
    wait_for_brought(&barrier);
    tile.buffer = form::OWN;
    begin.fetch(a, x + at, i % 32);
#pragma unroll 1
    for (int n = first; n < a.columns; n += step) {
        const uint32_t done = tile.buffer; /* its own sites have been read when all are here */
        tile.more = n + step < a.columns;
        const size_t after = (size_t)a.active[tile.more ? n + step : n] * a.lattice.column;
        tile.next = in + after;
        tile.x = x + after;
        tile.buffer = form::OWN - done;
        __pipeline_wait_prior(2); /* own sites, x, y */
        __syncthreads();
        if (tile.more)
            tile.copy_own(tile.next, done);
        __pipeline_commit();
        typename lat_algebra<real_of<P>>::spinor r;
        wilson_site<P, false, 1>(&r, a, p, tile, links, begin, (real_of<P>)a.end.a);
        End::template apply<P, P != LAT_STORAGE_SINGLE>(
            end_site<P>{a, p, n, true, 0, false, NULL, tile.swap}, &r.v[0][0][0]);
    }
}
