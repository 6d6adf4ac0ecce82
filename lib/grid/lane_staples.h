/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_staples.h: matrices of neighbouring sites, and staples, in vector lanes (template; after
 * site/link.h and permute.h; lane_links.h has the data). ELEMENTS is the number of reals that a
 * matrix keeps: the includer takes it away at its end. */
#define ELEMENTS (2 * LAT_LINK_ROWS * LAT_N)

LAT_HOST_DEVICE LAT_T *LAT_(link_at)(const lat_lane_links *u, int block, int object)
{
    return (LAT_T *)u->data + ((size_t)block * (size_t)u->objects + (size_t)object) * ELEMENTS;
}

/* As many sites as there are lanes: those of a block; or, where the layout has no boxes, any. */
typedef struct {
    int block;
    int64_t slot[LAT_WIDTH]; /* without boxes: the position of each */
} LAT_(sites);

LAT_HOST_DEVICE void LAT_(sites_of)(const lat_layout *lay, int block, LAT_(sites) *at)
{
    at->block = block;
    for (int l = 0; !lay->boxes && l < LAT_WIDTH; l++)
        at->slot[l] = (int64_t)block * LAT_WIDTH + l;
}

/* The sites one step on, k = 0 .. 2 nd - 1 like lay->step; the sites of a block in the lanes in
 * which they lie: the permutation that leads from there to the lanes of `at` is returned. */
LAT_HOST_DEVICE int LAT_(sites_next)(const lat_layout *lay, const LAT_(sites) *at, int k,
                                     LAT_(sites) *next)
{
    if (lay->boxes) {
        const lat_step step = lay->step[(size_t)at->block * (size_t)(2 * lay->geom.nd) + (size_t)k];
        next->block = step.block;
        return step.perm;
    }
    next->block = -1;
    for (int l = 0; l < LAT_WIDTH; l++)
        next->slot[l] = lat_position_next(lay, at->slot[l], k);
    return 0;
}

/* n reals, lanes permuted. */
LAT_HOST_DEVICE void LAT_(permute_all)(LAT_T *to, const LAT_T *v, int n, const lat_layout *lay,
                                       int perm)
{
#pragma GCC unroll 1
    for (int e = 0; e < n; e++)
        to[e] = LAT_(permute)(v[e], lay, perm);
}

APART void LAT_(link_gather)(const lat_lane_links *u, const LAT_(sites) *at, int object,
                             LAT_T gathered[ELEMENTS])
{
    for (int l = 0; l < LAT_WIDTH; l++) {
        const LAT_S *from = (const LAT_S *)LAT_(link_at)(u, (int)(at->slot[l] / LAT_WIDTH), object)
                            + at->slot[l] % LAT_WIDTH;
        LAT_S *to = (LAT_S *)gathered + l;
        for (int e = 0; e < ELEMENTS; e++)
            to[e * LAT_WIDTH] = from[e * LAT_WIDTH];
    }
}

/* The matrix of these sites: where it lies, or copied to `gathered`. */
LAT_HOST_DEVICE const LAT_T *LAT_(link_here)(const lat_lane_links *u, const LAT_(sites) *at,
                                             int object, LAT_T gathered[ELEMENTS])
{
    if (u->lay->boxes)
        return LAT_(link_at)(u, at->block, object);
    LAT_(link_gather)(u, at, object, gathered);
    return gathered;
}

/* The matrix of the sites one step on, in the lanes of `at`. */
LAT_HOST_DEVICE const LAT_T *LAT_(link_next)(const lat_lane_links *u, const LAT_(sites) *at, int k,
                                             int object, LAT_T gathered[ELEMENTS])
{
    LAT_(sites) next;
    const int perm = LAT_(sites_next)(u->lay, at, k, &next);
    const LAT_T *p = LAT_(link_here)(u, &next, object, gathered);
    if (perm == 0)
        return p;
    LAT_(permute_all)(gathered, p, ELEMENTS, u->lay, perm);
    return gathered;
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

/* The staple over U_mu of these sites on the side of nu, the rows that are kept:
 * U_nu(x) U_mu(x+nu) U_nu(x+mu)^+. */
APART void LAT_(staple_above)(const lat_lane_links *u, const LAT_(sites) *at, int mu, int nu,
                              LAT_(m) *v)
{
    LAT_T here[ELEMENTS], up[ELEMENTS], end[ELEMENTS];
    LAT_(times_up)(v, LAT_(link_here)(u, at, nu, here), LAT_(link_next)(u, at, nu, mu, up),
                   LAT_(link_next)(u, at, mu, nu, end));
}

/* The staple below, U_nu(x-nu)^+ U_mu(x-nu) U_nu(x-nu+mu). In box layouts it is multiplied in the
 * lanes of x - nu, and only then permuted. */
APART void LAT_(staple_below)(const lat_lane_links *u, const LAT_(sites) *at, int mu, int nu,
                              LAT_(m) *v)
{
    LAT_T here[ELEMENTS], down[ELEMENTS], end[ELEMENTS];
    LAT_(sites) back;
    const int perm = LAT_(sites_next)(u->lay, at, u->lay->geom.nd + nu, &back);
    LAT_(times_down)(v, LAT_(link_here)(u, &back, nu, here), LAT_(link_here)(u, &back, mu, down),
                     LAT_(link_next)(u, &back, mu, nu, end));
    if (perm)
        LAT_(permute_all)(&v->e[0][0].re, &v->e[0][0].re, ELEMENTS, u->lay, perm);
}
