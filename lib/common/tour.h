/* SPDX-License-Identifier: BSD-3-Clause */
/* tour.h: how measurements go through a field: sites in natural order, in chunks of a fixed length whose
 * sums are kept apart and added in the order of the chunks, so that a result does not depend on how many
 * threads there were. One text serves every N; instantiated with the constants 2 and 3 it lets the
 * compiler unroll the matrix products. */
#ifndef LAT_TOUR_H
#define LAT_TOUR_H

#include <math.h>
#include <string.h>
#include "field.h"
#include "site/sun.h"

enum { LAT_CHUNK = 256, LAT_SUMS = 4 };

#define LAT_INLINE static inline __attribute__((always_inline))

/* What one chunk found. */
typedef struct lat_partial {
    double sum[LAT_SUMS], max[2];
} lat_partial;

/* Items from..to-1 into *p, which is zero. */
typedef void lat_chunk_fn(const lat_field *f, size_t from, size_t to, const void *arg, lat_partial *p);

/* All items; 0, or -1 with lat_error set. */
int lat_over_chunks(const lat_field *f, size_t items, lat_chunk_fn *fn, const void *arg, lat_partial *total);

/* The larger one; NaN is larger than anything. */
LAT_INLINE double lat_worse(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/* Matrix number i as doubles. */
LAT_INLINE void lat_load(const lat_field *f, size_t i, int n, double *m)
{
    const size_t reals = 2 * (size_t)n * (size_t)n;
    if (f->head.real == LAT_F64) {
        memcpy(m, (const double *)f->data + i * reals, reals * sizeof(double));
    } else {
        const float *from = (const float *)f->data + i * reals;
        for (size_t k = 0; k < reals; k++)
            m[k] = from[k];
    }
}

/* A site on its way through the lattice in natural order. */
typedef struct lat_tour {
    const lat_geometry *geom;
    size_t site, stride[LAT_MAX_DIMS];
    int x[LAT_MAX_DIMS];
} lat_tour;

static inline void lat_tour_start(lat_tour *w, const lat_geometry *geom, size_t site)
{
    size_t stride = 1;
    w->geom = geom;
    w->site = site;
    lat_coordinates(geom, site, w->x);
    for (int mu = 0; mu < geom->nd; mu++) {
        w->stride[mu] = stride;
        stride *= (size_t)geom->dims[mu];
    }
}

LAT_INLINE void lat_tour_on(lat_tour *w)
{
    w->site++;
    for (int mu = 0; mu < w->geom->nd && ++w->x[mu] == w->geom->dims[mu]; mu++)
        w->x[mu] = 0;
}

LAT_INLINE size_t lat_ahead(const lat_tour *w, int mu)
{
    const size_t around = w->stride[mu] * (size_t)(w->geom->dims[mu] - 1);
    return w->x[mu] + 1 < w->geom->dims[mu] ? w->site + w->stride[mu] : w->site - around;
}

LAT_INLINE size_t lat_behind(const lat_tour *w, int mu)
{
    const size_t around = w->stride[mu] * (size_t)(w->geom->dims[mu] - 1);
    return w->x[mu] > 0 ? w->site - w->stride[mu] : w->site + around;
}

/* Re tr a b^+. */
LAT_INLINE double lat_overlap(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < 2 * n * n; i++)
        s += a[i] * b[i];
    return s;
}

#endif
