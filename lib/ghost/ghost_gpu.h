/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_gpu.h: the Faddeev-Popov operator on a GPU (ghost_gpu.cu): passes over vectors on the
 * device, which lie as on the CPU (ghost.h), as do all of Newton's fields; SU(2) to
 * SU(LAT_GHOST_GPU_MOST). On one rank. Functions return 0 or a pointer, or -1 or NULL with
 * lat_error set. C and C++. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ghost.h"

enum { LAT_GHOST_GPU_MOST = 4 };

/* What Newton's passes work with, on their device. */
typedef struct lat_newton_fields {
    const struct lat_field *u; /* links: on the CPU; */
    const double *there;       /* on a GPU [site][direction][18], as in grid/staging.h */
    double *g[2];              /* before and after a step: [site of u][2 N N] */
    bool next;                 /* the gradient is that after the step */
    double *links;             /* CPU: [site of a vector][direction]: those that g transforms */
    double *gradient, *step;   /* vectors */
} lat_newton_fields;

/* |s|^2 of a site in a step exp(s): longer ones are cut to that. */
#define LAT_NEWTON_STEP 2.0

/* An element of the product T^a T^b that is not zero. */
typedef struct lat_ghost_element {
    int a, b, i, j;
    double re, im;
} lat_ghost_element;

/* What the plain pass needs, on its device: those, and links[site][directions][2 N N] without
 * weights. */
typedef struct lat_ghost_plain {
    lat_ghost_element *product;
    int products;
    double *links;
} lat_ghost_plain;

/* What a pass over the lattice works with. Scalars are of a unit and column: [unit * columns +
 * column]; means also of a colour: [unit][pack][colour][8]. */
typedef struct lat_ghost_call {
    const double *in, *other;
    double *out, *also, *third;
    const double *a, *b, *mean; /* on the host */
    const bool *idle;           /* of units, which are left out; NULL: none is */
    double *array[6];
    const lat_ghost_plain *plain;
    const lat_newton_fields *newton;
    const bool *now; /* of units: which of newton->g they have */
} lat_ghost_call;

/* hop:    out = M in; sums: <in, out> of columns; of out: [pack][colour][8]
 * shift:  out -= mean
 * update: x(out) += a p(in); r(also) -= a (q - mean), q(third) = r
 * dot:    <in, other> of columns
 * norms:  <in, other> of columns, then <in, in>
 * extend: out = in + b out
 * defect: out = other - a in; <out, out>
 * plain:  out = other - M in, or a in - M in, by the definition (plain.c); sums: <other, other>, or
 *         <in, in>, of columns; of out: [pack][colour][8]
 * Of modes.c:
 * gram:    sums[i * columns + j] = <in_i, other_j>
 * combine: array[0], [1], [2] are X, W, Q, and the next three M of these. With the coefficients
 *          a[unit][3 columns][columns] of X, W and Q: Q <- W a_W + Q a_Q, X <- X a_X + Q; W and M W
 *          stay
 * Of Newton's method, one column in single precision:
 * rotate:   newton->links, on the CPU
 * gradient: A, and the links of the operator; sums: Re tr x, |A|^2
 * step:     the other g = exp(a step) g
 * keep:     g[0] is the other one
 * project:  g[0] made orthonormal, on a GPU */
typedef enum {
    LAT_GHOST_HOP,
    LAT_GHOST_SHIFT,
    LAT_GHOST_UPDATE,
    LAT_GHOST_DOT,
    LAT_GHOST_NORMS,
    LAT_GHOST_EXTEND,
    LAT_GHOST_DEFECT,
    LAT_GHOST_PLAIN,
    LAT_GHOST_GRADIENT,
    LAT_GHOST_STEP,
    LAT_GHOST_KEEP,
    LAT_GHOST_PROJECT,
    LAT_GHOST_ROTATE,
    LAT_GHOST_GRAM,
    LAT_GHOST_COMBINE,
    LAT_GHOST_PASSES
} lat_ghost_pass_name;

/* The sites of a vector. The operator (ghost_internal.h) begins with the same members. */
#define LAT_GHOST_SITES \
    int nd, dims[LAT_MAX_DIMS];   /* in our order; beyond nd 1 */ \
    int axis[LAT_MAX_DIMS];       /* of u, for each of ours */ \
    size_t natural[LAT_MAX_DIMS]; /* sites of u from one to the next along each of ours */ \
    int time;                     /* our axis across which units are cut, or -1 */ \
    double weight[LAT_MAX_DIMS];  /* of our axes, 0 along time */ \
    int directions, direction[LAT_MAX_DIMS]; /* our axes with a weight, in rising order */ \
    int nc, packs, units; \
    bool single;                /* one column in single precision: ghost_internal.h */ \
    size_t sites;               /* own ones */ \
    size_t block, blocks;       /* of one unit in a slice across the last axis; of them there */ \
    size_t groups, group_reals; /* of 8 sites in a block; numbers of one in `lanes` */
typedef struct lat_ghost_sites {
    LAT_GHOST_SITES
} lat_ghost_sites;

typedef struct lat_ghost_gpu lat_ghost_gpu;

/* Takes links[site][directions + 1][2 N N] of ghost_internal.h; NULL for one column in single
 * precision, where Newton's gradients bring them. */
lat_ghost_gpu *lat_ghost_gpu_new(lat_device *dev, const lat_ghost_sites *s, const double *links);
void lat_ghost_gpu_free(lat_ghost_gpu *g);

/* Memory on the device; and copies between two of these, or from or to the host. */
void *lat_ghost_gpu_alloc(size_t bytes, const char *what);
void lat_ghost_gpu_release(void *v);
int lat_ghost_gpu_copy(lat_ghost_gpu *g, void *to, const void *from, size_t bytes);
int lat_ghost_gpu_zero(lat_ghost_gpu *g, void *v, size_t bytes);

/* A large copy to the host, by all threads; g of a copy of sweeps to a g of lat_newton_fields. */
int lat_ghost_gpu_fetch(lat_ghost_gpu *g, void *host, const void *from, size_t bytes);
struct lat_dfield;
int lat_ghost_gpu_take(const struct lat_dfield *sweeps, int copy, double *g);

/* The links of lat_newton_fields.there: NULL with lat_error set. */
struct lat_field;
double *lat_ghost_gpu_upload(lat_ghost_gpu *g, const struct lat_field *u);

/* A pass over all own sites; sums[block * numbers + i] of the own blocks on the host, where it has
 * numbers. */
int lat_ghost_gpu_over(lat_ghost_gpu *g, lat_ghost_pass_name pass, const lat_ghost_call *c,
                       int numbers, double *sums);

/* A source (ghost.h): of each column a colour, a lat_ghost_kind, and for each direction momentum or
 * coordinate; `waves` values of cos and sin(2 pi j / extent), at wave[2 (first[d] + j)]. */
typedef struct lat_ghost_sources {
    int colour[64], what[64], n[64][LAT_MAX_DIMS], first[LAT_MAX_DIMS], waves;
    double constant; /* that is taken off a point */
} lat_ghost_sources;
int lat_ghost_gpu_source(lat_ghost_gpu *g, double *b, const lat_ghost_sources *c,
                         const double *wave);

/* v <- L^-1 v (fourier/laplace.h), of units that are not idle (NULL: all). */
int lat_ghost_gpu_invert(lat_ghost_gpu *g, double *v, const bool *idle);
