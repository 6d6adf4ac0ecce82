/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_sweeps.cuh: half sweeps (template; after fix_fields.cuh). A thread is a site: its links and
 * the neighbours' g make its local problem, a site update makes a new g from it, which goes back to
 * memory, from a face to the neighbouring rank's ghost too. */

/* Threads of a block, one copy or several, and how many such blocks a processor takes: so many
 * registers a thread may have. With one site a thread 128 of them are enough, of SU(4) 168; draws
 * in double are slower with fewer than all. */
#define BLOCK 128
#if LAT_N <= 3
#define BLOCK_MOST 256
#define BOUNDS(copies, update) \
    __launch_bounds__(BLOCK_MOST, \
                      (copies) > 1 || (LAT_SIZE == 8 && (update) == LAT_UPDATE_HEATBATH) ? 1 : 2)
#else
#define BLOCK_MOST 128
#define BOUNDS(copies, update) __launch_bounds__(BLOCK_MOST, LAT_SIZE == 4 && (update) >= 0 ? 3 : 2)
#endif

/* ---- the local problem ---- */

#define COUNT(rows) ((rows) < LAT_N ? LAT_N - 1 : LAT_N) /* X_i that are kept (site/mag.h) */

/* w = u^+ */
static __device__ __forceinline__ void LAT_(dag)(LAT_T *w, const LAT_T *u)
{
#pragma unroll
    for (int a = 0; a < LAT_N; a++)
#pragma unroll
        for (int b = 0; b < LAT_N; b++) {
            w[2 * (a * LAT_N + b)] = u[2 * (b * LAT_N + a)];
            w[2 * (a * LAT_N + b) + 1] = -u[2 * (b * LAT_N + a) + 1];
        }
}

/* Calls add(c, w, g, weight) for each of the 2 nd links w away from the site and each copy c, g
 * being the neighbour's. D: directions, all of weight 1; or 0 for w.nd and w.weight. */
template <int R, int D, int C, class F>
static __device__ __forceinline__ void LAT_(links)(const lat_cuda_work &w,
                                                   const LAT_(view) < C > &v,
                                                   const lat_cuda_coordinates &p, F add)
{
    const int nd = D ? D : w.nd;
#if LAT_N <= 3
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int mu = 0; mu < 4; mu++) {
        if (mu >= nd)
            break;
        const LAT_T weight = D ? (LAT_T)1 : (LAT_T)w.weight[mu];
        LAT_T m[FULL], n[FULL], h[FULL];
#if LAT_N <= 3
        const uint32_t up = lat_cuda_up(w, p, mu), down = lat_cuda_down(w, p, mu);
#else
        uint32_t up, down;
        LAT_(next_sites)(w, p, mu, &up, &down);
#endif
        LAT_(fetch_link)<R>(m, LAT_(link) < R > (v.u, p.i, nd, mu));
        if (R < LAT_N)
            LAT_(complete)(m);
#pragma unroll
        for (int c = 0; c < C; c++) {
            LAT_(fetch)<FEW>(h, v.g_other[c] + lat_cuda_at(up, CHUNKS(FEW)));
            LAT_(complete)(h);
            add(c, m, h, weight);
        }
        LAT_(fetch_link)<R>(m, LAT_(link) < R > (v.u_other, down, nd, mu));
        if (R < LAT_N)
            LAT_(complete)(m);
        LAT_(dag)(n, m);
#pragma unroll
        for (int c = 0; c < C; c++) {
            LAT_(fetch)<FEW>(h, v.g_other[c] + lat_cuda_at(down, CHUNKS(FEW)));
            LAT_(complete)(h);
            add(c, n, h, weight);
        }
    }
}

/* k += u g^+ */
template <int R>
static __device__ __forceinline__ void LAT_(add)(LAT_(m) *k, const LAT_T *u, const LAT_T *g,
                                                 LAT_T weight)
{
#if LAT_N == 3
    if (R < LAT_N) {
        LAT_(add_mul_dag_columns)(k, u, g, weight);
        return;
    }
#endif
    LAT_(add_mul_dag)(k, u, g, LAT_N, weight);
}

