/* SPDX-License-Identifier: BSD-3-Clause */
/* iterate.h: how measurements go through a field: sites in natural order, in chunks of a fixed
 * length, at most a slice across the last axis, whose sums are kept apart and added in the order of
 * the chunks and then of the slices, so that a result does not depend on how many threads or ranks
 * there were. One text serves every N; instantiated with the constants 2 and 3 it lets the compiler
 * unroll the matrix products. */
#ifndef LAT_TOUR_H
#define LAT_TOUR_H

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
typedef void lat_chunk_fn(const lat_field *f, size_t from, size_t to, const void *arg,
                          lat_partial *p);

/* All items, so many a slice; those of this rank's slices are numbered from 0, and `total` is that
 * of all ranks: 0, or -1 with lat_error set. */
int lat_over_chunks(const lat_field *f, size_t items, lat_chunk_fn *fn, const void *arg,
                    lat_partial *total);

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

/* An own site on its way through the field in natural order; x[last axis] counts from this rank's
 * first slice. */
typedef struct lat_iterator {
    int nd, extent[LAT_MAX_DIMS];
    size_t site, stride[LAT_MAX_DIMS];
    size_t ahead[LAT_MAX_DIMS], behind[LAT_MAX_DIMS]; /* around the boundary */
    int x[LAT_MAX_DIMS];
} lat_iterator;

static inline void lat_iterator_start(lat_iterator *w, const lat_field *f, size_t site)
{
    const lat_geometry *geom = &f->head.geom;
    size_t stride = 1, rest = site;
    w->nd = geom->nd;
    w->site = site;
    for (int mu = 0; mu < geom->nd; mu++) {
        const bool last = mu == geom->nd - 1, ghosts = last && lat_field_shared(f);
        const size_t extent = last ? (size_t)lat_field_slab(f).count : (size_t)geom->dims[mu];
        w->stride[mu] = stride;
        w->extent[mu] = (int)extent;
        w->ahead[mu] = ghosts ? stride : stride - stride * extent; /* that is, backwards */
        w->behind[mu] = ghosts ? stride * (extent + 1) : stride * (extent - 1);
        w->x[mu] = (int)(rest % extent);
        rest /= extent;
        stride *= extent;
    }
}

LAT_INLINE void lat_iterator_next(lat_iterator *w)
{
    w->site++;
    for (int mu = 0; mu < w->nd && ++w->x[mu] == w->extent[mu]; mu++)
        w->x[mu] = 0;
}

LAT_INLINE size_t lat_iterator_up(const lat_iterator *w, int mu)
{
    return w->site + (w->x[mu] + 1 < w->extent[mu] ? w->stride[mu] : w->ahead[mu]);
}

LAT_INLINE size_t lat_iterator_down(const lat_iterator *w, int mu)
{
    return w->site + (w->x[mu] > 0 ? -w->stride[mu] : w->behind[mu]);
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
