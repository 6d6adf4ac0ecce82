/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost_measured.h: what lat-ghost measures of a configuration. */
#pragma once

#include <stdio.h>
#include "ghost/ghost.h"
#include "measure/measure.h"

/* A row: a momentum, or a mode of a slice. */
typedef struct lat_ghost_row {
    int n[LAT_MAX_DIMS], slice, mode;
    double k2, value, residual; /* value: G, or lambda */
} lat_ghost_row;

typedef struct lat_ghost_measured {
    const char *momenta, *point; /* of the options */
    bool all_orbits;
    long modes;
    const lat_field *f;
    lat_condition c;
    lat_gauge_state state;
    lat_ghost *m;
    long config;
    lat_ghost_row *rows;
    int count;
    lat_ghost_report report; /* iterations of all */
    double *b, *x, *number;  /* two vectors; number[units * columns] */
} lat_ghost_measured;

/* ghost_momenta.c: a row for each momentum of the options. 0 or -1. */
int lat_ghost_momenta(lat_ghost_measured *m);

/* ghost_print.c: as text, --tsv or --json. An exit code. */
int lat_ghost_print(FILE *to, lat_input *in, const lat_ghost_measured *m);
