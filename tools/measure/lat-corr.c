/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-corr: correlators of mesons and baryons from quark propagators (docs/correlators.md).
 * Propagators are contracted slice by slice as they are read. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "formats/fields.h"
#include "quark/contract.h"
#include "quark/source.h"
#include "run/quark/feed.h"
#include "run/quark/links.h"
#include "run/quark/smearer.h"
#include "run/common/print.h"
#include "smear/smear.h"
#include "corr.h"

lat_corr_options lat_corr_opts = {.channels = "mesons", .momenta = "0"};
static lat_device_options device;

static const lat_option options[] = {
    LAT_HEADING("Correlators"),
    {LAT_OPT_TEXT, "channels", 0, "LIST", &lat_corr_opts.channels, 0, 0,
     "channels, with commas: pion, rho, a0, a1, b1, axial_t, pcac, nucleon, sigma, xi, lambda, "
     "delta, nucleon_nr, .., pairs SINK:SOURCE such as gtg5:g5; mesons, baryons, all"},
    {LAT_OPT_TEXT, "momenta", 0, "P", &lat_corr_opts.momenta, 0, 0,
     "momenta 2 pi n/L with n^2 up to a number, or a list 0,0,0/1,0,0/..; pcac has momentum 0 "
     "only"},
    {LAT_OPT_TEXT, "second", '2', "FILE", &lat_corr_opts.second, 0, 0,
     "propagators of a second quark: the antiquark of mesons, the s quark of baryons"},
    LAT_HEADING("Sink"),
    {LAT_OPT_TEXT, "sink", 0, "STEPS", &lat_corr_opts.sink, 0, 0,
     "smear at the sink, with the steps of a source: gauss:w,n or ape:a,n/gauss:w,n (needs "
     "--gauge-file)"},
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &lat_corr_opts.gauge_file, 0, 0,
     "links for --sink; with --second they tell whether two propagators have the same "
     "configuration, if its links were stored in two ways"},
    LAT_HEADING("Source"),
    {LAT_OPT_TEXT, "origin", 0, "X,Y,Z,T", &lat_corr_opts.origin, 0, 0,
     "site of the source, from which t and phases count, if the header does not give it; another "
     "site than the header's is refused without --force"},
    LAT_BOUNDARY_OPTION,
    LAT_HEADING("Device"),
    {LAT_OPT_CHOICE | LAT_OPT_LIMIT, "device", 0, LAT_DEVICES, &device.choice, 0, 0,
     "device that smears at the sink; auto: a GPU, if there is one and the work is large enough"},
    {LAT_OPT_TEXT | LAT_OPT_LOCAL, "gpus", 'g', "LIST", &device.gpus, 0, 0,
     "GPUs that the ranks of a host use in turn, such as 0,2,3 (default: all)"},
    LAT_HEADING("Output"),
    LAT_PRINT_OPTIONS("channel, momentum and t, which is the default", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-corr",
    .args = "[FILE...]",
    .summary = "Measures correlators of mesons and baryons from quark propagators.",
    .example = "lat-corr --channels pion,rho,nucleon --momenta 1 prop.lat > corr.tsv\n"
               "lat-corr --sink gauss:4,30 --gauge-file cfg.lat prop.lat\n"
               "lat-corr --channels gtg5:g5 --second strange.lat light.lat",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

/* ---- the run --------------------------------------------------------------------------------- */

/* The links that the sink is smeared with, and of the second propagator, too. */
static int find_links(lat_corr_run *r, long config)
{
    const lat_header *head = &r->first.f.head;
    if (r->links.in && lat_links_find(&r->links, head, true, lat_input_name(r->first.in), config))
        return -1;
    if (lat_corr_opts.second
        && lat_links_pair(&r->links, head, &r->second.f.head, lat_input_name(r->second.in)))
        return -1;
    if (!lat_corr_opts.sink)
        return 0;
    const double spinors = (lat_corr_opts.second ? 2 : 1) * (double)lat_volume(&head->geom)
                           * (double)lat_header_objects(head);
    if (!r->sink
        && (!(r->sink = lat_sink_new(lat_corr_opts.sink, head)) || lat_source_check_steps(r->sink)
            || lat_smearer_open(&r->smearer, r->sink, head->nc, &device, lat_opts.comm, spinors)))
        return -1;
    if (lat_source_begin(r->sink, &r->links.u, config) == 0)
        return 0;
    return lat_error_name(lat_input_name(r->first.in), NULL);
}

/* What depends on the lattice: channels, momenta, memory. */
static int prepare(lat_corr_run *r)
{
    const lat_header *head = &r->first.f.head;
    LAT_FREE(r->channel, r->momentum, r->own, r->all, r->norm);
    r->own = r->all = r->norm = NULL;
    r->momentum = NULL;
    r->channel = lat_channels_parse(lat_corr_opts.channels, head->nc, &r->job.channels);
    if (r->channel)
        r->momentum = lat_momenta_parse(lat_corr_opts.momenta, &head->geom, &r->job.momenta);
    if (!r->channel || !r->momentum || lat_corr_shifts(r) || lat_corr_place(r)
        || lat_corr_check_source(r))
        return -1;
    memcpy(r->job.place, r->place, sizeof r->job.place);
    r->job.head = head;
    r->job.channel = r->channel;
    r->job.momentum = (const int(*)[3])r->momentum;
    const size_t numbers = 2 * (size_t)r->job.channels * (size_t)r->job.momenta;
    r->own = lat_alloc((size_t)lat_slices(head), numbers * sizeof(double), "correlators");
    r->all = lat_alloc((size_t)lat_slices(head), numbers * sizeof(double), "correlators");
    r->norm = lat_alloc_zero((size_t)lat_slices(head), 4 * sizeof(double), "norms of slices");
    return r->own && r->all && r->norm ? 0 : -1;
}

/* z times exp(i pi angle). */
static void rotate(double *z, double angle)
{
    /* Multiples of pi are exact. */
    const double c = fmod(angle, 2) == 0 ? 1 : fabs(fmod(angle, 2)) == 1 ? -1 : cos(M_PI * angle);
    const double s = fabs(c) == 1 ? 0 : sin(M_PI * angle), re = z[0];
    z[0] = c * re - s * z[1];
    z[1] = c * z[1] + s * re;
}

/* Slices before that of the source are as if the boundary in time lay before the source: a quark
 * there gets the phase of the boundary. */
static void finish(lat_corr_run *r)
{
    const int T = lat_slices(r->job.head);
    for (int c = 0; c < r->job.channels; c++)
        for (int t = 0; t < T; t++)
            for (int m = 0; m < r->job.momenta && t + r->place[3] >= T; m++)
                rotate(lat_corr_number(r, c, m, t), lat_corr_angle(r, r->channel[c].kind, 3));
}

/* Sums beyond the largest double are no correlators. */
static int check_finite(const lat_corr_run *r)
{
    const size_t n = 2 * (size_t)r->job.channels * (size_t)r->job.momenta
                     * (size_t)lat_slices(r->job.head);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(r->all[i]))
            return lat_fail(
                "%s: expected numbers whose products are finite, found correlators that "
                "are not: another normalisation?",
                lat_input_name(r->first.in));
    return 0;
}

