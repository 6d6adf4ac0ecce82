/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse.c: a coarse operator: its matrices times vectors. */
#include "multigrid/coarse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "site/random.h"

static size_t numbers_of(const lat_coarse *c) { return 2 * (size_t)c->rows * (size_t)c->rows; }

static int own_sites(const lat_coarse *c)
{
    return c->sites.to[0] - c->sites.from[0] + c->sites.to[1] - c->sites.from[1];
}

/* The number of a site among this rank's. */
static size_t own_number(const lat_coarse *c, int site)
{
    const int even = c->sites.to[0] - c->sites.from[0];
    return (size_t)(site < c->sites.odd ? site - c->sites.from[0] : even + site - c->sites.from[1]);
}

lat_eight *lat_coarse_vector(const lat_coarse *c)
{
    return lat_alloc_zero((size_t)c->sites.count * (size_t)c->rows, sizeof(lat_eight),
                          "a coarse vector");
}

void lat_coarse_random(const lat_coarse *c, uint64_t first, lat_eight *x)
{
#pragma omp parallel for schedule(static)
    for (int natural = 0; natural < c->sites.count; natural++)
        for (int row = 0; row < c->rows; row++)
            for (int k = 0; k < LAT_EIGHT; k++) {
                lat_eight *const to = x + (size_t)c->sites.number[natural] * (size_t)c->rows + row;
                uint32_t word[4];
                lat_random(first + (uint64_t)k, (uint64_t)natural, 0, LAT_FOR_MULTIGRID,
                           (uint32_t)row, word);
                to->re[k] = (float)(word[0] * 0x1p-31 - 1);
                to->im[k] = (float)(word[1] * 0x1p-31 - 1);
            }
}

float *lat_coarse_matrix(const lat_coarse *c, int site, int which)
{
    return c->matrix + ((size_t)site * LAT_COARSE_MATRICES + (size_t)which) * numbers_of(c);
}

void lat_tile_columns(int rows, int first, const lat_eight *from, float *matrix)
{
    for (int i = 0; i < rows; i++)
        for (int l = 0; l < LAT_EIGHT; l++) {
            const int64_t at = lat_tile_at(rows, i, first + l);
            matrix[at] = from[i].re[l];
            matrix[at + 1] = from[i].im[l];
        }
}

int lat_coarse_open(lat_coarse *c, int n)
{
    c->n = n;
    c->rows = 2 * n;
    const size_t each = numbers_of(c), own = (size_t)own_sites(c),
                 all = (size_t)c->sites.count * LAT_COARSE_MATRICES;
    c->matrix = lat_alloc_zero(all * each, sizeof *c->matrix, "a coarse operator");
    c->hop = lat_alloc(own * 8 * each, sizeof *c->hop, "a coarse operator");
    c->inverse = lat_alloc(own * each, sizeof *c->inverse, "a coarse operator");
    c->partial = lat_alloc(LAT_COARSE_PIECES, sizeof *c->partial, "a coarse operator");
    c->even = lat_coarse_vector(c);
    c->sent = lat_coarse_vector(c);
    return lat_rc(!c->matrix || !c->hop || !c->inverse || !c->partial || !c->even || !c->sent);
}

void lat_coarse_close(lat_coarse *c)
{
    lat_mg_sites_close(&c->sites);
    free(c->matrix);
    free(c->hop);
    free(c->inverse);
    free(c->dense);
    free(c->even);
    free(c->sent);
    free(c->partial);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The sites of this parity that other ranks have computed. */
static int gather(const lat_coarse *c, int parity, lat_eight *v)
{
    const size_t site = (size_t)c->rows * sizeof *v,
                 mine = (size_t)(c->sites.to[parity] - c->sites.from[parity]) * site;
    if (!c->ranks || mine == 0)
        return 0;
    memcpy(c->sent, (char *)v + (size_t)c->sites.from[parity] * site, mine);
    return c->comm->gather(c->comm, c->sent, mine,
                           (char *)v + (size_t)(parity ? c->sites.odd : 0) * site);
}

int lat_coarse_gather(const lat_coarse *c, lat_eight *v)
{
    return gather(c, 0, v) || gather(c, 1, v) ? -1 : 0;
}

/* ---- matrices times vectors ------------------------------------------------------------------ */

/* out = add + sign * sum_d H_d in(next), on this rank's sites of a parity. */
static int hop(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *add, float sign,
               const lat_eight *in)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const size_t each = numbers_of(c), rows = (size_t)c->rows;
#pragma omp parallel for schedule(static)
    for (int s = c->sites.from[parity]; s < c->sites.to[parity]; s++) {
        const float *m[8];
        const lat_eight *from[8];
        const lat_products p = {c->rows, c->rows, 0, c->rows, 8, m, from};
        for (int d = 0; d < 8; d++) {
            m[d] = c->hop + (8 * own_number(c, s) + (size_t)d) * each;
            from[d] = in + (size_t)c->sites.next[8 * s + d] * rows;
        }
        k->products(&p, add ? add + (size_t)s * rows : NULL, sign, out + (size_t)s * rows);
    }
    return gather(c, parity, out);
}

