/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse_cpu.c: a coarse operator: its matrices times vectors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "multigrid/cpu/multigrid_cpu.h"

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

float *lat_coarse_matrix(const lat_coarse *c, int site, int which)
{
    return lat_mg_host_of(c)->matrix
           + ((size_t)site * LAT_COARSE_MATRICES + (size_t)which) * numbers_of(c);
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

int lat_mg_cpu_coarse_open(lat_coarse *c)
{
    lat_mg_host *const h = lat_alloc_zero(1, sizeof *h, "a coarse operator");
    const size_t each = numbers_of(c), own = (size_t)own_sites(c),
                 all = (size_t)c->sites.count * LAT_COARSE_MATRICES;
    if (!(c->there = h))
        return -1;
    h->matrix = lat_alloc_zero(all * each, sizeof *h->matrix, "a coarse operator");
    h->hop = lat_alloc(own * 8 * each, sizeof *h->hop, "a coarse operator");
    h->inverse = lat_alloc(own * each, sizeof *h->inverse, "a coarse operator");
    h->partial = lat_alloc(LAT_COARSE_PIECES, sizeof *h->partial, "a coarse operator");
    h->sent = lat_coarse_vector(c);
    return lat_rc(!h->matrix || !h->hop || !h->inverse || !h->partial || !h->sent);
}

void lat_mg_cpu_coarse_close(lat_coarse *c)
{
    lat_mg_host *const h = c->there;
    if (!h)
        return;
    free(h->matrix);
    free(h->hop);
    free(h->inverse);
    free(h->dense);
    free(h->sent);
    free(h->partial);
    free(h);
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* The sites of this parity that other ranks have computed. */
static int gather(const lat_coarse *c, int parity, lat_eight *v)
{
    const size_t site = (size_t)c->rows * sizeof *v,
                 mine = (size_t)(c->sites.to[parity] - c->sites.from[parity]) * site;
    if (!c->ranks || mine == 0)
        return 0;
    lat_eight *const sent = lat_mg_host_of(c)->sent;
    memcpy(sent, (char *)v + (size_t)c->sites.from[parity] * site, mine);
    return c->comm->gather(c->comm, sent, mine,
                           (char *)v + (size_t)(parity ? c->sites.odd : 0) * site);
}

int lat_mg_cpu_gather_blocks(const lat_coarse *c, size_t bytes, void *records)
{
    const size_t count = (size_t)c->sites.count, mine = count / (size_t)c->comm->size;
    const int32_t *const block = c->sites.blocks, *own = block + (size_t)c->comm->rank * mine;
    char *const to = records, *const all = lat_alloc(count + mine, bytes, "numbers of all blocks"),
                *const sent = all ? all + count * bytes : NULL;
    if (!all)
        return -1;
    for (size_t i = 0; i < mine; i++)
        memcpy(sent + i * bytes, to + (size_t)own[i] * bytes, bytes);
    const int rc = c->comm->gather(c->comm, sent, mine * bytes, all);
    for (size_t i = 0; i < count && rc == 0; i++)
        memcpy(to + (size_t)block[i] * bytes, all + i * bytes, bytes);
    free(all);
    return rc;
}

int lat_mg_cpu_gather(const lat_coarse *c, lat_eight *v)
{
    if (c->sites.blocks)
        return lat_mg_cpu_gather_blocks(c, (size_t)c->rows * sizeof *v, v);
    return gather(c, 0, v) || gather(c, 1, v) ? -1 : 0;
}

/* ---- matrices times vectors ------------------------------------------------------------------ */

int lat_mg_cpu_hop(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *add,
                   float sign, const lat_eight *in)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const size_t each = numbers_of(c), rows = (size_t)c->rows;
#pragma omp parallel for schedule(static)
    for (int s = c->sites.from[parity]; s < c->sites.to[parity]; s++) {
        const float *m[8];
        const lat_eight *from[8];
        const lat_products p = {c->rows, c->rows, 0, c->rows, 8, m, from};
        for (int d = 0; d < 8; d++) {
            m[d] = lat_mg_host_of(c)->hop + (8 * own_number(c, s) + (size_t)d) * each;
            from[d] = in + (size_t)c->sites.next[8 * s + d] * rows;
        }
        k->products(&p, add ? add + (size_t)s * rows : NULL, sign, out + (size_t)s * rows);
    }
    return gather(c, parity, out);
}

/* out = matrix in, of a site. */
static void one_product(const lat_coarse *c, const float *matrix, const lat_eight *in,
                        lat_eight *out)
{
    const lat_products p = {c->rows, c->rows, 0, c->rows, 1, &matrix, &in};
    lat_mg_kernels_widest()->products(&p, NULL, 1, out);
}

int lat_mg_cpu_inverse(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *in)
{
    const size_t each = numbers_of(c), rows = (size_t)c->rows;
#pragma omp parallel for schedule(static)
    for (int s = c->sites.from[parity]; s < c->sites.to[parity]; s++)
        one_product(c, lat_mg_host_of(c)->inverse + own_number(c, s) * each, in + (size_t)s * rows,
                    out + (size_t)s * rows);
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

int lat_mg_cpu_diagonal(const lat_coarse *c, lat_eight *out, const lat_eight *in)
{
    const size_t rows = (size_t)c->rows;
#pragma omp parallel for schedule(static)
    for (int s = c->sites.from[1]; s < c->sites.to[1]; s++) {
        const lat_eight *const from = in + (size_t)s * rows;
        one_product(c, lat_coarse_matrix(c, s, LAT_COARSE_HOPS), from, out + (size_t)s * rows);
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

int lat_mg_cpu_apply(const lat_coarse *c, lat_eight *out, const lat_eight *in)
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

int lat_mg_cpu_adds(const lat_coarse *c, int n, const lat_mg_factor *f, lat_eight *const *x,
                    const lat_eight *add, lat_eight *y)
{
    const lat_mg_kernels *kernels = lat_mg_kernels_widest();
    lat_eight a[LAT_LEVEL_DEPTH];
    for (int j = 0; j < n; j++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            float re, im;
            lat_mg_factor_of(f[j], k, &re, &im);
            a[j].re[k] = re;
            a[j].im[k] = im;
        }
#pragma omp parallel for schedule(static)
    for (int k = 0; k < LAT_COARSE_PIECES; k++) {
        const piece p = piece_of(c, k);
        if (!add)
            memset(y + p.from, 0, (size_t)p.count * sizeof *y);
        else if (add != y)
            memcpy(y + p.from, add + p.from, (size_t)p.count * sizeof *y);
        for (int j = 0; j < n; j++)
            kernels->add(p.count, a + j, x[j] + p.from, y + p.from);
    }
    return 0;
}

int lat_mg_cpu_dots(const lat_coarse *c, int n, lat_eight *const *x, const lat_eight *y,
                    lat_eight_sums *to)
{
    const lat_mg_kernels *kernels = lat_mg_kernels_widest();
    lat_eight_sums *const partial = lat_mg_host_of(c)->partial;
    for (int j = 0; j < n; j++) {
        memset(to + j, 0, sizeof *to);
#pragma omp parallel for schedule(static)
        for (int k = 0; k < LAT_COARSE_PIECES; k++) {
            const piece p = piece_of(c, k);
            memset(partial + k, 0, sizeof *partial);
            kernels->dot(p.count, x[j] + p.from, y + p.from, partial + k);
        }
        for (int k = 0; k < LAT_COARSE_PIECES; k++)
            for (int l = 0; l < LAT_EIGHT; l++) {
                to[j].re[l] += partial[k].re[l];
                to[j].im[l] += partial[k].im[l];
            }
    }
    return 0;
}

int lat_mg_cpu_look(LAT_UNUSED const lat_coarse *c, lat_mg_scalars *s, bool begin, double tolerance)
{
    for (int k = 0; k < LAT_EIGHT; k++)
        lat_mg_look(s, k, begin, tolerance);
    return 0;
}

int lat_mg_cpu_found(LAT_UNUSED const lat_coarse *c, const lat_mg_scalars *s, lat_mg_found *found)
{
    *found = (lat_mg_found){true, 0};
    for (int k = 0; k < LAT_EIGHT; k++) {
        found->all = found->all && s->done[k];
        if (s->iterations[k] > found->iterations)
            found->iterations = s->iterations[k];
    }
    return 0;
}

int lat_mg_cpu_dense(const lat_coarse *c, lat_eight *x, const lat_eight *r)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const size_t first = (size_t)c->sites.odd * (size_t)c->rows;
    const int n = (c->sites.count - c->sites.odd) * c->rows;
    const lat_eight *const from = r + first;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i += 4) {
        const float *const m = lat_mg_host_of(c)->dense + 2 * (size_t)i * (size_t)n;
        const lat_products p = {4, n, 0, n, 1, &m, &from};
        k->products(&p, NULL, 1, x + first + i);
    }
    return 0;
}