/* The square of the slice that was read. */
static double square(const lat_feed *d)
{
    const long n = (long)(lat_slice_matrices(&d->f.head) * lat_header_full_reals(&d->f.head));
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (long i = 0; i < n; i++)
        sum += d->slice[i] * d->slice[i];
    return sum;
}

static int contract(lat_corr_run *r)
{
    const lat_header *head = &r->first.f.head;
    const size_t numbers = 2 * (size_t)r->job.channels * (size_t)r->job.momenta;
    const int slices = lat_field_slab(&r->first.f).count, T = lat_slices(head);
    int rc = 0;
    lat_part_begin("slice", slices);
    for (int t = 0; rc == 0 && t < slices; t++) {
        rc = lat_feed_slice(&r->first, t)
             || (lat_corr_opts.second && lat_feed_slice(&r->second, t));
        if (rc == 0)
            r->norm[t] = square(&r->first);
        if (rc == 0 && lat_corr_opts.second)
            r->norm[T + t] = square(&r->second);
        if (rc == 0 && r->sink)
            rc = lat_sink_smear(r->sink, t, 4 * head->nc, r->first.slice)
                 || (lat_corr_opts.second
                     && lat_sink_smear(r->sink, t, 4 * head->nc, r->second.slice));
        rc = rc
             || lat_contract_slice(&r->job, r->first.slice,
                                   lat_corr_opts.second ? r->second.slice : r->first.slice,
                                   r->own + (size_t)t * numbers);
        lat_part_done(t + 1);
    }
    lat_part_end();
    rc = lat_agree(lat_opts.comm, rc ? -1 : 0);
    return lat_rc(rc || lat_feed_end(&r->first)
                  || (lat_corr_opts.second && lat_feed_end(&r->second))
                  || lat_field_gather(&r->first.f, r->own, numbers * sizeof(double), r->all)
                  || lat_field_gather(&r->first.f, r->norm, sizeof(double), r->norm + 2 * T)
                  || lat_field_gather(&r->first.f, r->norm + T, sizeof(double), r->norm + 3 * T));
}

/* ---- what a correlator is of ----------------------------------------------------------------- */

/* The operator of a propagator, with its links, or "unknown". To be freed. */
static char *operator_text(const lat_header *head)
{
    const lat_fermion *f = &head->quark.fermion;
    const char *smeared = lat_info_get(head, LAT_SMEARED_LINKS);
    const char *form = lat_info_get(head, LAT_INFO_PROPAGATOR);
    char text[LAT_FERMION_TEXT];
    return lat_text_new("%s%s%s%s%s",
                        lat_fermion_bounded(f) ? lat_fermion_text(f, text) : "unknown",
                        smeared ? ", links " : "", smeared ? smeared : "",
                        form ? ", propagator " : "", form ? form : "");
}

