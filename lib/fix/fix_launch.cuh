/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_launch.cuh: the functions of lat_cuda_ops (template; after the kernels): which kernel, and on
 * how many blocks. */

static unsigned LAT_(blocks)(uint64_t n, unsigned threads)
{
    return (unsigned)((n + threads - 1) / threads);
}

static cudaError_t LAT_(load)(const lat_cuda_work *w, const void *raw, int real_raw, uint64_t first,
                              uint64_t count, int *bad, cudaStream_t stream)
{
    const unsigned threads = 128, blocks = LAT_(blocks)(count, threads);
    if (w->rows < LAT_N && real_raw == 4)
        LAT_(load_links)<FEW, float>
            <<<blocks, threads, 0, stream>>>(*w, (const float *)raw, first, count, bad);
    else if (w->rows < LAT_N)
        LAT_(load_links)<FEW, double>
            <<<blocks, threads, 0, stream>>>(*w, (const double *)raw, first, count, bad);
    else if (real_raw == 4)
        LAT_(load_links)<LAT_N, float>
            <<<blocks, threads, 0, stream>>>(*w, (const float *)raw, first, count, bad);
    else
        LAT_(load_links)<LAT_N, double>
            <<<blocks, threads, 0, stream>>>(*w, (const double *)raw, first, count, bad);
    return cudaGetLastError();
}

static cudaError_t LAT_(set)(const lat_cuda_work *w, int copy, const double *raw, uint64_t first,
                             uint64_t count, cudaStream_t stream)
{
    LAT_(set_g)<<<LAT_(blocks)(count, 128), 128, 0, stream>>>(*w, copy, raw, first, count);
    return cudaGetLastError();
}

static cudaError_t LAT_(get)(const lat_cuda_work *w, int copy, double *raw, uint64_t first,
                             uint64_t count, cudaStream_t stream)
{
    LAT_(get_g)<<<LAT_(blocks)(count, 128), 128, 0, stream>>>(*w, copy, raw, first, count);
    return cudaGetLastError();
}

/* A kernel that may begin while the last blocks of the one before are still at work: it waits for
 * them itself. */
template <class... A>
static cudaError_t LAT_(start)(void (*kernel)(A...), const lat_cuda_work *w, dim3 grid, dim3 block,
                               cudaStream_t stream, A... a)
{
    cudaLaunchAttribute early;
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs = w->overlap ? 1 : 0;
    return cudaLaunchKernelEx(&config, kernel, a...);
}

/* `beside` copies of a slice share a block, and the links that it reads in its cache. */
template <int P, int R, int D, int C, int VISIT>
static cudaError_t LAT_(launch)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                                cudaStream_t stream)
{
    const unsigned y = (unsigned)(how->beside + C - 1) / C, x = y == 1 ? BLOCK : y == 2 ? 64 : 32;
    lat_cuda_how h = *how;
    h.rim_blocks = how->part == LAT_CUDA_INTERIOR ? 0 : LAT_(blocks)(w->rim, x);
    const unsigned inner = how->part == LAT_CUDA_FACE ? 0 : LAT_(blocks)(w->own - 2 * w->rim, x);
    h.spread = inner >= 6 * h.rim_blocks ? 2 : inner >= 2 * h.rim_blocks ? 1 : 0;
    const dim3 block(x, y), grid(2 * h.rim_blocks + inner, (unsigned)how->nrows);
    if (grid.x == 0)
        return cudaSuccess;
    return LAT_(start)(LAT_(half) < P, R, D, C, VISIT >, w, grid, block, stream, *w, h, parity);
}

#if LAT_N <= 3
/* For what matters most: SU(3) links of four directions. */
template <int P, int D, int VISIT>
static cudaError_t LAT_(launch_tuned)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                                      cudaStream_t stream)
{
#if LAT_N == 3
    if (how->beside == 1 && w->rim == 0
        && (uint64_t)w->half * (uint64_t)how->nrows <= (uint64_t)w->processors * SMALL_SITES) {
        const dim3 block(SMALL_THREADS, 1),
            grid(LAT_(blocks)(w->half, SMALL_THREADS), (unsigned)how->nrows);
        return LAT_(start)(LAT_(half_small) < P, D, VISIT >, w, grid, block, stream, *w, *how,
                           parity);
    }
#if LAT_SIZE == 4
    if constexpr (P == LAT_LINEAR && D == 4)
        if (how->beside > 1)
            return LAT_(launch)<P, FEW, D, 2, VISIT>(w, how, parity, stream);
#endif
#endif
    return LAT_(launch)<P, FEW, D, 1, VISIT>(w, how, parity, stream);
}

