/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_tiles.cuh: the kernels that make configurations, for one N and one precision (template;
 * generate_kernels.cu expands it), where a tile of threads is a link (grid/cuda_tile.cuh): larger
 * N. What generate_sweeps.cuh says of halos holds here, too. */
#include "grid/cuda_tile.cuh"
#include "grid/cuda_tile_hits.cuh"

#define BLOCK TILE_BLOCK
#define SITES TILE_SITES
#define REUNIT_SITES (TILES(1) * TILE_WARPS)

/* Warps that a processor takes at least: so many registers a thread may have. */
#define WARPS_A_PROCESSOR \
    (LAT_SIZE == 4 ? SHARE > 2 ? 8 : LAT_N <= 7 ? 16 : 12 : LAT_N <= 7 ? 12 : 8)

/* ---- updates ---- */

/* A site, and how far its neighbours are. */
typedef struct {
    int parity;
    uint32_t i;
    lat_cuda_distances steps;
} LAT_(base);

/* The two staples over axis a: this thread's rows of each. Of the products' other factors the first
 * is staged already; `after`, what comes after them, will be. */
static __device__ __forceinline__ void LAT_(add_staples)(const lat_cuda_links &w,
                                                         const LAT_(base) &at, int a,
                                                         const LAT_(tile) < SHARE > &t,
                                                         LAT_V *buffer, const LAT_V *after,
                                                         LAT_(c) (*sum)[LAT_N])
{
    const lat_cuda_distances &s = at.steps;
    const uint32_t i = at.i;
    const int parity = at.parity, mu = w.axis[0].dir, nu = w.axis[a].dir, opposite = 1 - parity;
    const LAT_T weight = (LAT_T)w.weight[a];
    const uint32_t back = i + LAT_(one_of)(s.down, a);
    LAT_V *const other = buffer + BUFFER(SHARE);
    const LAT_V *const above = LAT_(link_at)(w, parity, i, nu);
    const LAT_V *const below = LAT_(link_at)(w, opposite, back, nu);
    LAT_(c) v[SHARE][LAT_N], p[SHARE][LAT_N];
    LAT_(stage)<SHARE>(other, LAT_(link_at)(w, opposite, i + s.up[0], nu), t);
#pragma unroll
    for (int c = 0; c < SHARE; c++) {
        LAT_(get_row)(v[c], above, t.column + c * LANES(SHARE));
        LAT_(scale)(v[c], weight);
        LAT_(clear)(p[c]);
    }
    LAT_(add_times_staged)<true, false, SHARE>(p, buffer, NULL, v, t);
    LAT_(stage)<SHARE>(buffer, LAT_(link_at)(w, opposite, back, mu), t);
    LAT_(add_times_staged)<true, true, SHARE>(sum, other, NULL, p, t);
    LAT_(stage)<SHARE>(other, LAT_(link_at)(w, parity, back + s.up[0], nu), t);
#pragma unroll
    for (int c = 0; c < SHARE; c++) {
        LAT_(get_column)(v[c], below, t.column + c * LANES(SHARE));
        LAT_(conjugate)(v[c]);
        LAT_(scale)(v[c], weight);
        LAT_(clear)(p[c]);
    }
    LAT_(add_times_staged)<true, false, SHARE>(p, buffer, NULL, v, t);
    LAT_(stage)<SHARE>(buffer, after, t);
    LAT_(add_times_staged)<true, false, SHARE>(sum, other, NULL, p, t);
}

/* X = U S^+ of the links of a warp: this thread's columns. */
static __device__ __forceinline__ void LAT_(add_links)(const lat_cuda_links &w, int parity,
                                                       uint32_t i, const lat_cuda_distances &steps,
                                                       const LAT_(tile) < SHARE > &t, LAT_V *buffer,
                                                       LAT_(c) (*x)[LAT_N])
{
    const int mu = w.axis[0].dir;
    const LAT_V *const mine = LAT_(link_at)(w, parity, i, mu);
    LAT_(c) s[SHARE][LAT_N];
#pragma unroll
    for (int c = 0; c < SHARE; c++)
        LAT_(clear)(s[c]);
    LAT_(stage)<SHARE>(
        buffer, w.nd > 1 ? LAT_(link_at)(w, 1 - parity, i + LAT_(one_of)(steps.up, 1), mu) : mine,
        t);
#pragma unroll 1
    for (int a = 1; a < w.nd; a++)
        LAT_(add_staples)(w, {parity, i, steps}, a, t, buffer,
                          a + 1 < w.nd
                              ? LAT_(link_at)(w, 1 - parity, i + LAT_(one_of)(steps.up, a + 1), mu)
                              : mine,
                          s);
        /* Column j is U times the conjugate of row j of S. */
#pragma unroll
    for (int c = 0; c < SHARE; c++) {
        LAT_(conjugate)(s[c]);
        LAT_(clear)(x[c]);
    }
    __pipeline_commit();
    LAT_(add_times_staged)<false, false, SHARE>(x, buffer, NULL, s, t);
}

