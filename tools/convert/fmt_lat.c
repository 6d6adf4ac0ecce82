/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_lat.c: our own stream (docs/format.md) as one of the formats. */
#include "common/stream.h"
#include "format.h"

static bool probe(const unsigned char *bytes, size_t n, int64_t size)
{
    (void)size;
    return lat_stream_is(bytes, n);
}

static int read_field(lat_input *in, lat_field *f, lat_reading *r)
{
    (void)r; /* a damaged stream of ours is never taken */
    return lat_stream_read(in, f);
}

static int write_field(lat_output *out, lat_field *f, const lat_writing *w)
{
    return lat_stream_write(out, f, w->store);
}

const lat_format lat_format_lat = {
    .name = "lat",
    .extension = ".lat",
    .about = "the stream of the lat tools: any number of configurations",
    .many = true,
    .fewer_rows = 3,
    .probe = probe,
    .read = read_field,
    .write = write_field,
};
