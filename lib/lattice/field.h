/* SPDX-License-Identifier: BSD-3-Clause */
/* field.h: a gauge field or gauge transformation in host memory.
 *
 * Full matrices in the precision of the header, natural order: site (x fastest), then
 * direction x, y, z, t (one matrix a site for a transformation), then row, column, re/im.
 * U_mu(x) leads from x to x+mu and becomes g(x) U_mu(x) g(x+mu)^+ (docs/conventions.md). */
#ifndef LAT_FIELD_H
#define LAT_FIELD_H

#include "comm/comm.h"
#include "header.h"
#include "common/io.h"
#include "slices.h"

/* Several ranks (comm/comm.h) share a field: each has a slab of it, some consecutive slices across
 * the last axis in natural order, and after these two ghosts, copies of other ranks' slices: the
 * one after its own and the one before them. So the own matrices and sites of a rank are numbered
 * from 0; alone it has all of them, numbered as in the lattice, and no ghosts. */
typedef struct lat_field {
    lat_header head;      /* of the whole field, whoever has it */
    void *data;           /* lat_field_held(f) matrices, 2 * nc * nc reals of head.real each */
    const lat_comm *comm; /* the ranks that share it; NULL: nobody else */
} lat_field;

/* Allocates the data for f->head, which must be filled in and checked, for the ranks of
 * lat_comm_world; the data are undefined, and take no memory before they are written. Fails with
 * fewer slices than ranks. */
int lat_field_alloc(lat_field *f);
void lat_field_free(lat_field *f); /* data and head; f may be used again after it */

static inline bool lat_field_shared(const lat_field *f) { return f->comm && f->comm->size > 1; }

/* The slices of this rank, among the lat_slices(&f->head) of all (slices.h). */
lat_slab lat_field_slab(const lat_field *f);

/* Own sites and matrices of this rank. */
static inline size_t lat_field_sites(const lat_field *f)
{
    return lat_slice_sites(&f->head) * (size_t)lat_field_slab(f).count;
}
static inline size_t lat_field_matrices(const lat_field *f)
{
    return lat_field_sites(f) * (f->head.kind == LAT_GAUGE ? (size_t)f->head.geom.nd : 1);
}
static inline size_t lat_field_reals(const lat_field *f)
{
    return lat_field_matrices(f) * 2 * (size_t)f->head.nc * (size_t)f->head.nc;
}

/* Matrices in memory: own ones, then ghosts. */
size_t lat_field_held(const lat_field *f);

/* The lattice's number of own site i; and where a site of the lattice is that is an own one or in a
 * ghost. */
static inline size_t lat_field_site(const lat_field *f, size_t i)
{
    return i + lat_slice_sites(&f->head) * (size_t)lat_field_slab(f).first;
}
size_t lat_field_index(const lat_field *f, size_t site);

/* The neighbour of site i one step along mu: from own ones anywhere, from ghosts within their
 * slice. */
size_t lat_field_next(const lat_field *f, size_t i, int mu, int step);

/* Brings the ghosts up to date: after own matrices have changed, before neighbours are asked for.
 */
int lat_field_share(lat_field *f);

/* A record of `size` bytes for each slice: those of this rank's slices in, of all slices in the
 * order of the lattice out, the same bits on all ranks. */
int lat_field_gather(const lat_field *f, const void *own, size_t size, void *all);

/* Matrix number i (i = site * nd + mu for a gauge field, i = site for a transformation) as
 * 2*nc*nc doubles, and back with rounding to the field's precision. */
void lat_field_get(const lat_field *f, size_t i, double *m);
void lat_field_put(lat_field *f, size_t i, const double *m);

/* Changes the precision in memory; f64 to f32 rounds and makes the plaquette and the link trace
 * of the header NaN (unknown), since they have changed. */
int lat_field_convert(lat_field *f, lat_real real);

#endif
