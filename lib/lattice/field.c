/* SPDX-License-Identifier: BSD-3-Clause */
/* field.c: a field in host memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "field.h"
#include "site/sun.h"

static size_t matrix_bytes(const lat_field *f)
{
    return lat_header_full_reals(&f->head) * (size_t)f->head.real;
}

int lat_field_alloc(lat_field *f, const lat_comm *comm)
{
    char text[64];
    f->comm = comm;
    f->data = NULL;
    f->part = NULL;
    f->zeros = (struct lat_zero_slices){0};
    if (comm && lat_slices(&f->head) < comm->size)
        return lat_fail_usage("lattice %s: expected at most %d ranks, a slice each, found %d",
                              lat_dims_text(&f->head.geom, text), lat_slices(&f->head), comm->size);
    /* No page is touched: a header may state more than the stream holds. */
    f->data = lat_alloc(lat_field_held(f), matrix_bytes(f), "a field");
    return f->data ? 0 : -1;
}

int lat_field_duplicate(const lat_field *u, lat_field *v)
{
    if (lat_header_copy(&v->head, &u->head))
        return -1;
    if (lat_field_alloc(v, u->comm)) {
        lat_header_free(&v->head);
        return -1;
    }
    memcpy(v->data, u->data, lat_field_held(u) * matrix_bytes(u));
    return 0;
}

int lat_field_spinors(lat_field *f, const lat_field *like, lat_kind kind, int columns)
{
    *f = (lat_field){.data = NULL};
    lat_header_init(&f->head);
    f->head.geom = like->head.geom;
    f->head.nc = like->head.nc;
    f->head.real = LAT_F64;
    lat_header_make_spinors(&f->head, kind, columns);
    return lat_field_alloc(f, like->comm);
}

/* ---- slabs ----------------------------------------------------------------------------------- */

lat_slab lat_field_slab(const lat_field *f)
{
    if (!lat_field_shared(f))
        return (lat_slab){0, lat_slices(&f->head)};
    return lat_slab_of(f->comm, f->comm->rank, lat_slices(&f->head));
}

size_t lat_field_held(const lat_field *f)
{
    return lat_field_matrices(f) + (lat_field_shared(f) ? 2 * lat_slice_matrices(&f->head) : 0);
}

size_t lat_field_site(const lat_field *f, size_t i)
{
    const lat_geometry *geom = &f->head.geom;
    int x[LAT_MAX_DIMS];
    if (!f->part)
        return i + lat_slice_sites(&f->head) * (size_t)lat_field_slab(f).first;
    lat_coordinates(&f->part->extent, i, x);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        x[mu] = (x[mu] + f->part->first[mu] + geom->dims[mu]) % geom->dims[mu];
    return lat_site(geom, x);
}

size_t lat_field_index(const lat_field *f, size_t site)
{
    const lat_geometry *geom = &f->head.geom;
    int x[LAT_MAX_DIMS];
    if (f->part) {
        lat_coordinates(geom, site, x);
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            x[mu] = (x[mu] - f->part->first[mu] + geom->dims[mu]) % geom->dims[mu];
        return lat_site(&f->part->extent, x);
    }
    if (!lat_field_shared(f))
        return site;
    const size_t slice = lat_slice_sites(&f->head), slices = (size_t)lat_slices(&f->head);
    const lat_slab s = lat_field_slab(f);
    const size_t t = (site / slice + slices - (size_t)s.first) % slices;
    return site % slice + slice * (t <= (size_t)s.count ? t : (size_t)s.count + 1);
}

bool lat_field_zero(const lat_field *f, size_t first, size_t count)
{
    const size_t slice = lat_slice_sites(&f->head), own = lat_field_sites(f);
    return first + count <= slice * (size_t)f->zeros.first
           || (first + slice * (size_t)f->zeros.last >= own && first + count <= own);
}

size_t lat_field_next(const lat_field *f, size_t i, int mu, int step)
{
    const lat_geometry *geom = f->part ? &f->part->extent : &f->head.geom;
    if (!lat_field_shared(f) || mu != geom->nd - 1)
        return lat_neighbour(geom, i, mu, step);
    const size_t slice = lat_slice_sites(&f->head);
    if (step > 0)
        return i + slice; /* the first ghost lies after the last own slice */
    return i >= slice ? i - slice : i + slice * ((size_t)lat_field_slab(f).count + 1);
}

