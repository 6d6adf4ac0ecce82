/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_run.h: the run of lat-dirac. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "formats/fields.h"
#include "run/quark/links.h"
#include "run/quark/overlap.h"

typedef struct lat_dirac_tool_options {
    bool identify;
    double residual, slices; /* slices: of each slice of time; 0: not asked for */
    const char *source_text;
    const char *source_file;
    const char *save;
} lat_dirac_tool_options;

typedef struct lat_dirac_tool_run {
    lat_dirac_tool_options o;
    lat_input *in, *sources;
    lat_output *out, *saved; /* saved: of --save, or NULL */
    FILE *text;
    lat_links links;
    lat_fermion fermion; /* of the options */
    lat_overlap_known known;
    lat_device *device;
    double *norms; /* of slices of the present field, for --residual-slices */
    long field;
    long config;  /* the number that noise of the present source depends on */
    bool counted; /* it does, and its text does not say the number */
} lat_dirac_tool_run;

/* ---- lat-dirac.c ----------------------------------------------------------------------------- */

static inline const char *lat_dirac_tool_name(const lat_dirac_tool_run *r)
{
    return lat_input_name(r->in);
}

static inline bool lat_dirac_tool_overlap(const lat_fermion *f)
{
    return !strcmp(f->name, "overlap");
}

/* The links of the operator for x. NULL with lat_error set. */
const lat_field *lat_dirac_tool_links(lat_dirac_tool_run *r, const lat_field *x);

/* The numbers of columns: 0, 1, 2, .. */
extern int lat_dirac_tool_column[LAT_MAX_COLUMNS];

/* |b - D x|/|b| of what the header says x is made of. 0 or -1. */
int lat_dirac_tool_check_overlap(lat_dirac_tool_run *r, const lat_field *x, const lat_fermion *f,
                                 const lat_field *b, double *found);

/* ---- dirac_check.c --------------------------------------------------------------------------- */

/* Do the options name an operator? */
bool lat_dirac_tool_stated(const lat_dirac_tool_run *r);

/* Prints the residuals of x: an exit code. */
int lat_dirac_tool_check_one(lat_dirac_tool_run *r, lat_field *x);

/* ---- dirac_identify.c ------------------------------------------------------------------------ */

/* Prints what is found about x: 0 or -1. */
int lat_dirac_tool_identify_one(lat_dirac_tool_run *r, lat_field *x);
