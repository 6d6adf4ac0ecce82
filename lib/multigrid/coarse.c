/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse.c: a coarse operator with even and odd sites, from what its device does. */
#include "multigrid/coarse.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "site/random.h"

int lat_coarse_open(lat_coarse *c, int n)
{
    c->n = n;
    c->rows = 2 * n;
    c->active = 1;
    return c->ops->coarse_open(c) || !(c->even = lat_coarse_vector(c)) ? -1 : 0;
}

void lat_coarse_close(lat_coarse *c)
{
    c->ops->coarse_close(c);
    c->ops->free(c->even);
    lat_mg_sites_close(&c->sites);
}

lat_eight *lat_coarse_vector(const lat_coarse *c)
{
    return c->ops->alloc(c->dev, (size_t)c->batches * lat_coarse_numbers(c), sizeof(lat_eight),
                         "a coarse vector");
}

int lat_coarse_random(const lat_coarse *c, uint64_t first, lat_eight *x)
{
    lat_eight *const host = lat_alloc(1, lat_coarse_bytes(c), "random numbers");
    if (!host)
        return -1;
#pragma omp parallel for schedule(static)
    for (int natural = 0; natural < c->sites.count; natural++)
        for (int row = 0; row < c->rows; row++)
            for (int k = 0; k < LAT_EIGHT; k++) {
                lat_eight *const to = host + (size_t)c->sites.number[natural] * (size_t)c->rows
                                      + row;
                uint32_t word[4];
                lat_random(first + (uint64_t)k, (uint64_t)natural, 0, LAT_FOR_MULTIGRID,
                           (uint32_t)row, word);
                to->re[k] = (float)(word[0] * 0x1p-31 - 1);
                to->im[k] = (float)(word[1] * 0x1p-31 - 1);
            }
    const int rc = c->ops->send(c->dev, x, host, lat_coarse_bytes(c));
    free(host);
    return rc;
}

void lat_coarse_norms(const lat_coarse *c, const lat_eight *x, double norm[LAT_EIGHT])
{
#pragma omp parallel for schedule(static)
    for (int k = 0; k < LAT_EIGHT; k++) {
        double sum = 0;
        for (size_t i = 0; i < lat_coarse_numbers(c); i++)
            sum += (double)x[i].re[k] * x[i].re[k] + (double)x[i].im[k] * x[i].im[k];
        norm[k] = sqrt(sum);
    }
}

int lat_coarse_finish(lat_coarse *c, double shift, double twist, bool dense)
{
    c->shift = shift;
    c->twist = twist;
    return c->ops->finish(c, dense);
}

int lat_coarse_complement(const lat_coarse *c, lat_eight *out, const lat_eight *in)
{
    if (!c->sites.even_odd)
        return c->ops->hop(c, 1, out, in, 1, in);
    return c->ops->hop(c, 0, c->even, NULL, 1, in) || c->ops->hop(c, 1, out, in, -1, c->even) ? -1
                                                                                              : 0;
}

int lat_coarse_prepare(const lat_coarse *c, lat_eight *r, lat_eight *b_e, const lat_eight *b)
{
    if (c->ops->inverse(c, 0, b_e, b) || c->ops->inverse(c, 1, r, b))
        return -1;
    return c->sites.even_odd ? c->ops->hop(c, 1, r, r, -1, b_e) : 0;
}

int lat_coarse_reconstruct(const lat_coarse *c, lat_eight *x, const lat_eight *b_e)
{
    return c->sites.even_odd ? c->ops->hop(c, 0, x, b_e, -1, x) : 0;
}
