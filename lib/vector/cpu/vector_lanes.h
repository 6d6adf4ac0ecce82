/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_lanes.h: linear algebra of batches over vectors of sites. vector_lanes.c is compiled for
 * each vector length of the processor family and N; each compilation exports two tables, for single
 * and for double.
 *
 * A vector has one real of each site of a block (grid/layout.h). A batch lies so:
 *     spinors   [block][column][spin][colour][re, im]
 * What depends on the storage is `void`. */
#pragma once

#include "grid/layout.h"
#include "vector/space.h"

#define LAT_VECTOR_MOST 3 /* SU(2) to SU(3) */

/* Signs of e (shadow.h): [block][lane], integers as long as a real; that of spin s is bit s from
 * above.
 *
 * Numbers for sums, in the storage's precision: number k of site `lane` of a block and of the i-th
 * active column is at [((block * columns + i) * numbers + k) * lanes + lane]. */

typedef struct lat_pass {
    int columns, all; /* active; of the fields */
    const int *column;
    int terms;
    const void *x[LAT_VECTOR_TERMS];
    bool one; /* all x of dots have one column, as those of products and combine always have */
    const lat_scalar *a[LAT_VECTOR_TERMS];
    void *y, *z, *dir;
    const lat_scalar *b;
    const void *signs;
    void *sums;
    int numbers;
} lat_pass;

typedef void lat_pass_blocks(const lat_pass *p, int begin, int end);

/* <x[j], y> of all x and active columns, added up over blocks that are listed, in this order, lane
 * by lane, in double: to[column][term][re, im][lanes], aligned as vectors are. Bits are those of
 * dots and sum. */
typedef void lat_product_blocks(const lat_pass *p, const int32_t *block, int64_t n, double *to);

/* Adds numbers 0 to count-1 <= 2, of the blocks that are listed, in this order, lane by lane, in
 * double: to[count][lanes]. Number 0 of a block is vector block * pitch of v. */
typedef void lat_sum_blocks(const void *v, size_t pitch, const int32_t *block, int64_t n, int count,
                            double *to);

typedef struct lat_vector_lanes {
    int nc, real, lanes;
    lat_pass_blocks *axpby; /* y <- a[0] x[0] + b y */
    lat_pass_blocks *axpys; /* y <- y + sum a[j] x[j] */
    lat_pass_blocks *dots;  /* numbers: re, im of <x[j], y>; then |y|^2 if numbers is odd */
    lat_product_blocks *products;
    lat_pass_blocks *combine;  /* y <- y + sum a[j] x[j], x of one column */
    lat_pass_blocks *cg;       /* y <- y + a[0] z; z <- a[1] x[0] + a[2] z, real parts */
    lat_pass_blocks *bicgstab; /* y += a[0] dir + a[1] z; z -= a[1] x[0];
                                  dir <- z + b (dir - a[1] x[1]); |z|^2 */
    lat_pass_blocks *shadow;   /* <e, y> */
    lat_sum_blocks *sum;
} lat_vector_lanes;