template <int P, int D>
static cudaError_t LAT_(tuned)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                               cudaStream_t stream)
{
    switch ((int)how->update) {
#define CASE(NAME, linear, abelian, ...) \
    case LAT_UPDATE_##NAME: \
        return LAT_(launch_tuned)<P, D, LAT_UPDATE_##NAME>(w, how, parity, stream);
        LAT_EACH_TUNED_UPDATE(CASE, )
#undef CASE
    }
    return cudaErrorInvalidValue;
}

/* nd directions of weight 1, links in SU(N). */
static bool LAT_(plain)(const lat_cuda_work *w, int nd)
{
    for (int a = 0; a < nd; a++)
        if (w->weight[a] != 1)
            return false;
    return w->nd == nd && w->rows < LAT_N;
}
#endif

/* The kernels that are there for all that matters, and those that do all else. */
template <int P>
static cudaError_t LAT_(sweep_of)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                                  cudaStream_t stream)
{
#if LAT_N <= 3
    const bool tuned = how->update < LAT_TUNED_UPDATES;
    if (tuned && LAT_(plain)(w, 4))
        return LAT_(tuned)<P, 4>(w, how, parity, stream);
    if constexpr (P == LAT_LINEAR)
        if (tuned && LAT_(plain)(w, 3))
            return LAT_(tuned)<P, 3>(w, how, parity, stream);
    if (w->rows < LAT_N)
        return LAT_(launch)<P, FEW, 0, 1, -1>(w, how, parity, stream);
#endif
    return LAT_(launch)<P, LAT_N, 0, 1, -1>(w, how, parity, stream);
}

static cudaError_t LAT_(sweep)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                               cudaStream_t stream)
{
#if LAT_N <= LAT_ABELIAN_MOST
    if (w->problem == LAT_ABELIAN)
        return LAT_(sweep_of)<LAT_ABELIAN>(w, how, parity, stream);
#endif
    return LAT_(sweep_of)<LAT_LINEAR>(w, how, parity, stream);
}

static uint64_t LAT_(state_blocks)(const lat_cuda_work *w)
{
    const uint64_t groups = (w->own + LAT_CUDA_GROUP - 1) / LAT_CUDA_GROUP;
    return LAT_(blocks)(2 * groups * LAT_CUDA_GROUP, SUM_THREADS);
}

template <int P, int R, int D>
static cudaError_t LAT_(launch_state)(const lat_cuda_work *w, int copies, const lat_cuda_sums *look,
                                      cudaStream_t stream)
{
    const dim3 grid((unsigned)LAT_(state_blocks)(w), (unsigned)(copies * look->slices));
    return LAT_(start)(LAT_(state) < P, R, D >, w, grid, SUM_THREADS, stream, *w, *look);
}

static cudaError_t LAT_(sum)(const lat_cuda_work *w, int copies, const lat_cuda_sums *look,
                             cudaStream_t stream)
{
#if LAT_N <= 3
    if (w->problem == LAT_ABELIAN)
        return w->rows < LAT_N ? LAT_(launch_state)<LAT_ABELIAN, FEW, 0>(w, copies, look, stream)
                               : LAT_(launch_state)<LAT_ABELIAN, LAT_N, 0>(w, copies, look, stream);
    if (w->rows < LAT_N)
        return LAT_(plain)(w, 4) ? LAT_(launch_state)<LAT_LINEAR, FEW, 4>(w, copies, look, stream)
                                 : LAT_(launch_state)<LAT_LINEAR, FEW, 0>(w, copies, look, stream);
#endif
    return LAT_(launch_state)<LAT_LINEAR, LAT_N, 0>(w, copies, look, stream);
}

static cudaError_t LAT_(face_copy)(const lat_cuda_work *w, int unit, int units, int parity,
                                   void *box, int into_ghosts, cudaStream_t stream)
{
    const dim3 grid(LAT_(blocks)(w->rim, 128), (unsigned)units, 2);
    LAT_(copy_face)<<<grid, 128, 0, stream>>>(*w, unit, parity, (LAT_V *)box, into_ghosts);
    return cudaGetLastError();
}
