/* SPDX-License-Identifier: BSD-3-Clause */
/* corr_print.c: correlators as columns and JSON. */
#include "corr.h"

#include <string.h>
#include "common/text.h"
#include "lattice/ensemble.h"
#include "run/common/tool.h"

double *lat_corr_number(const lat_corr_run *r, int c, int m, int t)
{
    const int T = lat_slices(r->job.head), slice = ((t + r->place[3]) % T + T) % T;
    return r->all
           + 2
                 * (((size_t)slice * (size_t)r->job.channels + (size_t)c) * (size_t)r->job.momenta
                    + (size_t)m);
}

/* (C_A(t+1) - C_A(t-1)) / (4 C_P(t)) of a channel that has (C_A, C_P). */
static double pcac(const lat_corr_run *r, int c, int t)
{
    return (lat_corr_number(r, c, 0, t + 1)[0] - lat_corr_number(r, c, 0, t - 1)[0])
           / (4 * lat_corr_number(r, c, 0, t)[1]);
}

static void value(const lat_corr_run *r, int c, int m, int t, double z[2])
{
    memcpy(z, lat_corr_number(r, c, m, t), 2 * sizeof *z);
    if (r->channel[c].kind == LAT_PCAC) {
        z[0] = pcac(r, c, t);
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

void lat_corr_print_tsv(const lat_corr_run *r, long config)
{
    const int T = lat_slices(r->job.head);
    const char *file = lat_report_file(), *links = r->job.head->quark.links;
    char ensemble[LAT_ENSEMBLE_TEXT];
    lat_ensemble_text(r->job.head, ensemble);
    if (lat_report_heading())
        fprintf(r->text,
                "%sconfiguration\tchannel\tpx\tpy\tpz\tt\tre\tim\toperator\tsource\tsink"
                "\t" LAT_LATTICE_COLUMNS "\tlinks\t" LAT_ENSEMBLE_COLUMN "\n",
                file ? "file\t" : "");
    for (int c = 0; c < r->job.channels; c++)
        for (int m = 0; m < momenta_of(r, c); m++)
            for (int t = 0; t < T; t++) {
                double z[2];
                value(r, c, m, t, z);
                fprintf(r->text, "%s%s%ld\t%s", file ? file : "", file ? "\t" : "", config,
                        r->channel[c].name);
                for (int i = 0; i < 3; i++)
                    fprintf(r->text, "\t%.10g", momentum_of(r, c, m, i));
                fprintf(r->text, "\t%d", t);
                lat_numbers_tsv(r->text, 2, z);
                fprintf(r->text, "\t%s\t%s\t%s", r->operators, r->source,
                        lat_corr_opts.sink ? lat_corr_opts.sink : "none");
                lat_lattice_tsv(r->text, &r->job.head->geom, r->job.head->nc);
                fprintf(r->text, "\t%s\t%s\n", *links ? links : "unknown", ensemble);
            }
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
    lat_report_json(r->text);
    fprintf(r->text, "\"configuration\": %ld", config);
    if (head->quark.source) {
        lat_json_key(r->text, false, "source");
        lat_json_string(r->text, head->quark.source);
    }
    if (lat_fermion_known(&head->quark.fermion))
        lat_json_pair(r->text, "mass", head->quark.fermion.mass);
    lat_json_key(r->text, false, "operator");
    lat_json_string(r->text, r->operators);
    if (lat_corr_opts.sink) {
        lat_json_key(r->text, false, "sink");
        lat_json_string(r->text, lat_corr_opts.sink);
    }
    if (*head->quark.links)
        fprintf(r->text, ", \"links_crc\": \"%s\"", head->quark.links);
    lat_lattice_json(r->text, &head->geom, head->nc);
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
