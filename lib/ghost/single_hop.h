/* SPDX-License-Identifier: BSD-3-Clause */
/* single_hop.h: the operator on one column in single precision, eight sites in a vector (template;
 * single.h expands it for N = SIZE; NAME(x) gives names). */
#include "hop_site.h"

enum { NAME(ROW) = SIZE * SIZE / 2 * 2 };

/* The colours of eight sites from their rows. */
LAT_INLINE void NAME(fetch)(const float *v, const size_t *site, V *colour)
{
    for (int l = 0; l < 8; l++)
        if (NAME(ROW) == 8)
            colour[l] = *(const V *)(v + site[l] * 8);
        else
            colour[l] = __builtin_shufflevector(*(const v4f *)(v + site[l] * 4), (v4f){0}, 0, 1, 2,
                                                3, 4, 5, 6, 7);
    transpose8(colour);
}

LAT_INLINE void NAME(put)(float *v, const size_t *site, int count, V *colour)
{
    transpose8(colour);
    for (int l = 0; l < count; l++)
        if (NAME(ROW) == 8)
            *(V *)(v + site[l] * 8) = colour[l];
        else
            *(v4f *)(v + site[l] * 4) = __builtin_shufflevector(colour[l], colour[l], 0, 1, 2, 3);
}

#include "single_site.h"

LAT_INLINE void NAME(hop)(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                          double *sums)
{
    const size_t block = from / m->block, first = block * m->block;
    const V *links = (const V *)(m->lanes
                                 + (block * m->groups + (from - first) / 8) * m->group_reals);
    lat_iterator at;
    V dot = {0};
    lat_iterator_start(&at, &m->lattice, from);
    for (size_t site = from; site < to; site += 8, links += m->group_reals / 8) {
        const int count = to - site < 8 ? (int)(to - site) : 8;
        eight x;
        eight_sites(m, &at, count, &x);
        dot += NAME(group)(m, (const float *)c->in, (float *)c->out, links, &x, count)
               * lanes_below(count);
    }
    for (int l = 0; l < 8; l++)
        sums[0] += (double)dot[l];
}
