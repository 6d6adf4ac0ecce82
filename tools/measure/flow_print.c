/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_print.c: tables of lat-flow: a row of a time, or of a time and a slice. */
#include "flow_print.h"

#include <math.h>
#include "base/error.h"
#include "base/memory.h"
#include "run/common/print.h"

static const char *const columns[] = {"E_plaquette", "E_clover", "t2E", "Q", "E_t", "E_s"};
enum { COLUMNS = sizeof columns / sizeof *columns };
static const char *const scale_names[] = {"t0_clover", "t0_plaquette", "w0_clover", "w0_plaquette"};
enum { SCALES = sizeof scale_names / sizeof *scale_names };

static double time_of(const flow_report *m, int row)
{
    return rint(m->t[row] * 1e10) / 1e10; /* times are sums */
}

static void numbers_of(double t, const lat_flow_measured *at, double v[COLUMNS])
{
    const double clover = at->temporal + at->spatial;
    v[0] = at->plaquette;
    v[1] = clover;
    v[2] = t * t * clover;
    v[3] = at->charge;
    v[4] = at->temporal;
    v[5] = at->spatial;
}

static void scale_numbers(const flow_report *m, double v[SCALES])
{
    v[0] = m->scales[FLOW_CLOVER].t0;
    v[1] = m->scales[FLOW_PLAQUETTE].t0;
    v[2] = m->scales[FLOW_CLOVER].w0;
    v[3] = m->scales[FLOW_PLAQUETTE].w0;
}

/* Rows of the table: times, and in each the slices. */
static long count(const flow_report *m)
{
    return m->by_slice ? (long)m->rows * (m->last - m->first + 1) : m->rows;
}

/* Row i of the table is of time `row`; *slice: -1 where it is of all. Returns its numbers. */
static const lat_flow_measured *find(const flow_report *m, long i, int *row, int *slice)
{
    const int each = m->by_slice ? m->last - m->first + 1 : 1;
    *row = (int)(i / each);
    *slice = m->by_slice ? m->first + (int)(i % each) : -1;
    return m->by_slice ? m->slice + (size_t)*row * (size_t)flow_report_slices(m) + *slice
                       : m->at + *row;
}

static double slope_of(const flow_report *m, int row, int slice)
{
    return m->slope[(size_t)row * (size_t)flow_report_slices(m) + (size_t)slice];
}

/* W of all slices. */
static int slopes(flow_report *m)
{
    const size_t n = (size_t)flow_report_slices(m), rows = (size_t)m->rows;
    double *density = lat_alloc(rows, sizeof *density, "densities");
    m->slope = lat_alloc(rows * n, sizeof *m->slope, "slopes");
    for (size_t s = 0; density && m->slope && s < n; s++) {
        for (size_t i = 0; i < rows; i++)
            density[i] = m->slice[i * n + s].temporal + m->slice[i * n + s].spatial;
        for (size_t i = 0; i < rows; i++)
            m->slope[i * n + s] = lat_flow_slope(m->rows, m->t, density, (int)i);
    }
    const int rc = density && m->slope ? 0 : -1;
    LAT_FREE(density);
    return rc;
}

static void text_rows(FILE *to, const flow_report *m)
{
    double v[COLUMNS];
    int row, slice;
    fprintf(to, "%6s  ", "t");
    if (m->by_slice)
        fprintf(to, "%5s  ", "slice");
    fprintf(to, "%13s  %13s  %13s  %11s", columns[0], columns[1], columns[2], columns[3]);
    fprintf(to, m->by_slice ? "  %13s\n" : "\n", "W");
    for (long i = 0; i < count(m); i++) {
        const lat_flow_measured *at = find(m, i, &row, &slice);
        numbers_of(time_of(m, row), at, v);
        fprintf(to, "%6.4g  ", time_of(m, row));
        if (m->by_slice)
            fprintf(to, "%5d  ", slice);
        fprintf(to, "%13.8f  %13.8f  %13.8f  %11.6f", v[0], v[1], v[2], v[3]);
        if (m->by_slice)
            fprintf(to, "  %13.8f", slope_of(m, row, slice));
        fprintf(to, "\n");
    }
}

static void text(lat_printer *r, const void *of)
{
    static const char *const labels[SCALES] = {"t0 clover", "t0 plaquette", "w0 clover",
                                               "w0 plaquette"};
    const flow_report *m = of;
    FILE *to = r->to;
    double s[SCALES];
    lat_text_begin(r, "configuration");
    lat_text_lattice(to, &m->geom, m->nc);
    fprintf(to, "flow           %s, %ld steps\n", m->action, m->steps);
    if (m->window)
        fprintf(to, "slices         %d to %d\n", m->first, m->last);
    scale_numbers(m, s);
    lat_text_reals(to, SCALES, labels, s);
    if (isnan(s[0]) && isnan(s[1]))
        fprintf(to, "t0             is beyond t = %.4g\n", m->t[m->rows - 1]);
    if (!m->scales_alone)
        text_rows(to, m);
}

static void row(lat_printer *r, const void *of, long i)
{
    const flow_report *m = of;
    double v[COLUMNS];
    int time, slice;
    const lat_flow_measured *at = find(m, i, &time, &slice);
    numbers_of(time_of(m, time), at, v);
    lat_print_digits(r, "t", 10, time_of(m, time));
    if (m->by_slice)
        lat_print_whole(r, "slice", slice);
    lat_print_reals(r, COLUMNS, columns, v);
    if (m->by_slice)
        lat_print_real(r, "W", slope_of(m, time, slice));
}

static void values(lat_printer *r, const void *of)
{
    const flow_report *m = of;
    const bool json = r->form == LAT_FORM_JSON;
    double s[SCALES];
    scale_numbers(m, s);
    if (!json && m->scales_alone)
        lat_print_reals(r, SCALES, scale_names, s);
    lat_print_word(r, "action", m->action);
    if (m->window)
        lat_print_list(r, "slices", 2, (const int[]){m->first, m->last});
    if (json) {
        lat_print_whole(r, "steps", m->steps);
        lat_print_whole(r, "rejected", m->rejected);
        lat_print_reals(r, SCALES, scale_names, s);
    }
    lat_print_lattice(r, &m->geom, m->nc);
    if (!json)
        lat_print_word(r, LAT_ENSEMBLE_COLUMN, m->ensemble);
}

int flow_print(flow_report *m, lat_input *in, FILE *to, long config)
{
    const lat_print_kind kind = {.key = "config",
                                 .rows = m->scales_alone ? NULL : "flow",
                                 .text = text,
                                 .values = values,
                                 .row = m->scales_alone ? NULL : row};
    return m->by_slice && slopes(m) ? LAT_FAILED
                                    : lat_print_object(to, in, &kind, m, config, count(m));
}

void flow_report_free(flow_report *m)
{
    LAT_FREE(m->t, m->density[FLOW_CLOVER], m->density[FLOW_PLAQUETTE], m->at, m->slice, m->slope);
}
