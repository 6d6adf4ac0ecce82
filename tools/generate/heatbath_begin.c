/* SPDX-License-Identifier: BSD-3-Clause */
/* heatbath_begin.c: the links that a run begins with: hot, cold, those of an input or of a
 * checkpoint. */
#include "heatbath.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/error.h"
#include "common/options.h"
#include "formats/fields.h"
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "run/common/tool.h"
#include "site/random.h"
#include "site/sun.h"

static lat_heatbath_options *const opts = &lat_heatbath_opts;

/* Numbers in info lines of the header; *value stays where there is no such line. */
static int read_real(const lat_header *head, const char *key, double *value)
{
    const char *text = lat_info_get(head, key);
    char rest;
    if (text && (sscanf(text, "%lf%c", value, &rest) != 1 || !(*value >= 0 && *value <= 1e6)))
        return lat_fail("info.%s: expected a number from 0 to 1e6, found '%.80s'", key, text);
    return 0;
}

static int read_int(const lat_header *head, const char *key, long max, long *value)
{
    const char *text = lat_info_get(head, key);
    char rest;
    if (text && (sscanf(text, "%ld%c", value, &rest) != 1 || *value < 0 || *value > max))
        return lat_fail("info.%s: expected a whole number from 0 to %ld, found '%.80s'", key, max,
                        text);
    return 0;
}

static int read_seed(const lat_header *head)
{
    const char *text = lat_info_get(head, "seed");
    unsigned long long v;
    char rest;
    if (text && sscanf(text, "%llu%c", &v, &rest) != 1)
        return lat_fail("info.seed: expected a whole number, found '%.80s'", text);
    if (text)
        opts->seed = v;
    return 0;
}

/* Options that were not given get the values of the header. */
static int read_all(lat_heatbath_run *r, const lat_header *head)
{
    const char *text = lat_info_get(head, "update");
    double stated;
    if (lat_anisotropy(head, &stated))
        return -1;
    if (!lat_opt_given("xi"))
        opts->xi = stated;
    if (!lat_opt_given("update") && text)
        opts->update = !strcmp(text, "metropolis");
    if (!lat_opt_given("precision"))
        opts->precision = head->real == LAT_F64;
    if (!lat_opt_given("rows"))
        opts->rows = head->reals / (2 * head->nc);
    r->number = -1;
    if ((!lat_opt_given("beta") && read_real(head, "beta", &opts->beta))
        || (!lat_opt_given("overrelax") && read_int(head, "overrelax", 1000, &opts->overrelax))
        || (!lat_opt_given("every") && read_int(head, "every", LAT_HEATBATH_SWEEPS, &opts->every))
        || (!lat_opt_given("seed") && read_seed(head))
        || read_int(head, "sweep", LAT_HEATBATH_SWEEPS, &r->sweep)
        || read_int(head, "sequence_number", 1L << 30, &r->number))
        return -1;
    if (opts->every < 1)
        return lat_fail("info.every: expected a number above 0");
    r->number++;
    return 0;
}

/* The last configuration of a stream. */
static int read_last(const char *path, lat_field *last)
{
    lat_input *in = lat_input_open(path, lat_opts.comm);
    lat_field f = {.data = NULL};
    int rc = in ? 1 : -1;
    while (rc > 0 && (rc = lat_fields_read_links(in, &f)) > 0) {
        lat_field_free(last);
        *last = f;
    }
    lat_input_close(in);
    return rc;
}

/* Takes what a checkpoint has beside a configuration. */
static int take_checkpoint(lat_heatbath_run *r)
{
    lat_header *head = &r->field.head;
    const char *text = lat_info_get(head, "checkpoint.run"),
               *state = lat_info_get(head, "checkpoint.state"),
               *of = lat_info_get(head, "checkpoint.of"); /* NULL in older ones */
    if (!text || !state || sscanf(state, "%ld %ld %ld", &r->number, &r->due, &r->written) != 3
        || r->number < 0 || r->written < 0 || r->due < r->sweep)
        return lat_fail("%s: expected a checkpoint of lat-heatbath, found a field that is none",
                        opts->resume);
    if (lat_resume_same(opts->resume, r->text, text))
        return -1;
    if (of && *r->of && strcmp(of, r->of) != 0)
        return lat_fail(
            "%s: expected the configuration that the run of the checkpoint began with, CRC %.8s, "
            "found CRC %s",
            lat_opts.input, of, r->of);
    if (of)
        snprintf(r->of, sizeof r->of, "%.8s", of);
    lat_info_remove(head, "checkpoint.run");
    lat_info_remove(head, "checkpoint.state");
    lat_info_remove(head, "checkpoint.of");
    return 0;
}

