/* SPDX-License-Identifier: BSD-3-Clause */
/* gluon_print.c: propagators and vertices as text, columns and JSON. */
#include "gluon_print.h"

#include <math.h>
#include "common/text.h"
#include "lattice/ensemble.h"
#include "run/common/tool.h"

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

static void vertices_tsv(FILE *to, const lat_gluon_report *r)
{
    char text[64];
    if (lat_report_heading()) {
        fprintf(to, "%s\tlimit\tmomentum\tp\tphat2\tmembers", r->mean ? "configs" : "config");
        for (int k = 0; k < LAT_GLUON_VALUES; k++) {
            fprintf(to, "\t%s", value_names[k]);
            if (r->mean)
                fprintf(to, "\t%s_error", value_names[k]);
        }
        fprintf(to, "\tgauge\ttheta\t" LAT_LATTICE_COLUMNS "\tforced\t" LAT_ENSEMBLE_COLUMN);
        lat_report_end_heading(to);
    }
    for (int i = 0; i < r->v->rows; i++) {
        const lat_gluon_row *w = &r->v->row[i];
        fprintf(to, "%ld\t%s\t%s\t%.17g\t%.17g\t%ld", r->config, limit(w), name(r->m, w->o, text),
                w->o->p, w->o->phat2, w->members);
        for (int k = 0; k < LAT_GLUON_VALUES; k++) {
            lat_numbers_tsv(to, 1, w->value + k);
            if (r->mean)
                lat_numbers_tsv(to, 1, w->error + k);
        }
        fprintf(to, "\t%s\t%.17g", r->gauge, r->theta);
        lat_lattice_tsv(to, &r->m->geom, r->nc);
        fprintf(to, "\t%d\t%s", r->forced, r->ensemble);
        lat_report_end_row(to);
    }
}

static void vertices_json(FILE *to, const lat_gluon_report *r)
{
    char text[64], error[16];
    lat_json_key(to, false, "vertices");
    for (int i = 0; i < r->v->rows; i++) {
        const lat_gluon_row *w = &r->v->row[i];
        fprintf(to, "%s{\"limit\": \"%s\", \"momentum\": [%s]", i ? ", " : "[", limit(w),
                name(r->m, w->o, text));
        lat_json_pair(to, "p", w->o->p);
        lat_json_pair(to, "phat2", w->o->phat2);
        fprintf(to, ", \"members\": %ld", w->members);
        for (int k = 0; k < LAT_GLUON_VALUES; k++) {
            lat_json_pair(to, value_names[k], w->value[k]);
            snprintf(error, sizeof error, "%s_error", value_names[k]);
            if (r->mean)
                lat_json_pair(to, error, w->error[k]);
        }
        fputc('}', to);
    }
    fputs("]}\n", to);
}

static void print_text(FILE *to, const lat_gluon_report *r)
{
    char text[64];
    if (r->mean)
        fprintf(to, "mean of %ld configurations\n", r->config);
    else
        lat_report_text(to, "configuration", r->config, r->several);
    lat_lattice_text(to, &r->m->geom, r->nc);
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

static void print_tsv(FILE *to, const lat_gluon_report *r)
{
    char text[64];
    if (r->v) {
        vertices_tsv(to, r);
        return;
    }
    if (lat_report_heading()) {
        fprintf(to,
                "%s\tmomentum\tp\tphat2\tD\tD_error\tlongitudinal\tmembers\tcylinder\tcone\t"
                "gauge\ttheta\t" LAT_LATTICE_COLUMNS "\tforced%s\t" LAT_ENSEMBLE_COLUMN,
                r->mean ? "configs" : "config",
                r->colours != LAT_GLUON_ALL ? "\tcolours\tresidual" : "");
        lat_report_end_heading(to);
    }
    for (size_t i = 0; i < r->m->orbits; i++) {
        const lat_gluon_orbit *o = &r->m->orbit[i];
        if (!lat_gluon_kept(o, r->cuts))
            continue;
        fprintf(to, "%ld\t%s\t%.17g\t%.17g\t%.17g\t%.17g\t%.17g\t%ld\t%.6g\t%.6g\t%s\t%.17g",
                r->config, name(r->m, o, text), o->p, o->phat2, o->d, o->error, o->l, o->members,
                o->distance, o->angle, r->gauge, r->theta);
        lat_lattice_tsv(to, &r->m->geom, r->nc);
        fprintf(to, "\t%d", r->forced);
        if (r->colours != LAT_GLUON_ALL)
            fprintf(to, "\t%s\t%.17g", colours_names[r->colours], r->residual);
        fprintf(to, "\t%s", r->ensemble);
        lat_report_end_row(to);
    }
}

static void print_momentum(FILE *to, const lat_gluon_momenta *m, const lat_gluon_orbit *o)
{
    fputs("{\"momentum\": [", to);
    for (int k = 0; k < m->nd; k++)
        fprintf(to, "%s%d", k ? ", " : "", o->n[k]);
    fputs("]", to);
    lat_json_pair(to, "p", o->p);
    lat_json_pair(to, "phat2", o->phat2);
    lat_json_pair(to, "D", o->d);
    lat_json_pair(to, "D_error", o->error);
    lat_json_pair(to, "longitudinal", o->l);
    fprintf(to, ", \"members\": %ld", o->members);
    lat_json_pair(to, "cylinder", o->distance);
    lat_json_pair(to, "cone", o->angle);
    fputc('}', to);
}

static void print_json(FILE *to, const lat_gluon_report *r)
{
    lat_report_json(to);
    if (r->mean || r->several)
        fprintf(to, "\"%s\": %ld, ", r->mean ? "configs" : "config", r->config);
    fprintf(to, "\"gauge\": \"%s\"", r->gauge);
    lat_json_pair(to, "theta", r->theta);
    if (r->colours != LAT_GLUON_ALL) {
        fprintf(to, ", \"colours\": \"%s\"", colours_names[r->colours]);
        lat_json_pair(to, "residual", r->residual);
    }
    fprintf(to, ", \"forced\": %s", r->forced ? "true" : "false");
    lat_json_pair(to, "link_trace", r->link_trace);
    lat_json_pair(to, "field_squared", r->square);
    lat_lattice_json(to, &r->m->geom, r->nc);
    if (r->v) {
        vertices_json(to, r);
        return;
    }
    lat_json_key(to, false, "propagator");
    fputc('[', to);
    bool first = true;
    for (size_t i = 0; i < r->m->orbits; i++)
        if (lat_gluon_kept(&r->m->orbit[i], r->cuts)) {
            fputs(first ? "" : ", ", to);
            print_momentum(to, r->m, &r->m->orbit[i]);
            first = false;
        }
    fputs("]}\n", to);
}

int lat_gluon_print(FILE *to, const lat_gluon_report *r)
{
    if (lat_print_opts.tsv)
        print_tsv(to, r);
    else if (lat_print_opts.json)
        print_json(to, r);
    else
        print_text(to, r);
    return fflush(to) ? -1 : 0;
}
