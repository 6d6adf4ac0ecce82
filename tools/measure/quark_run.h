/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_run.h: the run of lat-quark. Functions return 0, or -1 with lat_error set, unless they say
 * otherwise. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "quark/kinematics.h"
#include "quark/legs_mean.h"
#include "run/quark/feed.h"
#include "run/quark/links.h"

/* What is printed: S(p), vertices, vertices with the conserved current; of a mean with errors. */
typedef struct lat_quark_form {
    lat_legs_kind kind;
    bool mean;
} lat_quark_form;

typedef struct lat_quark_options {
    const char *second, *momenta, *gauge_file;
    double cylinder;
    bool vertex;
} lat_quark_options;
extern lat_quark_options lat_quark_opts;

typedef struct lat_quark_run {
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
} lat_quark_run;

extern lat_quark_form lat_quark_what; /* what is summed and printed */

static inline bool lat_quark_has_current(void) { return lat_quark_what.kind == LAT_PAIR_CURRENT; }

/* lat-quark.c: prints a momentum, and writes its legs, if it is within --cylinder. */
int lat_quark_emit(lat_quark_run *r, const lat_kinematics *k, const double *legs);

/* ---- quark_check.c --------------------------------------------------------------------------- */

/* Whole numbers plus theta/2 fit the boundary. */
int lat_quark_check_boundary(const lat_header *head, const char *name, const double n[4]);

/* In that gauge, and as near to it as is required? An exit code. */
int lat_quark_check_gauge(const lat_header *head, const char *name);

/* The momentum, or the place of a point source: 1 of a point, 0, or -1. */
int lat_quark_source(const lat_header *head, const char *name, const char *asked, double v[4]);

/* Refuses b, which is of another operator than a; `option` begins the sentence. 0 with --force. */
int lat_quark_different(const lat_header *a, const lat_header *b, const char *option,
                        const char *name);

/* Do the two of a vertex belong together? */
int lat_quark_check_pair(const lat_header *a, const lat_header *b, const char *name);

/* S(p) of two gauges is of two quantities. */
int lat_quark_same_gauge(const lat_header *a, const lat_header *b, const char *name);

/* The momenta of a point source. */
int lat_quark_momenta(lat_momenta *list, const lat_header *head, const char *name);

/* Is a momentum within --cylinder? */
static inline bool lat_quark_within(const lat_kinematics *k)
{
    return !(k->distance > lat_quark_opts.cylinder + 1e-6);
}

/* ---- quark_print.c --------------------------------------------------------------------------- */

/* Rows of one momentum, after the heading where it is time for it; errors e, or NULL. They end in
 * lattice, group and ensemble of the links, as head has them; of a mean it is the first one's. */
void lat_quark_tsv(FILE *to, const lat_header *head, long config, const lat_kinematics *k,
                   const double *v, const double *e);

/* An object up to its list of momenta; the object of one momentum. */
void lat_quark_json_begin(FILE *to, const lat_header *head, long config);
void lat_quark_json(FILE *to, const lat_kinematics *k, const double *v, const double *e);

/* ---- quark_sums.c ---------------------------------------------------------------------------- */

/* The links that the first propagator was made on. */
int lat_quark_find_links(lat_quark_run *r);

/* Emits S(p) or vertices of a momentum source, or S(p) of a point source at x. */
int lat_quark_from_momentum(lat_quark_run *r, const double n1[4], const double n2[4]);
int lat_quark_from_point(lat_quark_run *r, const double x[4]);
