/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_tiles.cuh: half sweeps, functional and theta, where a tile of threads is a site
 * (template; after fix_fields.cuh): N > 4. Links have all their rows, and the weights of
 * directions in them. What fix_sweeps.cuh says of faces and strips holds here, too. */
#include "grid/cuda_tile.cuh"
#include "grid/cuda_tile_hits.cuh"

/* Warps that a processor takes at least: so many registers a thread may have. */
#define WARPS_A_PROCESSOR (LAT_SIZE == 4 ? SHARE > 2 ? 8 : 16 : LAT_N <= 7 ? 12 : 8)

/* ---- the local problem ---- */

/* This thread's rows of g of site i, conjugated: column j of U g^+ is U times the conjugate of row
 * j of g. */
template <int C>
static __device__ __forceinline__ void LAT_(get_g)(LAT_(c) (*h)[LAT_N], const LAT_(view) < 1 > &v,
                                                   uint32_t i, const LAT_(tile) < C > &t)
{
    const LAT_V *const g = v.g_other[0] + lat_cuda_at(i, CHUNKS(LAT_N));
#pragma unroll
    for (int c = 0; c < C; c++) {
        LAT_(get_row)(h[c], g + c * LANES(C) * (LAT_N / PAIR_HALVES) * LAT_CUDA_GROUP, t.column);
        LAT_(conjugate)(h[c]);
    }
}

/* This thread's columns of x = g K. STAGED: the first link is in `buffer` already, or on its way;
 * otherwise there is none. */
template <int C, bool STAGED>
static __device__ __forceinline__ void LAT_(local_problem)(LAT_(c) (*x)[LAT_N],
                                                           const lat_cuda_work &w,
                                                           const LAT_(view) < 1 > &v,
                                                           const lat_cuda_coordinates &p,
                                                           const LAT_(tile) < C > &t, LAT_V *buffer)
{
    LAT_(c) k[C][LAT_N], h[C][LAT_N];
    LAT_V *const other = buffer + BUFFER(C);
    const LAT_V *const mine = v.g[0] + lat_cuda_at(p.i, CHUNKS(LAT_N)),
                       *above = LAT_(link)<LAT_N>(v.u, p.i, w.nd, 0);
#pragma unroll
    for (int c = 0; c < C; c++) {
        LAT_(clear)(k[c]);
        LAT_(clear)(x[c]);
    }
#pragma unroll 1
    for (int mu = 0; mu < w.nd; mu++) {
        uint32_t up, down;
        LAT_(next_sites)(w, p, mu, &up, &down);
        const LAT_V *const below = LAT_(link)<LAT_N>(v.u_other, down, w.nd, mu);
        LAT_(stage)<C, STAGED>(other, below, t);
        LAT_(get_g)<C>(h, v, up, t);
        LAT_(add_times_staged)<false, false, C, STAGED>(k, buffer, above, h, t);
        above = mu + 1 < w.nd ? LAT_(link)<LAT_N>(v.u, p.i, w.nd, mu + 1) : mine;
        LAT_(stage)<C, STAGED>(buffer, above, t);
        LAT_(get_g)<C>(h, v, down, t);
        LAT_(add_times_staged)<false, true, C, STAGED>(k, other, below, h, t);
    }
    if (STAGED)
        __pipeline_commit();
    LAT_(add_times_staged)<false, false, C, STAGED>(x, buffer, mine, k, t);
}

/* ---- a site update ---- */

static __device__ __forceinline__ bool LAT_(of_whole_element)(lat_update update)
{
    return update == LAT_UPDATE_RELAX_SUN || update == LAT_UPDATE_STOCHASTIC_SUN;
}

/* This thread's rows of h^omega g to first order, as LAT_(overrelax) has it; y: h; x: scratch,
 * to which g comes once more. `reflect`: in this tile h g, a mirror image. */
