/* SPDX-License-Identifier: BSD-3-Clause */
/* file_reader.c: a field of a file, slice by slice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "lattice/slices.h"
#include "stream/stream.h"
#include "file_reader.h"

#define PORTION ((size_t)8 << 20) /* bytes of slices at a time, where that is not less than one */

/* ---- up to the links ------------------------------------------------------------------------- */

static int open_stream(lat_file_reader *s, bool whole)
{
    const int more = lat_stream_head(s->in, &s->f.head);
    s->at = lat_input_offset(s->in);
    s->whole = whole || lat_input_size(s->in) < 0
               || (more > 0
                   && !lat_order_sliced(&lat_stream_last(s->in)->order, s->f.head.geom.nd));
    return more;
}

static int open_foreign(lat_file_reader *s, bool whole)
{
    lat_header_init(&s->f.head);
    if (s->format->begin(s->in, &s->f.head, &s->p, &s->r) < 0
        || lat_header_check(&s->f.head, s->name) < 0)
        return -1;
    /* Of a text, that takes more bytes than its numbers do, begin has seen to the length. The
     * slices are the survey's. */
    if (lat_expect_bytes(s->in, s->p.fetch ? 1 : lat_payload_bytes(&s->f.head, s->p.rows),
                         (uint64_t)lat_slice_bytes(&s->f.head)
                             * ((uint64_t)lat_slices(&s->f.head) + 2),
                         "a configuration of that size")
        < 0)
        return -1;
    s->at = lat_input_offset(s->in);
    s->whole = whole || lat_input_size(s->in) < 0 || !lat_payload_sliced(&s->p, &s->f.head);
    return 1;
}

int lat_file_reader_open(lat_file_reader *s, lat_input *in, const lat_format *format,
                         const lat_read_context *r, bool whole)
{
    *s = (lat_file_reader){
        .in = in, .name = lat_input_name(in), .format = format, .r = *r, .fresh = true};
    const int more = format->foreign ? open_foreign(s, whole) : open_stream(s, whole);
    if (more <= 0)
        lat_file_reader_close(s);
    return more;
}

void lat_file_reader_close(lat_file_reader *s)
{
    free(s->p.sites);
    free(s->r.own);
    lat_field_free(&s->f);
    *s = (lat_file_reader){0};
}

/* ---- the links ------------------------------------------------------------------------------- */

static int portion(const lat_file_reader *s, bool at_once)
{
    const size_t slice = lat_slice_bytes(&s->f.head), n = slice < PORTION ? PORTION / slice : 1;
    return at_once || n > (size_t)lat_slices(&s->f.head) ? lat_slices(&s->f.head) : (int)n;
}

static void turn(const lat_header *head, void *matrix)
{
    for (int k = 0; k < 2 * head->nc * head->nc; k++)
        if (head->real == LAT_F64)
            ((double *)matrix)[k] *= -1;
        else
            ((float *)matrix)[k] *= -1;
}

void lat_flip_signs(const lat_header *head, const int signs[LAT_MAX_DIMS], void *slices, int first,
                    int count)
{
    const lat_geometry *geom = &head->geom;
    const size_t bytes = 2 * (size_t)head->nc * (size_t)head->nc * (size_t)head->real,
                 each = lat_slice_sites(head);
    for (int mu = 0; mu < geom->nd; mu++)
        for (size_t i = 0; signs[mu] && i < (size_t)count * each; i++) {
            int x[LAT_MAX_DIMS];
            lat_coordinates(geom, i + (size_t)first * each, x);
            if (x[mu] == signs[mu] - 1)
                turn(head, (char *)slices + (i * (size_t)geom->nd + (size_t)mu) * bytes);
        }
}

/* Into memory, all at once. */
static int keep(lat_file_reader *s)
{
    if (!s->format->foreign)
        return lat_stream_body(s->in, &s->f) < 0 ? -1 : 0;
    return lat_field_alloc(&s->f) < 0
               ? -1
               : lat_payload_read(s->in, &s->f.head, &s->p, s->f.data, 0, lat_slices(&s->f.head));
}

static int from_memory(const lat_file_reader *s, int n, lat_slices_fn *fn, void *context)
{
    const int all = lat_slices(&s->f.head);
    const size_t slice = lat_slice_bytes(&s->f.head);
    int rc = 0;
    for (int t = 0; t < all && rc == 0; t += n)
        rc = fn(context, &s->f.head, (const char *)s->f.data + (size_t)t * slice, t,
                all - t < n ? all - t : n);
    return rc;
}

/* Where slices from t on belong, n at a time: what came before them stays as it is. */
static char *place(const lat_file_reader *s, char *room, int t, int n)
{
    return room + (size_t)(t / n % 2) * (size_t)n * lat_slice_bytes(&s->f.head);
}

/* Our stream verifies its blocks each time; the plaquette is a matter of lat_file_reader_first. */
static int from_stream(lat_file_reader *s, int n, char *room, lat_slices_fn *fn, void *context)
{
    const int all = lat_slices(&s->f.head);
    lat_stream_reader *r = lat_stream_begin(s->in, &s->f.head);
    int rc = r ? 0 : -1;
    for (int t = 0; t < all && rc == 0; t += n) {
        const int count = all - t < n ? all - t : n;
        void *slices = place(s, room, t, n);
        rc = lat_stream_get(r, slices, count) < 0 ? -1 : fn(context, &s->f.head, slices, t, count);
    }
    if (rc == 0)
        s->r.largest = lat_stream_largest(r);
    return lat_stream_end(r, rc == 0 ? &s->f.head : NULL) < 0 ? -1 : rc;
}