/* The local problem of a site: x = g K, or the X_i of maximally Abelian gauge. */
template <int P> struct LAT_(problem) {
    LAT_(m) x;
};
#if LAT_N <= LAT_ABELIAN_MOST
template <> struct LAT_(problem)<LAT_ABELIAN> {
    LAT_(mag) x;
};
#endif

template <int R>
static __device__ __forceinline__ void LAT_(take)(LAT_(problem) < LAT_LINEAR > *l, const LAT_T *u,
                                                  const LAT_T *g, LAT_T weight)
{
    LAT_(add)<R>(&l->x, u, g, weight);
}

template <int R>
static __device__ __forceinline__ void LAT_(rotate_by)(LAT_(problem) < LAT_LINEAR > *l,
                                                       const LAT_T *own)
{
    const LAT_(m) k = l->x;
    l->x = LAT_(mul_left)(own, &k);
}

#if LAT_N <= LAT_ABELIAN_MOST
template <int R>
static __device__ __forceinline__ void LAT_(take)(LAT_(problem) < LAT_ABELIAN > *l, const LAT_T *u,
                                                  const LAT_T *g, LAT_T)
{
    LAT_(mag_add)(&l->x, u, g, LAT_N, COUNT(R));
}

template <int R>
static __device__ __forceinline__ void LAT_(rotate_by)(LAT_(problem) < LAT_ABELIAN > *l,
                                                       const LAT_T *own)
{
    LAT_(mag_rotate)(&l->x, own, COUNT(R));
}
#endif

/* ---- a site update ---- */

/* What *g, the site's, becomes: an update of site/update.h. */
#define CASE(NAME, call) \
    case LAT_UPDATE_##NAME: \
        call; \
        break;
#define LINEAR(NAME, linear, abelian, ...) CASE(NAME, linear)
#define ABELIAN(NAME, linear, abelian, ...) CASE(NAME, abelian)
template <int R>
static __device__ __forceinline__ void LAT_(update_site)(LAT_(m) *g,
                                                         const LAT_(problem) < LAT_LINEAR > &l,
                                                         lat_update update, LAT_T omega,
                                                         const lat_cuda_how &how,
                                                         const LAT_(rng) *d)
{
    const LAT_T beta = (LAT_T)how.beta, p = (LAT_T)how.stochastic;
    const LAT_(m) *const x = &l.x;
    switch (update) {
        LAT_EACH_UPDATE(LINEAR, )
    }
}

#if LAT_N <= LAT_ABELIAN_MOST
template <int R>
static __device__ __forceinline__ void LAT_(update_site)(LAT_(m) *g,
                                                         const LAT_(problem) < LAT_ABELIAN > &l,
                                                         lat_update update, LAT_T omega,
                                                         const lat_cuda_how &how,
                                                         const LAT_(rng) *d)
{
    constexpr int count = COUNT(R);
    const LAT_T beta = (LAT_T)how.beta, p = (LAT_T)how.stochastic;
    const LAT_(mag) *const x = &l.x;
    switch (update) {
        LAT_EACH_UPDATE(ABELIAN, )
    }
}
#endif
#undef CASE
#undef LINEAR
#undef ABELIAN

/* The rest of a site update, once the links have been added up. */
template <int P, int R, int UPDATE>
static __device__ __forceinline__ void LAT_(finish_site)(LAT_(problem) < P > *l, LAT_V *mine,
                                                         const lat_cuda_how &how, int64_t site,
                                                         int copy)
{
    const LAT_(rng) rng = {how.seed + (uint64_t)copy, &site, how.config, how.step};
    const LAT_T omega = (LAT_T)how.omega[copy];
    LAT_T own[FULL];
    LAT_(m) h;
    LAT_(fetch)<FEW>(own, mine);
    LAT_(complete)(own);
    LAT_(rotate_by)<R>(l, own);
    memcpy(&h, own, sizeof h);
    LAT_(update_site)<R>(&h, *l, UPDATE >= 0 ? (lat_update)UPDATE : how.update, omega, how, &rng);
    LAT_(store)<FEW>(mine, (const LAT_T *)&h);
}

