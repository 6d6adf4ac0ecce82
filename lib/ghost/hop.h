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

LAT_INLINE const double *NAME(load)(const double *u, double *held)
{
    (void)held;
    return u;
}

#include "columns_site.h"

LAT_INLINE void NAME(site)(const lat_ghost *m, const lat_ghost_call *c, const lat_iterator *at,
                           double *sums, int n)
{
    const size_t pack = (size_t)m->colours * LAT_GHOST_PACK, here = at->site * lat_ghost_reals(m);
    for (int part = 0; part < m->packs * (LAT_GHOST_PACK / WIDTH); part++) {
        const int p = part / (LAT_GHOST_PACK / WIDTH),
                  lane = part % (LAT_GHOST_PACK / WIDTH) * WIDTH;
        const size_t offset = (size_t)p * pack + (size_t)lane;
        V g[SIZE][SIZE][2];
        NAME(apply)(m, m->links, c->in + offset, at, n, g);
        NAME(project)
        (n, g, c->out + here + offset, c->in + here + offset,
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
