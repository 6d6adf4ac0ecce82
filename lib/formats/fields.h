/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h: fields of an input in whatever format it is: our stream, or a file of another program
 * that is recognised by its first bytes. The functions are like those in stream/stream.h, and what
 * they return is the same; with several ranks all of them call each. A foreign file holds one
 * field. What it states is verified as lat-convert does it, with lat_opts.force as there. Its
 * head.read_crc is the CRC of the stream that lat-convert makes of it. */
#pragma once

#include "quarks.h"

int lat_fields_read(lat_input *in, lat_field *f);

/* The same in two steps. _head: 1, 0 or -1; f->head is that of a stream, and zero of a foreign
 * file. After 1 _body must follow: 1 or -1. */
int lat_fields_head(lat_input *in, lat_field *f);
int lat_fields_body(lat_input *in, lat_field *f);

/* lat_fields_read; `hints` (NULL: none) say of a foreign file of spinors what it does not state. */
int lat_fields_read_as(lat_input *in, lat_field *f, const lat_quark_hints *hints);

/* The same for tools of links: another kind is refused, with the name of the input. */
int lat_fields_read_links(lat_input *in, lat_field *f);

/* Is it a file of another program? 1, 0 or -1. */
int lat_fields_foreign(lat_input *in);

int lat_fields_more(lat_input *in);
bool lat_fields_last(const lat_input *in);

/* The format of the input, lat_format_lat for a stream. NULL with lat_error set. On rank 0. */
const lat_format *lat_fields_format(lat_input *in);

/* What is given to a reader where no option of lat-convert is there to describe the file. */
lat_read_context lat_fields_context(void);
