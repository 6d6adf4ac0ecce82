/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-quark: quark propagators in momentum space, and amputated vertices of bilinears
 * (docs/momentum.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "formats/fields.h"
#include "quark/current.h"
#include "quark/kinematics.h"
#include "quark/legs.h"
#include "quark/legs_mean.h"
#include "quark/source.h"
#include "quark/values.h"
#include "run/feed.h"
#include "run/legs_file.h"
#include "run/links.h"
#include "run/tool.h"
#include "smear/smear.h"
#include "stream/stream.h"
#include "quark_report.h"

static const char *second, *momenta, *source, *legs_path, *gauge_file;
static double cylinder = NAN;
static bool vertex, mean;
static lat_quark_form form; /* what is summed and printed */

static const lat_option options[] = {
    LAT_HEADING("What to measure"),
    {LAT_OPT_FLAG, "vertex", 0, NULL, &vertex, 0, 0,
     "measure amputated vertices of the bilinears S, P, V, A, T, .., and Z of RI'/MOM and RI/SMOM",
     false},
    {LAT_OPT_TEXT, "second", '2', "FILE", &second, 0, 0,
     "propagators of the outgoing momentum p2, for --vertex (default: p2 = p1)", false},
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &gauge_file, 0, 0,
     "links of the propagators: with --vertex, also measure the conserved current and its Ward "
     "identity",
     false},
    {LAT_OPT_TEXT, "momenta", 0, "P", &momenta, 0, 0,
     "momenta of point sources: all with p^2 up to a number (default: pi^2), or a list "
     "nx,ny,nz,nt/..",
     false},
    {LAT_OPT_REAL, "cylinder", 0, "R", &cylinder, 0, 1e9,
     "keep only momenta at most R 2 pi/X from the diagonal (default: 1 for all momenta of a point "
     "source)",
     true},
    LAT_HEADING("Input"),
    {LAT_OPT_TEXT, "source", 0, "TEXT", &source, 0, 0,
     "source momentum:nx,ny,nz,nt or point:x,y,z,t, if the header does not name it", false},
    LAT_REQUIRE_OPTION,
    LAT_HEADING("Output"),
    {LAT_OPT_TEXT, "legs", 0, "FILE", &legs_path, 0, 0,
     "also write S(p) to FILE, or with --vertex the vertices before amputation; lat-quark reads "
     "FILE instead of propagators",
     true},
    {LAT_OPT_FLAG, "mean", 0, NULL, &mean, 0, 0,
     "print one table: the mean propagators of all configurations, with jackknife errors", true},
    LAT_PRINT_OPTIONS("momentum (and bilinear), which is the default", "propagator"),
    {0}};

