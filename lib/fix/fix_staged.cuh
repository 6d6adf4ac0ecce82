/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_staged.cuh: the visit of a site, SU(4) in single, where registers are too few to wait for
 * links and to compute (template; fix_sweeps.cuh includes it).
 *
 * The next link is on its way to shared memory, and the next g to registers, while this one is
 * used. Warps that draw random numbers ask for no links, and would leave memory idle: so a heat
 * bath makes what hits need of them meanwhile, and keeps it in shared memory. */
#include "site/prepared.h"

#define STAGED(visit) (LAT_SIZE == 4 && (visit) >= 0) /* kernels of one update */
#define PAIRS (LAT_N * (LAT_N - 1) / 2)

typedef struct {
    LAT_V link[2][CHUNKS(LAT_N)][BLOCK_MOST];
} LAT_(staging);
typedef struct {
    LAT_T of[PAIRS][LAT_PREPARED][BLOCK_MOST];
} LAT_(draws);
/* Bytes of a block. */
#define STAGING(visit) \
    (!STAGED(visit) \
         ? 0 \
         : sizeof(LAT_(staging)) + ((visit) == LAT_UPDATE_HEATBATH ? sizeof(LAT_(draws)) : 0))

/* This thread's first chunk, and its first number. */
static __device__ __forceinline__ LAT_V *LAT_(own_links)()
{
    extern __shared__ __align__(16) char shared[];
    return (LAT_V *)shared + threadIdx.y * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ LAT_T *LAT_(own_draws)()
{
    extern __shared__ __align__(16) char shared[];
    return (LAT_T *)(shared + sizeof(LAT_(staging))) + threadIdx.y * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ void LAT_(draw_ahead)(const LAT_(rng) *rng, int n)
{
    LAT_T d[LAT_PREPARED], *const to = LAT_(own_draws)() + n * LAT_PREPARED * BLOCK_MOST;
    LAT_(heat_prepare)(d, rng, (uint32_t)n);
#pragma unroll
    for (int k = 0; k < LAT_PREPARED; k++)
        to[k * BLOCK_MOST] = d[k];
}

/* LAT_(heat), the heat bath, with these numbers. */
static __device__ __forceinline__ void LAT_(heat_drawn)(LAT_(m) *g, LAT_(m) x, LAT_T beta,
                                                        const LAT_(rng) *rng)
{
    const LAT_T *const from = LAT_(own_draws)();
    uint32_t n = 0;
    LAT_FOR_PAIRS (p, q) {
        LAT_T r[4], unit[4], h[4], a[4], d[LAT_PREPARED];
#pragma unroll
        for (int k = 0; k < LAT_PREPARED; k++)
            d[k] = from[((int)n * LAT_PREPARED + k) * BLOCK_MOST];
        LAT_(hit_axis)(&x, p, q, r);
#pragma unroll
        for (int i = 0; i < 4; i++)
            unit[i] = r[i];
        LAT_(hit_unit)(unit);
        LAT_(heat_prepared)(
            a, beta * (r[0] * unit[0] + r[1] * unit[1] + r[2] * unit[2] + r[3] * unit[3]), rng, n,
            d);
        LAT_(su2_mul)(h, a, unit);
        LAT_(hit_apply)(&x, p, q, h);
        LAT_(hit_apply)(g, p, q, h);
        n++;
    }
    LAT_(orthonormal_again)(g);
}

/* Updates of the whole element, LAT_(relax_sun) and LAT_(stochastic_sun), with half the code:
 * passes are a loop, and a site that becomes its mirror image goes along. */
#define WHOLE(visit) ((visit) == LAT_UPDATE_RELAX_SUN || (visit) == LAT_UPDATE_STOCHASTIC_SUN)

template <bool STOCHASTIC>
static __device__ __forceinline__ void LAT_(visit_whole)(LAT_(m) *g, LAT_(m) x, LAT_T omega,
                                                         LAT_T p, const LAT_(rng) *rng)
{
    LAT_(m) h;
    LAT_T u[4];
    bool mirror = false;
    if (STOCHASTIC) {
        LAT_(uniforms)(rng, 0, u);
        mirror = p > u[0];
    }
    LAT_(unit)(&h);
    if (mirror)
        h = *g;
#pragma unroll 1
    for (int pass = 0; pass < LAT_RELAX_PASSES; pass++)
        if (pass == 0 || !mirror)
            LAT_FOR_PAIRS (a, b) {
                LAT_T r[4];
                LAT_(hit_axis)(&x, a, b, r);
                LAT_(hit_unit)(r);
                if (STOCHASTIC) {
                    LAT_T s[4] = {r[0], r[1], r[2], r[3]};
                    LAT_(su2_square)(s);
#pragma unroll
                    for (int i = 0; i < 4; i++)
                        r[i] = mirror ? s[i] : r[i];
                }
                LAT_(hit_apply)(&x, a, b, r);
                LAT_(hit_apply)(&h, a, b, r);
            }
    if (mirror) {
        *g = h;
        LAT_(unit)(&h);
    }
    LAT_(overrelax)(g, &h, omega);
}
/* The new g of a site, at `mine`. */
template <int VISIT>
static __device__ __forceinline__ void LAT_(visit_staged)(const lat_cuda_work &w,
                                                          const LAT_(view) < 1 > &v,
                                                          const lat_cuda_coordinates &p,
                                                          const lat_cuda_how &how, int64_t site,
                                                          int copy, LAT_V *mine)
{
    constexpr int CH = CHUNKS(LAT_N);
    constexpr bool DRAWS = VISIT == LAT_UPDATE_HEATBATH;
    const LAT_(rng) rng = {how.seed + (uint64_t)copy, &site, how.config, how.step};
    LAT_V *const buffer = LAT_(own_links)(), *const other = buffer + CH * BLOCK_MOST;
    LAT_(problem)<LAT_LINEAR> l = {};
    LAT_T u[FULL], m[FULL], above[FULL], below[FULL];
    LAT_(m) g;
    uint32_t up, down;
    int drawn = 0;
    LAT_(to_shared)<BLOCK_MOST>(buffer, LAT_(link) < LAT_N > (v.u, p.i, w.nd, 0), CH, false);
    __pipeline_commit();
    LAT_(next_sites)(w, p, 0, &up, &down);
    LAT_(fetch)<LAT_N>(above, v.g_other[0] + lat_cuda_at(up, CH));
#pragma unroll 1
    for (int mu = 0; mu < w.nd; mu++) {
        const LAT_T weight = WEIGHT(w)[mu];
        const bool last = mu + 1 == w.nd;
        LAT_(to_shared)<BLOCK_MOST>(other, LAT_(link) < LAT_N > (v.u_other, down, w.nd, mu), CH,
                                    false);
        __pipeline_commit();
        LAT_(fetch)<LAT_N>(below, v.g_other[0] + lat_cuda_at(down, CH));
        __pipeline_wait_prior(1);
        LAT_(from_shared)<BLOCK_MOST, CH>(u, buffer);
        LAT_(take)<LAT_N>(&l, u, above, weight);
        if (DRAWS && drawn < PAIRS)
            LAT_(draw_ahead)(&rng, drawn++);
        LAT_(next_sites)(w, p, last ? mu : mu + 1, &up, &down);
        LAT_(to_shared)<BLOCK_MOST>(
            buffer, last ? mine : LAT_(link) < LAT_N > (v.u, p.i, w.nd, mu + 1), CH, false);
        __pipeline_commit();
        if (!last)
            LAT_(fetch)<LAT_N>(above, v.g_other[0] + lat_cuda_at(up, CH));
        __pipeline_wait_prior(1);
        LAT_(from_shared)<BLOCK_MOST, CH>(u, other);
        LAT_(dag)(m, u);
        LAT_(take)<LAT_N>(&l, m, below, weight);
        if (DRAWS && drawn < PAIRS)
            LAT_(draw_ahead)(&rng, drawn++);
    }
#pragma unroll 1
    for (; DRAWS && drawn < PAIRS; drawn++)
        LAT_(draw_ahead)(&rng, drawn);
    __pipeline_wait_prior(0);
    LAT_(from_shared)<BLOCK_MOST, CH>(u, buffer);
    LAT_(rotate_by)<LAT_N>(&l, u);
    memcpy(&g, u, sizeof g);
    const LAT_T omega = (LAT_T)how.omega[copy];
    if constexpr (DRAWS)
        LAT_(heat_drawn)(&g, l.x, HOW(how).beta, &rng);
    else if constexpr (WHOLE(VISIT))
        LAT_(visit_whole)<VISIT == LAT_UPDATE_STOCHASTIC_SUN>(&g, l.x, omega, HOW(how).stochastic,
                                                              &rng);
    else
        LAT_(visit)<LAT_N>(&g, l, (lat_update)VISIT, omega, how, &rng);
    LAT_(store)<LAT_N>(mine, (const LAT_T *)&g);
}
