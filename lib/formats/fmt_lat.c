/* SPDX-License-Identifier: BSD-3-Clause */
/* fmt_lat.c: our own stream (docs/format.md) as one of the formats. */
#include <string.h>
#include "base/error.h"
#include "stream/stream.h"
#include "format.h"

/* Of any version, and where the input ends before that: the reader of streams has the sentence. */
static bool probe(const unsigned char *bytes, size_t n, LAT_UNUSED int64_t size)
{
    const size_t length = strlen("lat-stream ");
    return n && memcmp(bytes, LAT_STREAM_MAGIC, n < length ? n : length) == 0;
}

const lat_format lat_format_lat = {
    .name = "lat",
    .about = "the stream of lat: configurations, gauge transformations, quarks",
    .stream = true,
    .fewer_rows = 3,
    .probe = probe,
};
