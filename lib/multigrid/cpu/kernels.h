/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.h: products of small dense matrices with eight columns side by side: what transfers and
 * coarse operators are made of. The text is compiled for the vector lengths of x86.
 *
 * Vectors of coarse levels, and fine ones on their way, are those of eight.h. Matrices are in
 * single precision, in tiles of four rows: [rows / 4][columns][4][re, im]. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "multigrid/eight.h"

/* A sum of `count` products, of matrices of `rows` x `columns` that begin at column `first` of
 * tiles with `pitch` columns. */
typedef struct lat_products {
    int rows, columns, first, pitch, count;
    const float *const *matrix;   /* [count] */
    const lat_eight *const *from; /* [count] of [columns] */
} lat_products;

typedef struct lat_mg_kernels {
    /* to = add + sign * sum of matrix[k] from[k]; add NULL: 0. add may be to. */
    void (*products)(const lat_products *p, const lat_eight *add, float sign, lat_eight *to);

    /* z += P^+ r of a site: r has `components`, half of each chirality, z 2 n. P of the site:
     * [component][n][re, im]. */
    void (*restrict_site)(int components, int n, const float *p, const lat_eight *r, lat_eight *z);

    /* e = P z of a site. */
    void (*prolong_site)(int components, int n, const float *p, const lat_eight *z, lat_eight *e);

    /* y += a x, n numbers; the coefficient of each column. */
    void (*add)(int64_t n, const lat_eight *a, const lat_eight *x, lat_eight *y);

    /* sum += <x, y>, of n numbers; in single up to 256 of them, then in double. */
    void (*dot)(int64_t n, const lat_eight *x, const lat_eight *y, lat_eight_sums *sum);

    /* g[i][j] += <row i, row j>, j <= i < n, of vectors' numbers at a site, rows of
     * [components][n][re, im]; g: re [n][LAT_PITCH], then im. */
    void (*gram)(int components, int n, const float *v, double *g);

    /* v <- v t of the same numbers, to `to`, t upper triangular, as g. */
    void (*triangular)(int components, int n, const double *t, const float *v, float *to);

    /* a[i][j] -= sum_k c[i][k] r[k][j], k < depth, of `rows` rows and `columns` columns, a multiple
     * of 8. A row of a is re [pitch], im [pitch]; of c re [depth], im [depth]. r is
     * [columns / 4][depth][re, im][4]. */
    void (*eliminate)(int rows, int columns, int depth, int64_t pitch, const double *c,
                      const double *r, double *a);
} lat_mg_kernels;

const lat_mg_kernels *lat_mg_kernels_widest(void); /* of this processor */
