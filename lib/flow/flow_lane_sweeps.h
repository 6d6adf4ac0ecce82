/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lane_sweeps.h: passes over blocks of links (template; flow_lanes.c expands it). */
#include "site/template.h"
#include "site/link.h"
#include "site/flow.h"
#include "grid/permute.h"
#include "grid/lane_staples.h"

enum { PLANES = LAT_MAX_DIMS * (LAT_MAX_DIMS - 1) / 2 };

LAT_HOST_DEVICE LAT_T *LAT_(algebra_at)(const lat_flow_work *w, double *of, int block, int mu)
{
    const size_t nd = (size_t)w->u.objects;
    return (LAT_T *)of + ((size_t)block * nd + (size_t)mu) * (size_t)LAT_(algebra);
}

/* Object `object` of these sites, and of those one step on. */
LAT_HOST_DEVICE LAT_(m) LAT_(load_here)(const lat_lane_links *u, const LAT_(sites) *at, int object)
{
    LAT_T gathered[ELEMENTS];
    return LAT_(link_load)(LAT_(link_here)(u, at, object, gathered));
}

LAT_HOST_DEVICE LAT_(m)
    LAT_(load_next)(const lat_lane_links *u, const LAT_(sites) *at, int k, int object)
{
    LAT_T gathered[ELEMENTS];
    return LAT_(link_load)(LAT_(link_next)(u, at, k, object, gathered));
}

LAT_HOST_DEVICE void LAT_(matrix_permute)(LAT_(m) *v, const lat_layout *lay, int perm)
{
    if (perm)
        LAT_(permute_all)(&v->e[0][0].re, &v->e[0][0].re, 2 * LAT_N * LAT_N, lay, perm);
}

/* ---- forces ---------------------------------------------------------------------------------- */

/* y of U_mu = beta y - alpha P[U s^+]. */
APART void LAT_(add_force)(const lat_flow_work *w, int block, int mu, double beta, double alpha,
                           const LAT_(m) *s)
{
    const LAT_(m) u = LAT_(link_load)(LAT_(link_at)(&w->u, block, mu));
    LAT_(m) x;
    LAT_(times_dag)(&x, &u, s);
    LAT_(algebra_add)(LAT_(algebra_at)(w, w->y, block, mu), LAT_(set)(beta), LAT_(set)(-alpha), &x);
}

/* Asks for the links of the next block's neighbours, which lie far away. */
LAT_HOST_DEVICE void LAT_(links_ahead)(const lat_lane_links *u, int block)
{
    const int nd = u->lay->geom.nd;
    for (int k = 0; u->lay->boxes && k < 2 * nd; k++) {
        const int there = u->lay->step[(size_t)block * (size_t)(2 * nd) + (size_t)k].block;
        const char *p = (const char *)LAT_(link_at)(u, there, 0);
#pragma GCC unroll 1
        for (int i = 0; i < nd * ELEMENTS * (int)sizeof(LAT_T); i += 64)
            __builtin_prefetch(p + i);
    }
}

/* 1 in the lanes of a block that are on the first slice of open time, and on the last; else 0. */
LAT_HOST_DEVICE void LAT_(ends)(const lat_flow_work *w, int block, LAT_T *first, LAT_T *last)
{
    *first = *last = LAT_(set)(0);
    for (int l = 0; l < LAT_WIDTH; l++) {
        const int64_t site = w->u.lay->site[(size_t)block * LAT_WIDTH + (size_t)l];
        (*first)[l] = site < w->below;
        (*last)[l] = site >= w->above;
    }
}

