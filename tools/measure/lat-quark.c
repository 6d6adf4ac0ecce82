/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-quark: quark propagators in momentum space, and amputated vertices of bilinears
 * (docs/momentum.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "common/options.h"
#include "common/progress.h"
#include "formats/fields.h"
#include "lattice/ensemble.h"
#include "quark/kinematics.h"
#include "quark/legs.h"
#include "quark/legs_mean.h"
#include "quark/values.h"
#include "run/quark/feed.h"
#include "run/quark/legs_file.h"
#include "run/quark/links.h"
#include "run/common/print.h"
#include "stream/stream.h"
#include "quark_run.h"

static const char *source, *legs_path;
static bool mean;
lat_quark_form lat_quark_what;

lat_quark_options lat_quark_opts = {.cylinder = NAN};

static const lat_option options[] = {
    LAT_HEADING("What to measure"),
    {LAT_OPT_FLAG, "vertex", 0, NULL, &lat_quark_opts.vertex, 0, 0,
     "measure amputated vertices of the bilinears S, P, V, A, T, .., and Z of RI'/MOM and RI/SMOM"},
    {LAT_OPT_TEXT, "second", '2', "FILE", &lat_quark_opts.second, 0, 0,
     "propagators of the outgoing momentum p2, for --vertex (default: p2 = p1)"},
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &lat_quark_opts.gauge_file, 0, 0,
     "links of the propagators: with --vertex, also measure the conserved current and its Ward "
     "identity"},
    {LAT_OPT_TEXT, "momenta", 0, "P", &lat_quark_opts.momenta, 0, 0,
     "momenta of point sources: all with p^2 up to a number (default: pi^2), or a list "
     "nx,ny,nz,nt/.."},
    {LAT_OPT_REAL | LAT_OPT_LOCAL, "cylinder", 0, "R", &lat_quark_opts.cylinder, 0, 1e9,
     "keep only momenta at most R 2 pi/X from the diagonal (default: 1 for all momenta of a point "
     "source)"},
    LAT_HEADING("Input"),
    {LAT_OPT_TEXT, "source", 0, "TEXT", &source, 0, 0,
     "source momentum:nx,ny,nz,nt or point:x,y,z,t, if the header does not name it"},
    LAT_BOUNDARY_OPTION,
    LAT_REQUIRE_OPTION,
    LAT_HEADING("Output"),
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "legs", 0, "FILE", &legs_path, 0, 0,
     "also write S(p) to FILE, or with --vertex the vertices before amputation; lat-quark reads "
     "FILE instead of propagators"},
    {LAT_OPT_FLAG | LAT_OPT_LOCAL, "mean", 0, NULL, &mean, 0, 0,
     "print one table: the mean propagators of all configurations, with jackknife errors"},
    LAT_PRINT_OPTIONS("momentum (and bilinear), which is the default", "propagator"),
    {0}};

