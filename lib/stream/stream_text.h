/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_text.h: between stream_text.c, the header as text, and the blocks (stream_blocks.h); for
 * nobody else. */
#ifndef LAT_STREAM_TEXT_H
#define LAT_STREAM_TEXT_H

#include <stdint.h>
#include "stream.h"

/* What is known of an input: its last header, kept from lat_stream_head to lat_stream_body. */
typedef struct lat_stream_state {
    bool known;               /* a header was read */
    unsigned long long begin; /* its offset */
    unsigned fields;          /* headers since the last end mark */
    bool filtered, swapped;   /* reals are filtered; are not in the byte order of this machine */
    lat_stream_form form;
} lat_stream_state;

/* NULL, with lat_error set, if no header of this input was read. */
lat_stream_state *lat_stream_state_of(lat_input *in);

/* The end mark, 16 bytes like a trailer. */
#define LAT_END_TAG "LATZ"
#define LAT_END_SIZE 16
void lat_stream_end_mark(unsigned fields, unsigned char mark[LAT_END_SIZE]);

/* Writes the header: compressed blocks are filtered as well. */
int lat_stream_put_head(lat_output *out, const lat_header *head, size_t block, bool compressed);

#endif
