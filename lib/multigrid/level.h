/* SPDX-License-Identifier: BSD-3-Clause */
/* level.h: the coarse levels: each solves its operator to a tolerance by GCR, which the next level
 * preconditions (K-cycle); the last one has its inverse, or no preconditioner.
 *
 * Columns have their own scalars, and are left alone once they are done: a column's result does not
 * depend on those beside it. Functions that return int: 0, or -1 with lat_error set. C and C++. */
#pragma once

#include "multigrid/coarse.h"
#include "multigrid/transfer.h"

enum { LAT_DENSE_MOST = 2048 };

typedef struct lat_level {
    lat_coarse coarse;
    lat_transfer down; /* to `next` */
    struct lat_level *next;
    bool dense; /* the last one, small enough for its inverse */
    bool alone; /* in the setup: next is not used */
    double tolerance;
    int most; /* iterations */
    lat_eight *e[LAT_LEVEL_DEPTH], *s[LAT_LEVEL_DEPTH];
    lat_eight *b, *r, *q, *t;   /* work */
    lat_eight *x;               /* of the solve that runs: the caller's */
    lat_mg_scalars *scalars;    /* [batches] */
    lat_eight *next_r, *next_x; /* of next */
    lat_eight *from, *to;       /* of the setup: a source and a solution */
    int needed[2];              /* iterations: of the last solve, and of the one before */
    /* Since they were set to 0, of eight columns each: solves by GCR, iterations that these needed
     * and that they ran, applications that they needed. */
    long solves, iterations, ran, applied;
} lat_level;

/* A level of this lattice with n vectors, and of those that follow from it, until at most
 * LAT_DENSE_MOST unknowns are left, or blocks do not fit any more. NULL with lat_error set. */
lat_level *lat_level_open(const lat_device *dev, const lat_geometry *geom, const lat_box *fine,
                          int n, int batches);
void lat_level_close(lat_level *l); /* and those below; NULL is allowed */

/* So many batches of eight columns are active on all levels. */
void lat_level_batches(lat_level *l, int active);

/* x = M_c^-1 b, about. b is read at this rank's sites alone. */
int lat_level_solve(lat_level *l, lat_eight *x, const lat_eight *b);

/* Once the matrices of `l` are there: all that is made of them, test vectors of the levels below,
 * and their matrices. The first test vectors of l begin with v: [vectors / 8], of all sites. 1: a
 * matrix is singular. */
int lat_level_setup(lat_level *l, double shift, double twist, lat_eight *const *v, int vectors);
