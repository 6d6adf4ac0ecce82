/* SPDX-License-Identifier: BSD-3-Clause */
/* columns_site.h: the operator at a site on columns side by side (template), one text for CPU and
 * GPU: hop.h and ghost_columns.cuh are made of it, after hop_site.h. OPERATOR has axes, PLACE is a
 * site, whose neighbours UP and DOWN know. NAME(load) returns a link, or a copy of it at `held`;
 * NAME(ahead) may fetch what comes after a vector's colours and a link. */

/* Columns at `in` of M w, as a matrix: g. links[site][directions + 1][2 N N]: ghost_internal.h. */
LAT_INLINE void NAME(apply)(const OPERATOR *m, const LINK *links, const VECTOR *in, const PLACE *at,
                            int n, V g[SIZE][SIZE][2])
{
    const size_t reals = (size_t)m->packs * (size_t)(n * n - 1) * LAT_GHOST_PACK,
                 link = 2 * (size_t)n * (size_t)n, site = (size_t)(m->directions + 1) * link;
    const LINK *here = links + at->site * site;
    const V zero = {0};
    V w[SIZE][SIZE][2];
    LINK held[2 * SIZE * SIZE];
    UNROLL
    for (int i = 0; i < n; i++)
        UNROLL
    for (int k = i; k < n; k++)
        g[i][k][0] = g[i][k][1] = zero;
    NAME(matrix)(n, in + at->site * reals, w);
    NAME(add)(n, g, NAME(load)(here + (size_t)m->directions * link, held), false, false, w);
    UNROLL_AXES
    for (int i = 0; i < LAT_MAX_DIMS; i++) {
        if (i >= at->nd || i == m->time)
            continue;
        const int d = i - (m->time >= 0 && i > m->time);
        const size_t up = UP(at, i), down = DOWN(at, i);
        const LINK *u = here + (size_t)d * link, *back = links + down * site + (size_t)d * link;
        NAME(ahead)(m, in + up * reals, u);
        NAME(ahead)(m, in + down * reals, back);
        NAME(matrix)(n, in + up * reals, w);
        NAME(add)(n, g, NAME(load)(u, held), false, true, w);
        NAME(matrix)(n, in + down * reals, w);
        NAME(add)(n, g, NAME(load)(back, held), true, true, w);
    }
}
