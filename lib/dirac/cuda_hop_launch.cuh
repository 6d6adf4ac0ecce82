/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda_hop_launch.cuh: which kernel of cuda_hop.cuh does a hop, for one precision: LAT_P is the
 * storage, LAT_HOP_LAUNCH the name of the function. Numbers of blocks, of threads a site and of
 * directions that loads run ahead were measured on an H200 (bench/history); results do not depend
 * on them. */
#include "cuda_dirac.cuh"
#include "cuda_hop.cuh"
#include "cuda_hop_tile.cuh"

enum {
    DOUBLE = LAT_P == LAT_STORAGE_DOUBLE,
    SINGLE = LAT_P == LAT_STORAGE_SINGLE,
    HALF = LAT_P == LAT_STORAGE_HALF,
    ONE_AHEAD = 1,
    MANY_AHEAD = SINGLE ? 0 : 1,
    MANY_SIDES = SINGLE ? 2 : 1,
    MANY_ONCE = !SINGLE,
    TILE_BLOCKS = DOUBLE ? 1 : 2
};

typedef void kernel(const lat_hop_args);

static unsigned blocks_of(const lat_hop_args *a)
{
    return 2 * a->faces.blocks + (a->both ? 2 : 1) * ((a->sites.half + 127) / 128);
}

/* Do all blocks run at once, `resident` of them on a multiprocessor? */
static bool run_at_once(const lat_hop_args *a, int resident)
{
    return blocks_of(a) <= (unsigned)(resident * a->processors);
}

static cudaError_t launch_one(kernel *k, const lat_hop_args *a, cudaStream_t stream)
{
    const dim3 blocks(blocks_of(a), (unsigned)a->columns);
    return lat_cuda_start(a->early, k, blocks, 128, stream, *a);
}

/* Blocks of the same sites, which share the columns, `sides` of them at a time: several where a
 * lattice is too small to fill the multiprocessors, of which each takes `resident` blocks. */
static unsigned shares_of(const lat_hop_args *a, int sides, int resident)
{
    const unsigned turns = (unsigned)((a->columns + sides - 1) / sides),
                   most = (unsigned)(resident * a->processors) / blocks_of(a);
    if (most < 2)
        return 1;
    const unsigned each = (turns + most - 1) / most;
    return (turns + each - 1) / each;
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
    return lat_cuda_start_with((size_t)bytes, a->early, k, blocks, 128 * sides, stream, *a);
}

/* Is hop_tile wanted, and has the lattice its tiles? */
static bool takes_tiles(const lat_hop_args *a)
{
    return a->tiles && a->columns > 1 && lat_hop_has_tiles(&a->sites);
}

/* hop_many, with clover matrices in shared memory if HOLD; false: a block may not take so much. */
template <int R, int END, int SW, bool GHOSTS, bool HOLD>
static bool launched(const lat_hop_args *a, cudaStream_t stream, cudaError_t *e)
{
    enum {
        BYTES = 4
                * (8 * lat_link_form<LAT_P, R>::BLOCK + (HOLD ? (int)lat_form<LAT_P>::CLOVER : 0)),
        ALONE = DOUBLE && HOLD, /* such a block has a multiprocessor to itself */
        SIDES = ALONE ? 2 : (int)MANY_SIDES,
        BLOCKS = DOUBLE   ? R == 12 && !ALONE ? 2 : 1
                 : SINGLE ? 2
                          : 4
    };
    if (BYTES > a->most_shared)
        return false;
    *e = launch_many(
        hop_many<LAT_P, R, END, false, SW, GHOSTS, MANY_ONCE, MANY_AHEAD, SIDES, BLOCKS, HOLD>,
        BYTES, SIDES, BLOCKS, a, stream);
    return true;
}

template <int R, int END, bool PHASES, int SW, bool GHOSTS>
static cudaError_t run_kernel(const lat_hop_args *a, cudaStream_t stream)
{
    constexpr bool CLOVER = has_clover<END>(), HOLD = CLOVER && !DOUBLE;
    const bool matrices = a->clover_x || a->clover_h;
    enum { ONE_BLOCKS = DOUBLE ? CLOVER ? 2 : 3 : HALF && R == 12 && END < 2 ? 5 : 4 };
    cudaError_t e = cudaSuccess;
    if constexpr (!HALF && R == 12 && (END == 0 || END == 5) && !PHASES && !GHOSTS) {
        constexpr bool HELD = SINGLE && END == 0; /* others would spill registers */
        enum { BYTES = hop_tile_form<LAT_P, R, HELD>::BYTES };
        if (takes_tiles(a) && TILE_BLOCKS * BYTES <= a->most_shared)
            return launch_many(hop_tile<LAT_P, R, END, HELD, MANY_ONCE, TILE_BLOCKS>, BYTES, 1,
                               TILE_BLOCKS, a, stream);
    }
    if constexpr (!DOUBLE && (END == 0 || END == 1) && !PHASES) {
        if (a->columns == 1 && run_at_once(a, 2))
            return launch_one(hop_small<LAT_P, R, END, SW, GHOSTS>, a, stream);
    }
    if (a->columns > 1 && !PHASES
        && ((matrices && launched<R, END, SW, GHOSTS, CLOVER>(a, stream, &e))
            || launched<R, END, SW, GHOSTS, HOLD>(a, stream, &e)))
        return e;
    return launch_one(hop_one<LAT_P, R, END, PHASES, SW, GHOSTS, false, ONE_AHEAD, ONE_BLOCKS>, a,
                      stream);
}

template <int R, int END, bool PHASES, int SW>
static cudaError_t run(const lat_hop_args *a, cudaStream_t stream)
{
    return a->sites.ghosts ? run_kernel<R, END, PHASES, SW, true>(a, stream)
                           : run_kernel<R, END, PHASES, SW, false>(a, stream);
}

template <int R, int SW> static cudaError_t choose(const lat_hop_args *a, cudaStream_t stream)
{
    const bool diagonal = a->clover_x || a->clover_h || a->g5_x != 0 || a->g5_h != 0;
    const bool clover = a->clover_h && !a->clover_x && a->g5_x == 0 && a->g5_h == 0;
    if (a->phases)
        return run<R, 2, true, SW>(a, stream);
    if (clover)
        return run<R, 4, false, SW>(a, stream);
    if (diagonal)
        return run<R, 2, false, SW>(a, stream);
    if (!HALF && a->recursion) {
        enum { ADDS = HALF ? 1 : 3, AFFINE = HALF ? 1 : 5 }; /* none of half is compiled */
        if (a->add || !a->x)
            return run<R, ADDS, false, SW>(a, stream);
        return run<R, AFFINE, false, SW>(a, stream);
    }
    if (!a->x && !a->add && !a->sums && !a->flip)
        return run<R, 0, false, SW>(a, stream);
    return run<R, 1, false, SW>(a, stream);
}

template <int P> static cudaError_t by_swap(const lat_hop_args *a, int reals, cudaStream_t stream)
{
    if constexpr (P == LAT_STORAGE_HALF) /* there it takes instructions to exchange spins */
        return reals == 12 ? a->swap ? choose<12, 1>(a, stream) : choose<12, 0>(a, stream)
               : a->swap ? choose<18, 1>(a, stream)
                           : choose<18, 0>(a, stream);
    else
        return reals == 12 ? choose<12, -1>(a, stream) : choose<18, -1>(a, stream);
}

cudaError_t LAT_HOP_LAUNCH(const lat_hop_args *a, int reals, cudaStream_t stream)
{
    return by_swap<LAT_P>(a, reals, stream);
}
