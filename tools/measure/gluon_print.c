/* SPDX-License-Identifier: BSD-3-Clause */
/* gluon_print.c: propagators and vertices as text, columns and JSON. */
#include "gluon_print.h"

#include <math.h>
#include "lattice/ensemble.h"
#include "run/common/print.h"

static const char *const colours_names[] = {"all", "diagonal", "off-diagonal"};

static const char *name(const lat_gluon_momenta *m, const lat_gluon_orbit *o, char buf[64])
{
    int n = 0;
    for (int i = 0; i < m->nd; i++)
        n += snprintf(buf + n, 64 - (size_t)n, "%s%d", i ? "," : "", o->n[i]);
    return buf;
}

static const char *const value_names[LAT_GLUON_VALUES] = {"T", "S", "D", "D0", "Gamma", "g"};

static const char *limit(const lat_gluon_row *r) { return r->soft ? "soft" : "symmetric"; }

static void vertices_text(FILE *to, const lat_gluon_report *r)
{
    char text[64];
    fprintf(to, "%-10s %-16s %10s %14s %14s %10s %10s %8s\n", "limit", "momentum", "phat^2", "T",
            "Gamma", "g", "+-", "members");
    for (int i = 0; i < r->v->rows; i++) {
        const lat_gluon_row *w = &r->v->row[i];
        fprintf(to, "%-10s %-16s %10.6f %14.6g %14.6g %10.4g %10.2g %8ld\n", limit(w),
                name(r->m, w->o, text), w->o->phat2, w->value[LAT_GLUON_T],
                w->value[LAT_GLUON_GAMMA], w->value[LAT_GLUON_COUPLING],
                r->mean ? w->error[LAT_GLUON_COUPLING] : NAN, w->members);
    }
}

static void vertex_row(lat_printer *to, const void *of, long i)
{
    const lat_gluon_report *r = of;
    const lat_gluon_row *w = &r->v->row[i];
    char text[64];
    lat_print_word(to, "limit", limit(w));
    if (to->form == LAT_FORM_JSON)
        fprintf(to->to, ", \"momentum\": [%s]", name(r->m, w->o, text));
    else
        lat_print_word(to, "momentum", name(r->m, w->o, text));
    lat_print_real(to, "p", w->o->p);
    lat_print_real(to, "phat2", w->o->phat2);
    lat_print_whole(to, "members", w->members);
    for (int k = 0; k < LAT_GLUON_VALUES; k++) {
        snprintf(text, sizeof text, "%s_error", value_names[k]);
        lat_print_real(to, value_names[k], w->value[k]);
        if (r->mean)
            lat_print_real(to, text, w->error[k]);
    }
}

static void report_text(lat_printer *out, const void *of)
{
    const lat_gluon_report *r = of;
    FILE *to = out->to;
    char text[64];
    if (r->mean)
        fprintf(to, "mean of %ld configurations\n", r->config);
    else
        lat_text_begin(out, "configuration");
    lat_text_lattice(to, &r->m->geom, r->nc);
    fprintf(to, "gauge          %s, theta %.6g%s\n", r->gauge, r->theta,
            r->forced ? ", which is not in it (--force)" : "");
    if (r->colours != LAT_GLUON_ALL)
        fprintf(to, "residual       landau, theta %.6g\ncolours        %s\n", r->residual,
                colours_names[r->colours]);
    fprintf(to, "link trace     %.15g\n", r->link_trace);
    fprintf(to, "field squared  %.15g\n\n", r->square);
    if (r->v) {
        vertices_text(to, r);
        return;
    }
    fprintf(to, "%-16s %10s %10s %16s %10s %12s %8s\n", "momentum", "|p|", "phat^2", "D", "+-",
            "longitudinal", "members");
    for (size_t i = 0; i < r->m->orbits; i++) {
        const lat_gluon_orbit *o = &r->m->orbit[i];
        if (lat_gluon_kept(o, r->cuts))
            fprintf(to, "%-16s %10.6f %10.6f %16.9g %10.3g %12.3g %8ld\n", name(r->m, o, text),
                    o->p, o->phat2, o->d, o->error, o->l, o->members);
    }
}

static bool kept(const void *of, long i)
{
    const lat_gluon_report *r = of;
    return lat_gluon_kept(&r->m->orbit[i], r->cuts);
}

static void momentum_row(lat_printer *to, const void *of, long i)
{
    const lat_gluon_report *r = of;
    const lat_gluon_orbit *o = &r->m->orbit[i];
    lat_print_list(to, "momentum", r->m->nd, o->n);
    lat_print_real(to, "p", o->p);
    lat_print_real(to, "phat2", o->phat2);
    lat_print_real(to, "D", o->d);
    lat_print_real(to, "D_error", o->error);
    lat_print_real(to, "longitudinal", o->l);
    lat_print_whole(to, "members", o->members);
    lat_print_digits(to, "cylinder", 6, o->distance);
    lat_print_digits(to, "cone", 6, o->angle);
}

/* What diagonal colours, and the others, have beside theta. */
static void colours(lat_printer *to, const lat_gluon_report *r)
{
    if (r->colours == LAT_GLUON_ALL)
        return;
    lat_print_word(to, "colours", colours_names[r->colours]);
    lat_print_real(to, "residual", r->residual);
}

static void values(lat_printer *to, const void *of)
{
    const lat_gluon_report *r = of;
    const bool json = to->form == LAT_FORM_JSON;
    lat_print_word(to, "gauge", r->gauge);
    lat_print_real(to, "theta", r->theta);
    if (json) {
        colours(to, r);
        lat_print_flag(to, "forced", r->forced);
        lat_print_real(to, "link_trace", r->link_trace);
        lat_print_real(to, "field_squared", r->square);
    }
    lat_print_lattice(to, &r->m->geom, r->nc);
    if (!json) {
        lat_print_flag(to, "forced", r->forced);
        if (!r->v)
            colours(to, r);
        lat_print_word(to, LAT_ENSEMBLE_COLUMN, r->ensemble);
    }
}

int lat_gluon_print(FILE *to, lat_input *in, const lat_gluon_report *r)
{
    const lat_print_kind kind = {.key = r->mean ? "configs" : "config",
                                 .rows = r->v ? "vertices" : "propagator",
                                 .text = report_text,
                                 .values = values,
                                 .row = r->v ? vertex_row : momentum_row,
                                 .has = r->v ? NULL : kept,
                                 .numbered = r->mean || r->colours != LAT_GLUON_ALL};
    return lat_print_object(to, in, &kind, r, r->config, r->v ? r->v->rows : (long)r->m->orbits);
}
