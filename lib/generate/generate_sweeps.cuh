/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_sweeps.cuh: the kernels that make configurations, for one N and one precision (template;
 * generate_kernels.cu expands it), where a thread is a link: N of which matrices are in registers.
 */
/* Threads of a block, and how many blocks at least a processor takes: so many registers a thread
 * may have. */
#ifndef BLOCK
#define BLOCK 128
#endif
#define SITES BLOCK
#define REUNIT_SITES BLOCK
#ifndef BLOCKS_A_PROCESSOR
#define BLOCKS_A_PROCESSOR \
    (LAT_N == 2      ? LAT_SIZE == 4 ? 8 : 5 \
     : LAT_N == 3    ? LAT_SIZE == 4 ? 4 : 2 \
     : LAT_SIZE == 4 ? 3 \
                     : 2)
#endif

static __device__ __forceinline__ LAT_(m)
    LAT_(read)(const lat_cuda_links &w, int parity, uint32_t i, int dir)
{
    LAT_T m[CH * PER];
    LAT_(fetch)<LAT_LINK_ROWS>(m, LAT_(link_at)(w, parity, i, dir));
    return LAT_(link_load)(m);
}

static __device__ __forceinline__ void LAT_(write)(const lat_cuda_links &w, int parity, uint32_t i,
                                                   int dir, const LAT_(m) *u)
{
    LAT_T m[CH * PER];
    LAT_(link_store)(m, u);
    LAT_(store)<LAT_LINK_ROWS>(LAT_(link_at)(w, parity, i, dir), m);
}

/* ---- updates ---- */

/* The two staples over axis a. */
static __device__ __forceinline__ void LAT_(add_staples)(const lat_cuda_links &w, int parity,
                                                         uint32_t i, const lat_cuda_distances &s,
                                                         int a, LAT_(m) *sum)
{
    const int mu = w.axis[0].dir, nu = w.axis[a].dir, other = 1 - parity;
    const LAT_T weight = (LAT_T)w.weight[a];
    LAT_(m) v;
    {
        const LAT_(m) x = LAT_(read)(w, parity, i, nu), y = LAT_(read)(w, other, i + s.up[a], mu),
                      z = LAT_(read)(w, other, i + s.up[0], nu);
        LAT_(staple_up)(&v, &x, &y, &z);
        LAT_(staple_add)(sum, v, weight);
    }
    {
        const uint32_t back = i + s.down[a];
        const LAT_(m) x = LAT_(read)(w, other, back, nu), y = LAT_(read)(w, other, back, mu),
                      z = LAT_(read)(w, parity, back + s.up[0], nu);
        LAT_(staple_down)(&v, &x, &y, &z);
        LAT_(staple_add)(sum, v, weight);
    }
}


/* D: directions, or 0 for w.nd. KIND: the update, or -1 for how.update.
 * A staple over a link in a face reaches into the ghost: links of the last direction of the slice
 * below, of other directions of both. These have come where the neighbour is done with the step
 * before; and it has read there, for that step, what this one overwrites in its ghost, which it
 * does not read in this one. So one flag a step, at the beginning of the next one, is all that
 * neighbours say to each other; what waits for it, the face, comes somewhat later. */
