/* SPDX-License-Identifier: BSD-3-Clause */
/* quark_run.h: the run of lat-quark. */
#ifndef LAT_QUARK_RUN_H
#define LAT_QUARK_RUN_H

#include "quark/legs_mean.h"
#include "quark_report.h"
#include "run/feed.h"
#include "run/links.h"

typedef struct lat_quark_options {
    const char *second;
    const char *momenta;
    const char *gauge_file;
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

/* ---- quark_sums.c ---------------------------------------------------------------------------- */

/* The links that the first propagator was made on. */
int lat_quark_find_links(lat_quark_run *r);

int lat_quark_from_momentum(lat_quark_run *r, const double n1[4], const double n2[4]);

int lat_quark_from_point(lat_quark_run *r, const double x[4]);

#endif
