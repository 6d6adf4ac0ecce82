/* SPDX-License-Identifier: BSD-3-Clause */
/* conversion.h: fields of links or transformations from one format to another, slice by slice. */
#pragma once

#include "formats/file_reader.h"

typedef struct lat_conversion {
    const lat_format *target;
    int real;          /* lat_real of what is written; 0: as it is, if the target can */
    int rows;          /* of each matrix; 0: as they are */
    bool signs;        /* links get the signs of antiperiodic boundaries, which reading took off */
    bool split;        /* each field has an output of its own */
    lat_geometry dims; /* for files that do not state them, others must agree; nd 0: not given */
    lat_hints hints;   /* of a raw target */
} lat_conversion;

/* Writes the field at which the reader stands. The bits of the numbers stay, but for `real` and
 * `signs`. What the file states of itself (checksums, plaquette, link trace) is verified: before
 * anything is written where the output is a pipe, by reading twice; else while it is written, in
 * one pass. Plaquette and link trace of changed numbers are measured anew, and so are functional
 * and theta of links in a gauge, which are kept as a whole for that; of rounded transformations
 * these become unknown. 0, or -1 with lat_error: the target cannot hold the field, last rows that
 * are dropped are not those of the others, or another field follows where the target holds one. */
int lat_convert_field(const lat_conversion *how, lat_file_reader *s, lat_output *out);

/* `wanted` (--dims; nd 0: not given) is for files that do not state their extents; others must
 * agree with it. 0, or -1 with a sentence about the file `name`. */
int lat_expect_dims(const lat_geometry *wanted, const char *name, const lat_header *h);

/* Do n bytes (from lat_input_peek) begin a stream whose first field is of this kind? */
bool lat_stream_begins(const char *bytes, size_t n, lat_kind kind);
