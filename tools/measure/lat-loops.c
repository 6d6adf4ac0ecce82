/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-loops: Wilson loops between static sources, with smeared ends; Polyakov loops and their
 * correlators (docs/loops.md). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "grid/device.h"
#include "lattice/boundary.h"
#include "lattice/ensemble.h"
#include "loops/loops.h"
#include "run/common/device_options.h"
#include "run/common/print.h"

static long distance, most_time;
static const char *off_axis, *smear, *levels, *time_links, *slices;
static bool polyakov;
static lat_device_options device;

static const lat_option options[] = {
    LAT_HEADING("Loops"),
    {LAT_OPT_INT, "max-r", 0, "R", &distance, 1, 65535,
     "separations up to this length (default: half the smallest spatial extent)"},
    {LAT_OPT_INT, "max-t", 0, "T", &most_time, 1, 65535,
     "loops up to this time (default: half the last extent)"},
    {LAT_OPT_TEXT, "off-axis", 0, "DDD,..", &off_axis, 0, 0,
     "also separations along such vectors, a digit for each spatial axis: 110,111,210"},
    {LAT_OPT_TEXT, "smear", 0, "SMEARING", &smear, 0, 0,
     "step of smearing of the spatial links: ape:A, stout:R or hyp:A1,A2"},
    {LAT_OPT_TEXT, "levels", 0, "N,..", &levels, 0, 0,
     "numbers of steps of --smear, rising: loops between all pairs of levels"},
    {LAT_OPT_TEXT, "time-links", 0, "SMEARING", &time_links, 0, 0,
     "smear the links in time, too, as lat-smear does: hyp:0.75,0.6,0.3,1"},
    {LAT_OPT_TEXT, "slices", 0, "A,B", &slices, 0, 0,
     "loops between slices A and B alone, which links with open time need"},
    {LAT_OPT_FLAG, "polyakov", 0, NULL, &polyakov, 0, 0,
     "measure Polyakov loops and their correlators instead of Wilson loops"},
    LAT_HEADING("Device"),
    {LAT_OPT_CHOICE | LAT_OPT_LIMIT, "device", 0, LAT_DEVICES, &device.choice, 0, 0,
     "device that computes; auto: the fastest one"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "gpus", 'g', "N", &device.gpus, 0, 0,
     "number of the GPU that is used (default: the first one)"},
    LAT_HEADING("Rows"),
    LAT_PRINT_OPTIONS("loop", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-loops",
    .args = "[FILE...]",
    .summary = "Measures Wilson loops between smeared ends, Polyakov loops and their correlators.",
    .example = "lat-loops --tsv --smear ape:0.5 --levels 0,10,30 --time-links hyp:0.75,0.6,0.3,1 "
               "cfg.*.lat > loops.tsv\n"
               "lat-loops cfg.lat\n"
               "lat-loops --polyakov --tsv cfg.*.lat | lat-stat > polyakov.tsv",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

/* ---- the command line ------------------------------------------------------------------------ */

static lat_loops_how how = {.classes = 1, .vector = {{1}}, .levels = 1};
static lat_smear in_time;

static int divisor(int a, int b) { return b ? divisor(b, a % b) : a; }

static int falling(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

/* One vector of --off-axis: 0, or -1 where it is none. */
static int parse_vector(const char *word, size_t digits, int v[LAT_MAX_DIMS])
{
    int steps = 0, all = 0;
    memset(v, 0, LAT_MAX_DIMS * sizeof *v);
    if (digits < 1 || digits >= LAT_MAX_DIMS)
        return -1;
    for (size_t i = 0; i < digits; i++) {
        if (word[i] < '0' || word[i] > '9')
            return -1;
        v[i] = word[i] - '0';
        steps += v[i];
        all = divisor(v[i], all);
    }
    qsort(v, digits, sizeof *v, falling);
    return steps >= 2 && steps <= LAT_LOOPS_LONGEST && all == 1 ? 0 : -1;
}

static void parse_off_axis(void)
{
    for (const char *word = off_axis; word; word = *word ? word + 1 : NULL) {
        const size_t digits = strcspn(word, ",");
        int *v = how.vector[how.classes];
        if (how.classes == LAT_LOOPS_CLASSES)
            lat_usage("--off-axis: expected at most %d vectors", LAT_LOOPS_CLASSES - 1);
        if (parse_vector(word, digits, v))
            lat_usage("--off-axis: expected vectors such as 110 or 210, of 2 to %d steps, each no "
                      "multiple of another one, found '%.80s'",
                      LAT_LOOPS_LONGEST, word);
        for (int c = 0; c < how.classes; c++)
            if (!memcmp(how.vector[c], v, sizeof how.vector[c]))
                lat_usage("--off-axis: expected each vector once (an order of its digits is not "
                          "another vector), found '%.80s' again",
                          word);
        how.classes++;
        word += digits;
    }
}

/* A whole number that ends at the comma or the end: -1 where there is none. */
static long whole(const char **text)
{
    char *end;
    const long n = strtol(*text, &end, 10);
    if (end == *text || **text == '+' || (*end && *end != ',') || n < 0 || n > 100000)
        return -1;
    *text = *end ? end + 1 : end;
    return n;
}

static void parse_levels(void)
{
    char text[160];
    if (!smear && !levels)
        return;
    if (!smear || !levels)
        lat_usage("--smear and --levels need each other: the step, and the numbers of steps");
    snprintf(text, sizeof text, "%.100s,1,spatial", smear);
    if (strlen(smear) > 100 || lat_smear_parse(text, &how.smear))
        lat_usage("--smear: expected ape:A, stout:R or hyp:A1,A2, weights from 0 to 1, found "
                  "'%.100s'",
                  smear);
    const char *at = levels;
    how.levels = 0;
    do {
        const long n = whole(&at), before = how.levels ? how.steps[how.levels - 1] : -1;
        if (n <= before || how.levels == LAT_LOOPS_LEVELS)
            lat_usage("--levels: expected at most %d rising numbers of steps with commas between, "
                      "found '%.80s'",
                      LAT_LOOPS_LEVELS, levels);
        how.steps[how.levels++] = (int)n;
    } while (*at || at[-1] == ',');
}

static void parse_slices(void)
{
    int window[2];
    if (!slices)
        return;
    if (lat_window_parse(slices, window) || window[1] <= window[0])
        lat_usage("--slices: expected two slices A,B, A below B, found '%.80s'", slices);
    how.window = true;
    how.first = window[0];
    how.last = window[1];
}

static void parse(void)
{
    parse_off_axis();
    parse_levels();
    parse_slices();
    if (time_links && (lat_smear_parse(time_links, &in_time) || in_time.spatial))
        lat_usage("--time-links: expected ape:A,N, stout:R,N or hyp:A1,A2,A3,N, found '%.80s'",
                  time_links);
    how.time_links = time_links ? &in_time : NULL;
    if (polyakov && (smear || slices || lat_opt_given("max-t")))
        lat_usage("--polyakov: Polyakov loops have no --smear, --slices and --max-t");
}

/* ---- one configuration ----------------------------------------------------------------------- */

typedef struct measured {
    lat_geometry geom;
    int nc, pairs;
    lat_loops_how how;
    lat_loops_separation *list;
    int separations;
    double *number; /* loops, or correlators */
    double loop[2]; /* the mean Polyakov loop */
    char ensemble[LAT_ENSEMBLE_TEXT];
} measured;

static void measured_free(measured *m) { LAT_FREE(m->list, m->number); }

/* The options that the lattice decides. */
static lat_loops_how how_of(const lat_geometry *geom)
{
    const int slices_there = geom->dims[geom->nd - 1],
              longest = how.window ? how.last - how.first : slices_there;
    lat_loops_how h = how;
    int smallest = 65535;
    for (int mu = 0; mu + 1 < geom->nd; mu++)
        smallest = geom->dims[mu] < smallest ? geom->dims[mu] : smallest;
    h.distance = distance ? (int)distance : smallest < 2 ? 1 : smallest / 2;
    h.time = slices_there < 2 ? 1 : slices_there / 2;
    h.time = most_time ? (int)most_time : h.time < longest ? h.time : longest;
    return h;
}

static lat_device *opened; /* of all configurations */

static int loops_of(lat_field *u, measured *m)
{
    lat_device *on = lat_device_or_cpu_said(opened, lat_loops_check_device(opened, u, &m->how));
    if (!on)
        return -1;
    return polyakov ? lat_loops_polyakov(on, u, &m->how, m->loop, m->number)
                    : lat_loops_wilson(on, u, &m->how, m->number);
}

static int measure(lat_field *u, const char *name, measured *m)
{
    m->how = how_of(&u->head.geom);
    m->pairs = lat_loops_pairs(&m->how);
    if (polyakov && lat_boundary_closed(&u->head, -1, "Polyakov loops", name))
        return -1;
    if (lat_loops_check(u, &m->how, name))
        return lat_error_name(name, NULL);
    m->separations = lat_loops_separations(&m->how, NULL);
    const size_t each = polyakov ? 1 : (size_t)m->how.time * (size_t)m->pairs;
    m->list = lat_alloc((size_t)m->separations, sizeof *m->list, "separations");
    m->number = lat_alloc((size_t)m->separations * each, sizeof *m->number, "loops");
    if (lat_agree(lat_opts.comm, m->list && m->number ? 0 : -1))
        return -1;
    lat_loops_separations(&m->how, m->list);
    return loops_of(u, m) ? lat_error_name(name, NULL) : 0;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Row i: separation, T - 1, levels. */
static const lat_loops_separation *row_of(const measured *m, long i, int *time, int level[2])
{
    const long each = polyakov ? 1 : (long)m->how.time * m->pairs;
    int pair = (int)(i % each % m->pairs);
    *time = (int)(i % each / m->pairs) + 1;
    for (level[0] = 0; pair >= m->how.levels - level[0]; level[0]++)
        pair -= m->how.levels - level[0];
    level[1] = level[0] + pair;
    return m->list + i / each;
}

static long rows(const measured *m)
{
    return (long)m->separations * (polyakov ? 1 : m->how.time * m->pairs);
}

static const char *smearing(void) { return smear ? smear : "none"; }

static void text_row(FILE *to, const measured *m, long i)
{
    char vector[48] = "";
    int time, level[2];
    const lat_loops_separation *s = row_of(m, i, &time, level);
    for (int mu = 0, at = 0; mu + 1 < m->geom.nd; mu++)
        at += snprintf(vector + at, sizeof vector - (size_t)at, "%s%d", mu ? "," : "",
                       s->vector[mu]);
    fprintf(to, "%-12s  %9.6f", vector, s->r);
    if (!polyakov)
        fprintf(to, "  %4d  %7d  %7d", time, m->how.steps[level[0]], m->how.steps[level[1]]);
    fprintf(to, "  %18.11e\n", m->number[i]);
}

static void text(lat_printer *r, const void *of)
{
    const measured *m = of;
    lat_text_begin(r, "configuration");
    lat_text_lattice(r->to, &m->geom, m->nc);
    fprintf(r->to, "smearing       %s\n", smearing());
    fprintf(r->to, "links in time  %s\n", time_links ? time_links : "not smeared");
    if (polyakov)
        fprintf(r->to, "Polyakov %c     %.15g %+.15gi\n", "xyzt"[m->geom.nd - 1], m -> loop[0],
                m -> loop[1]);
    fprintf(r->to, "%-12s  %9s%s  %18s\n", "separation", "r",
            polyakov ? "" : "     T  level_i  level_j", polyakov ? "C" : "W");
    for (long i = 0; i < rows(m); i++)
        text_row(r->to, m, i);
}

static void row(lat_printer *r, const void *of, long i)
{
    const measured *m = of;
    int time, level[2];
    const lat_loops_separation *s = row_of(m, i, &time, level);
    lat_print_list(r, "separation", m->geom.nd - 1, s->vector);
    lat_print_real(r, "r", s->r);
    if (polyakov) {
        lat_print_real(r, "C", m->number[i]);
        return;
    }
    lat_print_whole(r, "T", time);
    lat_print_whole(r, "level_i", m->how.steps[level[0]]);
    lat_print_whole(r, "level_j", m->how.steps[level[1]]);
    lat_print_real(r, "W", m->number[i]);
}

static void values(lat_printer *r, const void *of)
{
    const measured *m = of;
    if (polyakov) {
        lat_print_real(r, "polyakov_re", m->loop[0]);
        lat_print_real(r, "polyakov_im", m->loop[1]);
    } else {
        lat_print_word(r, "smearing", smearing());
    }
    lat_print_word(r, "time_links", time_links ? time_links : "none");
    if (slices)
        lat_print_word(r, "slices", slices);
    lat_print_lattice(r, &m->geom, m->nc);
    if (r->form != LAT_FORM_JSON)
        lat_print_word(r, LAT_ENSEMBLE_COLUMN, m->ensemble);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int one(lat_field *u, lat_input *in, FILE *to, long config)
{
    static const lat_print_kind kind = {
        .key = "config", .rows = "loops", .text = text, .values = values, .row = row};
    measured m = {.geom = u->head.geom, .nc = u->head.nc};
    lat_ensemble_text(&u->head, m.ensemble);
    int code = measure(u, lat_input_name(in), &m) ? LAT_FAILED : LAT_DONE;
    if (code == LAT_DONE)
        code = lat_print_object(to, in, &kind, &m, config, rows(&m));
    measured_free(&m);
    return code;
}

static int all(lat_input *in, FILE *to)
{
    return opened || (opened = lat_device_open(&device, lat_opts.comm))
               ? lat_print_links(in, to, one, false)
               : LAT_FAILED;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    parse();
    if (lat_device_begin(&device, lat_opts.comm))
        return lat_report(LAT_FAILED);
    const int code = lat_print_run(all, NULL);
    lat_device_close(opened);
    lat_device_end();
    return code;
}
