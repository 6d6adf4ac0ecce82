/* SPDX-License-Identifier: BSD-3-Clause */
/* heatbath.h: the run of lat-heatbath. */
#pragma once

#include <stdio.h>
#include "common/progress.h"
#include "generate/generate.h"
#include "grid/device.h"
#include "lattice/field.h"
#include "run/common/resume.h"

enum { LAT_HEATBATH_HOT, LAT_HEATBATH_COLD };
#define LAT_HEATBATH_SWEEPS ((1L << 28) - 1) /* the counter of random numbers has 28 bits */

typedef struct lat_heatbath_options {
    lat_geometry geom;
    int start;
    int update;
    int precision;
    long group;
    long overrelax;
    long thermalise;
    long every;
    long rows;
    uint64_t seed;
    double beta;
    double xi;
    bool continued;
    const char *resume;
} lat_heatbath_options;
extern lat_heatbath_options lat_heatbath_opts;

typedef struct lat_heatbath_run {
    lat_device *device;
    lat_generator *gen;
    bool numbered;   /* files, not a stream */
    lat_output *out; /* the stream, or the file of the next configuration */
    FILE *log;
    lat_field field;
    long sweep;   /* done so far, since the start of the first run */
    long number;  /* of the next configuration, */
    long due;     /* and the sweep after which it is written */
    long written; /* configurations of this run */
    bool other;   /* continues with other parameters than those of the header */
    double plaquette;
    char *text;        /* the options of the run (run/common/resume.h) */
    char of[9];        /* CRC of the configuration that it began with, or "none" */
    bool kept;         /* the file of --checkpoint is one of this run */
    double saved;      /* time of the last checkpoint */
    int stopped;       /* the signal by which the run was asked to stop, or 0 */
    lat_rate rate;     /* of sweeps */
    long measured;     /* sweep of the plaquette, */
    double cost, when; /* seconds that it took, and when */
} lat_heatbath_run;

/* ---- heatbath_begin.c ------------------------------------------------------------------------ */

/* From the last configuration of the input, or from a checkpoint. */
int lat_heatbath_go_on(lat_heatbath_run *r);

/* Hot or cold links. */
int lat_heatbath_begin(lat_heatbath_run *r);
