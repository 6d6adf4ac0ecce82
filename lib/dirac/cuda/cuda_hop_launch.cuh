/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_launch.cuh: which kernel does a hop, for one precision: LAT_P is the storage,
 * LAT_HOP_LAUNCH the name of the function. Compiled are, for links of 12 and of 18 reals, with
 * ghosts and without, but where it is said:
 *
 *                    hop_one      SMALL          hop_many     hop_tile
 *     end_store      not double   not double(*)  not double   not half(+)
 *     end_general    all          not double(*)  all
 *     end_clover     all                         all(#)
 *     end_diagonal   all                         all(#)
 *     end_affine     not half(*)                 not half(*)  not half(+)
 *     (*) 12 reals; (+) 12 reals, no ghosts; (#) with ghosts for the reals that several columns
 *     have: 18 in half, else 12
 *
 * and hop_one with end_any where y is cut: a kernel that takes every hop, so that others know
 * nothing of y and few are compiled. It has their arithmetic, and their bits.
 *
 * Half is bound by instructions, of which it takes some to exchange spins. Kernels that know
 * whether they do it are hop_one with 12 reals, as one column has, and hop_many with 18, as many
 * columns have, but for end_diagonal.
 *
 * Numbers of blocks, of threads a site and of directions that loads run ahead were measured on an
 * H200 (bench/history); results do not depend on them. */
#include "dirac/cuda/cuda_dirac.cuh"
#include "dirac/cuda/cuda_hop.cuh"
#include "dirac/cuda/cuda_hop_tile.cuh"
#include <type_traits>

enum {
    DOUBLE = LAT_P == LAT_STORAGE_DOUBLE,
    SINGLE = LAT_P == LAT_STORAGE_SINGLE,
    HALF = LAT_P == LAT_STORAGE_HALF,
    TILE_BLOCKS = DOUBLE ? 1 : 2,
    ANY_BLOCKS = DOUBLE ? 2 : 3 /* of hop_one with end_any, in a multiprocessor */
};

typedef void kernel(const lat_hop_args);

static unsigned blocks_of(const lat_hop_args *a)
{
    const lat_gpu_sites *s = &a->lattice.sites;
    const uint32_t blocks = s->strip ? s->plane / 32 * s->pairs[0] * s->pairs[1]
                                     : (s->half + 127) / 128;
    return a->faces.senders + (a->both ? 2 : 1) * blocks;
}

/* Do all blocks run at once, `resident` of them on a multiprocessor? */
static bool run_at_once(const lat_hop_args *a, int resident)
{
    return blocks_of(a) <= (unsigned)(resident * a->lattice.processors);
}

static cudaError_t launch_one(kernel *k, const lat_hop_args *a, cudaStream_t stream)
{
    const dim3 blocks(blocks_of(a), (unsigned)a->columns);
    return lat_cuda_start(a->lattice.early, k, blocks, 128, stream, *a);
}

/* Blocks of the same sites, which share the columns, `sides` of them at a time: several where a
 * lattice is too small to fill the multiprocessors, of which each takes `resident` blocks. */
static unsigned shares_of(const lat_hop_args *a, int sides, int resident)
{
    const unsigned rounds = (unsigned)((a->columns + sides - 1) / sides),
                   most = (unsigned)(resident * a->lattice.processors) / blocks_of(a);
    if (most < 2)
        return 1;
    const unsigned each = (rounds + most - 1) / most;
    return (rounds + each - 1) / each;
}

/* Kernels of several columns need more shared memory than a block may take unasked. */
static cudaError_t launch_many(kernel *k, int bytes, int sides, int resident, const lat_hop_args *a,
                               cudaStream_t stream)
{
    const dim3 blocks(blocks_of(a), shares_of(a, sides, resident));
    const cudaError_t e = cudaFuncSetAttribute((const void *)k,
                                               cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (e)
        return e;
    return lat_cuda_start_with((size_t)bytes, a->lattice.early, k, blocks, 128 * sides, stream, *a);
}

/* What a kernel knows of a.swap; with links that most launches of it have (USUAL), in half. */
template <bool USUAL, class End> static constexpr int swap_of(int swap)
{
    return HALF && USUAL && !End::PHASES ? swap : -1;
}

/* Several columns, if a block may take the shared memory; else false. A block that holds clover
 * matrices in double has a multiprocessor to itself. */
template <int R, class End, int GHOSTS>
static bool launched(const lat_hop_args *a, cudaStream_t stream, cudaError_t *e)
{
    enum {
        LINKS = 4 * lat_link_form<LAT_P, R>::ALL,
        HELD = LINKS + 4 * (int)lat_form<LAT_P>::CLOVER,
        SIDES = SINGLE || (DOUBLE && End::CLOVER) ? 2 : 1,
        ALONE = R == 12 ? 2 : 1, /* blocks in double, without clover matrices */
        BLOCKS = HALF          ? 4
                 : SINGLE      ? 2
                 : End::CLOVER ? 1
                               : (int)ALONE
    };
    constexpr bool ALL = DOUBLE && End::CLOVER;
    constexpr int ON = swap_of<R == 18, End>(1), OFF = swap_of<R == 18, End>(0);
    kernel *const k = a->swap ? hop_many<LAT_P, R, End, GHOSTS, ON, SIDES, BLOCKS>
                              : hop_many<LAT_P, R, End, GHOSTS, OFF, SIDES, BLOCKS>;
    lat_hop_args b = *a;
    b.held = End::CLOVER
             && (!ALL || ((a->end.clover_x || a->end.clover_h) && HELD <= a->lattice.most_shared));
    const int bytes = b.held ? HELD : LINKS;
    if (bytes > a->lattice.most_shared)
        return false;
    *e = ALL && !b.held ? launch_many(k, bytes, 1, ALONE, &b, stream)
                        : launch_many(k, bytes, SIDES, BLOCKS, &b, stream);
    return true;
}

/* One column, or several one by one. */
template <int R, class End, int GHOSTS>
static cudaError_t launch_single(const lat_hop_args *a, cudaStream_t stream)
{
    enum { BLOCKS = DOUBLE ? End::CLOVER ? 2 : 3 : HALF && R == 12 && !End::CLOVER ? 5 : 4 };
    constexpr int ON = swap_of<R == 12, End>(1), OFF = swap_of<R == 12, End>(0);
    return launch_one(a->swap ? hop_one<LAT_P, R, End, GHOSTS, false, ON, BLOCKS>
                              : hop_one<LAT_P, R, End, GHOSTS, false, OFF, BLOCKS>,
                      a, stream);
}

template <int R, class End, int GHOSTS>
static cudaError_t run(const lat_hop_args *a, cudaStream_t stream)
{
    constexpr bool AFFINE = std::is_same<End, end_affine>::value,
                   STORE = std::is_same<End, end_store>::value,
                   MANY = !GHOSTS || !End::CLOVER || R == (HALF ? 18 : 12);
    if constexpr (!HALF && R == 12 && (STORE || AFFINE) && !GHOSTS) {
        constexpr bool HELD = SINGLE && STORE; /* others would spill registers */
        enum { BYTES = hop_tile_form<LAT_P, R, HELD>::BYTES };
        if (a->tiles && a->columns > 1 && lat_hop_has_tiles(&a->lattice.sites)
            && TILE_BLOCKS * BYTES <= a->lattice.most_shared)
            return launch_many(hop_tile<LAT_P, R, End, HELD, TILE_BLOCKS>, BYTES, 1, TILE_BLOCKS, a,
                               stream);
    }
    if constexpr (DOUBLE && STORE) {
        return run<R, end_general, GHOSTS>(a, stream);
    } else {
        if constexpr (!DOUBLE && R == 12 && End::SCALED && !AFFINE)
            if (a->columns == 1 && run_at_once(a, 2))
                return launch_one(hop_one<LAT_P, R, End, GHOSTS, true, -1, 2>, a, stream);
        if constexpr (MANY) {
            cudaError_t e;
            if (a->columns > 1 && !a->lattice.phases && launched<R, End, GHOSTS>(a, stream, &e))
                return e;
        }
        return launch_single<R, End, GHOSTS>(a, stream);
    }
}

template <int R, class End> static cudaError_t by_ghosts(const lat_hop_args *a, cudaStream_t stream)
{
    return a->lattice.sites.ghosts ? run<R, End, LAT_GHOSTS>(a, stream)
                                   : run<R, End, LAT_NO_GHOSTS>(a, stream);
}

template <int R> static lat_hop_end end_of(const lat_hop_args *a)
{
    const lat_epilogue &e = a->end;
    if (a->lattice.phases || e.clover_x || e.g5_x != 0 || e.g5_h != 0)
        return LAT_END_DIAGONAL;
    if (e.clover_h)
        return LAT_END_CLOVER;
    if (!HALF && R == 12 && e.recursion && e.x && !e.add)
        return LAT_END_AFFINE;
    return !e.x && !e.add && !e.sums && !e.flip ? LAT_END_STORE : LAT_END_GENERAL;
}

/* Where y is cut. */
template <int R> static cudaError_t run_any(const lat_hop_args *a, cudaStream_t stream)
{
    lat_hop_args b = *a;
    b.rows.end = end_of<R>(a);
    return launch_one(hop_one<LAT_P, R, end_any, LAT_GHOSTS_OF_Y, false, -1, ANY_BLOCKS>, &b,
                      stream);
}

template <int R> static cudaError_t by_end(const lat_hop_args *a, cudaStream_t stream)
{
    if (a->lattice.sites.ghosts & 2)
        return run_any<R>(a, stream);
    switch (end_of<R>(a)) {
    case LAT_END_DIAGONAL: return by_ghosts<R, end_diagonal>(a, stream);
    case LAT_END_CLOVER: return by_ghosts<R, end_clover>(a, stream);
    case LAT_END_AFFINE:
        if constexpr (!HALF && R == 12)
            return by_ghosts<R, end_affine>(a, stream);
        break;
    case LAT_END_STORE: return by_ghosts<R, end_store>(a, stream);
    case LAT_END_GENERAL: break;
    }
    return by_ghosts<R, end_general>(a, stream);
}

cudaError_t LAT_HOP_LAUNCH(const lat_hop_args *a, int reals, cudaStream_t stream)
{
    return reals == 12 ? by_end<12>(a, stream) : by_end<18>(a, stream);
}
