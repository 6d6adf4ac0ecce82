/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-gauge: gauge transformations: random ones, saved ones, their inverses and products. */
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "measure/measure.h"
#include "common/io.h"
#include "common/options.h"
#include "stream/stream.h"
#include "run/common/tool.h"
#include "lattice/transform.h"
#include "site/sun.h"

/* Largest |g g^+ - 1| of a saved transformation; rounding to f32 gives less than 1e-6. */
#define UNITARY 1e-5

static bool random_g, invert;
static const char *apply, *compose, *save_g;
static uint64_t seed = 1;
static int precision = -1;

static const lat_option options[] = {
    {LAT_OPT_FLAG, "random", 'r', NULL, &random_g, 0, 0, "apply a Haar random transformation"},
    {LAT_OPT_SEED, "seed", 's', "SEED", &seed, 0, 0, "seed of --random"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "save-g", 0, "FILE", &save_g, 0, 0,
     "write the transformation of --random to FILE"},
    {LAT_OPT_TEXT, "apply", 'a', "G", &apply, 0, 0,
     "apply the transformation in G: one for all configurations, or one for each"},
    {LAT_OPT_FLAG, "invert", 0, NULL, &invert, 0, 0, "read transformations, write their inverses"},
    {LAT_OPT_TEXT, "compose", 0, "H", &compose, 0, 0,
     "read transformations g, write h(x) g(x) with h from H: g acts first"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "precision of the output (default: as in the input)"},
    {0}};

static const lat_tool tool = {
    .name = "lat-gauge",
    .args = "[FILE]",
    .summary =
        "Applies gauge transformations U(x,mu) -> g(x) U(x,mu) g(x+mu)^+, and psi(x) -> g(x) "
        "psi(x) to spinors and to the sink of propagators; inverts or composes them.",
    .example = "lat-gauge --random --seed 7 --save-g g.lat cfg.lat | lat-orelax -o fixed.lat\n"
               "lat-gauge --apply g.lat cfg.lat -o transformed.lat\n"
               "lat-gauge --invert g.lat | lat-gauge --apply - transformed.lat -o again.lat",
    .options = options,
    .max_files = 1,
    .common = LAT_HAS_INPUT | LAT_HAS_OUTPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

/* What is open besides input and output. */
typedef struct run {
    const char *name; /* of the input */
    lat_input *saved; /* the stream of G or H */
    lat_output *g_out;
    lat_field g; /* the last of `saved` */
    long read;   /* how many of `saved` were read */
} run;

/* ---- saved transformations ------------------------------------------------------------------- */

static int check_unitary(const char *name, const lat_field *g)
{
    lat_deviation off;
    if (lat_header_need(&g->head, LAT_TRANSFORM, name))
        return -1;
    if (lat_measure_deviation(g, &off))
        return -1;
    if (!(off.unitarity_max <= UNITARY))
        return lat_fail("%s: expected unitary matrices, found |g g^+ - 1| = %g", name,
                        off.unitarity_max);
    return 0;
}

/* Checks g. One in single precision is projected to SU(N) in double, so that the plaquette does not
 * change; one in double is used as it is. */
static int check_and_project(const char *name, lat_field *g)
{
    if (check_unitary(name, g))
        return -1;
    if (g->head.real == LAT_F64)
        return 0;
    if (lat_field_convert(g, LAT_F64))
        return -1;
    const size_t sites = lat_field_matrices(g);
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < sites; x++) {
        double m[LAT_SUN_REALS];
        lat_field_get(g, x, m);
        lat_sun_polar(g->head.nc, m); /* cannot fail: m is nearly unitary */
        lat_field_put(g, x, m);
    }
    return 0;
}

/* Makes r->g the transformation for configuration `index`. */
static int next_saved(run *r, long index)
{
    lat_field g;
    if (index > 0 && r->read < index)
        return 0; /* one transformation for all configurations */
    const int rc = lat_stream_read(r->saved, &g);
    if (rc < 0)
        return -1;
    if (rc > 0) {
        lat_field_free(&r->g);
        r->g = g;
        r->read++;
        return check_and_project(lat_input_name(r->saved), &r->g);
    }
    if (index > 1)
        return lat_fail("%s: has %ld transformations, and the input more fields than that",
                        lat_input_name(r->saved), r->read);
    return 0;
}

/* After the last field: were there more transformations than fields? */
static int none_left(run *r, long fields)
{
    if (!r->saved || r->read < fields)
        return 0;
    const int more = lat_stream_more(r->saved);
    if (more > 0)
        return lat_fail("%s: has more transformations than the input has fields, which are %ld",
                        lat_input_name(r->saved), fields);
    return more < 0 ? -1 : 0;
}

/* ---- the four modes -------------------------------------------------------------------------- */

static int do_random(run *r, lat_field *f, long index)
{
    lat_field g;
    if (f->head.kind == LAT_TRANSFORM)
        return lat_fail("%s: expected links or spinors for --random, found a gauge transformation",
                        r->name);
    if (lat_transform_new(&g, &f->head, f->comm))
        return -1;
    lat_transform_random(&g, seed, index);
    int rc = lat_transform_apply(f, &g);
    if (rc == 0 && r->g_out)
        rc = lat_rc(lat_provenance(&g.head, "random, seed %llu, configuration %ld",
                                   (unsigned long long)seed, index)
                    || lat_stream_write(r->g_out, &g, lat_opts.store));
    lat_field_free(&g);
    return rc ? -1
              : lat_provenance(&f->head, "random, seed %llu, configuration %ld",
                               (unsigned long long)seed, index);
}

