/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-info: headers and history of the fields of a stream; with --check checksums and numbers. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "formats/fields.h"
#include "formats/file_reader.h"
#include "lattice/fermion_numbers.h"
#include "stream/stream.h"
#include "common/text.h"
#include "run/common/print.h"

static bool check;
static const char *foreign; /* the format of a foreign file; NULL: a stream */

static const lat_option options[] = {{LAT_OPT_FLAG | LAT_OPT_LOCAL, "check", 0, NULL, &check, 0, 0,
                                      "verify every number; exit 1 if any is damaged"},
                                     LAT_PRINT_OPTIONS("field", "field"),
                                     {0}};

static const lat_tool tool = {
    .name = "lat-info",
    .args = "[FILE...]",
    .summary = "Shows the header and the history of every field of a stream, or verifies the whole "
               "stream.",
    .example = "lat-info --check fixed.lat\n"
               "lat-info --tsv cfg.*.lat\n"
               "lat-info prop.lat",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
};

/* What is printed of a field. */
typedef struct field {
    const lat_header *head;
    const lat_stream_form *form;
} field;

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

static void print_quark(FILE *to, const lat_quark *q)
{
    lat_fermion f = q->fermion;
    char boundary[LAT_BOUNDARY_TEXT];
    fprintf(to, "columns     %d, basis %s\n", q->columns, q->basis);
    if (q->source)
        fprintf(to, "source      %s\n", q->source);
    if (lat_fermion_known(&f)) {
        fprintf(to, "operator    %s, mass %.15g", f.name, f.mass);
        if (strcmp(f.name, "overlap") != 0)
            fprintf(to, ", kappa %.15g", lat_kappa_of_mass(f.mass));
        for (int i = LAT_FERMION_CSW; i < LAT_FERMION_NUMBERS; i++)
            if (lat_fermion_unusual(&f, i))
                fprintf(to, ", %s %.15g", lat_fermion_names[i], *lat_fermion_number(&f, i));
    }
    if (lat_fermion_bounded(&f))
        fprintf(to, "%sboundary %s\n", lat_fermion_known(&f) ? ", " : "operator    unknown, ",
                lat_boundary_text(f.boundary, boundary));
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

static void text(lat_printer *r, const void *of)
{
    const field *f = of;
    const lat_header *head = f->head;
    const lat_stream_form *form = f->form;
    FILE *to = r->to;
    char dims[64], sites[LAT_ORDER_TEXT], links[LAT_ORDER_TEXT], weights[LAT_WEIGHTS_TEXT];
    lat_text_begin(r, NULL);
    fprintf(to, "field       %ld: %s\n", r->index, strchr(lat_kind_text(head->kind), ' ') + 1);
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

/* What is known of spinors. */
static void quark_values(lat_printer *r, const lat_quark *q)
{
    lat_fermion f = q->fermion;
    char boundary[LAT_BOUNDARY_TEXT];
    lat_print_whole(r, "columns", q->columns);
    lat_print_word(r, "basis", q->basis);
    if (q->source)
        lat_print_word(r, "source", q->source);
    if (lat_fermion_known(&f)) {
        lat_print_word(r, "operator", f.name);
        for (int i = 0; i < LAT_FERMION_NUMBERS; i++)
            lat_print_real(r, lat_fermion_names[i], *lat_fermion_number(&f, i));
    }
    if (lat_fermion_bounded(&f))
        lat_print_word(r, "boundary", lat_boundary_text(f.boundary, boundary));
    json_numbers(r->to, "residuals", q->residual, q->columns);
    json_numbers(r->to, "eigenvalues", q->eigenvalue, q->columns);
    if (q->links[0])
        lat_print_word(r, "links_crc", q->links);
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

static void json_history(FILE *to, const lat_lines *history)
{
    lat_json_key(to, false, "history");
    fputc('[', to);
    for (int i = 0; i < history->count; i++) {
        fputs(i ? ", " : "", to);
        lat_json_string(to, history->line[i]);
    }
    fputc(']', to);
}

static void order_values(lat_printer *r, const lat_header *head, const lat_stream_form *form)
{
    char text[LAT_ORDER_TEXT];
    lat_print_word(r, "sites", sites_text(head, form, text));
    if (r->form != LAT_FORM_JSON || head->kind == LAT_GAUGE)
        lat_print_word(r, "links", links_text(head, form, text));
}

static void values(lat_printer *r, const void *of)
{
    const field *f = of;
    const lat_header *head = f->head;
    const lat_stream_form *form = f->form;
    const bool json = r->form == LAT_FORM_JSON;
    char weights[LAT_WEIGHTS_TEXT], crc[16];
    lat_print_word(r, "kind", lat_kind_word(head->kind));
    lat_print_lattice(r, &head->geom, head->nc);
    lat_print_word(r, "real", head->real == LAT_F32 ? "f32" : "f64");
    lat_print_whole(r, "reals", head->reals);
    if (json)
        order_values(r, head, form);
    if (json && lat_header_spinors(head))
        quark_values(r, &head->quark);
    lat_print_real(r, "plaquette", head->plaquette);
    lat_print_real(r, "link_trace", head->link_trace);
    lat_print_word(r, "gauge", head->gauge);
    if (json && *weights_text(head, 17, weights))
        fprintf(r->to, ", \"weights\": [%s]", weights);
    lat_print_real(r, "functional", head->functional);
    lat_print_real(r, "theta", head->theta);
    lat_print_whole(r, "sweeps", head->sweeps);
    lat_print_flag(r, "compressed", form->compressed);
    if (json)
        lat_print_whole(r, "block", (long)form->block);
    lat_print_whole(r, "blocks", form->blocks);
    lat_print_whole(r, "stored", (long)form->stored);
    if (json)
        lat_print_whole(r, "copies", head->copies);
    lat_print_digits(r, "ratio", 6, ratio(head, form));
    snprintf(crc, sizeof crc, "%08x", form->crc);
    lat_print_word(r, "crc32", crc);
    lat_print_flag(r, "verified", check);
    if (json) {
        json_info(r->to, &head->info);
        json_history(r->to, &head->history);
    } else {
        order_values(r, head, form);
        lat_print_word(r, "format", foreign ? foreign : "lat");
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static void print_check(lat_input *in, FILE *to, const lat_header *head,
                        const lat_stream_form *form, long index)
{
    char dims[64], name[4096];
    snprintf(name, sizeof name, "%s", lat_input_name(in));
    lat_make_plain(name);
    fprintf(to, "%s: field %ld: OK: %s SU(%d) %s f%d, ", name, index, lat_kind_word(head->kind),
            head->nc, lat_dims_text(&head->geom, dims), 8 * (int)head->real);
    if (foreign)
        fprintf(to, "format %s\n", foreign);
    else
        fprintf(to, "crc-32 %08x\n", form->crc);
}

/* An exit code. */
static int print(lat_input *in, FILE *to, const lat_header *head, const lat_stream_form *form,
                 long index)
{
    const lat_print_kind kind = {
        .key = "field", .text = text, .values = values, .numbered = lat_print_opts.json};
    const field f = {head, form};
    if (!check || lat_print_opts.json || lat_print_opts.tsv)
        return lat_print_object(to, NULL, &kind, &f, index, 1);
    print_check(in, to, head, form, index);
    return fflush(to) ? LAT_FAILED : LAT_DONE;
}

static int print_foreign(lat_input *in, FILE *to, const lat_format *format, const lat_header *head,
                         uint64_t bytes)
{
    const int64_t size = lat_input_size(in);
    const lat_stream_form form = {.stored = size >= 0 ? (uint64_t)size : bytes};
    foreign = format->name;
    const int code = print(in, to, head, &form, 0);
    foreign = NULL;
    return code;
}

/* Spinors of a foreign file are read as a whole, and so verified; what M^-1 is divided by there
 * does not matter. */
static int all_quarks(lat_input *in, FILE *to, const lat_format *format)
{
    const lat_quark_hints h = {.kappa = NAN, .norm = LAT_NORM_MASS, .force = lat_opts.force};
    lat_field f;
    if (lat_fields_read_as(in, &f, &h) <= 0)
        return LAT_FAILED;
    const int code = print_foreign(in, to, format, &f.head, lat_header_bytes(&f.head));
    lat_field_free(&f);
    return code;
}

/* A foreign file states plaquette and link trace, or they are measured with --check. */
static int all_foreign(lat_input *in, FILE *to, const lat_format *format)
{
    const lat_read_context r = lat_fields_context();
    lat_file_reader s;
    if (lat_file_reader_open(&s, in, format, &r, false) <= 0)
        return LAT_FAILED;
    int code = check && lat_file_reader_first(&s, false, NULL, NULL, NULL) ? LAT_FAILED : LAT_DONE;
    if (!check) {
        s.f.head.plaquette = s.r.plaquette;
        s.f.head.link_trace = s.r.link_trace;
    }
    if (code == LAT_DONE)
        code = print_foreign(in, to, format, &s.f.head, lat_payload_bytes(&s.f.head, s.p.rows));
    lat_file_reader_close(&s);
    return code;
}

/* Header by header; the blocks are read only if they are to be checked. */
static int all(lat_input *in, FILE *to)
{
    const lat_format *format = lat_fields_format(in);
    int rc;
    if (!format)
        return LAT_FAILED;
    if (format->quarks)
        return all_quarks(in, to, format);
    if (!format->stream)
        return all_foreign(in, to, format);
    for (long index = 0;; index++) {
        lat_field f = {.data = NULL};
        rc = lat_stream_head(in, &f.head);
        if (rc <= 0)
            return rc < 0 ? LAT_FAILED : LAT_DONE;
        rc = check ? lat_stream_body(in, &f) : lat_stream_skip(in, &f.head);
        if (rc >= 0)
            rc = print(in, to, &f.head, lat_stream_last(in), index) == LAT_DONE ? 0 : -1;
        if (f.data)
            lat_field_free(&f);
        else
            lat_header_free(&f.head);
        if (rc < 0)
            return LAT_FAILED;
    }
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    return lat_print_run(all, NULL);
}
