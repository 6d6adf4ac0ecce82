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
#include "common/text.h"
#include "formats/fields.h"
#include "lattice/anisotropy.h"
#include "quark/current.h"
#include "quark/kinematics.h"
#include "quark/legs.h"
#include "quark/legs_mean.h"
#include "quark/source.h"
#include "quark/values.h"
#include "run/quark/feed.h"
#include "run/quark/legs_file.h"
#include "run/quark/links.h"
#include "run/common/tool.h"
#include "smear/smear.h"
#include "stream/stream.h"

static const char *second, *momenta, *source, *legs_path, *gauge_file;
static double cylinder = NAN;
static bool vertex, mean;
static lat_legs_kind kind; /* what is summed and printed */

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

/* Whole numbers plus theta/2 fit the boundary. */
static int check_boundary(const lat_header *head, const char *name, const double n[4])
{
    char text[LAT_BOUNDARY_TEXT];
    for (int mu = 0; mu < 4; mu++) {
        const lat_phase *b = &head->quark.fermion.boundary[mu];
        const double off = n ? n[mu] - b->theta / 2 : 0;
        if (b->dirichlet
            && lat_mismatch(lat_opts.force,
                            "%s: expected a boundary with a phase, found Dirichlet along %c, where "
                            "momentum is not conserved (--force takes it)",
                            name, "xyzt"[mu]))
            return -1;
        if (!(fabs(off - round(off)) < 1e-8)
            && lat_mismatch(lat_opts.force,
                            "%s: expected n%c of the momentum to be a whole number plus %g, "
                            "because the boundary is %s, found %g (--force takes it)",
                            name, "xyzt"[mu], b -> theta / 2,
                            lat_boundary_text(head->quark.fermion.boundary, text), n[mu]))
            return -1;
    }
    return 0;
}

/* ---- what a propagator must be --------------------------------------------------------------- */

/* Landau gauge, of weights that are equal; on anisotropic lattices that of the last direction may
 * be another one, above 0. */
static int check_condition(const lat_header *head, const char *name)
{
    const int last = head->geom.nd - 1;
    const double *w = head->weight;
    double xi;
    if (strcmp(head->gauge, "landau"))
        return lat_mismatch(lat_opts.force,
                            "%s: expected a propagator of links in Landau gauge, found gauge %s "
                            "(--force takes it)",
                            name, head->gauge);
    if (lat_anisotropy(head, &xi)) {
        lat_error_name(name, NULL);
        return -1;
    }
    for (int mu = 0; mu <= last; mu++)
        if (!(w[mu] > 0) || (w[mu] != w[0] && (mu != last || xi == 1)))
            return lat_mismatch(lat_opts.force,
                                "%s: expected Landau gauge with equal weights, found weight %g of "
                                "direction %c for %g of x (--force takes it)",
                                name, w[mu], "xyzt"[mu], w[0]);
    return 0;
}

/* In that gauge, and as near to it as is required? An exit code. */
static int check_gauge(const lat_header *head, const char *name)
{
    const lat_gauge_state s = {.theta = head->theta, .theta_slice = head->theta};
    if (check_condition(head, name))
        return LAT_FAILED;
    if (strcmp(head->gauge, "landau"))
        return LAT_DONE; /* --force */
    if (!lat_gauge_is_off(&s))
        return LAT_DONE;
    if (lat_opts.force) {
        lat_warn("%s: measured although theta of the links is %.3g, above %g (--force)", name,
                 head->theta, lat_require_theta);
        return LAT_DONE;
    }
    lat_fail("%s: expected theta of the links at most %g, found %.3g (--require-theta, --force)",
             name, lat_require_theta, head->theta);
    return LAT_UNCONVERGED;
}

/* The momentum, or the place of a point source: 1 of a point, 0, or -1. */
static int find_source(const lat_header *head, const char *name, double v[4])
{
    const char *text = head->quark.source ? head->quark.source : source;
    if (!text)
        return lat_fail("%s: expected a source in the header, found none (--source says it)", name);
    if (source && strcmp(text, source)
        && lat_mismatch(lat_opts.force,
                        "%s: expected %s, as --source says, found %.200s in the header (--force "
                        "takes the one in the header)",
                        name, source, text))
        return -1;
    if (!lat_fermion_known(&head->quark.fermion)
        && lat_mismatch(lat_opts.force,
                        "%s: expected an operator in the header, found none (--force goes on, with "
                        "periodic boundaries)",
                        name))
        return -1;
    if (lat_source_numbers(text, "momentum", v)) {
        if (check_boundary(head, name, v))
            return -1;
        lat_kinematics_zone(head, v);
        return 0;
    }
    if (!lat_source_numbers(text, "point", v))
        return lat_fail("%s: expected the source momentum:nx,ny,nz,nt or point:x,y,z,t without "
                        "further steps, found %.200s",
                        name, text);
    for (int mu = 0; mu < 4; mu++)
        if (v[mu] != floor(v[mu]) || !(v[mu] >= 0) || !(v[mu] < head->geom.dims[mu]))
            return lat_fail("%s: expected a site of the lattice, found %.200s", name, text);
    return check_boundary(head, name, NULL) ? -1 : 1;
}

