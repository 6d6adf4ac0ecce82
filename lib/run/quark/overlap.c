/* SPDX-License-Identifier: BSD-3-Clause */
/* overlap.c: the overlap operator from options; its propagators. */
#include "overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "common/progress.h"
#include "lattice/field.h"

lat_overlap_choice lat_overlap_opts = {.m0 = 1.4, .mu = NAN, .error = NAN, .project = -1};

static const char *const ours[] = {"m0",      "mu",       "sign",           "sign-error", "order",
                                   "project", "interval", "force-interval", "contact",    "modes"};

/* ---- options --------------------------------------------------------------------------------- */

void lat_overlap_check_options(const lat_fermion *f)
{
    const lat_overlap_choice *o = &lat_overlap_opts;
    if (lat_overlap_check(f))
        lat_usage("%s", lat_error());
    if (!isnan(o->error) && !(o->error >= 1e-15 && o->error <= .5))
        lat_usage("--sign-error: expected a number from 1e-15 to 0.5, found %g", o->error);
    if (lat_opt_given("order") && !isnan(o->error))
        lat_usage("--order and --sign-error exclude each other: one gives the other");
    if (o->sign == LAT_SIGN_ZOLOTAREV && o->order > LAT_ZOLOTAREV_POLES)
        lat_usage("--order: expected at most %d poles, found %ld", LAT_ZOLOTAREV_POLES, o->order);
    lat_usage_for("force-interval", o->interval, "--interval");
}

void lat_operator_of_options(lat_fermion *f, bool massless)
{
    const lat_overlap_choice *o = &lat_overlap_opts;
    const bool mu = lat_opt_given("mu");
    if (o->operator== LAT_OPERATOR_WILSON) {
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            lat_usage_for(ours[i], false, "--operator overlap");
        lat_fermion_of_options(f, massless);
        return;
    }
    if (lat_opt_given("kappa"))
        lat_usage("--kappa is for --operator wilson: of overlap --mu or --mass is needed");
    if (mu && lat_opt_given("mass"))
        lat_usage("--mu and --mass exclude each other");
    if (!mu && !lat_opt_given("mass") && !massless)
        lat_usage("--mu or --mass is needed, for example --mu 0.05");
    lat_fermion_of_options(f, true);
    strcpy(f->name, "overlap");
    f->m0 = o->m0;
    f->mass = mu ? o->mu : f->mass / (2 * o->m0);
    lat_overlap_check_options(f);
}

double lat_mass_of_options(const lat_fermion *f, double m)
{
    return strcmp(f->name, "overlap") ? m : m / (2 * f->m0);
}

static int show_modes(LAT_UNUSED void *with, int converged, int of, double residual,
                      long applications)
{
    char text[LAT_LEFT];
    lat_progress("low modes: %d of %d  %s%ld applications", converged, of,
                 lat_residual_text(residual, text), applications);
    return 0;
}

/* "a,b". */
static void parse_interval(lat_sign_options *s)
{
    char *end = NULL;
    const char *text = lat_overlap_opts.interval;
    s->lower = strtod(text, &end);
    if (*end == ',')
        s->upper = strtod(end + 1, &end);
    if (*end || !(s->lower > 0) || !(s->upper > s->lower) || !isfinite(s->upper))
        lat_usage(
            "--interval: expected two numbers, 0 < A < B, with a comma between, found '%.80s'",
            text);
}

void lat_overlap_of_options(lat_overlap_options *o, int columns, double residual)
{
    const lat_overlap_choice *c = &lat_overlap_opts;
    lat_overlap_usual(o);
    o->columns = columns;
    o->sign.method = (lat_sign_method)c->sign;
    o->sign.delta = isnan(c->error) ? fmin(1e-4, fmax(1e-14, residual / 10)) : c->error;
    o->sign.order = (int)c->order;
    o->sign.force = c->force;
    if (c->interval)
        parse_interval(&o->sign);
    if (c->project >= 0)
        o->low = o->high = (int)c->project;
    o->tolerance = fmin(1e-6, fmax(2e-13, o->sign.delta / 10));
    o->progress = show_modes;
}

/* ---- modes from a file ----------------------------------------------------------------------- */

int lat_overlap_known_open(lat_overlap_known *k, const lat_comm *comm)
{
    *k = (lat_overlap_known){.of = -1};
    return lat_rc(lat_overlap_opts.modes
                  && !(k->in = lat_input_open(lat_overlap_opts.modes, comm)));
}

int lat_overlap_known_find(lat_overlap_known *k, long number, const lat_field *links,
                           const lat_fermion *overlap, const char *smearing)
{
    lat_fermion kernel;
    lat_modes_matrix matrix;
    if (!k->in || k->of == number)
        return 0;
    lat_field_free(&k->modes);
    k->of = -1;
    lat_overlap_kernel(overlap, &kernel);
    if (lat_modefile_find(k->in, links, &kernel, smearing, &k->modes, &matrix))
        return -1;
    if (matrix != LAT_MODES_OF_G5M)
        return lat_fail("%s: expected modes of gamma5 M, found those of %s", lat_input_name(k->in),
                        lat_modes_matrix_text(matrix));
    k->of = number;
    return 0;
}

