/* SPDX-License-Identifier: BSD-3-Clause */
/* hop.h: the operator at the sites of a chunk (template): see hop_site.h; V has WIDTH doubles.
 * hop_groups.h expands it for some N, kernels.c that for each vector length. */
#include "hop_site.h"

/* The vector and the link of the site after this one, mostly: a line of x is read in its order. */
LAT_INLINE void NAME(ahead)(const lat_ghost *m, const double *v, const double *u)
{
    const double *next = v + lat_ghost_reals(m);
    for (int k = 0; k < m->colours * LAT_GHOST_PACK; k += 8)
        __builtin_prefetch(next + k);
    for (size_t k = 0; k < lat_ghost_link(m); k += 8)
        __builtin_prefetch(u + (size_t)(m->directions + 1) * lat_ghost_link(m) + k);
}

LAT_INLINE void NAME(site)(const lat_ghost *m, const lat_ghost_call *c, const lat_iterator *at,
                           double *sums, int n)
{
    const size_t reals = lat_ghost_reals(m), pack = (size_t)m->colours * LAT_GHOST_PACK,
                 link = 2 * (size_t)n * (size_t)n, links = (size_t)(m->directions + 1) * link;
    size_t up[LAT_MAX_DIMS], down[LAT_MAX_DIMS];
    for (int d = 0; d < m->directions; d++) {
        up[d] = lat_iterator_up(at, m->direction[d]);
        down[d] = lat_iterator_down(at, m->direction[d]);
    }
    for (int part = 0; part < m->packs * (LAT_GHOST_PACK / WIDTH); part++) {
        const int p = part / (LAT_GHOST_PACK / WIDTH),
                  lane = part % (LAT_GHOST_PACK / WIDTH) * WIDTH;
        const size_t offset = (size_t)p * pack + (size_t)lane;
        const double *u = m->links + at->site * links, *in = c->in + offset;
        V w[SIZE][SIZE][2], g[SIZE][SIZE][2];
        UNROLL
        for (int i = 0; i < n; i++)
            UNROLL
        for (int k = i; k < n; k++)
            g[i][k][0] = g[i][k][1] = (V){0};
        NAME(matrix)(n, in + at->site * reals, w);
        NAME(add)(n, g, u + (size_t)m->directions * link, false, false, w);
        for (int d = 0; d < m->directions; d++) {
            NAME(ahead)(m, in + up[d] * reals, u + (size_t)d * link);
            NAME(ahead)(m, in + down[d] * reals, m->links + down[d] * links + (size_t)d * link);
            NAME(matrix)(n, in + up[d] * reals, w);
            NAME(add)(n, g, u + (size_t)d * link, false, true, w);
            NAME(matrix)(n, in + down[d] * reals, w);
            NAME(add)(n, g, m->links + down[d] * links + (size_t)d * link, true, true, w);
        }
        NAME(project)
        (n, g, c->out + at->site * reals + offset, in + at->site * reals,
         (V *)(sums + p * LAT_GHOST_PACK + lane), sums + m->columns + offset);
    }
}

LAT_INLINE void NAME(hop_sites)(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                                double *sums, int n)
{
    lat_iterator at;
    for (lat_iterator_start(&at, &m->lattice, from); at.site < to; lat_iterator_next(&at))
        NAME(site)(m, c, &at, sums, n);
}
