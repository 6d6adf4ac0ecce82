/* SPDX-License-Identifier: BSD-3-Clause */
/* fields.h: fields of an input in whatever format it is: our stream, or a file of another program
 * that is recognised by its first bytes. The functions are those of stream/stream.h, and what they
 * return is the same; with several ranks all of them call each. A foreign file holds one field.
 * What it states is verified as lat-convert does it, with lat_opts.force as there. */
#ifndef LAT_FIELDS_H
#define LAT_FIELDS_H

#include "format.h"

int lat_fields_read(lat_input *in, lat_field *f);
int lat_fields_more(lat_input *in);
bool lat_fields_last(const lat_input *in);

/* The format of the input, lat_format_lat for a stream. NULL with lat_error set. On rank 0. */
const lat_format *lat_fields_format(lat_input *in);

/* What is given to a reader where no option of lat-convert is there to describe the file. */
lat_read_context lat_fields_context(void);

#endif
