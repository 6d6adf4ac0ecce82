/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.h: from a level to the next coarser one and back.
 *
 * n test vectors v_j, near-null vectors of the level's operator, are made orthonormal in each block
 * B and chirality c: w_Bcj. With them
 *
 *     (P z)(x) = sum_cj w_Bcj(x) z_cj(B),  x in B,     P^+ P = 1,     gamma5 P = P Gamma5
 *
 * Components of a site are those of chirality + first, then those of -. v and p are
 * [site][component][n][re, im], sites in the order of the blocks. C and C++. */
#pragma once

#include "multigrid/blocks.h"
#include "multigrid/ops.h"

typedef struct lat_transfer {
    const lat_mg_ops *ops;
    const lat_device *dev;
    lat_blocks blocks;
    const lat_comm *comm;
    bool ranks;        /* the level's sites are distributed: blocks are those of this rank */
    int components, n; /* of a site; n is a multiple of 8 */
    const struct lat_coarse *to; /* the level below */
    int32_t *at; /* [sites of blocks]: number in the level's vectors; NULL: the finest one */
    /* The device has their memory. P of this rank is followed by P of the first faces of the next
     * ranks along cut axes (lat_blocks_next). */
    float *v, *p;
    void *there; /* what a GPU has besides */
} lat_transfer;

/* blocks are opened before, and ops, dev, comm, ranks, at, to are set. 0, or -1 with lat_error set;
 * lat_transfer_close in either case. */
int lat_transfer_open(lat_transfer *t, int components, int n);
void lat_transfer_close(lat_transfer *t);

/* Gives back what cycles do not read: test vectors, and on a GPU P in single. */
void lat_transfer_lighten(lat_transfer *t);

/* ---- small matrices in double, for `make` ----------------------------------------------------
 * An n x n complex matrix is re [n][LAT_PITCH(n)], then im. */

/* A pivot of Cholesky below this times its diagonal is that of a vector that the others span. */
#define LAT_DEPENDENT 1e-10

static inline size_t lat_small_doubles(int n) { return 2 * (size_t)n * LAT_PITCH((size_t)n); }

/* g <- t^+ g t, t upper triangular; of g the lower triangle is given and wanted. scratch: so many
 * doubles. */
#define LAT_SMALL_SCRATCH(n) (4 * (size_t)(n) * (size_t)(n))
void lat_small_transform(int n, const double *t, double *g, double *scratch);

/* g = L L^+, of which the lower triangle is given; t = L^-+, upper triangular. A dependent vector
 * has a column of 0 in t. l: as much memory to work with. */
void lat_small_orthonormal(int n, const double *g, double *l, double *t);
