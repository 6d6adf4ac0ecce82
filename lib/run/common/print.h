/* SPDX-License-Identifier: BSD-3-Clause */
/* print.h: what the mains of measuring tools share: read file after file, and print a report of
 * each object, as text, as columns or as JSON. */
#pragma once

#include <stdio.h>
#include "common/options.h"
#include "lattice/field.h"
#include "measure/measure.h"

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
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "tsv", 0, NULL, &lat_print_opts.tsv, 0, 0, \
     "print columns with a header line, one row for each " row}, \
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "json", 0, NULL, &lat_print_opts.json, 0, 0, \
     "print one object for each " object ", one on a line"}, \
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "force", 0, NULL, &lat_opts.force, 0, 0, \
     "accept, with a warning, data that are refused although they can be read"}, \
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "output", 'o', "FILE", &lat_print_opts.output, 0, 0, \
     "write to FILE (default: stdout)"}
/* clang-format on */

/* Runs a tool that prints: `all` reads an input to its end, prints to `text` and returns an exit
 * code. It is called for each FILE of lat_opts; then `end` (may be NULL) once. The largest code
 * counts, and LAT_FAILED ends the run; after a failure (lat_fail, whatever the code) an output file
 * is discarded. Returns the exit code of the tool; lat_error has been printed. */
typedef int lat_print(lat_input *in, FILE *text);
typedef int lat_print_end(FILE *text);
int lat_print_run(lat_print *all, lat_print_end *end);

/* For `all` of a tool that measures configurations: calls `each` for every one of an input, which
 * may change *f, and which does not free it. It ends after another exit code than LAT_DONE; or
 * after LAT_FAILED alone, where `judges`: where LAT_UNCONVERGED is a verdict. Returns the exit
 * code. */
typedef int lat_print_each(lat_field *f, lat_input *in, FILE *text, long config);
int lat_print_links(lat_input *in, FILE *text, lat_print_each *each, bool judges);

/* ---- a report -------------------------------------------------------------------------------- */

/* The values of a report are told once, by functions that are called for each form that is asked
 * for: for the names of columns, for a row of --tsv, for an object of --json. */
typedef enum { LAT_FORM_TEXT, LAT_FORM_NAMES, LAT_FORM_TSV, LAT_FORM_JSON } lat_form;

typedef struct lat_printer {
    FILE *to;
    lat_form form;
    long index;   /* of the object */
    bool several; /* it is one of several of its file */
    bool first;   /* nothing of this row or object has been printed */
} lat_printer;

typedef struct lat_print_kind {
    const char *key;  /* "config": column, or key in an object that is one of several, of `index` */
    const char *rows; /* key of the array of rows in JSON; NULL: rows are for --tsv alone */
    void (*text)(lat_printer *r, const void *of);
    /* Values of the object; in --tsv they stand behind those of a row. */
    void (*values)(lat_printer *r, const void *of);
    void (*row)(lat_printer *r, const void *of, long i);
    bool (*has)(const void *of, long i); /* is there row i? NULL: yes */
    bool numbered;                       /* a single object has its number, too */
} lat_print_kind;

/* Prints a report `of` an object, number `index` of `in`, with rows 0 to count - 1; without `row`
 * it is one row. Whether the object is one of several the input says, which waits for the next one
 * (NULL: only the index says it). The names of columns come once, for all files. An exit code. */
int lat_print_object(FILE *to, lat_input *in, const lat_print_kind *kind, const void *of,
                     long index, long count);

/* Values, in the order of columns and pairs. None is for text.
 *   _real      17 digits; "nan" in columns, null in JSON where it is not finite
 *   _digits    fewer digits in columns
 *   _reals     n of them
 *   _list      whole numbers with commas between; an array
 *   _flag      1 or 0; true or false
 *   _lattice   dims and group
 *   _ensemble  these, and the ensemble of the links (lattice/ensemble.h)
 *   _loops     Polyakov loops (lat_measure_polyakov) of nd directions: eight columns; an array
 *   _array     of numbers, in JSON alone */
void lat_print_real(lat_printer *r, const char *name, double x);
void lat_print_digits(lat_printer *r, const char *name, int digits, double x);
void lat_print_reals(lat_printer *r, int n, const char *const names[], const double *x);
void lat_print_whole(lat_printer *r, const char *name, long i);
void lat_print_list(lat_printer *r, const char *name, int n, const int *i);
void lat_print_word(lat_printer *r, const char *name, const char *word);
void lat_print_flag(lat_printer *r, const char *name, bool yes);
void lat_print_lattice(lat_printer *r, const lat_geometry *geom, int nc);
void lat_print_ensemble(lat_printer *r, const lat_header *head);
void lat_print_loops(lat_printer *r, int nd, const double loop[][2]);
void lat_print_array(lat_printer *r, const char *name, int n, const double *x);

/* Text: a blank line between two reports, the file where there are several, and the number of an
 * object of several, after `what` (NULL: none). Lattice and group. Numbers with labels, a line
 * each, none for NaN. Polyakov loops. */
void lat_text_begin(const lat_printer *r, const char *what);
void lat_text_lattice(FILE *to, const lat_geometry *geom, int nc);
void lat_text_reals(FILE *to, int n, const char *const labels[], const double *x);
void lat_text_loops(FILE *to, int nd, const double loop[][2]);

/* For tools that print columns alone, in which several files have a column of their own.
 *   lat_report_heading       is it time for the names of columns? Once, for all files
 *   lat_report_end_heading   ends that line, lat_report_end_row a row: perhaps with the column file
 *   lat_report_json          begins an object
 *   lat_report_file          the file of the report, printable; NULL where there is one alone */
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
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "require-theta", 0, "X", &lat_require_theta, 0, 1e300, \
     "refuse (exit 3) a configuration whose theta (in Coulomb gauge of any slice) is above X"}
/* clang-format on */
bool lat_gauge_is_off(const lat_gauge_state *s);
int lat_require_gauge(const lat_header *head, const lat_condition *c, const lat_gauge_state *s,
                      const char *name, long config);
