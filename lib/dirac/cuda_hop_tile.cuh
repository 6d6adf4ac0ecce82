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
#ifndef LAT_DIRAC_CUDA_HOP_TILE_CUH
#define LAT_DIRAC_CUDA_HOP_TILE_CUH

#include "cuda_hop.cuh"

/* Shared memory: links of the four groups, of t alone if HELD; then, in bytes from there, buffers
 * of own sites; neighbours outside in x (one a row of a brick, 8 rows at most), in y, in z, and in
 * t (two spins). All as groups of spinors lie; x is one group for the four. */
template <int P, int R, bool HELD> struct hop_tile_form {
    enum {
        FIRST = HELD ? 6 : 0, /* direction of which links are there */
        LINKS = (8 - FIRST) * lat_link_form<P, R>::BLOCK,
        IN_SPACE = (6 - FIRST) * lat_link_form<P, R>::BLOCK,
        GROUP = lat_form<P>::GROUP,
        CHUNKS = lat_form<P>::CHUNKS,
        LOWER = CHUNKS / 2 * 512, /* of a group: where the lower spins begin */
        OWN = 4 * GROUP,
        X = 2 * OWN,
        Y = X + GROUP,
        Z = Y + OWN,
        T = Z + OWN,
        BYTES = 4 * LINKS + T + OWN / 2
    };
};

/* 16 bytes to shared memory, on their way. */
DEVICE void copy16(uint32_t to, const char *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#else
    const uint4 v = load16(from);
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z),
                 "r"(v.w)
                 : "memory");
#endif
}

/* Copies since the last end_copies() are a set; wait until all but the last N sets have come. */
DEVICE void end_copies(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N> DEVICE void wait_for_copies(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

DEVICE void load16_shared(uint32_t v[4], uint32_t from)
{
    asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(from));
}

template <int P, int R, bool HELD> struct hop_tile_site {
    typedef hop_tile_form<P, R, HELD> form;
    typedef hop<P, R, true, false, -1, false> H;

    uint32_t own;     /* where the site's spinor goes, first buffer */
    uint32_t from[8]; /* where those of its neighbours are; of those inside: in the first buffer */
    uint32_t outside[4]; /* neighbour of an axis outside of the tile, ~0: none */
    uint32_t to[4];      /* where it goes */
    uint32_t inside;     /* bit k: neighbour k is inside */

    /* first: group of warp 0; at: the first own site in shared memory. */
    __device__ __forceinline__ void begin(const lat_hop_args &a, const lat_hop_site &p,
                                          uint32_t warp, uint32_t first, uint32_t at)
    {
        const uint32_t lane = p.i % 32, z = a.sites.plane / 32, t = a.sites.slice / 32;
        own = at + warp * form::GROUP + lane * 16;
        inside = 0;
        to[0] = at + form::X + warp * 128 + lat_cuda_quotient(lane, a.sites.by_brick[0]) * 16;
        to[1] = at + form::Y + warp * form::GROUP + lane * 16;
        to[2] = at + form::Z + warp * form::GROUP + lane * 16;
        to[3] = at + form::T + warp * (form::GROUP / 2) + lane * 16;
#pragma unroll
        for (int k = 0; k < 4; k++)
            outside[k] = ~0u;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const uint32_t n = p.next[k], d = n / 32 - first;
            if (d == 0 || d == z || d == t || d == t + z) {
                inside |= 1u << k;
                from[k] = at + n % 32 * 16
                          + ((d == z || d == t + z) + 2 * (d >= t)) * (uint32_t)form::GROUP;
            } else {
                from[k] = to[k % 4] - (k == 3 ? form::LOWER : 0);
                outside[k % 4] = n;
            }
        }
    }

    /* The spinor of site n; with swap its lower spins come first. */
    static __device__ __forceinline__ void copy(uint32_t to, const char *column, uint32_t n,
                                                bool swap)
    {
        const char *const at = column + (size_t)(n / 32) * form::GROUP + n % 32 * 16;
        const uint32_t upper = to + (swap ? form::LOWER : 0), lower = to + (swap ? 0 : form::LOWER);
#pragma unroll
        for (int c = 0; c < form::CHUNKS / 2; c++)
            copy16(upper + c * 512, at + c * 512);
#pragma unroll
        for (int c = 0; c < form::CHUNKS / 2; c++)
            copy16(lower + c * 512, at + form::LOWER + c * 512);
    }
    __device__ __forceinline__ void copy_own(const char *column, uint32_t i, uint32_t buffer,
                                             bool swap) const
    {
        copy(own + buffer, column, i, swap);
    }
    __device__ __forceinline__ void copy_xy(const char *column, bool swap) const
    {
        if (outside[0] != ~0u)
            copy(to[0], column, outside[0], swap);
        if (outside[1] != ~0u)
            copy(to[1], column, outside[1], swap);
    }
    __device__ __forceinline__ void copy_z(const char *column, bool swap) const
    {
        if (outside[2] != ~0u)
            copy(to[2], column, outside[2], swap);
    }
    __device__ __forceinline__ void copy_t(const char *column, bool swap) const
    {
        if (outside[3] == ~0u)
            return;
        const bool forward = !(inside >> 3 & 1);
        const char *const at = column + (size_t)(outside[3] / 32) * form::GROUP
                               + outside[3] % 32 * 16 + (forward != swap ? form::LOWER : 0);
#pragma unroll
        for (int c = 0; c < form::CHUNKS / 2; c++)
            copy16(to[3] + c * 512, at + c * 512);
    }

    /* The words of direction N's neighbour (struct hop); t: two spins. */
    template <int N> __device__ __forceinline__ void read(typename H::raw &w, uint32_t buffer) const
    {
        enum { K = N / 2, BACK = N % 2, D = K + 4 * BACK };
        const uint32_t at = from[D] + (inside >> D & 1 ? buffer : 0)
                            + (K == 3 && !BACK ? form::LOWER : 0);
#pragma unroll
        for (int c = 0; c < (K == 3 ? form::CHUNKS / 2 : form::CHUNKS); c++)
            load16_shared(w.spinor + 4 * c, at + c * 512);
    }
};

