/* SPDX-License-Identifier: BSD-3-Clause */
/* hop.c: the site's arithmetic is that of lib/site, with columns for sites. */
#include "multigrid/cpu/hop.h"

#include <stdbool.h>
#include "base/isa.h"

#define LAT_T lat_eight_floats
#define LAT_S float
#define LAT_SIZE 4
#define LAT_WIDTH 8 /* LAT_EIGHT */
#define LAT_HOST_DEVICE static inline __attribute__((always_inline, unused))

#define LAT_N 2
#define LAT_(x) x##_eight2
#include "site/real.h"
#include "site/spinor.h"
#include "site/wilson.h"
#undef LAT_N
#undef LAT_
#define LAT_N 3
#define LAT_(x) x##_eight3
#include "site/real.h"
#include "site/spinor.h"
#include "site/wilson.h"
#undef LAT_N
#undef LAT_

/* A chirality is (upper + lower)/sqrt 2, or the difference, of the inner basis (vector/space.h). */
#define ROOT 0.70710678118654752f

/* Both halves of a spinor that has one chirality, from eight columns of P. */
LAT_HOST_DEVICE void load_columns(int numbers, int chirality, const float *p, int n,
                                  lat_eight_floats *up, lat_eight_floats *low)
{
    const float sign = chirality ? -1 : 1;
    for (int k = 0; k < numbers; k++, p += 2 * n)
        for (int l = 0; l < LAT_EIGHT; l++) {
            up[2 * k][l] = ROOT * p[2 * l];
            up[2 * k + 1][l] = ROOT * p[2 * l + 1];
            low[2 * k][l] = sign * ROOT * p[2 * l];
            low[2 * k + 1][l] = sign * ROOT * p[2 * l + 1];
        }
}

LAT_HOST_DEVICE void store_chiralities(int numbers, const lat_eight_floats *up,
                                       const lat_eight_floats *low, lat_eight *to)
{
    for (int k = 0; k < numbers; k++) {
        to[k].re = ROOT * (up[2 * k] + low[2 * k]);
        to[k].im = ROOT * (up[2 * k + 1] + low[2 * k + 1]);
        to[numbers + k].re = ROOT * (up[2 * k] - low[2 * k]);
        to[numbers + k].im = ROOT * (up[2 * k + 1] - low[2 * k + 1]);
    }
}

/* Forward in t (1 - gamma_t) is twice its projection. */
#define HOP_OF(N) \
    LAT_HOST_DEVICE void hop_of##N(int d, const float *u, int chirality, const float *p, int n, \
                                   lat_eight *to) \
    { \
        lat_eight_floats up[4 * N], low[4 * N], link[2 * N * N]; \
        const lat_eight_floats one = set_eight##N(1), f = set_eight##N(d == 0 ? -1 : -.5f); \
        spinor_eight##N sum = {{{{{0}}}}}; \
        load_columns(2 * N, chirality, p, n, up, low); \
        for (int k = 0; k < 2 * N * N; k++) \
            link[k] = set_eight##N(u[k]); \
        const half_eight##N h = project_eight##N(up, low, d); \
        add_link_eight##N(&sum, link, link + 2 * N * (N - 1), false, &h, d, one, f); \
        store_chiralities(2 * N, &sum.v[0][0][0], &sum.v[2][0][0], to); \
    }
HOP_OF(2)
HOP_OF(3)

/* Directions of lib/site: t, x, y, z forward are 0, 2, 4, 6. */
LAT_HOST_DEVICE void hop(int nc, int mu, const float *u, int chirality, const float *p, int n,
                         lat_eight *to)
{
    switch (4 * nc + mu) {
    case 8: hop_of2(2, u, chirality, p, n, to); break;
    case 9: hop_of2(4, u, chirality, p, n, to); break;
    case 10: hop_of2(6, u, chirality, p, n, to); break;
    case 11: hop_of2(0, u, chirality, p, n, to); break;
    case 12: hop_of3(2, u, chirality, p, n, to); break;
    case 13: hop_of3(4, u, chirality, p, n, to); break;
    case 14: hop_of3(6, u, chirality, p, n, to); break;
    default: hop_of3(0, u, chirality, p, n, to); break;
    }
}

LAT_ISA_CLONES(hop_lanes, LAT_FMA,
               (int nc, int mu, const float *u, int chirality, const float *p, int n,
                lat_eight *to),
               hop(nc, mu, u, chirality, p, n, to))

void lat_mg_hop(int nc, int mu, const float *u, int chirality, const float *p, int n, lat_eight *to)
{
    static void (*const hops[])(int, int, const float *, int, const float *, int,
                                lat_eight *) = LAT_ISA_EACH(hop_lanes_, );
    hops[lat_isa_widest()](nc, mu, u, chirality, p, n, to);
}
