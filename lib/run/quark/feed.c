/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c: quark propagators, read slice by slice. */
#include "feed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/async.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "common/options.h"
#include "formats/fields.h"
#include "legs_file.h"
#include "stream/stream.h"

const char *lat_feed_boundary;

/* ---- a pipe ---------------------------------------------------------------------------------- */

/* What comes through a pipe is copied by the kernel, by one thread, for longer than slices are
 * used. So the next slice is read beside the use of one, into two buffers in turn. */
typedef struct lat_feed_ahead {
    lat_async async;
    struct lat_stream_reader *reader;
    void *raw[2];
    int begun, slices;
} ahead;

static void *buffer(const ahead *a) { return a->raw[a->begun % 2]; }

static int read_slice(void *with)
{
    const ahead *a = with;
    return lat_stream_get(a->reader, buffer(a), 1);
}

/* Begins with the next slice, if there is one. */
static int read_on(ahead *a)
{
    if (a->begun == a->slices)
        return 0;
    a->begun++;
    return lat_async_start(&a->async, lat_threads(), read_slice, a)
               ? lat_fail("a thread could not be started")
               : 0;
}

static void free_ahead(ahead *a)
{
    for (int i = 0; i < 2; i++)
        free(a->raw[i]);
    free(a);
}

/* NULL with lat_error set. */
static ahead *begin_ahead(lat_input *in, struct lat_stream_reader *reader, int slices, size_t bytes)
{
    ahead *a = lat_alloc(1, sizeof *a, "slices of a pipe");
    if (!a)
        return NULL;
    *a = (ahead){.reader = reader, .slices = slices};
    lat_input_may_end(in);
    bool good = true;
    for (int i = 0; i < 2 && good; i++)
        good = (a->raw[i] = lat_alloc(bytes, 1, "a slice of a propagator")) != NULL;
    if (good && read_on(a) == 0)
        return a;
    free_ahead(a);
    return NULL;
}

/* The next slice, until the call after this one; NULL with lat_error set. */
static const void *next_slice(ahead *a)
{
    const void *slice = buffer(a);
    return lat_async_wait(&a->async) < 0 || read_on(a) ? NULL : slice;
}

/* Where a slice is still on its way the run has failed, and it may never come. */
static void end_ahead(lat_feed *d)
{
    if (!d->ahead)
        return;
    if (d->ahead->async.running)
        lat_input_end(d->in);
    lat_async_drop(&d->ahead->async);
    free_ahead(d->ahead);
    d->ahead = NULL;
}

/* ---- a propagator ---------------------------------------------------------------------------- */

void lat_feed_free(lat_feed *d)
{
    end_ahead(d);
    if (d->reader)
        lat_stream_end(d->reader, NULL);
    d->reader = NULL;
    LAT_FREE(d->raw, d->slice);
    d->raw = NULL;
    d->slice = NULL;
    lat_field_free(&d->f);
}

static size_t slice_reals(const lat_header *head)
{
    return lat_slice_matrices(head) * lat_header_full_reals(head);
}

int lat_feed_start(lat_feed *d)
{
    const lat_header *head = &d->f.head;
    d->slice = lat_alloc(slice_reals(head), sizeof *d->slice, "a slice of a propagator");
    if (!d->slice)
        return -1;
    if (d->f.data)
        return 0;
    d->f.comm = lat_opts.comm;
    if (d->whole || lat_field_shared(&d->f)
        || !lat_order_sliced(&lat_stream_last(d->in)->order, head->geom.nd))
        return lat_stream_body(d->in, &d->f) < 0 ? -1 : 0;
    const size_t bytes = slice_reals(head) * (size_t)head->real;
    if (!(d->reader = lat_stream_begin(d->in, head)))
        return -1;
    if (lat_input_size(d->in) < 0)
        return (d->ahead = begin_ahead(d->in, d->reader, lat_slices(head), bytes)) ? 0 : -1;
    return (d->raw = lat_alloc(bytes, 1, "a slice of a propagator")) ? 0 : -1;
}

/* The reals of slice t, as they are stored; NULL with lat_error set. */
static const void *stored_slice(lat_feed *d, int t)
{
    if (d->ahead)
        return next_slice(d->ahead);
    if (d->reader)
        return lat_stream_get(d->reader, d->raw, 1) < 0 ? NULL : d->raw;
    return (const char *)d->f.data + (size_t)t * slice_reals(&d->f.head) * (size_t)d->f.head.real;
}

int lat_feed_slice(lat_feed *d, int t)
{
    const size_t n = slice_reals(&d->f.head);
    const void *from = stored_slice(d, t);
    if (!from)
        return -1;
    if (d->f.head.real == LAT_F64)
        lat_memcpy(d->slice, from, n * sizeof *d->slice);
    else
        for (size_t i = 0; i < n; i++)
            d->slice[i] = ((const float *)from)[i];
    return 0;
}

int lat_feed_end(lat_feed *d)
{
    if (!d->reader)
        return 0;
    end_ahead(d);
    const double largest = lat_stream_largest(d->reader);
    lat_stream_reader *reader = d->reader;
    d->reader = NULL;
    return lat_rc(lat_stream_end(reader, &d->f.head) < 0
                  || lat_stream_verify(&d->f.head, lat_input_name(d->in), NAN, NAN, largest));
}

int lat_need_solution(const lat_header *head, const char *name)
{
    if (lat_header_source(head))
        return lat_mismatch(lat_opts.force,
                            "%s: expected a propagator, found a source (no operator in its header; "
                            "lat-solve makes the propagator; --force takes it)",
                            name);
    return 0;
}

/* What --boundary says, in the header. */
static int state_boundary(lat_header *head, const char *name)
{
    lat_phase boundary[LAT_MAX_DIMS];
    if (!lat_feed_boundary)
        return 0;
    return lat_boundary_parse(lat_feed_boundary, boundary)
               ? lat_fail_usage("--boundary: expected four of p, a, d or a number, with commas "
                                "between, the last one perhaps o, found '%.80s'",
                                lat_feed_boundary)
               : lat_quarks_state_boundary(name, head, boundary, lat_opts.force);
}

int lat_feed_next(lat_feed *d)
{
    char text[64];
    memset(&d->f, 0, sizeof d->f);
    const int foreign = lat_fields_foreign(d->in);
    const int rc = foreign < 0 ? -1
                   : foreign   ? lat_fields_read(d->in, &d->f)
                               : lat_stream_head(d->in, &d->f.head);
    lat_header *head = &d->f.head;
    const char *name = lat_input_name(d->in);
    if (rc <= 0 || (d->legs && !foreign && lat_legs_noted(head)))
        return rc;
    if (lat_header_need(head, LAT_PROPAGATOR, name))
        return -1;
    if (head->geom.nd != 4)
        return lat_fail("%s: expected four dimensions, found %s", name,
                        lat_dims_text(&head->geom, text));
    return state_boundary(head, name) || lat_need_solution(head, name) ? -1 : 1;
}
