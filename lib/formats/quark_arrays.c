/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_arrays.c: arrays of reals in files, with their axes in any order, to spinors and back; of
 * ranks that read side by side, each its slab. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "lattice/reals.h"
#include "quarks.h"

#define CHUNK_BYTES ((size_t)4 << 20)

/* A position in an array: where the present real is in the field. Of every `period` reals of the
 * file this rank has `run`, from number `first` on. */
typedef struct traversal {
    int axes;
    size_t extent[9], stride[9], digit[9];
    size_t at;
    size_t first, run, period;
} traversal;

void lat_quark_axis(char axis, const lat_header *head, size_t *extent, size_t *stride)
{
    const size_t n = (size_t)head->nc, spinor = 8 * n, site = lat_header_objects(head) * spinor;
    const int *d = head->geom.dims;
    switch (axis) {
    case 'i': *extent = 2, *stride = 1; break;
    case 'c': *extent = n, *stride = 2; break;
    case 's': *extent = 4, *stride = 2 * n; break;
    case 'C': *extent = n, *stride = spinor; break;
    case 'S': *extent = 4, *stride = n * spinor; break;
    case 'x': *extent = (size_t)d[0], *stride = site; break;
    case 'y': *extent = (size_t)d[1], *stride = site * (size_t)d[0]; break;
    case 'z': *extent = (size_t)d[2], *stride = site * (size_t)d[0] * (size_t)d[1]; break;
    default: *extent = (size_t)d[3], *stride = site * lat_slice_sites(head);
    }
}

/* Returns the reals of this rank. */
static size_t traversal_start(traversal *w, const lat_field *f, const lat_quark_array *a)
{
    const lat_slab slab = lat_field_slab(f);
    size_t reals = 1;
    *w = (traversal){.axes = (int)strlen(a->axes), .run = 1, .period = 1};
    for (int k = 0; k < w->axes; k++) {
        size_t all;
        lat_quark_axis(a->axes[k], &f->head, &all, &w->stride[k]);
        const bool cut = a->axes[k] == 't' && (size_t)slab.count < all;
        w->extent[k] = cut ? (size_t)slab.count : all;
        w->first = cut ? (size_t)slab.first : w->first * all;
        w->run = cut ? (size_t)slab.count : w->run * all;
        w->period = cut ? all : w->period * all;
        reals *= w->extent[k];
    }
    w->at = a->column * 8 * (size_t)f->head.nc;
    return reals;
}

/* To the beginning of the next row, after the last real of one. */
static void traversal_row(traversal *w)
{
    int k = w->axes - 1;
    w->at -= w->extent[k] * w->stride[k];
    w->digit[k] = 0;
    for (k--; k >= 0; k--) {
        w->at += w->stride[k];
        if (++w->digit[k] < w->extent[k])
            return;
        w->at -= w->extent[k] * w->stride[k];
        w->digit[k] = 0;
    }
}

/* The next n reals, between the bytes of a chunk and the field. */
static void copy_chunk(traversal *w, const lat_field *f, void *chunk, size_t n, bool to_field)
{
    const int last = w->axes - 1;
    const size_t stride = w->stride[last];
    for (size_t i = 0; i < n;) {
        const size_t left = w->extent[last] - w->digit[last], m = left < n - i ? left : n - i;
        for (size_t k = 0; k < m; k++, i++, w->at += stride)
            if (f->head.real == LAT_F64) {
                double *file = (double *)chunk + i, *memory = (double *)f->data + w->at;
                *(to_field ? memory : file) = *(to_field ? file : memory);
            } else {
                float *file = (float *)chunk + i, *memory = (float *)f->data + w->at;
                *(to_field ? memory : file) = *(to_field ? file : memory);
            }
        w->digit[last] += m;
        if (w->digit[last] == w->extent[last])
            traversal_row(w);
    }
}

uint64_t lat_quark_array_bytes(const lat_header *head, const lat_quark_array *a)
{
    const lat_field whole = {.head = *head}; /* borrowed */
    traversal w;
    return (uint64_t)traversal_start(&w, &whole, a) * (uint64_t)head->real;
}

/* Reals of a chunk: whole units. */
static size_t chunk_reals(const lat_field *f, const lat_quark_array *a)
{
    const size_t unit = a->digest ? a->unit : (size_t)f->head.real;
    return (CHUNK_BYTES / unit ? CHUNK_BYTES / unit : 1) * (unit / (size_t)f->head.real);
}

/* An array on its way between a file and a field. */
typedef struct transfer {
    lat_input *in;
    lat_output *out; /* NULL: nothing is written, only the checksum is computed */
    const lat_field *f;
    const lat_quark_array *a;
    traversal w;
    void *chunk;
    size_t next; /* number of the file's next real */
} transfer;

/* The next n reals of the file, as they are in it. */
static void add_to_sum(const transfer *t, size_t n)
{
    const lat_quark_array *a = t->a;
    const size_t real = (size_t)t->f->head.real;
    if (a->digest)
        a->digest(a->sum, t->chunk, n * real / a->unit, a->unit, t->next * real / a->unit);
}

static void swap_bytes(const transfer *t, size_t n)
{
    if (t->a->big != lat_big_endian())
        lat_reals_swap_bytes(t->chunk, t->chunk, n, t->f->head.real);
}

