/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_lat.c: our own stream (docs/format.md) as one of the formats. */
#include "stream/stream.h"
#include "format.h"

static bool probe(const unsigned char *bytes, size_t n, int64_t size)
{
    (void)size;
    return lat_stream_is(bytes, n);
}

const lat_format lat_format_lat = {
    .name = "lat",
    .extension = ".lat",
    .about = "the stream of the lat tools: any number of configurations",
    .many = true,
    .fewer_rows = 3,
    .probe = probe,
};
