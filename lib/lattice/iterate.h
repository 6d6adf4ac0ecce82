/* SPDX-License-Identifier: BSD-3-Clause */
/* iterate.h: loops over the sites of a field in natural order, and sums in a fixed order.
 *
 * A slice across the last axis is a block of items (sites, links, lines), or several; blocks are
 * cut into chunks of LAT_CHUNK items. Each chunk has its own sum; sums are added in the order of
 * the chunks, then of the slices. So results do not depend on the number of threads and ranks. One
 * text serves every N; instantiated with the constants 2 and 3 it lets the compiler unroll the
 * matrix products. */
#pragma once

#include <string.h>
#include "field.h"
#include "site/sun.h"

enum { LAT_CHUNK = 256, LAT_SUMS = 4 };

#define LAT_INLINE static inline __attribute__((always_inline))

/* ---- sums ------------------------------------------------------------------------------------ */

/* Adds items from .. to-1 of this rank, all of its block number `block`, to sums, zero at first. */
typedef void lat_sum_fn(const void *with, size_t block, size_t from, size_t to, double *sums);

/* Numbers of a sum, of which the last `most` are not added up: the largest is taken. */
typedef struct lat_sums {
    const lat_field *f;
    size_t items, blocks; /* of a block; of a slice */
    size_t numbers, most;
    double *memory, *own, *all; /* of chunks, of own blocks, of those of all ranks; free(memory) */
    double *total;              /* of all blocks, by lat_sums_take */
    size_t size;
} lat_sums;

/* 0, or -1 with lat_error set. lat_sums_take: the sums over what fn adds, the same bits on all
 * ranks, which all call it. Or step by step: memory, if there is not enough; the own blocks first
 * .. last-1; s->all from s->own. */
int lat_sums_take(lat_sums *s, lat_sum_fn *fn, const void *with);
int lat_sums_reserve(lat_sums *s);
void lat_sums_over(lat_sums *s, size_t first, size_t last, lat_sum_fn *fn, const void *with);
int lat_sums_gather(lat_sums *s);

/* n sums, one after the other, are added to `to`. */
void lat_sums_add(const lat_sums *s, double *to, const double *from, size_t n);

/* Sums and maxima of a chunk; what they are is up to the caller. */
typedef struct lat_partial {
    double sum[LAT_SUMS], max[2];
} lat_partial;

/* Adds items from .. to-1 of this rank to *p, which is zero. */
typedef void lat_chunk_fn(const lat_field *f, size_t from, size_t to, const void *arg,
                          lat_partial *p);

/* Calls fn for all chunks, of `items` items (sites, links, lines) a slice. *total: the sums and
 * maxima over all ranks, the same bits on each. All ranks call it. 0, or -1 with lat_error set. */
int lat_over_chunks(const lat_field *f, size_t items, lat_chunk_fn *fn, const void *arg,
                    lat_partial *total);

/* ---- sites ----------------------------------------------------------------------------------- */

/* Matrix number i as doubles: lat_field_get (field.h) inline, n = head.nc. */
LAT_INLINE void lat_load(const lat_field *f, size_t i, int n, double *m)
{
    const size_t reals = 2 * (size_t)n * (size_t)n;
    if (f->head.real == LAT_F64) {
        memcpy(m, (const double *)f->data + i * reals, reals * sizeof(double));
    } else {
        const float *from = (const float *)f->data + i * reals;
        for (size_t k = 0; k < reals; k++)
            m[k] = from[k];
        if (lat_header_completed(&f->head))
            lat_sun_last_row(n, m);
    }
}

/* An iterator over this rank's sites in natural order. */
typedef struct lat_iterator {
    int nd, extent[LAT_MAX_DIMS]; /* of this rank's slab */
    size_t site, stride[LAT_MAX_DIMS];
    size_t wrap_up[LAT_MAX_DIMS], wrap_down[LAT_MAX_DIMS]; /* strides across the boundary, or to
                                                              the ghosts; modulo 2^64 */
    int x[LAT_MAX_DIMS]; /* x[last axis] counts from this rank's first slice */
} lat_iterator;

/* Begins at `site`, below the number of this rank's sites. */
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
        w->wrap_up[mu] = ghosts ? stride : stride - stride * extent; /* negative */
        w->wrap_down[mu] = ghosts ? stride * (extent + 1) : stride * (extent - 1);
        w->x[mu] = (int)(rest % extent);
        rest /= extent;
        stride *= extent;
    }
}

/* The next site; after the last one w->site is the number of sites. */
LAT_INLINE void lat_iterator_next(lat_iterator *w)
{
    w->site++;
    for (int mu = 0; mu < w->nd && ++w->x[mu] == w->extent[mu]; mu++)
        w->x[mu] = 0;
}

/* The neighbours x + mu and x - mu: own sites, or ghosts (field.h). */
LAT_INLINE size_t lat_iterator_up(const lat_iterator *w, int mu)
{
    return w->site + (w->x[mu] + 1 < w->extent[mu] ? w->stride[mu] : w->wrap_up[mu]);
}

LAT_INLINE size_t lat_iterator_down(const lat_iterator *w, int mu)
{
    return w->site + (w->x[mu] > 0 ? -w->stride[mu] : w->wrap_down[mu]);
}

/* Re tr a b^+. */
LAT_INLINE double lat_overlap(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < 2 * n * n; i++)
        s += a[i] * b[i];
    return s;
}

/* The statement, in which n is N of SU(N), and a constant for SU(2) and SU(3): the compiler unrolls
 * its loops. */
#define LAT_WITH_COLOURS(nc, ...) \
    do { \
        if ((nc) == 2) { \
            const int n = 2; \
            __VA_ARGS__; \
        } else if ((nc) == 3) { \
            const int n = 3; \
            __VA_ARGS__; \
        } else { \
            const int n = (nc); \
            __VA_ARGS__; \
        } \
    } while (0)