static __global__ void __launch_bounds__(BLOCK, WARPS_A_PROCESSOR / TILE_WARPS)
    LAT_(update_links)(const __grid_constant__ lat_cuda_links w,
                       const __grid_constant__ lat_cuda_draw how, int parity)
{
    __shared__ __align__(16) LAT_(c) scratch[TILE_WARPS][2][SHARE * SCRATCH];
    const LAT_(tile)<SHARE> t = LAT_(tile_of)<SHARE>();
    const int warp = (int)threadIdx.x / 32, mu = w.axis[0].dir;
    LAT_(c) *const x = scratch[warp][0], *const y = scratch[warp][1];
    bool there;
    int side;
    const uint32_t i = LAT_(tile_site)(w, how, parity, SITES,
                                       (uint32_t)(warp * TILES(SHARE) + t.number), &side, &there);
    const bool face = lat_cuda_sends(w.peers, side);
    const lat_cuda_distances steps = lat_cuda_find(w, w.axis, i, parity, w.site_from);
    const int64_t link = (int64_t)steps.site * w.nd + mu;
    LAT_(c) v[SHARE][LAT_N];
    WAIT_FOR_GRID();
    lat_cuda_signal_step(w.peers, how.number - 1);
    if (face)
        lat_cuda_await(w.peers, 1u << side, how.number - 1);
    LAT_(add_links)(w, parity, i, steps, t, (LAT_V *)x, v);
    LAT_(put_columns)<SHARE>(x, v, t);
    const LAT_(rng) rng = {how.seed, &link, how.config, how.step};
    const LAT_(hits) hits = {(LAT_T)how.k, 1, 0, &rng};
    LAT_V *const mine = LAT_(link_at)(w, parity, i, mu);
#pragma unroll
    for (int c = 0; c < SHARE; c++)
        LAT_(get_column)(v[c], mine, t.column + c * LANES(SHARE));
    LAT_(put_columns)<SHARE>(y, v, t);
    LAT_(hit_all)<SHARE>(x, y, t, hits, how.update);
    LAT_(tile_orthonormal_again)<SHARE>(v, y, t);
    if (there && t.stores)
#pragma unroll
        for (int c = 0; c < SHARE; c++) {
            const int row = t.column + c * LANES(SHARE);
            LAT_(put_row)(mine, v[c], row);
            if (face
                && (side == 1
                    || mu != w.nd - 1)) /* nobody reads links of the last direction above */
                LAT_(put_row)(lat_cuda_ghost<LAT_V>(w, w.peers, side, 0, parity, i, w.nd * CH)
                                  + mu * CH * LAT_CUDA_GROUP,
                              v[c], row);
        }
}

static __device__ __forceinline__ uint32_t LAT_(reunit_number)()
{
    return threadIdx.x / 32 * TILES(1) + (uint32_t)LAT_(tile_of)<1>().number;
}

static __device__ __forceinline__ void LAT_(reunit_link)(LAT_V *mine, bool there)
{
    __shared__ LAT_(c) scratch[TILE_WARPS][SCRATCH];
    const LAT_(tile)<1> t = LAT_(tile_of)<1>();
    LAT_(c) *const y = scratch[threadIdx.x / 32];
    LAT_(c) v[1][LAT_N];
    LAT_(get_row)(v[0], mine, t.column);
    LAT_(tile_orthonormal)<1>(v, y, t);
    const LAT_(c) back = LAT_(phase_back)(LAT_(tile_det)(y, t));
    if (t.column == LAT_N - 1)
#pragma unroll
        for (int k = 0; k < LAT_N; k++)
            v[0][k] = LAT_(mul)(back, v[0][k]);
    if (there && t.stores)
        LAT_(put_row)(mine, v[0], t.column);
}

/* ---- plaquettes ---- */

/* This thread's row's part of Re tr U_p in the plane of axes mu, nu; axis[] is in order. */
static __device__ __forceinline__ LAT_T LAT_(plane)(const lat_cuda_links &w, int parity, uint32_t i,
                                                    const lat_cuda_distances &s, int mu, int nu,
                                                    int row)
{
    const int other = 1 - parity;
    LAT_(c) u[1][LAT_N], v[1][LAT_N], t[1][LAT_N];
    LAT_(get_row)(u[0], LAT_(link_at)(w, parity, i, nu), row);
    LAT_(clear)(t[0]);
    LAT_(add_times)<true, false, 1>(t, LAT_(link_at)(w, other, i + LAT_(one_of)(s.up, nu), mu), u);
    LAT_(clear)(v[0]);
    LAT_(add_times)<true, true, 1>(v, LAT_(link_at)(w, other, i + LAT_(one_of)(s.up, mu), nu), t);
    LAT_(get_row)(u[0], LAT_(link_at)(w, parity, i, mu), row);
    return LAT_(overlap)(u[0], v[0]).re;
}

/* Each thread has a site for the sums; the tiles of a warp take its 32 sites in turn. */
static __device__ __forceinline__ void LAT_(add_plaquettes)(const lat_cuda_links &w,
                                                            const lat_cuda_summand &p,
                                                            double sum[2])
{
    const LAT_(tile)<1> t = LAT_(tile_of)<1>();
#pragma unroll 1
    for (int s = 0; s < 32; s += TILES(1)) {
        const int lane = s + t.number < 32 ? s + t.number : 31;
        const bool there = __shfl_sync(~0u, (int)p.there, lane);
        const uint32_t at = __shfl_sync(~0u, p.i, lane), i = there ? at : w.from;
        const lat_cuda_distances d = lat_cuda_find(w, w.axis, i, p.parity, w.site_from);
#pragma unroll 1
        for (int plane = 0; plane < w.nd * w.nd; plane++) {
            const int mu = plane / w.nd, nu = plane % w.nd;
            if (mu >= nu)
                continue;
            const double one = LAT_(tile_sum)<1>(
                (double)LAT_(plane)(w, p.parity, i, d, mu, nu, t.column), t, s);
            if (nu == w.nd - 1)
                sum[1] += one;
            else
                sum[0] += one;
        }
    }
    if (!p.there)
        sum[0] = sum[1] = 0;
}
