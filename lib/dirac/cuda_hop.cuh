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
 * Several ranks: a slab of slices each. The first blocks of a hop send the two spins that a
 * neighbour needs of each site of both faces to its ghosts. Sites of the first and the last slice,
 * which are in the middle of the order, wait for them, chunk by chunk: a chunk that has not come
 * holds what no spinor has, and who has read it puts that back (cuda_spinor.cuh). No flags, no
 * fences.
 *
 * bench/history has what was measured. */
#ifndef LAT_DIRAC_CUDA_HOP_CUH
#define LAT_DIRAC_CUDA_HOP_CUH

#include "cuda_hop_end.cuh"
#include "cuda_hop_faces.cuh"
#include "cuda_hop_stencil.cuh"

/* How links and clover matrices are read. */
DEVICE uint64_t policy_of(const lat_hop_args &a) { return a.again ? read_again() : read_once(); }

/* blockIdx.y: the column. */
template <int P, int R, int END, bool PHASES, int SW, bool GHOSTS, bool ONCE, int AHEAD, int BLOCKS>
__global__ void __launch_bounds__(128, BLOCKS) hop_one(const __grid_constant__ lat_hop_args a)
{
    typedef hop<P, R, false, PHASES, SW, GHOSTS> H;
    if (GHOSTS && sends<P>(a))
        return;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.sites, b.number, threadIdx.x);
    const bool there = i < a.sites.half;
    const size_t column = (size_t)a.active[blockIdx.y] * a.column;
    const lat_hop_site p = site_of(a, there ? i : a.sites.half - 1, b);
    typename H::real h[24];
    const uint64_t policy = policy_of(a);
    WAIT_FOR_GRID();
    if (i / 32 * 32 >= a.sites.half) /* the whole warp */
        return;
    const size_t ghost = GHOSTS ? blockIdx.y * a.faces.column : 0;
    if (GHOSTS && !H::TAKE)
        edge_ghosts<P, false>(a, p, ghost);
    H::template apply<AHEAD, END == 5>(h, a, p, spinors_in<P>(a, b) + column, ghost, policy, NULL,
                                       scales_hop<END>() ? (typename H::real)a.a : 1,
                                       a.x + (size_t)p.group * lat_form<P>::GROUP + column);
    if (GHOSTS && !H::TAKE)
        edge_ghosts<P, true>(a, p, ghost);
    finish<P, END, SW, ONCE, false>(a, p, (int)blockIdx.y, there, h, policy, NULL);
}

/* Of one column, where a multiprocessor has two blocks at most (16^4), so that a thread may have
 * 255 registers: links of all directions come before the wait, spinors run two directions ahead. */
template <int P, int R, int END, int SW, bool GHOSTS>
__global__ void __launch_bounds__(128, 2) hop_small(const __grid_constant__ lat_hop_args a)
{
    typedef hop<P, R, true, false, SW, GHOSTS> H;
    if (GHOSTS && sends<P>(a))
        return;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.sites, b.number, threadIdx.x);
    const bool there = i < a.sites.half;
    const lat_hop_site p = site_of(a, there ? i : a.sites.half - 1, b);
    typename H::real h[24];
    typename H::raw w[3];
    uint32_t u[8][H::link::WORDS];
    const uint64_t policy = policy_of(a);
#define LINK(n) \
    if (H::template linked<n>(p)) \
        load_link<P, R>(u[n], a.links + (size_t)p.group * H::LINKS + (n)*H::link::BLOCK, p.i % 32, \
                        policy);
    HOP_EACH(LINK)
#undef LINK
    const size_t column = (size_t)a.active[0] * a.column;
    const char *const in = spinors_in<P>(a, b) + column;
    const typename H::real scale = scales_hop<END>() ? (typename H::real)a.a : 1;
    WAIT_FOR_GRID();
    if (i / 32 * 32 >= a.sites.half) /* the whole warp */
        return;
#define FETCH(n) H::template fetch<(n) < 8 ? (n) : 7>(w[(n) % 3], a, p, in, 0, policy)
#define STEP(n) \
    if ((n) < 6) \
        FETCH((n) + 2); \
    H::template add<n>(h, w[(n) % 3], a, p, u[n], scale);
    FETCH(0);
    FETCH(1);
#pragma unroll
    for (int k = 0; k < 24; k++)
        h[k] = 0;
    HOP_EACH(STEP)
#undef STEP
#undef FETCH
    finish<P, END, SW, false, false>(a, p, 0, there, h, policy, NULL);
}

/* LINKS bytes of links, and CLOVER of clover matrices behind them, to shared memory of this warp of
 * a side of four; NULL: none. Of links IN_SPACE bytes alone where p says of all sites of the warp
 * that those of t are 1. All threads of a block call it once, then wait_for_brought(). */