/* Sums are made when the links are read first: the second time they are what they were, since the
 * file is. */
static int from_file(lat_file_reader *s, int n, char *room, lat_slices_fn *fn, void *context)
{
    const int all = lat_slices(&s->f.head);
    lat_digest *const digest = s->p.digest;
    int rc = 0;
    if (!s->fresh)
        s->p.digest = NULL;
    for (int t = 0; t < all && rc == 0; t += n) {
        const int count = all - t < n ? all - t : n;
        void *slices = place(s, room, t, n);
        rc = lat_payload_read(s->in, &s->f.head, &s->p, slices, t, count);
        if (rc == 0) {
            lat_flip_signs(&s->f.head, s->signs, slices, t, count);
            rc = fn(context, &s->f.head, slices, t, count);
        }
    }
    s->p.digest = digest;
    if (rc == 0 && !s->fresh)
        rc = lat_input_rewind(s->in, s->at); /* what was verified before is what was read now */
    return rc;
}

int lat_file_reader_each(lat_file_reader *s, bool at_once, lat_slices_fn *fn, void *context)
{
    const int n = portion(s, at_once);
    if (s->whole) {
        const bool there = s->f.data != NULL;
        s->fresh = false;
        return !there && keep(s) < 0 ? -1 : from_memory(s, n, fn, context);
    }
    char *room = lat_alloc(n < lat_slices(&s->f.head) ? 2 * (size_t)n : (size_t)n,
                           lat_slice_bytes(&s->f.head), "slices");
    int rc = room ? 0 : -1;
    if (rc == 0 && !s->fresh)
        rc = lat_input_rewind(s->in, s->at);
    if (rc == 0)
        rc = s->format->foreign ? from_file(s, n, room, fn, context)
                                : from_stream(s, n, room, fn, context);
    s->fresh = false;
    free(room);
    return rc;
}

/* ---- what they are --------------------------------------------------------------------------- */

typedef struct look {
    lat_slicewise *survey; /* NULL: not measured */
    lat_slices_fn *fn;
    void *context;
} look;

static int see(void *context, const lat_header *head, const void *slices, int first, int count)
{
    const look *l = context;
    if (l->survey && lat_slicewise_add(l->survey, slices, count) < 0)
        return -1;
    return l->fn ? l->fn(l->context, head, slices, first, count) : 0;
}

/* Plaquette and link trace of a stream: those of its header, verified, or else the measured ones.
 */
static int settle_stream(lat_file_reader *s, const lat_slice_sums *sums)
{
    lat_header *h = &s->f.head;
    double plaquette, link_trace;
    lat_measure_means(h, sums, &plaquette, &link_trace);
    if (lat_stream_verify(h, s->name, plaquette, link_trace, s->r.largest) < 0)
        return -1;
    lat_header_measured(h, plaquette, link_trace);
    return 0;
}

/* 1: look again. */
static int settle_foreign(lat_file_reader *s, const lat_slice_sums *sums)
{
    lat_header *h = &s->f.head;
    lat_measure_means(h, sums, &h->plaquette, &h->link_trace);
    if (s->judged)
        return 0;
    const int rc = s->format->end ? s->format->end(s->in, &s->f, &s->p, &s->r) : 0;
    if (rc == 1 && !s->whole) {
        memset(&s->p.sum, 0, sizeof s->p.sum);
        return lat_input_rewind(s->in, s->at) < 0 ? -1 : (s->fresh = true, 1);
    }
    if (rc)
        return rc;
    const int signs = lat_expect_end(s->in, s->r.force) < 0 ? -1 : lat_validate(s, sums);
    s->judged = true;
    if (signs == 1 && s->whole)
        lat_flip_signs(h, s->signs, s->f.data, 0, lat_slices(h));
    return signs;
}

static int look_once(lat_file_reader *s, bool at_once, look *l)
{
    lat_slice_sums sums = {0};
    if (lat_file_reader_each(s, at_once, see, l) < 0
        || (l->survey && lat_slicewise_end(l->survey, &sums) < 0))
        return -1;
    if (s->format->foreign)
        return settle_foreign(s, &sums);
    return l->survey ? settle_stream(s, &sums) : 0;
}

/* Whole fields of a stream were verified when they were read. */
static bool measured(const lat_file_reader *s)
{
    return s->f.head.kind == LAT_GAUGE
           && (s->format->foreign || !s->whole || isnan(s->f.head.plaquette));
}

int lat_file_reader_first(lat_file_reader *s, bool at_once, lat_again_fn *again, lat_slices_fn *fn,
                          void *context)
{
    int rc = 1;
    while (rc == 1) {
        look l = {.fn = fn, .context = context};
        rc = again ? again(context) : 0;
        if (rc == 0 && measured(s)
            && !(l.survey = lat_slicewise_new(&s->f.head, s->format->foreign)))
            rc = -1;
        if (rc == 0)
            rc = look_once(s, at_once, &l);
        lat_slicewise_free(l.survey);
    }
    return rc;
}