/* An operator as in sentences: its first difference from `than`, or its name. */
static const char *quark_text(const lat_header *head, const lat_header *than, char text[160])
{
    const lat_fermion *f = &head->quark.fermion, *g = &than->quark.fermion;
    const char *smeared = lat_info_get(head, LAT_SMEARED_LINKS),
               *form = lat_info_get(head, LAT_INFO_PROPAGATOR);
    const struct {
        const char *name;
        double mine, its;
    } numbers[] = {{"mass", f->mass, g->mass},    {"csw", f->csw, g->csw},
                   {"csw_t", f->csw_t, g->csw_t}, {"twist", f->twist, g->twist},
                   {"xi", f->xi, g->xi},          {"nu", f->nu, g->nu},
                   {"m0", f->m0, g->m0}};
    const size_t count = sizeof numbers / sizeof *numbers;
    size_t i = 0;
    while (i < count && numbers[i].mine == numbers[i].its)
        i++;
    if (strcmp(f->name, g->name))
        snprintf(text, 160, "%s", *f->name ? f->name : "no operator");
    else if (i < count)
        snprintf(text, 160, "%s %.15g", numbers[i].name, numbers[i].mine);
    else
        snprintf(text, 160, "links smeared by '%.60s', columns '%.30s'", smeared ? smeared : "",
                 form ? form : "");
    return text;
}

static int different_operator(const lat_header *a, const lat_header *b, const char *option,
                              const char *name)
{
    char x[160], y[160];
    return lat_mismatch(lat_opts.force,
                        "%s: %sexpected the operator of the first propagator, %s, found %s "
                        "(--force takes it)",
                        name, option, quark_text(a, b, x), quark_text(b, a, y));
}

/* Do the two of a vertex belong together? */
static int check_pair(const lat_header *a, const lat_header *b, const char *name)
{
    char x[64], y[64];
    if (!lat_header_alike(a, b))
        return lat_fail("%s: expected SU(%d) on %s as in the first propagator, found SU(%d) on %s",
                        name, a->nc, lat_dims_text(&a->geom, x), b->nc, lat_dims_text(&b->geom, y));
    return lat_kinematics_same_quark(a, b) ? 0 : different_operator(a, b, "", name);
}

/* ---- printing -------------------------------------------------------------------------------- */

static bool has_current(void) { return kind == LAT_PAIR_CURRENT; }

static const char *mu_names[2] = {"p", "k"};

static void print_heading(FILE *to)
{
    const int n = lat_values_columns(kind);
    if (!lat_report_heading())
        return;
    fputs(mean ? "configurations" : "configuration", to);
    for (int i = 0; i < (vertex ? 8 : 4); i++)
        fprintf(to, "\t%s%c", mu_names[i / 4], "xyzt"[i % 4]);
    fputs(!vertex         ? "\tp2\tpbar2\tphat2\tcylinder"
          : has_current() ? "\tp2\tk2\tq2\tward\tgamma"
                          : "\tp2\tk2\tq2\tgamma",
          to);
    for (int i = 0; i < n; i++) {
        const char *name = lat_values_column(kind, i);
        fprintf(to, "\t%s", name);
        if (mean)
            fprintf(to, "\t%s_error", name);
    }
    lat_report_end_heading(to);
}

static void print_tsv(FILE *to, long config, const lat_kinematics *k, const double *v,
                      const double *e)
{
    const int n = lat_values_columns(kind);
    for (int row = 0; row < lat_values_rows(kind); row++) {
        fprintf(to, "%ld", config);
        for (int i = 0; i < (vertex ? 8 : 4); i++)
            fprintf(to, "\t%.15g", k->n[i / 4][i % 4]);
        if (vertex) {
            lat_numbers_tsv(to, has_current() ? 4 : 3,
                            (double[]){k->square[0], k->square[1], k->q2, v[LAT_VALUES_WARD]});
            fprintf(to, "\t%s", lat_values_row(row));
        } else {
            lat_numbers_tsv(to, 4, (double[]){k->square[0], k->pbar2, k->phat2, k->distance});
        }
        for (int i = 0; i < n; i++) {
            lat_numbers_tsv(to, 1, v + row * LAT_VALUES_STRIDE + i);
            if (e)
                lat_numbers_tsv(to, 1, e + row * LAT_VALUES_STRIDE + i);
        }
        lat_report_end_row(to);
    }
}

