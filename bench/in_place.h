/* SPDX-License-Identifier: BSD-3-Clause */
/* in_place.h: the gauge-fixing paper's sweep, which rotates the links themselves (template of
 * accuracy.c).
 *
 * All arithmetic as in its figures A.9 to A.11: a lane is a site, IN_PLACE_STORE what links are
 * stored and rotated in, IN_PLACE_HIT what the hits are computed in. IN_PLACE(x) is a name for x.
 */

typedef IN_PLACE_STORE IN_PLACE(store) __attribute__((vector_size(LANES * sizeof(IN_PLACE_STORE))));
typedef IN_PLACE_HIT IN_PLACE(hit) __attribute__((vector_size(LANES * sizeof(IN_PLACE_HIT))));
typedef struct {
    IN_PLACE(store) e[18];
} IN_PLACE(link);

/* Real r (0 or 1: re, im) of element (a,b). */
#define AT(a, b, r) (6 * (a) + 2 * (b) + (r))
#define WIDE(v) __builtin_convertvector(v, IN_PLACE(hit))

/* Adds the quaternion of the rows and columns p, q of u; `sign` -1 takes that of u^+. */
static inline void IN_PLACE(gather)(IN_PLACE(hit) a[4], const IN_PLACE(link) * u, int p, int q,
                                    IN_PLACE_HIT sign)
{
    a[0] += WIDE(u->e[AT(p, p, 0)]) + WIDE(u->e[AT(q, q, 0)]);
    a[1] += sign * (WIDE(u->e[AT(p, q, 1)]) + WIDE(u->e[AT(q, p, 1)]));
    a[2] += sign * (WIDE(u->e[AT(p, q, 0)]) - WIDE(u->e[AT(q, p, 0)]));
    a[3] += sign * (WIDE(u->e[AT(p, p, 1)]) - WIDE(u->e[AT(q, q, 1)]));
}

/* Figure A.11: the maximum, overrelaxed to first order and normalised. */
static inline void IN_PLACE(update)(IN_PLACE(hit) a[4], IN_PLACE_HIT omega)
{
    const IN_PLACE(hit) vector = a[1] * a[1] + a[2] * a[2] + a[3] * a[3], scalar = a[0] * a[0];
    const IN_PLACE(hit) b = (omega * scalar + vector) / (scalar + vector),
                        n = scalar + b * b * vector;
    IN_PLACE(hit) c = n;
    for (int l = 0; l < LANES; l++)
        c[l] = 1 / (sizeof c[l] == sizeof(float) ? sqrtf(n[l]) : sqrt(n[l]));
    a[0] *= c;
    for (int i = 1; i < 4; i++)
        a[i] *= b * c;
}

/* u <- h u: rows p and q. */
static inline void IN_PLACE(left)(IN_PLACE(link) * u, int p, int q, const IN_PLACE(store) h[4])
{
    for (int b = 0; b < 3; b++) {
        IN_PLACE(store) *s = u->e + AT(p, b, 0), *t = u->e + AT(q, b, 0);
        const IN_PLACE(store) s0 = s[0], s1 = s[1], t0 = t[0], t1 = t[1];
        s[0] = h[0] * s0 - h[3] * s1 + h[2] * t0 - h[1] * t1;
        s[1] = h[0] * s1 + h[3] * s0 + h[2] * t1 + h[1] * t0;
        t[0] = h[0] * t0 + h[3] * t1 - h[2] * s0 - h[1] * s1;
        t[1] = h[0] * t1 - h[3] * t0 - h[2] * s1 + h[1] * s0;
    }
}

/* u <- u h^+: columns p and q. */
static inline void IN_PLACE(right)(IN_PLACE(link) * u, int p, int q, const IN_PLACE(store) h[4])
{
    for (int a = 0; a < 3; a++) {
        IN_PLACE(store) *s = u->e + AT(a, p, 0), *t = u->e + AT(a, q, 0);
        const IN_PLACE(store) s0 = s[0], s1 = s[1], t0 = t[0], t1 = t[1];
        s[0] = h[0] * s0 + h[3] * s1 + h[2] * t0 + h[1] * t1;
        s[1] = h[0] * s1 - h[3] * s0 + h[2] * t1 - h[1] * t0;
        t[0] = h[0] * t0 - h[3] * t1 - h[2] * s0 + h[1] * s1;
        t[1] = h[0] * t1 + h[3] * t0 - h[2] * s1 - h[1] * s0;
    }
}

/* Link k of the sites at slot[]: forward along k, or backward along k - 4, where it is the forward
 * one of the neighbour. */
static inline IN_PLACE_STORE *IN_PLACE(place)(IN_PLACE_STORE *u, const board *c, int k,
                                              const int slot[LANES], int from[LANES])
{
    for (int l = 0; l < LANES; l++)
        from[l] = k < 4 ? slot[l] : c->down[k % 4][slot[l]];
    return u + (size_t)(k % 4) * 18 * c->sites;
}

/* The sites at slot[], all of one parity, so that no two share a link. Lanes may repeat a site. */
static void IN_PLACE(update_site)(IN_PLACE_STORE *u, const board *c, const int slot[LANES],
                                  IN_PLACE_HIT omega)
{
    IN_PLACE(link) link[8];
    int from[LANES];
    for (int k = 0; k < 8; k++) {
        const IN_PLACE_STORE *p = IN_PLACE(place)(u, c, k, slot, from);
        for (int e = 0; e < 18; e++, p += c->sites)
            for (int l = 0; l < LANES; l++)
                link[k].e[e][l] = p[from[l]];
    }
    for (int pair = 0; pair < 3; pair++) {
        const int p = pair == 2, q = pair == 0 ? 1 : 2;
        IN_PLACE(hit) a[4] = {{0}};
        IN_PLACE(store) h[4];
        for (int k = 0; k < 8; k++)
            IN_PLACE(gather)(a, link + k, p, q, k < 4 ? -1 : 1);
        IN_PLACE(update)(a, omega);
        for (int i = 0; i < 4; i++)
            h[i] = __builtin_convertvector(a[i], IN_PLACE(store));
        for (int k = 0; k < 4; k++)
            IN_PLACE(left)(link + k, p, q, h);
        for (int k = 4; k < 8; k++)
            IN_PLACE(right)(link + k, p, q, h);
    }
    for (int k = 0; k < 8; k++) {
        IN_PLACE_STORE *p = IN_PLACE(place)(u, c, k, slot, from);
        for (int e = 0; e < 18; e++, p += c->sites)
            for (int l = 0; l < LANES; l++)
                p[from[l]] = link[k].e[e][l];
    }
}

static void IN_PLACE(sweeps)(void *links, const board *c, double omega, long n)
{
    const int half = (int)(c->sites / 2);
#pragma omp parallel
    for (long i = 0; i < 2 * n; i++) {
#pragma omp for schedule(static)
        for (int first = 0; first < half; first += LANES) {
            int slot[LANES];
            for (int l = 0; l < LANES; l++)
                slot[l] = (i % 2 ? half : 0) + (first + l < half ? first + l : half - 1);
            IN_PLACE(update_site)(links, c, slot, (IN_PLACE_HIT)omega);
        }
    }
}

#undef AT
#undef WIDE
#undef IN_PLACE_STORE
#undef IN_PLACE_HIT
#undef IN_PLACE