static void LAT_(force)(const lat_flow_work *w, int begin, int end)
{
    const int nd = w->u.lay->geom.nd;
    const LAT_T one = LAT_(set)(1), temporal = LAT_(set)(w->temporal);
    for (int b = begin; b < end; b++) {
        LAT_(sites) at;
        LAT_T first, last;
        LAT_(sites_of)(w->u.lay, b, &at);
        LAT_(ends)(w, b, &first, &last);
        if (b + 1 < end)
            LAT_(links_ahead)(&w->u, b + 1);
        for (int mu = 0; mu < nd; mu++) {
            LAT_(m) s, v;
            LAT_(matrix_one)(&s, LAT_(set)(0));
            for (int nu = 0; nu < nd; nu++) {
                if (nu == mu)
                    continue;
                LAT_(staple_above)(&w->u, &at, mu, nu, &v);
                LAT_(staple_add)(&s, v, nu == nd - 1 ? temporal + temporal * first : one);
                LAT_(staple_below)(&w->u, &at, mu, nu, &v);
                LAT_(staple_add)(&s, v, nu == nd - 1 ? temporal + temporal * last : one);
            }
            LAT_(add_force)(w, b, mu, w->stage.beta, w->stage.alpha * w->c0, &s);
        }
    }
}

static void LAT_(staples)(const lat_flow_work *w, int begin, int end)
{
    const int mu = w->mu, nu = w->nu;
    for (int b = begin; b < end; b++) {
        LAT_(sites) at;
        LAT_(m) v;
        LAT_(sites_of)(w->u.lay, b, &at);
        LAT_(staple_above)(&w->u, &at, mu, nu, &v);
        LAT_(link_store)(LAT_(link_at)(&w->plane, b, LAT_FLOW_MU_UP), &v);
        LAT_(staple_below)(&w->u, &at, mu, nu, &v);
        LAT_(link_store)(LAT_(link_at)(&w->plane, b, LAT_FLOW_MU_DOWN), &v);
        LAT_(staple_above)(&w->u, &at, nu, mu, &v);
        LAT_(link_store)(LAT_(link_at)(&w->plane, b, LAT_FLOW_NU_UP), &v);
        LAT_(staple_below)(&w->u, &at, nu, mu, &v);
        LAT_(link_store)(LAT_(link_at)(&w->plane, b, LAT_FLOW_NU_DOWN), &v);
    }
}

/* Staples of plaquettes and rectangles over U_mu above (site/flow.h). own: the first of the two
 * staples of mu, other: of nu. */
APART void LAT_(above)(const lat_flow_work *w, const LAT_(sites) *at, int mu, int nu, int own,
                       int other, LAT_(m) *s)
{
    LAT_(m) a = LAT_(load_here)(&w->u, at, nu), l = LAT_(load_here)(&w->plane, at, other + 1);
    const LAT_(m) b = LAT_(load_next)(&w->u, at, nu, mu), c = LAT_(load_next)(&w->u, at, mu, nu);
    const LAT_(m) up = LAT_(load_next)(&w->plane, at, nu, own),
                  right = LAT_(load_next)(&w->plane, at, mu, other);
    const LAT_(path_weights) c01 = {(LAT_S)w->c0, (LAT_S)w->c1};
    LAT_(paths_above)(s, c01, &a, &b, &c, &l, &up, &right);
}

/* Those below, a^+ b c with a = U_nu(y), b = U_mu(y), c = U_nu(y+mu), y = x - nu, in the lanes of
 * y. */
APART void LAT_(below)(const lat_flow_work *w, const LAT_(sites) *y, int mu, int nu, int own,
                       int other, LAT_(m) *s)
{
    LAT_(m) a = LAT_(load_here)(&w->u, y, nu), l = LAT_(load_here)(&w->plane, y, other + 1);
    const LAT_(m) b = LAT_(load_here)(&w->u, y, mu), c = LAT_(load_next)(&w->u, y, mu, nu);
    const LAT_(m) down = LAT_(load_here)(&w->plane, y, own + 1),
                  right = LAT_(load_next)(&w->plane, y, mu, other);
    const LAT_(path_weights) c01 = {(LAT_S)w->c0, (LAT_S)w->c1};
    LAT_(paths_below)(s, c01, &a, &b, &c, &l, &down, &right);
}

