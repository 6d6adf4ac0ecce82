/* SPDX-License-Identifier: BSD-3-Clause */
/* dense.c: Gauss-Jordan elimination, by blocks on the diagonal. */
#include "multigrid/cpu/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "multigrid/cpu/kernels.h"

enum { SIDE = 32 }; /* of a block */

/* ---- a block on the diagonal ----------------------------------------------------------------- */

typedef struct small {
    int n;
    double re[SIDE][2 * SIDE], im[SIDE][2 * SIDE]; /* the matrix, and 1 beside it */
} small;

static void swap_rows(small *m, int a, int b)
{
    for (int j = 0; j < 2 * m->n && a != b; j++) {
        const double re = m->re[a][j], im = m->im[a][j];
        m->re[a][j] = m->re[b][j];
        m->im[a][j] = m->im[b][j];
        m->re[b][j] = re;
        m->im[b][j] = im;
    }
}

/* The row at or below k with the largest number in column k; -1: all are 0 or not finite. */
static int pivot_of(const small *m, int k)
{
    double most = 0;
    int row = -1;
    for (int i = k; i < m->n; i++) {
        const double square = m->re[i][k] * m->re[i][k] + m->im[i][k] * m->im[i][k];
        if (square > most && isfinite(square)) {
            most = square;
            row = i;
        }
    }
    return row;
}

/* Row i gets (re + i im) times row k; or, if they are the same, becomes that. */
static void combine(small *m, int i, int k, double re, double im)
{
    for (int j = 0; j < 2 * m->n; j++) {
        const double x = m->re[k][j], y = m->im[k][j];
        m->re[i][j] = (i == k ? 0 : m->re[i][j]) + re * x - im * y;
        m->im[i][j] = (i == k ? 0 : m->im[i][j]) + re * y + im * x;
    }
}

static int invert_small(small *m)
{
    for (int k = 0; k < m->n; k++) {
        const int row = pivot_of(m, k);
        if (row < 0)
            return 1;
        swap_rows(m, row, k);
        const double re = m->re[k][k], im = m->im[k][k], square = re * re + im * im;
        combine(m, k, k, re / square, -im / square);
        for (int i = 0; i < m->n; i++)
            if (i != k)
                combine(m, i, k, -m->re[i][k], -m->im[i][k]);
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Rows as `eliminate` reads them: their columns are n doubles apart, so that a cache has no place
 * for four of all rows. */
static void pack_rows(int n, int side, const double *from, double *rows)
{
    for (int j = 0; j < n; j += 4)
        for (int k = 0; k < 2 * side; k++, rows += 4)
            memcpy(rows, from + (size_t)k * (size_t)n + j, 4 * sizeof *rows);
}

/* The rows of the block at `at` become its inverse times them; its own columns its inverse. They
 * are left in `rows`, too. */
static int scale_rows(int n, double *a, int at, int side, double *rows)
{
    small m = {.n = side};
    double c[SIDE * 2 * SIDE];
    double *const from = a + (size_t)at * 2 * (size_t)n;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            double *const re = from + (size_t)i * 2 * (size_t)n + (size_t)(at + j);
            m.re[i][j] = re[0];
            m.im[i][j] = re[n];
            m.re[i][side + j] = re[0] = i == j;
            m.im[i][side + j] = re[n] = 0;
        }
    if (invert_small(&m))
        return 1;
    pack_rows(n, side, from, rows);
    memset(from, 0, (size_t)side * 2 * (size_t)n * sizeof *rows);
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            c[i * 2 * side + j] = -m.re[i][side + j];
            c[i * 2 * side + side + j] = -m.im[i][side + j];
        }
    lat_mg_kernels_widest()->eliminate(side, n, side, n, c, rows, from);
    pack_rows(n, side, from, rows);
    return 0;
}

/* Some other rows, from which the block's are taken away. */
static void other_rows(int n, double *a, int at, int side, const double *rows, int first)
{
    double c[8 * 2 * SIDE];
    const int count = n - first < 8 ? n - first : 8;
    double *const to = a + (size_t)first * 2 * (size_t)n;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < side; j++) {
            double *const re = to + (size_t)i * 2 * (size_t)n + at + j;
            c[i * 2 * side + j] = *re;
            c[i * 2 * side + side + j] = re[n];
            *re = re[n] = 0;
        }
    lat_mg_kernels_widest()->eliminate(count, n, side, n, c, rows, to);
}

int lat_mg_invert(int n, double *a)
{
    double *rows = lat_alloc((size_t)SIDE * 2, (size_t)n * sizeof *rows, "the inverse of a level");
    int rc = rows ? 0 : -1;
    for (int at = 0; at < n && rc == 0; at += SIDE) {
        const int side = n - at < SIDE ? n - at : SIDE;
        rc = scale_rows(n, a, at, side, rows);
        if (rc)
            break;
#pragma omp parallel for schedule(static)
        for (int first = 0; first < n; first += 8)
            if (first < at || first >= at + side)
                other_rows(n, a, at, side, rows, first);
    }
    free(rows);
    return rc;
}
