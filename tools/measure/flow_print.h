/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_print.h: what lat-flow has measured of one configuration, and how it prints that. */
#pragma once

#include <stdio.h>
#include "common/io.h"
#include "flow/flow.h"
#include "flow/scales.h"
#include "lattice/ensemble.h"

enum { FLOW_CLOVER, FLOW_PLAQUETTE, FLOW_KINDS };

typedef struct flow_report {
    lat_geometry geom;
    char ensemble[LAT_ENSEMBLE_TEXT];
    const char *action;
    int nc, rows;
    int first, last; /* the slices that are measured */
    bool window;     /* --slices */
    bool scales_alone, by_slice;
    double *t, *density[FLOW_KINDS]; /* [rows] */
    lat_flow_measured *at;           /* [rows] */
    lat_flow_measured *slice;        /* [rows][slices of the lattice] */
    double *slope;                   /* by_slice: W, the same; flow_print makes it */
    lat_flow_scales scales[FLOW_KINDS];
    long steps, rejected;
} flow_report;

static inline int flow_report_slices(const flow_report *m) { return m->geom.dims[m->geom.nd - 1]; }

/* As configuration `config` of `in`. An exit code. */
int flow_print(flow_report *m, lat_input *in, FILE *to, long config);

void flow_report_free(flow_report *m);
