/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse.h: the operator of a coarse level, M_c = P^+ M P:
 *
 *     (M_c z)(B) = X(B) z(B) + sum_mu [Y_mu(B) z(B+mu) + Y_-mu(B) z(B-mu)]
 *
 * with matrices of 2n rows, and Y_-mu(B) = Gamma5 Y_mu(B-mu)^+ Gamma5, so that only forward hops
 * are kept. It is solved with even and odd sites: with H = X^-1 Y,
 *
 *     (1 - H_oe H_eo) z_o = X^-1 b_o - H_oe X^-1 b_e,     z_e = X^-1 b_e - H_eo z_o
 *
 * Where a lattice has no even and odd sites all count as odd: (1 + H) z = X^-1 b.
 *
 * Vectors are [site][2 n] of eight columns, the same on all ranks; of a distributed level a rank
 * computes its sites, and gathers those of others. All ranks call all functions that return int: 0,
 * or -1 with lat_error set. */
#pragma once

#include "multigrid/blocks.h"
#include "multigrid/kernels.h"

enum { LAT_COARSE_HOPS = 4, LAT_COARSE_MATRICES = 5, LAT_COARSE_PIECES = 64 };

typedef struct lat_coarse {
    lat_mg_sites sites;
    const lat_comm *comm;
    bool ranks;
    int n, rows;    /* 2 n */
    double shift;   /* the mass and ... */
    double twist;   /* ... the twist in X beyond those that Galerkin's product had */
    float *matrix;  /* [site][Y_x, Y_y, Y_z, Y_t, X], in tiles (kernels.h) */
    float *hop;     /* [own site][8] H */
    float *inverse; /* [own site] X^-1 */
    float *dense;   /* of the last level: the inverse of the complement; or NULL */
    lat_eight *even, *sent;
    lat_eight_sums *partial; /* [LAT_COARSE_PIECES] */
} lat_coarse;

/* sites are open. lat_coarse_close in either case. */
int lat_coarse_open(lat_coarse *c, int n);
void lat_coarse_close(lat_coarse *c);

/* A vector of zeros; NULL, with lat_error set, without memory. */
lat_eight *lat_coarse_vector(const lat_coarse *c);

/* Numbers from -1 to 1, by site, component and number of the vector, from `first` on. */
void lat_coarse_random(const lat_coarse *c, uint64_t first, lat_eight *x);

/* Matrix 0 to 4 of a site. */
float *lat_coarse_matrix(const lat_coarse *c, int site, int which);

/* Element of a matrix in tiles: its real part; the imaginary one follows. */
static inline int64_t lat_tile_at(int columns, int row, int column)
{
    return 2 * (((int64_t)(row / 4) * columns + column) * 4 + row % 4);
}

/* Columns first .. first+7 of such a matrix of c->rows rows get what is in `from`. */
void lat_tile_columns(int rows, int first, const lat_eight *from, float *matrix);

/* Once the matrices of this rank's sites are made: those of other ranks, H and X^-1 with this
 * shift of the mass and the twist; and with `dense` the inverse of the complement. 1: a matrix is
 * singular. */
int lat_coarse_finish(lat_coarse *c, double shift, double twist, bool dense);

/* A vector of which each rank has its sites: those of others, too. */
int lat_coarse_gather(const lat_coarse *c, lat_eight *v);

/* out = M_c in. */
int lat_coarse_apply(const lat_coarse *c, lat_eight *out, const lat_eight *in);

/* |x| of each column, on all sites; y = Gamma5 x / norm. */
void lat_coarse_norms(const lat_coarse *c, const lat_eight *x, double norm[LAT_EIGHT]);
void lat_coarse_gamma5(const lat_coarse *c, const double norm[LAT_EIGHT], const lat_eight *x,
                       lat_eight *y);

/* On odd sites: out = the complement times in; r = its right-hand side, b_e is kept; and from the
 * solution on odd sites to that on even ones. */
int lat_coarse_complement(const lat_coarse *c, lat_eight *out, const lat_eight *in);
int lat_coarse_prepare(const lat_coarse *c, lat_eight *r, lat_eight *b_e, const lat_eight *b);
int lat_coarse_reconstruct(const lat_coarse *c, lat_eight *x, const lat_eight *b_e);

/* x = dense^-1 r on odd sites. */
void lat_coarse_dense(const lat_coarse *c, lat_eight *x, const lat_eight *r);

/* out = X in on odd sites. */
int lat_coarse_diagonal(const lat_coarse *c, lat_eight *out, const lat_eight *in);

/* y += a x and <x, y> on odd sites. */
void lat_coarse_add(const lat_coarse *c, const lat_eight *a, const lat_eight *x, lat_eight *y);
void lat_coarse_dot(const lat_coarse *c, const lat_eight *x, const lat_eight *y,
                    lat_eight_sums *sum);
