/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-corr: correlators of mesons and baryons from quark propagators (docs/correlators.md).
 * Propagators are contracted slice by slice as they are read. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "common/options.h"
#include "common/text.h"
#include "formats/fields.h"
#include "quark/contract.h"
#include "quark/source.h"
#include "run/common/device_options.h"
#include "run/quark/feed.h"
#include "run/quark/links.h"
#include "run/quark/overlap.h"
#include "run/quark/smearer.h"
#include "run/common/tool.h"
#include "smear/smear.h"

static const char *channels = "mesons", *momenta = "0", *second, *sink, *gauge_file, *origin;
static lat_device_options device;

static const lat_option options[] = {
    LAT_HEADING("Correlators"),
    {LAT_OPT_TEXT, "channels", 0, "LIST", &channels, 0, 0,
     "channels, with commas: pion, rho, a0, a1, b1, axial_t, pcac, nucleon, sigma, xi, lambda, "
     "delta, "
     "nucleon_nr, .., pairs SINK:SOURCE such as gtg5:g5; mesons, baryons, all",
     false},
    {LAT_OPT_TEXT, "momenta", 0, "P", &momenta, 0, 0,
     "momenta 2 pi n/L with n^2 up to a number, or a list 0,0,0/1,0,0/..; pcac has momentum 0 only",
     false},
    {LAT_OPT_TEXT, "second", '2', "FILE", &second, 0, 0,
     "propagators of a second quark: the antiquark of mesons, the s quark of baryons", false},
    LAT_HEADING("Sink"),
    {LAT_OPT_TEXT, "sink", 0, "STEPS", &sink, 0, 0,
     "smear at the sink, with the steps of a source: gauss:w,n or ape:a,n/gauss:w,n (needs "
     "--gauge-file)",
     false},
    {LAT_OPT_TEXT, "gauge-file", 'U', "FILE", &gauge_file, 0, 0,
     "links for --sink; with --second they tell whether two propagators have the same "
     "configuration, if its links were stored in two ways",
     false},
    LAT_HEADING("Source"),
    {LAT_OPT_TEXT, "origin", 0, "X,Y,Z,T", &origin, 0, 0,
     "site of the source, from which t and phases count, if the header does not give it; another "
     "site than the header's is refused without --force",
     false},
    LAT_HEADING("Device"),
    {LAT_OPT_CHOICE, "device", 0, LAT_DEVICES, &device.choice, 0, 0,
     "device that smears at the sink; auto: a GPU, if there is one and the work is large enough",
     LAT_OPT_LIMIT},
    {LAT_OPT_TEXT, "gpus", 'g', "LIST", &device.gpus, 0, 0,
     "GPUs that the ranks of a host use in turn, such as 0,2,3 (default: all)", true},
    LAT_HEADING("Output"),
    LAT_PRINT_OPTIONS("channel, momentum and t, which is the default", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-corr",
    .args = "[FILE...]",
    .summary = "Measures correlators of mesons and baryons from quark propagators.",
    .example = "lat-corr --channels pion,rho,nucleon --momenta 1 prop.lat > corr.tsv",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS,
    .start = lat_comm_start,
};

/* ---- the run --------------------------------------------------------------------------------- */

typedef struct run {
    FILE *text;
    lat_feed first, second;
    lat_links links; /* of --gauge-file */
    lat_source *sink;
    lat_smearer smearer;
    lat_channel *channel;
    int (*momentum)[3];
    double (*shift)[3];
    lat_contraction job;
    int place[LAT_MAX_DIMS];
    double *own, *all; /* correlators of own slices, of all */
    char *operators;   /* of the quarks, " | " between two */
    char *source;
    bool headed; /* the line of names was printed */
    bool warned; /* that t counts from 0 */
    bool spread; /* it was said that the source has no place */
} run;

/* Do the two belong together? */
static int check_pair(const run *r)
{
    const lat_header *a = &r->first.f.head, *b = &r->second.f.head;
    const char *name = lat_input_name(r->second.in);
    char x[64], y[64];
    if (!lat_header_alike(a, b))
        return lat_fail("%s: expected SU(%d) on %s as in the first propagator, found SU(%d) on %s",
                        name, a->nc, lat_dims_text(&a->geom, x), b->nc, lat_dims_text(&b->geom, y));
    if (a->quark.source && b->quark.source && strcmp(a->quark.source, b->quark.source))
        return lat_mismatch(lat_opts.force,
                            "%s: expected the source of the first propagator, %.200s, found %.200s "
                            "(--force takes it)",
                            name, a->quark.source, b->quark.source);
    return 0;
}

/* The links that the sink is smeared with, and of the second propagator, too. */
static int find_links(run *r, long config)
{
    const lat_header *head = &r->first.f.head;
    if (r->links.in && lat_links_find(&r->links, head, true, lat_input_name(r->first.in), config))
        return -1;
    if (second && lat_links_pair(&r->links, head, &r->second.f.head, lat_input_name(r->second.in)))
        return -1;
    if (!sink)
        return 0;
    const double spinors = (second ? 2 : 1) * (double)lat_volume(&head->geom)
                           * (double)lat_header_objects(head);
    if (!r->sink
        && (!(r->sink = lat_sink_new(sink, head)) || lat_source_check_steps(r->sink)
            || lat_smearer_open(&r->smearer, r->sink, head->nc, &device, lat_opts.comm, spinors)))
        return -1;
    if (lat_source_begin(r->sink, &r->links.u, config) == 0)
        return 0;
    lat_error_name(lat_input_name(r->first.in), NULL);
    return -1;
}

/* What a channel gets at a boundary from all of its quarks together, as an angle in units of pi. */
static double boundary_angle(const run *r, lat_channel_kind kind, int mu)
{
    const lat_phase *a = &r->first.f.head.quark.fermion.boundary[mu];
    const lat_phase *b = second ? &r->second.f.head.quark.fermion.boundary[mu] : a;
    const double u = a->dirichlet ? 0 : a->theta, s = b->dirichlet ? 0 : b->theta;
    switch (kind) {
    case LAT_MESON:
    case LAT_PCAC: return u - s;
    case LAT_SIGMA:
    case LAT_LAMBDA:
    case LAT_SIGMA_NR: return 2 * u + s;
    case LAT_XI: return u + 2 * s;
    default: return 3 * u;
    }
}

/* Does any channel have the quark of --second? */
static bool uses_second(const run *r)
{
    for (int c = 0; c < r->job.channels; c++)
        switch (r->channel[c].kind) {
        case LAT_NUCLEON:
        case LAT_DELTA:
        case LAT_NUCLEON_NR:
        case LAT_DELTA_NR: break;
        default: return true;
        }
    return false;
}

/* Hadrons of quarks with twisted boundaries in space have other momenta: n + shift, abs(shift) at
 * most 1/2. PCAC has the derivative in time of momentum 0 alone. */
static int find_shifts(run *r)
{
    free(r->shift);
    r->job.shift = NULL;
    if (!(r->shift = lat_alloc((size_t)r->job.channels, sizeof *r->shift, "momenta")))
        return -1;
    for (int c = 0; c < r->job.channels; c++)
        for (int mu = 0; mu < 4; mu++) {
            const double angle = boundary_angle(r, r->channel[c].kind, mu), s = -angle / 2;
            if (r->channel[c].kind == LAT_PCAC && angle != 0)
                return lat_fail_usage("pcac: expected two quarks of one boundary in %c, found "
                                      "phases that differ by %g pi",
                                      "xyzt"[mu], angle);
            if (mu < 3)
                r->shift[c][mu] = s - ceil(s - .5);
        }
    r->job.shift = (const double(*)[3])r->shift;
    if (second && !uses_second(r))
        return lat_fail_usage("--second: expected a channel with a second quark, found nucleon and "
                              "delta alone, which are of the first");
    return 0;
}

/* The site from which t and phases count: that of the source in the header, and where it has none
 * that of --origin. */
static int find_place(run *r)
{
    const lat_header *head = &r->first.f.head;
    const char *name = lat_input_name(r->first.in);
    const unsigned known = lat_source_place(head->quark.source, r->place);
    char after;
    long x[4];
    if (!origin && !head->quark.source && !r->warned)
        lat_warn("%s: expected the source in the header, found none: t counts from slice 0 "
                 "(--origin x,y,z,t says where the source is)",
                 name);
    r->warned = true;
    if (!origin && head->quark.source && !(known >> 3 & 1)
        && lat_mismatch(lat_opts.force,
                        "%s: expected a source on a slice, from which t counts, found %.200s "
                        "(--origin x,y,z,t says where t begins; --force: at slice 0)",
                        name, head->quark.source))
        return -1;
    if (origin && sscanf(origin, "%ld,%ld,%ld,%ld%c", &x[0], &x[1], &x[2], &x[3], &after) != 4)
        return lat_fail_usage("--origin: expected x,y,z,t, found '%s'", origin);
    for (int mu = 0; mu < 4; mu++) {
        const int extent = head->geom.dims[mu], said = r->place[mu];
        if (origin)
            r->place[mu] = x[mu] < 0 || x[mu] > INT_MAX ? -1 : (int)x[mu];
        if (origin && (r->place[mu] < 0 || r->place[mu] >= extent))
            return lat_fail_usage("--origin: expected %c from 0 to %d, found %s", "xyzt"[mu],
                                  extent - 1, origin);
        if (r->place[mu] < 0 || r->place[mu] >= extent)
            return lat_fail("%s: expected a source on the lattice, with %c from 0 to %d, found %s",
                            name, "xyzt"[mu], extent - 1, head->quark.source);
        if ((known >> mu & 1) && r->place[mu] != said
            && lat_mismatch(lat_opts.force,
                            "%s: expected --origin with %c = %d, as the header says (%.200s), "
                            "found %s (--force takes it)",
                            name, "xyzt"[mu], said, head -> quark.source, origin))
            return -1;
    }
    return 0;
}

/* What a source on a whole slice cannot give. Of a wall, and of noise, hadrons of another momentum
 * than 0 have a mean of 0; the mean of noise^3, of which baryons are, is 0. */
static int check_source(run *r)
{
    const char *text = r->first.f.head.quark.source;
    const char *name = lat_input_name(r->first.in);
    const lat_geometry *geom = &r->first.f.head.geom;
    const int zero[3] = {0};
    int site[LAT_MAX_DIMS];
    bool moves = false;
    for (int m = 0; m < r->job.momenta; m++)
        moves = moves || !lat_same_modulo(geom, 3, r->momentum[m], zero);
    if (moves && r->job.channels == 1 && r->channel[0].kind == LAT_PCAC)
        return lat_fail_usage("--momenta %s: expected 0, as pcac is of momentum 0 alone", momenta);
    const char *other = second ? r->second.f.head.quark.source : text;
    const bool one = text && other && !strcmp(text, other);
    if (moves && one && !r->spread && lat_source_place(text, site) == 1U << 3) {
        lat_warn("%s: expected momentum 0 alone, because the source is on a whole slice, %.200s: "
                 "at others the mean is 0",
                 name, text);
        r->spread = true;
    }
    for (int c = 0; c < r->job.channels && text && !strncmp(text, "noise:", 6); c++)
        if (lat_channel_baryon(&r->channel[c]))
            return lat_mismatch(lat_opts.force,
                                "%s: channel %s: expected another source than noise, whose third "
                                "power has a mean of 0, found %.200s (--force takes it)",
                                name, r->channel[c].name, text);
    return 0;
}

/* What depends on the lattice: channels, momenta, memory. */
static int prepare(run *r)
{
    const lat_header *head = &r->first.f.head;
    free(r->channel);
    free(r->momentum);
    free(r->own);
    free(r->all);
    r->own = r->all = NULL;
    r->momentum = NULL;
    r->channel = lat_channels_parse(channels, head->nc, &r->job.channels);
    if (r->channel)
        r->momentum = lat_momenta_parse(momenta, &head->geom, &r->job.momenta);
    if (!r->channel || !r->momentum || find_shifts(r) || find_place(r) || check_source(r))
        return -1;
    memcpy(r->job.place, r->place, sizeof r->job.place);
    r->job.head = head;
    r->job.channel = r->channel;
    r->job.momentum = (const int(*)[3])r->momentum;
    const size_t numbers = 2 * (size_t)r->job.channels * (size_t)r->job.momenta;
    r->own = lat_alloc((size_t)lat_slices(head), numbers * sizeof(double), "correlators");
    r->all = lat_alloc((size_t)lat_slices(head), numbers * sizeof(double), "correlators");
    return r->own && r->all ? 0 : -1;
}

/* z times exp(i pi angle). */
static void turn(double *z, double angle)
{
    /* Multiples of pi are exact. */
    const double c = fmod(angle, 2) == 0 ? 1 : fabs(fmod(angle, 2)) == 1 ? -1 : cos(M_PI * angle);
    const double s = fabs(c) == 1 ? 0 : sin(M_PI * angle), re = z[0];
    z[0] = c * re - s * z[1];
    z[1] = c * z[1] + s * re;
}

/* The number of channel c, momentum m at t from the source. */
static double *number(const run *r, int c, int m, int t)
{
    const int T = lat_slices(r->job.head), slice = ((t + r->place[3]) % T + T) % T;
    return r->all
           + 2
                 * (((size_t)slice * (size_t)r->job.channels + (size_t)c) * (size_t)r->job.momenta
                    + (size_t)m);
}

/* Slices before that of the source are as if the boundary in time lay before the source: a quark
 * there gets the phase of the boundary. */
static void finish(run *r)
{
    const int T = lat_slices(r->job.head);
    for (int c = 0; c < r->job.channels; c++)
        for (int t = 0; t < T; t++)
            for (int m = 0; m < r->job.momenta && t + r->place[3] >= T; m++)
                turn(number(r, c, m, t), boundary_angle(r, r->channel[c].kind, 3));
}

/* (C_A(t+1) - C_A(t-1)) / (4 C_P(t)) of a channel that has (C_A, C_P). */
static double pcac(const run *r, int c, int t)
{
    return (number(r, c, 0, t + 1)[0] - number(r, c, 0, t - 1)[0]) / (4 * number(r, c, 0, t)[1]);
}

static void value(const run *r, int c, int m, int t, double z[2])
{
    memcpy(z, number(r, c, m, t), 2 * sizeof *z);
    if (r->channel[c].kind == LAT_PCAC) {
        z[0] = pcac(r, c, t);
        z[1] = 0;
    }
}

static int contract(run *r)
{
    const lat_header *head = &r->first.f.head;
    const size_t numbers = 2 * (size_t)r->job.channels * (size_t)r->job.momenta;
    const int slices = lat_field_slab(&r->first.f).count;
    int rc = 0;
    for (int t = 0; rc == 0 && t < slices; t++) {
        rc = lat_feed_slice(&r->first, t) || (second && lat_feed_slice(&r->second, t));
        if (rc == 0 && r->sink)
            rc = lat_sink_smear(r->sink, t, 4 * head->nc, r->first.slice)
                 || (second && lat_sink_smear(r->sink, t, 4 * head->nc, r->second.slice));
        rc = rc
             || lat_contract_slice(&r->job, r->first.slice,
                                   second ? r->second.slice : r->first.slice,
                                   r->own + (size_t)t * numbers);
    }
    rc = lat_agree(lat_opts.comm, rc ? -1 : 0);
    return rc || lat_feed_end(&r->first) || (second && lat_feed_end(&r->second))
                   || lat_field_gather(&r->first.f, r->own, numbers * sizeof(double), r->all)
               ? -1
               : 0;
}

/* ---- what a correlator is of ----------------------------------------------------------------- */

/* The operator of a propagator, with its links, or "unknown". To be freed. */
static char *operator_text(const lat_header *head)
{
    const lat_fermion *f = &head->quark.fermion;
    const char *smeared = lat_info_get(head, LAT_SMEARED_LINKS);
    const char *form = lat_info_get(head, LAT_INFO_PROPAGATOR);
    char text[LAT_FERMION_TEXT], *all;
    const int n = asprintf(&all, "%s%s%s%s%s",
                           lat_fermion_known(f) ? lat_fermion_text(f, text) : "unknown",
                           smeared ? ", links " : "", smeared ? smeared : "",
                           form ? ", propagator " : "", form ? form : "");
    return n < 0 ? NULL : all;
}

/* r->operators and r->source, as columns have them. */
static int describe(run *r)
{
    const lat_header *head = &r->first.f.head;
    char *a = operator_text(head), *b = second ? operator_text(&r->second.f.head) : NULL;
    free(r->operators);
    free(r->source);
    r->source = strdup(head->quark.source ? head->quark.source : "unknown");
    if (!a || (second && !b)
        || asprintf(&r->operators, "%s%s%s", a, b ? " | " : "", b ? b : "") < 0)
        r->operators = NULL;
    free(a);
    free(b);
    if (!r->operators || !r->source)
        return lat_fail("out of memory: the name of an operator");
    lat_make_plain(r->operators);
    lat_make_plain(r->source);
    return 0;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* PCAC has momentum 0 alone. */
static int momenta_of(const run *r, int c)
{
    return r->channel[c].kind == LAT_PCAC ? 1 : r->job.momenta;
}

/* n of px, py or pz. */
static double momentum_of(const run *r, int c, int m, int i)
{
    return r->channel[c].kind == LAT_PCAC ? 0 : r->momentum[m][i] + r->shift[c][i];
}

static void print_tsv(run *r, const char *file, long config)
{
    const int T = lat_slices(r->job.head);
    if (!r->headed)
        fprintf(r->text,
                "%sconfiguration\tchannel\tpx\tpy\tpz\tt\tre\tim\toperator\tsource\tsink"
                "\t" LAT_LATTICE_COLUMNS "\n",
                file ? "file\t" : "");
    r->headed = true;
    for (int c = 0; c < r->job.channels; c++)
        for (int m = 0; m < momenta_of(r, c); m++)
            for (int t = 0; t < T; t++) {
                double z[2];
                value(r, c, m, t, z);
                fprintf(r->text, "%s%s%ld\t%s", file ? file : "", file ? "\t" : "", config,
                        r->channel[c].name);
                for (int i = 0; i < 3; i++)
                    fprintf(r->text, "\t%.10g", momentum_of(r, c, m, i));
                fprintf(r->text, "\t%d", t);
                lat_numbers_tsv(r->text, 2, z);
                fprintf(r->text, "\t%s\t%s\t%s", r->operators, r->source, sink ? sink : "none");
                lat_lattice_tsv(r->text, &r->job.head->geom, r->job.head->nc);
                fputc('\n', r->text);
            }
}

static void json_values(const run *r, int c, int m, int part)
{
    double z[2];
    for (int t = 0; t < lat_slices(r->job.head); t++) {
        value(r, c, m, t, z);
        fputs(t ? ", " : "[", r->text);
        lat_json_number(r->text, z[part]);
    }
    fputc(']', r->text);
}

static void print_json(run *r, const char *file, long config)
{
    const lat_header *head = r->job.head;
    const char *before = "";
    fputc('{', r->text);
    if (file) {
        lat_json_key(r->text, true, "file");
        lat_json_string(r->text, file);
        fputs(", ", r->text);
    }
    fprintf(r->text, "\"configuration\": %ld", config);
    if (head->quark.source) {
        lat_json_key(r->text, false, "source");
        lat_json_string(r->text, head->quark.source);
    }
    if (lat_fermion_known(&head->quark.fermion))
        lat_json_pair(r->text, "mass", head->quark.fermion.mass);
    lat_json_key(r->text, false, "operator");
    lat_json_string(r->text, r->operators);
    if (sink) {
        lat_json_key(r->text, false, "sink");
        lat_json_string(r->text, sink);
    }
    if (*head->quark.links)
        fprintf(r->text, ", \"links_crc\": \"%s\"", head->quark.links);
    lat_lattice_json(r->text, &head->geom, head->nc);
    fputs(", \"correlators\": [", r->text);
    for (int c = 0; c < r->job.channels; c++)
        for (int m = 0; m < momenta_of(r, c); m++) {
            fprintf(r->text,
                    "%s{\"channel\": \"%s\", \"p\": [%.10g, %.10g, %.10g], \"re\": ", before,
                    r->channel[c].name, momentum_of(r, c, m, 0), momentum_of(r, c, m, 1),
                    momentum_of(r, c, m, 2));
            json_values(r, c, m, 0);
            fputs(", \"im\": ", r->text);
            json_values(r, c, m, 1);
            fputc('}', r->text);
            before = ", ";
        }
    fputs("]}\n", r->text);
}

/* ---- files ----------------------------------------------------------------------------------- */

static int next_second(run *r, long config)
{
    const int rc = second ? lat_feed_next(&r->second) : 1;
    if (rc == 0)
        return lat_fail("%s: expected a propagator for configuration %ld of the first quark, found "
                        "the end",
                        second, config);
    return rc < 0 || (second && check_pair(r)) ? -1 : 0;
}

static int configuration(run *r, const char *file, long config)
{
    if (next_second(r, config) || prepare(r) || describe(r) || find_links(r, config)
        || lat_feed_start(&r->first) || (second && lat_feed_start(&r->second)) || contract(r))
        return -1;
    finish(r);
    if (lat_print_opts.json)
        print_json(r, file, config);
    else
        print_tsv(r, file, config);
    return fflush(r->text) ? -1 : 0;
}

/* All propagators of a file. `name`: what the column has, or NULL. */
static int read_file(run *r, const char *path, const char *name)
{
    char links[sizeof r->first.f.head.quark.links] = "";
    long config = -1;
    int rc = -1;
    if (!(r->first.in = lat_input_open(path, lat_opts.comm)))
        return -1;
    while ((rc = lat_feed_next(&r->first)) > 0) {
        const char *now = r->first.f.head.quark.links;
        if (config < 0 || !*now || strcmp(now, links)) /* several masses or sources are of one */
            config++;
        snprintf(links, sizeof links, "%s", now);
        rc = configuration(r, name, config);
        lat_feed_free(&r->first);
        lat_feed_free(&r->second);
        if (rc)
            break;
    }
    lat_feed_free(&r->first);
    lat_input_close(r->first.in);
    r->first.in = NULL;
    return rc;
}

static int read_all(run *r)
{
    const char *const input[] = {lat_opts.input};
    const char *const *files = lat_opts.nfiles ? (const char *const *)lat_opts.files : input;
    const int n = lat_opts.nfiles ? lat_opts.nfiles : 1;
    int rc = (second && !(r->second.in = lat_input_open(second, lat_opts.comm)))
                     || (gauge_file && !(r->links.in = lat_input_open(gauge_file, lat_opts.comm)))
                 ? -1
                 : 0;
    for (int i = 0; rc == 0 && i < n; i++) {
        const char *path = files[i] && strcmp(files[i], "-") ? files[i] : NULL;
        char *name = n > 1 ? strdup(path ? path : "<stdin>") : NULL;
        if (n > 1 && !name)
            rc = lat_fail("out of memory: the name of a file");
        if (name)
            lat_make_plain(name);
        rc = rc ? rc : read_file(r, path, name);
        free(name);
    }
    const int more = rc == 0 && second ? lat_fields_more(r->second.in) : 0;
    if (more > 0)
        rc = lat_fail("%s: expected as many propagators as for the first quark, found more",
                      second);
    lat_input_close(r->second.in);
    return rc || more < 0 ? -1 : 0;
}

static void check_usage(void)
{
    if (lat_print_opts.tsv && lat_print_opts.json)
        lat_usage("--tsv and --json exclude each other");
    lat_usage_if_stdin_twice((const char *const[]){second, gauge_file}, 2);
    if (sink && !gauge_file)
        lat_usage("--sink smears with links: --gauge-file is needed");
    if (gauge_file && !sink && !second)
        lat_usage("--gauge-file is for --sink and --second");
    static const char *const of_sink[] = {"device", "gpus"};
    for (size_t i = 0; !sink && i < sizeof of_sink / sizeof *of_sink; i++)
        if (lat_opt_given(of_sink[i]))
            lat_usage("--%s is for --sink, whose smearing a GPU does", of_sink[i]);
}

int main(int argc, char **argv)
{
    run r = {.headed = false};
    lat_options_parse(&tool, argc, argv);
    check_usage();
    if ((device.choice != LAT_DEVICE_AUTO || device.gpus)
        && lat_device_begin(&device, lat_opts.comm)) /* else it is not sure that it is needed */
        return lat_report(LAT_FAILED);
    lat_output *out = lat_output_open(lat_print_opts.output, LAT_OUTPUT_TEXT, lat_opts.comm);
    r.text = out ? lat_text_open(out) : NULL;
    int rc = r.text ? read_all(&r) : -1;
    if (rc) {
        if (r.text)
            fclose(r.text);
        lat_output_abort(out);
    } else {
        rc = lat_text_close(r.text, out);
    }
    lat_source_free(r.sink);
    lat_smearer_end(&r.smearer);
    lat_device_end();
    lat_links_free(&r.links);
    free(r.channel);
    free(r.momentum);
    free(r.shift);
    free(r.own);
    free(r.all);
    free(r.operators);
    free(r.source);
    return rc ? lat_report(LAT_FAILED) : LAT_DONE;
}
