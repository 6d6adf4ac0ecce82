/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.c: norms and residuals of slices of time. */
#include "slices.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

/* Relative to the largest number, so that no square is below the smallest double. */
static double norm_of(const double *v, size_t sites, size_t stride, size_t n)
{
    double largest = 0, sum = 0;
    for (size_t i = 0; i < sites; i++)
        for (size_t k = 0; k < n; k++)
            largest = fmax(largest, fabs(v[i * stride + k]));
    for (size_t i = 0; i < sites && largest > 0; i++)
        for (size_t k = 0; k < n; k++) {
            const double e = v[i * stride + k] / largest;
            sum += e * e;
        }
    return largest * sqrt(sum);
}

int lat_slice_norms(const lat_field *f, double *norm)
{
    const size_t columns = lat_header_objects(&f->head), n = lat_header_full_reals(&f->head);
    const size_t own = (size_t)lat_field_slab(f).count, sites = lat_slice_sites(&f->head);
    double *mine = lat_alloc(own * columns, sizeof *mine, "norms");
    if (!mine)
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < own * columns; i++)
        mine[i] = norm_of((const double *)f->data
                              + (i / columns * sites * columns + i % columns) * n,
                          sites, columns * n, n);
    const int rc = lat_field_gather(f, mine, columns * sizeof *mine, norm);
    free(mine);
    return rc;
}

int lat_slice_remainder(lat_plain *m, const lat_field *x, const lat_field *b, int columns,
                        const int *column, lat_field *r)
{
    const size_t all = lat_header_objects(&x->head), n = lat_header_full_reals(&x->head);
    if (lat_plain_apply(m, false, x, columns, column, r))
        return -1;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(x); i++)
        for (int c = 0; c < columns; c++) {
            const size_t at = i * all + (size_t)column[c];
            double source[8 * LAT_MAX_COLOURS], *to = (double *)r->data + at * n;
            lat_field_get(b, at, source);
            for (size_t k = 0; k < n; k++)
                to[k] = source[k] - to[k];
        }
    return 0;
}
