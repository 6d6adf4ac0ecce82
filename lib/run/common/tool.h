/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.h: what the mains of filters and of measuring tools share: open, loop over the fields,
 * write, close. */
#ifndef LAT_TOOL_H
#define LAT_TOOL_H

#include <stdio.h>
#include "lattice/field.h"
#include "common/options.h"
#include "measure/measure.h"

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

/* The input of a filter, for sentences. */
const char *lat_filter_name(void);

/* Options of the tools that print; LAT_PRINT_OPTIONS puts them into an option table. `row` and
 * `object` say what a row of --tsv and an object of --json is about. */
typedef struct lat_print_options {
    bool tsv, json;     /* at most one; neither: text */
    const char *output; /* NULL: stdout */
    bool pair;          /* `all` is called once, and opens FILEs after the first itself */
} lat_print_options;
extern lat_print_options lat_print_opts;

/* clang-format off */
#define LAT_PRINT_OPTIONS(row, object) \
    {LAT_OPT_FLAG, "tsv", 0, NULL, &lat_print_opts.tsv, 0, 0, \
     "print columns with a header line, one row for each " row, true}, \
    {LAT_OPT_FLAG, "json", 0, NULL, &lat_print_opts.json, 0, 0, \
     "print one object for each " object ", one on a line", true}, \
    {LAT_OPT_FLAG, "force", 0, NULL, &lat_opts.force, 0, 0, \
     "accept, with a warning, data that are refused although they can be read", true}, \
    {LAT_OPT_TEXT, "output", 'o', "FILE", &lat_print_opts.output, 0, 0, \
     "write to FILE (default: stdout)", true}
/* clang-format on */

/* Runs a tool that prints: `all` reads an input to its end, prints to `text` and returns an exit
 * code. It is called for each FILE of lat_opts; then `end` (may be NULL) once. The largest code
 * counts, and LAT_FAILED ends the run; after a failure (lat_fail, whatever the code) an output file
 * is discarded. Returns the exit code of the tool; lat_error has been printed. */
typedef int lat_print(lat_input *in, FILE *text);
typedef int lat_print_end(FILE *text);
int lat_print_run(lat_print *all, lat_print_end *end);

/* What the reports of all FILEs share. Where there are several, each report names its file.
 *   lat_report_text          before a report in text: a blank line between two, the file, and the
 *                            number of a field of several, after `what` (NULL: none)
 *   lat_report_heading       is it time for the heading of --tsv? Once, for all files
 *   lat_report_end_heading   ends that line, lat_report_end_row a row: perhaps with the column file
 *   lat_report_json          begins an object
 *   lat_report_file          the file of the report, printable; NULL where there is one alone */
void lat_report_text(FILE *to, const char *what, long index, bool several);
bool lat_report_heading(void);
void lat_report_end_heading(FILE *to);
void lat_report_end_row(FILE *to);
void lat_report_json(FILE *to);
const char *lat_report_file(void);

/* A measurement that means something in a gauge alone. LAT_REQUIRE_OPTION says how far from it a
 * configuration may be. lat_require_gauge: LAT_DONE; or LAT_UNCONVERGED with a sentence, where
 * theta of the links (of the worst slice) is above that; with --force a warning, and LAT_DONE.
 * lat_gauge_is_off: is it above? */
extern double lat_require_theta;
/* clang-format off */
#define LAT_REQUIRE_OPTION \
    {LAT_OPT_REAL, "require-theta", 0, "X", &lat_require_theta, 0, 1e300, \
     "refuse (exit 3) a configuration whose theta (in Coulomb gauge of any slice) is above X", \
     true}
/* clang-format on */
bool lat_gauge_is_off(const lat_gauge_state *s);
int lat_require_gauge(const lat_header *head, const lat_condition *c, const lat_gauge_state *s,
                      const char *name, long config);

#endif
