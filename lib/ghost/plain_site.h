/* SPDX-License-Identifier: BSD-3-Clause */
/* plain_site.h: a residual from the definition of M (ghost.h) at a site (template), one text for
 * CPU and GPU: plain.c and ghost_columns.cuh are made of it. It shares with the operator but the
 * order of a vector. V is a vector of columns, or a number; N = SIZE, or the largest one; OPERATOR,
 * PLACE, UP, DOWN and COLOUR: columns_site.h. */

/* out = other - M in, or lambda in - M in; dot: <other, other>, or <in, in>; sum: of out. `offset`:
 * of columns. t = w Re tr T^a T^b U is part of A^ab and A^ba; 2 t is B^ba of the link to x + mu,
 * C^ab of the link from x - mu. */
LAT_INLINE void NAME(plain_site)(const OPERATOR *m, const lat_ghost_plain *p, const CALL *c,
                                 const PLACE *at, size_t offset, const V *lambda, V *dot,
                                 double *sum)
{
    const int n = SIZE < LAT_MAX_COLOURS ? SIZE : m->nc, colours = n * n - 1;
    const double *in = c->in + offset;
    const size_t reals = (size_t)(m->packs * colours * LAT_GHOST_PACK), link = 2 * (size_t)(n * n),
                 per = (size_t)m->directions * link, here = at->site * reals + offset;
    V x[SIZE * SIZE - 1], y[SIZE * SIZE - 1], there[SIZE * SIZE - 1];
    for (int a = 0; a < colours; a++) {
        x[a] = COLOUR(in + at->site * reals, a);
        y[a] = lambda ? *lambda * x[a] : COLOUR(c->other + here, a);
        *dot += lambda ? x[a] * x[a] : y[a] * y[a];
    }
    for (int d = 0; d < m->directions; d++)
        for (int back = 0; back < 2; back++) {
            const int i = m->direction[d];
            const size_t next = back ? DOWN(at, i) : UP(at, i);
            const double *u = p->links + (back ? next : at->site) * per + (size_t)d * link;
            for (int a = 0; a < colours; a++)
                there[a] = COLOUR(in + next * reals, a) * 2.0 - x[a];
            for (int k = 0; k < p->products;) {
                const int a = p->product[k].a, b = p->product[k].b;
                double t = 0;
                for (; k < p->products && p->product[k].a == a && p->product[k].b == b; k++) {
                    const lat_ghost_element e = p->product[k];
                    const double *z = u + 2 * (e.j * n + e.i);
                    t += m->weight[i] * (e.re * z[0] - e.im * z[1]);
                }
                y[a] += (back ? there[b] : -x[b]) * t;
                y[b] += (back ? -x[a] : there[a]) * t;
            }
        }
    for (int a = 0; a < colours; a++) {
        COLOUR(c->out + here, a) = y[a];
        COLOUR(sum, a) += y[a];
    }
}
