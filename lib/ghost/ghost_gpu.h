/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_gpu.h: the Faddeev-Popov operator on a GPU (ghost_gpu.cu): passes
 * over vectors on the device, which lie as on the CPU (ghost.h); SU(2) to SU(LAT_GHOST_GPU_MOST).
 * On one rank. Functions return 0 or a pointer, or -1 or NULL with lat_error set. C and C++. */
#ifndef LAT_GHOST_GHOST_GPU_H
#define LAT_GHOST_GHOST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/geometry.h"
#include "grid/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LAT_GHOST_GPU_MOST = 4 };

/* What a pass over the lattice works with. Scalars are of a unit and column: [unit * columns +
 * column]; means also of a colour: [unit][pack][colour][8]. */
typedef struct lat_ghost_call {
    const double *in, *other;
    double *out, *also, *third;
    const double *a, *b, *mean; /* on the host */
    const bool *idle;           /* of units, which are left out; NULL: none is */
    double *array[6];
    const struct lat_newton_fields *newton; /* ghost_internal.h */
} lat_ghost_call;

/* hop:    out = M in; sums: <in, out> of columns; of out: [pack][colour][8]
 * shift:  out -= mean
 * update: x(out) += a p(in); r(also) -= a (q - mean), q(third) = r
 * dot:    <in, other> of columns
 * norms:  <in, other> of columns, then <in, in>
 * extend: out = in + b out
 * plain:  out = other - M in, or a in - M in, by the definition (plain.c); sums: <other, other>, or
 *         <in, in>, of columns; of out: [pack][colour][8]. On GPUs.
 * And of modes.c:
 * gram:    sums[i * columns + j] = <in_i, other_j>
 * combine: array[0], [1], [2] are X, W, Q, and the next three M of these. With the coefficients
 *          a[unit][3 columns][columns] of X, W and Q: Q <- W a_W + Q a_Q, X <- X a_X + Q; W and M W
 *          stay
 * defect:  out = other - a in; <out, out> */
typedef enum {
    LAT_GHOST_HOP,
    LAT_GHOST_SHIFT,
    LAT_GHOST_UPDATE,
    LAT_GHOST_DOT,
    LAT_GHOST_NORMS,
    LAT_GHOST_EXTEND,
    LAT_GHOST_GRAM,
    LAT_GHOST_COMBINE,
    LAT_GHOST_DEFECT,
    LAT_GHOST_PLAIN
} lat_ghost_pass_name;

/* The sites of a vector: axes of the lattice in its order, those with a weight; units and blocks as
 * in ghost_internal.h. */
typedef struct lat_ghost_sites {
    int nd, dims[LAT_MAX_DIMS], directions, direction[LAT_MAX_DIMS];
    double weight[LAT_MAX_DIMS];
    int nc, packs, units, time; /* time: the axis across which units are cut, or -1 */
    bool single;                /* one column in single precision: time is the last axis */
    size_t sites, block, blocks;
} lat_ghost_sites;

typedef struct lat_ghost_gpu lat_ghost_gpu;

/* Takes links[site][directions + 1][2 N N] of ghost_internal.h; NULL for one column in single
 * precision, whose links are made at lat_ghost_gpu_links: [unit][direction][16 bytes of N - 1
 * rows][site of a unit], without weights. */
lat_ghost_gpu *lat_ghost_gpu_new(lat_device *dev, const lat_ghost_sites *s, const double *links);
void lat_ghost_gpu_free(lat_ghost_gpu *g);
float *lat_ghost_gpu_links(lat_ghost_gpu *g);
struct lat_ghost;
lat_ghost_gpu *lat_ghost_gpu_of(struct lat_ghost *m);

/* A vector on the device; and copies of them, from and to the host, and on the device. */
double *lat_ghost_gpu_vector(lat_ghost_gpu *g, const char *what);
void lat_ghost_gpu_vector_free(double *v);
int lat_ghost_gpu_put(lat_ghost_gpu *g, double *to, const double *host);
int lat_ghost_gpu_get(lat_ghost_gpu *g, double *host, const double *from);
int lat_ghost_gpu_copy(lat_ghost_gpu *g, double *to, const double *from);
int lat_ghost_gpu_zero(lat_ghost_gpu *g, double *v);

/* A pass over all own sites; sums[block * numbers + i] of the own blocks on the host, where it has
 * numbers. */
int lat_ghost_gpu_over(lat_ghost_gpu *g, lat_ghost_pass_name pass, const lat_ghost_call *c,
                       int numbers, double *sums);

/* An element of the product T^a T^b that is not zero. */
typedef struct lat_ghost_element {
    int a, b, i, j;
    double re, im;
} lat_ghost_element;

/* What the plain pass needs: those, and links[site][directions][2 N N] without weights. Once. */
int lat_ghost_gpu_plain(lat_ghost_gpu *g, const lat_ghost_element *product, size_t products,
                        const double *links);

/* A source (ghost.h): of each column a colour, a kind, and for each direction momentum or
 * coordinate; values of cos and sin(2 pi j / extent) at wave[2 (first[d] + j)]. */
typedef enum {
    LAT_GHOST_NONE,
    LAT_GHOST_WAVE_COS,
    LAT_GHOST_WAVE_SIN,
    LAT_GHOST_AT
} lat_ghost_what;
typedef struct lat_ghost_sources {
    int colour[64], what[64], n[64][LAT_MAX_DIMS], first[LAT_MAX_DIMS];
    double constant; /* that is taken off a point */
} lat_ghost_sources;
int lat_ghost_gpu_source(lat_ghost_gpu *g, double *b, const lat_ghost_sources *c,
                         const double *wave, size_t waves);

/* v <- L^-1 v (fourier/laplace.h), of units that are not idle (NULL: all). */
int lat_ghost_gpu_invert(lat_ghost_gpu *g, double *v, const bool *idle);

#ifdef __cplusplus
}
#endif
#endif
