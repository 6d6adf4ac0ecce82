/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-info: headers and history of the fields of a stream; with --check its checksums and numbers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "formats/fields.h"
#include "formats/file_reader.h"
#include "stream/stream.h"
#include "common/text.h"
#include "run/common/tool.h"

static bool check;
static const char *foreign; /* the format of a foreign file; NULL: a stream */

static const lat_option options[] = {{LAT_OPT_FLAG, "check", 0, NULL, &check, 0, 0,
                                      "verify every number; exit 1 if any is damaged", true},
                                     LAT_PRINT_OPTIONS("field", "field"),
                                     {0}};

static const lat_tool tool = {
    .name = "lat-info",
    .args = "[FILE...]",
    .summary = "Shows the header and the history of every field of a stream, or verifies the whole "
               "stream.",
    .example = "lat-info --check fixed.lat",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
};

/* Raw bytes over stored bytes; the stored ones include header and frames. */
static double ratio(const lat_header *head, const lat_stream_form *form)
{
    return (double)lat_header_bytes(head) / (double)form->stored;
}

static const char *sites_text(const lat_header *head, const lat_stream_form *form,
                              char buf[LAT_ORDER_TEXT])
{
    return lat_order_sites_text(&form->order, head->geom.nd, buf);
}

/* "" where there are none. */
static const char *links_text(const lat_header *head, const lat_stream_form *form,
                              char buf[LAT_ORDER_TEXT])
{
    return head->kind == LAT_GAUGE ? lat_order_links_text(&form->order, head->geom.nd, buf) : "";
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_lines(FILE *to, const char *name, const lat_lines *lines)
{
    for (int i = 0; i < lines->count; i++) {
        fprintf(to, "%-11s ", i ? "" : name);
        lat_plain_text(to, lines->line[i]);
        fputc('\n', to);
    }
}

static void print_known(FILE *to, const char *name, double value)
{
    if (!isnan(value))
        fprintf(to, "%-11s %.15g\n", name, value);
}

static void print_numbers(FILE *to, const char *name, const double *numbers, int n)
{
    double largest = 0;
    for (int i = 0; numbers && i < n; i++)
        largest = fmax(largest, fabs(numbers[i]));
    if (numbers && n == 1)
        fprintf(to, "%-11s %.6g\n", name, numbers[0]);
    else if (numbers)
        fprintf(to, "%-11s %d numbers, the largest %.6g\n", name, n, largest);
}

static void print_unless(FILE *to, const char *name, double value, double usual)
{
    if (value != usual)
        fprintf(to, ", %s %.15g", name, value);
}

static void print_quark(FILE *to, const lat_quark *q)
{
    const lat_fermion *f = &q->fermion;
    char boundary[LAT_BOUNDARY_TEXT];
    fprintf(to, "columns     %d, basis %s\n", q->columns, q->basis);
    if (q->source)
        fprintf(to, "source      %s\n", q->source);
    if (lat_fermion_known(f)) {
        fprintf(to, "operator    %s, mass %.15g", f->name, f->mass);
        if (strcmp(f->name, "overlap") != 0)
            print_unless(to, "kappa", lat_kappa_of_mass(f->mass), INFINITY);
        print_unless(to, "csw", f->csw, 0);
        print_unless(to, "csw_t", f->csw_t, f->csw);
        print_unless(to, "xi", f->xi, 1);
        print_unless(to, "nu", f->nu, 1);
        print_unless(to, "twist", f->twist, 0);
        print_unless(to, "m0", f->m0, 0);
    }
    if (lat_fermion_bounded(f))
        fprintf(to, "%sboundary %s\n", lat_fermion_known(f) ? ", " : "operator    unknown, ",
                lat_boundary_text(f->boundary, boundary));
    print_numbers(to, "residuals", q->residual, q->columns);
    print_numbers(to, "eigenvalues", q->eigenvalue, q->columns);
    if (q->links[0])
        fprintf(to, "links       crc-32 %s\n", q->links);
}

/* Weights of Landau gauge, where they are not all 1, or "". */
static const char *weights_text(const lat_header *head, int digits, char text[LAT_WEIGHTS_TEXT])
{
    return strcmp(head->gauge, "landau")
               ? ""
               : lat_weights_text(head->weight, head->geom.nd, digits, text);
}

static void print_text(FILE *to, const lat_header *head, const lat_stream_form *form, long index)
{
    char dims[64], sites[LAT_ORDER_TEXT], links[LAT_ORDER_TEXT], weights[LAT_WEIGHTS_TEXT];
    lat_report_text(to, NULL, index, index > 0);
    fprintf(to, "field       %ld: %s\n", index, strchr(lat_kind_text(head->kind), ' ') + 1);
    fprintf(to, "lattice     %s, SU(%d)\n", lat_dims_text(&head->geom, dims), head->nc);
    fprintf(to, "numbers     f%d, %d reals a %s\n", 8 * (int)head->real, head->reals,
            lat_header_spinors(head) ? "spinor" : "matrix");
    if (lat_header_spinors(head))
        print_quark(to, &head->quark);
    fprintf(to, "order       sites %s%s%s%s\n", sites_text(head, form, sites),
            head->kind == LAT_GAUGE ? ", links " : "", links_text(head, form, links),
            lat_order_natural(&form->order) ? " (natural)" : "");
    print_known(to, "plaquette", head->plaquette);
    print_known(to, "link trace", head->link_trace);
    fprintf(to, "gauge       %s\n", head->gauge);
    if (*weights_text(head, 15, weights))
        fprintf(to, "weights     %s\n", weights);
    print_known(to, "functional", head->functional);
    print_known(to, "theta", head->theta);
    if (head->copies)
        fprintf(to, "copies      %ld, the transformations that follow\n", head->copies);
    if (head->sweeps)
        fprintf(to, "sweeps      %ld\n", head->sweeps);
    if (foreign)
        fprintf(to, "stored      in format %s, %llu bytes in all%s\n", foreign, form->stored,
                check ? ", verified" : "");
    else
        fprintf(to,
                "stored      %s, %u blocks of %zu bytes, %llu bytes in all, ratio %.4f\n"
                "crc-32      %08x%s\n",
                form->compressed ? "compressed" : "raw", form->blocks, form->block, form->stored,
                ratio(head, form), form->crc, check ? ", verified" : "");
    print_lines(to, "info", &head->info);
    print_lines(to, "history", &head->history);
}

/* ---- JSON and TSV ---------------------------------------------------------------------------- */

static void json_numbers(FILE *to, const char *name, const double *numbers, int n)
{
    if (!numbers)
        return;
    lat_json_key(to, false, name);
    for (int i = 0; i < n; i++)
        fprintf(to, "%c%.17g", i ? ',' : '[', numbers[i]);
    fputc(']', to);
}

static void json_text(FILE *to, const char *name, const char *text)
{
    lat_json_key(to, false, name);
    lat_json_string(to, text);
}

/* What is known of spinors. */
static void json_quark(FILE *to, const lat_quark *q)
{
    const lat_fermion *f = &q->fermion;
    char boundary[LAT_BOUNDARY_TEXT];
    fprintf(to, ", \"columns\": %d", q->columns);
    json_text(to, "basis", q->basis);
    if (q->source)
        json_text(to, "source", q->source);
    if (lat_fermion_known(f)) {
        json_text(to, "operator", f->name);
        lat_json_pair(to, "mass", f->mass);
        lat_json_pair(to, "csw", f->csw);
        lat_json_pair(to, "csw_t", f->csw_t);
        lat_json_pair(to, "xi", f->xi);
        lat_json_pair(to, "nu", f->nu);
        lat_json_pair(to, "twist", f->twist);
        lat_json_pair(to, "m0", f->m0);
    }
    if (lat_fermion_bounded(f))
        json_text(to, "boundary", lat_boundary_text(f->boundary, boundary));
    json_numbers(to, "residuals", q->residual, q->columns);
    json_numbers(to, "eigenvalues", q->eigenvalue, q->columns);
    if (q->links[0])
        json_text(to, "links_crc", q->links);
}

/* The info lines as an object: what stands before " = " is the key. */
static void json_info(FILE *to, const lat_lines *info)
{
    lat_json_key(to, false, "info");
    fputc('{', to);
    for (int i = 0; i < info->count; i++) {
        char *sign = strstr(info->line[i], " = ");
        if (sign)
            *sign = '\0';
        lat_json_key(to, i == 0, info->line[i]);
        lat_json_string(to, sign ? sign + 3 : "");
        if (sign)
            *sign = ' ';
    }
    fputc('}', to);
}

static void print_json(FILE *to, const lat_header *head, const lat_stream_form *form, long index)
{
    char order[LAT_ORDER_TEXT], weights[LAT_WEIGHTS_TEXT];
    lat_report_json(to);
    fprintf(to, "\"field\": %ld, \"kind\": \"%s\", \"dims\": [", index, lat_kind_word(head->kind));
    for (int mu = 0; mu < head->geom.nd; mu++)
        fprintf(to, "%s%d", mu ? ", " : "", head->geom.dims[mu]);
    fprintf(to, "], \"group\": \"SU(%d)\", \"real\": \"f%d\", \"reals\": %d", head->nc,
            8 * (int)head->real, head->reals);
    fprintf(to, ", \"sites\": \"%s\"", sites_text(head, form, order));
    if (head->kind == LAT_GAUGE)
        fprintf(to, ", \"links\": \"%s\"", links_text(head, form, order));
    if (lat_header_spinors(head))
        json_quark(to, &head->quark);
    lat_json_pair(to, "plaquette", head->plaquette);
    lat_json_pair(to, "link_trace", head->link_trace);
    lat_json_key(to, false, "gauge");
    lat_json_string(to, head->gauge);
    if (*weights_text(head, 17, weights))
        fprintf(to, ", \"weights\": [%s]", weights);
    lat_json_pair(to, "functional", head->functional);
    lat_json_pair(to, "theta", head->theta);
    fprintf(
        to,
        ", \"sweeps\": %ld, \"compressed\": %s, \"block\": %zu, \"blocks\": %u, \"stored\": %llu",
        head->sweeps, form->compressed ? "true" : "false", form->block, form->blocks, form->stored);
    fprintf(to, ", \"copies\": %ld", head->copies);
    lat_json_pair(to, "ratio", ratio(head, form));
    fprintf(to, ", \"crc32\": \"%08x\", \"verified\": %s", form->crc, check ? "true" : "false");
    json_info(to, &head->info);
    lat_json_key(to, false, "history");
    fputc('[', to);
    for (int i = 0; i < head->history.count; i++) {
        fputs(i ? ", " : "", to);
        lat_json_string(to, head->history.line[i]);
    }
    fputs("]}\n", to);
}

static void print_tsv(FILE *to, const lat_header *head, const lat_stream_form *form, long index)
{
    char sites[LAT_ORDER_TEXT], links[LAT_ORDER_TEXT];
    if (lat_report_heading()) {
        fprintf(to,
                "field\tkind\tdims\tgroup\treal\treals\tplaquette\tlink_trace\tgauge\tfunctional\t"
                "theta\tsweeps\tcompressed\tblocks\tstored\tratio\tcrc32\tverified\tsites\tlinks\tf"
                "ormat");
        lat_report_end_heading(to);
    }
    fprintf(to, "%ld\t%s", index, lat_kind_word(head->kind));
    for (int mu = 0; mu < head->geom.nd; mu++)
        fprintf(to, "%c%d", mu ? ',' : '\t', head->geom.dims[mu]);
    fprintf(to,
            "\tSU(%d)\tf%d\t%d\t%.17g\t%.17g\t%s\t%.17g\t%.17g\t%ld\t%d\t%u\t%llu\t%.6g\t%08x\t%"
            "d\t%s\t%s\t%s",
            head->nc, 8 * (int)head->real, head->reals, head->plaquette, head->link_trace,
            head->gauge, head->functional, head->theta, head->sweeps, form->compressed,
            form->blocks, form->stored, ratio(head, form), form->crc, check,
            sites_text(head, form, sites), links_text(head, form, links),
            foreign ? foreign : "lat");
    lat_report_end_row(to);
}

/* ---- the run --------------------------------------------------------------------------------- */

static void print(lat_input *in, FILE *to, const lat_header *head, const lat_stream_form *form,
                  long index)
{
    char dims[64], name[4096];
    if (lat_print_opts.json)
        print_json(to, head, form, index);
    else if (lat_print_opts.tsv)
        print_tsv(to, head, form, index);
    else if (check) {
        snprintf(name, sizeof name, "%s", lat_input_name(in));
        lat_make_plain(name);
        fprintf(to, "%s: field %ld: OK: %s SU(%d) %s f%d, ", name, index, lat_kind_word(head->kind),
                head->nc, lat_dims_text(&head->geom, dims), 8 * (int)head->real);
        if (foreign)
            fprintf(to, "format %s\n", foreign);
        else
            fprintf(to, "crc-32 %08x\n", form->crc);
    } else
        print_text(to, head, form, index);
}

static void print_foreign(lat_input *in, FILE *text, const lat_format *format,
                          const lat_header *head, uint64_t bytes)
{
    const int64_t size = lat_input_size(in);
    const lat_stream_form form = {.stored = size >= 0 ? (uint64_t)size : bytes};
    foreign = format->name;
    print(in, text, head, &form, 0);
    foreign = NULL;
}

/* Spinors of a foreign file are read as a whole, and so verified; what M^-1 is divided by there
 * does not matter. */
static int all_quarks(lat_input *in, FILE *text, const lat_format *format)
{
    const lat_quark_hints h = {.kappa = NAN, .norm = LAT_NORM_MASS, .force = lat_opts.force};
    lat_field f;
    if (lat_fields_read_as(in, &f, &h) <= 0)
        return LAT_FAILED;
    print_foreign(in, text, format, &f.head, lat_header_bytes(&f.head));
    lat_field_free(&f);
    return fflush(text) ? LAT_FAILED : LAT_DONE;
}

/* A foreign file states plaquette and link trace, or they are measured with --check. */
static int all_foreign(lat_input *in, FILE *text, const lat_format *format)
{
    const lat_read_context r = lat_fields_context();
    lat_file_reader s;
    if (lat_file_reader_open(&s, in, format, &r, false) <= 0)
        return LAT_FAILED;
    const int rc = check ? lat_file_reader_first(&s, false, NULL, NULL, NULL) : 0;
    if (rc == 0 && !check) {
        s.f.head.plaquette = s.r.plaquette;
        s.f.head.link_trace = s.r.link_trace;
    }
    if (rc == 0)
        print_foreign(in, text, format, &s.f.head, lat_payload_bytes(&s.f.head, s.p.rows));
    lat_file_reader_close(&s);
    return rc || fflush(text) ? LAT_FAILED : LAT_DONE;
}

/* Header by header; the blocks are read only if they are to be checked. */
static int all(lat_input *in, FILE *text)
{
    const lat_format *format = lat_fields_format(in);
    int rc;
    if (!format)
        return LAT_FAILED;
    if (format->quarks)
        return all_quarks(in, text, format);
    if (format->foreign)
        return all_foreign(in, text, format);
    for (long index = 0;; index++) {
        lat_field f = {.data = NULL};
        rc = lat_stream_head(in, &f.head);
        if (rc <= 0)
            return rc < 0 ? LAT_FAILED : LAT_DONE;
        rc = check ? lat_stream_body(in, &f) : lat_stream_skip(in, &f.head);
        if (rc >= 0)
            print(in, text, &f.head, lat_stream_last(in), index);
        if (check && rc >= 0)
            lat_field_free(&f);
        else
            lat_header_free(&f.head);
        if (rc < 0 || fflush(text))
            return LAT_FAILED;
    }
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    return lat_print_run(all, NULL);
}