template <int C>
static __device__ __forceinline__ void LAT_(tile_overrelax)(LAT_(c) (*row)[LAT_N],
                                                            const LAT_V *mine, LAT_(c) *x,
                                                            LAT_(c) *y, const LAT_(tile) < C > &t,
                                                            LAT_T omega, bool reflect)
{
    LAT_(c) m[C][LAT_N];
    LAT_T diagonal = 0, trace = 0;
    LAT_(stage)<C>((LAT_V *)x, mine, t);
    __pipeline_commit();
#pragma unroll
    for (int c = 0; c < C; c++)
        diagonal += y[c * SCRATCH + (t.column + c * LANES(C)) * PITCH + t.lane].re;
#pragma unroll
    for (int k = 0; k < LANES(C); k++)
        trace += __shfl_sync(~0u, diagonal, t.first + k);
    const bool small = trace > (LAT_T)(LAT_N - 0.5 * LAT_RELAX_SMALL) && !reflect;
    const LAT_T power = small ? omega : 1;
#pragma unroll
    for (int c = 0; c < C; c++) { /* (1 - omega) + omega h */
        LAT_(row_of)<C>(m[c], y, t, t.column + c * LANES(C));
#pragma unroll
        for (int k = 0; k < LAT_N; k++)
            m[c][k].re += k == t.column + c * LANES(C) ? (1 - power) / power : 0;
        LAT_(scale)(m[c], power);
        LAT_(clear)(row[c]);
    }
    LAT_(add_times_staged)<true, false, C>(row, (const LAT_V *)x, mine, m, t);
    LAT_(tile_orthonormal)<C>(row, x, t);
    /* The first order of h^omega is in U(N), whose maximum is another one: det back to 1. */
    const LAT_(c) back = LAT_(phase_back)(LAT_(det_near_one) < C > (m, x, t));
    if (small && t.column == LANES(C) - 1)
#pragma unroll
        for (int k = 0; k < LAT_N; k++)
            row[C - 1][k] = LAT_(mul)(back, row[C - 1][k]);
}

/* What the site's g becomes, an update of site/update.h: this thread's rows; `column` has its
 * columns of the local problem, which are destroyed. x and y, in shared memory, are scratch; x
 * has g, staged last by LAT_(local_problem). */
template <int C>
static __device__ __forceinline__ void LAT_(tile_update)(
    LAT_(c) (*row)[LAT_N], LAT_(c) (*column)[LAT_N], const LAT_V *mine, const LAT_(tile) < C > &t,
    const LAT_(hits) &hits, lat_update update, LAT_(c) *x, LAT_(c) *y)
{
    const bool whole = LAT_(of_whole_element)(update);
    const LAT_T omega = hits.omega;
    bool reflect = false;
    LAT_(c) g[C][LAT_N];
    if (update == LAT_UPDATE_STOCHASTIC_SUN) {
        LAT_T u[4];
        LAT_(uniforms)(hits.rng, 0, u);
        reflect = hits.stochastic > u[0];
    }
#pragma unroll
    for (int c = 0; c < C; c++)
        if (!whole)
            LAT_(get_column)<TILES(C)>(g[c], (const LAT_V *)x + t.number, t.column + c * LANES(C));
        else
#pragma unroll
            for (int a = 0; a < LAT_N; a++) {
                g[c][a].re = a == t.column + c * LANES(C);
                g[c][a].im = 0;
            }
    __syncwarp();
    switch (update) {
#define CASE(NAME, passes) \
    case LAT_UPDATE_##NAME: \
        LAT_(hit_passes)<C, LAT_UPDATE_##NAME>(passes, column, g, x, y, t, omega, reflect); \
        break;
        CASE(RELAX_SU2, 1)
        CASE(RELAX_SUN, LAT_RELAX_PASSES)
        CASE(MICROCANONICAL, 1)
        CASE(STOCHASTIC_SUN, LAT_RELAX_PASSES)
#undef CASE
    default: /* hits take random numbers */
        LAT_(put_columns)<C>(x, column, t);
        LAT_(put_columns)<C>(y, g, t);
        LAT_(hit_all)<C>(x, y, t, hits, update);
    }
    if (whole)
        LAT_(tile_overrelax)<C>(row, mine, x, y, t, omega, reflect);
    else /* hits of length 1 leave rows orthonormal up to rounding */
        LAT_(tile_orthonormal_again)<C>(row, y, t);
}