static int read_chunk(transfer *t, size_t n)
{
    if (lat_input_read(t->in, t->chunk, n * (size_t)t->f->head.real) < 0)
        return -1;
    add_to_sum(t, n);
    swap_bytes(t, n);
    copy_chunk(&t->w, t->f, t->chunk, n, true);
    return 0;
}

static int write_chunk(transfer *t, size_t n)
{
    copy_chunk(&t->w, t->f, t->chunk, n, false);
    swap_bytes(t, n);
    add_to_sum(t, n);
    return t->out ? lat_output_write(t->out, t->chunk, n * (size_t)t->f->head.real) : 0;
}

/* Goes on to real number `to` of the file; what is between belongs to other ranks. */
static int go_to(transfer *t, size_t to)
{
    const size_t n = to - t->next;
    t->next = to;
    return n ? lat_input_skip(t->in, n * (size_t)t->f->head.real) : 0;
}

static int each_chunk(transfer t, int (*move)(transfer *t, size_t n))
{
    const size_t own = traversal_start(&t.w, t.f, t.a), most = chunk_reals(t.f, t.a), run = t.w.run,
                 all = own / run * t.w.period;
    t.chunk = lat_alloc(most < run ? most : run, (size_t)t.f->head.real, "a part of a file");
    int rc = t.chunk ? 0 : -1;
    for (size_t at = 0, n; rc == 0 && at < own; at += n, t.next += n) {
        const size_t left = run - at % run;
        n = most < left ? most : left;
        rc = go_to(&t, at / run * t.w.period + t.w.first + at % run) < 0 ? -1 : move(&t, n);
    }
    if (rc == 0)
        rc = go_to(&t, all);
    free(t.chunk);
    return rc;
}

int lat_quark_array_read(lat_input *in, lat_field *f, const lat_quark_array *a)
{
    int rc = each_chunk((transfer){.in = in, .f = f, .a = a}, read_chunk);
    if (a->digest && (rc = lat_quark_meet(f, rc)) == 0 && lat_field_shared(f))
        rc = lat_sum_of_ranks(f->comm, a->digest, a->sum);
    return rc;
}

int lat_quark_array_write(lat_output *out, const lat_field *f, const lat_quark_array *a)
{
    return each_chunk((transfer){.out = out, .f = f, .a = a}, write_chunk);
}

void lat_quark_take_order(lat_geometry *geom, char axes[LAT_QUARK_AXES], const char *order,
                          lat_kind kind, const uint64_t *extent)
{
    geom->nd = 4;
    for (int k = 0; k < 4; k++) /* larger ones are refused */
        geom->dims[strchr("xyzt", order[k]) - "xyzt"] = extent[k] <= 65535 ? (int)extent[k] : 65536;
    snprintf(axes, LAT_QUARK_AXES, "%s%s", order, kind == LAT_PROPAGATOR ? "sScCi" : "sci");
}

int lat_quark_alloc(lat_input *in, lat_field *f, lat_kind kind, uint64_t bytes)
{
    f->head.nc = 3;
    lat_header_make_spinors(&f->head, kind, 1);
    return lat_rc(lat_header_check(&f->head, lat_input_name(in)) < 0
                  || lat_expect_bytes(in, bytes, bytes, "a field of that size") < 0
                  || lat_field_alloc(f, f->comm));
}

int lat_quark_read_whole(lat_input *in, lat_field *f, lat_kind kind, const lat_quark_array *a)
{
    const uint64_t reals = kind == LAT_PROPAGATOR ? 288 : 24;
    return lat_rc(
        lat_geometry_check(&f->head.geom, lat_input_name(in)) < 0
        || lat_quark_alloc(in, f, kind, reals * (uint64_t)f->head.real * lat_volume(&f->head.geom))
        || lat_quark_array_read(in, f, a) < 0);
}

/* ---- ranks side by side ---------------------------------------------------------------------- */

int lat_quark_meet(const lat_field *f, int rc)
{
    double v[] = {rc < 0, 1}; /* as lat_quark_meet_at_end */
    if (!lat_field_shared(f))
        return rc;
    if (f->comm->max(f->comm, v, 2))
        return -1;
    return v[0] > 0 ? rc < 0 ? -1 : lat_fail(LAT_ANOTHER_FAILED) : 0;
}

/* Ranks that have left early wait for those that are still in lat_quark_meet, and have it fail. */
static int wait_for_all(const lat_comm *comm)
{
    double v[] = {1, 1};
    while (v[1] > 0) {
        v[0] = 1; /* does any rank go no further? */
        v[1] = 0; /* is any rank still reading? */
        if (comm->max(comm, v, 2))
            return -1;
    }
    return 0;
}

int lat_quark_meet_at_end(const char *name, lat_field *f, const lat_comm *comm, int rc)
{
    lat_header first = f->head; /* what it points to is rank 0's */
    if (wait_for_all(comm) || lat_agree_on_first(comm, rc)
        || comm->broadcast(comm, &first, sizeof first, 0))
        return -1;
    if (!lat_header_alike(&first, &f->head) || first.kind != f->head.kind
        || first.real != f->head.real)
        rc = lat_fail("%s: has other bytes on another host", name);
    return lat_agree_on_first(comm, rc) ? -1 : lat_field_exchange(f);
}
