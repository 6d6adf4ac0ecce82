/* SPDX-License-Identifier: BSD-3-Clause */
/* single_site.h: the operator on one column in single precision (template), one text for CPU and
 * GPU: single_hop.h and ghost_single.cuh are made of it, after hop_site.h, for N = SIZE. V is a
 * vector of sites, or a number, PLACES their numbers and those of their neighbours, OPERATOR has
 * axes and weights; a link's reals are STORED, APART from each other. NAME(fetch) and NAME(put)
 * bring colours from and to a vector. */

/* A link of N - 1 rows, and the row that follows from them. */
LAT_INLINE void NAME(link)(V *u, const STORED *from)
{
    V *last = u + 2 * SIZE * (SIZE - 1);
    UNROLL
    for (int k = 0; k < 2 * SIZE * (SIZE - 1); k++)
        u[k] = from[APART * k];
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
LAT_INLINE void NAME(hermitian)(V *u, const STORED *h)
{
    const V zero = {0};
    UNROLL
    for (int i = 0, k = SIZE; i < SIZE; i++) {
        u[2 * (i * SIZE + i)] = h[APART * i];
        u[2 * (i * SIZE + i) + 1] = zero;
        UNROLL
        for (int j = i + 1; j < SIZE; j++, k += 2) {
            u[2 * (i * SIZE + j)] = u[2 * (j * SIZE + i)] = h[APART * k];
            u[2 * (i * SIZE + j) + 1] = h[APART * (k + 1)];
            u[2 * (j * SIZE + i) + 1] = -h[APART * (k + 1)];
        }
    }
}

/* out = M in at sites, of which `count` are there; returns the products of both. */
LAT_INLINE V NAME(group)(const OPERATOR *m, const float *in, float *out, const STORED *links,
                         const PLACES *x, int count)
{
    enum { REALS = 2 * SIZE * (SIZE - 1) * APART };
    const V zero = {0};
    V w[SIZE][SIZE][2], g[SIZE][SIZE][2], u[2 * SIZE * SIZE], own[8], v[8], dot = zero;
    UNROLL
    for (int i = 0; i < SIZE; i++)
        UNROLL
    for (int k = i; k < SIZE; k++)
        g[i][k][0] = g[i][k][1] = zero;
    NAME(fetch)(in, x->site, own);
    NAME(matrix)(SIZE, own, w);
    NAME(hermitian)(u, links + 2 * m->directions * REALS);
    NAME(add)(SIZE, g, u, false, false, w);
    for (int back = 0; back < 2; back++)
        UNROLL_AXES
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        if (mu >= m->directions)
            break;
        const float half = (float)(m->weight[m->direction[mu]] / 2);
        NAME(fetch)(in, back ? x->down[mu] : x->up[mu], v);
        for (int c = 0; c < SIZE * SIZE - 1; c++)
            v[c] *= half;
        NAME(matrix)(SIZE, v, w);
        NAME(link)(u, links + (mu + back * m->directions) * REALS);
        NAME(add)(SIZE, g, u, false, true, w);
    }
    for (int c = 0; c < 8; c++)
        v[c] = zero;
    NAME(project)(SIZE, g, v, own, &dot, NULL);
    NAME(put)(out, x->site, count, v);
    return dot;
}