/* ---- a half sweep ---- */

/* One parity. A row of warps, threadIdx.y, has a copy. */
static __global__ void __launch_bounds__(TILE_BLOCK, WARPS_A_PROCESSOR / TILE_WARPS)
    LAT_(half)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_how how,
               int parity)
{
    __shared__ __align__(16) LAT_(c) scratch[TILE_WARPS][2][SHARE * SCRATCH];
    const LAT_(tile)<SHARE> t = LAT_(tile_of)<SHARE>();
    const uint32_t warps = blockDim.x / 32, warp = threadIdx.x / 32;
    LAT_(c) *const x = scratch[threadIdx.y * warps + warp][0],
                   *const y = scratch[threadIdx.y * warps + warp][1];
    LAT_V *const buffer = (LAT_V *)x;
    const unsigned number = blockIdx.z * blockDim.y + threadIdx.y;
    const lat_cuda_unit *const units = how.unit + blockIdx.y * (unsigned)how.batch,
                               unit = units[number < (unsigned)how.batch ? number : 0];
    const bool nobody = number >= (unsigned)how.batch || unit.copy < 0;
    const int copy = unit.copy < 0 ? 0 : unit.copy;
    bool there;
    int side;
    const uint32_t at = LAT_(tile_site)(w, how, parity, warps * TILES(SHARE),
                                        warp * TILES(SHARE) + (uint32_t)t.number, &side, &there),
                   i = there ? LAT_(in_strips)(w, at, side) : at;
    const bool face = lat_cuda_sends(w.peers, side);
    if (nobody && !face)
        return;
    const LAT_(view)<1> v = LAT_(fields_of)<LAT_N, 1>(w, unit.slice, &copy, parity);
    const lat_cuda_coordinates p = lat_cuda_find(w, i, parity);
    const int64_t site = lat_cuda_site(w, p, unit.from);
    LAT_(c) m[SHARE][LAT_N], row[SHARE][LAT_N];
    LAT_(stage)<SHARE>(buffer, LAT_(link) < LAT_N > (v.u, i, w.nd, 0), t);
    WAIT_FOR_GRID();
    const LAT_T omega = (LAT_T)how.omega[copy];
    if (face)
        lat_cuda_await(w.peers, 1u << side, how.number - 1);
    LAT_(local_problem)<SHARE, true>(m, w, v, p, t, buffer);
    const LAT_(rng) rng = {how.seed + (uint64_t)copy, &site, how.config, how.step};
    const LAT_(hits) hits = {(LAT_T)how.beta, omega, (LAT_T)how.stochastic, &rng};
    LAT_V *const mine = v.g[0] + lat_cuda_at(i, CHUNKS(LAT_N));
    LAT_(tile_update)<SHARE>(row, m, mine, t, hits, how.update, x, y);
    if (there && t.stores && !nobody)
#pragma unroll
        for (int c = 0; c < SHARE; c++) {
            const int a = t.column + c * LANES(SHARE);
            LAT_(put_row)(mine, row[c], a);
            if (face)
                LAT_(put_row)(
                    lat_cuda_ghost<LAT_V>(w, w.peers, side,
                                          (uint64_t)copy * (uint64_t)w.slots + (uint64_t)unit.slice,
                                          parity, i, CHUNKS(LAT_N)),
                    row[c], a);
        }
    if (face)
        lat_cuda_signal_face(w.peers, side, how.face_blocks * gridDim.y * gridDim.z, how.number);
}

/* ---- functional and theta ---- */

