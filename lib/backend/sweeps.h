/* SPDX-License-Identifier: BSD-3-Clause */
/* sweeps.h: one pass over blocks of sites (template; lanes.c expands it). */
#include "site/template.h"

#define ELEMENTS (2 * LAT_N * LAT_N) /* reals of g at a site */

/* Lane l of the result is lane p[l] of v. */
LAT_HD LAT_T LAT_(permute)(LAT_T v, const lat_layout *lay, int n)
{
#if defined(__AVX512F__) && LAT_SIZE == 8
    return (LAT_T)_mm512_permutexvar_pd(_mm512_loadu_si512(lay->perm + n * LAT_WIDTH), (__m512d)v);
#elif defined(__AVX512F__)
    return (LAT_T)_mm512_permutexvar_ps(_mm512_loadu_si512(lay->perm32 + n * LAT_WIDTH), (__m512)v);
#elif defined(__AVX2__) && LAT_SIZE == 4
    return (LAT_T)_mm256_permutevar8x32_ps((__m256)v,
        _mm256_loadu_si256((const __m256i *)(lay->perm32 + n * LAT_WIDTH)));
#else
    LAT_T r = v;
    for (int l = 0; l < LAT_WIDTH; l++)
        r[l] = v[lay->perm[n * LAT_WIDTH + l]];
    return r;
#endif
}

/* g of the neighbouring block: where it lies, or put together in `room`. */
LAT_HD const LAT_T *LAT_(neighbour)(const lat_layout *lay, const LAT_T *g, lat_step step, LAT_T room[ELEMENTS])
{
    if (step.perm == 0)
        return g + (size_t)step.block * ELEMENTS;
    if (step.perm > 0) {
        const LAT_T *from = g + (size_t)step.block * ELEMENTS;
        for (int e = 0; e < ELEMENTS; e++)
            room[e] = LAT_(permute)(from[e], lay, step.perm);
        return room;
    }
    const int64_t *slot = lay->collect + (int64_t)step.block * LAT_WIDTH;
    for (int l = 0; l < LAT_WIDTH; l++) {
        const LAT_S *from = (const LAT_S *)g + slot[l] / LAT_WIDTH * (ELEMENTS * LAT_WIDTH) + slot[l] % LAT_WIDTH;
        LAT_S *to = (LAT_S *)room + l;
        for (int e = 0; e < ELEMENTS; e++)
            to[e * LAT_WIDTH] = from[e * LAT_WIDTH];
    }
    return room;
}

/* x = g K at block b. */
LAT_HD LAT_(m) LAT_(local)(const lat_lane_work *w, int b, int rows)
{
    const lat_layout *lay = w->lay;
    const int nk = 2 * lay->geom.nd;
    const LAT_T *g = w->g, *u = (const LAT_T *)w->u + (size_t)b * (size_t)(nk * rows * 2 * LAT_N);
    const lat_step *step = lay->step + (size_t)b * (size_t)nk;
    LAT_(m) k = {{{{{0}, {0}}}}};
    LAT_T room[ELEMENTS];
    for (int i = 0; i < nk; i++) {
        const LAT_T *link = u + i * rows * 2 * LAT_N;
        /* The links of the next block come from memory once a sweep, in order: ask for them now. */
        for (int e = 0; e < rows * 2 * LAT_N; e += 64 / (int)sizeof(LAT_T))
            __builtin_prefetch(link + nk * rows * 2 * LAT_N + e, 0, 2);
        LAT_(add_mul_dag)(&k, link, LAT_(neighbour)(lay, g, step[i], room), rows);
    }
    return LAT_(mul_left)(g + (size_t)b * ELEMENTS, &k);
}

LAT_HD void LAT_(sweep_rows)(const lat_lane_work *w, int begin, int end, int scheme, LAT_T omega, int rows)
{
    for (int b = begin; b < end; b++) {
        LAT_(m) x = LAT_(local)(w, b, rows);
        LAT_(m) *g = (LAT_(m) *)w->g + b;
        LAT_(m) h = *g;
        if (scheme == LAT_RELAX_SU2)
            LAT_(relax_su2)(&h, x, omega);
        else
            LAT_(relax_sun)(&h, x, omega);
        *g = h;
    }
}

static void LAT_(sweep)(const lat_lane_work *w, int begin, int end, int scheme, double omega)
{
    LAT_T om = LAT_(set)((LAT_S)omega);
#if LAT_N == 3
    if (w->rows == 2) {
        if (scheme == LAT_RELAX_SU2)
            LAT_(sweep_rows)(w, begin, end, LAT_RELAX_SU2, om, 2);
        else
            LAT_(sweep_rows)(w, begin, end, LAT_RELAX_SUN, om, 2);
        return;
    }
#endif
    if (scheme == LAT_RELAX_SU2)
        LAT_(sweep_rows)(w, begin, end, LAT_RELAX_SU2, om, LAT_N);
    else
        LAT_(sweep_rows)(w, begin, end, LAT_RELAX_SUN, om, LAT_N);
}

static void LAT_(state)(const lat_lane_work *w, int begin, int end, double sum[2], double *max)
{
    for (int b = begin; b < end; b++) {
        LAT_(m) x = w->rows == LAT_N ? LAT_(local)(w, b, LAT_N) : LAT_(local)(w, b, LAT_N == 3 ? 2 : LAT_N);
        LAT_T trace, theta;
        LAT_(landau_state)(&x, &trace, &theta);
        for (int l = 0; l < LAT_WIDTH; l++) {
            if (w->lay->site[(size_t)b * LAT_WIDTH + (size_t)l] < 0)
                continue;
            sum[0] += (double)trace[l];
            sum[1] += (double)theta[l];
            if (!((double)theta[l] <= *max)) /* so that NaN stays */
                *max = (double)theta[l];
        }
    }
}

#undef ELEMENTS
