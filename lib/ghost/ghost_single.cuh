/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_single.cuh: passes over vectors of one column in single precision, and Newton's, for one N
 * (template; ghost_kernels.cuh expands it): SIZE is N, NAME(x) gives names. A thread is a site of a
 * chunk; vectors and links: ghost_internal.h. */
#define ROW (SIZE * SIZE / 2 * 2)
#include "hop_site.h"

static __device__ __forceinline__ void NAME(fetch)(const float *from, uint32_t site, float *v)
{
#pragma unroll
    for (int i = 0; i < ROW; i += 4) {
        const float4 four = ((const float4 *)from)[(size_t)site * (ROW / 4) + (size_t)(i / 4)];
        v[i] = four.x;
        v[i + 1] = four.y;
        v[i + 2] = four.z;
        v[i + 3] = four.w;
    }
}

static __device__ __forceinline__ void NAME(put)(float *to, uint32_t site, int, const float *v)
{
#pragma unroll
    for (int i = 0; i < ROW; i += 4)
        ((float4 *)to)[(size_t)site * (ROW / 4) + (size_t)(i / 4)] = make_float4(
            v[i], v[i + 1], v[i + 2], v[i + 3]);
}

#include "single_site.h"

/* Of a site, whose links are at `lane`. */
template <lat_ghost_pass_name PASS>
static __device__ __forceinline__ void NAME(site)(const lat_ghost_sites &s, const call &c,
                                                  uint32_t unit, uint32_t site, float *lane,
                                                  double *sums)
{
    const lat_newton_fields *f = &c.newton;
    const place at = place_of(s, site);
    if (PASS == LAT_GHOST_HOP)
        sums[0] = (double)NAME(group)(&s, (const float *)c.in, (float *)c.out, lane, &at, 1);
    if (PASS == LAT_GHOST_GRADIENT)
        gradient_site(&s, f, f->g[c.now[unit] != f->next], &at, lane, SIZE, sums);
    if (PASS == LAT_GHOST_STEP)
        step_site(&s, f, f->g[c.now[unit]], f->g[!c.now[unit]], &at, factor_of(c, (int)unit), SIZE);
    if (PASS == LAT_GHOST_KEEP)
        keep_site(&s, f->g[1], f->g[0], &at, SIZE);
    if (PASS == LAT_GHOST_PROJECT)
        lat_sun_gram_schmidt(SIZE, f->g[0] + natural(&s, &at) * 2 * SIZE * SIZE);
}

template <lat_ghost_pass_name PASS>
static __global__ void __launch_bounds__(THREADS, PASS >= LAT_GHOST_GRADIENT ? 1 : 4)
    NAME(over)(const __grid_constant__ lat_ghost_sites s, const __grid_constant__ call c)
{
    constexpr bool SITES = PASS == LAT_GHOST_HOP || PASS >= LAT_GHOST_GRADIENT;
    constexpr int EACH = PASS == LAT_GHOST_HOP                                   ? 1
                         : PASS == LAT_GHOST_NORMS || PASS == LAT_GHOST_GRADIENT ? 2
                                                                                 : 0;
    const uint32_t block = blockIdx.y, unit = (uint32_t)unit_of(s, block),
                   from = blockIdx.x * THREADS, i = from + threadIdx.x,
                   to = from + THREADS < s.block ? from + THREADS : (uint32_t)s.block;
    const size_t first = (size_t)block * s.block;
    double sums[2] = {0, 0};
    const bool idle = c.idle && c.idle[unit];
    if (SITES && !idle && i < s.block)
        NAME(site)<PASS>(s, c, unit, (uint32_t)first + i,
                         (float *)c.links + (block * s.groups + i / 8) * s.group_reals + i % 8,
                         sums);
    if (!SITES && !idle) {
        const float factor = (float)factor_of(c, (int)unit);
        float sum = 0, square = 0;
        for (size_t k = (first + from) * ROW + threadIdx.x; k < (first + to) * ROW; k += THREADS)
            pass_at<PASS>(c, k, factor, 0.0f, &sum, &square);
        sums[0] = (double)sum;
        sums[1] = (double)square;
    }
    double *partial = c.partial + ((size_t)block * gridDim.x + blockIdx.x) * EACH;
    for (int k = 0; k < EACH; k++) {
        const double sum = add_block(sums[k]);
        if (threadIdx.x == 0)
            partial[k] = sum;
    }
}

/* NULL: not for one column. */
static kernel *const NAME(kernels)[LAT_GHOST_PASSES] = {
    OVER(HOP), NULL, OVER(UPDATE),   NULL,       OVER(NORMS), OVER(EXTEND),
    NULL,      NULL, OVER(GRADIENT), OVER(STEP), OVER(KEEP),  OVER(PROJECT)};
#undef ROW
