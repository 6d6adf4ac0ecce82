/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c: quark propagators, read slice by slice. */
#include "feed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "common/options.h"
#include "formats/fields.h"
#include "legs_file.h"
#include "stream/stream.h"

void lat_feed_free(lat_feed *d)
{
    if (d->reader)
        lat_stream_end(d->reader, NULL);
    d->reader = NULL;
    free(d->raw);
    free(d->slice);
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
    d->raw = lat_alloc(slice_reals(head), (size_t)head->real, "a slice of a propagator");
    d->reader = d->raw ? lat_stream_begin(d->in, head) : NULL;
    return d->reader ? 0 : -1;
}

int lat_feed_slice(lat_feed *d, int t)
{
    const size_t n = slice_reals(&d->f.head), real = (size_t)d->f.head.real;
    if (d->reader && lat_stream_get(d->reader, d->raw, 1) < 0)
        return -1;
    const void *from = d->reader ? d->raw : (const char *)d->f.data + (size_t)t * n * real;
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
    const double largest = lat_stream_largest(d->reader);
    lat_stream_reader *reader = d->reader;
    d->reader = NULL;
    return lat_stream_end(reader, &d->f.head) < 0
                   || lat_stream_verify(&d->f.head, lat_input_name(d->in), NAN, NAN, largest)
               ? -1
               : 0;
}

int lat_need_solution(const lat_header *head, const char *name)
{
    if (head->quark.source && !head->quark.residual && !lat_fermion_known(&head->quark.fermion))
        return lat_mismatch(lat_opts.force,
                            "%s: expected a propagator, found a source (no operator in its header; "
                            "lat-solve makes the propagator; --force takes it)",
                            name);
    return 0;
}

int lat_feed_next(lat_feed *d)
{
    char text[64];
    memset(&d->f, 0, sizeof d->f);
    const int foreign = lat_fields_foreign(d->in);
    const int rc = foreign < 0 ? -1
                   : foreign   ? lat_fields_read(d->in, &d->f)
                               : lat_stream_head(d->in, &d->f.head);
    const lat_header *head = &d->f.head;
    const char *name = lat_input_name(d->in);
    if (rc <= 0 || (d->legs && !foreign && lat_legs_noted(head)))
        return rc;
    if (lat_header_need(head, LAT_PROPAGATOR, name))
        return -1;
    if (head->geom.nd != 4)
        return lat_fail("%s: expected four dimensions, found %s", name,
                        lat_dims_text(&head->geom, text));
    return lat_need_solution(head, name) ? -1 : 1;
}
