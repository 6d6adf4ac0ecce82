/* SPDX-License-Identifier: BSD-3-Clause */
/* file_reader.c: reads a field of a file slice by slice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "lattice/slices.h"
#include "stream/stream.h"
#include "file_reader.h"

#define SLICE_BYTES ((size_t)8 << 20) /* bytes of slices at a time, but one slice at least */

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
    s->p = s->format->stored;
    s->r.format = s->format;
    if (s->format->begin(s->in, &s->f.head, &s->p, &s->r) < 0
        || lat_header_check(&s->f.head, s->name) < 0)
        return -1;
    if (s->p.rows == 0)
        s->p.rows = s->f.head.nc;
    if (s->format->source && lat_set_source(&s->f.head, "%s", s->format->source) < 0)
        return -1;
    /* The length of a text was checked by begin. The slices are those that a measurement keeps. */
    if (!s->p.found
        && lat_expect_bytes(s->in, s->p.read_reals ? 1 : lat_payload_bytes(&s->f.head, s->p.rows),
                            (uint64_t)lat_slice_bytes(&s->f.head)
                                * ((uint64_t)lat_slices(&s->f.head) + 2),
                            "a configuration of that size"))
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
    const int more = format->stream ? open_stream(s, whole) : open_foreign(s, whole);
    if (more <= 0)
        lat_file_reader_close(s);
    return more;
}

void lat_file_reader_close(lat_file_reader *s)
{
    free(s->p.sites);
    if (s->r.state && s->format->drop)
        s->format->drop(s->r.state);
    free(s->r.state);
    lat_field_free(&s->f);
    *s = (lat_file_reader){0};
}

/* ---- the links ------------------------------------------------------------------------------- */

static int slices_at_a_time(const lat_file_reader *s, bool at_once)
{
    const size_t slice = lat_slice_bytes(&s->f.head),
                 n = slice < SLICE_BYTES ? SLICE_BYTES / slice : 1;
    return at_once || n > (size_t)lat_slices(&s->f.head) ? lat_slices(&s->f.head) : (int)n;
}

static void negate(const lat_header *head, void *matrix)
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
                negate(head, (char *)slices + (i * (size_t)geom->nd + (size_t)mu) * bytes);
        }
}

static int read_whole(lat_file_reader *s)
{
    if (s->format->stream)
        return lat_stream_body(s->in, &s->f) < 0 ? -1 : 0;
    return lat_rc(
        lat_field_alloc(&s->f, NULL) < 0
        || lat_payload_read(s->in, &s->f.head, &s->p, s->f.data, 0, lat_slices(&s->f.head)));
}

static int each_of_memory(const lat_file_reader *s, int n, lat_slices_fn *fn, void *context)
{
    const int all = lat_slices(&s->f.head);
    const size_t slice = lat_slice_bytes(&s->f.head);
    int rc = 0;
    for (int t = 0; t < all && rc == 0; t += n)
        rc = fn(context, &s->f.head, (const char *)s->f.data + (size_t)t * slice, t,
                all - t < n ? all - t : n);
    return rc;
}

/* The next slices, of our stream (`r`) or of a foreign file. */
static int next_slices(lat_file_reader *s, lat_stream_reader *r, void *slices, int first, int count)
{
    if (r)
        return lat_stream_get(r, slices, count) < 0 ? -1 : 0;
    if (s->picks ? lat_payload_pick(s->in, s->at, &s->f.head, &s->p, slices, first, count)
                 : lat_payload_read(s->in, &s->f.head, &s->p, slices, first, count))
        return -1;
    lat_flip_signs(&s->f.head, s->signs, slices, first, count);
    return 0;
}

/* Blocks of our stream are verified each time; the plaquette is, by lat_file_reader_first. Of a
 * foreign file checksums are computed in the first pass only; then rewinding makes sure that the
 * file has not changed. */
static int each_of_file(lat_file_reader *s, int n, char *buffers, lat_slices_fn *fn, void *context)
{
    const int all = lat_slices(&s->f.head);
    lat_digest *const digest = s->p.digest;
    lat_stream_reader *r = s->format->stream ? lat_stream_begin(s->in, &s->f.head) : NULL;
    int rc = r || !s->format->stream ? 0 : -1;
    if (!s->fresh)
        s->p.digest = NULL;
    for (int t = 0; t < all && rc == 0; t += n) {
        const int count = all - t < n ? all - t : n;
        /* There are two buffers: the slices before stay in memory. */
        char *slices = buffers + (size_t)(t / n % 2) * (size_t)n * lat_slice_bytes(&s->f.head);
        rc = next_slices(s, r, slices, t, count) ? -1 : fn(context, &s->f.head, slices, t, count);
    }
    s->p.digest = digest;
    if (s->format->stream) {
        if (rc == 0)
            s->r.largest = lat_stream_largest(r);
        return lat_stream_end(r, rc == 0 ? &s->f.head : NULL) < 0 ? -1 : rc;
    }
    return rc == 0 && !s->fresh ? lat_input_rewind(s->in, s->at) : rc;
}

int lat_file_reader_each(lat_file_reader *s, bool at_once, lat_slices_fn *fn, void *context)
{
    const int n = slices_at_a_time(s, at_once);
    if (s->whole) {
        const bool there = s->f.data != NULL;
        s->fresh = false;
        return !there && read_whole(s) < 0 ? -1 : each_of_memory(s, n, fn, context);
    }
    char *buffers = lat_alloc(n < lat_slices(&s->f.head) ? 2 * (size_t)n : (size_t)n,
                              lat_slice_bytes(&s->f.head), "slices");
    int rc = buffers ? 0 : -1;
    if (rc == 0 && !s->fresh)
        rc = lat_input_rewind(s->in, s->at);
    if (rc == 0)
        rc = each_of_file(s, n, buffers, fn, context);
    s->fresh = false;
    free(buffers);
    return rc;
}

