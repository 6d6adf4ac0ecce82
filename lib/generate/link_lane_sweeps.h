/* SPDX-License-Identifier: BSD-3-Clause */
/* link_lane_sweeps.h: passes over blocks of links (template; link_lanes.c expands it). */
#include "site/template.h"
#include "site/link.h"
#include "grid/permute.h"
#include "grid/lane_staples.h"

/* 1/xi, or xi where the plane has the last direction in it. */
LAT_HOST_DEVICE LAT_T LAT_(plane)(const lat_link_work *w, int mu, int nu)
{
    const int time = w->links.lay->geom.nd - 1;
    return LAT_(set)((LAT_S)w->weight[mu == time || nu == time]);
}

LAT_HOST_DEVICE LAT_(m) LAT_(staples)(const lat_link_work *w, int b, int mu)
{
    LAT_(m) s, v;
    LAT_(sites) at;
    LAT_(sites_of)(w->links.lay, b, &at);
    for (int i = 0; i < LAT_N; i++)
        for (int j = 0; j < LAT_N; j++)
            s.e[i][j].re = s.e[i][j].im = LAT_(set)(0);
    for (int i = 0; i < 2 * w->links.lay->geom.nd; i++) {
        const int nu = i / 2;
        if (nu == mu)
            continue;
        if (i & 1)
            LAT_(staple_below)(&w->links, &at, mu, nu, &v);
        else
            LAT_(staple_above)(&w->links, &at, mu, nu, &v);
        LAT_(staple_add)(&s, v, LAT_(plane)(w, mu, nu));
    }
    return s;
}

/* Asks for what a block's staples reach for from far: U_mu(x + nu). */
LAT_HOST_DEVICE void LAT_(link_ahead)(const lat_link_work *w, int b, int mu)
{
    const lat_layout *lay = w->links.lay;
    for (int nu = 0; lay->boxes && nu < lay->geom.nd; nu++) {
        const LAT_T *p = LAT_(link_at)(
            &w->links, lay->step[(size_t)b * (size_t)(2 * lay->geom.nd) + (size_t)nu].block, mu);
        if (nu != mu)
#pragma GCC unroll 1
            for (int e = 0; e < ELEMENTS; e += 64 / (int)sizeof(LAT_T))
                __builtin_prefetch(p + e);
    }
}

/* A link's random numbers are counted by its number, x * nd + mu. */
static void LAT_(update)(const lat_link_work *w, int mu, int begin, int end,
                         const lat_link_sweep *how)
{
    const int nd = w->links.lay->geom.nd;
    int64_t link[LAT_WIDTH];
    const LAT_(rng) d = {how->seed, link, how->config, how->step};
    for (int b = begin; b < end; b++) {
        if (b + 1 < end)
            LAT_(link_ahead)(w, b + 1, mu);
        const LAT_(m) s = LAT_(staples)(w, b, mu);
        LAT_(m) u = LAT_(link_load)(LAT_(link_at)(&w->links, b, mu));
        for (int l = 0; l < LAT_WIDTH; l++)
            link[l] = w->site[(size_t)b * LAT_WIDTH + (size_t)l] * nd + mu;
        LAT_(link_update)(&u, &s, LAT_(set)((LAT_S)w->k), how->update, &d);
        LAT_(link_store)(LAT_(link_at)(&w->links, b, mu), &u);
    }
}

static void LAT_(reunit)(const lat_link_work *w, int begin, int end)
{
    for (int b = begin; b < end; b++)
        for (int mu = 0; mu < w->links.lay->geom.nd; mu++) {
            LAT_(m) u = LAT_(link_load)(LAT_(link_at)(&w->links, b, mu));
            LAT_(link_reunit)(&u);
            LAT_(link_store)(LAT_(link_at)(&w->links, b, mu), &u);
        }
}

static void LAT_(plaquette)(const lat_link_work *w, int begin, int end, double *out)
{
    const lat_layout *lay = w->links.lay;
    const int nd = lay->geom.nd;
    for (int b = begin; b < end; b++) {
        double sum[2][LAT_WIDTH] = {{0}};
        LAT_(sites) at;
        LAT_(sites_of)(lay, b, &at);
        for (int mu = 0; mu < nd; mu++)
            for (int nu = mu + 1; nu < nd; nu++) {
                LAT_(m) v;
                LAT_(staple_above)(&w->links, &at, mu, nu, &v);
                const LAT_(m) u = LAT_(link_load)(LAT_(link_at)(&w->links, b, mu));
                LAT_(link_complete)(&v);
                const LAT_T p = LAT_(link_overlap)(&u, &v);
                for (int l = 0; l < LAT_WIDTH; l++)
                    sum[nu == nd - 1][l] += (double)p[l];
            }
        for (int l = 0; l < LAT_WIDTH; l++) {
            const int64_t site = lay->site[(size_t)b * LAT_WIDTH + (size_t)l];
            for (int k = 0; k < 2 && site >= 0; k++)
                out[2 * site + k] = sum[k][l];
        }
    }
}

#undef ELEMENTS