/* ---- a half sweep ---- */

/* The site for this thread (lat_cuda_site_of). */
static __device__ __forceinline__ uint32_t LAT_(site_to_update)(const lat_cuda_work &w,
                                                                const lat_cuda_how &how, int parity,
                                                                int *side)
{
    const uint32_t i = lat_cuda_site_of(w, how, parity, blockDim.x, threadIdx.x, side);
    return LAT_(in_strips)(w, i, *side);
}

/* One parity. UPDATE: the update, or -1 for how.update. A thread updates its site in C copies. */
template <int P, int R, int D, int C, int UPDATE>
static __global__ void BOUNDS(C, UPDATE)
    LAT_(half)(const __grid_constant__ lat_cuda_work w, const __grid_constant__ lat_cuda_how how,
               int parity)
{
    int side, copy[C];
    const uint32_t i = LAT_(site_to_update)(w, how, parity, &side);
    const lat_cuda_unit *const unit = how.unit + blockIdx.y * (unsigned)how.batch + threadIdx.y * C;
    copy[0] = unit[0].copy;
    const bool busy = i < w.half && copy[0] >= 0, face = lat_cuda_sends(w.peers, side);
    if (!busy && !face)
        return;
#pragma unroll
    for (int c = 1; c < C; c++) /* nobody: the first one again, and nothing is written */
        copy[c] = threadIdx.y * C + c < (unsigned)how.batch && unit[c].copy >= 0 ? unit[c].copy
                                                                                 : copy[0];
    const int slice = unit[0].slice;
    const LAT_(view)<C> v = LAT_(fields_of)<R, C>(w, slice, copy, parity);
    const lat_cuda_coordinates p = lat_cuda_find(w, i, parity);
    const int64_t site = lat_cuda_site(w, p, unit[0].from);
    WAIT_FOR_GRID();
    /* The ghost of the half sweep before has come. So the neighbour has updated its face there,
     * which has read the ghost that this block is to write: nothing else is to be waited for. */
    if (face)
        lat_cuda_await(w.peers, 1u << side, how.number - 1);
    if (busy) {
        LAT_(problem)<P> l[C] = {};
        LAT_(links)<R, D, C>(w, v, p, [&](int c, const LAT_T *u, const LAT_T *g, LAT_T weight) {
            LAT_(take)<R>(l + c, u, g, weight);
        });
#pragma unroll
        for (int c = 0; c < C; c++)
            if (c == 0 || copy[c] != copy[0]) {
                LAT_V *mine = v.g[c] + lat_cuda_at(i, CHUNKS(FEW));
                LAT_(finish_site)<P, R, UPDATE>(l + c, mine, how, site, copy[c]);
                if (face) {
                    LAT_V *there = lat_cuda_ghost<LAT_V>(
                        w, w.peers, side, (uint64_t)copy[c] * (uint64_t)w.slots + (uint64_t)slice,
                        parity, i, CHUNKS(FEW));
#pragma unroll
                    for (int k = 0; k < CHUNKS(FEW); k++)
                        there[k * LAT_CUDA_GROUP] = mine[k * LAT_CUDA_GROUP];
                }
            }
    }
    if (face)
        lat_cuda_signal_face(w.peers, side, how.face_blocks * gridDim.y, how.number);
}

#if LAT_N == 3
/* The same for a lattice so small that a processor has hardly more than one site for each of its
 * lanes, and waiting for memory is all there is: everything is asked for at once, to shared memory;
 * the links before the other parity is done. g goes through the first cache, where neighbours find
 * it. The shared memory allows a processor four blocks: were there more, the next kernel's would
 * crowd out the others. */
#define SMALL_THREADS (LAT_SIZE == 4 ? 64 : 32)