/* Applies r->g. Maximally Abelian gauge leaves diagonal g free: its header stays. */
static int apply_saved(run *r, lat_field *f)
{
    char gauge[sizeof f->head.gauge];
    const lat_header *h = &f->head;
    const double functional = h->functional, theta = h->theta;
    const long sweeps = h->sweeps;
    memcpy(gauge, h->gauge, sizeof gauge);
    const bool mag = h->kind == LAT_GAUGE && strcmp(gauge, lat_gauge_name(LAT_MAG)) == 0;
    const int stays = mag ? lat_transform_diagonal(&r->g) : 0;
    if (stays < 0 || lat_transform_apply(f, &r->g))
        return lat_error_name(r->name, NULL);
    if (stays) {
        memcpy(f->head.gauge, gauge, sizeof gauge);
        f->head.functional = functional;
        f->head.theta = theta;
        f->head.sweeps = sweeps;
    }
    return 0;
}

static int do_apply(run *r, lat_field *f, long index)
{
    if (f->head.kind == LAT_TRANSFORM)
        return lat_fail("%s: expected links or spinors for --apply, found a gauge transformation "
                        "(--compose multiplies two)",
                        r->name);
    if (next_saved(r, index) || apply_saved(r, f))
        return -1;
    return lat_provenance(&f->head, "%s", "");
}

static int need_transform(const run *r, lat_field *f, const char *mode)
{
    if (f->head.kind != LAT_TRANSFORM)
        return lat_fail("%s: expected a gauge transformation for --%s, found %s", r->name, mode,
                        lat_kind_text(f->head.kind));
    lat_header_ungauge(&f->head); /* g led to a gauge; its inverse or product does not */
    return 0;
}

static int do_invert(run *r, lat_field *f)
{
    /* The dagger keeps all bits; it is the inverse if g is unitary. */
    if (need_transform(r, f, "invert") || check_unitary(r->name, f))
        return -1;
    const size_t sites = lat_field_matrices(f);
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < sites; x++) {
        double m[LAT_SUN_REALS], inverse[LAT_SUN_REALS];
        lat_field_get(f, x, m);
        lat_sun_dag(f->head.nc, inverse, m);
        lat_field_put(f, x, inverse);
    }
    return lat_provenance(&f->head, "%s", "");
}

static int do_compose(run *r, lat_field *f, long index)
{
    char a[64], b[64];
    if (need_transform(r, f, "compose") || check_and_project(r->name, f) || next_saved(r, index))
        return -1;
    const lat_header *g = &f->head, *h = &r->g.head;
    if (!lat_header_alike(g, h))
        return lat_fail("%s: expected SU(%d) on %s as in the input, found SU(%d) on %s",
                        lat_input_name(r->saved), g->nc, lat_dims_text(&g->geom, a), h->nc,
                        lat_dims_text(&h->geom, b));
    lat_transform_compose(f, &r->g);
    return lat_provenance(&f->head, "%s", "");
}

/* ---- the run --------------------------------------------------------------------------------- */

/* A higher precision is taken before the work, a lower one after it: one rounding either way. A
 * product takes it in check_and_project. */
static int each(lat_field *f, long index, void *context)
{
    run *r = context;
    const lat_real wanted = precision < 0 ? f->head.real : precision ? LAT_F64 : LAT_F32;
    if (wanted == LAT_F64 && !compose && lat_field_convert(f, LAT_F64))
        return LAT_FAILED;
    const int rc = random_g ? do_random(r, f, index)
                   : apply  ? do_apply(r, f, index)
                   : invert ? do_invert(r, f)
                            : do_compose(r, f, index);
    const bool rounds = wanted < f->head.real && f->head.kind == LAT_GAUGE;
    return rc || lat_field_convert(f, wanted) || (rounds && lat_measure_restate(f)) ? LAT_FAILED
                                                                                    : LAT_DONE;
}

/* Transformations are committed first: a result without its transformation is worse than none. */
static int last(long fields, void *context)
{
    run *r = context;
    lat_output *g_out = r->g_out;
    if (none_left(r, fields))
        return LAT_FAILED;
    r->g_out = NULL;
    return g_out && lat_stream_commit(g_out) ? LAT_FAILED : LAT_DONE;
}

static int open_beside(run *r)
{
    const char *saved = apply ? apply : compose;
    r->name = lat_filter_name();
    if ((saved && !(r->saved = lat_input_open(saved, lat_opts.comm)))
        || (save_g && !(r->g_out = lat_output_open(save_g, lat_output_flags(), lat_opts.comm))))
        return -1;
    return 0;
}

static void check_usage(void)
{
    const int modes = random_g + invert + (apply != NULL) + (compose != NULL);
    const char *saved = apply ? apply : compose;
    if (modes != 1)
        lat_usage("expected one of --random, --apply, --invert and --compose, found %d", modes);
    lat_usage_for("seed", random_g, "--random");
    lat_usage_for("save-g", random_g, "--random");
    if (saved && !strcmp(saved, "-") && !lat_opts.input)
        lat_usage("only one of the input and --%s can be stdin", apply ? "apply" : "compose");
    if (saved && lat_opts.output && lat_one_file(saved, lat_opts.output))
        lat_usage("--%s %s is the output as well", apply ? "apply" : "compose", saved);
    if (save_g && !strcmp(save_g, "-"))
        lat_usage("--save-g needs the name of a file");
    lat_usage_if_input("save-g", save_g);
}

int main(int argc, char **argv)
{
    run r = {.saved = NULL};
    lat_options_parse(&tool, argc, argv);
    check_usage();
    const int rc = open_beside(&r) ? lat_report(LAT_FAILED) : lat_filter_run(each, last, &r);
    lat_output_abort(r.g_out);
    lat_field_free(&r.g);
    lat_input_close(r.saved);
    return rc;
}
