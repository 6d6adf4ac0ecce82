/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.h: what the mains of filters share: open, loop over the fields, write, close. */
#pragma once

#include <stdio.h>
#include "common/options.h"
#include "lattice/field.h"

/* Adds a line of provenance to the history:
 *     "lat-orelax 0.1.0 | ARGUMENTS | RESULT | of CRC"
 * RESULT is printed from the format, CRC is that of the field that was read (lat-info shows it of a
 * file). Adds nothing with --no-provenance. 0, or -1 with lat_error set. */
int lat_provenance(lat_header *head, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Runs a filter: opens input and output of lat_opts, calls `each` for every field of the input,
 * then `last` (may be NULL) once, and commits. Input and output are opened before anything is
 * computed; each field is written as soon as it is done; an output appended to the input is
 * refused. `each` changes *f in place and returns LAT_DONE, and f is written; with another exit
 * code the run ends without output. `index` counts fields from 0; `last` gets their number. Returns
 * the exit code of the tool; lat_error, if set, has been printed. All ranks call it. */
typedef int lat_each(lat_field *f, long index, void *context);
typedef int lat_last(long fields, void *context);
int lat_filter_run(lat_each *each, lat_last *last, void *context);

/* The end of an output, whatever was opened: committed after LAT_DONE, with what was printed to
 * `text` (NULL: nothing), or else discarded. An exit code. */
int lat_output_end(lat_output *out, FILE *text, int code);

/* The same of n outputs (NULL: not opened) with their texts: all of them, or none, are written
 * before the first gets its name. */
int lat_outputs_end(int n, lat_output *const *out, FILE *const *text, int code);

/* The input of a filter, for sentences. */
const char *lat_filter_name(void);
