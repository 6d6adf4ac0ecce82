/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_lanes.h: Newton's method over vectors of sites. newton_lanes.c is compiled once for each
 * vector length of the processor family, for SU(2) and SU(3).
 * newton_internal.h has the basis of elements of the algebra, and their rows. */
#ifndef LAT_NEWTON_NEWTON_LANES_H
#define LAT_NEWTON_NEWTON_LANES_H

#include "fix/fix_lanes.h"
#include "newton_internal.h"

/* In double: at each site x = g K (site/landau.h); its part in the algebra, A, into rows, its
 * Hermitian part H into hermitian[site][N N]: the diagonal, then re and im of H_ab, a < b. sums[0]
 * += Re tr x, sums[1] += |A|^2. */
typedef void lat_newton_gradient(const lat_lane_work *w, int begin, int end, float *rows,
                                 float *hermitian, double sums[2]);

/* In double: to = exp(scale s) from, s in rows. Sites where |scale s|^2 is above LAT_NEWTON_STEP
 * make a shorter step. */
typedef void lat_newton_step(const lat_layout *lay, void *to, const void *from, int begin, int end,
                             const float *rows, double scale);

/* In single: fields of one lattice in lanes. */
typedef struct lat_newton_fields {
    const lat_layout *lay;
    float *w;             /* links in both directions, 2 nd of N - 1 rows: without weights */
    float *e;             /* matrices */
    float *h;             /* Hermitian matrices, N N reals */
    float *s, *r, *p, *q; /* elements of the algebra */
    float *rows;          /* what goes to the Laplacian, and comes from it */
    float weight[LAT_MAX_DIMS];
} lat_newton_fields;

/* w_i(x) <- e(x) w_i(x) e(x+i)^+. */
typedef void lat_newton_pass(const lat_newton_fields *f, int begin, int end);

/* rows <- - scale rows; r = rows, s = p = 0; h from its natural order. */
typedef void lat_newton_begin(const lat_newton_fields *f, int begin, int end, double scale,
                              const float *hermitian);

/* p = rows + b p. */
typedef void lat_newton_direction(const lat_newton_fields *f, int begin, int end, double b);

/* q = M p; returns p.q. */
typedef double lat_newton_hop(const lat_newton_fields *f, int begin, int end);

/* s += a p, r -= a q, rows = r; returns r.r. */
typedef double lat_newton_update(const lat_newton_fields *f, int begin, int end, double a);

/* rows = s; e = exp(scale s), sites as in lat_newton_step. */
typedef void lat_newton_take(const lat_newton_fields *f, int begin, int end, double scale);

typedef struct lat_newton_lanes {
    int lanes[2]; /* sites a vector, in single and in double */
    lat_newton_gradient *gradient;
    lat_newton_step *step;
    lat_newton_pass *rotate;
    lat_newton_begin *begin;
    lat_newton_direction *direction;
    lat_newton_hop *hop;
    lat_newton_update *update;
    lat_newton_take *take;
} lat_newton_lanes;

#endif
