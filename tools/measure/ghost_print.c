/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_print.c: ghost propagators and eigenvalues as text, columns and JSON. */
#include "ghost_measured.h"

#include "lattice/ensemble.h"
#include "run/common/print.h"

/* The name of the gauge. */
static const char *called(const lat_ghost_measured *m)
{
    static char name[LAT_CONDITION_TEXT];
    lat_condition_text(&m->c, &m->f->head.geom, name);
    return name;
}

static void report_text(lat_printer *r, const void *of)
{
    const lat_ghost_measured *m = of;
    const int nd = m->f->head.geom.nd;
    FILE *to = r->to;
    lat_text_begin(r, "configuration");
    lat_text_lattice(to, &m->f->head.geom, m->f->head.nc);
    fprintf(to, "gauge          %s, theta %.6g%s\n", called(m), m->state.theta,
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
        const lat_ghost_row *o = &m->rows[i];
        char text[64];
        int n = 0;
        for (int mu = 0; mu < nd; mu++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", mu ? "," : "", o->n[mu]);
        if (m->modes)
            fprintf(to, "%-8d %6d %20.13g %12.3g\n", o->slice, o->mode, o->value, o->residual);
        else
            fprintf(to, "%-16s %10.6f %18.12g %10.6f %10.3g\n", text, o->k2, o->value,
                    o->k2 * o->value, o->residual);
    }
}

static void row(lat_printer *r, const void *of, long i)
{
    static const char *const names[LAT_MAX_DIMS] = {"kx", "ky", "kz", "kt"};
    const lat_ghost_measured *m = of;
    const lat_ghost_row *o = &m->rows[i];
    if (m->modes) {
        lat_print_whole(r, "slice", o->slice);
        lat_print_whole(r, "mode", o->mode);
    } else if (r->form == LAT_FORM_JSON) {
        lat_print_list(r, "momentum", m->f->head.geom.nd, o->n);
    } else {
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            lat_print_whole(r, names[mu], o->n[mu]);
    }
    if (!m->modes)
        lat_print_real(r, "k2", o->k2);
    lat_print_real(r, m->modes ? "value" : "G", o->value);
    lat_print_digits(r, "residual", 3, o->residual);
}

static void values(lat_printer *r, const void *of)
{
    const lat_ghost_measured *m = of;
    const bool json = r->form == LAT_FORM_JSON, forced = lat_gauge_is_off(&m->state);
    char ensemble[LAT_ENSEMBLE_TEXT];
    lat_print_word(r, "gauge", called(m));
    lat_print_real(r, "theta", m->state.theta);
    if (json)
        lat_print_flag(r, "forced", forced);
    lat_print_lattice(r, &m->f->head.geom, m->f->head.nc);
    if (json) {
        lat_print_whole(r, "iterations", m->report.iterations);
    } else {
        lat_print_flag(r, "forced", forced);
        lat_print_word(r, LAT_ENSEMBLE_COLUMN, lat_ensemble_text(&m->f->head, ensemble));
    }
}

int lat_ghost_print(FILE *to, lat_input *in, const lat_ghost_measured *m)
{
    const lat_print_kind kind = {.key = "configuration",
                                 .rows = m->modes ? "modes" : "propagator",
                                 .text = report_text,
                                 .values = values,
                                 .row = row};
    return lat_print_object(to, in, &kind, m, m->config, m->count);
}