#define EXCHANGE_BYTES ((size_t)1 << 28) /* of a slice at a time */

int lat_field_exchange(lat_field *f)
{
    if (!lat_field_shared(f))
        return 0;
    const size_t slice = lat_slice_bytes(&f->head);
    for (size_t at = 0; at < slice; at += EXCHANGE_BYTES)
        if (lat_begin_slices(f->comm, (char *)f->data + at, lat_field_slab(f).count, slice,
                             slice - at < EXCHANGE_BYTES ? slice - at : EXCHANGE_BYTES)
            || f->comm->finish(f->comm))
            return -1;
    return 0;
}

int lat_field_gather(const lat_field *f, const void *own, size_t size, void *all)
{
    const int slices = lat_slices(&f->head), ranks = lat_field_shared(f) ? f->comm->size : 1;
    /* The counts of the ranks differ by one at most. */
    const size_t bytes = (size_t)(slices + ranks - 1) / (size_t)ranks * size;
    if (ranks == 1) {
        memcpy(all, own, (size_t)slices * size);
        return 0;
    }
    char *gathered = lat_alloc((size_t)ranks + 1, bytes, "records of slices"), *to = all;
    int rc = -1;
    if (gathered) {
        memcpy(gathered + (size_t)ranks * bytes, own, (size_t)lat_field_slab(f).count * size);
        rc = f->comm->gather(f->comm, gathered + (size_t)ranks * bytes, bytes, gathered);
    }
    for (int r = 0; r < ranks && rc == 0; r++) {
        const size_t n = (size_t)lat_slab_of(f->comm, r, slices).count * size;
        memcpy(to, gathered + (size_t)r * bytes, n);
        to += n;
    }
    free(gathered);
    return rc;
}

/* ---- matrices -------------------------------------------------------------------------------- */

void lat_field_free(lat_field *f)
{
    LAT_FREE(f->data, f->part);
    f->data = NULL;
    f->part = NULL;
    f->zeros = (struct lat_zero_slices){0};
    lat_header_free(&f->head);
}

void lat_field_get(const lat_field *f, size_t i, double *m)
{
    size_t n = lat_header_full_reals(&f->head);
    if (f->head.real == LAT_F64) {
        memcpy(m, (const double *)f->data + i * n, n * sizeof *m);
        return;
    }
    const float *from = (const float *)f->data + i * n;
    for (size_t k = 0; k < n; k++)
        m[k] = (double)from[k];
    if (lat_header_completed(&f->head))
        lat_sun_last_row(3, m);
}

void lat_field_put(lat_field *f, size_t i, const double *m)
{
    size_t n = lat_header_full_reals(&f->head);
    if (f->head.real == LAT_F64) {
        memcpy((double *)f->data + i * n, m, n * sizeof *m);
        return;
    }
    float *to = (float *)f->data + i * n;
    for (size_t k = 0; k < n; k++)
        to[k] = (float)m[k];
}

int lat_field_convert(lat_field *f, lat_real real)
{
    if (real == f->head.real)
        return 0;
    size_t n = lat_field_held(f) * lat_header_full_reals(&f->head);
    void *data = lat_alloc(n, (size_t)real, "a field in the other precision");
    if (!data)
        return -1;
    if (real == LAT_F64) {
        const float *from = f->data;
        double *to = data;
#pragma omp parallel for schedule(static) if (n > 100000)
        for (size_t k = 0; k < n; k++)
            to[k] = (double)from[k];
        for (size_t i = 0; lat_header_completed(&f->head) && i < n / 18; i++)
            lat_sun_last_row(3, to + 18 * i);
    } else {
        const double *from = f->data;
        float *to = data;
#pragma omp parallel for schedule(static) if (n > 100000)
        for (size_t k = 0; k < n; k++)
            to[k] = (float)from[k];
        /* Rounding changes these by up to 1e-7; whoever writes the field measures them again. */
        f->head.plaquette = f->head.link_trace = NAN;
        if (!lat_header_spinors(&f->head)) /* of spinors they are those of their links */
            f->head.functional = f->head.theta = NAN;
        lat_quark_set_residuals(&f->head.quark, NULL); /* of solutions that are there no more */
    }
    free(f->data);
    f->data = data;
    f->head.real = real;
    return 0;
}