/* out = X^-1 in, on this rank's sites of a parity. */
static int inverse(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *in)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const size_t each = numbers_of(c), rows = (size_t)c->rows;
#pragma omp parallel for schedule(static)
    for (int s = c->sites.from[parity]; s < c->sites.to[parity]; s++) {
        const float *const m = c->inverse + own_number(c, s) * each;
        const lat_eight *const from = in + (size_t)s * rows;
        const lat_products p = {c->rows, c->rows, 0, c->rows, 1, &m, &from};
        k->products(&p, NULL, 1, out + (size_t)s * rows);
    }
    return gather(c, parity, out);
}

/* y += (shift + i twist Gamma5) x of a site. */
static void add_shift(const lat_coarse *c, const lat_eight *x, lat_eight *y)
{
    for (int k = 0; k < c->rows; k++) {
        const float a = (float)c->shift, b = (float)(k < c->n ? c->twist : -c->twist);
        y[k].re += a * x[k].re - b * x[k].im;
        y[k].im += a * x[k].im + b * x[k].re;
    }
}

int lat_coarse_diagonal(const lat_coarse *c, lat_eight *out, const lat_eight *in)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const size_t rows = (size_t)c->rows;
#pragma omp parallel for schedule(static)
    for (int s = c->sites.from[1]; s < c->sites.to[1]; s++) {
        const float *const m = lat_coarse_matrix(c, s, LAT_COARSE_HOPS);
        const lat_eight *const from = in + (size_t)s * rows;
        const lat_products p = {c->rows, c->rows, 0, c->rows, 1, &m, &from};
        k->products(&p, NULL, 1, out + (size_t)s * rows);
        add_shift(c, from, out + (size_t)s * rows);
    }
    return gather(c, 1, out);
}

/* y += Gamma5 Y^+ Gamma5 x, Y in tiles; for tests and certificates. */
static void add_backward(const lat_coarse *c, const float *m, const lat_eight *x, lat_eight *y)
{
    for (int i = 0; i < c->rows; i++)
        for (int j = 0; j < c->rows; j++) {
            const int64_t at = lat_tile_at(c->rows, j, i);
            const float sign = (i < c->n) == (j < c->n) ? 1 : -1, re = sign * m[at],
                        im = -sign * m[at + 1];
            y[i].re += re * x[j].re - im * x[j].im;
            y[i].im += re * x[j].im + im * x[j].re;
        }
}

int lat_coarse_apply(const lat_coarse *c, lat_eight *out, const lat_eight *in)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const size_t rows = (size_t)c->rows;
#pragma omp parallel for schedule(static)
    for (int s = 0; s < c->sites.count; s++) {
        const float *m[LAT_COARSE_MATRICES];
        const lat_eight *from[LAT_COARSE_MATRICES];
        const lat_products p = {c->rows, c->rows, 0, c->rows, LAT_COARSE_MATRICES, m, from};
        const int32_t *next = c->sites.next + 8 * s;
        for (int d = 0; d < LAT_COARSE_MATRICES; d++) {
            m[d] = lat_coarse_matrix(c, s, d);
            from[d] = in + (size_t)(d < LAT_COARSE_HOPS ? next[d] : s) * rows;
        }
        k->products(&p, NULL, 1, out + (size_t)s * rows);
        add_shift(c, in + (size_t)s * rows, out + (size_t)s * rows);
        for (int d = 0; d < LAT_COARSE_HOPS; d++)
            add_backward(c, lat_coarse_matrix(c, next[4 + d], d), in + (size_t)next[4 + d] * rows,
                         out + (size_t)s * rows);
    }
    return 0;
}

