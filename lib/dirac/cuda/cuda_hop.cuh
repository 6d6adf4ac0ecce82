/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop.cuh: the Wilson hop on a GPU, and what is done to its result before it is stored.
 *
 *     h(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x+mu) + (1 + gamma_mu) U_mu(x-mu)^+ psi(x-mu)
 *     out  = b C x + a C' h,   or y - alpha (that),   and sums of it for each column
 *
 * from sites of one parity to those of the other; C, C' are clover matrices or 1. A thread is a
 * site. The links of a site's eight directions lie side by side, those of x-mu copied: a warp reads
 * one contiguous piece. One right-hand side: links go from memory to registers, loads run ahead of
 * the arithmetic. Several: the links of a block are brought to shared memory once, by a bulk copy
 * for each warp, and the threads loop over the columns. A hop begins while the kernel before it
 * ends, which it waits for before it reads spinors; links and clover matrices are older than any
 * hop.
 *
 * Several ranks: a slab of slices each, or a box where z or y is cut, too. The first blocks of a
 * hop send what a neighbour needs of each site of a face to its ghosts: in t two spins, in y and z
 * all. Sites of faces wait for them, chunk by chunk; those of the first and the last slice are in
 * the middle of the order. Where y is cut all planes have such sites; there one kernel does all
 * hops. A chunk that has not come holds what no spinor has, and who has read it puts that back
 * (cuda_spinor.cuh). No flags, no fences.
 *
 * bench/history has what was measured. */
#pragma once

#include "dirac/cuda/cuda_hop_end.cuh"

/* ---- what kernels share ---------------------------------------------------------------------- */

/* How links and clover matrices are read. */
DEVICE uint64_t policy_of(const lat_hop_args &a)
{
    return a.lattice.again ? read_again() : read_once();
}

/* From its spinors and links to what a column's `out` is at a site. */
template <int P, class End, bool PHASES, int AHEAD, int GHOSTS, bool ONCE, class Links, class Begin>
DEVICE void hop_column(const end_site<P> &e, const char *in, const Links &links, const Begin &begin)
{
    typename lat_algebra<real_of<P>>::spinor r;
    const lat_hop_args &a = e.a;
    const in_memory<P, GHOSTS> from = {a, e.p, in + (size_t)a.active[e.n] * a.lattice.column, e.n,
                                       e.swap};
    if (GHOSTS)
        edge_ghosts<P, GHOSTS, false>(a, e.p, e.n, from.AWAITS);
    wilson_site<P, PHASES, AHEAD>(&r, a, e.p, from, links, begin,
                                  !End::SCALED               ? 1
                                  : GHOSTS < LAT_GHOSTS_OF_Y ? (real_of<P>)a.end.a
                                                             : (real_of<P>)end_any::scale(a));
    if (GHOSTS)
        edge_ghosts<P, GHOSTS, true>(a, e.p, e.n, from.AWAITS);
    End::template apply<P, ONCE>(e, &r.v[0][0][0]);
}

/* ---- one column ------------------------------------------------------------------------------ */

/* blockIdx.y: the column. SMALL: a multiprocessor has two blocks at most (16^4), so that a thread
 * may have 255 registers: links of all directions come before the wait, spinors run two directions
 * ahead. SW: a.swap, where it is known; -1: it is not. */
template <int P, int R, class End, int GHOSTS, bool SMALL, int SW, int BLOCKS>
__global__ void __launch_bounds__(128, BLOCKS) hop_one(const __grid_constant__ lat_hop_args a)
{
    if (GHOSTS && sends<P, GHOSTS>(a))
        return;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t half = a.lattice.sites.half,
                   i = hop_number(a.lattice.sites, b.number, threadIdx.x);
    const bool there = i < half;
    const lat_hop_site p = site_of<GHOSTS>(a, there ? i : half - 1, b);
    const uint64_t policy = policy_of(a);
    const char *const links = a.links + (size_t)p.group * lat_link_form<P, R>::ALL;
    const end_site<P> e = {
        a, p, (int)blockIdx.y, there, policy, false, NULL, SW < 0 ? a.swap != 0 : SW != 0};
    typename End::template begin<P> begin;
    if constexpr (SMALL) {
        links_at_hand<P, R, 8> held = {{}, NULL, p.i % 32};
#define HOLD(n) held.template hold<n>(p, links, policy);
        LAT_EACH_DIRECTION(HOLD)
#undef HOLD
        WAIT_FOR_GRID();
        if (i / 32 * 32 < half) /* the whole warp */
            hop_column<P, End, End::PHASES, 2, GHOSTS, false>(e, spinors_in<P>(a, b), held, begin);
    } else {
        const links_in_memory<P, R> from = {p, links, policy};
        WAIT_FOR_GRID();
        if (i / 32 * 32 >= half) /* the whole warp */
            return;
        begin.fetch(a, a.end.x + e.at(), e.lane());
        hop_column<P, End, End::PHASES, 1, GHOSTS, false>(e, spinors_in<P>(a, b), from, begin);
    }
}

