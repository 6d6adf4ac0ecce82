/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lane_sweeps.h: one pass over blocks of sites (template; fix_lanes.c expands it). */
#include "site/template.h"
#include "grid/permute.h"

#define ELEMENTS (2 * LAT_N * LAT_N) /* reals of g at a site */

/* g of the neighbouring block: where it lies, or put together in `room`. */
LAT_HOST_DEVICE const LAT_T *LAT_(neighbour)(const lat_layout *lay, const LAT_T *g, lat_step step,
                                             LAT_T room[ELEMENTS])
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
        const LAT_S *from = (const LAT_S *)g + slot[l] / LAT_WIDTH * (ELEMENTS * LAT_WIDTH)
                            + slot[l] % LAT_WIDTH;
        LAT_S *to = (LAT_S *)room + l;
        for (int e = 0; e < ELEMENTS; e++)
            to[e * LAT_WIDTH] = from[e * LAT_WIDTH];
    }
    return room;
}

/* The links of the next block come from memory once a sweep, in order: ask for them in time. */
LAT_HOST_DEVICE void LAT_(ask)(const LAT_T *p, int n)
{
    for (int e = 0; e < n; e += 64 / (int)sizeof(LAT_T))
        __builtin_prefetch(p + e, 0, 2);
}

/* x = g K at block b. */
LAT_HOST_DEVICE void LAT_(local_rows)(const lat_lane_work *w, int b, LAT_(m) *x, int rows)
{
    const lat_layout *lay = w->lay;
    const int nd = lay->geom.nd, n = rows * 2 * LAT_N;
    const LAT_T *g = w->g, *u = (const LAT_T *)w->u + (size_t)b * (size_t)(2 * nd * n);
    const lat_step *step = lay->step + (size_t)b * (size_t)(2 * nd);
    LAT_(m) k = {{{{{0}, {0}}}}};
    LAT_T room[ELEMENTS];
    for (int i = 0; i < 2 * nd; i++, u += n) {
        LAT_(ask)(u + 2 * nd * n, n);
        LAT_(add_mul_dag)(&k, u, LAT_(neighbour)(lay, g, step[i], room), rows,
                          LAT_(set)((LAT_S)w->weight[i % nd]));
    }
    *x = LAT_(mul_left)(g + (size_t)b * ELEMENTS, &k);
}

APART void LAT_(local)(const lat_lane_work *w, int b, LAT_(m) *x)
{
    LAT_(local_rows)(w, b, x, LAT_N);
}

#if LAT_N == 3
APART void LAT_(local_two)(const lat_lane_work *w, int b, LAT_(m) *x)
{
    LAT_(local_rows)(w, b, x, 2);
}
#endif

#if LAT_N <= 3
/* The X_i at block b: N - 1 of them where two rows say that links are in SU(3), else all. */
LAT_HOST_DEVICE void LAT_(mag_rows)(const lat_lane_work *w, int b, LAT_(mag) *m, int rows,
                                    int count)
{
    const lat_layout *lay = w->lay;
    const int nd = lay->geom.nd, n = rows * 2 * LAT_N;
    const LAT_T *g = w->g, *u = (const LAT_T *)w->u + (size_t)b * (size_t)(2 * nd * n);
    const lat_step *step = lay->step + (size_t)b * (size_t)(2 * nd);
    LAT_T room[ELEMENTS];
    LAT_(mag) sum = {{{{{{{0}, {0}}}}}}};
    for (int i = 0; i < 2 * nd; i++, u += n) {
        LAT_(ask)(u + 2 * nd * n, n);
        LAT_(mag_add)(&sum, u, LAT_(neighbour)(lay, g, step[i], room), rows, count);
    }
    LAT_(mag_rotate)(&sum, g + (size_t)b * ELEMENTS, count);
    *m = sum;
}
#endif

/* What a kind of sweep does at a block whose local problem is p; which one: a scheme, or one of
 * these and what is drawn, or the scheme. */
enum { LAT_(DRAWN) = LAT_DRAW, LAT_(STIRRED) = LAT_DRAW + 3 };
typedef void LAT_(visit)(LAT_(m) *g, const void *x, const lat_lane_how *how, const LAT_(rng) *d);

#define VISIT(name, problem, hit) \
    APART void LAT_(name)(LAT_(m) *g, const void *p, const lat_lane_how *how, const LAT_(rng) *d) \
    { \
        const problem *x = p; \
        const LAT_T omega = LAT_(set)((LAT_S)how->omega), beta = LAT_(set)((LAT_S)how->beta); \
        const LAT_T chance = LAT_(set)((LAT_S)how->stochastic); \
        hit; \
        (void)omega, (void)beta, (void)chance, (void)d; \
    }

VISIT(su2, LAT_(m), LAT_(relax_su2)(g, *x, omega))
VISIT(sun, LAT_(m), LAT_(relax_sun)(g, *x, omega))
VISIT(bath, LAT_(m), LAT_(heat)(g, *x, beta, LAT_HEAT_BATH, d))
VISIT(micro, LAT_(m), LAT_(heat)(g, *x, beta, LAT_HEAT_MICRO, d))
VISIT(metropolis, LAT_(m), LAT_(heat)(g, *x, beta, LAT_HEAT_METROPOLIS, d))
VISIT(stochastic_relax_su2, LAT_(m), LAT_(stochastic_su2)(g, *x, omega, chance, d))
VISIT(stochastic_relax_sun, LAT_(m), LAT_(stochastic_sun)(g, *x, omega, chance, d))
static LAT_(visit) *const LAT_(linear)[] = {LAT_(su2),
                                            LAT_(sun),
                                            LAT_(bath),
                                            LAT_(micro),
                                            LAT_(metropolis),
                                            LAT_(stochastic_relax_su2),
                                            LAT_(stochastic_relax_sun)};

