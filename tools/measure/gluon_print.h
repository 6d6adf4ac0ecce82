/* SPDX-License-Identifier: BSD-3-Clause */
/* gluon_print.h: what lat-gluon prints of a configuration, or of the mean of several. */
#pragma once

#include <stdio.h>
#include "gluon/vertices.h"

typedef struct lat_gluon_report {
    long config; /* number of it, or how many were averaged */
    bool mean;
    const lat_gluon_momenta *m;
    const lat_gluon_cuts *cuts;
    const char *ensemble; /* lattice/ensemble.h */
    const char *gauge;
    int nc;
    double theta, square, link_trace;
    bool forced;                 /* it is not in the gauge */
    const lat_gluon_vertices *v; /* NULL: the propagator */
    lat_gluon_colours colours;
    double residual; /* theta of the residual gauge, of the worst phase; or 0 */
} lat_gluon_report;

/* As text, --tsv or --json; `in`: the configuration's input, NULL for a mean. An exit code. */
int lat_gluon_print(FILE *to, lat_input *in, const lat_gluon_report *r);
