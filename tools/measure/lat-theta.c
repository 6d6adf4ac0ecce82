/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-theta: functional and theta of a gauge condition, and gauge invariant observables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "measure/abelian.h"
#include "measure/measure.h"
#include "common/options.h"
#include "ghost/ghost.h"
#include "lattice/ensemble.h"
#include "run/common/gauge_options.h"
#include "run/common/print.h"

static bool conventions, slices, fp_min, residual;
static double require = NAN, fp_accuracy = 1e-6;

static const lat_option options[] = {
    LAT_GAUGE_OPTIONS(LAT_GAUGES),
    LAT_WEIGHTS_OPTION,
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "slices", 0, NULL, &slices, 0, 0,
     "also print theta and functional of each slice, in Coulomb gauge alone"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "conventions", 0, NULL, &conventions, 0, 0,
     "print theta as other programs define it"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "fp-min", 0, NULL, &fp_min, 0, 0,
     "also measure the lowest eigenvalue of the Faddeev-Popov operator: positive at a maximum of "
     "the functional, negative at a saddle"},
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "fp-accuracy", 0, "X", &fp_accuracy, 1e-12, 1,
     "iterate until |M v - lambda v| is below X |lambda| (with --fp-min)"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "residual", 0, NULL, &residual, 0, 0,
     "also measure the residual gauge of maximally Abelian gauge: theta of each diagonal phase"},
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "require-theta", 0, "X", &require, 0, 1e300,
     "exit 3 if a theta is above X"},
    LAT_PRINT_OPTIONS("configuration", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-theta",
    .args = "[FILE...]",
    .summary = "Measures the gauge condition, plaquette, Polyakov loops and deviations from SU(N).",
    .example = "lat-theta --tsv --require-theta 1e-14 fixed.lat\n"
               "lat-theta --gauge coulomb --slices cfg.lat\n"
               "lat-theta --tsv landau/*.lat | lat-stat > means.tsv",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

typedef struct measured {
    long config;
    lat_geometry geom;
    int nc;
    char gauge[16], stated[16]; /* measured; what the header says was imposed */
    double stated_theta, plaquette, link_trace;
    lat_condition condition;
    lat_gauge_state state;
    int nslices;
    double *slice;            /* theta of each, to be freed */
    double *slice_functional; /* behind them */
    lat_deviation off;
    double polyakov[LAT_MAX_DIMS][2];
    lat_ghost_least fp;    /* with --fp-min */
    lat_residual residual; /* with --residual */
    char ensemble[LAT_ENSEMBLE_TEXT];
} measured;

enum { FP_ITERATIONS = 2000 };

/* An exit code. */
static int measure_fp_min(const lat_field *f, const char *name, measured *m)
{
    if (!fp_min)
        return LAT_DONE;
    if (lat_ghost_minimum(f, &m->condition, fp_accuracy, FP_ITERATIONS, &m->fp)) {
        lat_error_name(name, NULL);
        return LAT_FAILED;
    }
    if (m->fp.report.converged)
        return LAT_DONE;
    lat_fail("%s: configuration %ld: fp-min %.6g has residual %.3g after %ld iterations, expected "
             "%g times that",
             name, m->config, m->fp.value, m->fp.residual, m->fp.report.iterations, fp_accuracy);
    return LAT_UNCONVERGED;
}

static int measure(const lat_field *f, const char *name, long config, measured *m)
{
    lat_header head = f->head; /* borrowed, for the name of the condition */
    *m = (measured){
        .config = config, .geom = f->head.geom, .nc = f->head.nc, .stated_theta = f->head.theta};
    memcpy(m->stated, f->head.gauge, sizeof m->stated);
    lat_ensemble_text(&f->head, m->ensemble);
    if (lat_gauge_condition(&f->head, &m->condition))
        return -1;
    if (residual && m->condition.gauge != LAT_MAG)
        return lat_fail("%s: --residual: expected maximally Abelian gauge, found %s", name,
                        lat_gauge_table[m->condition.gauge].title);
    if (slices && m->condition.gauge != LAT_COULOMB)
        return lat_fail("%s: --slices: expected Coulomb gauge, whose slices are fixed one by one, "
                        "found %s (theta without --slices is the whole configuration's; --gauge "
                        "coulomb measures slices in Coulomb gauge)",
                        name, lat_gauge_table[m->condition.gauge].title);
    lat_condition_write(&head, &m->condition);
    memcpy(m->gauge, head.gauge, sizeof m->gauge);
    m->nslices = lat_condition_slices(&m->condition, &m->geom);
    m->slice = lat_alloc(2 * (size_t)m->nslices, sizeof *m->slice, "theta of slices");
    m->slice_functional = m->slice ? m->slice + m->nslices : NULL;
    if (!m->slice || lat_measure_gauge(f, &m->condition, &m->state, m->slice, m->slice_functional)
        || lat_measure_deviation(f, &m->off)
        || lat_measure_plaquette(f, &m->plaquette, &m->link_trace)
        || (residual && lat_measure_residual(f, &m->residual)))
        return -1;
    for (int mu = 0; mu < m->geom.nd; mu++)
        if (lat_measure_polyakov(f, mu, m->polyakov[mu]))
            return -1;
    return 0;
}

/* ---- theta elsewhere (docs/conventions.md, "Theta in other programs") ------------------------ */

typedef struct convention {
    const char *name, *definition;
    enum { MEAN, HALF, QUARTER, PER_DIRECTION, ROOT, MAXIMUM, NONE } rule;
} convention;

static const convention list[] = {
    {"lat", "sum_x tr Delta Delta^+ / (N V), Delta = sum_mu U_mu(x) - U_mu(x-mu) - h.c. - trace",
     MEAN},
    {"lat maximum", "largest tr Delta Delta^+ / N of a site", MAXIMUM},
    {"cuLGT 1", "as lat", MEAN},
    {"cuLGT 2", "largest tr Delta Delta^+ / N of a site", MAXIMUM},
    {"QUDA", "as lat", MEAN},
    {"nissa", "as lat", MEAN},
    {"SIMULATeQCD", "lat / D, D directions in the condition", PER_DIRECTION},
    {"GLU", "lat / 2", HALF},
    {"Grid", "lat / 4: A = (U - U^+)/(2i)", QUARTER},
    {"gpt", "lat / 4: A = (U - U^+)/(2i)", QUARTER},
    {"FermiQCD", "square root of lat", ROOT},
    {"MILC FFT", "square root of lat", ROOT},
    {"MILC", "none: it stops on the change of the functional", NONE},
    {"Chroma", "none: it stops on the change of the functional", NONE},
    {"HiRep", "none: it stops on the change of the functional", NONE},
};
enum { CONVENTIONS = sizeof list / sizeof *list };

static double converted(const convention *c, const measured *m)
{
    switch (c->rule) {
    case MEAN: return m->state.theta;
    case HALF: return m->state.theta / 2;
    case QUARTER: return m->state.theta / 4;
    case PER_DIRECTION: return m->state.theta / lat_condition_weights(&m->condition);
    case ROOT: return sqrt(m->state.theta);
    case MAXIMUM: return m->state.theta_max;
    case NONE: break;
    }
    return NAN;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void text(lat_printer *r, const void *of)
{
    const measured *m = of;
    FILE *to = r->to;
    lat_text_begin(r, "configuration");
    lat_text_lattice(to, &m->geom, m->nc);
    fprintf(to, "gauge          %s", m->gauge);
    if (!strcmp(m->stated, "none"))
        fprintf(to, " (the header names none)\n");
    else
        fprintf(to, " (header: %s, theta %.6g)\n", m->stated, m->stated_theta);
    fprintf(to, "functional     %.15g\n", m->state.functional);
    fprintf(to, "theta          %.15g\n", m->state.theta);
    fprintf(to, "theta maximum  %.15g\n", m->state.theta_max);
    if (m->nslices > 1)
        fprintf(to, "worst slice    %.15g\n", m->state.theta_slice);
    for (int i = 0; slices && i < m->nslices; i++)
        fprintf(to, "slice %-8d %.15g  F %.15g\n", i, m->slice[i], m->slice_functional[i]);
    if (fp_min) {
        fprintf(to, "fp-min         %.10g (residual %.2g", m->fp.value, m->fp.residual);
        if (m->nslices > 1)
            fprintf(to, ", slice %d", m->fp.unit);
        fputs(")\n", to);
    }
    if (residual) {
        fprintf(to, "residual gauge theta");
        for (int i = 0; i < m->nc; i++)
            fprintf(to, " %.10g", m->residual.sector[i]);
        fprintf(to, ", F %.15g\n", m->residual.functional);
    }
    fprintf(to, "plaquette      %.15g\n", m->plaquette);
    fprintf(to, "link trace     %.15g\n", m->link_trace);
    fprintf(to, "|1 - det U|    mean %.6g, maximum %.6g\n", m->off.det_mean, m->off.det_max);
    fprintf(to, "|U U^+ - 1|    mean %.6g, maximum %.6g\n", m->off.unitarity_mean,
            m->off.unitarity_max);
    lat_text_loops(to, m->geom.nd, m->polyakov);
    if (conventions)
        fprintf(to, "theta as defined by\n");
    for (int i = 0; conventions && i < CONVENTIONS; i++) {
        fprintf(to, "  %-12s ", list[i].name);
        if (list[i].rule == NONE)
            fprintf(to, "%-21s  %s\n", "-", list[i].definition);
        else
            fprintf(to, "%-21.15g  %s\n", converted(&list[i], m), list[i].definition);
    }
}

static void fp_values(lat_printer *r, const measured *m)
{
    if (!fp_min)
        return;
    lat_print_real(r, "fp_min", m->fp.value);
    lat_print_digits(r, "fp_min_residual", 3, m->fp.residual);
}

/* theta of all phases, or in columns of the worst. */
static void residual_values(lat_printer *r, const measured *m)
{
    if (!residual)
        return;
    if (r->form == LAT_FORM_JSON)
        lat_print_array(r, "residual_theta", m->nc, m->residual.sector);
    else
        lat_print_real(r, "residual_theta", m->residual.worst);
    lat_print_real(r, "residual_functional", m->residual.functional);
}

static void convention_values(lat_printer *r, const measured *m)
{
    fputs(", \"conventions\": {", r->to);
    r->first = true;
    for (int i = 0; i < CONVENTIONS; i++)
        lat_print_real(r, list[i].name, converted(&list[i], m));
    fputc('}', r->to);
}

static void values(lat_printer *r, const void *of)
{
    const measured *m = of;
    const bool json = r->form == LAT_FORM_JSON;
    lat_print_word(r, "gauge", m->gauge);
    lat_print_real(r, "functional", m->state.functional);
    lat_print_real(r, "theta", m->state.theta);
    lat_print_real(r, "theta_max", m->state.theta_max);
    if (json) {
        fp_values(r, m);
        residual_values(r, m);
    }
    lat_print_real(r, "plaquette", m->plaquette);
    lat_print_real(r, "link_trace", m->link_trace);
    lat_print_real(r, "det_error_mean", m->off.det_mean);
    lat_print_real(r, "det_error_max", m->off.det_max);
    lat_print_real(r, "unitarity_max", m->off.unitarity_max);
    lat_print_loops(r, m->geom.nd, m->polyakov);
    lat_print_lattice(r, &m->geom, m->nc);
    if (!json) {
        fp_values(r, m);
        residual_values(r, m);
        lat_print_word(r, LAT_ENSEMBLE_COLUMN, m->ensemble);
    }
    if (slices) {
        lat_print_array(r, "slices", m->nslices, m->slice);
        lat_print_array(r, "slice_functionals", m->nslices, m->slice_functional);
    }
    if (json && conventions)
        convention_values(r, m);
}

static void convention_row(lat_printer *r, const void *of, long i)
{
    const measured *m = of;
    lat_print_word(r, "gauge", m->gauge);
    lat_print_word(r, "convention", list[i].name);
    lat_print_real(r, "theta", converted(&list[i], m));
    lat_print_word(r, "definition", list[i].definition);
    lat_print_word(r, LAT_ENSEMBLE_COLUMN, m->ensemble);
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Every slice that is fixed independently has to pass, every phase, too; not NaN. An exit code. */
static int check_require(const measured *m, const char *name)
{
    if (!lat_opt_given("require-theta"))
        return LAT_DONE;
    if (!(m->state.theta_slice <= require))
        lat_warn("%s: configuration %ld has theta %g%s, above %g", name, m->config,
                 m->state.theta_slice, m->nslices > 1 ? " in a slice" : "", require);
    else if (residual && !(m->residual.worst <= require))
        lat_warn("%s: configuration %ld has theta %g of a phase in the residual gauge, above %g",
                 name, m->config, m->residual.worst, require);
    else
        return LAT_DONE;
    return LAT_UNCONVERGED;
}

static int one(lat_field *f, lat_input *in, FILE *to, long config)
{
    lat_print_kind kind = {.key = "config", .text = text, .values = values};
    measured m;
    const char *name = lat_input_name(in);
    int code = measure(f, name, config, &m) ? LAT_FAILED : measure_fp_min(f, name, &m);
    if (conventions && lat_print_opts.tsv) {
        kind.values = NULL;
        kind.row = convention_row;
    }
    if (code == LAT_DONE)
        code = lat_print_object(to, in, &kind, &m, config, CONVENTIONS);
    if (code == LAT_DONE)
        code = check_require(&m, name);
    free(m.slice);
    return code;
}

static int all(lat_input *in, FILE *to) { return lat_print_links(in, to, one, true); }

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    if (lat_print_opts.tsv && slices)
        lat_usage("--slices is for text and --json: a row of --tsv has no columns for them");
    lat_usage_for("fp-accuracy", fp_min, "--fp-min");
    if (conventions && residual && lat_print_opts.tsv)
        lat_usage("--residual with --conventions is for text and --json");
    if (conventions && fp_min && lat_print_opts.tsv)
        lat_usage("--fp-min with --conventions is for text and --json");
    return lat_print_run(all, NULL);
}
