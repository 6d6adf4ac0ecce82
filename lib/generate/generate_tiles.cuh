/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_tiles.cuh: the kernels that make configurations, for one N and one precision (template;
 * generate_kernels.cu expands it), where a tile of N threads is a link (grid/cuda_tile.cuh): larger
 * N. What generate_sweeps.cuh says of halos holds here, too. */
#include "grid/cuda_tile.cuh"

#define BLOCK TILE_BLOCK
#define SITES TILE_SITES
#define REUNIT_SITES (TILES * TILE_WARPS)

/* Warps that a processor takes at least: so many registers a thread may have. */
#ifndef WARPS_A_PROCESSOR
#define WARPS_A_PROCESSOR (LAT_SIZE == 4 ? LAT_N <= 7 ? 16 : 12 : LAT_N <= 7 ? 12 : 8)
#endif

/* ---- updates ---- */

/* The two staples over axis a: this thread's rows of each. */
static __device__ __forceinline__ void LAT_(add_staples)(const lat_cuda_links &w, int parity,
                                                         uint32_t i, const lat_cuda_distances &s,
                                                         int a, int row, LAT_(c) (*sum)[LAT_N])
{
    const int mu = w.axis[0].dir, nu = w.axis[a].dir, other = 1 - parity;
    const LAT_T weight = (LAT_T)w.weight[a];
    const uint32_t back = i + LAT_(one_of)(s.down, a);
    const LAT_V *first = LAT_(link_at)(w, parity, i, nu);
    LAT_(c) v[SHARE][LAT_N], t[SHARE][LAT_N];
#pragma unroll
    for (int c = 0; c < SHARE; c++) {
        LAT_(get_row)(v[c], first, row + c * APART);
        LAT_(scale)(v[c], weight);
        LAT_(clear)(t[c]);
    }
    LAT_(add_times)<true, false, SHARE>(t, LAT_(link_at)(w, other, i + LAT_(one_of)(s.up, a), mu),
                                        v);
    LAT_(add_times)<true, true, SHARE>(sum, LAT_(link_at)(w, other, i + s.up[0], nu), t);

    first = LAT_(link_at)(w, other, back, nu);
#pragma unroll
    for (int c = 0; c < SHARE; c++) {
        LAT_(get_column)(v[c], first, row + c * APART);
        LAT_(conjugate)(v[c]);
        LAT_(scale)(v[c], weight);
        LAT_(clear)(t[c]);
    }
    LAT_(add_times)<true, false, SHARE>(t, LAT_(link_at)(w, other, back, mu), v);
    LAT_(add_times)<true, false, SHARE>(sum, LAT_(link_at)(w, parity, back + s.up[0], nu), t);
}

/* X = U S^+ of the links of a warp: this thread's columns. */
static __device__ __forceinline__ void LAT_(add_links)(const lat_cuda_links &w, int parity,
                                                       uint32_t i, int column, LAT_(c) (*x)[LAT_N])
{
    const lat_cuda_distances steps = lat_cuda_find(w, w.axis, i, parity, w.site_from);
    LAT_(c) s[SHARE][LAT_N];
#pragma unroll
    for (int c = 0; c < SHARE; c++)
        LAT_(clear)(s[c]);
#pragma unroll 1
    for (int a = 1; a < w.nd; a++)
        LAT_(add_staples)(w, parity, i, steps, a, column, s);
        /* Column j is U times the conjugate of row j of S. */
#pragma unroll
    for (int c = 0; c < SHARE; c++) {
        LAT_(conjugate)(s[c]);
        LAT_(clear)(x[c]);
    }
    LAT_(add_times)<false, false, SHARE>(x, LAT_(link_at)(w, parity, i, w.axis[0].dir), s);
}

/* The site of number k of a block's, and where it is; nobody's: as the first one. */
static __device__ __forceinline__ uint32_t LAT_(site_number)(const lat_cuda_links &w,
                                                             const lat_cuda_draw &how, int parity,
                                                             int k, int *side, bool *there)
{
    const uint32_t at = lat_cuda_site_number(w, how.face_blocks, how.lead, how.spread, parity,
                                             SITES, (uint32_t)k, side);
    *there = at < w.half;
    return *there ? at : w.from;
}

