/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_print.c: ghost propagators and eigenvalues as text, columns and JSON. */
#include "ghost_measured.h"

#include <string.h>
#include "base/error.h"
#include "common/text.h"
#include "lattice/ensemble.h"
#include "run/common/tool.h"

static void print_text(FILE *to, const lat_ghost_measured *m, const char *called)
{
    const int nd = m->f->head.geom.nd;
    lat_report_text(to, "configuration", m->config, m->several);
    lat_lattice_text(to, &m->f->head.geom, m->f->head.nc);
    fprintf(to, "gauge          %s, theta %.6g%s\n", called, m->state.theta,
            lat_gauge_is_off(&m->state) ? ", which is not in it (--force)" : "");
    fprintf(to, "source         %s%s\n",
            m->modes   ? "none: lowest eigenvalues"
            : m->point ? "point "
                       : "plane waves",
            !m->modes && m->point ? m->point : "");
    if (m->modes)
        fprintf(to, "\n%-8s %6s %20s %12s\n", "slice", "mode", "eigenvalue", "residual");
    else
        fprintf(to, "\n%-16s %10s %18s %10s %10s\n", "momentum", "k^2", "G", "k^2 G", "residual");
    for (int i = 0; i < m->count; i++) {
        const lat_ghost_row *r = &m->rows[i];
        char text[64];
        int n = 0;
        for (int mu = 0; mu < nd; mu++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", mu ? "," : "", r->n[mu]);
        if (m->modes)
            fprintf(to, "%-8d %6d %20.13g %12.3g\n", r->slice, r->mode, r->value, r->residual);
        else
            fprintf(to, "%-16s %10.6f %18.12g %10.6f %10.3g\n", text, r->k2, r->value,
                    r->k2 * r->value, r->residual);
    }
}

static void print_tsv(FILE *to, const lat_ghost_measured *m, const char *called)
{
    char ensemble[LAT_ENSEMBLE_TEXT];
    if (lat_report_heading()) {
        fprintf(to,
                "configuration\t%s\tresidual\tgauge\ttheta\t" LAT_LATTICE_COLUMNS
                "\tforced\t" LAT_ENSEMBLE_COLUMN,
                m->modes ? "slice\tmode\tvalue" : "kx\tky\tkz\tkt\tk2\tG");
        lat_report_end_heading(to);
    }
    for (int i = 0; i < m->count; i++) {
        const lat_ghost_row *r = &m->rows[i];
        fprintf(to, "%ld\t", m->config);
        if (m->modes)
            fprintf(to, "%d\t%d", r->slice, r->mode);
        else
            fprintf(to, "%d\t%d\t%d\t%d\t%.17g", r->n[0], r->n[1], r->n[2], r->n[3], r->k2);
        fprintf(to, "\t%.17g\t%.3g\t%s\t%.17g", r->value, r->residual, called, m->state.theta);
        lat_lattice_tsv(to, &m->f->head.geom, m->f->head.nc);
        fprintf(to, "\t%d\t%s", lat_gauge_is_off(&m->state),
                lat_ensemble_text(&m->f->head, ensemble));
        lat_report_end_row(to);
    }
}

static void print_row(FILE *to, const lat_ghost_measured *m, const lat_ghost_row *r)
{
    if (m->modes) {
        fprintf(to, "{\"slice\": %d, \"mode\": %d", r->slice, r->mode);
        lat_json_pair(to, "value", r->value);
    } else {
        fputs("{\"momentum\": [", to);
        for (int mu = 0; mu < m->f->head.geom.nd; mu++)
            fprintf(to, "%s%d", mu ? ", " : "", r->n[mu]);
        fputs("]", to);
        lat_json_pair(to, "k2", r->k2);
        lat_json_pair(to, "G", r->value);
    }
    lat_json_pair(to, "residual", r->residual);
    fputc('}', to);
}

static void print_json(FILE *to, const lat_ghost_measured *m, const char *called)
{
    lat_report_json(to);
    if (m->several)
        fprintf(to, "\"configuration\": %ld, ", m->config);
    fprintf(to, "\"gauge\": \"%s\"", called);
    lat_json_pair(to, "theta", m->state.theta);
    fprintf(to, ", \"forced\": %s", lat_gauge_is_off(&m->state) ? "true" : "false");
    lat_lattice_json(to, &m->f->head.geom, m->f->head.nc);
    fprintf(to, ", \"iterations\": %ld", m->report.iterations);
    lat_json_key(to, false, m->modes ? "modes" : "propagator");
    fputc('[', to);
    for (int i = 0; i < m->count; i++) {
        fputs(i ? ", " : "", to);
        print_row(to, m, &m->rows[i]);
    }
    fputs("]}\n", to);
}

int lat_ghost_print(FILE *to, const lat_ghost_measured *m)
{
    char called[LAT_CONDITION_TEXT];
    lat_condition_text(&m->c, &m->f->head.geom, called);
    if (lat_print_opts.tsv)
        print_tsv(to, m, called);
    else if (lat_print_opts.json)
        print_json(to, m, called);
    else
        print_text(to, m, called);
    return fflush(to) ? LAT_FAILED : LAT_DONE;
}