template <int LINKS, int IN_SPACE, int CLOVER, int SIDES>
DEVICE void bring(char *to, const char *links, const char *clover, const lat_hop_site &p,
                  uint64_t *barrier, uint64_t policy)
{
    const uint32_t side = threadIdx.x / 128, lane = threadIdx.x % 32,
                   wanted = __any_sync(~0u, (p.crosses & 0x8800) != 0) ? LINKS : IN_SPACE;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(barrier),
                   at = (uint32_t)__cvta_generic_to_shared(to);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 4;\n"
                     "fence.proxy.async.shared::cta;" ::"r"(bar)
                     : "memory");
    __syncthreads();
    if (side || lane)
        return;
    const uint32_t bytes = (links ? wanted : 0) + (clover ? CLOVER : 0);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
                 : "memory");
#define BULK(to, from, bytes) \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" \
                 ".L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(to), \
                 "l"(from), "r"((uint32_t)(bytes)), "r"(bar), "l"(policy) \
                 : "memory")
    if (links && wanted)
        BULK(at, links, wanted);
    if (CLOVER && clover)
        BULK(at + LINKS, clover, CLOVER);
#undef BULK
#else
    for (uint32_t k = (side * 32 + lane) * 16; links && k < wanted; k += SIDES * 512)
        *(uint4 *)(to + k) = load16_once(links + k, policy);
    for (uint32_t k = (side * 32 + lane) * 16; CLOVER && clover && k < CLOVER; k += SIDES * 512)
        *(uint4 *)(to + LINKS + k) = load16_once(clover + k, policy);
    __syncthreads();
    (void)barrier;
#endif
}

DEVICE void wait_for_brought(uint64_t *barrier)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const uint32_t bar = (uint32_t)__cvta_generic_to_shared(barrier);
    for (uint32_t done = 0; !done;)
        asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, p;}"
                     : "=r"(done)
                     : "r"(bar)
                     : "memory");
#else
    (void)barrier;
#endif
}

/* SIDES threads a site, which take the columns in turn, as blocks of the same sites do
 * (blockIdx.y). Links, and clover matrices if HOLD, of each warp's group are copied to shared
 * memory. */
template <int P, int R, int END, bool PHASES, int SW, bool GHOSTS, bool ONCE, int AHEAD, int SIDES,
          int BLOCKS, bool HOLD>
__global__ void __launch_bounds__(128 * SIDES, BLOCKS)
    hop_many(const __grid_constant__ lat_hop_args a)
{
    typedef hop<P, R, true, PHASES, SW, GHOSTS> H;
    enum { EACH = H::LINKS + (HOLD ? lat_form<P>::CLOVER : 0) };
    extern __shared__ __align__(128) char shared[];
    if (GHOSTS && sends<P>(a))
        return;
    const uint32_t thread = threadIdx.x % 128, side = threadIdx.x / 128, warp = thread / 32;
    const hop_block b = block_of<GHOSTS>(a);
    const uint32_t i = hop_number(a.sites, b.number, thread), groups = (a.sites.half + 31) / 32;
    const bool there = i < a.sites.half, some = i / 32 < groups;
    const uint64_t policy = policy_of(a);
    const lat_hop_site p = site_of(a, there ? i : a.sites.half - 1, b);
    __shared__ __align__(8) uint64_t barrier;
    const char *const matrices = HOLD ? held_clover(a) : NULL;
    bring<H::LINKS, H::IN_SPACE, HOLD ? (int)lat_form<P>::CLOVER : 0, SIDES>(
        shared + warp * EACH, some ? a.links + (size_t)p.group * H::LINKS : NULL,
        some && matrices ? matrices + (size_t)p.group * lat_form<P>::CLOVER : NULL, p, &barrier,
        policy);
    WAIT_FOR_GRID();
    wait_for_brought(&barrier);
    if (!some)
        return;
#pragma unroll 1
    for (int n = (int)(blockIdx.y * SIDES + side); n < a.columns; n += SIDES * (int)gridDim.y) {
        const size_t column = (size_t)a.active[n] * a.column;
        typename H::real h[24];
        const size_t ghost = GHOSTS ? (size_t)n * a.faces.column : 0;
        if (GHOSTS && !H::TAKE)
            edge_ghosts<P, false>(a, p, ghost);
        H::template apply<AHEAD, END == 5>(h, a, p, spinors_in<P>(a, b) + column, ghost, policy,
                                           shared + warp * EACH,
                                           scales_hop<END>() ? (typename H::real)a.a : 1,
                                           a.x + (size_t)p.group * lat_form<P>::GROUP + column);
        if (GHOSTS && !H::TAKE)
            edge_ghosts<P, true>(a, p, ghost);
        finish<P, END, SW, ONCE, HOLD>(a, p, n, there, h, read_again(),
                                       shared + warp * EACH + H::LINKS);
    }
}

#endif
