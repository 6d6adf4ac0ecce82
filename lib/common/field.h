/* SPDX-License-Identifier: BSD-3-Clause */
/* field.h: a gauge field or gauge transformation in host memory.
 *
 * Full matrices in the precision of the header, natural order: site (x fastest), then
 * direction x, y, z, t (one matrix a site for a transformation), then row, column, re/im.
 * U_mu(x) leads from x to x+mu and becomes g(x) U_mu(x) g(x+mu)^+ (docs/conventions.md). */
#ifndef LAT_FIELD_H
#define LAT_FIELD_H

#include "header.h"
#include "io.h"

typedef struct lat_field {
    lat_header head;
    void *data;   /* lat_field_matrices(f) * 2 * nc * nc reals of head.real */
} lat_field;

/* Allocates the data for f->head, which must be filled in and checked; the data are undefined,
 * and take no memory before they are written. */
int lat_field_alloc(lat_field *f);
void lat_field_free(lat_field *f);  /* data and head; f may be used again after it */

static inline size_t lat_field_matrices(const lat_field *f) { return lat_header_matrices(&f->head); }
static inline size_t lat_field_reals(const lat_field *f)
{
    return lat_field_matrices(f) * 2 * (size_t)f->head.nc * (size_t)f->head.nc;
}

/* Matrix number i (i = site * nd + mu for a gauge field, i = site for a transformation) as
 * 2*nc*nc doubles, and back with rounding to the field's precision. */
void lat_field_get(const lat_field *f, size_t i, double *m);
void lat_field_put(lat_field *f, size_t i, const double *m);

/* Changes the precision in memory; f64 to f32 rounds and makes the plaquette and the link trace
 * of the header NaN (unknown), since they have changed. */
int lat_field_convert(lat_field *f, lat_real real);

#endif
