/* SPDX-License-Identifier: BSD-3-Clause */
/* galerkin.h: M_c = P^+ M P, block by block: with F the forward hops that stay in a block,
 *
 *     X = P^+ A P + F + Gamma5 F^+ Gamma5,     Y_mu = P^+ (forward hops out of the block) P
 *
 * for A that is diagonal in sites. The rest follows from gamma5 M gamma5 = M^+ (without twist,
 * which is in A). */
#pragma once

#include "multigrid/level.h"

/* What a block gathers: of eight columns at a time, X and F of all columns. */
typedef struct lat_galerkin {
    const lat_transfer *t;
    lat_coarse *to;
    lat_eight *in, *out, *site, *column; /* [2 n], [2 n], [components], [components] */
    float *inside;                       /* F, in tiles */
} lat_galerkin;

int lat_galerkin_open(lat_galerkin *g, const lat_transfer *t, lat_coarse *to);
void lat_galerkin_close(lat_galerkin *g);

/* A block begins: F is 0. */
void lat_galerkin_begin(lat_galerkin *g);

/* Columns first .. first+7 of one of its matrices get what is in `from`. */
void lat_galerkin_put(lat_galerkin *g, int block, int which, int first, const lat_eight *from);

/* What is in g->in is added to these columns of F. */
void lat_galerkin_inside(lat_galerkin *g, int first);

/* The block ends: X gets F and its adjoint. */
void lat_galerkin_end(lat_galerkin *g, int block);