/* What says that these links are not thermal at the parameters of this run; NULL: they may be. */
static const char *not_thermal(const lat_header *head, char text[96])
{
    double was = NAN, stated = 1;
    if (read_real(head, "beta", &was) || lat_anisotropy(head, &stated))
        lat_error_clear(); /* read_all says it */
    if (lat_info_get(head, LAT_INFO_FLOW_TIME) || lat_info_get(head, LAT_INFO_SMEARING))
        return "have flowed or were smeared";
    if (lat_info_get(head, LAT_INFO_PROJECTION))
        return "are a projection";
    if (isnan(was))
        return "do not say that they were made with this beta";
    if ((!lat_opt_given("beta") || was == opts->beta)
        && (!lat_opt_given("xi") || stated == opts->xi))
        return NULL;
    snprintf(text, 96, "were made with beta %.15g, xi %.15g", was, stated);
    return text;
}

/* Is the input there? A checkpoint does without. */
static int find_input(bool *there)
{
    double gone = lat_opts.comm->rank == 0 && opts->resume && access(lat_opts.input, F_OK) != 0;
    if (lat_opts.comm->max(lat_opts.comm, &gone, 1))
        return -1;
    if (gone != 0)
        lat_warn("%s: cannot be found, and is not compared with what %s began with", lat_opts.input,
                 opts->resume);
    *there = gone == 0;
    return 0;
}

/* Reads the checkpoint, or the last configuration of the input. Beside a checkpoint the input is
 * read for its CRC alone. */
static int read_first(lat_heatbath_run *r)
{
    bool there = false;
    if (opts->continued && find_input(&there))
        return -1;
    if (there) {
        if (read_last(lat_opts.input, &r->field))
            return -1;
        memcpy(r->of, r->field.head.read_crc, sizeof r->of);
    }
    if (!opts->resume)
        return 0;
    lat_field_free(&r->field);
    return read_last(opts->resume, &r->field);
}

/* --group and --dims, where they are given, are those of the configuration. */
static int expect_lattice(const lat_header *head)
{
    lat_header asked = {.nc = lat_opt_given("group") ? (int)opts->group : head->nc,
                        .geom = lat_opt_given("dims") ? opts->geom : head->geom};
    char a[64], b[64];
    return lat_header_alike(&asked, head)
               ? 0
               : lat_fail("%s: expected SU(%d) on %s as --group and --dims say, found SU(%d) on %s",
                          opts->resume ? opts->resume : lat_filter_name(), asked.nc,
                          lat_dims_text(&asked.geom, a), head->nc, lat_dims_text(&head->geom, b));
}

int lat_heatbath_go_on(lat_heatbath_run *r)
{
    lat_header *head = &r->field.head;
    if (read_first(r) || expect_lattice(head))
        return -1;
    char text[96];
    const char *other = opts->resume || lat_opt_given("thermalise") ? NULL
                                                                    : not_thermal(head, text);
    if (lat_boundary_closed(head, -1, "heat bath", opts->resume ? opts->resume : lat_opts.input))
        return -1;
    lat_header_ungauge(head);
    lat_header_unflow(head);
    lat_info_remove(head, LAT_INFO_SMEARING);
    lat_info_remove(head, LAT_INFO_PROJECTION);
    lat_info_remove(head, LAT_INFO_NOT_IN_GROUP);
    if (read_all(r, head) || (opts->resume && take_checkpoint(r)))
        return -1;
    if (!opts->resume && !lat_opt_given("seed") && !isnan(opts->beta)
        && (!lat_info_get(head, "seed") || !lat_info_get(head, "sweep")))
        return lat_fail_usage("--seed is needed: %s does not say with which random numbers it was "
                              "made, and each run wants its own",
                              lat_filter_name());
    if (other)
        lat_warn("goes on without sweeps to thermalise, from links that %s: expected --thermalise "
                 "(0: none)",
                 other);
    r->other = head->real != (opts->precision ? LAT_F64 : LAT_F32)
               || (!opts->resume && opts->thermalise > 0);
    return lat_field_convert(&r->field, opts->precision ? LAT_F64 : LAT_F32);
}

int lat_heatbath_begin(lat_heatbath_run *r)
{
    lat_header *head = &r->field.head;
    strcpy(r->of, "none");
    head->geom = opts->geom;
    head->nc = (int)opts->group;
    head->real = opts->precision ? LAT_F64 : LAT_F32;
    head->reals = 2 * head->nc * head->nc;
    if (lat_header_check(head, "--dims") || lat_field_alloc(&r->field, lat_opts.comm))
        return -1;
    const size_t links = lat_field_matrices(&r->field), nd = (size_t)head->geom.nd;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < links; i++) {
        double m[LAT_SUN_REALS];
        if (opts->start == LAT_HEATBATH_COLD)
            lat_sun_one((int)opts->group, m);
        else
            lat_sun_haar((int)opts->group, m, opts->seed,
                         lat_field_site(&r->field, i / nd) * nd + i % nd, 0, LAT_FOR_LINKS);
        lat_field_put(&r->field, i, m);
    }
    return 0;
}