#if LAT_N <= 3
/* All of N - 1, or all of N, X_i. */
#define ABELIAN(name, count, rows) \
    APART void LAT_(name##_local)(const lat_lane_work *w, int b, LAT_(mag) *m) \
    { \
        LAT_(mag_rows)(w, b, m, rows, count); \
    } \
    VISIT(name##_su2, LAT_(mag), LAT_(mag_relax_su2)(g, *x, count, omega)) \
    VISIT(name##_sun, LAT_(mag), LAT_(mag_relax_sun)(g, *x, count, omega)) \
    VISIT(name##_bath, LAT_(mag), LAT_(mag_heat)(g, *x, count, beta, LAT_HEAT_BATH, d)) \
    VISIT(name##_micro, LAT_(mag), LAT_(mag_heat)(g, *x, count, beta, LAT_HEAT_MICRO, d)) \
    VISIT(name##_metropolis, LAT_(mag), \
          LAT_(mag_heat)(g, *x, count, beta, LAT_HEAT_METROPOLIS, d)) \
    VISIT(name##_stirred_su2, LAT_(mag), LAT_(mag_stochastic_su2)(g, *x, count, omega, chance, d)) \
    VISIT(name##_stirred_sun, LAT_(mag), LAT_(mag_stochastic_sun)(g, *x, count, omega, chance, d)) \
    static LAT_(visit) *const LAT_(name)[] = {LAT_(name##_su2),        LAT_(name##_sun), \
                                              LAT_(name##_bath),       LAT_(name##_micro), \
                                              LAT_(name##_metropolis), LAT_(name##_stirred_su2), \
                                              LAT_(name##_stirred_sun)};
ABELIAN(mag_all, LAT_N, LAT_N)
#if LAT_N == 3
ABELIAN(mag_two, 2, 2)
#endif
#undef ABELIAN
#endif
#undef VISIT

/* The local problem of block b, and what visits it. */
typedef union {
    LAT_(m) linear;
    LAT_(mag) abelian;
} LAT_(problem);

LAT_HOST_DEVICE LAT_(visit) *const *LAT_(fields_of)(const lat_lane_work *w, int b, LAT_(problem) *x)
{
#if LAT_N == 3
    if (w->rows == 2 && w->problem == LAT_ABELIAN) {
        LAT_(mag_two_local)(w, b, &x->abelian);
        return LAT_(mag_two);
    }
    if (w->rows == 2) {
        LAT_(local_two)(w, b, &x->linear);
        return LAT_(linear);
    }
#endif
#if LAT_N <= 3
    if (w->problem == LAT_ABELIAN) {
        LAT_(mag_all_local)(w, b, &x->abelian);
        return LAT_(mag_all);
    }
#endif
    LAT_(local)(w, b, &x->linear);
    return LAT_(linear);
}

static void LAT_(sweep)(const lat_lane_work *w, int begin, int end, const lat_lane_how *how)
{
    const int kind = how->scheme == LAT_DRAW ? LAT_(DRAWN) + how->draw
                     : how->stochastic > 0   ? LAT_(STIRRED) + how->scheme
                                             : how->scheme;
    LAT_(rng) d = {how->seed, NULL, how->config, how->step};
    for (int b = begin; b < end; b++) {
        LAT_(problem) x;
        LAT_(visit) *const *visits = LAT_(fields_of)(w, b, &x);
        d.site = w->site + (size_t)b * LAT_WIDTH;
        visits[kind]((LAT_(m) *)w->g + b, &x, how, &d);
    }
}

LAT_HOST_DEVICE void LAT_(shares)(const lat_lane_work *w, int b, LAT_T *share, LAT_T *theta)
{
    LAT_(problem) x;
    LAT_(fields_of)(w, b, &x);
#if LAT_N <= 3
    if (w->problem == LAT_ABELIAN) {
        const LAT_S links = (LAT_S)(2 * w->lay->geom.nd);
        if (w->rows < LAT_N)
            LAT_(mag_state)(&x.abelian, LAT_N - 1, links, share, theta);
        else
            LAT_(mag_state)(&x.abelian, LAT_N, links, share, theta);
        return;
    }
#endif
    LAT_(landau_state)(&x.linear, share, theta);
}

static void LAT_(state)(const lat_lane_work *w, int begin, int end, double *out)
{
    const lat_layout *lay = w->lay;
    for (int b = begin; b < end; b++) {
        LAT_T share, theta;
        LAT_(shares)(w, b, &share, &theta);
        for (int l = 0; l < LAT_WIDTH; l++) {
            const int64_t site = lay->site[(size_t)b * LAT_WIDTH + (size_t)l];
            if (site < 0)
                continue;
            out[2 * (site - lay->first)] = (double)share[l];
            out[2 * (site - lay->first) + 1] = (double)theta[l];
        }
    }
}

#undef ELEMENTS
