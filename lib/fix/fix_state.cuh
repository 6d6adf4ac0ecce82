/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_state.cuh: functional and theta (template; after fix_sweeps.cuh, whose local problem it
 * takes). A thread is a site; what it has is added up slice by slice, for the host. */

template <int R>
static __device__ __forceinline__ void LAT_(state_of)(const lat_cuda_work &,
                                                      const LAT_(problem) < LAT_LINEAR > &l,
                                                      LAT_T *share, LAT_T *theta)
{
    LAT_(landau_state)(&l.x, share, theta);
}

#if LAT_N <= LAT_ABELIAN_MOST
template <int R>
static __device__ __forceinline__ void LAT_(state_of)(const lat_cuda_work &w,
                                                      const LAT_(problem) < LAT_ABELIAN > &l,
                                                      LAT_T *share, LAT_T *theta)
{
    LAT_(mag_state)(&l.x, COUNT(R), (LAT_S)(2 * w.nd), share, theta);
}
#endif

/* After half sweep `number`: its faces are waited for. */
template <int P, int R, int D>
static __global__ void __launch_bounds__(LAT_CUDA_SUM_THREADS, LAT_N <= 3 ? 2 : 1)
    LAT_(state)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_sums sums,
                uint32_t number)
{
    const lat_cuda_summand x = lat_cuda_summand_of(w, sums);
    double s[3] = {0, 0, 0};
    WAIT_FOR_GRID();
    if (w.peers.direct)
        lat_cuda_await(w.peers, w.peers.direct, number);
    if (x.there) {
        const LAT_(view)<1> v = LAT_(fields_of)<R, 1>(w, x.slot, &x.member, x.parity);
        const lat_cuda_coordinates p = lat_cuda_find(w, x.i, x.parity);
        LAT_T own[FULL], share, theta;
        LAT_(problem)<P> l = {};
        LAT_(links)<R, D, 1>(w, v, p, [&](int, const LAT_T *u, const LAT_T *g, LAT_T weight) {
            LAT_(take)<R>(&l, u, g, weight);
        });
        LAT_(fetch)<FEW>(own, v.g[0] + lat_cuda_at(x.i, CHUNKS(FEW)));
        LAT_(complete)(own);
        LAT_(rotate_by)<R>(&l, own);
        LAT_(state_of)<R>(w, l, &share, &theta);
        s[0] = (double)share;
        s[1] = s[2] = (double)theta;
    }
    lat_cuda_add_slices<3, 1>(sums, x.member * w.slots + x.slot, s);
}
