/* SPDX-License-Identifier: BSD-3-Clause */
/* single_hop.h: the operator on one column in single precision, eight sites in a vector (template;
 * single.h expands it for N = SIZE; NAME(x) gives names). */
#include "hop_site.h"

enum { NAME(COLOURS) = SIZE * SIZE - 1, NAME(ROW) = (SIZE * SIZE) / 2 * 2 };

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

/* A link of N - 1 rows, and the row that follows from them. */
LAT_INLINE void NAME(link)(V *u, const V *from)
{
    V *last = u + 2 * SIZE * (SIZE - 1);
    UNROLL
    for (int k = 0; k < 2 * SIZE * (SIZE - 1); k++)
        u[k] = from[k];
    UNROLL
    for (int j = 0; j < SIZE; j++) {
        const V *a = u + 2 * ((j + 1) % SIZE),
                *b = u + 2 * (SIZE - 2) * SIZE + 2 * ((j + 2) % SIZE),
                *c = u + 2 * ((j + 2) % SIZE),
                *d = u + 2 * (SIZE - 2) * SIZE + 2 * ((j + 1) % SIZE);
        if (SIZE == 2) { /* - conj(u01), conj(u00) */
            last[2 * j] = j ? a[0] : -a[0];
            last[2 * j + 1] = j ? -a[1] : a[1];
        } else {
            last[2 * j] = a[0] * b[0] - a[1] * b[1] - (c[0] * d[0] - c[1] * d[1]);
            last[2 * j + 1] = c[0] * d[1] + c[1] * d[0] - (a[0] * b[1] + a[1] * b[0]);
        }
    }
}

/* A Hermitian matrix from N N reals. */
LAT_INLINE void NAME(hermitian)(V *u, const V *h)
{
    for (int i = 0, k = SIZE; i < SIZE; i++) {
        u[2 * (i * SIZE + i)] = h[i];
        u[2 * (i * SIZE + i) + 1] = (V){0};
        for (int j = i + 1; j < SIZE; j++, k += 2) {
            u[2 * (i * SIZE + j)] = u[2 * (j * SIZE + i)] = h[k];
            u[2 * (i * SIZE + j) + 1] = h[k + 1];
            u[2 * (j * SIZE + i) + 1] = -h[k + 1];
        }
    }
}

/* out = M in at eight sites, of which `count` are there; returns the products of both. */
LAT_INLINE V NAME(group)(const lat_ghost *m, const float *in, float *out, const V *links,
                         const eight *x, int count)
{
    enum { REALS = 2 * SIZE * (SIZE - 1) };
    V w[SIZE][SIZE][2], g[SIZE][SIZE][2], u[2 * SIZE * SIZE], own[8], v[8], dot = {0};
    UNROLL
    for (int i = 0; i < SIZE; i++)
        UNROLL
    for (int k = i; k < SIZE; k++)
        g[i][k][0] = g[i][k][1] = (V){0};
    NAME(fetch)(in, x->site, own);
    NAME(matrix)(SIZE, own, w);
    NAME(hermitian)(u, links + 2 * m->directions * REALS);
    NAME(add)(SIZE, g, u, false, false, w);
    for (int d = 0; d < 2 * m->directions; d++) {
        const int mu = d % m->directions;
        const float half = (float)(m->weight[m->direction[mu]] / 2);
        NAME(fetch)(in, d < m->directions ? x->up[mu] : x->down[mu], v);
        for (int c = 0; c < NAME(COLOURS); c++)
            v[c] *= half;
        NAME(matrix)(SIZE, v, w);
        NAME(link)(u, links + d * REALS);
        NAME(add)(SIZE, g, u, false, true, w);
    }
    for (int c = 0; c < 8; c++)
        v[c] = (V){0};
    NAME(project)(SIZE, g, v, own, &dot, NULL);
    NAME(put)(out, x->site, count, v);
    return dot;
}

LAT_INLINE void NAME(hop)(const lat_ghost *m, const lat_ghost_call *c, size_t from, size_t to,
                          double *sums)
{
    const size_t block = from / m->block, first = block * m->block;
    const V *links =
        (const V *)(m->lanes + (block * m->groups + (from - first) / 8) * lat_ghost_group_reals(m));
    lat_iterator at;
    V dot = {0};
    lat_iterator_start(&at, &m->lattice, from);
    for (size_t site = from; site < to; site += 8, links += lat_ghost_group_reals(m) / 8) {
        const int count = to - site < 8 ? (int)(to - site) : 8;
        eight x;
        eight_sites(m, &at, count, &x);
        dot += NAME(group)(m, (const float *)c->in, (float *)c->out, links, &x, count)
               * lanes_below(count);
    }
    for (int l = 0; l < 8; l++)
        sums[0] += (double)dot[l];
}
