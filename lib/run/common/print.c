/* SPDX-License-Identifier: BSD-3-Clause */
/* print.c: the loop of a measuring tool over files, and reports in all forms. */
#include "print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/io.h"
#include "common/progress.h"
#include "common/text.h"
#include "formats/fields.h"
#include "lattice/ensemble.h"
#include "tool.h"

/* ---- files ----------------------------------------------------------------------------------- */

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

static lat_input *open_file(int i)
{
    const char *path = i == 0 ? lat_opts.input : lat_opts.files[i];
    return lat_input_open(path && strcmp(path, "-") ? path : NULL, lat_opts.comm);
}

/* One file, which it closes: an exit code. */
static int print_file(lat_input *in, lat_print *all, FILE *text)
{
    char *name = in ? lat_text_new("%s", lat_input_name(in)) : NULL;
    if (name)
        lat_make_plain(name);
    reports.file = name;
    const int code = name ? all(in, text) : LAT_FAILED;
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
    lat_part_begin("file", files);
    for (int i = 0; i < files && !failed(code); i++) {
        lat_part_at(i);
        const int this = print_file(i ? open_file(i) : in, all, text);
        code = this == LAT_DONE ? code : this;
    }
    lat_part_end();
    lat_progress_end();
    if (!failed(code) && end) {
        const int this = end(text);
        code = this == LAT_DONE ? code : this;
    }
    const bool lost = failed(code);
    if (lat_output_end(out, text, lost ? LAT_FAILED : LAT_DONE) != LAT_DONE)
        code = lost ? code : LAT_FAILED;
    return lost || code == LAT_FAILED ? lat_report(code) : code;
}

int lat_print_links(lat_input *in, FILE *text, lat_print_each *each, bool judges)
{
    lat_field f;
    int rc, code = LAT_DONE;
    lat_part_begin("configuration", 0);
    for (long config = 0; (rc = lat_fields_read_links(in, &f)) > 0; config++) {
        lat_part_done((double)config);
        const int this = each(&f, in, text, config);
        lat_field_free(&f);
        code = this == LAT_DONE ? code : this;
        if (code == LAT_FAILED || (code != LAT_DONE && !judges))
            return code;
    }
    lat_part_end();
    return rc < 0 ? LAT_FAILED : code;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Begins a value: true if it is to be printed. */
static bool value(lat_printer *r, const char *name)
{
    if (r->form == LAT_FORM_JSON) {
        lat_json_key(r->to, r->first, name);
    } else {
        fputs(r->first ? "" : "\t", r->to);
        fputs(r->form == LAT_FORM_NAMES ? name : "", r->to);
    }
    r->first = false;
    return r->form != LAT_FORM_NAMES;
}

void lat_print_digits(lat_printer *r, const char *name, int digits, double x)
{
    if (value(r, name) && r->form == LAT_FORM_JSON)
        lat_json_number(r->to, x);
    else if (r->form == LAT_FORM_TSV)
        fprintf(r->to, "%.*g", digits, isnan(x) ? NAN : x); /* without a sign */
}

void lat_print_real(lat_printer *r, const char *name, double x)
{
    lat_print_digits(r, name, 17, x);
}

void lat_print_reals(lat_printer *r, int n, const char *const names[], const double *x)
{
    for (int i = 0; i < n; i++)
        lat_print_real(r, names[i], x[i]);
}

void lat_print_whole(lat_printer *r, const char *name, long i)
{
    if (value(r, name))
        fprintf(r->to, "%ld", i);
}

void lat_print_list(lat_printer *r, const char *name, int n, const int *i)
{
    const bool json = r->form == LAT_FORM_JSON;
    if (!value(r, name))
        return;
    fputs(json ? "[" : "", r->to);
    for (int k = 0; k < n; k++)
        fprintf(r->to, "%s%d", k == 0 ? "" : json ? ", " : ",", i[k]);
    fputs(json ? "]" : "", r->to);
}

void lat_print_word(lat_printer *r, const char *name, const char *word)
{
    if (value(r, name) && r->form == LAT_FORM_JSON)
        lat_json_string(r->to, word);
    else if (r->form == LAT_FORM_TSV)
        fputs(word, r->to);
}

void lat_print_flag(lat_printer *r, const char *name, bool yes)
{
    if (value(r, name))
        fputs(r->form == LAT_FORM_JSON ? (yes ? "true" : "false") : yes ? "1" : "0", r->to);
}

void lat_print_lattice(lat_printer *r, const lat_geometry *geom, int nc)
{
    char group[16];
    snprintf(group, sizeof group, "SU(%d)", nc);
    lat_print_list(r, "dims", geom->nd, geom->dims);
    lat_print_word(r, "group", group);
}

void lat_print_ensemble(lat_printer *r, const lat_header *head)
{
    char ensemble[LAT_ENSEMBLE_TEXT];
    lat_print_lattice(r, &head->geom, head->nc);
    lat_print_word(r, LAT_ENSEMBLE_COLUMN, lat_ensemble_text(head, ensemble));
}

static void json_array(FILE *to, int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "[", to);
        lat_json_number(to, x[i]);
    }
    fputc(']', to);
}