/* This thread's part of Re tr x and theta (LAT_(landau_state)); v: its column of x; y: scratch. */
static __device__ __forceinline__ void LAT_(tile_state)(const LAT_(c) (*v)[LAT_N], LAT_(c) *y,
                                                        const LAT_(tile) < 1 > &t, LAT_T *share,
                                                        LAT_T *theta)
{
    LAT_(c) row[LAT_N];
    LAT_T mean = 0, sum = 0;
    LAT_(put_columns)<1>(y, v, t);
    __syncwarp();
    const LAT_(c) own = y[t.column * PITCH + t.lane];
#pragma unroll
    for (int a = 0; a < LAT_N; a++)
        mean += __shfl_sync(~0u, own.im, t.first + a);
    mean *= (LAT_T)(1.0 / LAT_N);
    LAT_(row_of)<1>(row, y, t, t.column);
#pragma unroll
    for (int a = 0; a < LAT_N; a++) {
        const LAT_T p = v[0][a].re - row[a].re,
                    q = v[0][a].im + row[a].im - (a == t.column ? 2 * mean : 0);
        sum += p * p + q * q;
    }
    __syncwarp();
    *share = own.re;
    *theta = sum * (LAT_T)(1.0 / LAT_N);
}

/* After half sweep `number`. Each thread has a site for the sums; the tiles of a warp take its 32
 * sites in turn. */
static __global__ void __launch_bounds__(LAT_CUDA_SUM_THREADS)
    LAT_(state)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_sums sums,
                uint32_t number)
{
    __shared__ LAT_(c) scratch[LAT_CUDA_SUM_THREADS / 32][SCRATCH];
    const lat_cuda_summand x = lat_cuda_summand_of(w, sums);
    const LAT_(tile)<1> t = LAT_(tile_of)<1>();
    double sum[3] = {0, 0, 0};
    WAIT_FOR_GRID();
    if (w.peers.direct)
        lat_cuda_await(w.peers, w.peers.direct, number);
    const LAT_(view)<1> v = LAT_(fields_of)<LAT_N, 1>(w, x.slot, &x.member, x.parity);
#pragma unroll 1
    for (int from = 0; from < 32; from += TILES(1)) {
        const int lane = from + t.number < 32 ? from + t.number : 31;
        const bool there = __shfl_sync(~0u, (int)x.there, lane);
        const uint32_t at = __shfl_sync(~0u, x.i, lane);
        const lat_cuda_coordinates p = lat_cuda_find(w, there ? at : w.from, x.parity);
        LAT_(c) column[1][LAT_N];
        LAT_T share, theta;
        LAT_(local_problem)<1, false>(column, w, v, p, t, NULL);
        LAT_(tile_state)(column, scratch[threadIdx.x / 32], t, &share, &theta);
        sum[0] += LAT_(tile_sum)<1>((double)share, t, from);
        sum[1] += LAT_(tile_sum)<1>((double)theta, t, from);
    }
    if (!x.there)
        sum[0] = sum[1] = 0;
    sum[2] = sum[1];
    lat_cuda_add_slices<3, 1>(sums, x.member * w.slots + x.slot, sum);
}

/* ---- launches ---- */

/* As many copies of a slice share a block, and what it reads of links, as it has warps. */
static cudaError_t LAT_(sweep)(const lat_cuda_work *w, const lat_cuda_how *how, int parity,
                               cudaStream_t stream)
{
    const unsigned batch = (unsigned)how->batch, y = batch < TILE_WARPS ? batch : TILE_WARPS,
                   warps = TILE_WARPS / y, sites = warps * TILES(SHARE);
    lat_cuda_how h = *how;
    const unsigned inner = LAT_(share_blocks)(w, &h, sites);
    const dim3 block(32 * warps, y),
        grid(2 * h.face_blocks + inner, (unsigned)how->nrows, (batch + y - 1) / y);
    if (grid.x == 0)
        return cudaSuccess;
    return lat_cuda_start(w->overlap, LAT_(half), grid, block, stream, *w, h, parity);
}

static cudaError_t LAT_(sum)(const lat_cuda_work *w, const lat_cuda_sums *sums, uint32_t number,
                             cudaStream_t stream)
{
    return lat_cuda_start(w->overlap, LAT_(state), lat_cuda_sums_blocks(sums), LAT_CUDA_SUM_THREADS,
                          stream, *w, *sums, number);
}
