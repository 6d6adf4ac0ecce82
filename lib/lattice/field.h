/* SPDX-License-Identifier: BSD-3-Clause */
/* field.h: a field in host memory: links, a gauge transformation, spinors.
 *
 * Whole objects in the precision of the header, natural order: site (x fastest), then
 * direction x, y, z, t (one matrix a site for a transformation), then row, column, re/im.
 * U_mu(x) leads from x to x+mu and becomes g(x) U_mu(x) g(x+mu)^+ (docs/conventions.md).
 *
 * Spinors: site, column, spin, colour, re/im, in the basis of DeGrand and Rossi; column
 * source spin * N + source colour of a propagator. "Matrix" below is object: a link, a g, a
 * spinor. */
#pragma once

#include "comm/comm.h"
#include "header.h"
#include "common/io.h"
#include "slices.h"

/* Ranks (comm/comm.h) share a field: each has a slab, consecutive slices across the last axis. In
 * memory a rank has its own slices in natural order, numbered from 0. Two ghost slices follow,
 * copies of other ranks' slices: first the one after its own, then the one before them. A rank
 * alone has all slices, numbered as in the lattice, and no ghosts.
 *
 * Or it is a copy of another part of such a field, in natural order, for what works on that
 * (box.h): own sites and ghosts are not told apart, and functions of slabs do not take it. */
typedef struct lat_part_of_lattice {
    int first[LAT_MAX_DIMS]; /* of the lattice, modulo its extents */
    lat_geometry extent;     /* may be larger than the lattice */
} lat_part_of_lattice;

typedef struct lat_field {
    lat_header head;           /* of the whole field, on every rank */
    void *data;                /* lat_field_held(f) matrices, lat_header_full_reals reals each */
    const lat_comm *comm;      /* the ranks that share it; NULL: this one alone */
    lat_part_of_lattice *part; /* owned; NULL: a slab, or all */

    /* So many own slices, the first and the last ones, hold nothing but zeros, as far as somebody
     * has said so. Who writes spinors there sets both to 0. */
    struct lat_zero_slices {
        int first, last;
    } zeros;
} lat_field;

/* Allocates the data for f->head, which must be filled in and checked, shared by the ranks of
 * `comm` (NULL: this one alone), which must outlive the field. The data are undefined, and take no
 * memory before they are written. 0, or -1 with lat_error set: no memory, or fewer slices than
 * ranks. */
int lat_field_alloc(lat_field *f, const lat_comm *comm);
void lat_field_free(lat_field *f); /* data and head; f may be used again */

/* v = a copy of u, ghosts included: 0, or -1 with lat_error set. */
int lat_field_duplicate(const lat_field *u, lat_field *v);

/* Spinors in double, `columns` a site, undefined, on the lattice and the ranks of `like`. As
 * lat_field_alloc. */
int lat_field_spinors(lat_field *f, const lat_field *like, lat_kind kind, int columns);

/* Do several ranks share it? */
static inline bool lat_field_shared(const lat_field *f) { return f->comm && f->comm->size > 1; }

/* The slices of this rank, among the lat_slices(&f->head) of all (slices.h). */
lat_slab lat_field_slab(const lat_field *f);

/* Own sites, matrices and reals of this rank, without ghosts. */
static inline size_t lat_field_sites(const lat_field *f)
{
    if (f->part)
        return lat_volume(&f->part->extent);
    return lat_slice_sites(&f->head) * (size_t)lat_field_slab(f).count;
}
static inline size_t lat_field_matrices(const lat_field *f)
{
    return lat_field_sites(f) * lat_header_objects(&f->head);
}
static inline size_t lat_field_reals(const lat_field *f)
{
    return lat_field_matrices(f) * lat_header_full_reals(&f->head);
}

/* Matrices in memory: own and ghosts. */
size_t lat_field_held(const lat_field *f);

/* The global site of own site i; and the local number of a global site, which must be own or
 * ghost. */
size_t lat_field_site(const lat_field *f, size_t i);
size_t lat_field_index(const lat_field *f, size_t site);

/* Do these own sites hold nothing but zeros, by f->zeros? False: nobody knows. */
bool lat_field_zero(const lat_field *f, size_t first, size_t count);

/* The neighbour of local site i one step (+1, -1) along mu. From an own site in any direction, from
 * a ghost within its slice. */
size_t lat_field_next(const lat_field *f, size_t i, int mu, int step);

/* Halo exchange: fills the ghosts of all ranks. Call it after own matrices have changed and before
 * neighbours are read. All ranks call it: 0, or -1 with lat_error set. */
int lat_field_exchange(lat_field *f);

/* Gathers a record of `size` bytes for each slice. `own`: the records of this rank's slices; `all`:
 * the numbers of all slices in the order of the lattice, the same bits on all ranks. All ranks call
 * it: 0, or -1 with lat_error set. */
int lat_field_gather(const lat_field *f, const void *own, size_t size, void *all);

/* Object number i (site * objects + mu, or + column) as lat_header_full_reals doubles, and back,
 * rounded to the precision of the field. A row that lat_header_completed names is computed. */
void lat_field_get(const lat_field *f, size_t i, double *m);
void lat_field_put(lat_field *f, size_t i, const double *m);

/* Changes the precision in memory. f64 to f32 rounds, and sets plaquette and link trace of the
 * header to NaN (unknown), because they have changed. 0, or -1 without memory: f is as before. */
int lat_field_convert(lat_field *f, lat_real real);
