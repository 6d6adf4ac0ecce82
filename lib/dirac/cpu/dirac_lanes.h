/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_lanes.h: Dirac operators over vectors of sites. dirac_lanes.c is compiled for
 * each vector length of the processor family and N; each compilation exports two tables, for single
 * and for double.
 *
 * A vector has one real of each site of a block (grid/layout.h). Spinors lie as vector_lanes.h has
 * them, and
 *     links     [block][2][row][colour][re, im], 2: forward and backward of t; apart from these,
 *               as blocks where they are 1 do not read them, [block][6] .. of x, y, z; backward
 *               ones are U_mu(x-mu)^+. 12 (4) reals: all rows but the last; 8 of SU(3): angles.
 *     clover    [block][2][diagonal: 2N, below it: N(2N-1) complex, row by row], for the spins
 *               (upper + lower) and (upper - lower), of which it makes the same; divided by 2
 * What depends on the storage is `void`. */
#pragma once

#include "vector/cpu/vector_lanes.h"

/* Vectors of a site's clover term. */
#define LAT_CLOVER_REALS(nc) (8 * (nc) * (nc))

/* Where a block's neighbours are: block, and what is done to its half spinors. */
typedef struct lat_hop_step {
    int32_t block; /* or the row of `collect`, if there is a perm -1 */
    int32_t twist; /* 0: nothing; else the number of a twist */
} lat_hop_step;

/* Lanes are permuted, or sites collected (-1); then multiplied by phases that differ by lane. */
typedef struct lat_hop_twist {
    int32_t perm, phase; /* phase -1: all 1 */
    bool real;           /* so are the phases */
} lat_hop_twist;

/* What a hop needs to know of its lattice. */
typedef struct lat_hop_table {
    lat_hop_step *step; /* [own blocks][8] */
    lat_hop_twist *twist;
    int32_t *perm;    /* [nperms][vector / 4 bytes]: as permuting instructions want it */
    int64_t *collect; /* [rows][lanes]: block * lanes + lane; of the layout */
    void *phase;      /* [nphases][re, im] vectors */
    int ntwists, nphases;
    bool collects; /* some sites are collected */
} lat_hop_table;

typedef enum { LAT_BLOCK_NONE, LAT_BLOCK_APPLY, LAT_BLOCK_INVERT } lat_block_kind;

/* A: scalar, i twist gamma5, clover term in any combination. */
typedef struct lat_diagonal {
    double scalar, twist; /* twist: its sign is that of M */
    const void *clover;   /* with the scalar in it; NULL: none */
    const void *inverse;  /* of clover; of clover^2 + twist^2 if there is a twist */
} lat_diagonal;

typedef struct lat_hop_work {
    const lat_hop_table *table;
    const void *links[2]; /* of t, of space */
    const uint8_t *unit;  /* [own blocks]: bits 0 and 1: all links forward, back in t are 1 */
    int reals;            /* a link */
    int columns;          /* of a field */
    double temporal;      /* what temporal hops have more than spatial ones: xi/nu */
    lat_diagonal diagonal;
} lat_hop_work;

/* D in is h; then h <- A^-1 h if `block` is INVERT; y <- a chi + b h, or A chi + b h if it is
 * APPLY; with `add`: y <- out + add y. out <- y. The flips exchange upper and lower spins as they
 * are read and written: D^+ = gamma5 D gamma5. */
typedef struct lat_hop_call {
    void *out;
    const void *in, *chi, *with;
    int columns; /* that are active */
    const int *column;
    bool flip_in, flip_chi, flip_out;
    bool dagger; /* the sign of the twist */
    lat_block_kind block;
    double a, b;
    const double *add; /* by column number */
    void *sums;        /* NULL: none; else so many numbers of each site, in the order of: */
    int numbers;       /* <with, out> if there is `with`, */
    bool shadow;       /* <e, out>, */
    bool shadow_in;    /* <e, chi>, and |out|^2 if `numbers` is odd */
    const void *signs; /* of e */
    bool ahead;        /* prefetch: the field leaves the second cache */
    bool far;          /* and what is forward in t is not in the third one, all else is */
    bool past_cache;   /* the field leaves the second cache, and out is not read soon */
} lat_hop_call;

typedef void lat_hop_blocks(const lat_hop_work *w, const lat_hop_call *c, int begin, int end);
typedef struct lat_dirac_lanes {
    lat_hop_blocks *hop;
    lat_hop_blocks *diagonal; /* out <- A in or A^-1 in, by call->block */
} lat_dirac_lanes;
