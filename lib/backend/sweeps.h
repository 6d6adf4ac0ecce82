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

/* The links of the next block come from memory once a sweep, in order: ask for them in time. */
LAT_HD void LAT_(ask)(const LAT_T *p, int n)
{
    for (int e = 0; e < n; e += 64 / (int)sizeof(LAT_T))
        __builtin_prefetch(p + e, 0, 2);
}

/* x = g K at block b. */
LAT_HD LAT_(m) LAT_(local)(const lat_lane_work *w, int b, int rows)
{
    const lat_layout *lay = w->lay;
    const int nd = lay->geom.nd, n = rows * 2 * LAT_N;
    const LAT_T *g = w->g, *u = (const LAT_T *)w->u + (size_t)b * (size_t)(2 * nd * n);
    const lat_step *step = lay->step + (size_t)b * (size_t)(2 * nd);
    LAT_(m) k = {{{{{0}, {0}}}}};
    LAT_T room[ELEMENTS];
    for (int i = 0; i < 2 * nd; i++, u += n) {
        LAT_(ask)(u + 2 * nd * n, n);
        LAT_(add_mul_dag)(&k, u, LAT_(neighbour)(lay, g, step[i], room), rows, LAT_(set)((LAT_S)w->weight[i % nd]));
    }
    return LAT_(mul_left)(g + (size_t)b * ELEMENTS, &k);
}

/* The X_i at block b: N - 1 of them where two rows say that links are in SU(3), else all. */
#define COUNT(rows) ((rows) < LAT_N ? LAT_N - 1 : LAT_N)

LAT_HD LAT_(mag) LAT_(local_mag)(const lat_lane_work *w, int b, int rows)
{
    const lat_layout *lay = w->lay;
    const int nd = lay->geom.nd, n = rows * 2 * LAT_N;
    const LAT_T *g = w->g, *u = (const LAT_T *)w->u + (size_t)b * (size_t)(2 * nd * n);
    const lat_step *step = lay->step + (size_t)b * (size_t)(2 * nd);
    LAT_(mag) m = {{{{{{{0}, {0}}}}}}};
    LAT_T room[ELEMENTS];
    for (int i = 0; i < 2 * nd; i++, u += n) {
        LAT_(ask)(u + 2 * nd * n, n);
        LAT_(mag_add)(&m, u, LAT_(neighbour)(lay, g, step[i], room), rows, COUNT(rows));
    }
    LAT_(mag_rotate)(&m, g + (size_t)b * ELEMENTS, COUNT(rows));
    return m;
}

/* One pass with everything that steers the code known when it is compiled. */
LAT_HD void LAT_(pass)(const lat_lane_work *w, int begin, int end, LAT_T omega, int problem, int scheme, int rows)
{
    for (int b = begin; b < end; b++) {
        LAT_(m) *g = (LAT_(m) *)w->g + b, h;
        if (problem == LAT_LINEAR) {
            const LAT_(m) x = LAT_(local)(w, b, rows);
            h = *g;
            if (scheme == LAT_RELAX_SU2)
                LAT_(relax_su2)(&h, x, omega);
            else
                LAT_(relax_sun)(&h, x, omega);
        } else {
            const LAT_(mag) m = LAT_(local_mag)(w, b, rows);
            h = *g;
            if (scheme == LAT_RELAX_SU2)
                LAT_(mag_relax_su2)(&h, m, COUNT(rows), omega);
            else
                LAT_(mag_relax_sun)(&h, m, COUNT(rows), omega);
        }
        *g = h;
    }
}

/* One pass in which some hits are mirrored. */
LAT_HD void LAT_(stirred)(const lat_lane_work *w, int begin, int end, const lat_lane_how *how, int problem, int scheme, int rows)
{
    const LAT_T omega = LAT_(set)((LAT_S)how->omega), p = LAT_(set)((LAT_S)how->stochastic);
    LAT_(dice) d = {how->seed, NULL, how->config, how->step};
    for (int b = begin; b < end; b++) {
        LAT_(m) *g = (LAT_(m) *)w->g + b, h;
        d.site = w->site + (size_t)b * LAT_WIDTH;
        if (problem == LAT_LINEAR) {
            const LAT_(m) x = LAT_(local)(w, b, rows);
            h = *g;
            if (scheme == LAT_RELAX_SU2)
                LAT_(stochastic_su2)(&h, x, omega, p, &d);
            else
                LAT_(stochastic_sun)(&h, x, omega, p, &d);
        } else {
            const LAT_(mag) m = LAT_(local_mag)(w, b, rows);
            h = *g;
            if (scheme == LAT_RELAX_SU2)
                LAT_(mag_stochastic_su2)(&h, m, COUNT(rows), omega, p, &d);
            else
                LAT_(mag_stochastic_sun)(&h, m, COUNT(rows), omega, p, &d);
        }
        *g = h;
    }
}