/* Each link meets its planes in the order 01, 02, 03, 12, ..: beta belongs to the first. */
static void LAT_(plane)(const lat_flow_work *w, int begin, int end)
{
    const lat_layout *lay = w->u.lay;
    for (int b = begin; b < end; b++)
        for (int half = 0; half < 2; half++) {
            const int mu = half ? w->nu : w->mu, nu = half ? w->mu : w->nu;
            const int own = half ? LAT_FLOW_NU_UP : LAT_FLOW_MU_UP,
                      other = half ? LAT_FLOW_MU_UP : LAT_FLOW_NU_UP;
            const bool first = half ? w->mu == 0 : w->nu == 1;
            LAT_(sites) at, back;
            LAT_(m) s, v;
            LAT_(sites_of)(lay, b, &at);
            LAT_(above)(w, &at, mu, nu, own, other, &s);
            const int perm = LAT_(sites_next)(lay, &at, lay->geom.nd + nu, &back);
            LAT_(below)(w, &back, mu, nu, own, other, &v);
            LAT_(matrix_permute)(&v, lay, perm);
            LAT_(matrix_add)(&s, LAT_(set)(1), &v);
            LAT_(add_force)(w, b, mu, first ? w->stage.beta : 1, w->stage.alpha, &s);
        }
}

/* ---- links ----------------------------------------------------------------------------------- */

static void LAT_(apply)(const lat_flow_work *w, int begin, int end)
{
    for (int b = begin; b < end; b++)
        for (int mu = 0; mu < w->u.lay->geom.nd; mu++) {
            LAT_(m) u = LAT_(link_load)(LAT_(link_at)(&w->u, b, mu));
            LAT_(algebra_apply)(&u, LAT_(algebra_at)(w, w->y, b, mu), w->stage.eps,
                                w->stage.halvings);
            LAT_(link_store)(LAT_(link_at)(&w->u, b, mu), &u);
        }
}

