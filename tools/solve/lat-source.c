/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-source: sources of quark propagators (docs/sources.md): for each configuration of
 * the input, for a lattice without links, or from propagators (sequential sources). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "formats/fields.h"
#include "quark/contract.h"
#include "quark/gamma.h"
#include "quark/source.h"
#include "run/quark/feed.h"
#include "run/quark/fermion_options.h"
#include "run/quark/links.h"
#include "run/common/tool.h"
#include "stream/stream.h"

static lat_geometry geom;
static long group = 3;
static int precision = 1;
static const char *gauge_file;

static const lat_option options[] = {
    {LAT_OPT_DIMS, "dims", 'd', "X,Y,Z,T", &geom, 0, 0,
     "make sources for a lattice without links instead of reading the input: for sources that need "
     "none"},
    {LAT_OPT_INT, "group", 'N', "N", &group, 2, LAT_MAX_COLOURS, "SU(N), with --dims"},
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &gauge_file, 0, 0,
     "links for the steps of a sequential source; the input has propagators"},
    {LAT_OPT_CHOICE, "precision", 'p', "single|double", &precision, 0, 0,
     "precision of the source"},
    {0}};

static const lat_tool tool = {
    .name = "lat-source",
    .args = "SOURCE [FILE]",
    .summary = "Makes sources of quark propagators: point, wall, momentum, box, ball, Gaussian, "
               "noise, sequential.",
    .example = "lat-source noise:z4,t=3,seed=7 cfg.lat | lat-solve --gauge-file cfg.lat --kappa "
               "0.13 -o prop.lat\n"
               "lat-source point:0,0,0,0/gauss:4,30 cfg.lat -o source.lat\n"
               "lat-source wall:3 --dims 8,8,8,16 -o wall.lat",
    .options = options,
    .min_files = 1,
    .max_files = 2,
    .common = LAT_HAS_OUTPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

typedef struct run {
    const char *text;
    lat_input *in;
    lat_output *out;
    lat_source *source; /* or the steps of a sequential source */
    lat_links links;    /* of --gauge-file */
    long field;
    /* sequential */
    lat_gamma gamma;
    long t, n[3];
    const char *steps; /* in `text`, or NULL */
} run;

static int write_field(run *r, lat_field *f)
{
    return lat_rc(lat_provenance(&f->head, "%s", r->text)
                  || lat_field_convert(f, precision ? LAT_F64 : LAT_F32)
                  || lat_stream_write(r->out, f, lat_opts.store) < 0);
}

/* ---- on links -------------------------------------------------------------------------------- */

static int on_lattice(run *r, const lat_field *u, long config)
{
    if (!r->source
        && (!(r->source = lat_source_new(r->text, &u->head)) || lat_source_check_steps(r->source)))
        return -1;
    if (lat_source_begin(r->source, u, config)) /* of --dims there is no input */
        return r->in ? lat_error_name(lat_input_name(r->in), NULL) : -1;
    for (int field = 0; field < lat_source_fields(r->source); field++) {
        lat_field b;
        if (lat_source_field(r->source, field, &b))
            return -1;
        const int rc = write_field(r, &b);
        lat_field_free(&b);
        if (rc)
            return -1;
    }
    return 0;
}

static int on_links(run *r)
{
    lat_field u;
    int rc;
    for (long config = 0; (rc = lat_fields_read_links(r->in, &u)) > 0; config++) {
        rc = lat_rc(lat_header_need(&u.head, LAT_GAUGE, lat_input_name(r->in))
                    || lat_field_exchange(&u) || on_lattice(r, &u, config));
        lat_field_free(&u);
        if (rc)
            return -1;
    }
    return rc;
}

/* A field without data that has the lattice and the ranks. */
static int without_links(run *r)
{
    lat_field u = {.comm = lat_opts.comm};
    lat_header_init(&u.head);
    u.head.geom = geom;
    u.head.nc = (int)group;
    u.head.reals = 2 * u.head.nc * u.head.nc;
    u.head.kind = LAT_TRANSFORM;
    char text[64];
    if (lat_header_check(&u.head, "--dims"))
        return -1;
    if (lat_slices(&u.head) < lat_opts.comm->size)
        return lat_fail_usage("lattice %s: expected at most %d ranks, a slice each, found %d",
                              lat_dims_text(&geom, text), lat_slices(&u.head), lat_opts.comm->size);
    return on_lattice(r, &u, 0);
}

/* ---- sequential ------------------------------------------------------------------------------ */

#define SEQUENTIAL "sequential:"

/* "sequential:GAMMA,t[,nx,ny,nz][/STEPS]" */
static void parse_sequential(run *r)
{
    char gamma[32];
    const char *list = r->text + strlen(SEQUENTIAL);
    int used = -1;
    r->steps = strchr(r->text, '/');
    r->steps += r->steps != NULL;
    const int found = sscanf(list, "%31[^,],%ld%n,%ld,%ld,%ld%n", gamma, &r->t, &used, &r->n[0],
                             &r->n[1], &r->n[2], &used);
    const char end = used < 0 ? 'x' : list[used];
    if ((found != 2 && found != 5) || (end && end != '/') || !lat_momentum_small(r->n))
        lat_usage("expected sequential:GAMMA,t or sequential:GAMMA,t,nx,ny,nz, found '%s'",
                  r->text);
    if (lat_gamma_parse(gamma, &r->gamma))
        lat_usage("%s", lat_error());
}

/* Links for the steps. */
static int find_links(run *r, const lat_header *head)
{
    if (lat_links_find(&r->links, head, true, lat_input_name(r->in), r->field))
        return -1;
    if (!r->source
        && (!(r->source = lat_sink_new(r->steps, head)) || lat_source_check_steps(r->source)))
        return -1;
    return lat_source_begin(r->source, &r->links.u, 0);
}

/* psi <- exp(ipx) Gamma psi for the columns of own slice t. */
static void multiply(const run *r, const lat_header *head, double *slice)
{
    const size_t sites = lat_slice_sites(head), n = 8 * (size_t)head->nc;
    const size_t columns = lat_header_objects(head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++) {
        int x[LAT_MAX_DIMS];
        double cycles = 0, out[8 * LAT_MAX_COLOURS];
        lat_coordinates(&head->geom, i, x);
        for (int mu = 0; mu < 3; mu++)
            cycles += (double)(r->n[mu] * x[mu] % head->geom.dims[mu]) / head->geom.dims[mu];
        const double z[2] = {cos(2 * M_PI * cycles), sin(2 * M_PI * cycles)};
        for (size_t c = 0; c < columns; c++) {
            double *psi = slice + (i * columns + c) * n;
            lat_gamma_apply(r->gamma, head->nc, out, psi);
            for (size_t k = 0; k < n; k += 2) {
                psi[k] = z[0] * out[k] - z[1] * out[k + 1];
                psi[k + 1] = z[0] * out[k + 1] + z[1] * out[k];
            }
        }
    }
}

static int smear(const run *r, int t, int columns, double *slice)
{
    return r->source ? lat_sink_smear(r->source, t, columns, slice) : 0;
}

static int sequential(run *r, lat_field *s)
{
    const lat_header *head = &s->head;
    const lat_slab slab = lat_field_slab(s);
    const size_t slice = lat_slice_matrices(head) * lat_header_full_reals(head);
    const int columns = (int)lat_header_objects(head);
    int rc = 0;
    if (r->t < 0 || r->t >= lat_slices(head))
        return lat_fail_usage("%s: expected t from 0 to %d, found %ld", r->text,
                              lat_slices(head) - 1, r->t);
    if ((r->steps && find_links(r, head)) || lat_field_convert(s, LAT_F64))
        return -1;
    for (int t = 0; t < slab.count; t++) {
        double *at = (double *)s->data + (size_t)t * slice;
        if (slab.first + t != r->t) {
            memset(at, 0, slice * sizeof *at);
            continue;
        }
        rc = smear(r, t, columns, at) ? -1 : 0;
        multiply(r, head, at);
        rc = rc || smear(r, t, columns, at) ? -1 : 0;
    }
    return lat_agree(lat_opts.comm, rc);
}

/* The header of a source made from a propagator. */
static int describe(const run *r, lat_header *head)
{
    char *text = lat_text_new("%s of %s", r->text,
                              head->quark.source ? head->quark.source : "unknown");
    lat_header_no_operator(head);
    const int rc = lat_rc(!text || lat_quark_set_source(&head->quark, text)
                          || lat_quark_set_residuals(&head->quark, NULL));
    free(text);
    return rc;
}

static int on_propagators(run *r)
{
    lat_field s;
    int rc;
    for (; (rc = lat_fields_read(r->in, &s)) > 0; r->field++) {
        const char *name = lat_input_name(r->in);
        rc = lat_rc(lat_header_need(&s.head, LAT_PROPAGATOR, name)
                    || lat_need_solution(&s.head, name) || sequential(r, &s) || describe(r, &s.head)
                    || write_field(r, &s));
        lat_field_free(&s);
        if (rc)
            return -1;
    }
    return rc;
}

/* ---- the run --------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    run r = {.field = 0};
    lat_options_parse(&tool, argc, argv);
    r.text = lat_opts.files[0];
    const char *file = lat_opts.nfiles > 1 ? lat_opts.files[1] : NULL;
    const bool dims = lat_opt_given("dims"),
               is_sequential = !strncmp(r.text, SEQUENTIAL, strlen(SEQUENTIAL));
    if (dims && file)
        lat_usage("--dims is in place of an input, found '%s', too", file);
    if (dims && is_sequential)
        lat_usage("a sequential source is made from propagators: --dims has none");
    lat_usage_for("group", dims, "--dims");
    if (is_sequential)
        parse_sequential(&r);
    if ((gauge_file != NULL) != (r.steps != NULL))
        lat_usage("--gauge-file is for the steps of a sequential source, and needed there");
    if (file && strcmp(file, "-") == 0)
        file = NULL;
    if (gauge_file && !file && !strcmp(gauge_file, "-"))
        lat_usage("only one of the inputs can be stdin");
    if (!dims)
        r.in = lat_input_open(file, lat_opts.comm);
    int rc = lat_rc(
        (!dims && !r.in)
        || (gauge_file && !(r.links.in = lat_input_open(gauge_file, lat_opts.comm)))
        || !(r.out = lat_output_open(lat_opts.output, lat_output_flags() | LAT_OUTPUT_OTHER,
                                     lat_opts.comm)));
    if (rc == 0)
        rc = dims ? without_links(&r) : is_sequential ? on_propagators(&r) : on_links(&r);
    const int code = lat_output_end(r.out, NULL, rc ? LAT_FAILED : LAT_DONE);
    lat_source_free(r.source);
    lat_links_free(&r.links);
    lat_input_close(r.in);
    return code == LAT_DONE ? LAT_DONE : lat_report(code);
}
