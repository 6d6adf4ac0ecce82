/* SPDX-License-Identifier: BSD-3-Clause */
/* link_lane_sweeps.h: passes over blocks of links (template; link_lanes.c expands it). */
#include "site/template.h"
#include "site/link.h"
#include "grid/permute.h"

#define ELEMENTS (2 * LAT_LINK_ROWS * LAT_N) /* reals of a link that are kept */

LAT_HOST_DEVICE LAT_T *LAT_(link_at)(const lat_link_work *w, int block, int mu)
{
    return (LAT_T *)w->u + ((size_t)block * (size_t)w->lay->geom.nd + (size_t)mu) * ELEMENTS;
}

APART void LAT_(times_up)(LAT_(m) *v, const LAT_T *a, const LAT_T *b, const LAT_T *c)
{
    const LAT_(m) x = LAT_(link_load)(a), y = LAT_(link_load)(b), z = LAT_(link_load)(c);
    LAT_(staple_up)(v, &x, &y, &z);
}

APART void LAT_(times_down)(LAT_(m) *v, const LAT_T *a, const LAT_T *b, const LAT_T *c)
{
    const LAT_(m) x = LAT_(link_load)(a), y = LAT_(link_load)(b), z = LAT_(link_load)(c);
    LAT_(staple_down)(v, &x, &y, &z);
}

/* The reals of v, lanes permuted. */
LAT_HOST_DEVICE void LAT_(permute_all)(LAT_T *to, const LAT_T *v, const lat_layout *lay, int perm)
{
#pragma GCC unroll 1
    for (int e = 0; e < ELEMENTS; e++)
        to[e] = LAT_(permute)(v[e], lay, perm);
}

/* U_mu of the block that `step` leads to: in box layouts a block too, perhaps with its lanes
 * permuted. */
LAT_HOST_DEVICE const LAT_T *LAT_(link_next)(const lat_link_work *w, lat_step step, int mu,
                                             LAT_T gathered[ELEMENTS])
{
    const LAT_T *p = LAT_(link_at)(w, step.block, mu);
    if (step.perm == 0)
        return p;
    LAT_(permute_all)(gathered, p, w->lay, step.perm);
    return gathered;
}

/* U_mu of any slots, one a lane. */
APART void LAT_(link_gather)(const lat_link_work *w, const int64_t slot[LAT_WIDTH], int mu,
                             LAT_T gathered[ELEMENTS])
{
    for (int l = 0; l < LAT_WIDTH; l++) {
        const LAT_S *from = (const LAT_S *)LAT_(link_at)(w, (int)(slot[l] / LAT_WIDTH), mu)
                            + slot[l] % LAT_WIDTH;
        LAT_S *to = (LAT_S *)gathered + l;
        for (int e = 0; e < ELEMENTS; e++)
            to[e * LAT_WIDTH] = from[e * LAT_WIDTH];
    }
}

/* The slots one step on from others. */
LAT_HOST_DEVICE void LAT_(slots_next)(const lat_layout *lay, const int64_t from[LAT_WIDTH], int k,
                                      int64_t to[LAT_WIDTH])
{
    for (int l = 0; l < LAT_WIDTH; l++)
        to[l] = lat_position_next(lay, from[l], k);
}

/* The staple over U_mu of block b on the side of nu, the rows that are kept. */
APART void LAT_(staple_above)(const lat_link_work *w, int b, int mu, int nu, LAT_(m) *v)
{
    const lat_layout *lay = w->lay;
    const lat_step *step = lay->step + (size_t)b * (size_t)(2 * lay->geom.nd);
    const LAT_T *a = LAT_(link_at)(w, b, nu);
    LAT_T up[ELEMENTS], end[ELEMENTS];
    if (lay->boxes) {
        LAT_(times_up)(v, a, LAT_(link_next)(w, step[nu], mu, up),
                       LAT_(link_next)(w, step[mu], nu, end));
        return;
    }
    int64_t here[LAT_WIDTH], there[LAT_WIDTH];
    for (int l = 0; l < LAT_WIDTH; l++)
        here[l] = (int64_t)b * LAT_WIDTH + l;
    LAT_(slots_next)(lay, here, nu, there);
    LAT_(link_gather)(w, there, mu, up);
    LAT_(slots_next)(lay, here, mu, there);
    LAT_(link_gather)(w, there, nu, end);
    LAT_(times_up)(v, a, up, end);
}

/* The staple below. In box layouts it is multiplied in the lanes of x - nu, and only then permuted.
 */