void lat_coarse_norms(const lat_coarse *c, const lat_eight *x, double norm[LAT_EIGHT])
{
    for (int k = 0; k < LAT_EIGHT; k++) {
        double sum = 0;
        for (int64_t i = 0; i < (int64_t)c->sites.count * c->rows; i++)
            sum += (double)x[i].re[k] * x[i].re[k] + (double)x[i].im[k] * x[i].im[k];
        norm[k] = sqrt(sum);
    }
}

void lat_coarse_gamma5(const lat_coarse *c, const double norm[LAT_EIGHT], const lat_eight *x,
                       lat_eight *y)
{
    for (int64_t i = 0; i < (int64_t)c->sites.count * c->rows; i++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            const double sign = i % c->rows < c->n ? 1 : -1, by = norm[k] > 0 ? sign / norm[k] : 0;
            y[i].re[k] = (float)(by * x[i].re[k]);
            y[i].im[k] = (float)(by * x[i].im[k]);
        }
}

int lat_coarse_complement(const lat_coarse *c, lat_eight *out, const lat_eight *in)
{
    if (!c->sites.even_odd)
        return hop(c, 1, out, in, 1, in);
    return hop(c, 0, c->even, NULL, 1, in) || hop(c, 1, out, in, -1, c->even) ? -1 : 0;
}

int lat_coarse_prepare(const lat_coarse *c, lat_eight *r, lat_eight *b_e, const lat_eight *b)
{
    if (inverse(c, 0, b_e, b) || inverse(c, 1, r, b))
        return -1;
    return c->sites.even_odd ? hop(c, 1, r, r, -1, b_e) : 0;
}

int lat_coarse_reconstruct(const lat_coarse *c, lat_eight *x, const lat_eight *b_e)
{
    return c->sites.even_odd ? hop(c, 0, x, b_e, -1, x) : 0;
}

/* ---- linear algebra, by pieces that do not depend on the threads ------------------------------
 */

typedef struct piece {
    int64_t from, count;
} piece;

static piece piece_of(const lat_coarse *c, int k)
{
    const int64_t first = (int64_t)c->sites.odd * c->rows,
                  n = (int64_t)c->sites.count * c->rows - first, from = n * k / LAT_COARSE_PIECES,
                  to = n * (k + 1) / LAT_COARSE_PIECES;
    return (piece){first + from, to - from};
}

void lat_coarse_add(const lat_coarse *c, const lat_eight *a, const lat_eight *x, lat_eight *y)
{
    const lat_mg_kernels *kernels = lat_mg_kernels_widest();
#pragma omp parallel for schedule(static)
    for (int k = 0; k < LAT_COARSE_PIECES; k++) {
        const piece p = piece_of(c, k);
        kernels->add(p.count, a, x + p.from, y + p.from);
    }
}

void lat_coarse_dot(const lat_coarse *c, const lat_eight *x, const lat_eight *y,
                    lat_eight_sums *sum)
{
    const lat_mg_kernels *kernels = lat_mg_kernels_widest();
    memset(sum, 0, sizeof *sum);
#pragma omp parallel for schedule(static)
    for (int k = 0; k < LAT_COARSE_PIECES; k++) {
        const piece p = piece_of(c, k);
        memset(c->partial + k, 0, sizeof *c->partial);
        kernels->dot(p.count, x + p.from, y + p.from, c->partial + k);
    }
    for (int k = 0; k < LAT_COARSE_PIECES; k++)
        for (int l = 0; l < LAT_EIGHT; l++) {
            sum->re[l] += c->partial[k].re[l];
            sum->im[l] += c->partial[k].im[l];
        }
}

void lat_coarse_dense(const lat_coarse *c, lat_eight *x, const lat_eight *r)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const size_t first = (size_t)c->sites.odd * (size_t)c->rows;
    const int n = (c->sites.count - c->sites.odd) * c->rows;
    const lat_eight *const from = r + first;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i += 4) {
        const float *const m = c->dense + 2 * (size_t)i * (size_t)n;
        const lat_products p = {4, n, 0, n, 1, &m, &from};
        k->products(&p, NULL, 1, x + first + i);
    }
}