static void json_value(FILE *to, const char *name, bool first, double v, const double *e)
{
    lat_json_key(to, first, name);
    lat_json_number(to, v);
    if (e) {
        char text[40];
        snprintf(text, sizeof text, "%s_error", name);
        lat_json_pair(to, text, *e);
    }
}

static void json_momentum(FILE *to, bool first, const char *name, const double n[4])
{
    lat_json_key(to, first, name);
    for (int mu = 0; mu < 4; mu++)
        fprintf(to, "%s%.15g", mu ? ", " : "[", n[mu]);
    fputc(']', to);
}

/* An object of one momentum. */
static void print_json(FILE *to, const lat_kinematics *k, const double *v, const double *e)
{
    fputc('{', to);
    json_momentum(to, true, "p", k->n[0]);
    if (vertex)
        json_momentum(to, false, "k", k->n[1]);
    lat_json_pair(to, "p2", k->square[0]);
    if (vertex) {
        lat_json_pair(to, "k2", k->square[1]);
        lat_json_pair(to, "q2", k->q2);
        if (has_current())
            lat_json_pair(to, "ward", v[LAT_VALUES_WARD]);
        lat_json_key(to, false, "vertices");
        fputc('{', to);
        for (int row = 0; row < lat_values_rows(kind); row++) {
            lat_json_key(to, row == 0, lat_values_row(row));
            fputc('{', to);
            for (int i = 0; i < lat_values_columns(kind); i++)
                json_value(to, lat_values_column(kind, i), i == 0, v[row * LAT_VALUES_STRIDE + i],
                           e ? e + row * LAT_VALUES_STRIDE + i : NULL);
            fputc('}', to);
        }
        fputs("}}", to);
        return;
    }
    lat_json_pair(to, "pbar2", k->pbar2);
    lat_json_pair(to, "phat2", k->phat2);
    lat_json_pair(to, "cylinder", k->distance);
    for (int i = 0; i < lat_values_columns(kind); i++)
        json_value(to, lat_values_column(kind, i), false, v[i], e ? e + i : NULL);
    fputc('}', to);
}

static void json_begin(FILE *to, const lat_header *head, long config)
{
    lat_report_json(to);
    fprintf(to, "\"%s\": %ld", mean ? "configurations" : "configuration", config);
    if (!mean && head->quark.source) {
        lat_json_key(to, false, "source");
        lat_json_string(to, head->quark.source);
    }
    if (lat_fermion_known(&head->quark.fermion))
        lat_json_pair(to, "mass", head->quark.fermion.mass);
    if (!mean && *head->quark.links) {
        lat_json_key(to, false, "links_crc");
        lat_json_string(to, head->quark.links);
    }
    lat_json_key(to, false, "gauge");
    lat_json_string(to, head->gauge);
    if (!mean)
        lat_json_pair(to, "theta", head->theta);
    lat_lattice_json(to, &head->geom, head->nc);
    lat_json_key(to, false, "momenta");
    fputc('[', to);
}

/* ---- a propagator ---------------------------------------------------------------------------- */

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
            json_begin(to, &r->head, g->bins);
            print_json(to, &g->k, v, e);
            fputs("]}\n", to);
        } else {
            print_heading(to);
            print_tsv(to, g->bins, &g->k, v, e);
        }
    }
    return 0;
}

/* "landau", or "landau with weights 1,1,1,2". Returns text. */
static const char *gauge_text(const lat_header *head, char text[160])
{
    char weights[LAT_WEIGHTS_TEXT];
    lat_weights_text(head->weight, 4, 10, weights);
    snprintf(text, 160, "%s%s%s", head->gauge, *weights ? " with weights " : "", weights);
    return text;
}

/* S(p) of two gauges is of two quantities. */
static int check_same_gauge(const lat_header *a, const lat_header *b, const char *name)
{
    char x[160], y[160];
    return strcmp(gauge_text(a, x), gauge_text(b, y))
               ? lat_mismatch(lat_opts.force,
                              "%s: expected links in the gauge of the first propagator, %s, found "
                              "%s (--force takes it)",
                              name, x, y)
               : 0;
}

/* Is the propagator one of this ensemble? */
static int check_ensemble(run *r, const char *name)
{
    const lat_header *head = &r->first.f.head;
    if (!r->averaging) {
        if (lat_header_copy(&r->head, head))
            return -1;
        r->averaging = true;
        r->mean = (lat_legs_mean){.kind = kind, .nc = head->nc};
        return 0;
    }
    if (!lat_header_alike(&r->head, head))
        return lat_fail("%s: --mean: expected propagators of one lattice and group", name);
    const lat_fermion *a = &r->head.quark.fermion, *b = &head->quark.fermion;
    if ((!lat_kinematics_same_quark(&r->head, head) || a->twist != b->twist)
        && different_operator(&r->head, head, "--mean: ", name))
        return -1;
    return check_same_gauge(&r->head, head, name);
}

