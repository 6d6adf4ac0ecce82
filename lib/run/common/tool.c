/* SPDX-License-Identifier: BSD-3-Clause */
/* tool.c: the loop of a filter over its fields, and the line of provenance. */
#include "tool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "common/io.h"
#include "formats/fields.h"
#include "stream/stream.h"
#include "common/text.h"

int lat_provenance(lat_header *head, const char *format, ...)
{
    const char *arguments = lat_opts.arguments ? lat_opts.arguments : "";
    char *result;
    va_list ap;
    int rc;

    if (lat_opts.no_provenance)
        return 0;
    va_start(ap, format);
    rc = vasprintf(&result, format, ap);
    va_end(ap);
    if (rc < 0)
        return lat_fail("out of memory: a line of provenance");
    rc = lat_lines_add(&head->history, "%s %s%s%s%s%s%s%s", lat_tool_name, LAT_VERSION,
                       *arguments ? " | " : "", arguments, *result ? " | " : "", result,
                       *head->read_crc ? " | of " : "", head->read_crc);
    free(result);
    return rc;
}

/* Reads, changes and writes one field. LAT_DONE, or the exit code that ends the run; *more: there
 * was a field. */
static int filter_once(lat_input *in, lat_output *out, lat_each *each, long index, void *context,
                       bool *more)
{
    lat_field f = {.data = NULL};
    int rc = lat_fields_read(in, &f), code;

    *more = rc > 0;
    if (rc <= 0)
        return rc < 0 ? LAT_FAILED : LAT_DONE;
    code = each(&f, index, context);
    if (code == LAT_DONE && lat_stream_write(out, &f, lat_opts.store) < 0)
        code = LAT_FAILED;
    lat_field_free(&f);
    return code < 0 ? LAT_FAILED : code;
}

static int filter_all(lat_input *in, lat_output *out, lat_each *each, lat_last *last, void *context)
{
    bool more = true;
    int code = LAT_DONE;
    long index = 0;

    for (; more && code == LAT_DONE; index += more)
        code = filter_once(in, out, each, index, context, &more);
    if (code == LAT_DONE && last)
        code = last(index, context);
    return code;
}

int lat_output_end(lat_output *out, FILE *text, int code)
{
    if (code == LAT_DONE)
        return (text ? lat_text_close(text, out) : lat_stream_commit(out)) ? LAT_FAILED : code;
    if (text)
        fclose(text);
    lat_output_abort(out);
    return code;
}

const char *lat_filter_name(void) { return lat_opts.input ? lat_opts.input : "<stdin>"; }

int lat_filter_run(lat_each *each, lat_last *last, void *context)
{
    lat_input *in = lat_input_open(lat_opts.input, lat_opts.comm);
    lat_output *out = in ? lat_output_open(lat_opts.output, lat_output_flags(), lat_opts.comm)
                         : NULL;
    int code = out ? filter_all(in, out, each, last, context) : LAT_FAILED;

    lat_input_close(in);
    code = lat_output_end(out, NULL, code);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}

lat_print_options lat_print_opts;

/* The reports so far, of all files, and the file of the present one. */
static struct {
    const char *file;
    long texts, headings;
} reports;

static bool several_files(void)
{
    return lat_opts.nfiles > 1 && !lat_print_opts.pair && reports.file;
}

void lat_report_text(FILE *to, const char *what, long index, bool several)
{
    if (reports.texts++ && (several || several_files()))
        fputc('\n', to);
    if (several_files())
        fprintf(to, "%-14s %s\n", "file", reports.file);
    if (several && what)
        fprintf(to, "%-14s %ld\n", what, index);
}

bool lat_report_heading(void) { return reports.headings++ == 0; }

const char *lat_report_file(void) { return several_files() ? reports.file : NULL; }

void lat_report_end_heading(FILE *to) { fputs(several_files() ? "\tfile\n" : "\n", to); }

void lat_report_end_row(FILE *to)
{
    if (several_files())
        fprintf(to, "\t%s", reports.file);
    fputc('\n', to);
}

void lat_report_json(FILE *to)
{
    fputc('{', to);
    if (!several_files())
        return;
    lat_json_key(to, true, "file");
    lat_json_string(to, reports.file);
    fputs(", ", to);
}

static lat_input *open_file(int i)
{
    const char *path = i == 0 ? lat_opts.input : lat_opts.files[i];
    return lat_input_open(path && strcmp(path, "-") ? path : NULL, lat_opts.comm);
}

/* One file, which it closes: an exit code. */
static int print_file(lat_input *in, lat_print *all, FILE *text)
{
    char *name = in ? strdup(lat_input_name(in)) : NULL;
    if (name)
        lat_make_plain(name);
    reports.file = name;
    const int code = name ? all(in, text) : LAT_FAILED;
    if (in && !name)
        lat_fail("out of memory: the name of a file");
    reports.file = NULL;
    free(name);
    lat_input_close(in);
    return code;
}

static bool failed(int code) { return code == LAT_FAILED || *lat_error(); }

int lat_print_run(lat_print *all, lat_print_end *end)
{
    const int files = lat_opts.nfiles > 1 && !lat_print_opts.pair ? lat_opts.nfiles : 1;
    if (lat_print_opts.tsv && lat_print_opts.json)
        lat_usage("--tsv and --json exclude each other");
    lat_input *in = open_file(0);
    lat_output *out = in ? lat_output_open(lat_print_opts.output, LAT_OUTPUT_TEXT, lat_opts.comm)
                         : NULL;
    FILE *text = out ? lat_text_open(out) : NULL;
    int code = text ? LAT_DONE : LAT_FAILED;

    if (!text)
        lat_input_close(in);
    for (int i = 0; i < files && !failed(code); i++) {
        const int this = print_file(i ? open_file(i) : in, all, text);
        code = this == LAT_DONE ? code : this;
    }
    if (!failed(code) && end) {
        const int this = end(text);
        code = this == LAT_DONE ? code : this;
    }
    const bool lost = failed(code);
    if (lat_output_end(out, text, lost ? LAT_FAILED : LAT_DONE) != LAT_DONE)
        code = lost ? code : LAT_FAILED;
    return lost || code == LAT_FAILED ? lat_report(code) : code;
}

double lat_require_theta = 1e-8;

bool lat_gauge_is_off(const lat_gauge_state *s) { return !(s->theta_slice <= lat_require_theta); }

int lat_require_gauge(const lat_header *head, const lat_condition *c, const lat_gauge_state *s,
                      const char *name, long config)
{
    char gauge[LAT_CONDITION_TEXT];
    if (!lat_gauge_is_off(s))
        return LAT_DONE;
    lat_condition_text(c, &head->geom, gauge);
    if (lat_opts.force) {
        lat_warn("%s: configuration %ld is measured although it is not in gauge %s: theta %.3g%s, "
                 "above %g (--force)",
                 name, config, gauge, s->theta_slice, c->time < 0 ? "" : " of a slice",
                 lat_require_theta);
        return LAT_DONE;
    }
    lat_fail("%s: configuration %ld is not in gauge %s: theta %.3g%s, expected at most %g, header: "
             "%s (--require-theta, --force)",
             name, config, gauge, s->theta_slice, c->time < 0 ? "" : " of a slice",
             lat_require_theta, head->gauge);
    return LAT_UNCONVERGED;
}
