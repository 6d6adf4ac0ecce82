/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_header_internal.h: the header of a stream and the end mark.
 *
 *   stream_header.c   reads a header: first line, lines, checksum; end marks; rank 0's to all ranks
 *   stream_parse.c    lines into values
 *   stream_print.c    values into lines */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "stream.h"

#define LAT_MAX_HEADER ((size_t)1 << 20) /* bytes of a header, first and last line included */

/* What is known of an input. It is kept from lat_stream_head to lat_stream_body, and attached to
 * the input (lat_input_attach). */
typedef struct lat_stream_state {
    bool known;               /* a header was read */
    unsigned long long begin; /* offset of the last header */
    unsigned fields;          /* headers since the last end mark */
    bool filtered;            /* reals went through the filter of codec.h */
    bool swapped;             /* reals are not in the byte order of this machine */
    lat_stream_form form;
} lat_stream_state;

/* NULL, with lat_error set, if no header of this input was read. */
lat_stream_state *lat_stream_state_of(lat_input *in);

/* A frame: the head of a block, the trailer of a field, the end mark: a tag, two numbers, and the
 * CRC of both; in the head of a block the CRC goes on through the payload. */
#define LAT_FRAME 16
#define LAT_BLOCK_TAG "LATB"
#define LAT_TRAILER_TAG "LATE"
#define LAT_END_TAG "LATZ"
void lat_stream_frame(unsigned char frame[LAT_FRAME], const char *tag, uint32_t a, uint32_t b);

/* Parses the lines between the first and the last one of a header: `n` bytes of text, each line
 * ended by a zero. The text is changed. Values go to *head, which lat_header_init has initialised,
 * and to *state. `name` names the input. */
int lat_stream_parse(char *text, size_t n, const char *name, lat_header *head,
                     lat_stream_state *state);

/* True for eight lower-case hexadecimal digits and nothing after them. */
bool lat_stream_parse_crc(const char *text, uint32_t *crc);

/* Writes a header. Blocks are of `block` raw bytes; compressed ones are filtered, too. */
int lat_stream_write_head(lat_output *out, const lat_header *head, size_t block, bool compressed);