template <int D, int KIND>
static __global__ void __launch_bounds__(BLOCK, BLOCKS_A_PROCESSOR)
    LAT_(update_links)(const __grid_constant__ lat_cuda_links w,
                       const __grid_constant__ lat_cuda_draw how, int parity)
{
    int side;
    const uint32_t i = lat_cuda_site_of(w, how.face_blocks, how.lead, how.spread, parity, &side);
    const bool face = side >= 0 && w.peers.direct, first = w.peers.direct && blockIdx.x == 0;
    if (i >= w.half && !face && !first)
        return;
    const int mu = w.axis[0].dir, nd = D ? D : w.nd;
    const lat_cuda_distances steps = lat_cuda_find(w, w.axis, i, parity, w.site_from);
    const int64_t link = (int64_t)steps.site * nd + mu;
    const LAT_(rng) rng = {how.seed, &link, how.config, how.step};
    LAT_(m) s, u;
    memset(&s, 0, sizeof s);
    WAIT_FOR_GRID();
    if (first)
        lat_cuda_signal_step(w.peers, how.number - 1);
    if (face) {
        if (threadIdx.x == 0)
            lat_cuda_wait_flag(w.peers, side, how.number - 1);
        __syncthreads();
    }
    if (i < w.half) {
        LAT_UNROLL
        for (int a = 1; a < 4; a++)
            if (D == 4 || a < nd)
                LAT_(add_staples)(w, parity, i, steps, a, &s);
        u = LAT_(read)(w, parity, i, mu);
        LAT_(link_update)(&u, &s, (LAT_T)how.k, KIND >= 0 ? (lat_update)KIND : how.update, &rng);
        LAT_T m[CH * PER];
        LAT_(link_store)(m, &u);
        LAT_(store)<LAT_LINK_ROWS>(LAT_(link_at)(w, parity, i, mu), m);
        if (face
            && (side == 1 || mu != nd - 1)) /* nobody reads links of the last direction above */
            LAT_(store)<LAT_LINK_ROWS>(
                lat_cuda_ghost<LAT_V>(w, w.peers, side, 0, parity, i, nd * CH)
                    + mu * CH * LAT_CUDA_GROUP,
                m);
    }
}

#if LAT_N > 3
/* The "faces" of this kernel are the ghosts. */
static __global__ void __launch_bounds__(BLOCK)
    LAT_(reunitarise)(const __grid_constant__ lat_cuda_links w,
                      const __grid_constant__ lat_cuda_draw how)
{
    int side;
    const uint32_t n = lat_cuda_block_of(how.face_blocks, 0, 0, &side) * BLOCK + threadIdx.x;
    const uint32_t from = side < 0 ? w.from : side ? w.from + w.own : w.from - w.face;
    const int dir = (int)blockIdx.y / 2, parity = (int)blockIdx.y % 2;
    if (w.peers.direct && blockIdx.x == 0 && blockIdx.y == 0)
        lat_cuda_signal_step(w.peers, how.number - 1);
    if (w.peers.direct && side >= 0) {
        if (threadIdx.x == 0)
            lat_cuda_wait_flag(w.peers, side, how.number - 1);
        __syncthreads();
    }
    if (n < (side < 0 ? w.own : w.face)) {
        LAT_(m) u = LAT_(read)(w, parity, from + n, dir);
        LAT_(link_reunit)(&u);
        LAT_(write)(w, parity, from + n, dir, &u);
    }
}
#endif

/* ---- plaquettes ---- */

/* axis[] is in order here. */
static __global__ void __launch_bounds__(LAT_CUDA_SUM_THREADS)
    LAT_(plaquettes)(const __grid_constant__ lat_cuda_links w,
                     const __grid_constant__ lat_cuda_sums sums, uint32_t number)
{
    const lat_cuda_summand p = lat_cuda_summand_of(w, sums);
    double sum[2] = {0, 0};
    if (w.peers.direct) {
        if (blockIdx.x == 0 && blockIdx.y == 0)
            lat_cuda_signal_step(w.peers, number);
        if (threadIdx.x == 0)
            lat_cuda_wait_flag(w.peers, 1, number);
        __syncthreads();
    }
    if (p.there) {
        const int other = 1 - p.parity;
        const lat_cuda_distances s = lat_cuda_find(w, w.axis, p.i, p.parity, w.site_from);
        LAT_UNROLL
        for (int mu = 0; mu < 3; mu++)
            LAT_UNROLL
        for (int nu = mu + 1; nu < 4; nu++) {
            if (nu >= w.nd)
                break;
            LAT_(m) v;
            const LAT_(m) x = LAT_(read)(w, p.parity, p.i, nu),
                          y = LAT_(read)(w, other, p.i + s.up[nu], mu),
                          z = LAT_(read)(w, other, p.i + s.up[mu], nu);
            LAT_(staple_up)(&v, &x, &y, &z);
            LAT_(link_complete)(&v);
            const LAT_(m) u = LAT_(read)(w, p.parity, p.i, mu);
            sum[nu == w.nd - 1] += (double)LAT_(link_overlap)(&u, &v);
        }
    }
    lat_cuda_add_slices<2, 0>(sums, 0, sum);
}