void lat_print_loops(lat_printer *r, int nd, const double loop[][2])
{
    char name[] = "polyakov_x_re";
    if (r->form == LAT_FORM_JSON) {
        value(r, "polyakov");
        fputc('[', r->to);
        for (int mu = 0; mu < nd; mu++) {
            fputs(mu ? ", " : "", r->to);
            json_array(r->to, 2, loop[mu]);
        }
        fputc(']', r->to);
        return;
    }
    for (int i = 0; i < 2 * LAT_MAX_DIMS; i++) {
        name[9] = "xyzt"[i / 2];
        memcpy(name + 11, i % 2 ? "im" : "re", 2);
        lat_print_real(r, name, i / 2 < nd ? loop[i / 2][i % 2] : NAN);
    }
}

void lat_print_array(lat_printer *r, const char *name, int n, const double *x)
{
    if (r->form != LAT_FORM_JSON)
        return;
    value(r, name);
    json_array(r->to, n, x);
}

/* ---- text ------------------------------------------------------------------------------------ */

void lat_text_begin(const lat_printer *r, const char *what)
{
    if (reports.texts++ && (r->several || several_files()))
        fputc('\n', r->to);
    if (several_files())
        fprintf(r->to, "%-14s %s\n", "file", reports.file);
    if (r->several && what)
        fprintf(r->to, "%-14s %ld\n", what, r->index);
}

void lat_text_lattice(FILE *to, const lat_geometry *geom, int nc)
{
    char dims[64];
    fprintf(to, "lattice        %s, SU(%d)\n", lat_dims_text(geom, dims), nc);
}

void lat_text_reals(FILE *to, int n, const char *const labels[], const double *x)
{
    for (int i = 0; i < n; i++)
        if (!isnan(x[i]))
            fprintf(to, "%-14s %.15g\n", labels[i], x[i]);
}

void lat_text_loops(FILE *to, int nd, const double loop[][2])
{
    for (int mu = 0; mu < nd; mu++)
        fprintf(to, "Polyakov %c     %.15g %+.15gi\n", "xyzt"[mu], loop[mu][0], loop[mu][1]);
}

/* ---- reports --------------------------------------------------------------------------------- */

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

/* A line of columns: names, or row i. */
static void print_line(lat_printer *r, const lat_print_kind *kind, const void *of, long i)
{
    r->first = true;
    lat_print_whole(r, kind->key, r->index);
    if (kind->row)
        kind->row(r, of, i);
    if (kind->values)
        kind->values(r, of);
}

static void print_tsv(lat_printer *r, const lat_print_kind *kind, const void *of, long count)
{
    r->form = LAT_FORM_NAMES;
    if (lat_report_heading()) {
        print_line(r, kind, of, 0);
        lat_report_end_heading(r->to);
    }
    r->form = LAT_FORM_TSV;
    for (long i = 0; i < (kind->row ? count : 1); i++)
        if (!kind->has || kind->has(of, i)) {
            print_line(r, kind, of, i);
            lat_report_end_row(r->to);
        }
}

static void print_json(lat_printer *r, const lat_print_kind *kind, const void *of, long count)
{
    bool any = false;
    r->form = LAT_FORM_JSON;
    r->first = true;
    lat_report_json(r->to);
    if (r->several)
        lat_print_whole(r, kind->key, r->index);
    kind->values(r, of);
    if (kind->rows) {
        value(r, kind->rows);
        fputc('[', r->to);
    }
    for (long i = 0; kind->rows && i < count; i++)
        if (!kind->has || kind->has(of, i)) {
            fputs(any ? ", {" : "{", r->to);
            any = r->first = true;
            kind->row(r, of, i);
            fputc('}', r->to);
        }
    fputs(kind->rows ? "]}\n" : "}\n", r->to);
}

int lat_print_object(FILE *to, lat_input *in, const lat_print_kind *kind, const void *of,
                     long index, long count)
{
    const int more = in ? lat_fields_more(in) : 0;
    lat_printer r = {.to = to, .index = index, .several = index > 0 || more > 0 || kind->numbered};
    if (more < 0)
        return LAT_FAILED;
    lat_progress_end();
    if (lat_print_opts.tsv)
        print_tsv(&r, kind, of, count);
    else if (lat_print_opts.json)
        print_json(&r, kind, of, count);
    else
        kind->text(&r, of);
    return fflush(to) ? LAT_FAILED : LAT_DONE;
}

/* ---- gauge ----------------------------------------------------------------------------------- */

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
    const bool never = !strcmp(head->gauge, "none");
    lat_fail("%s: configuration %ld is not in gauge %s: theta %.3g%s, expected at most %g, header: "
             "%s (%s%s%s--require-theta, --force)",
             name, config, gauge, s->theta_slice, c->time < 0 ? "" : " of a slice",
             lat_require_theta, head->gauge, never ? "fix it first, by lat-orelax --gauge " : "",
             never ? lat_gauge_table[c->gauge].name : "", never ? "; " : "");
    return LAT_UNCONVERGED;
}