/* ---- several columns ------------------------------------------------------------------------- */

/* LINKS bytes of links, and CLOVER of clover matrices behind them, to shared memory of this warp of
 * a side of four; NULL: none. Of links IN_SPACE bytes alone where p says of all sites of the warp
 * that those of t are 1. All threads of a block call it once, then wait_for_brought(). */
template <int LINKS, int IN_SPACE, int CLOVER>
DEVICE void bring(char *to, const char *links, const char *clover, const lat_hop_site &p,
                  uint64_t *barrier, uint64_t policy)
{
    const uint32_t side = threadIdx.x / 128, lane = threadIdx.x % 32,
                   wanted = __any_sync(~0u, (p.crosses & 0x8800) != 0) ? LINKS : IN_SPACE;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(barrier),
                   at = (uint32_t)__cvta_generic_to_shared(to);
    if (threadIdx.x == 0)
        copies_begin(bar);
    __syncthreads();
    if (side || lane)
        return;
    const uint32_t bytes = (links ? wanted : 0) + (clover ? CLOVER : 0);
    copies_expect(bar, bytes);
    if (links && wanted)
        copy_bulk(at, links, wanted, bar, policy);
    if (CLOVER && clover)
        copy_bulk(at + LINKS, clover, CLOVER, bar, policy);
#else
    for (uint32_t k = (side * 32 + lane) * 16; links && k < wanted; k += blockDim.x * 4)
        *(uint4 *)(to + k) = load16_once(links + k, policy);
    for (uint32_t k = (side * 32 + lane) * 16; CLOVER && clover && k < CLOVER; k += blockDim.x * 4)
        *(uint4 *)(to + LINKS + k) = load16_once(clover + k, policy);
    __syncthreads();
    (void)barrier;
#endif
}

DEVICE void wait_for_brought(uint64_t *barrier)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(barrier);
    while (!copies_done(bar))
        ;
#else
    (void)barrier;
#endif
}

/* Threads of a side of 128 are sites. The sides of a block take the columns in turn, as blocks of
 * the same sites do (blockIdx.y). Links, and clover matrices if a.held, of each warp's group are
 * copied to shared memory. */
template <int P, int R, class End, int GHOSTS, int SW, int SIDES, int BLOCKS>
__global__ void __launch_bounds__(128 * SIDES, BLOCKS)
    hop_many(const __grid_constant__ lat_hop_args a)
{
    enum {
        LINKS = lat_link_form<P, R>::ALL,
        CLOVER = End::CLOVER ? (int)lat_form<P>::CLOVER : 0,
        AHEAD = P != LAT_STORAGE_SINGLE,
        ONCE = P != LAT_STORAGE_SINGLE
    };
    extern __shared__ __align__(128) char shared[];
    __shared__ __align__(8) uint64_t barrier;
    if (GHOSTS && sends<P, GHOSTS>(a))
        return;
    const uint32_t thread = threadIdx.x % 128, side = threadIdx.x / 128, sides = blockDim.x / 128,
                   half = a.lattice.sites.half;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.lattice.sites, b.number, thread);
    const bool there = i < half, some = i / 32 < (half + 31) / 32,
               held = End::CLOVER && (P != LAT_STORAGE_DOUBLE || a.held);
    const char *const matrices = held ? held_clover(a) : NULL;
    const lat_hop_site p = site_of<GHOSTS>(a, there ? i : half - 1, b);
    char *const own = shared + thread / 32 * (LINKS + (held ? CLOVER : 0));
    bring<LINKS, lat_link_form<P, R>::IN_SPACE, CLOVER>(
        own, some ? a.links + (size_t)p.group * LINKS : NULL,
        some && matrices ? matrices + (size_t)p.group * CLOVER : NULL, p, &barrier, policy_of(a));
    WAIT_FOR_GRID();
    wait_for_brought(&barrier);
    if (!some)
        return;
    const links_at_hand<P, R, 0> links = {{}, own, p.i % 32};
#pragma unroll 1
    for (int n = (int)(blockIdx.y * sides + side); n < a.columns; n += (int)(sides * gridDim.y)) {
        const end_site<P> e = {
            a, p, n, there, read_again(), held, own + LINKS, SW < 0 ? a.swap != 0 : SW != 0};
        typename End::template begin<P> begin;
        begin.fetch(a, a.end.x + e.at(), e.lane());
        hop_column<P, End, false, AHEAD, GHOSTS, ONCE>(e, spinors_in<P>(a, b), links, begin);
    }
}
