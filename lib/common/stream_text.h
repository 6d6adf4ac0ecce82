/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_text.h: between stream_text.c, the header as text, and stream.c, the blocks; for nobody
 * else. */
#ifndef LAT_STREAM_TEXT_H
#define LAT_STREAM_TEXT_H

#include "stream.h"

/* What the last header of an input said, kept from lat_stream_head to lat_stream_body. */
typedef struct lat_stream_state {
    const lat_input *in;
    unsigned long long begin;   /* offset of the header */
    unsigned long long age;
    bool filtered, swapped;     /* reals are filtered; are not in the byte order of this machine */
    lat_stream_form form;
} lat_stream_state;

/* NULL if no header of this input was read. */
lat_stream_state *lat_stream_state_of(const lat_input *in);

/* Writes the header: compressed blocks are filtered as well. */
int lat_stream_put_head(lat_output *out, const lat_header *head, size_t block, bool compressed);

static inline bool lat_big_endian(void) { return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__; }

#endif