/* One pass of drawn rotations. */
LAT_HD void LAT_(draw)(const lat_lane_work *w, int begin, int end, const lat_lane_how *how, int problem, int kind, int rows)
{
    const LAT_T beta = LAT_(set)((LAT_S)how->beta);
    LAT_(dice) d = {how->seed, NULL, how->config, how->step};
    for (int b = begin; b < end; b++) {
        LAT_(m) *g = (LAT_(m) *)w->g + b, h;
        d.site = w->site + (size_t)b * LAT_WIDTH;
        if (problem == LAT_LINEAR) {
            const LAT_(m) x = LAT_(local)(w, b, rows);
            h = *g;
            LAT_(heat)(&h, x, beta, kind, &d);
        } else {
            const LAT_(mag) m = LAT_(local_mag)(w, b, rows);
            h = *g;
            LAT_(mag_heat)(&h, m, COUNT(rows), beta, kind, &d);
        }
        *g = h;
    }
}

/* The same pass for each problem, scheme and number of rows that there is. */
static void LAT_(sweep)(const lat_lane_work *w, int begin, int end, const lat_lane_how *how)
{
    const LAT_T omega = LAT_(set)((LAT_S)how->omega);
#define TRY(problem_, rows_) \
    if (w->problem == problem_ && w->rows == rows_) { \
        if (how->scheme != LAT_DRAW && how->stochastic > 0) { \
            if (how->scheme == LAT_RELAX_SU2) \
                LAT_(stirred)(w, begin, end, how, problem_, LAT_RELAX_SU2, rows_); \
            else \
                LAT_(stirred)(w, begin, end, how, problem_, LAT_RELAX_SUN, rows_); \
        } else if (how->scheme == LAT_RELAX_SU2) \
            LAT_(pass)(w, begin, end, omega, problem_, LAT_RELAX_SU2, rows_); \
        else if (how->scheme == LAT_RELAX_SUN) \
            LAT_(pass)(w, begin, end, omega, problem_, LAT_RELAX_SUN, rows_); \
        else if (how->draw == LAT_HEAT_MICRO) \
            LAT_(draw)(w, begin, end, how, problem_, LAT_HEAT_MICRO, rows_); \
        else if (how->draw == LAT_HEAT_BATH) \
            LAT_(draw)(w, begin, end, how, problem_, LAT_HEAT_BATH, rows_); \
        else \
            LAT_(draw)(w, begin, end, how, problem_, LAT_HEAT_METROPOLIS, rows_); \
        return; \
    }
#if LAT_N == 3
    TRY(LAT_LINEAR, 2)
    TRY(LAT_ABELIAN, 2)
#endif
    TRY(LAT_LINEAR, LAT_N)
#if LAT_N <= 3
    TRY(LAT_ABELIAN, LAT_N)
#endif
#undef TRY
}

LAT_HD void LAT_(state_rows)(const lat_lane_work *w, int begin, int end, double sum[2], double *max, int rows)
{
    for (int b = begin; b < end; b++) {
        LAT_T share, theta;
        if (w->problem == LAT_LINEAR) {
            const LAT_(m) x = LAT_(local)(w, b, rows);
            LAT_(landau_state)(&x, &share, &theta);
        } else {
            const LAT_(mag) m = LAT_(local_mag)(w, b, rows);
            LAT_(mag_state)(&m, COUNT(rows), (LAT_S)(2 * w->lay->geom.nd), &share, &theta);
        }
        for (int l = 0; l < LAT_WIDTH; l++) {
            if (w->lay->site[(size_t)b * LAT_WIDTH + (size_t)l] < 0)
                continue;
            sum[0] += (double)share[l];
            sum[1] += (double)theta[l];
            if (!((double)theta[l] <= *max)) /* so that NaN stays */
                *max = (double)theta[l];
        }
    }
}

static void LAT_(state)(const lat_lane_work *w, int begin, int end, double sum[2], double *max)
{
#if LAT_N == 3
    if (w->rows == 2) {
        LAT_(state_rows)(w, begin, end, sum, max, 2);
        return;
    }
#endif
    LAT_(state_rows)(w, begin, end, sum, max, LAT_N);
}

#undef ELEMENTS
#undef COUNT