static void LAT_(apart)(const lat_flow_work *w, int begin, int end, double *out)
{
    const lat_layout *lay = w->u.lay;
    for (int b = begin; b < end; b++) {
        LAT_T most = LAT_(set)(0);
        for (int mu = 0; mu < lay->geom.nd; mu++) {
            const LAT_(m) u = LAT_(link_load)(LAT_(link_at)(&w->u, b, mu));
            LAT_(m) v = LAT_(link_load)(LAT_(link_at)(&w->start, b, mu));
            LAT_(algebra_apply)(&v, LAT_(algebra_at)(w, w->again, b, mu), w->stage.eps,
                                w->stage.halvings);
            LAT_(matrix_add)(&v, LAT_(set)(-1), &u);
            const LAT_T square = LAT_(link_overlap)(&v, &v);
            most = LAT_(where_gt)(most, square, most, square);
        }
        for (int l = 0; l < LAT_WIDTH; l++) {
            const int64_t site = lay->site[(size_t)b * LAT_WIDTH + (size_t)l];
            if (site >= 0)
                out[site] = most[l];
        }
    }
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* d = staple above minus staple below U_mu in the plane with nu, and N - Re tr of the plaquette. */
APART LAT_T LAT_(difference)(const lat_lane_links *u, const LAT_(sites) *at, int mu, int nu,
                             const LAT_(m) *link, LAT_(m) *d)
{
    LAT_(m) v;
    LAT_(staple_above)(u, at, mu, nu, d);
    LAT_(link_complete)(d);
    const LAT_T p = LAT_(set)(LAT_N) - LAT_(link_overlap)(link, d);
    LAT_(staple_below)(u, at, mu, nu, &v);
    LAT_(staple_add)(d, v, LAT_(set)(-1));
    return p;
}

/* 4 i F_{mu nu}, and N - Re tr of the plaquette. With D the difference of the staples over and
 * under U = U_mu(x), the leaves of the clover on the side of +mu are U W^+ and L U^+, and the
 * anti-Hermitian part of their sum equals the one of U D^+; staples on the side of -mu likewise
 * give D^+ U at x - mu. mu is not the last direction, so that x - mu is no ghost. */
LAT_HOST_DEVICE LAT_T LAT_(strength)(const lat_flow_work *w, const LAT_(sites) *at, int mu, int nu,
                                     LAT_T f[LAT_(algebra)])
{
    const lat_layout *lay = w->u.lay;
    LAT_(sites) back;
    LAT_(m) d, x, y;
    const LAT_(m) here = LAT_(load_here)(&w->u, at, mu);
    const LAT_T p = LAT_(difference)(&w->u, at, mu, nu, &here, &d);
    LAT_(times_dag)(&x, &here, &d);
    const int perm = LAT_(sites_next)(lay, at, lay->geom.nd + mu, &back);
    const LAT_(m) behind = LAT_(load_here)(&w->u, &back, mu);
    LAT_(difference)(&w->u, &back, mu, nu, &behind, &d);
    LAT_(dag_times)(&y, &d, &behind);
    LAT_(matrix_permute)(&y, lay, perm);
    LAT_(matrix_add)(&x, LAT_(set)(1), &y);
    for (int i = 0; i < LAT_(algebra); i++)
        f[i] = LAT_(set)(0);
    LAT_(algebra_add)(f, LAT_(set)(0), LAT_(set)(1), &x);
    return p;
}

static void LAT_(numbers)(const lat_flow_work *w, int begin, int end, double *out)
{
    const lat_layout *lay = w->u.lay;
    const int nd = lay->geom.nd;
    for (int b = begin; b < end; b++) {
        LAT_(sites) at;
        LAT_T f[PLANES][LAT_(algebra)], sum[LAT_FLOW_NUMBERS], first, last;
        int plane = 0;
        LAT_(sites_of)(lay, b, &at);
        LAT_(ends)(w, b, &first, &last);
        for (int i = 0; i < LAT_FLOW_NUMBERS; i++)
            sum[i] = LAT_(set)(0);
        for (int mu = 0; mu < nd; mu++) /* 01 02 03 12 13 23 */
            for (int nu = mu + 1; nu < nd; nu++, plane++) {
                const bool t = nu == nd - 1;
                sum[t ? LAT_FLOW_PLAQUETTE_T : LAT_FLOW_PLAQUETTE_S] += LAT_(strength)(
                    w, &at, mu, nu, f[plane]);
                sum[t ? LAT_FLOW_CLOVER_T : LAT_FLOW_CLOVER_S] += LAT_(algebra_overlap)(f[plane],
                                                                                        f[plane])
                                                                  * LAT_(set)(1. / 16);
            }
        if (nd == 4)
            sum[LAT_FLOW_CHARGE] = (LAT_(algebra_overlap)(f[0], f[5])
                                    - LAT_(algebra_overlap)(f[1], f[4])
                                    + LAT_(algebra_overlap)(f[2], f[3]))
                                   * LAT_(set)(1. / 16);
        const LAT_T one = LAT_(set)(1), inside = one - first - last;
        sum[LAT_FLOW_PLAQUETTE_T] *= one - last;
        sum[LAT_FLOW_PLAQUETTE_S] *= LAT_(set)(.5) * (one + inside);
        for (int i = LAT_FLOW_CLOVER_T; i < LAT_FLOW_NUMBERS; i++)
            sum[i] *= inside;
        for (int l = 0; l < LAT_WIDTH; l++) {
            const int64_t site = lay->site[(size_t)b * LAT_WIDTH + (size_t)l];
            for (int i = 0; i < LAT_FLOW_NUMBERS && site >= 0; i++)
                out[LAT_FLOW_NUMBERS * site + i] = sum[i][l];
        }
    }
}

#undef ELEMENTS
