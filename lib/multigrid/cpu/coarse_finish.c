/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse_finish.c: X^-1, X^-1 Y and the inverse of the complement. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "multigrid/cpu/dense.h"
#include "multigrid/cpu/multigrid_cpu.h"

/* ---- matrices of other ranks ----------------------------------------------------------------- */

static int gather_matrices(const lat_coarse *c)
{
    const size_t site = LAT_COARSE_MATRICES * 2 * (size_t)c->rows * (size_t)c->rows;
    if (c->sites.blocks)
        return lat_mg_cpu_gather_blocks(c, site * sizeof(float), lat_mg_host_of(c)->matrix);
    for (int p = 0; p < 2 && c->ranks; p++) {
        const size_t mine = (size_t)(c->sites.to[p] - c->sites.from[p]) * site;
        float *const all = lat_mg_host_of(c)->matrix + (size_t)(p ? c->sites.odd : 0) * site;
        float *const copy = lat_alloc(mine, sizeof *copy, "a coarse operator");
        if (!copy)
            return -1;
        memcpy(copy, lat_mg_host_of(c)->matrix + (size_t)c->sites.from[p] * site,
               mine * sizeof *copy);
        const int rc = mine ? c->comm->gather(c->comm, copy, mine * sizeof *copy, all) : 0;
        free(copy);
        if (rc)
            return -1;
    }
    return 0;
}

/* ---- X^-1 and X^-1 Y ------------------------------------------------------------------------- */

/* X of a site, with its shift, to rows of re and im; its inverse to tiles. A direction that no test
 * vector has (transfer.h) is left out: its row and column of X are 0, and 1 stands for them. */
static int invert_site(const lat_coarse *c, int site, double *a, float *to)
{
    const int n = c->rows;
    const float *const x = lat_coarse_matrix(c, site, LAT_COARSE_HOPS);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int64_t at = lat_tile_at(n, i, j);
            a[2 * i * n + j] = x[at] + (i == j ? c->shift : 0);
            a[2 * i * n + n + j] = x[at + 1] + (i != j ? 0 : i < c->n ? c->twist : -c->twist);
            if (i == j && x[at] == 0 && x[at + 1] == 0) {
                a[2 * i * n + j] = 1;
                a[2 * i * n + n + j] = 0;
            }
        }
    const int rc = lat_mg_invert(n, a);
    for (int i = 0; i < n && rc == 0; i++)
        for (int j = 0; j < n; j++) {
            const int64_t at = lat_tile_at(n, i, j);
            to[at] = (float)a[2 * i * n + j];
            to[at + 1] = (float)a[2 * i * n + n + j];
        }
    return rc;
}

/* Columns first .. first+7 of Y, or of Gamma5 Y^+ Gamma5. */
static void columns_of(const lat_coarse *c, const float *y, bool backward, int first, lat_eight *to)
{
    for (int i = 0; i < c->rows; i++)
        for (int l = 0; l < LAT_EIGHT; l++) {
            const int j = first + l;
            const int64_t at = backward ? lat_tile_at(c->rows, j, i) : lat_tile_at(c->rows, i, j);
            const float sign = !backward || (i < c->n) == (j < c->n) ? 1 : -1;
            to[i].re[l] = sign * y[at];
            to[i].im[l] = (backward ? -sign : sign) * y[at + 1];
        }
}

/* H of a direction. scratch: [2][rows]. */
static void hop_matrix(const lat_coarse *c, int site, int d, const float *inverse,
                       lat_eight *scratch, float *to)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int from = d < LAT_COARSE_HOPS ? site : c->sites.next[8 * site + d];
    const float *const y = lat_coarse_matrix(c, from, d % LAT_COARSE_HOPS);
    const lat_eight *const in = scratch;
    lat_eight *const out = scratch + c->rows;
    const lat_products p = {c->rows, c->rows, 0, c->rows, 1, &inverse, &in};
    for (int first = 0; first < c->rows; first += LAT_EIGHT) {
        columns_of(c, y, d >= LAT_COARSE_HOPS, first, scratch);
        k->products(&p, NULL, 1, out);
        lat_tile_columns(c->rows, first, out, to);
    }
}