static int write_legs(run *r, const lat_kinematics *k, const double *legs)
{
    lat_legs_note what = {.kind = kind, .mass = k->ward.mass, .twist = k->ward.twist};
    memcpy(what.n, k->n, sizeof what.n);
    return lat_legs_write(r->legs, &r->first.f.head, &what, legs);
}

static bool within_cylinder(const lat_kinematics *k) { return !(k->distance > cylinder + 1e-6); }

/* Prints a momentum, and writes its legs, if it is within --cylinder. */
static int emit(run *r, const lat_kinematics *k, const double *legs)
{
    const lat_header *head = &r->first.f.head;
    double v[LAT_VALUES];
    if (!within_cylinder(k)) {
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
    if (lat_values_of(lat_input_name(r->first.in), k, kind, head->nc, legs, v))
        return -1;
    if (lat_print_opts.json) {
        fputs(r->several ? ", " : "", r->text);
        r->several = true;
        print_json(r->text, k, v, NULL);
    } else {
        print_heading(r->text);
        print_tsv(r->text, r->config, k, v, NULL);
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
    const size_t reals = lat_legs_reals(kind, head->nc);
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

/* Is n in the list? Both are in the zone. */
static bool listed(const run *r, const double n[4])
{
    bool any = false;
    for (int m = 0; m < r->list.count; m++) {
        bool same = true;
        for (int mu = 0; mu < 4; mu++)
            same = same && fabs(r->list.n[m][mu] - n[mu]) < 1e-8;
        any = any || same;
    }
    return any;
}

static int momenta_listed(run *r, const char *name)
{
    const lat_header *head = &r->first.f.head;
    for (const char *p = momenta; p;) {
        double n[4];
        int used = -1;
        if (sscanf(p, "%lf,%lf,%lf,%lf%n", &n[0], &n[1], &n[2], &n[3], &used) != 4 || used < 0
            || (p[used] && p[used] != '/' && p[used] != ';'))
            return lat_fail_usage("--momenta: expected a largest p^2, or nx,ny,nz,nt with / "
                                  "between, found '%s'",
                                  momenta);
        if (check_boundary(head, name, n))
            return -1;
        lat_kinematics_zone(head, n);
        if (listed(r, n))
            return lat_fail_usage("--momenta: expected different momenta modulo the extents, found "
                                  "%g,%g,%g,%g twice",
                                  n[0], n[1], n[2], n[3]);
        const lat_kinematics k = lat_kinematics_of(head, n, n);
        if (within_cylinder(&k) && lat_momenta_add(&r->list, n))
            return -1;
        p = p[used] ? p + used + 1 : NULL;
    }
    return 0;
}

static int make_momenta(run *r, const char *name)
{
    const double width = isnan(cylinder) ? 1 : cylinder;
    char *end = NULL;
    const double most = momenta ? strtod(momenta, &end) : M_PI * M_PI;
    lat_momenta_free(&r->list);
    return !momenta || (end != momenta && !*end && most >= 0)
               ? lat_momenta_upto(&r->list, &r->first.f.head, most, width)
               : momenta_listed(r, name);
}

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
    if (make_momenta(r, lat_input_name(r->first.in)))
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
    if (more <= 0 || check_pair(&r->first.f.head, head, name) || (gauge_file && find_links(r))
        || lat_links_pair(&r->gauge, &r->first.f.head, head, name))
        return LAT_FAILED;
    const int code = check_gauge(head, name);
    const int point = code ? 0 : find_source(head, name, n2);
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
        kind = has ? LAT_PAIR_CURRENT : LAT_PAIR;
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
    int code = check_gauge(head, name);
    const int point = code ? 0 : find_source(head, name, v);
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
        json_begin(r->text, head, r->config);
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
                   || check_boundary(&r->first.f.head, name, what->n[0])
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
    const int code = check_gauge(head, name);
    if (code || (mean && check_ensemble(r, name)))
        return code ? code : LAT_FAILED;
    count(r);
    lat_kinematics k = lat_kinematics_of(head, what.n[0], what.n[vertex]);
    k.ward.mass = vertex ? what.mass : 0;
    k.ward.twist = vertex ? what.twist : 0;
    r->several = false;
    if (lat_print_opts.json && !mean)
        json_begin(r->text, head, r->config);
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
    kind = vertex ? LAT_PAIR : LAT_LEG;
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