/* Each thread has its own chunks in shared memory, SMALL_THREADS apart. */
static __device__ __forceinline__ void LAT_(to_shared)(LAT_V *to, const LAT_V *from, int chunks,
                                                       bool cached)
{
#pragma unroll
    for (int c = 0; c < chunks; c++) {
        const uint32_t at = (uint32_t)__cvta_generic_to_shared(to + c * SMALL_THREADS);
        const LAT_V *p = from + c * LAT_CUDA_GROUP;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
        (void)at, (void)cached;
        to[c * SMALL_THREADS] = *p;
#else
        if (cached)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                         :
                         : "r"(at), "l"(p)
                         : "memory");
        else
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :
                         : "r"(at), "l"(p)
                         : "memory");
#endif
    }
}

template <int CH> static __device__ __forceinline__ void LAT_(from_shared)(LAT_T *m, const LAT_V *p)
{
#pragma unroll
    for (int c = 0; c < CH; c++)
        LAT_(unpack)(m + c * PER, p[c * SMALL_THREADS], PER);
}

template <int P, int D, int UPDATE>
static __global__ void __launch_bounds__(SMALL_THREADS)
    LAT_(half_small)(const __grid_constant__ lat_cuda_work w,
                     const __grid_constant__ lat_cuda_how how, int parity)
{
    constexpr int R = FEW, CH = CHUNKS(FEW), STEP = CH * SMALL_THREADS;
    __shared__ LAT_V shared[4 * D * STEP];
    LAT_V *const links = shared + threadIdx.x, *const gs = links + 2 * D * STEP;
    const uint32_t i = blockIdx.x * SMALL_THREADS + threadIdx.x;
    const lat_cuda_unit unit = how.unit[blockIdx.y * (unsigned)how.batch + threadIdx.y];
    if (i >= w.half || unit.copy < 0)
        return;
    const LAT_(view)<1> v = LAT_(fields_of)<R, 1>(w, unit.slice, &unit.copy, parity);
    const lat_cuda_coordinates p = lat_cuda_find(w, i, parity);
#pragma unroll
    for (int mu = 0; mu < D; mu++) {
        LAT_(to_shared)(links + 2 * mu * STEP, LAT_(link) < R > (v.u, i, D, mu), CH, false);
        LAT_(to_shared)(links + (2 * mu + 1) * STEP,
                        LAT_(link) < R > (v.u_other, lat_cuda_down(w, p, mu), D, mu), CH, false);
    }
    WAIT_FOR_GRID();
#pragma unroll
    for (int mu = 0; mu < D; mu++) {
        LAT_(to_shared)(gs + 2 * mu * STEP, v.g_other[0] + lat_cuda_at(lat_cuda_up(w, p, mu), CH),
                        CH, true);
        LAT_(to_shared)(gs + (2 * mu + 1) * STEP,
                        v.g_other[0] + lat_cuda_at(lat_cuda_down(w, p, mu), CH), CH, true);
        __pipeline_commit();
    }
    LAT_(problem)<P> l = {};
#pragma unroll
    for (int mu = 0; mu < D; mu++) {
        LAT_T m[FULL], n[FULL], h[FULL];
        __pipeline_wait_prior(D - 1 - mu);
        LAT_(from_shared)<CH>(m, links + 2 * mu * STEP);
        LAT_(complete)(m);
        LAT_(from_shared)<CH>(h, gs + 2 * mu * STEP);
        LAT_(take)<R>(&l, m, h, (LAT_T)1);
        LAT_(from_shared)<CH>(m, links + (2 * mu + 1) * STEP);
        LAT_(complete)(m);
        LAT_(dag)(n, m);
        LAT_(from_shared)<CH>(h, gs + (2 * mu + 1) * STEP);
        LAT_(take)<R>(&l, n, h, (LAT_T)1);
    }
    LAT_(finish_site)<P, R, UPDATE>(&l, v.g[0] + lat_cuda_at(i, CH), how,
                                    lat_cuda_site(w, p, unit.from), unit.copy);
}
#endif