static const lat_tool tool = {
    .name = "lat-quark",
    .args = "[FILE...]",
    .summary = "Measures quark propagators and vertices in momentum space, in Landau gauge.",
    .example =
        "lat-orelax cfg.lat | lat-solve --kappa .135 --source momentum:1,1,1,1.5 | lat-quark",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

/* ---- a propagator ---------------------------------------------------------------------------- */

static bool has_current(void) { return form.kind == LAT_PAIR_CURRENT; }

typedef struct run {
    FILE *text;
    lat_feed first, second;
    lat_output *legs;   /* of --legs, or NULL */
    lat_links gauge;    /* of --gauge-file */
    bool begun;         /* it is known whether the conserved current is printed */
    lat_legs_mean mean; /* of --mean */
    lat_header head;    /* of its first propagator */
    bool averaging;     /* there is one */
    bool nameless;      /* one did not name its links, and a warning said so */
    char links[9];      /* of the last propagator of this file */
    long config;        /* its number, from 0; -1: none yet */
    long field;         /* the number of this propagator, from 0 */
    lat_momenta list;   /* of a point source */
    bool several;       /* momenta of this object were printed */
    bool dropped, kept; /* --cylinder has dropped a momentum, of any file; one is within it */
} run;

static int print_means(const run *r, FILE *to)
{
    for (int i = 0; i < r->mean.groups; i++) {
        const lat_legs_group *g = &r->mean.group[i];
        double v[LAT_VALUES], e[LAT_VALUES];
        if (lat_legs_mean_values(&r->mean, i, v, e))
            return -1;
        if (lat_print_opts.json) {
            lat_quark_json_begin(to, &form, &r->head, g->bins);
            lat_quark_json(to, &form, &g->k, v, e);
            fputs("]}\n", to);
        } else {
            lat_quark_tsv(to, &form, g->bins, &g->k, v, e);
        }
    }
    return 0;
}

/* Is the propagator one of this ensemble? */
static int check_ensemble(run *r, const char *name)
{
    const lat_header *head = &r->first.f.head;
    if (!r->averaging) {
        if (lat_header_copy(&r->head, head))
            return -1;
        r->averaging = true;
        r->mean = (lat_legs_mean){.kind = form.kind, .nc = head->nc};
        return 0;
    }
    if (!lat_header_alike(&r->head, head))
        return lat_fail("%s: --mean: expected propagators of one lattice and group", name);
    const lat_fermion *a = &r->head.quark.fermion, *b = &head->quark.fermion;
    if ((!lat_kinematics_same_quark(&r->head, head) || a->twist != b->twist)
        && lat_quark_different(&r->head, head, "--mean: ", name))
        return -1;
    return lat_quark_same_gauge(&r->head, head, name);
}

static int write_legs(run *r, const lat_kinematics *k, const double *legs)
{
    lat_legs_note what = {.kind = form.kind, .mass = k->ward.mass, .twist = k->ward.twist};
    memcpy(what.n, k->n, sizeof what.n);
    return lat_legs_write(r->legs, &r->first.f.head, &what, legs);
}

/* Prints a momentum, and writes its legs, if it is within --cylinder. */
static int emit(run *r, const lat_kinematics *k, const double *legs)
{
    const lat_header *head = &r->first.f.head;
    double v[LAT_VALUES];
    if (!lat_quark_within(k, cylinder)) {
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
    if (lat_values_of(lat_input_name(r->first.in), k, form.kind, head->nc, legs, v))
        return -1;
    if (lat_print_opts.json) {
        fputs(r->several ? ", " : "", r->text);
        r->several = true;
        lat_quark_json(r->text, &form, k, v, NULL);
    } else {
        lat_quark_tsv(r->text, &form, r->config, k, v, NULL);
    }
    return 0;
}

typedef int slice_fn(run *r, const void *what, int t, double *out);

/* `reals` numbers of each slice by fn, in all: of all slices. The caller frees it. */
static double *over_slices(run *r, slice_fn *fn, const void *what, size_t reals)
{
    const lat_header *head = &r->first.f.head;
    const lat_slab slab = lat_field_slab(&r->first.f);
    double *own = lat_alloc((size_t)slab.count * reals, sizeof *own, "sums over slices");
    double *all = lat_alloc((size_t)lat_slices(head) * reals, sizeof *all, "sums over slices");
    int rc = own && all ? 0 : -1;
    for (int t = 0; rc == 0 && t < slab.count; t++)
        rc = lat_feed_slice(&r->first, t) || (second && lat_feed_slice(&r->second, t))
                     || fn(r, what, t + slab.first, own + (size_t)t * reals)
                 ? -1
                 : 0;
    rc = lat_agree(lat_opts.comm, rc);
    if (rc || lat_feed_end(&r->first) || (second && lat_feed_end(&r->second))
        || lat_field_gather(&r->first.f, own, reals * sizeof *own, all)) {
        free(all);
        all = NULL;
    }
    free(own);
    return all;
}

/* What is summed over the slices of a pair. */
typedef struct pair_sums {
    lat_legs legs;
    lat_current current;
} pair_sums;

static int momentum_slice(run *r, const void *what, int t, double *out)
{
    const pair_sums *w = what;
    const int first = lat_field_slab(&r->first.f).first;
    const double *other = second ? r->second.slice : r->first.slice;
    if (lat_legs_slice(&w->legs, t, r->first.slice, vertex ? other : NULL, out))
        return -1;
    return has_current() ? lat_current_slice(&w->current, t - first, other,
                                             out + lat_pair_reals(w->legs.head->nc))
                         : 0;
}

/* The links that the first propagator was made on. */
static int find_links(run *r)
{
    return lat_links_find(&r->gauge, &r->first.f.head, false, lat_input_name(r->first.in),
                          r->field);
}

/* Links of the operator, and neighbours of the propagator, for the conserved current. */
static int prepare_current(run *r, pair_sums *w)
{
    const lat_header *head = &r->first.f.head;
    const char *name = lat_input_name(r->first.in);
    const lat_fermion *a = &head->quark.fermion;
    if (strcmp(a->name, "wilson"))
        return lat_fail("%s: expected a propagator of Wilson quarks for their conserved current, "
                        "found %s",
                        name, *a->name ? a->name : "no operator in its header");
    if (find_links(r) || lat_field_exchange(&r->first.f))
        return -1;
    w->current.first = &r->first.f;
    w->current.links = lat_links_smeared(&r->gauge, lat_info_get(head, LAT_SMEARED_LINKS));
    return w->current.links ? 0 : -1;
}

static int from_momentum(run *r, const double n1[4], const double n2[4])
{
    const lat_header *head = &r->first.f.head;
    lat_kinematics k = lat_kinematics_of(head, n1, n2);
    if (vertex) {
        const lat_fermion *a = &head->quark.fermion,
                          *b = second ? &r->second.f.head.quark.fermion : a;
        k.ward.mass = a->mass - b->mass;
        k.ward.twist = a->twist + b->twist;
    }
    const size_t reals = lat_legs_reals(form.kind, head->nc);
    pair_sums what = {.legs.head = head};
    memcpy(what.legs.n1, n1, sizeof what.legs.n1);
    memcpy(what.legs.n2, n2, sizeof what.legs.n2);
    memcpy(what.current.n1, n1, sizeof what.current.n1);
    memcpy(what.current.n2, n2, sizeof what.current.n2);
    double *legs = has_current() && prepare_current(r, &what)
                       ? NULL
                       : over_slices(r, momentum_slice, &what, reals);
    if (!legs)
        return -1;
    for (int t = 1; t < lat_slices(head); t++)
        for (size_t i = 0; i < reals; i++)
            legs[i] += legs[(size_t)t * reals + i];
    for (size_t i = 0; i < reals; i++)
        legs[i] /= (double)lat_volume(&head->geom);
    const int rc = emit(r, &k, legs);
    free(legs);
    return rc;
}

/* ---- momenta of a point source --------------------------------------------------------------- */

static int fourier_slice(run *r, const void *what, int t, double *out)
{
    (void)t;
    return lat_fourier_slice(what, r->first.slice, out);
}

/* The sum over time of momentum number m. */
static void sum_time(const run *r, const lat_fourier *f, int m, const double *all, double *leg)
{
    const size_t reals = lat_leg_reals(f->head->nc), slice = reals * (size_t)f->count;
    const int T = lat_slices(f->head);
    memset(leg, 0, reals * sizeof *leg);
    for (int t = 0; t < T; t++) {
        const double *from = all + (size_t)t * slice + (size_t)r->list.index[m] * reals;
        double z[2];
        lat_momentum_phase(r->list.n[m][3], t - f->place[3], T, z);
        for (size_t i = 0; i < reals; i += 2) {
            leg[i] += z[0] * from[i] - z[1] * from[i + 1];
            leg[i + 1] += z[0] * from[i + 1] + z[1] * from[i];
        }
    }
}

static int from_point(run *r, const double x[4])
{
    const lat_header *head = &r->first.f.head;
    const lat_quark_range range = {momenta, cylinder};
    if (lat_quark_momenta(&r->list, head, &range, lat_input_name(r->first.in)))
        return -1;
    if (!r->list.count)
        return lat_fail_usage("--momenta, --cylinder: expected momenta of the lattice, found none");
    lat_fourier f = {
        .head = head, .n = (const double(*)[3])r->list.spatial, .count = r->list.spatials};
    for (int mu = 0; mu < 4; mu++)
        f.place[mu] = (int)x[mu];
    const size_t reals = lat_leg_reals(head->nc);
    double *all = over_slices(r, fourier_slice, &f, reals * (size_t)f.count);
    double *leg = all ? lat_alloc(reals, sizeof *leg, "S(p)") : NULL;
    int rc = leg ? 0 : -1;
    for (int m = 0; rc == 0 && m < r->list.count; m++) {
        const lat_kinematics k = lat_kinematics_of(head, r->list.n[m], r->list.n[m]);
        sum_time(r, &f, m, all, leg);
        rc = emit(r, &k, leg);
    }
    free(leg);
    free(all);
    return rc;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The second propagator of a vertex, and its momentum. An exit code. */
static int next_second(run *r, double n2[4])
{
    const char *name = second;
    const int more = lat_feed_next(&r->second);
    if (more == 0)
        lat_fail("%s: expected a propagator for each of the first momentum, found the end", name);
    const lat_header *head = &r->second.f.head;
    if (more <= 0 || lat_quark_check_pair(&r->first.f.head, head, name)
        || (gauge_file && find_links(r)) || lat_links_pair(&r->gauge, &r->first.f.head, head, name))
        return LAT_FAILED;
    const int code = lat_quark_check_gauge(head, name);
    const int point = code ? 0 : lat_quark_source(head, name, source, n2);
    if (point > 0)
        lat_fail("%s: expected a momentum source for a vertex, found a point source", name);
    return code ? code : point ? LAT_FAILED : lat_feed_start(&r->second) ? LAT_FAILED : LAT_DONE;
}

/* Propagators of one configuration, one after the other, have one number. */
static void count(run *r)
{
    const char *links = r->first.f.head.quark.links;
    if (r->config < 0 || !*links || strcmp(links, r->links))
        r->config++;
    snprintf(r->links, sizeof r->links, "%s", links);
}

/* The first input says whether there is the conserved current: all have it, or none. */
static int check_current(run *r, bool has, const char *name)
{
    if (!r->begun)
        form.kind = has ? LAT_PAIR_CURRENT : LAT_PAIR;
    r->begun = true;
    return has == has_current()
               ? 0
               : lat_fail("%s: expected vertices %s the conserved current, as the first "
                          "input, found them %s it",
                          name, has_current() ? "with" : "without", has ? "with" : "without");
}

/* An exit code. */
static int propagator(run *r)
{
    const lat_header *head = &r->first.f.head;
    const char *name = lat_input_name(r->first.in);
    double v[4], n2[4];
    int code = lat_quark_check_gauge(head, name);
    const int point = code ? 0 : lat_quark_source(head, name, source, v);
    if (code || point < 0)
        return code ? code : LAT_FAILED;
    if (!point && momenta) {
        lat_fail_usage("%s: --momenta is for point sources, found %.200s", name,
                       head->quark.source ? head->quark.source : source);
        return LAT_FAILED;
    }
    if (point && vertex) {
        lat_fail("%s: expected a momentum source for a vertex, found a point source", name);
        return LAT_FAILED;
    }
    memcpy(n2, v, sizeof n2);
    if ((second && (code = next_second(r, n2)))
        || (vertex && check_current(r, gauge_file != NULL, name))
        || (mean && check_ensemble(r, name)))
        return code ? code : LAT_FAILED;
    r->first.whole = has_current();
    if (lat_feed_start(&r->first))
        return LAT_FAILED;
    count(r);
    r->several = false;
    if (lat_print_opts.json && !mean)
        lat_quark_json_begin(r->text, &form, head, r->config);
    if (point ? from_point(r, v) : from_momentum(r, v, n2))
        return LAT_FAILED;
    if (lat_print_opts.json && !mean)
        fputs("]}\n", r->text);
    return fflush(r->text) ? LAT_FAILED : LAT_DONE;
}

/* Are these legs what was asked for? */
static int check_legs(run *r, const lat_legs_note *what, const char *name)
{
    if (vertex && what->kind == LAT_LEG)
        return lat_fail("%s: expected vertices, as lat-quark --vertex --legs writes them, found "
                        "S(p)",
                        name);
    if (second || gauge_file || momenta || source)
        return lat_fail("%s: expected propagators with %s, found legs", name,
                        second       ? "--second"
                        : gauge_file ? "--gauge-file"
                        : momenta    ? "--momenta"
                                     : "--source");
    return (vertex && check_current(r, what->kind == LAT_PAIR_CURRENT, name))
                   || lat_quark_check_boundary(&r->first.f.head, name, what->n[0])
               ? -1
               : 0;
}

/* Legs that an earlier lat-quark has summed. An exit code. */
static int summed(run *r)
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
    lat_kinematics k = lat_kinematics_of(head, what.n[0], what.n[vertex]);
    k.ward.mass = vertex ? what.mass : 0;
    k.ward.twist = vertex ? what.twist : 0;
    r->several = false;
    if (lat_print_opts.json && !mean)
        lat_quark_json_begin(r->text, &form, head, r->config);
    if (emit(r, &k, legs))
        return LAT_FAILED;
    if (lat_print_opts.json && !mean)
        fputs("]}\n", r->text);
    return fflush(r->text) ? LAT_FAILED : LAT_DONE;
}

static run state;

static int read_file(lat_input *in, FILE *text)
{
    run *r = &state;
    int code = LAT_DONE, more = 1;
    r->text = text;
    r->first.in = in;
    r->config = -1;
    r->field = 0;
    r->first.legs = true;
    if (second && !r->second.in && !(r->second.in = lat_input_open(second, lat_opts.comm)))
        return LAT_FAILED;
    if (gauge_file && !r->gauge.in && !(r->gauge.in = lat_input_open(gauge_file, lat_opts.comm)))
        return LAT_FAILED;
    if (legs_path && !r->legs
        && !(r->legs = lat_output_open(legs_path, LAT_OUTPUT_OTHER, lat_opts.comm)))
        return LAT_FAILED;
    while (code == LAT_DONE && (more = lat_feed_next(&r->first)) > 0) {
        code = lat_legs_noted(&r->first.f.head) ? summed(r) : propagator(r);
        lat_feed_free(&r->first);
        lat_feed_free(&r->second);
        r->field++;
    }
    lat_feed_free(&r->first);
    return more < 0 ? LAT_FAILED : code;
}

static int finish(FILE *text)
{
    const int more = second ? lat_fields_more(state.second.in) : 0;
    if (more > 0)
        lat_fail("%s: expected as many propagators as for the first momentum, found more", second);
    const bool none = state.dropped && !state.kept;
    if (none)
        lat_fail_usage("--cylinder %g: expected momenta of the input within it, found none",
                       cylinder);
    if (more || none || (mean && state.averaging && print_means(&state, text)))
        return LAT_FAILED;
    lat_output *legs = state.legs;
    state.legs = NULL;
    return legs && lat_stream_commit(legs) ? LAT_FAILED : LAT_DONE;
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    if (second && !vertex)
        lat_usage("--second is for --vertex");
    if (momenta && vertex)
        lat_usage("--momenta is for point sources, which have no vertices");
    if (gauge_file && !vertex)
        lat_usage("--gauge-file is for --vertex");
    lat_usage_if_stdin_twice((const char *const[]){second, gauge_file}, 2);
    form = (lat_quark_form){vertex ? LAT_PAIR : LAT_LEG, mean};
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