static const lat_tool tool = {
    .name = "lat-quark",
    .args = "[FILE...]",
    .summary = "Measures quark propagators and vertices in momentum space, in Landau gauge.",
    .example =
        "lat-orelax cfg.lat | lat-solve --kappa .135 --source momentum:1,1,1,1.5 | lat-quark\n"
        "lat-quark --mean --cylinder 1 prop.*.lat\n"
        "lat-quark --vertex prop.lat > vertex.tsv",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

/* ---- a propagator ---------------------------------------------------------------------------- */

static int print_means(const lat_quark_run *r, FILE *to)
{
    for (int i = 0; i < r->mean.groups; i++) {
        const lat_legs_group *g = &r->mean.group[i];
        double v[LAT_VALUES], e[LAT_VALUES];
        if (lat_legs_mean_values(&r->mean, i, v, e))
            return -1;
        if (lat_print_opts.json) {
            lat_quark_json_begin(to, &r->head, g->bins);
            lat_quark_json(to, &g->k, v, e);
            fputs("]}\n", to);
        } else {
            lat_quark_tsv(to, &r->head, g->bins, &g->k, v, e);
        }
    }
    return 0;
}

/* Is the propagator one of this ensemble? */
static int check_ensemble(lat_quark_run *r, const char *name)
{
    const lat_header *head = &r->first.f.head;
    if (!r->averaging) {
        if (lat_header_copy(&r->head, head))
            return -1;
        r->averaging = true;
        r->mean = (lat_legs_mean){.kind = lat_quark_what.kind, .nc = head->nc};
        return 0;
    }
    if (!lat_header_alike(&r->head, head))
        return lat_fail("%s: --mean: expected propagators of one lattice and group", name);
    const lat_fermion *a = &r->head.quark.fermion, *b = &head->quark.fermion;
    if ((!lat_kinematics_same_quark(&r->head, head) || a->twist != b->twist)
        && lat_quark_different(&r->head, head, "--mean: ", name))
        return -1;
    char ensemble[LAT_ENSEMBLE_TEXT];
    lat_ensemble_text(&r->head, ensemble);
    return lat_rc(lat_ensemble_differs(head, ensemble, "--mean: ", name)
                  || lat_quark_same_gauge(&r->head, head, name));
}

static int write_legs(lat_quark_run *r, const lat_kinematics *k, const double *legs)
{
    lat_legs_note what = {
        .kind = lat_quark_what.kind, .mass = k->ward.mass, .twist = k->ward.twist};
    memcpy(what.n, k->n, sizeof what.n);
    return lat_legs_write(r->legs, &r->first.f.head, &what, legs);
}

int lat_quark_emit(lat_quark_run *r, const lat_kinematics *k, const double *legs)
{
    const lat_header *head = &r->first.f.head;
    double v[LAT_VALUES];
    if (!lat_quark_within(k)) {
        r->dropped = true;
        return 0;
    }
    r->kept = true;
    if (r->legs && write_legs(r, k, legs))
        return -1;
    if (mean && !*head->quark.links && !r->nameless)
        lat_warn(
            "%s: --mean: counted as a configuration of its own: it does not say of which links "
            "it is",
            lat_input_name(r->first.in));
    r->nameless = r->nameless || !*head->quark.links;
    if (mean)
        return lat_legs_mean_add(&r->mean, head->quark.links, k, legs);
    if (lat_values_of(lat_input_name(r->first.in), k, lat_quark_what.kind, head->nc, legs, v))
        return -1;
    if (lat_print_opts.json) {
        fputs(r->several ? ", " : "", r->text);
        r->several = true;
        lat_quark_json(r->text, k, v, NULL);
    } else {
        lat_quark_tsv(r->text, head, r->config, k, v, NULL);
    }
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The second propagator of a vertex, and its momentum. An exit code. */
static int next_second(lat_quark_run *r, double n2[4])
{
    const char *name = lat_quark_opts.second;
    const int more = lat_feed_next(&r->second);
    if (more == 0)
        lat_fail("%s: expected a propagator for each of the first momentum, found the end", name);
    const lat_header *head = &r->second.f.head;
    if (more <= 0 || lat_quark_check_pair(&r->first.f.head, head, name)
        || (lat_quark_opts.gauge_file && lat_quark_find_links(r))
        || lat_links_pair(&r->gauge, &r->first.f.head, head, name))
        return LAT_FAILED;
    const int code = lat_quark_check_gauge(head, name);
    const int point = code ? 0 : lat_quark_source(head, name, source, n2);
    if (point > 0)
        lat_fail("%s: expected a momentum source for a vertex, found a point source", name);
    return code ? code : point ? LAT_FAILED : lat_feed_start(&r->second) ? LAT_FAILED : LAT_DONE;
}

/* Propagators of one configuration, one after the other, have one number. */
static void count(lat_quark_run *r)
{
    const char *links = r->first.f.head.quark.links;
    if (r->config < 0 || !*links || strcmp(links, r->links))
        r->config++;
    snprintf(r->links, sizeof r->links, "%s", links);
}

/* The first input says whether there is the conserved current: all have it, or none. */
static int check_current(lat_quark_run *r, bool has, const char *name)
{
    if (!r->begun)
        lat_quark_what.kind = has ? LAT_PAIR_CURRENT : LAT_PAIR;
    r->begun = true;
    return has == lat_quark_has_current()
               ? 0
               : lat_fail("%s: expected vertices %s the conserved current, as the first "
                          "input, found them %s it",
                          name, lat_quark_has_current() ? "with" : "without",
                          has ? "with" : "without");
}

/* An exit code. */
static int propagator(lat_quark_run *r)
{
    const lat_header *head = &r->first.f.head;
    const char *name = lat_input_name(r->first.in);
    double v[4], n2[4];
    int code = lat_quark_check_gauge(head, name);
    const int point = code ? 0 : lat_quark_source(head, name, source, v);
    if (code || point < 0)
        return code ? code : LAT_FAILED;
    if (!point && lat_quark_opts.momenta) {
        lat_fail_usage("%s: --momenta is for point sources, found %.200s", name,
                       head->quark.source ? head->quark.source : source);
        return LAT_FAILED;
    }
    if (point && lat_quark_opts.vertex) {
        lat_fail("%s: expected a momentum source for a vertex, found a point source", name);
        return LAT_FAILED;
    }
    memcpy(n2, v, sizeof n2);
    if ((lat_quark_opts.second && (code = next_second(r, n2)))
        || (lat_quark_opts.vertex && check_current(r, lat_quark_opts.gauge_file != NULL, name))
        || (mean && check_ensemble(r, name)))
        return code ? code : LAT_FAILED;
    r->first.whole = lat_quark_has_current();
    if (lat_feed_start(&r->first))
        return LAT_FAILED;
    count(r);
    r->several = false;
    if (lat_print_opts.json && !mean)
        lat_quark_json_begin(r->text, head, r->config);
    if (point ? lat_quark_from_point(r, v) : lat_quark_from_momentum(r, v, n2))
        return LAT_FAILED;
    if (lat_print_opts.json && !mean)
        fputs("]}\n", r->text);
    return fflush(r->text) ? LAT_FAILED : LAT_DONE;
}

/* Are these legs what was asked for? */
static int check_legs(lat_quark_run *r, const lat_legs_note *what, const char *name)
{
    if (lat_quark_opts.vertex && what->kind == LAT_LEG)
        return lat_fail("%s: expected vertices, as lat-quark --vertex --legs writes them, found "
                        "S(p)",
                        name);
    if (lat_quark_opts.second || lat_quark_opts.gauge_file || lat_quark_opts.momenta || source)
        return lat_fail("%s: expected propagators with %s, found legs", name,
                        lat_quark_opts.second       ? "--second"
                        : lat_quark_opts.gauge_file ? "--gauge-file"
                        : lat_quark_opts.momenta    ? "--momenta"
                                                    : "--source");
    return lat_rc((lat_quark_opts.vertex && check_current(r, what->kind == LAT_PAIR_CURRENT, name))
                  || lat_quark_check_boundary(&r->first.f.head, name, what->n[0]));
}

/* Legs that an earlier lat-quark has summed. An exit code. */
static int summed(lat_quark_run *r)
{
    const char *name = lat_input_name(r->first.in);
    lat_legs_note what;
    const double *legs = lat_legs_read(r->first.in, &r->first.f, &what);
    if (!legs || check_legs(r, &what, name))
        return LAT_FAILED;
    const lat_header *head = &r->first.f.head;
    const int code = lat_quark_check_gauge(head, name);
    if (code || (mean && check_ensemble(r, name)))
        return code ? code : LAT_FAILED;
    count(r);
    lat_kinematics k = lat_kinematics_of(head, what.n[0], what.n[lat_quark_opts.vertex]);
    k.ward.mass = lat_quark_opts.vertex ? what.mass : 0;
    k.ward.twist = lat_quark_opts.vertex ? what.twist : 0;
    r->several = false;
    if (lat_print_opts.json && !mean)
        lat_quark_json_begin(r->text, head, r->config);
    if (lat_quark_emit(r, &k, legs))
        return LAT_FAILED;
    if (lat_print_opts.json && !mean)
        fputs("]}\n", r->text);
    return fflush(r->text) ? LAT_FAILED : LAT_DONE;
}

static lat_quark_run state;

static int read_file(lat_input *in, FILE *text)
{
    lat_quark_run *r = &state;
    int code = LAT_DONE, more = 1;
    r->text = text;
    r->first.in = in;
    r->config = -1;
    r->field = 0;
    r->first.legs = true;
    if (lat_quark_opts.second && !r->second.in
        && !(r->second.in = lat_input_open(lat_quark_opts.second, lat_opts.comm)))
        return LAT_FAILED;
    if (lat_quark_opts.gauge_file && !r->gauge.in
        && !(r->gauge.in = lat_input_open(lat_quark_opts.gauge_file, lat_opts.comm)))
        return LAT_FAILED;
    if (legs_path && !r->legs
        && !(r->legs = lat_output_open(legs_path, LAT_OUTPUT_OTHER, lat_opts.comm)))
        return LAT_FAILED;
    lat_part_begin("propagator", 0);
    while (code == LAT_DONE && (more = lat_feed_next(&r->first)) > 0) {
        lat_part_at((double)r->field);
        code = lat_legs_noted(&r->first.f.head) ? summed(r) : propagator(r);
        lat_feed_free(&r->first);
        lat_feed_free(&r->second);
        r->field++;
    }
    lat_feed_free(&r->first);
    lat_part_end();
    return more < 0 ? LAT_FAILED : code;
}

static int finish(FILE *text)
{
    const int more = lat_quark_opts.second ? lat_fields_more(state.second.in) : 0;
    if (more > 0)
        lat_fail("%s: expected as many propagators as for the first momentum, found more",
                 lat_quark_opts.second);
    const bool none = state.dropped && !state.kept;
    if (none)
        lat_fail_usage("--cylinder %g: expected momenta of the input within it, found none",
                       lat_quark_opts.cylinder);
    if (more || none || (mean && state.averaging && print_means(&state, text)))
        return LAT_FAILED;
    lat_output *legs = state.legs;
    state.legs = NULL;
    return legs && lat_stream_commit(legs) ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    lat_usage_for("second", lat_quark_opts.vertex, "--vertex");
    if (lat_quark_opts.momenta && lat_quark_opts.vertex)
        lat_usage("--momenta is for point sources, which have no vertices");
    lat_usage_for("gauge-file", lat_quark_opts.vertex, "--vertex");
    lat_usage_if_stdin_twice(
        (const char *const[]){lat_quark_opts.second, lat_quark_opts.gauge_file}, 2);
    lat_quark_what = (lat_quark_form){lat_quark_opts.vertex ? LAT_PAIR : LAT_LEG, mean};
    const int code = lat_print_run(read_file, finish);
    lat_input_close(state.second.in);
    lat_links_free(&state.gauge);
    lat_output_abort(state.legs);
    lat_legs_mean_free(&state.mean);
    if (state.averaging)
        lat_header_free(&state.head);
    lat_momenta_free(&state.list);
    return code;
}
