/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_launch.cuh: the functions of lat_cuda_ops (template; after the kernels): which kernel, and on
 * how many blocks. */

/* `batch` copies of a slice share a block, and the links that it reads in its cache. */
template <int P, int R, int D, int C, int UPDATE>
static cudaError_t LAT_(launch)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                                cudaStream_t stream)
{
    const unsigned y = (unsigned)(how->batch + C - 1) / C, few = 32 * y <= BLOCK_MOST ? 32 : 16,
                   x = y > 2 ? few : BLOCK / y;
    lat_cuda_how h = *how;
    const unsigned inner = LAT_(share_blocks)(w, &h, x);
    const dim3 block(x, y), grid(2 * h.face_blocks + inner, (unsigned)how->nrows);
    if (grid.x == 0)
        return cudaSuccess;
    return lat_cuda_start(w->overlap, LAT_(half) < P, R, D, C, UPDATE >, grid, block, stream, *w, h,
                          parity);
}

#if LAT_N <= 3
/* For what matters most: SU(3) links of four directions. */
template <int P, int D, int UPDATE>
static cudaError_t LAT_(launch_tuned)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                                      cudaStream_t stream)
{
#if LAT_N == 3
    if (how->batch == 1 && w->face == 0
        && (uint64_t)w->half * (uint64_t)how->nrows
               <= (uint64_t)w->processors * LAT_CUDA_SMALL_SITES) {
        const dim3 block(SMALL_THREADS, 1),
            grid(lat_cuda_blocks(w->half, SMALL_THREADS), (unsigned)how->nrows);
        return lat_cuda_start(w->overlap, LAT_(half_small) < P, D, UPDATE >, grid, block, stream,
                              *w, *how, parity);
    }
#if LAT_SIZE == 4
    if constexpr (P == LAT_LINEAR && D == 4)
        if (how->batch > 1)
            return LAT_(launch)<P, FEW, D, 2, UPDATE>(w, how, parity, stream);
#endif
#endif
    return LAT_(launch)<P, FEW, D, 1, UPDATE>(w, how, parity, stream);
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
    const bool tuned = (int)how->update < (int)LAT_TUNED_UPDATES;
    if (tuned && LAT_(plain)(w, 4))
        return LAT_(tuned)<P, 4>(w, how, parity, stream);
    if constexpr (P == LAT_LINEAR)
        if (tuned && LAT_(plain)(w, 3))
            return LAT_(tuned)<P, 3>(w, how, parity, stream);
    if (w->rows < LAT_N)
        return LAT_(launch)<P, FEW, 0, 1, -1>(w, how, parity, stream);
#endif
#if LAT_N > 3 && LAT_SIZE == 4 /* fewer registers, more threads; in double all have too few */
    switch ((int)how->update) {
#define CASE(NAME, linear, abelian, ...) \
    case LAT_UPDATE_##NAME: \
        return LAT_(launch)<P, LAT_N, 0, 1, LAT_UPDATE_##NAME>(w, how, parity, stream);
        LAT_EACH_UPDATE(CASE, )
#undef CASE
    }
    return cudaErrorInvalidValue;
#else
    return LAT_(launch)<P, LAT_N, 0, 1, -1>(w, how, parity, stream);
#endif
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

template <int P, int R, int D>
static cudaError_t LAT_(launch_state)(const lat_cuda_work *w, const lat_cuda_sums *sums,
                                      uint32_t number, cudaStream_t stream)
{
    return lat_cuda_start(w->overlap, LAT_(state) < P, R, D >, lat_cuda_sums_blocks(sums),
                          LAT_CUDA_SUM_THREADS, stream, *w, *sums, number);
}

static cudaError_t LAT_(sum)(const lat_cuda_work *w, const lat_cuda_sums *sums, uint32_t number,
                             cudaStream_t stream)
{
#if LAT_N <= 3
    if (w->problem == LAT_ABELIAN)
        return w->rows < LAT_N ? LAT_(launch_state)<LAT_ABELIAN, FEW, 0>(w, sums, number, stream)
                               : LAT_(launch_state)<LAT_ABELIAN, LAT_N, 0>(w, sums, number, stream);
    if (w->rows < LAT_N)
        return LAT_(plain)(w, 4) ? LAT_(launch_state)<LAT_LINEAR, FEW, 4>(w, sums, number, stream)
                                 : LAT_(launch_state)<LAT_LINEAR, FEW, 0>(w, sums, number, stream);
#endif
    return LAT_(launch_state)<LAT_LINEAR, LAT_N, 0>(w, sums, number, stream);
}