APART void LAT_(staple_below)(const lat_link_work *w, int b, int mu, int nu, LAT_(m) *v)
{
    const lat_layout *lay = w->lay;
    const int nd = lay->geom.nd;
    LAT_T a[ELEMENTS], down[ELEMENTS], end[ELEMENTS];
    if (lay->boxes) {
        const lat_step back = lay->step[(size_t)b * (size_t)(2 * nd) + (size_t)(nd + nu)];
        const lat_step on = lay->step[(size_t)back.block * (size_t)(2 * nd) + (size_t)mu];
        LAT_(times_down)(v, LAT_(link_at)(w, back.block, nu), LAT_(link_at)(w, back.block, mu),
                         LAT_(link_next)(w, on, nu, end));
        if (back.perm)
            LAT_(permute_all)(&v->e[0][0].re, &v->e[0][0].re, lay, back.perm);
        return;
    }
    int64_t here[LAT_WIDTH], back[LAT_WIDTH], on[LAT_WIDTH];
    for (int l = 0; l < LAT_WIDTH; l++)
        here[l] = (int64_t)b * LAT_WIDTH + l;
    LAT_(slots_next)(lay, here, nd + nu, back);
    LAT_(slots_next)(lay, back, mu, on);
    LAT_(link_gather)(w, back, nu, a);
    LAT_(link_gather)(w, back, mu, down);
    LAT_(link_gather)(w, on, nu, end);
    LAT_(times_down)(v, a, down, end);
}

/* 1/xi, or xi where the plane has the last direction in it. */
LAT_HOST_DEVICE LAT_T LAT_(plane)(const lat_link_work *w, int mu, int nu)
{
    const int time = w->lay->geom.nd - 1;
    return LAT_(set)((LAT_S)w->weight[mu == time || nu == time]);
}

LAT_HOST_DEVICE LAT_(m) LAT_(staples)(const lat_link_work *w, int b, int mu)
{
    LAT_(m) s, v;
    for (int i = 0; i < LAT_N; i++)
        for (int j = 0; j < LAT_N; j++)
            s.e[i][j].re = s.e[i][j].im = LAT_(set)(0);
    for (int i = 0; i < 2 * w->lay->geom.nd; i++) {
        const int nu = i / 2;
        if (nu == mu)
            continue;
        if (i & 1)
            LAT_(staple_below)(w, b, mu, nu, &v);
        else
            LAT_(staple_above)(w, b, mu, nu, &v);
        LAT_(staple_add)(&s, v, LAT_(plane)(w, mu, nu));
    }
    return s;
}

/* Asks for what a block's staples reach for from far: U_mu(x + nu). */
LAT_HOST_DEVICE void LAT_(link_ahead)(const lat_link_work *w, int b, int mu)
{
    const lat_layout *lay = w->lay;
    for (int nu = 0; lay->boxes && nu < lay->geom.nd; nu++) {
        const LAT_T *p = LAT_(link_at)(
            w, lay->step[(size_t)b * (size_t)(2 * lay->geom.nd) + (size_t)nu].block, mu);
        if (nu != mu)
#pragma GCC unroll 1
            for (int e = 0; e < ELEMENTS; e += 64 / (int)sizeof(LAT_T))
                __builtin_prefetch(p + e);
    }
}

/* A link's random numbers are counted by its number, x * nd + mu. */
static void LAT_(update)(const lat_link_work *w, int mu, int begin, int end,
                         const lat_link_how *how)
{
    const int nd = w->lay->geom.nd;
    int64_t link[LAT_WIDTH];
    const LAT_(rng) d = {how->seed, link, how->config, how->step};
    for (int b = begin; b < end; b++) {
        if (b + 1 < end)
            LAT_(link_ahead)(w, b + 1, mu);
        const LAT_(m) s = LAT_(staples)(w, b, mu);
        LAT_(m) u = LAT_(link_load)(LAT_(link_at)(w, b, mu));
        for (int l = 0; l < LAT_WIDTH; l++)
            link[l] = w->site[(size_t)b * LAT_WIDTH + (size_t)l] * nd + mu;
        LAT_(link_update)(&u, &s, LAT_(set)((LAT_S)how->k), how->update, &d);
        LAT_(link_store)(LAT_(link_at)(w, b, mu), &u);
    }
}

static void LAT_(reunit)(const lat_link_work *w, int begin, int end)
{
    for (int b = begin; b < end; b++)
        for (int mu = 0; mu < w->lay->geom.nd; mu++) {
            LAT_(m) u = LAT_(link_load)(LAT_(link_at)(w, b, mu));
            LAT_(link_reunit)(&u);
            LAT_(link_store)(LAT_(link_at)(w, b, mu), &u);
        }
}

static void LAT_(plaquette)(const lat_link_work *w, int begin, int end, double *out)
{
    const lat_layout *lay = w->lay;
    const int nd = lay->geom.nd;
    for (int b = begin; b < end; b++) {
        double sum[2][LAT_WIDTH] = {{0}};
        for (int mu = 0; mu < nd; mu++)
            for (int nu = mu + 1; nu < nd; nu++) {
                LAT_(m) v;
                LAT_(staple_above)(w, b, mu, nu, &v);
                const LAT_(m) u = LAT_(link_load)(LAT_(link_at)(w, b, mu));
                LAT_(link_complete)(&v);
                const LAT_T p = LAT_(link_overlap)(&u, &v);
                for (int l = 0; l < LAT_WIDTH; l++)
                    sum[nu == nd - 1][l] += (double)p[l];
            }
        for (int l = 0; l < LAT_WIDTH; l++) {
            const int64_t site = lay->site[(size_t)b * LAT_WIDTH + (size_t)l];
            for (int k = 0; k < 2 && site >= 0; k++)
                out[2 * (site - lay->first) + k] = sum[k][l];
        }
    }
}

#undef ELEMENTS