int lat_file_reader_get(lat_file_reader *s, void *slices, int first, int count)
{
    const lat_header *head = &s->f.head;
    const size_t slice = lat_slice_bytes(head);
    if (s->whole) {
        lat_memcpy(slices, (const char *)s->f.data + (size_t)first * slice, (size_t)count * slice);
        return 0;
    }
    s->p.digest = NULL;
    if ((first == 0 && lat_input_rewind(s->in, s->at) < 0)
        || next_slices(s, NULL, slices, first, count))
        return -1;
    return first + count < lat_slices(head) ? 0 : lat_input_rewind(s->in, s->at);
}

int lat_file_reader_pick(lat_file_reader *s, void *slices, int first, int count)
{
    s->picks = true;
    s->whole = false;
    if (!s->fresh)
        s->p.digest = NULL;
    s->fresh = false;
    return next_slices(s, NULL, slices, first, count);
}

/* ---- the first pass -------------------------------------------------------------------------- */

typedef struct first_pass {
    lat_slicewise *measurement; /* NULL: not measured */
    lat_slices_fn *fn;
    void *context;
} first_pass;

static int pass_slices(void *context, const lat_header *head, const void *slices, int first,
                       int count)
{
    const first_pass *l = context;
    if (l->measurement && lat_slicewise_add(l->measurement, slices, count) < 0)
        return -1;
    return l->fn ? l->fn(l->context, head, slices, first, count) : 0;
}

static int search(void *context, const lat_header *head, const void *slices, int first, int count)
{
    const size_t each = lat_slice_matrices(head);
    lat_farthest_search(context, head, slices, (size_t)first * each, (size_t)count * each);
    return 0;
}

static int verify_group(lat_file_reader *s, double distance)
{
    lat_farthest far = {0, 0, 0};
    if (distance <= LAT_SUN_WITHIN)
        return 0;
    return lat_rc(lat_file_reader_each(s, false, search, &far) < 0
                  || lat_farthest_check(&far, &s->f.head, s->name));
}

/* Plaquette and link trace of a stream: those of its header, verified, else the measured ones. */
static int verify_stream(lat_file_reader *s, const lat_slice_sums *sums)
{
    lat_header *h = &s->f.head;
    double plaquette, link_trace;
    lat_measure_means(h, sums, &plaquette, &link_trace);
    if (lat_stream_verify(h, s->name, plaquette, link_trace, s->r.largest) < 0
        || verify_group(s, sums->distance) < 0)
        return -1;
    lat_header_measured(h, plaquette, link_trace);
    return 0;
}

int lat_file_reader_end(lat_file_reader *s, const lat_slice_sums *sums)
{
    lat_header *h = &s->f.head;
    lat_measure_means(h, sums, &h->plaquette, &h->link_trace);
    if (s->validated || !s->format->end)
        return 0;
    const int rc = s->format->end(s->in, &s->f, &s->p, &s->r);
    if (rc != 1 || s->whole)
        return rc;
    memset(&s->p.sum, 0, sizeof s->p.sum);
    return lat_input_rewind(s->in, s->at) < 0 ? -1 : (s->fresh = true, 1);
}

int lat_file_reader_verify(lat_file_reader *s, const lat_slice_sums *sums)
{
    lat_header *h = &s->f.head;
    const int rc = lat_file_reader_end(s, sums);
    if (rc || s->validated)
        return rc;
    const int signs = lat_expect_end(s->in, s->r.force) < 0 ? -1 : lat_validate(s, sums);
    s->validated = true;
    if (signs >= 0 && s->r.no_checksum && isnan(s->r.plaquette))
        lat_warn("%s: states no checksums: it may be cut off after the links, and damage of links "
                 "shows only where they leave SU(N)",
                 s->name);
    if (signs == 1 && s->whole)
        lat_flip_signs(h, s->signs, s->f.data, 0, lat_slices(h));
    return signs;
}

static int pass_once(lat_file_reader *s, bool at_once, first_pass *l)
{
    lat_slice_sums sums = {0};
    if (lat_file_reader_each(s, at_once, pass_slices, l) < 0
        || (l->measurement && lat_slicewise_end(l->measurement, &sums) < 0))
        return -1;
    if (!s->format->stream)
        return lat_file_reader_verify(s, &sums);
    return l->measurement ? verify_stream(s, &sums) : 0;
}

/* Is plaquette and link trace to be measured? A whole field of a stream was verified when it was
 * read. */
static bool measured(const lat_file_reader *s)
{
    return s->f.head.kind == LAT_GAUGE
           && (!s->format->stream || !s->whole || isnan(s->f.head.plaquette));
}

int lat_file_reader_first(lat_file_reader *s, bool at_once, lat_restart_fn *restart,
                          lat_slices_fn *fn, void *context)
{
    int rc = 1;
    while (rc == 1) {
        first_pass l = {.fn = fn, .context = context};
        rc = restart ? restart(context) : 0;
        if (rc == 0 && measured(s) && !(l.measurement = lat_slicewise_new(&s->f.head, true)))
            rc = -1;
        if (rc == 0)
            rc = pass_once(s, at_once, &l);
        lat_slicewise_free(l.measurement);
    }
    return rc;
}
