/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-plaq: gauge invariant observables of configurations: plaquettes, Polyakov loops, action
 * density, topological charge, beta by the Schwinger-Dyson equation. */
#include <math.h>
#include <stdio.h>
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "lattice/ensemble.h"
#include "base/error.h"
#include "measure/measure.h"
#include "common/options.h"
#include "run/common/print.h"

static bool schwinger_dyson;
static double xi = 1;

static const lat_option options[] = {
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "sd", 0, NULL, &schwinger_dyson, 0, 0,
     "also measure beta from the Schwinger-Dyson equation: the "
     "beta at which the configuration was made"},
    {LAT_OPT_REAL, "xi", 0, "XI", &xi, 1e-3, 1e3,
     "anisotropy for --sd (default: the value in the header, or 1)"},
    LAT_PRINT_OPTIONS("configuration", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-plaq",
    .args = "[FILE...]",
    .summary = "Measures plaquettes, Polyakov loops, action density and topological charge.",
    .example = "lat-heatbath --dims 8,8,8,8 --beta 6.0 --count 10 | lat-plaq --tsv --sd\n"
               "lat-plaq cfg.nersc\n"
               "lat-plaq --tsv cfg.*.lat | lat-stat --tau",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
};

/* The observables: names in columns and JSON, labels in text. */
enum {
    PLAQUETTE,
    SPATIAL,
    TEMPORAL,
    LINK_TRACE,
    DENSITY,
    CLOVER,
    CHARGE,
    SD_TRACE,
    SD_FORCE,
    SD_BETA,
    NUMBERS
};
static const char *const names[NUMBERS] = {
    "plaquette",  "plaquette_spatial", "plaquette_temporal",
    "link_trace", "action_density",    "action_density_clover",
    "charge",     "sd_trace",          "sd_force",
    "sd_beta"};
static const char *const labels[NUMBERS] = {
    "plaquette", "  spatial", "  temporal",  "link trace", "action density",
    "  clover",  "charge",    "Re tr U S^+", "|F|^2",      "beta by these"};

typedef struct measured {
    lat_geometry geom;
    int nc;
    double number[NUMBERS]; /* NaN where there is none */
    double polyakov[LAT_MAX_DIMS][2];
    char ensemble[LAT_ENSEMBLE_TEXT];
} measured;

static int measure(const lat_field *f, measured *m, const char *name)
{
    const int nd = f->head.geom.nd;
    double anisotropy = 1; /* of the option, else of the header */
    lat_schwinger_dyson sd;
    lat_clover clover;
    *m = (measured){.geom = f->head.geom, .nc = f->head.nc};
    lat_ensemble_text(&f->head, m->ensemble);
    for (int i = 0; i < NUMBERS; i++)
        m->number[i] = NAN;
    if (lat_measure_plaquette(f, &m->number[PLAQUETTE], &m->number[LINK_TRACE])
        || lat_measure_planes(f, &m->number[SPATIAL], &m->number[TEMPORAL]))
        return -1;
    for (int mu = 0; mu < nd; mu++)
        if (lat_measure_polyakov(f, mu, m->polyakov[mu]))
            return -1;
    /* 2 sum_p Re tr (1 - U_p) / V */
    m->number[DENSITY] = nd * (nd - 1) * m->nc
                         * (lat_boundary_plaquettes(&f->head) - m->number[PLAQUETTE]);
    /* The clover needs all four plaquettes around a site. */
    if (nd > 1 && !lat_boundary_open(&f->head)) {
        if (lat_measure_clover(f, &clover))
            return -1;
        m->number[CLOVER] = clover.density;
        m->number[CHARGE] = clover.charge;
    }
    if (schwinger_dyson
        && (lat_boundary_closed(&f->head, -1, "--sd", name)
            || lat_anisotropy(&f->head, &anisotropy)))
        return -1;
    if (schwinger_dyson && lat_opt_given("xi") && lat_info_get(&f->head, "xi") && anisotropy != xi)
        return lat_fail("%s: expected --xi %g, as the header says, found --xi %g", name, anisotropy,
                        xi);
    if (lat_opt_given("xi"))
        anisotropy = xi;
    if (schwinger_dyson && lat_measure_schwinger_dyson(f, anisotropy, &sd))
        return -1;
    if (schwinger_dyson) {
        m->number[SD_TRACE] = sd.trace;
        m->number[SD_FORCE] = sd.force;
        m->number[SD_BETA] = sd.beta;
    }
    return 0;
}

static void text(lat_printer *r, const void *of)
{
    const measured *m = of;
    lat_text_begin(r, "configuration");
    lat_text_lattice(r->to, &m->geom, m->nc);
    lat_text_reals(r->to, NUMBERS, labels, m->number);
    lat_text_loops(r->to, m->geom.nd, m->polyakov);
}

static void values(lat_printer *r, const void *of)
{
    const measured *m = of;
    lat_print_reals(r, NUMBERS, names, m->number);
    lat_print_loops(r, m->geom.nd, m->polyakov);
    lat_print_lattice(r, &m->geom, m->nc);
    if (r->form != LAT_FORM_JSON)
        lat_print_word(r, LAT_ENSEMBLE_COLUMN, m->ensemble);
}

static int one(lat_field *f, lat_input *in, FILE *to, long config)
{
    static const lat_print_kind kind = {.key = "config", .text = text, .values = values};
    measured m;
    return measure(f, &m, lat_input_name(in)) ? LAT_FAILED
                                              : lat_print_object(to, in, &kind, &m, config, 1);
}

static int all(lat_input *in, FILE *to) { return lat_print_links(in, to, one, false); }

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    lat_usage_for("xi", schwinger_dyson, "--sd, and there is no --sd");
    return lat_print_run(all, NULL);
}
