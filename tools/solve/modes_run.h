/* SPDX-License-Identifier: BSD-3-Clause */
/* modes_run.h: the run of lat-modes. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include "modes/modes.h"
#include "dirac/dirac.h"
#include "vector/temporal.h"
#include "run/quark/links.h"
#include "run/quark/modefile.h"
#include "run/quark/modestate.h"
#include "run/quark/subspace.h"
#include "smear/smear.h"
#include "wilson/wilson.h"

typedef struct lat_modes_tool_options {
    int matrix;
    bool largest;
    bool tsv;
    bool json;
    double residual;
    const char *smear_text;
} lat_modes_tool_options;

/* The operator in one precision: for one vector, and for batches. */
typedef struct lat_modes_tool_operator {
    lat_grid *grid;
    lat_space *one, *many;
    lat_dirac *d, *batch;
} lat_modes_tool_operator;

/* About A^-1, with --subspace. */
typedef struct lat_modes_tool_inverse {
    lat_subspace sub;
    lat_wilson *wilson;
    lat_field b, x; /* of a batch */
} lat_modes_tool_inverse;

typedef struct lat_modes_tool_run {
    lat_modes_tool_options o;
    lat_device *device;
    lat_output *out;
    FILE *text, *log;
    lat_links links;
    lat_smear smear;
    lat_field smeared; /* links of the operator, with --smear-links */
    lat_fermion fermion;
    lat_input *subspaces; /* of --subspace */
    int low, high;
    lat_sections kept;
    char name[80]; /* of the present search */

    /* the modes of the present links */
    lat_temporal *gauge;                   /* of all spaces, or NULL */
    lat_modes_tool_operator exact, single; /* single: with --precision single */
    lat_modes_tool_inverse inverse;
    lat_modes modes;
    lat_field v;                        /* as they are written */
    double *residual, *gap, *chirality; /* of the plain operator; [modes.count] */
} lat_modes_tool_run;

#define LAT_MODES_TOOL_COLUMNS \
    "configuration\tmode\tvalue\tresidual\tgap\tchirality\tdims\tgroup\tensemble"

static inline long lat_modes_tool_config(const lat_modes_tool_run *r)
{
    return r->links.number - 1;
}

/* Those of the operator. */
static inline const lat_field *lat_modes_tool_links(const lat_modes_tool_run *r)
{
    return r->o.smear_text ? &r->smeared : &r->links.u;
}

/* ---- modes_inverse.c ------------------------------------------------------------------------- */

/* Of the present links, by the next subspace: 0 or -1. invert, start: lat_modes_job's functions. */
int lat_modes_tool_open_inverse(lat_modes_tool_run *r, lat_device *on);
void lat_modes_tool_close_inverse(lat_modes_tool_run *r);
int lat_modes_tool_invert(void *with, const lat_part *p, lat_dfield *v, long *applications);
int lat_modes_tool_start(void *with, int first, const lat_part *p, lat_dfield *v);

/* ---- modes_certify.c ------------------------------------------------------------------------- */

/* What is measured of the modes is that of those on the host. */
int lat_modes_tool_fetch(lat_modes_tool_run *r);

/* ---- modes_write.c --------------------------------------------------------------------------- */

/* Writes or prints them: an exit code. */
int lat_modes_tool_write_modes(lat_modes_tool_run *r);
