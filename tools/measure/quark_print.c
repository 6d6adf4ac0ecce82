/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_print.c: propagators and vertices in momentum space as columns and JSON. */
#include "quark_run.h"

#include "common/progress.h"
#include "common/text.h"
#include "quark/values.h"
#include "run/common/print.h"

static void json_momentum(lat_printer *r, const char *name, const double n[4])
{
    lat_json_key(r->to, r->first, name);
    r->first = false;
    for (int mu = 0; mu < 4; mu++)
        fprintf(r->to, "%s%.15g", mu ? ", " : "[", n[mu]);
    fputc(']', r->to);
}

/* Momenta, and what follows from them. */
static void kinematics(lat_printer *r, const lat_kinematics *k, double ward)
{
    for (int i = 0; i < (lat_quark_opts.vertex ? 2 : 1); i++) {
        const char p = "pk"[i], name[] = {p, '\0'};
        if (r->form == LAT_FORM_JSON)
            json_momentum(r, name, k->n[i]);
        for (int mu = 0; r->form != LAT_FORM_JSON && mu < 4; mu++)
            lat_print_digits(r, (char[]){p, "xyzt"[mu], '\0'}, 15, k->n[i][mu]);
    }
    lat_print_real(r, "p2", k->square[0]);
    if (lat_quark_opts.vertex) {
        lat_print_real(r, "k2", k->square[1]);
        lat_print_real(r, "q2", k->q2);
        if (lat_quark_has_current())
            lat_print_real(r, "ward", ward);
        return;
    }
    lat_print_real(r, "pbar2", k->pbar2);
    lat_print_real(r, "phat2", k->phat2);
    lat_print_real(r, "cylinder", k->distance);
}

/* Of one row, each with its error if there are errors. */
static void numbers(lat_printer *r, int row, const double *v, const double *e)
{
    for (int i = 0; i < lat_values_columns(lat_quark_what.kind); i++) {
        const char *name = lat_values_column(lat_quark_what.kind, i);
        const int at = row * LAT_VALUES_STRIDE + i;
        char error[40];
        snprintf(error, sizeof error, "%s_error", name);
        lat_print_real(r, name, v[at]);
        if (e)
            lat_print_real(r, error, e[at]);
    }
}

static void tsv_row(lat_printer *r, const lat_header *head, const lat_kinematics *k, int row,
                    const double *v, const double *e)
{
    r->first = true;
    lat_print_whole(r, lat_quark_what.mean ? "configurations" : "configuration", r->index);
    kinematics(r, k, v[LAT_VALUES_WARD]);
    if (lat_quark_opts.vertex)
        lat_print_word(r, "gamma", lat_values_row(row));
    numbers(r, row, v, e);
    lat_print_ensemble(r, head);
}

void lat_quark_tsv(FILE *to, const lat_header *head, long config, const lat_kinematics *k,
                   const double *v, const double *e)
{
    lat_printer r = {.to = to, .form = LAT_FORM_NAMES, .index = config};
    lat_progress_end();
    if (lat_report_heading()) {
        tsv_row(&r, head, k, 0, v, e);
        lat_report_end_heading(to);
    }
    r.form = LAT_FORM_TSV;
    for (int row = 0; row < lat_values_rows(lat_quark_what.kind); row++) {
        tsv_row(&r, head, k, row, v, e);
        lat_report_end_row(to);
    }
}

void lat_quark_json(FILE *to, const lat_kinematics *k, const double *v, const double *e)
{
    lat_printer r = {.to = to, .form = LAT_FORM_JSON, .first = true};
    fputc('{', to);
    kinematics(&r, k, v[LAT_VALUES_WARD]);
    if (!lat_quark_opts.vertex)
        numbers(&r, 0, v, e);
    for (int row = 0; lat_quark_opts.vertex && row < lat_values_rows(lat_quark_what.kind); row++) {
        fputs(row ? ", " : ", \"vertices\": {", to);
        lat_json_string(to, lat_values_row(row));
        fputs(": {", to);
        r.first = true;
        numbers(&r, row, v, e);
        fputc('}', to);
    }
    fputs(lat_quark_opts.vertex ? "}}" : "}", to);
}

void lat_quark_json_begin(FILE *to, const lat_header *head, long config)
{
    lat_printer r = {.to = to, .form = LAT_FORM_JSON, .first = true};
    const bool mean = lat_quark_what.mean;
    lat_report_json(to);
    lat_print_whole(&r, mean ? "configurations" : "configuration", config);
    if (!mean && head->quark.source)
        lat_print_word(&r, "source", head->quark.source);
    if (lat_fermion_known(&head->quark.fermion))
        lat_print_real(&r, "mass", head->quark.fermion.mass);
    if (!mean && *head->quark.links)
        lat_print_word(&r, "links_crc", head->quark.links);
    lat_print_word(&r, "gauge", head->gauge);
    if (!mean)
        lat_print_real(&r, "theta", head->theta);
    lat_print_ensemble(&r, head);
    fputs(", \"momenta\": [", to);
}
