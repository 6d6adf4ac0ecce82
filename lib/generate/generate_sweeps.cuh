/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_sweeps.cuh: the kernels that make configurations, for one N and one precision (template;
 * generate_kernels.cu expands it), where a thread is a link: N whose matrices fit in registers. */
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

/* The two staples over axis a. */
static __device__ __forceinline__ void LAT_(add_staples)(const lat_cuda_links &w, int parity,
                                                         uint32_t i, const lat_cuda_distances &s,
                                                         int a, LAT_(m) *sum)
{
    const LAT_(corner) c = LAT_(corner_of)(w.axis, s, a);
    const LAT_T weight = (LAT_T)w.weight[a];
    LAT_(m) v;
    LAT_(staple_above)(w, w.u, parity, i, c, &v);
    LAT_(staple_add)(sum, v, weight);
    LAT_(staple_below)(w, w.u, parity, i, c, &v);
    LAT_(staple_add)(sum, v, weight);
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
    const uint32_t i = lat_cuda_site_of(w, how, parity, BLOCK, threadIdx.x, &side);
    const bool face = lat_cuda_sends(w.peers, side), first = w.peers.direct && blockIdx.x == 0;
    if (i >= w.half && !face && !first)
        return;
    const int mu = w.axis[0].dir, nd = D ? D : w.nd;
    const lat_cuda_distances steps = lat_cuda_find(w, w.axis, i, parity, w.site_from);
    const int64_t link = (int64_t)steps.site * nd + mu;
    const LAT_(rng) rng = {how.seed, &link, how.config, how.step};
    LAT_(m) s, u;
    memset(&s, 0, sizeof s);
    WAIT_FOR_GRID();
    lat_cuda_signal_step(w.peers, how.number - 1);
    if (face)
        lat_cuda_await(w.peers, 1u << side, how.number - 1);
    if (i < w.half) {
        LAT_UNROLL
        for (int a = 1; a < 4; a++)
            if (D == 4 || a < nd)
                LAT_(add_staples)(w, parity, i, steps, a, &s);
        u = LAT_(read)(w, w.u, parity, i, mu);
        LAT_(link_update)(&u, &s, (LAT_T)how.k, KIND >= 0 ? (lat_update)KIND : how.update, &rng);
        LAT_(write_at)(LAT_(link_at)(w, parity, i, mu), &u);
        if (face
            && (side == 1 || mu != nd - 1)) /* nobody reads links of the last direction above */
            LAT_(write_at)(lat_cuda_ghost<LAT_V>(w, w.peers, side, 0, parity, i, nd * CH)
                               + mu * CH * LAT_CUDA_GROUP,
                           &u);
    }
}

#if LAT_N > 3
static __device__ __forceinline__ uint32_t LAT_(reunit_number)() { return threadIdx.x; }

static __device__ __forceinline__ void LAT_(reunit_link)(LAT_V *mine, bool there)
{
    if (!there)
        return;
    LAT_(m) u = LAT_(read_at)(mine);
    LAT_(link_reunit)(&u);
    LAT_(write_at)(mine, &u);
}
#endif

static __device__ __forceinline__ void LAT_(add_plaquettes)(const lat_cuda_links &w,
                                                            const lat_cuda_summand &p,
                                                            double sum[2])
{
    if (!p.there)
        return;
    const lat_cuda_distances s = lat_cuda_find(w, w.axis, p.i, p.parity, w.site_from);
    LAT_UNROLL
    for (int mu = 0; mu < 3; mu++)
        LAT_UNROLL
    for (int nu = mu + 1; nu < 4; nu++) {
        if (nu >= w.nd)
            break;
        LAT_(m) v;
        const LAT_(corner) c = {mu, nu, s.up[mu], s.up[nu], s.down[nu]};
        LAT_(staple_above)(w, w.u, p.parity, p.i, c, &v);
        LAT_(link_complete)(&v);
        const LAT_(m) u = LAT_(read)(w, w.u, p.parity, p.i, mu);
        sum[nu == w.nd - 1] += (double)LAT_(link_overlap)(&u, &v);
    }
}
