/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.h: what the mains of all filters share: open, loop over the fields, write, close. */
#ifndef LAT_TOOL_H
#define LAT_TOOL_H

#include <stdio.h>
#include "lattice/field.h"
#include "common/options.h"

/* Adds this stage's line to the provenance:
 *   "lat-orelax 0.1.0 | ARGUMENTS | RESULT | of CRC", RESULT from the format, CRC that of the field
 * that was read (lat-info shows it of a file); nothing with --no-provenance. */
int lat_provenance(lat_header *head, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Runs a filter: opens the input and output of lat_opts, calls `each` for every field of the
 * input stream, then `last` (may be NULL) once, and commits. Both are open before anything is
 * computed, each field leaves as soon as it is written, and an output appended to the input
 * itself is refused. `each` returns LAT_DONE and has changed *f in place: it is written; or another
 * exit code: the run ends with it and no output, and lat_error is printed if it is set. `index`
 * counts fields from 0, `last` is told how many there were. Returns the exit code of the tool. */
typedef int lat_each(lat_field *f, long index, void *context);
typedef int lat_last(long fields, void *context);
int lat_filter_run(lat_each *each, lat_last *last, void *context);

/* What the tools that print were asked for; LAT_PRINT_OPTIONS goes into their tables, with what a
 * row and an object are of. */
typedef struct lat_print_options {
    bool tsv, json;     /* not both; neither: lines for people */
    const char *output; /* NULL: stdout */
} lat_print_options;
extern lat_print_options lat_print_opts;

#define LAT_PRINT_OPTIONS(row, object) \
    {LAT_OPT_FLAG, \
     "tsv", \
     0, \
     NULL, \
     &lat_print_opts.tsv, \
     0, \
     0, \
     "columns with a header line, a row a " row, \
     true}, \
        {LAT_OPT_FLAG, \
         "json", \
         0, \
         NULL, \
         &lat_print_opts.json, \
         0, \
         0, \
         "an object a " object ", one a line", \
         true}, \
    { \
        LAT_OPT_TEXT, "output", 'o', "FILE", &lat_print_opts.output, 0, 0, \
            "write there, not to stdout", true \
    }

/* Runs such a tool: `all` reads the input of lat_opts to its end and writes to `text`. It returns
 * an exit code; after LAT_FAILED nothing is kept of a file. Returns the exit code of the tool,
 * lat_error printed. */
typedef int lat_print(lat_input *in, FILE *text);
int lat_print_run(lat_print *all);

#endif
