/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_lane_local.h: x = g K of the sites of a block (template; after permute.h and fix_lanes.h).
 * The includer takes ELEMENTS away at its end. */
#define ELEMENTS (2 * LAT_N * LAT_N) /* reals of g at a site */

/* The n reals of the neighbouring block: where they lie, or collected in `gathered`. */
LAT_HOST_DEVICE const LAT_T *LAT_(next_block)(const lat_layout *lay, const LAT_T *v, lat_step step,
                                              int n, LAT_T *gathered)
{
    if (step.perm == 0)
        return v + (size_t)step.block * (size_t)n;
    if (step.perm > 0) {
        const LAT_T *from = v + (size_t)step.block * (size_t)n;
        for (int e = 0; e < n; e++)
            gathered[e] = LAT_(permute)(from[e], lay, step.perm);
        return gathered;
    }
    const int64_t *slot = lay->collect + (int64_t)step.block * LAT_WIDTH;
    for (int l = 0; l < LAT_WIDTH; l++) {
        const LAT_S *from = (const LAT_S *)v + slot[l] / LAT_WIDTH * (n * LAT_WIDTH)
                            + slot[l] % LAT_WIDTH;
        LAT_S *to = (LAT_S *)gathered + l;
        for (int e = 0; e < n; e++)
            to[e * LAT_WIDTH] = from[e * LAT_WIDTH];
    }
    return gathered;
}

/* g of the neighbouring block. */
LAT_HOST_DEVICE const LAT_T *LAT_(neighbour)(const lat_layout *lay, const LAT_T *g, lat_step step,
                                             LAT_T gathered[ELEMENTS])
{
    return LAT_(next_block)(lay, g, step, ELEMENTS, gathered);
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
    LAT_T gathered[ELEMENTS];
    for (int i = 0; i < 2 * nd; i++, u += n) {
        LAT_(ask)(u + 2 * nd * n, n);
        LAT_(add_mul_dag)(&k, u, LAT_(neighbour)(lay, g, step[i], gathered), rows,
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
