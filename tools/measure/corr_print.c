/* SPDX-License-Identifier: BSD-3-Clause */
/* corr_print.c: correlators as columns and JSON. */
#include "corr.h"

#include <string.h>
#include "common/text.h"
#include "lattice/ensemble.h"
#include "run/common/print.h"

double *lat_corr_number(const lat_corr_run *r, int c, int m, int t)
{
    const int T = lat_slices(r->job.head), slice = ((t + r->place[3]) % T + T) % T;
    return r->all
           + 2
                 * (((size_t)slice * (size_t)r->job.channels + (size_t)c) * (size_t)r->job.momenta
                    + (size_t)m);
}

static void value(const lat_corr_run *r, int c, int m, int t, double z[2])
{
    memcpy(z, lat_corr_number(r, c, m, t), 2 * sizeof *z);
    if (r->channel[c].kind == LAT_PCAC) { /* (C_A(t+1) - C_A(t-1)) / (4 C_P(t)) of (C_A, C_P) */
        z[0] = (lat_corr_number(r, c, 0, t + 1)[0] - lat_corr_number(r, c, 0, t - 1)[0])
               / (4 * lat_corr_number(r, c, 0, t)[1]);
        z[1] = 0;
    }
}

/* PCAC has momentum 0 alone. */
static int momenta_of(const lat_corr_run *r, int c)
{
    return r->channel[c].kind == LAT_PCAC ? 1 : r->job.momenta;
}

/* n of px, py or pz. */
static double momentum_of(const lat_corr_run *r, int c, int m, int i)
{
    return r->channel[c].kind == LAT_PCAC ? 0 : r->momentum[m][i] + r->shift[c][i];
}

static void row(lat_printer *to, const lat_corr_run *r, long config, const int at[3])
{
    static const char *const names[] = {"px", "py", "pz"};
    const int c = at[0], m = at[1], t = at[2];
    const char *links = r->job.head->quark.links;
    char ensemble[LAT_ENSEMBLE_TEXT];
    double z[2];
    value(r, c, m, t, z);
    to->first = true;
    if (lat_report_file())
        lat_print_word(to, "file", lat_report_file());
    lat_print_whole(to, "configuration", config);
    lat_print_word(to, "channel", r->channel[c].name);
    for (int i = 0; i < 3; i++)
        lat_print_digits(to, names[i], 10, momentum_of(r, c, m, i));
    lat_print_whole(to, "t", t);
    lat_print_real(to, "re", z[0]);
    lat_print_real(to, "im", z[1]);
    lat_print_word(to, "operator", r->operators);
    lat_print_word(to, "source", r->source);
    lat_print_word(to, "sink", lat_corr_opts.sink ? lat_corr_opts.sink : "none");
    lat_print_lattice(to, &r->job.head->geom, r->job.head->nc);
    lat_print_word(to, "links", *links ? links : "unknown");
    lat_print_word(to, LAT_ENSEMBLE_COLUMN, lat_ensemble_text(r->job.head, ensemble));
    fputc('\n', to->to);
}

void lat_corr_print_tsv(const lat_corr_run *r, long config)
{
    lat_printer to = {.to = r->text, .form = LAT_FORM_NAMES};
    if (lat_report_heading())
        row(&to, r, config, (int[3]){0, 0, 0});
    to.form = LAT_FORM_TSV;
    for (int c = 0; c < r->job.channels; c++)
        for (int m = 0; m < momenta_of(r, c); m++)
            for (int t = 0; t < lat_slices(r->job.head); t++)
                row(&to, r, config, (int[3]){c, m, t});
}

static void json_values(const lat_corr_run *r, int c, int m, int part)
{
    double z[2];
    for (int t = 0; t < lat_slices(r->job.head); t++) {
        value(r, c, m, t, z);
        fputs(t ? ", " : "[", r->text);
        lat_json_number(r->text, z[part]);
    }
    fputc(']', r->text);
}

void lat_corr_print_json(const lat_corr_run *r, long config)
{
    const lat_header *head = r->job.head;
    const char *before = "";
    lat_printer to = {.to = r->text, .form = LAT_FORM_JSON, .first = true};
    lat_report_json(r->text);
    lat_print_whole(&to, "configuration", config);
    if (head->quark.source)
        lat_print_word(&to, "source", head->quark.source);
    if (lat_fermion_known(&head->quark.fermion))
        lat_print_real(&to, "mass", head->quark.fermion.mass);
    lat_print_word(&to, "operator", r->operators);
    if (lat_corr_opts.sink)
        lat_print_word(&to, "sink", lat_corr_opts.sink);
    if (*head->quark.links)
        lat_print_word(&to, "links_crc", head->quark.links);
    lat_print_lattice(&to, &head->geom, head->nc);
    fputs(", \"correlators\": [", r->text);
    for (int c = 0; c < r->job.channels; c++)
        for (int m = 0; m < momenta_of(r, c); m++) {
            fprintf(r->text,
                    "%s{\"channel\": \"%s\", \"p\": [%.10g, %.10g, %.10g], \"re\": ", before,
                    r->channel[c].name, momentum_of(r, c, m, 0), momentum_of(r, c, m, 1),
                    momentum_of(r, c, m, 2));
            json_values(r, c, m, 0);
            fputs(", \"im\": ", r->text);
            json_values(r, c, m, 1);
            fputc('}', r->text);
            before = ", ";
        }
    fputs("]}\n", r->text);
}