/* r->operators and r->source, as columns have them. */
static int describe(lat_corr_run *r)
{
    const lat_header *head = &r->first.f.head;
    char *a = operator_text(head),
         *b = lat_corr_opts.second ? operator_text(&r->second.f.head) : NULL;
    LAT_FREE(r->operators, r->source);
    r->source = lat_text_new("%s", head->quark.source ? head->quark.source : "unknown");
    r->operators = a && (b || !lat_corr_opts.second)
                       ? lat_text_new("%s%s%s", a, b ? " | " : "", b ? b : "")
                       : NULL;
    LAT_FREE(a, b);
    if (!r->operators || !r->source)
        return -1;
    lat_make_plain(r->operators);
    lat_make_plain(r->source);
    return 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static int next_second(lat_corr_run *r, long config)
{
    const int rc = lat_corr_opts.second ? lat_feed_next(&r->second) : 1;
    if (rc == 0)
        return lat_fail("%s: expected a propagator for configuration %ld of the first quark, found "
                        "the end",
                        lat_corr_opts.second, config);
    return rc < 0 || (lat_corr_opts.second && lat_corr_check_pair(r)) ? -1 : 0;
}

static int configuration(lat_corr_run *r, long config)
{
    if (next_second(r, config) || prepare(r) || lat_corr_check_quarks(r) || describe(r)
        || find_links(r, config) || lat_feed_start(&r->first)
        || (lat_corr_opts.second && lat_feed_start(&r->second)) || contract(r) || check_finite(r))
        return -1;
    finish(r);
    lat_corr_check_slices(&r->first, r->norm + 2 * lat_slices(r->job.head));
    if (lat_corr_opts.second)
        lat_corr_check_slices(&r->second, r->norm + 3 * lat_slices(r->job.head));
    lat_progress_end();
    if (lat_print_opts.json)
        lat_corr_print_json(r, config);
    else
        lat_corr_print_tsv(r, config);
    return fflush(r->text) ? -1 : 0;
}

static lat_corr_run state;

/* Inputs beside the propagators, with the first of these. */
static int open_others(lat_corr_run *r)
{
    const char *second = lat_corr_opts.second, *links = lat_corr_opts.gauge_file;
    return lat_rc(
        (second && !r->second.in && !(r->second.in = lat_input_open(second, lat_opts.comm)))
        || (links && !r->links.in && !(r->links.in = lat_input_open(links, lat_opts.comm))));
}

/* All propagators of a file: an exit code. */
static int read_file(lat_input *in, FILE *text)
{
    lat_corr_run *r = &state;
    char links[sizeof r->first.f.head.quark.links] = "";
    long config = -1;
    int rc = open_others(r), more = 0;
    r->first.in = in;
    r->text = text;
    lat_part_begin("configuration", 0);
    while (rc == 0 && (more = lat_feed_next(&r->first)) > 0) {
        const char *now = r->first.f.head.quark.links;
        if (config < 0 || !*now || strcmp(now, links)) /* several masses or sources are of one */
            config++;
        snprintf(links, sizeof links, "%.8s", now);
        lat_part_at((double)config);
        rc = configuration(r, config);
        lat_feed_free(&r->first);
        lat_feed_free(&r->second);
    }
    lat_feed_free(&r->first);
    lat_part_end();
    return rc || more < 0 ? LAT_FAILED : LAT_DONE;
}

static int end(LAT_UNUSED FILE *text)
{
    const int more = lat_corr_opts.second ? lat_fields_more(state.second.in) : 0;
    if (more > 0)
        lat_fail("%s: expected as many propagators as for the first quark, found more",
                 lat_corr_opts.second);
    return more ? LAT_FAILED : LAT_DONE;
}

static void check_usage(void)
{
    lat_usage_if_stdin_twice((const char *const[]){lat_corr_opts.second, lat_corr_opts.gauge_file},
                             2);
    if (lat_corr_opts.sink && !lat_corr_opts.gauge_file)
        lat_usage("--sink smears with links: --gauge-file is needed");
    lat_usage_for("gauge-file", lat_corr_opts.sink || lat_corr_opts.second, "--sink and --second");
    lat_usage_for("device", lat_corr_opts.sink, "--sink, whose smearing a GPU does");
    lat_usage_for("gpus", lat_corr_opts.sink, "--sink, whose smearing a GPU does");
}

int main(int argc, char **argv)
{
    lat_options_parse(&tool, argc, argv);
    check_usage();
    if ((device.choice != LAT_DEVICE_AUTO || device.gpus)
        && lat_device_begin(&device, lat_opts.comm)) /* else it is not sure that it is needed */
        return lat_report(LAT_FAILED);
    const int code = lat_print_run(read_file, end);
    lat_input_close(state.second.in);
    lat_source_free(state.sink);
    lat_smearer_end(&state.smearer);
    lat_device_end();
    lat_links_free(&state.links);
    LAT_FREE(state.channel, state.momentum, state.shift, state.own, state.all, state.norm,
             state.operators, state.source);
    return code;
}
