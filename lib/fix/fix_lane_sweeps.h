/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lane_sweeps.h: one pass over blocks of sites (template; fix_lanes.c expands it). */
#include "site/template.h"
#include "grid/permute.h"
#include "fix_lane_local.h"

#if LAT_N <= LAT_ABELIAN_MOST
/* The X_i at block b: N - 1 of them where two rows say that links are in SU(3), else all. */
LAT_HOST_DEVICE void LAT_(mag_rows)(const lat_lane_work *w, int b, LAT_(mag) *m, int rows,
                                    int count)
{
    const lat_layout *lay = w->lay;
    const int nd = lay->geom.nd, n = rows * 2 * LAT_N;
    const LAT_T *g = w->g, *u = (const LAT_T *)w->u + (size_t)b * (size_t)(2 * nd * n);
    const lat_step *step = lay->step + (size_t)b * (size_t)(2 * nd);
    LAT_T gathered[ELEMENTS];
    LAT_(mag) sum = {{{{{{{0}, {0}}}}}}};
    for (int i = 0; i < 2 * nd; i++, u += n) {
        LAT_(ask)(u + 2 * nd * n, n);
        LAT_(mag_add)(&sum, u, LAT_(neighbour)(lay, g, step[i], gathered), rows, count);
    }
    LAT_(mag_rotate)(&sum, g + (size_t)b * ELEMENTS, count);
    *m = sum;
}
#endif

/* The updates of a block whose local problem is `local`: a function each, and a table of them. */
typedef void LAT_(update)(LAT_(m) *g, const void *local, const lat_lane_how *how,
                          const LAT_(rng) *d);

#define FUNCTION(name, type, n, call) \
    APART void LAT_(name)(LAT_(m) *g, const void *local, const lat_lane_how *how, \
                          const LAT_(rng) *d) \
    { \
        enum { count = n }; \
        const type *x = local; \
        const LAT_T omega = LAT_(set)((LAT_S)how->omega), beta = LAT_(set)((LAT_S)how->beta); \
        const LAT_T p = LAT_(set)((LAT_S)how->stochastic); \
        call; \
        (void)omega, (void)beta, (void)p, (void)d; \
    }
#define LINEAR(NAME, linear, abelian, table, n) FUNCTION(table##_##NAME, LAT_(m), n, linear)
#define ABELIAN(NAME, linear, abelian, table, n) FUNCTION(table##_##NAME, LAT_(mag), n, abelian)
#define ENTRY(NAME, linear, abelian, table, n) [LAT_UPDATE_##NAME] = LAT_(table##_##NAME),
#define TABLE(PROBLEM, table, n) \
    LAT_EACH_UPDATE(PROBLEM, table, n) \
    static LAT_(update) *const LAT_(table)[] = {LAT_EACH_UPDATE(ENTRY, table, n)};

TABLE(LINEAR, linear, LAT_N)

#if LAT_N <= LAT_ABELIAN_MOST
/* All of N - 1, or all of N, X_i. */
#define ABELIAN_TABLE(table, n) \
    APART void LAT_(table##_local)(const lat_lane_work *w, int b, LAT_(mag) *m) \
    { \
        LAT_(mag_rows)(w, b, m, n, n); \
    } \
    TABLE(ABELIAN, table, n)
ABELIAN_TABLE(mag_all, LAT_N)
#if LAT_N == 3
ABELIAN_TABLE(mag_two, 2)
#endif
#undef ABELIAN_TABLE
#endif
#undef FUNCTION
#undef LINEAR
#undef ABELIAN
#undef ENTRY
#undef TABLE

/* The local problem of block b, and its updates. */
typedef union {
    LAT_(m) linear;
    LAT_(mag) abelian;
} LAT_(problem);

LAT_HOST_DEVICE LAT_(update) *const *LAT_(fields_of)(const lat_lane_work *w, int b,
                                                     LAT_(problem) *x)
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
#if LAT_N <= LAT_ABELIAN_MOST
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
    LAT_(rng) d = {how->seed, NULL, how->config, how->step};
    for (int b = begin; b < end; b++) {
        LAT_(problem) x;
        LAT_(update) *const *updates = LAT_(fields_of)(w, b, &x);
        d.site = w->site + (size_t)b * LAT_WIDTH;
        updates[how->update]((LAT_(m) *)w->g + b, &x, how, &d);
    }
}

LAT_HOST_DEVICE void LAT_(shares)(const lat_lane_work *w, int b, LAT_T *share, LAT_T *theta)
{
    LAT_(problem) x;
    LAT_(fields_of)(w, b, &x);
#if LAT_N <= LAT_ABELIAN_MOST
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
            out[2 * site] = (double)share[l];
            out[2 * site + 1] = (double)theta[l];
        }
    }
}

#undef ELEMENTS