void lat_overlap_known_close(lat_overlap_known *k)
{
    lat_input_close(k->in);
    lat_field_free(&k->modes);
    k->in = NULL;
}

lat_overlap *lat_overlap_open_known(lat_device *device, const lat_field *links,
                                    const lat_fermion *fermion, lat_overlap_options *options,
                                    lat_overlap_known *k)
{
    const char *rest = k->in ? lat_info_get(&k->modes.head, LAT_INFO_MODES_REST) : NULL;
    double defect;
    options->known = k->in ? &k->modes : NULL;
    options->rest = rest ? fmax(strtod(rest, NULL), 0) : 0; /* no NaN */
    options->name = k->in ? lat_input_name(k->in) : NULL;
    lat_overlap *o = lat_overlap_open(device, links, fermion, options);
    if (o && lat_overlap_verify(o, &defect)) {
        lat_overlap_close(o);
        return NULL;
    }
    if (o && k->in)
        snprintf(k->text, sizeof k->text, "%d modes, CRC %s", o->modes.count,
                 k->modes.head.read_crc);
    return o;
}

/* ---- both operators -------------------------------------------------------------------------- */

int lat_overlap_pair_open(lat_overlap_pair *p, lat_device *device, const lat_field *links,
                          const lat_fermion *fermion, int columns, bool mixed, double residual,
                          lat_overlap_known *known)
{
    lat_overlap_options o;
    lat_overlap_of_options(&o, columns, residual);
    o.mixed = mixed;
    *p = (lat_overlap_pair){.fast = lat_overlap_open_known(device, links, fermion, &o, known)};
    if (p->fast && (p->plain = lat_overlap_plain(p->fast, links, fmax(1e-14, residual / 20))))
        return 0;
    lat_overlap_pair_close(p);
    return -1;
}

void lat_overlap_pair_mass(lat_overlap_pair *p, double mu)
{
    p->fast->fermion.mass = p->fast->mu = mu;
    lat_plain_overlap_mass(p->plain, mu);
}

void lat_overlap_pair_close(lat_overlap_pair *p)
{
    lat_plain_overlap_free(p->plain);
    lat_overlap_close(p->fast);
    *p = (lat_overlap_pair){NULL, NULL};
}

int lat_overlap_describe(lat_header *head, const lat_overlap *o, const lat_overlap_known *known)
{
    char bound[32];
    snprintf(bound, sizeof bound, "%.3e", lat_overlap_bound(o));
    return lat_rc(lat_info_set(head, LAT_OVERLAP_BOUND, bound)
                  || (*known->text && lat_info_set(head, LAT_OVERLAP_MODES, known->text)));
}

/* ---- propagators ----------------------------------------------------------------------------- */

static const char *const forms[] = {"inverse", "subtracted", "inverse/2m0", "subtracted/2m0"};

lat_propagator lat_propagator_of_options(bool masses)
{
    return (lat_overlap_opts.keep_contact ? 0 : LAT_PROPAGATOR_SUBTRACTED)
           | (masses || lat_opt_given("mass") ? LAT_PROPAGATOR_DIVIDED : 0);
}

const char *lat_propagator_text(int form) { return forms[form]; }

int lat_propagator_of(const lat_header *head)
{
    const char *text = lat_info_get(head, LAT_INFO_PROPAGATOR);
    for (int k = 0; text && k < 4; k++)
        if (!strcmp(text, forms[k]))
            return k;
    return lat_fail("expected a header that says what is written of an overlap propagator (%s), "
                    "found %s%s",
                    LAT_INFO_PROPAGATOR, text ? "" : "nothing", text ? text : "");
}

void lat_propagator_make(int form, bool back, const lat_fermion *f, const lat_field *b, int columns,
                         const int *column, lat_field *x)
{
    const size_t objects = lat_header_objects(&x->head), n = lat_header_full_reals(&x->head);
    const size_t sites = lat_field_sites(x);
    const double contact = form & LAT_PROPAGATOR_SUBTRACTED ? 1 : 0,
                 scale = (form & LAT_PROPAGATOR_SUBTRACTED ? 1 / (1 - f->mass) : 1)
                         / (form & LAT_PROPAGATOR_DIVIDED ? 2 * f->m0 : 1);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++)
        for (int k = 0; k < columns; k++) {
            const size_t at = i * objects + (size_t)column[k];
            double source[8 * LAT_MAX_COLOURS], *v = (double *)x->data + at * n;
            lat_field_get(b, at, source);
            for (size_t e = 0; e < n; e++)
                v[e] = back ? v[e] / scale + contact * source[e]
                            : (v[e] - contact * source[e]) * scale;
        }
}