static __global__ void __launch_bounds__(BLOCK, WARPS_A_PROCESSOR / TILE_WARPS)
    LAT_(visit)(const __grid_constant__ lat_cuda_links w, const __grid_constant__ lat_cuda_draw how,
                int parity)
{
    __shared__ LAT_(c) scratch[TILE_WARPS][SHARE + 1][SCRATCH];
    const LAT_(tile) t = LAT_(tile_of)();
    const LAT_(maker) maker = LAT_(maker_of)();
    const int warp = (int)threadIdx.x / 32, mu = w.axis[0].dir;
    LAT_(c) *const x = scratch[warp][0], *const y = scratch[warp][SHARE];
    bool there;
    int side;
    uint32_t i = LAT_(site_number)(w, how, parity, warp * WARP_SITES + maker.site, &side, &there);
    const bool face = side >= 0 && w.peers.direct;
    LAT_(c) v[SHARE][LAT_N], row[LAT_N];
    WAIT_FOR_GRID();
    if (w.peers.direct && blockIdx.x == 0)
        lat_cuda_signal_step(w.peers, how.number - 1);
    if (face) {
        if (threadIdx.x == 0)
            lat_cuda_wait_flag(w.peers, side, how.number - 1);
        __syncthreads();
    }
    LAT_(add_links)(w, parity, i, maker.column, v);
    LAT_(put_products)(x, v, maker);
    __syncwarp();
#pragma unroll 1
    for (int turn = 0; turn < SHARE; turn++) {
        i = LAT_(site_number)(w, how, parity, warp * WARP_SITES + turn * TILES + t.number, &side,
                              &there);
        const int64_t link = (int64_t)lat_cuda_find(w, w.axis, i, parity, w.site_from).site * w.nd
                             + mu;
        const LAT_(rng) rng = {how.seed, &link, how.config, how.step};
        const LAT_(hits) hits = {(LAT_T)how.k, 1, 0, &rng};
        LAT_V *const mine = LAT_(link_at)(w, parity, i, mu);
        LAT_(get_column)(row, mine, t.column);
        LAT_(put_column)(y, row, t);
        LAT_(hit_all)(x + turn * SCRATCH, y, t, hits, how.update, false);
        LAT_(tile_orthonormal_again)(row, y, t);
        if (there && t.stores) {
            LAT_(put_row)(mine, row, t.column);
            if (face
                && (side == 1
                    || mu != w.nd - 1)) /* nobody reads links of the last direction above */
                LAT_(put_row)(lat_cuda_ghost<LAT_V>(w, w.peers, side, 0, parity, i, w.nd * CH)
                                  + mu * CH * LAT_CUDA_GROUP,
                              row, t.column);
        }
        __syncwarp();
    }
}

/* Back to SU(N): LAT_(link_reunit). The "faces" of this kernel are the ghosts. */
static __global__ void __launch_bounds__(BLOCK)
    LAT_(reunitarise)(const __grid_constant__ lat_cuda_links w,
                      const __grid_constant__ lat_cuda_draw how)
{
    __shared__ LAT_(c) scratch[TILE_WARPS][SCRATCH];
    const LAT_(tile) t = LAT_(tile_of)();
    LAT_(c) *const y = scratch[threadIdx.x / 32];
    int side;
    const uint32_t n = lat_cuda_block_of(how.face_blocks, 0, 0, &side) * REUNIT_SITES
                       + threadIdx.x / 32 * TILES + (uint32_t)t.number;
    const bool there = n < (side < 0 ? w.own : w.face);
    const uint32_t from = side < 0 ? w.from : side ? w.from + w.own : w.from - w.face;
    LAT_V *const mine = LAT_(link_at)(w, (int)blockIdx.y % 2, there ? from + n : w.from,
                                      (int)blockIdx.y / 2);
    LAT_(c) v[LAT_N];
    if (w.peers.direct && blockIdx.x == 0 && blockIdx.y == 0)
        lat_cuda_signal_step(w.peers, how.number - 1);
    if (w.peers.direct && side >= 0) {
        if (threadIdx.x == 0)
            lat_cuda_wait_flag(w.peers, side, how.number - 1);
        __syncthreads();
    }
    LAT_(get_column)(v, mine, t.column);
    LAT_(put_column)(y, v, t);
    __syncwarp();
    LAT_(tile_orthonormal)(v, y, t);
    const LAT_(c) back = LAT_(phase_back)(LAT_(tile_det) < true > (y, t));
    if (t.column == LAT_N - 1)
#pragma unroll
        for (int k = 0; k < LAT_N; k++)
            v[k] = LAT_(mul)(back, v[k]);
    if (there && t.stores)
        LAT_(put_row)(mine, v, t.column);
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
static __global__ void __launch_bounds__(LAT_CUDA_SUM_THREADS)
    LAT_(plaquettes)(const __grid_constant__ lat_cuda_links w,
                     const __grid_constant__ lat_cuda_sums sums, uint32_t number)
{
    const lat_cuda_summand p = lat_cuda_summand_of(w, sums);
    const LAT_(tile) t = LAT_(tile_of)();
    double sum[2] = {0, 0};
    if (w.peers.direct) {
        if (blockIdx.x == 0 && blockIdx.y == 0)
            lat_cuda_signal_step(w.peers, number);
        if (threadIdx.x == 0)
            lat_cuda_wait_flag(w.peers, 1, number);
        __syncthreads();
    }
#pragma unroll 1
    for (int s = 0; s < 32; s += TILES) {
        const int lane = s + t.number < 32 ? s + t.number : 31;
        const bool there = __shfl_sync(~0u, (int)p.there, lane);
        const uint32_t at = __shfl_sync(~0u, p.i, lane), i = there ? at : w.from;
        const lat_cuda_distances d = lat_cuda_find(w, w.axis, i, p.parity, w.site_from);
#pragma unroll 1
        for (int plane = 0; plane < w.nd * w.nd; plane++) {
            const int mu = plane / w.nd, nu = plane % w.nd;
            if (mu >= nu)
                continue;
            const double one = LAT_(tile_sum)(
                (double)LAT_(plane)(w, p.parity, i, d, mu, nu, t.column), t, s);
            if (nu == w.nd - 1)
                sum[1] += one;
            else
                sum[0] += one;
        }
    }
    if (!p.there)
        sum[0] = sum[1] = 0;
    lat_cuda_add_slices<2, 0>(sums, 0, sum);
}
