/* SPDX-License-Identifier: BSD-3-Clause */
/* corr.h: the run of lat-corr. Functions return 0, or -1 with lat_error set. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "quark/contract.h"
#include "quark/source.h"
#include "run/quark/feed.h"
#include "run/quark/links.h"
#include "run/quark/smearer.h"

typedef struct lat_corr_options {
    const char *channels, *momenta, *second, *sink, *gauge_file, *origin;
} lat_corr_options;
extern lat_corr_options lat_corr_opts;

typedef struct lat_corr_run {
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
    double *norm;      /* of own slices of both propagators, then of all slices of both: squares */
    char *operators;   /* of the quarks, " | " between two */
    char *source;
    bool warned;  /* that t counts from 0 */
    bool spread;  /* it was said that the source has no place */
    bool twisted; /* it was said that baryons are of one flavour */
} lat_corr_run;

/* ---- corr_check.c ---------------------------------------------------------------------------- */

/* Do the two belong together? */
int lat_corr_check_pair(const lat_corr_run *r);

/* What a channel gets at a boundary from all of its quarks together, as an angle in units of pi. */
double lat_corr_angle(const lat_corr_run *r, lat_channel_kind kind, int mu);

/* Are the boundaries known of which this angle is, and the flavours of baryons the quarks that are
 * there? */
int lat_corr_check_quarks(lat_corr_run *r);

/* Hadrons of quarks with twisted boundaries in space have other momenta: n + shift, abs(shift) at
 * most 1/2. PCAC has the derivative in time of momentum 0 alone. */
int lat_corr_shifts(lat_corr_run *r);

/* The site from which t and phases count: that of the source in the header, and where it has none
 * that of --origin. */
int lat_corr_place(lat_corr_run *r);

/* The residual of a solution bounds its error as a whole. Far from the source a heavy quark's
 * slices are smaller than that, and may be wrong in every digit: a warning where the bound is above
 * a hundredth of a slice. `norm` has the squares of all slices. */
void lat_corr_check_slices(const lat_feed *quark, const double *norm);

/* What a source on a whole slice cannot give. Of a wall, and of noise, hadrons of another momentum
 * than 0 have a mean of 0; the mean of noise^3, of which baryons are, is 0. */
int lat_corr_check_source(lat_corr_run *r);

/* ---- corr_print.c ---------------------------------------------------------------------------- */

/* The number of channel c, momentum m at t from the source. */
double *lat_corr_number(const lat_corr_run *r, int c, int m, int t);

void lat_corr_print_tsv(const lat_corr_run *r, long config);
void lat_corr_print_json(const lat_corr_run *r, long config);
