/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-flow: the gradient flow of configurations (docs/flow.md): action densities, t0 and w0,
 * topological charge along it, and the links themselves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "flow/flow.h"
#include "formats/fields.h"
#include "lattice/anisotropy.h"
#include "lattice/ensemble.h"
#include "run/common/device_options.h"
#include "run/common/print.h"
#include "run/common/tool.h"
#include "stream/stream.h"
#include "flow_print.h"

enum { MOST_TIMES = 1000 };

static int action;
static double until = NAN, every = NAN, fixed_step = NAN, tolerance = 1e-5;
static const char *links, *times_text;
static double xi = NAN;
static const char *slices;
static bool scales_alone, by_slice;
static lat_device_options device;

static const char *const actions[] = {"wilson", "symanzik", "iwasaki"};
static const double c1_of[] = {0, LAT_FLOW_SYMANZIK, LAT_FLOW_IWASAKI};

static const lat_option options[] = {
    LAT_HEADING("Flow"),
    {LAT_OPT_CHOICE, "action", 0, "wilson|symanzik|iwasaki", &action, 0, 0,
     "action whose gradient the links follow"},
    {LAT_OPT_REAL, "until", 0, "T", &until, 0, 1e6,
     "flow to time T (default: until t0 and w0 are known, at most to L^2/32, L being the smallest "
     "extent)"},
    {LAT_OPT_REAL, "every", 'e', "DT", &every, 1e-6, 1e6,
     "measure at multiples of DT (default: about 0.1)"},
    {LAT_OPT_REAL, "tolerance", 0, "X", &tolerance, 1e-12, 1,
     "error of a step, which sets its length: the largest distance of a link"},
    {LAT_OPT_REAL, "step", 0, "EPS", &fixed_step, 1e-6, 10,
     "use steps of this length (default: set by --tolerance)"},
    LAT_HEADING("Output"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "links", 0, "FILE", &links, 0, 0,
     "write the links at the end to FILE"},
    {LAT_OPT_TEXT, "write", 0, "T,..", &times_text, 0, 0,
     "write the links at these times, one field for each (default: at the end)"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "scales", 0, NULL, &scales_alone, 0, 0,
     "print t0 and w0 alone, a row for each configuration"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "by-slice", 0, NULL, &by_slice, 0, 0,
     "print a row for each slice, with W = t d/dt (t^2 E)"},
    LAT_HEADING("Lattice"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "slices", 0, "A,B", &slices, 0, 0,
     "measure slices A to B alone (default: all)"},
    {LAT_OPT_REAL, "xi", 0, "X", &xi, 1e-2, 1e2,
     "flow links of an anisotropic lattice, X = a_s/a_t, with t in units of a_s^2"},
    LAT_HEADING("Device"),
    LAT_DEVICE_OPTIONS(device),
    LAT_HEADING("Rows"),
    LAT_PRINT_OPTIONS("time", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-flow",
    .args = "[FILE...]",
    .summary = "Measures action densities, t0, w0 and topological charge along the gradient flow.",
    .example = "lat-flow --tsv --until 4 --links flowed.lat cfg.0100.lat > flow.tsv\n"
               "lat-flow --until 1 --action symanzik cfg.*.lat\n"
               "lat-flow --tsv --until 4 cfg.*.lat | lat-stat --scales",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET | LAT_HAS_BOXES,
    .start = lat_comm_start,
};

/* ---- the plan: when to measure, when to write ------------------------------------------------ */

static lat_flow_how how;
static char action_text[64];     /* as headers and tables have it */
static int window[2];            /* of --slices */
static double times[MOST_TIMES]; /* of --write */
static int ntimes;

static bool divides(double part, double whole)
{
    return fabs(rint(whole / part) * part - whole) <= 1e-9 * part;
}

static void parse_times(void)
{
    const char *text = times_text;
    for (; text && *text; ntimes++) {
        char *end;
        const double t = strtod(text, &end), before = ntimes ? times[ntimes - 1] : -1;
        if (end == text || (*end && *end != ',') || !(t > before && t >= 0 && isfinite(t)))
            lat_usage("--write: expected rising times with commas between, found '%.80s'", text);
        if (ntimes == MOST_TIMES)
            lat_usage("--write: expected at most %d times", MOST_TIMES);
        if (fixed_step > 0 && !divides(fixed_step, t))
            lat_usage("--write: expected multiples of the step %g, found %g", fixed_step, t);
        if (t > until)
            lat_usage("--write: expected times up to --until %g, found %g", until, t);
        times[ntimes] = t;
        text = *end ? end + 1 : end;
    }
    if (times_text && ntimes == 0)
        lat_usage("--write: expected times, found none");
}

/* About 0.1: a multiple of the step, and the end is a multiple of it. */
static double choose_every(void)
{
    const double unit = fixed_step > 0 ? fixed_step : NAN;
    if (!(unit > 0))
        return until > 0 ? until / fmax(1, ceil(until / .1 - 1e-9)) : .1;
    double n = ceil(.1 / unit - 1e-9);
    while (until > 0 && !divides(n * unit, until) && n * unit < until)
        n++;
    return n * unit;
}

static void check_usage(void)
{
    if (lat_opt_given("step") && lat_opt_given("tolerance"))
        lat_usage("--step and --tolerance exclude each other");
    lat_usage_for("write", links, "--links, and there is no --links");
    lat_usage_if_input("links", links);
    if (fixed_step > 0 && !isnan(until) && !divides(fixed_step, until))
        lat_usage("--until: expected a multiple of the step %g, found %g", fixed_step, until);
    parse_times();
    if (!(every > 0))
        every = choose_every();
    else if (fixed_step > 0 && !divides(fixed_step, every))
        lat_usage("--every: expected a multiple of the step %g, found %g", fixed_step, every);
    if (!isnan(until) && !divides(every, until))
        lat_usage("--until: expected a multiple of --every %g, found %g", every, until);
    if (slices && (lat_window_parse(slices, window) || window[0] > window[1]))
        lat_usage("--slices: expected two slices A,B, A not above B, found '%.80s'", slices);
    if (scales_alone && by_slice)
        lat_usage("--scales and --by-slice exclude each other");
    if (xi > 0 && action)
        lat_usage("--xi: expected --action wilson, found %s", actions[action]);
    how = (lat_flow_how){c1_of[action], fixed_step > 0 ? fixed_step : 0, tolerance,
                         xi > 0 ? xi : 0};
    snprintf(action_text, sizeof action_text, xi > 0 && xi != 1 ? "%s,xi=%.15g" : "%s",
             actions[action], xi);
}

/* ---- one configuration ----------------------------------------------------------------------- */

static int reserve(flow_report *m)
{
    double **const lists[] = {&m->t, &m->density[FLOW_CLOVER], &m->density[FLOW_PLAQUETTE]};
    const size_t each = (size_t)flow_report_slices(m);
    int rc = lat_grow(&m->at, m->rows, sizeof *m->at, "rows")
             || lat_grow(&m->slice, m->rows, each * sizeof *m->slice, "slices");
    for (int i = 0; !rc && i < 1 + FLOW_KINDS; i++)
        rc = lat_grow(lists[i], m->rows, sizeof **lists[i], "rows");
    return lat_rc(rc);
}

/* The row of time t. */
static int measure(flow_report *m, lat_flow *f, double t)
{
    if (reserve(m))
        return -1;
    lat_flow_measured *at = m->at + m->rows,
                      *slice = m->slice + (size_t)m->rows * (size_t)flow_report_slices(m);
    if (lat_flow_measure(f, at, slice))
        return -1;
    if (slices)
        *at = lat_flow_window(f, slice, m->first, m->last);
    m->t[m->rows] = t;
    m->density[FLOW_CLOVER][m->rows] = at->temporal + at->spatial;
    m->density[FLOW_PLAQUETTE][m->rows] = at->plaquette;
    m->rows++;
    for (int k = 0; k < FLOW_KINDS; k++)
        m->scales[k] = lat_flow_scales_of(m->rows, m->t, m->density[k]);
    return 0;
}

static int write_links(lat_output *out, const lat_field *u, const lat_flow *f, double t)
{
    lat_field v = {.data = NULL};
    char text[32];
    snprintf(text, sizeof text, "%.15g", t);
    int rc = lat_rc(lat_header_copy(&v.head, &u->head) || lat_field_alloc(&v, u->comm)
                    || lat_flow_get(f, &v));
    v.head.plaquette = v.head.link_trace = NAN;
    v.head.copies = 0;
    lat_header_ungauge(&v.head);
    lat_info_remove(&v.head, LAT_INFO_NOT_IN_GROUP);
    rc = lat_rc(rc || lat_info_set(&v.head, LAT_INFO_FLOW_TIME, text)
                || lat_info_set(&v.head, LAT_INFO_FLOW_ACTION, action_text)
                || lat_provenance(&v.head, "flow time %s in %ld steps, %s", text, lat_flow_steps(f),
                                  lat_flow_description(f))
                || lat_stream_write(out, &v, lat_opts.store));
    lat_field_free(&v);
    return rc;
}

/* Where the flow begins: links that have flowed by the same action go on. */
static int start_time(const lat_header *head, const char *name, double *t)
{
    const char *time = lat_info_get(head, LAT_INFO_FLOW_TIME),
               *of = lat_info_get(head, LAT_INFO_FLOW_ACTION);
    char *end;
    *t = 0;
    if (!time)
        return 0;
    const double at = strtod(time, &end);
    if (end == time || *end || !(at >= 0 && isfinite(at)))
        return lat_fail("%s: expected a number in info.%s, found '%.80s'", name, LAT_INFO_FLOW_TIME,
                        time);
    if (of && !strcmp(of, action_text)) {
        *t = at;
        return 0;
    }
    if (!lat_opts.force)
        return lat_fail("%s: expected links that have flowed by action %s or not at all, found %s, "
                        "time %g (--force begins at 0)",
                        name, action_text, of ? of : "none", at);
    lat_warn("%s: links have flowed by action %s, time %g; begun at 0 (--force)", name,
             of ? of : "none", at);
    return 0;
}

/* A longer step makes links rougher, and numbers that are none. */
static int check_step(const lat_header *head, const char *name)
{
    const double longest = lat_flow_longest(&head->geom, &how);
    return fixed_step > longest
               ? lat_mismatch(lat_opts.force,
                              "%s: --step: expected at most %.4g, up to which steps of %s are "
                              "stable, found %g (--force takes it)",
                              name, longest, action_text, fixed_step)
               : 0;
}

/* The last time, if the scales are not known before. */
static double end_time(const lat_geometry *geom)
{
    int smallest = geom->dims[0];
    for (int mu = 1; mu < geom->nd; mu++)
        smallest = geom->dims[mu] < smallest ? geom->dims[mu] : smallest;
    return isnan(until) ? smallest * smallest / 32. : until;
}

static bool known(const flow_report *m)
{
    return isnan(until) && m->rows >= m->scales[FLOW_CLOVER].needed
           && m->rows >= m->scales[FLOW_PLAQUETTE].needed;
}

/* From time to time: rows at start + k every, links at those of --write. */
static int run(lat_flow *f, const lat_field *u, lat_output *out, double start, flow_report *m)
{
    const double last = end_time(&u->head.geom), close = 1e-9 * every;
    double t = start;
    for (int written = 0;;) {
        const double next = start + m->rows * every,
                     row = next <= last + close && !known(m) ? next : INFINITY,
                     to = written < ntimes ? fmin(times[written], row) : row;
        if (isinf(to))
            break;
        if (to > t + close) {
            if (lat_flow_advance(f, to - t))
                return -1;
            t = to;
        }
        if (row <= t + close && measure(m, f, row))
            return -1;
        if (written < ntimes && times[written] <= t + close
            && write_links(out, u, f, times[written++]))
            return -1;
        lat_progress("time %.2f of at most %.2f  %ld steps", t, last, lat_flow_steps(f));
    }
    m->steps = lat_flow_steps(f);
    m->rejected = lat_flow_rejected(f);
    return out && ntimes == 0 ? write_links(out, u, f, t) : 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Of all files. */
static struct {
    lat_device *device;
    lat_output *out;
} files;

/* Is there a flow from `start` to the times that were asked for? */
static int check_times(const char *name, const lat_geometry *geom, double start)
{
    if (isnan(until) && end_time(geom) < start)
        return lat_fail(
            "%s: expected --until, because the links have flowed to %g, beyond L^2/32 = %g", name,
            start, end_time(geom));
    if (lat_opt_given("every") && isnan(until) && ntimes == 0 && end_time(geom) > start
        && start + every > end_time(geom) + 1e-9 * every)
        return lat_fail("%s: expected --every of at most %g, because the flow ends at L^2/32 = %g "
                        "without --until, found %g",
                        name, end_time(geom) - start, end_time(geom), every);
    if (until < start)
        return lat_fail("%s: expected --until at least the flow time %g of the links, found %g",
                        name, start, until);
    if (ntimes && times[0] < start)
        return lat_fail("%s: expected times of --write from the flow time %g of the links on, "
                        "found %g",
                        name, start, times[0]);
    return 0;
}

/* The slices that are measured. */
static int check_slices(const char *name, flow_report *m)
{
    const int last = m->geom.dims[m->geom.nd - 1] - 1;
    if (!slices)
        m->last = last;
    return m->last <= last ? 0
                           : lat_fail("%s: --slices: expected slices 0 to %d, found %d to %d", name,
                                      last, m->first, m->last);
}

static int flow_one(lat_field *u, const char *name, flow_report *m)
{
    double start, bare;
    for (int k = 0; k < FLOW_KINDS; k++)
        m->scales[k] = lat_flow_scales_of(0, NULL, NULL);
    if (start_time(&u->head, name, &start) || check_times(name, &u->head.geom, start)
        || check_slices(name, m)
        || (how.xi > 0 ? lat_anisotropy(&u->head, &bare) : lat_anisotropy_none(&u->head, name))
        || check_step(&u->head, name))
        return -1;
    if (lat_flow_prepare(u))
        return lat_error_name(name, NULL);
    lat_device *on = lat_device_or_cpu_said(files.device, lat_flow_check(files.device, u));
    lat_flow *f = on ? lat_flow_open(on, u, &how) : NULL;
    if (!f)
        lat_error_name(name, NULL);
    const int rc = f ? run(f, u, files.out, start, m) : -1;
    lat_flow_close(f);
    return rc;
}

static int one(lat_field *u, lat_input *in, FILE *to, long config)
{
    flow_report m = {.geom = u->head.geom,
                     .nc = u->head.nc,
                     .action = action_text,
                     .first = window[0],
                     .last = window[1],
                     .window = slices != NULL,
                     .scales_alone = scales_alone,
                     .by_slice = by_slice};
    lat_ensemble_text(&u->head, m.ensemble);
    int code = flow_one(u, lat_input_name(in), &m) ? LAT_FAILED : LAT_DONE;
    lat_progress_end();
    if (code == LAT_DONE)
        code = flow_print(&m, in, to, config);
    flow_report_free(&m);
    return code;
}

static int all(lat_input *in, FILE *to)
{
    return files.device || (files.device = lat_device_open(&device, lat_opts.comm))
               ? lat_print_links(in, to, one, false)
               : LAT_FAILED;
}

/* After the last file. */
static int commit(LAT_UNUSED FILE *text)
{
    lat_output *out = files.out;
    files.out = NULL;
    return out && lat_stream_commit(out) ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    check_usage();
    if (lat_device_begin(&device, lat_opts.comm))
        return lat_report(LAT_FAILED);
    if (links && !(files.out = lat_output_open(links, LAT_OUTPUT_OTHER, lat_opts.comm)))
        return lat_report(LAT_FAILED);
    const int code = lat_print_run(all, commit);
    lat_output_abort(files.out); /* what is not committed */
    lat_device_close(files.device);
    lat_device_end();
    return code;
}
