/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_print.c: propagators and vertices in momentum space as columns and JSON. */
#include "quark_run.h"

#include "common/text.h"
#include "quark/values.h"
#include "run/common/print.h"
#include "run/common/tool.h"

static const char *mu_names[2] = {"p", "k"};

static void print_heading(FILE *to)
{
    const int n = lat_values_columns(lat_quark_what.kind);
    if (!lat_report_heading())
        return;
    fputs(lat_quark_what.mean ? "configurations" : "configuration", to);
    for (int i = 0; i < (lat_quark_opts.vertex ? 8 : 4); i++)
        fprintf(to, "\t%s%c", mu_names[i / 4], "xyzt"[i % 4]);
    fputs(!lat_quark_opts.vertex    ? "\tp2\tpbar2\tphat2\tcylinder"
          : lat_quark_has_current() ? "\tp2\tk2\tq2\tward\tgamma"
                                    : "\tp2\tk2\tq2\tgamma",
          to);
    for (int i = 0; i < n; i++) {
        const char *name = lat_values_column(lat_quark_what.kind, i);
        fprintf(to, "\t%s", name);
        if (lat_quark_what.mean)
            fprintf(to, "\t%s_error", name);
    }
    lat_report_end_heading(to);
}

void lat_quark_tsv(FILE *to, long config, const lat_kinematics *k, const double *v, const double *e)
{
    const int n = lat_values_columns(lat_quark_what.kind);
    print_heading(to);
    for (int row = 0; row < lat_values_rows(lat_quark_what.kind); row++) {
        fprintf(to, "%ld", config);
        for (int i = 0; i < (lat_quark_opts.vertex ? 8 : 4); i++)
            fprintf(to, "\t%.15g", k->n[i / 4][i % 4]);
        if (lat_quark_opts.vertex) {
            lat_numbers_tsv(to, lat_quark_has_current() ? 4 : 3,
                            (double[]){k->square[0], k->square[1], k->q2, v[LAT_VALUES_WARD]});
            fprintf(to, "\t%s", lat_values_row(row));
        } else {
            lat_numbers_tsv(to, 4, (double[]){k->square[0], k->pbar2, k->phat2, k->distance});
        }
        for (int i = 0; i < n; i++) {
            lat_numbers_tsv(to, 1, v + row * LAT_VALUES_STRIDE + i);
            if (e)
                lat_numbers_tsv(to, 1, e + row * LAT_VALUES_STRIDE + i);
        }
        lat_report_end_row(to);
    }
}

static void json_value(FILE *to, const char *name, bool first, double v, const double *e)
{
    lat_json_key(to, first, name);
    lat_json_number(to, v);
    if (e) {
        char text[40];
        snprintf(text, sizeof text, "%s_error", name);
        lat_json_pair(to, text, *e);
    }
}

static void json_momentum(FILE *to, bool first, const char *name, const double n[4])
{
    lat_json_key(to, first, name);
    for (int mu = 0; mu < 4; mu++)
        fprintf(to, "%s%.15g", mu ? ", " : "[", n[mu]);
    fputc(']', to);
}

void lat_quark_json(FILE *to, const lat_kinematics *k, const double *v, const double *e)
{
    fputc('{', to);
    json_momentum(to, true, "p", k->n[0]);
    if (lat_quark_opts.vertex)
        json_momentum(to, false, "k", k->n[1]);
    lat_json_pair(to, "p2", k->square[0]);
    if (lat_quark_opts.vertex) {
        lat_json_pair(to, "k2", k->square[1]);
        lat_json_pair(to, "q2", k->q2);
        if (lat_quark_has_current())
            lat_json_pair(to, "ward", v[LAT_VALUES_WARD]);
        lat_json_key(to, false, "vertices");
        fputc('{', to);
        for (int row = 0; row < lat_values_rows(lat_quark_what.kind); row++) {
            lat_json_key(to, row == 0, lat_values_row(row));
            fputc('{', to);
            for (int i = 0; i < lat_values_columns(lat_quark_what.kind); i++)
                json_value(to, lat_values_column(lat_quark_what.kind, i), i == 0,
                           v[row * LAT_VALUES_STRIDE + i],
                           e ? e + row * LAT_VALUES_STRIDE + i : NULL);
            fputc('}', to);
        }
        fputs("}}", to);
        return;
    }
    lat_json_pair(to, "pbar2", k->pbar2);
    lat_json_pair(to, "phat2", k->phat2);
    lat_json_pair(to, "cylinder", k->distance);
    for (int i = 0; i < lat_values_columns(lat_quark_what.kind); i++)
        json_value(to, lat_values_column(lat_quark_what.kind, i), false, v[i], e ? e + i : NULL);
    fputc('}', to);
}

void lat_quark_json_begin(FILE *to, const lat_header *head, long config)
{
    lat_report_json(to);
    fprintf(to, "\"%s\": %ld", lat_quark_what.mean ? "configurations" : "configuration", config);
    if (!lat_quark_what.mean && head->quark.source) {
        lat_json_key(to, false, "source");
        lat_json_string(to, head->quark.source);
    }
    if (lat_fermion_known(&head->quark.fermion))
        lat_json_pair(to, "mass", head->quark.fermion.mass);
    if (!lat_quark_what.mean && *head->quark.links) {
        lat_json_key(to, false, "links_crc");
        lat_json_string(to, head->quark.links);
    }
    lat_json_key(to, false, "gauge");
    lat_json_string(to, head->gauge);
    if (!lat_quark_what.mean)
        lat_json_pair(to, "theta", head->theta);
    lat_lattice_json(to, &head->geom, head->nc);
    lat_json_key(to, false, "momenta");
    fputc('[', to);
}