static int finish_site(const lat_coarse *c, int site, int own, double *a, lat_eight *scratch)
{
    const size_t each = 2 * (size_t)c->rows * (size_t)c->rows;
    lat_mg_host *const h = lat_mg_host_of(c);
    float *const inverse = h->inverse + (size_t)own * each;
    const int rc = invert_site(c, site, a, inverse);
    for (int d = 0; d < 8 && rc == 0; d++)
        hop_matrix(c, site, d, inverse, scratch, h->hop + (8 * (size_t)own + (size_t)d) * each);
    return rc;
}

static int finish_sites(const lat_coarse *c)
{
    const int even = c->sites.to[0] - c->sites.from[0],
              count = even + c->sites.to[1] - c->sites.from[1];
    int low = 0, high = 0;
#pragma omp parallel reduction(min : low) reduction(max : high)
    {
        double *a = lat_alloc(2 * (size_t)c->rows, (size_t)c->rows * sizeof *a,
                              "a coarse operator");
        lat_eight *scratch = lat_alloc(2 * (size_t)c->rows, sizeof *scratch, "a coarse operator");
        if (!a || !scratch)
            low = -1;
#pragma omp for schedule(static)
        for (int own = 0; own < count; own++) {
            const int site = own < even ? c->sites.from[0] + own : c->sites.from[1] + own - even;
            const int rc = low < 0 ? -1 : finish_site(c, site, own, a, scratch);
            low = rc < low ? rc : low;
            high = rc > high ? rc : high;
        }
        free(a);
        free(scratch);
    }
    return low < 0 ? -1 : high;
}

/* ---- the last level -------------------------------------------------------------------------- */

/* The complement, column by column, into rows of re and im. */
static int dense_matrix(const lat_coarse *c, double *a, lat_eight *in, lat_eight *out)
{
    const int first = c->sites.odd * c->rows, n = c->sites.count * c->rows - first;
    for (int j = 0; j < n; j += LAT_EIGHT) {
        memset(in + first, 0, (size_t)n * sizeof *in);
        for (int l = 0; l < LAT_EIGHT; l++)
            in[first + j + l].re[l] = 1;
        if (lat_coarse_complement(c, out, in))
            return -1;
        for (int i = 0; i < n; i++)
            for (int l = 0; l < LAT_EIGHT; l++) {
                a[2 * (int64_t)i * n + j + l] = out[first + i].re[l];
                a[2 * (int64_t)i * n + n + j + l] = out[first + i].im[l];
            }
    }
    return 0;
}

static int make_dense(const lat_coarse *c)
{
    lat_mg_host *const h = lat_mg_host_of(c);
    const int n = (c->sites.count - c->sites.odd) * c->rows;
    double *a = lat_alloc(2 * (size_t)n, (size_t)n * sizeof *a, "the last level");
    lat_eight *in = lat_coarse_vector(c), *out = lat_coarse_vector(c);
    if (!h->dense)
        h->dense = lat_alloc(2 * (size_t)n, (size_t)n * sizeof *h->dense, "the last level");
    int rc = a && in && out && h->dense ? dense_matrix(c, a, in, out) : -1;
    if (rc == 0)
        rc = lat_mg_invert(n, a);
    for (int i = 0; i < n && rc == 0; i++)
        for (int j = 0; j < n; j++) {
            const int64_t at = lat_tile_at(n, i, j);
            h->dense[at] = (float)a[2 * (int64_t)i * n + j];
            h->dense[at + 1] = (float)a[2 * (int64_t)i * n + n + j];
        }
    free(a);
    free(in);
    free(out);
    return rc;
}

int lat_mg_cpu_finish(lat_coarse *c, bool dense)
{
    if (gather_matrices(c))
        return -1;
    double worst[2];
    const int rc = finish_sites(c);
    worst[0] = rc < 0;
    worst[1] = rc > 0;
    if (c->ranks && c->comm->max(c->comm, worst, 2))
        return -1;
    if (worst[0] > 0)
        return -1;
    return worst[1] > 0 ? 1 : dense ? make_dense(c) : 0;
}