/* A thread is a site. Loads from shared memory run a direction ahead of the arithmetic. END: 0, or
 * 5 (finish()), where the spinor of the next column that r begins with is asked for, too. HELD:
 * links of space are in registers. */
template <int P, int R, int END, bool HELD, bool ONCE, int BLOCKS>
__global__ void __launch_bounds__(128, BLOCKS) hop_tile(const __grid_constant__ lat_hop_args a)
{
    typedef hop<P, R, true, false, -1, false> H;
    typedef hop_tile_form<P, R, HELD> form;
    extern __shared__ __align__(128) char shared[];
    const uint32_t warp = threadIdx.x / 32;
    const hop_block b = block_of<false>(a);
    const uint32_t i = hop_number(a.sites, b.number, threadIdx.x);
    const lat_hop_site p = site_of(a, i, b);
    const bool swap = a.swap != 0;
    const uint64_t policy = policy_of(a);
    hop_tile_site<P, R, HELD> tile;
    tile.begin(a, p, warp, hop_number(a.sites, b.number, 0) / 32,
               (uint32_t)__cvta_generic_to_shared(shared) + 4 * form::LINKS);
    __shared__ __align__(8) uint64_t barrier;
    const char *const links = a.links + (size_t)p.group * H::LINKS;
    char *const brought = shared + warp * form::LINKS;
    uint32_t held[HELD ? 6 : 1][H::link::WORDS];
    if (HELD)
#pragma unroll
        for (int k = 0; k < 6; k++)
            load_link<P, R>(held[HELD ? k : 0], links + k * H::link::BLOCK, i % 32, policy);
    bring<form::LINKS, form::IN_SPACE, 0, 1>(brought, links + form::FIRST * H::link::BLOCK, NULL, p,
                                             &barrier, policy);
    const char *const in = spinors_in<P>(a, b);
    WAIT_FOR_GRID();
    const int first = (int)blockIdx.y, step = (int)gridDim.y;
    const char *const column = in + (size_t)a.active[first] * a.column;
    tile.copy_own(column, i, 0, swap);
    tile.copy_xy(column, swap);
    end_copies();
    tile.copy_z(column, swap);
    end_copies();
    tile.copy_t(column, swap);
    end_copies();
    wait_for_brought(&barrier);
    uint32_t buffer = form::OWN, words[END == 5 ? lat_form<P>::WORDS : 1];
    const char *const x = a.x + (size_t)p.group * form::GROUP;
    if (END == 5)
        load_spinor<P>(words, NULL, x + (size_t)a.active[first] * a.column, i % 32, swap);
#pragma unroll 1
    for (int n = first; n < a.columns; n += step) {
        const bool more = n + step < a.columns;
        const char *const next = in + (size_t)a.active[more ? n + step : n] * a.column;
        typename H::real h[24];
        typename H::raw w[2];
        const uint32_t done = buffer; /* its own sites have been read when all threads are here */
        buffer = form::OWN - buffer;
        if (END == 5)
            affine<P>(h, words, a);
        else
#pragma unroll
            for (int k = 0; k < 24; k++)
                h[k] = 0;
        wait_for_copies<2>(); /* own sites, x, y */
        __syncthreads();
        if (more)
            tile.copy_own(next, i, done, swap);
        end_copies();
#define READ(N) tile.template read<N>(w[(N) % 2], buffer)
#define COMPUTE(N) \
    if constexpr ((N) < form::FIRST) \
        H::template add<N>(h, w[(N) % 2], a, p, held[N], (typename H::real)a.a); \
    else \
        H::template compute<N>(h, w[(N) % 2], a, p, brought - form::FIRST * H::link::BLOCK, \
                               (typename H::real)a.a)
        READ(0);
        READ(1);
        COMPUTE(0);
        READ(2);
        COMPUTE(1);
        READ(3);
        if (more)
            tile.copy_xy(next, swap);
        end_copies();
        COMPUTE(2);
        wait_for_copies<3>(); /* z */
        READ(4);
        if (END == 5)
            load_spinor<P>(words, NULL, x + (size_t)a.active[more ? n + step : n] * a.column,
                           i % 32, swap);
        COMPUTE(3);
        READ(5);
        if (more)
            tile.copy_z(next, swap);
        end_copies();
        COMPUTE(4);
        wait_for_copies<3>(); /* t */
        READ(6);
        COMPUTE(5);
        READ(7);
        if (more)
            tile.copy_t(next, swap);
        end_copies();
        COMPUTE(6);
        COMPUTE(7);
#undef READ
#undef COMPUTE
        finish<P, END, -1, ONCE, false>(a, p, n, true, h, 0, NULL);
    }
}

#endif
