/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-gluon: the gluon propagator in momentum space, of configurations in Landau, Coulomb or
 * maximally Abelian gauge (docs/conventions.md, "Gluon propagator"), and the three-gluon vertex. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "base/error.h"
#include "base/memory.h"
#include "lattice/ensemble.h"
#include "measure/abelian.h"
#include "gluon/vertices.h"
#include "measure/measure.h"
#include "common/options.h"
#include "run/common/gauge_options.h"
#include "run/common/print.h"
#include "gluon_print.h"

enum { ORBITS, NONE };

static int average = ORBITS, device;
static lat_gluon_cuts cuts = {NAN, NAN}; /* none */
static long largest = 8;
static bool mean, vertex;

static const lat_option options[] = {
    LAT_HEADING("Gauge"),
    LAT_GAUGE_OPTIONS("landau|coulomb|mag"),
    LAT_REQUIRE_OPTION,
    LAT_HEADING("Momenta"),
    {LAT_OPT_CHOICE, "average", 0, "orbits|none", &average, 0, 0,
     "average over momenta that symmetries of the lattice make equal (reflections, exchange of "
     "equal axes), or not: then a row is of p and -p, which have one value"},
    {LAT_OPT_REAL, "cylinder", 0, "R", &cuts.cylinder, 0, 1e9,
     "keep only momenta within R * 2 pi / X of the diagonal, where X is the first extent (default: "
     "all)"},
    {LAT_OPT_REAL, "cone", 0, "DEGREES", &cuts.cone, 0, 180,
     "keep only momenta within this angle of the diagonal (default: all)"},
    {LAT_OPT_INT, "momenta", 0, "N2", &largest, 1, 100000,
     "momenta 2 pi n/L of --vertex, with n^2 up to N2"},
    LAT_HEADING("What to measure"),
    {LAT_OPT_FLAG, "vertex", 0, NULL, &vertex, 0, 0,
     "measure the three-gluon vertex instead, in Landau gauge, in the soft and the symmetric "
     "limit"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "mean", 0, NULL, &mean, 0, 0,
     "print one table: the mean over all configurations with its error (vertices: the jackknife "
     "error)"},
    LAT_HEADING("Device"),
    {LAT_OPT_CHOICE, "device", 0, LAT_DEVICES, &device, 0, 0,
     "device of the Fourier transforms: cpu uses FFTW, gpu uses cuFFT; auto: the faster one"},
    LAT_HEADING("Output"),
    LAT_PRINT_OPTIONS("momentum", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-gluon",
    .args = "[FILE...]",
    .summary =
        "Measures the gluon propagator in momentum space, in Landau or Coulomb gauge, and the "
        "three-gluon vertex.",
    .example =
        "lat-orelax --gauge landau --theta 1e-14 cfg.0100.lat | lat-gluon --tsv --cylinder 1\n"
        "lat-gluon --gauge coulomb --tsv cfg.coulomb.lat > gluon.tsv\n"
        "lat-gluon --mean --cylinder 1 landau/*.lat",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
};

/* ---- the run --------------------------------------------------------------------------------- */

/* The condition, of equal weights, and its name. */
static int choose(const lat_header *head, lat_condition *c, char gauge_name[16], const char *name)
{
    lat_header called = *head; /* borrowed, for the name */
    if (lat_gauge_condition(head, c))
        return -1;
    if (c->gauge == LAT_MAG && vertex)
        return lat_fail("%s: --vertex: expected Landau gauge, found maximally Abelian gauge", name);
    for (int mu = 0; mu < head->geom.nd; mu++)
        if (mu != c->time && c->weight[mu] != 1)
            return lat_fail("%s: expected Landau gauge with equal weights, found others; --gauge "
                            "landau takes it as such",
                            name);
    lat_condition_write(&called, c);
    memcpy(gauge_name, called.gauge, sizeof called.gauge);
    return 0;
}

/* Sums over configurations, for --mean. */
typedef struct totals {
    double *d, *d2, *l;
    lat_gluon_sums s;
    double theta, residual;
    bool forced;
} totals;

static void totals_free(totals *t) { free(t->d); }

static int totals_add(totals *t, const lat_gluon_momenta *m, const lat_gluon_sums *s,
                      const lat_gluon_report *one)
{
    if (!t->d) {
        if (!(t->d = lat_alloc_zero(m->orbits, 3 * sizeof *t->d, "means")))
            return -1;
        t->d2 = t->d + m->orbits;
        t->l = t->d2 + m->orbits;
    }
    for (size_t i = 0; i < m->orbits; i++) {
        t->d[i] += m->orbit[i].d;
        t->d2[i] += m->orbit[i].d * m->orbit[i].d;
        t->l[i] += m->orbit[i].l;
    }
    t->s.square += s->square;
    t->s.link_trace += s->link_trace;
    t->theta += one->theta;
    t->residual += one->residual;
    t->forced = t->forced || one->forced;
    return 0;
}

/* The orbits of m become those of the means; the error is that of a mean of independent
 * configurations. */
static lat_gluon_report totals_mean(const totals *t, lat_gluon_momenta *m, long configs,
                                    lat_gluon_report last)
{
    const double n = (double)configs;
    for (size_t i = 0; i < m->orbits; i++) {
        lat_gluon_orbit *o = &m->orbit[i];
        o->d = t->d[i] / n;
        o->l = t->l[i] / n;
        o->error = configs > 1 ? sqrt(fmax(t->d2[i] / n - o->d * o->d, 0) / (n - 1)) : NAN;
    }
    last.config = configs;
    last.theta = t->theta / n;
    last.residual = t->residual / n;
    last.forced = t->forced;
    last.square = t->s.square / n;
    last.link_trace = t->s.link_trace / n;
    return last;
}

/* The momenta of this field: those of the field before, unless lattice, gauge or group differ. */
static int prepare(lat_gluon_momenta *m, lat_gluon_vertices *v, const lat_condition *c,
                   const lat_header *head, int nc, long config, const char *name)
{
    const lat_geometry *geom = &head->geom;
    const bool same = m->of && m->time == c->time && m->geom.nd == geom->nd
                      && !memcmp(m->geom.dims, geom->dims, sizeof geom->dims);
    if (same && mean && config > 0 && nc != head->nc)
        return lat_fail("%s: --mean: expected configurations of one group, found SU(%d) and SU(%d)",
                        name, nc, head->nc);
    if (same && (!vertex || nc == head->nc))
        return 0;
    if (mean && config > 0)
        return lat_fail(
            "%s: --mean: expected configurations of one lattice and gauge, found another "
            "one at number %ld",
            name, config);
    lat_gluon_momenta_free(m);
    lat_gluon_vertices_free(v);
    return lat_rc(lat_gluon_momenta_new(m, c, geom, average == ORBITS)
                  || (vertex && lat_gluon_vertices_new(v, m, head->nc, largest, &cuts)));
}

/* Of all files. In maximally Abelian gauge there are two reports and sums: of diagonal colours, and
 * of the others. */
static struct {
    lat_gluon_momenta m;
    lat_gluon_vertices v;
    totals t[2];
    lat_gluon_report r[2];
    long configs;
} sum;

/* The diagonal phases, which maximally Abelian gauge leaves free, must be in the residual gauge.
 * An exit code. */
static int require_residual(const lat_field *f, const char *name, long config, double *residual)
{
    lat_residual r;
    if (lat_measure_residual(f, &r))
        return LAT_FAILED;
    *residual = r.worst;
    if (*residual <= lat_require_theta)
        return LAT_DONE;
    if (lat_opts.force) {
        lat_warn("%s: configuration %ld is measured although its Abelian links are not in Landau "
                 "gauge: theta %.3g, above %g (--force)",
                 name, config, *residual, lat_require_theta);
        return LAT_DONE;
    }
    lat_fail("%s: configuration %ld has Abelian links that are not in Landau gauge: theta %.3g, "
             "expected at most %g (docs/gauges.md, \"Residual gauge\"; --require-theta, --force)",
             name, config, *residual, lat_require_theta);
    return LAT_UNCONVERGED;
}

/* Colours in one table: measures them, and prints or sums. `r` is what all tables of the
 * configuration share. An exit code. */
static int measure_colours(const lat_field *f, lat_input *in, FILE *text, lat_gluon_report r)
{
    lat_gluon_momenta *m = &sum.m;
    lat_gluon_vertices *v = &sum.v;
    const int which = r.colours == LAT_GLUON_OFF_DIAGONAL;
    lat_gluon_sums s;
    if (lat_gluon_measure(f, m, vertex ? &v->legs : NULL, r.colours, device, &s)
        || (vertex && lat_gluon_vertices_measure(v, m, f->head.nc)))
        return LAT_FAILED;
    if (r.colours == LAT_GLUON_ALL)
        r.theta = lat_gluon_theta(m, f->head.nc, &s);
    r.square = s.square;
    r.link_trace = s.link_trace;
    sum.r[which] = r;
    if (!mean)
        return lat_gluon_print(text, in, &r);
    return (vertex && lat_gluon_vertices_keep(v)) || totals_add(&sum.t[which], m, &s, &r)
               ? LAT_FAILED
               : LAT_DONE;
}

/* A mean is of one ensemble. Its error takes configurations as independent: one that comes twice is
 * said, once. */
static int note_again(const lat_header *head, const char *name)
{
    static char(*seen)[sizeof head->read_crc];
    static char ensemble[LAT_ENSEMBLE_TEXT];
    static long count;
    static bool warned;
    if (lat_ensemble_differs(head, ensemble, "--mean: ", name))
        return -1;
    for (long i = 0; i < count && *head->read_crc && !warned; i++)
        if ((warned = !strcmp(seen[i], head->read_crc)))
            lat_warn("%s: --mean: configuration %ld is number %ld again, with the same links: it "
                     "counts as an independent one",
                     name, count, i);
    if (lat_grow(&seen, count, sizeof *seen, "CRCs of configurations"))
        return -1;
    strcpy(seen[count++], head->read_crc);
    return 0;
}

/* One configuration: an exit code. */
static int one(lat_field *f, lat_input *in, FILE *text, long config)
{
    static char called[16], ensemble[LAT_ENSEMBLE_TEXT]; /* the mean has them of the last one */
    lat_condition c;
    lat_gauge_state state;
    double residual = 0;
    if (mean) {
        config = sum.configs;
        if (note_again(&f->head, lat_input_name(in)))
            return LAT_FAILED;
    }
    if (choose(&f->head, &c, called, lat_input_name(in))
        || ((c.time < 0 || c.time != lat_anisotropy_axis(&f->head))
            && lat_anisotropy_none(&f->head, lat_input_name(in)))
        || lat_boundary_closed(&f->head, c.time, "momenta", lat_input_name(in))
        || lat_measure_gauge(f, &c, &state, NULL, NULL))
        return LAT_FAILED;
    const bool mag = c.gauge == LAT_MAG;
    int code = lat_require_gauge(&f->head, &c, &state, lat_input_name(in), config);
    if (code == LAT_DONE && mag)
        code = require_residual(f, lat_input_name(in), config, &residual);
    if (code != LAT_DONE)
        return code;
    if (sum.r[0].m && mag != (sum.r[0].colours != LAT_GLUON_ALL)) {
        lat_fail("%s: expected configurations that are all in maximally Abelian gauge, or none",
                 lat_input_name(in));
        return LAT_FAILED;
    }
    if (prepare(&sum.m, &sum.v, &c, &f->head, sum.r[0].nc, config, lat_input_name(in)))
        return LAT_FAILED;
    lat_gluon_report r = {.config = config,
                          .mean = mean,
                          .m = &sum.m,
                          .cuts = &cuts,
                          .gauge = called,
                          .ensemble = lat_ensemble_text(&f->head, ensemble),
                          .nc = f->head.nc,
                          .theta = state.theta,
                          .forced = lat_gauge_is_off(&state) || residual > lat_require_theta,
                          .v = vertex ? &sum.v : NULL,
                          .residual = residual};
    for (r.colours = mag ? LAT_GLUON_DIAGONAL : LAT_GLUON_ALL;
         code == LAT_DONE && r.colours <= (mag ? LAT_GLUON_OFF_DIAGONAL : 0); r.colours++)
        code = measure_colours(f, in, text, r);
    sum.configs += code == LAT_DONE;
    return code;
}

static int all(lat_input *in, FILE *text) { return lat_print_links(in, text, one, false); }

static int print_mean(FILE *text)
{
    int code = LAT_DONE;
    for (int i = 0; i < 2 && mean && code == LAT_DONE && sum.t[i].d; i++) {
        sum.r[i] = totals_mean(&sum.t[i], &sum.m, sum.configs, sum.r[i]);
        if (vertex)
            lat_gluon_vertices_mean(&sum.v);
        code = lat_gluon_print(text, NULL, &sum.r[i]);
    }
    return code;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    if (vertex && average == NONE)
        lat_usage("--vertex averages over momenta that symmetries make equal: --average none is "
                  "for the propagator");
    lat_usage_for("momenta", vertex, "--vertex");
    const int code = lat_print_run(all, print_mean);
    totals_free(&sum.t[0]);
    totals_free(&sum.t[1]);
    lat_gluon_vertices_free(&sum.v);
    lat_gluon_momenta_free(&sum.m);
    return code;
}
