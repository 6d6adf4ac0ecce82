/* SPDX-License-Identifier: BSD-3-Clause */
/* inverter.h: the operator of lat-solve for some links, as its options say: the one that solves, on
 * a device, and the plain one that certifies; with modes of files. */
#pragma once

#include <stdio.h>
#include <string.h>
#include "run/common/device_options.h"
#include "links.h"
#include "overlap.h"
#include "smear/smear.h"
#include "solution.h"

enum { LAT_INVERTER_BATCH = 16 }; /* columns side by side, at most, unless told */

typedef enum { LAT_INNER_AUTO = -1, LAT_INNER_SINGLE, LAT_INNER_DOUBLE, LAT_INNER_HALF } lat_inner;

enum { LAT_EVEN_ODD_SYMMETRIC, LAT_EVEN_ODD_ASYMMETRIC, LAT_EVEN_ODD_NONE };

typedef struct lat_inverter_options {
    lat_solution_options how; /* its batch becomes what the memory takes */
    int precision;            /* of the iterations, a lat_inner */
    int even_odd;             /* which Schur complement, LAT_EVEN_ODD_SYMMETRIC .. */
    long reals;               /* a link; 0: as few as the links allow */
    double memory;            /* of the device, GB; 0: what is free there */
    const char *smearing;     /* of the links of the operator; or NULL */
    lat_smear smear;          /* the same */
    lat_device_options device;
} lat_inverter_options;

typedef struct lat_inverter {
    lat_inverter_options *o;
    lat_device *device;
    lat_fermion fermion;
    double twist[LAT_WILSON_TWISTS];
    int twists;              /* 0: one, that of fermion */
    int masses;              /* of the operator, of which fermion has one; 0: one */
    double lightest;         /* the least of them */
    int columns, *column;    /* those that are wanted; 0: all */
    int fields;              /* sources that come on each configuration; 0: nobody knows */
    bool whole;              /* x is solved whole, from zero, and read by its writer alone */
    lat_links links;         /* of the input, or of a file of their own */
    long taken;              /* the number of the links that lat_inverter_take_links has seen */
    lat_field smeared;       /* those of the operator, where they are smeared */
    lat_input *modes;        /* that deflate; or NULL */
    char deflation[128];     /* "24 modes of gamma5 S up to 0.01, CRC 89abcdef", or "" */
    lat_input *subspaces;    /* of multigrids; or NULL */
    char subspace[9];        /* the CRC of the present one, or "" */
    lat_overlap_known known; /* of --modes */
    int wide;                /* columns that the operator was opened for */
    lat_solution s;          /* the present one; its operator is for these links and `fermion` */
    lat_field *of_twist;     /* x of each twist */
} lat_inverter;

/* The number of the present links in their file, from 0 on. */
static inline long lat_inverter_config(const lat_inverter *v) { return v->links.number - 1; }

static inline bool lat_inverter_overlap(const lat_inverter *v)
{
    return !strcmp(v->fermion.name, "overlap");
}

/* The present links, if they are new ones: opens the device, if it is not, and looks whether they
 * have the gauge and the boundary of the operator; smears them. 0, or -1 with lat_error set. */
int lat_inverter_take_links(lat_inverter *v);

/* Those of M. */
const lat_field *lat_inverter_links(const lat_inverter *v);

/* The device; or, where it was chosen by itself and cannot do it, the CPU. */
lat_device *lat_inverter_device(lat_inverter *v, const lat_field *links);

/* Operator and plain operator, of v->s, for the present links and fermion. 0, or -1 with lat_error
 * set. */
int lat_inverter_open(lat_inverter *v);   /* with the multigrid of a file, if there is one */
void lat_inverter_close(lat_inverter *v); /* none open: nothing */

/* Closes all but the device, of what was opened here; where solutions stay, too, once they are
 * written. */
void lat_inverter_end(lat_inverter *v);

/* Columns side by side of so many: at most LAT_INVERTER_BATCH, or what --batch says;
 * lat_inverter_batch may take fewer. */
int lat_inverter_wide(lat_inverter *v, int columns);

/* --batch, or as many of o->columns as the device's memory takes: into v->o and *o. 0, or -1 with
 * lat_error set. */
int lat_inverter_batch(lat_inverter *v, lat_device *on, size_t modes, lat_wilson_options *o);

/* The columns that are wanted of v->s.x, and how many. */
int lat_inverter_columns(const lat_inverter *v, int *list);

/* Makes v->s.name, by which the checkpoint knows the columns. */
void lat_inverter_name(lat_inverter *v);

/* 1: the output has all solutions for the source v->s.b, which is counted; 0: it has not; or -1. */
int lat_inverter_written(lat_inverter *v);

/* twists.c, a source for several twisted masses: v->of_twist[j], fields like v->s.x, get the
 * columns for v->twist[j]: what the checkpoint has, the rest batch by batch in one Krylov space.
 * Reports and costs, which twists share, are those of v->s; v->s.x is one of these fields then.
 * Residuals are for the caller to certify; v->s has no operator then. 0, or -1 with lat_error set.
 * lat_twists_free, in either case, frees the fields. */
int lat_twists_solve(lat_inverter *v);
void lat_twists_free(lat_inverter *v);

/* result.c: the names of the log's columns; a line for each of these columns of v->s; log NULL:
 * nothing. */
extern const char lat_result_log_head[];
void lat_result_log(const lat_inverter *v, FILE *log, int columns, const int *column);

/* Writes v->s.x, or these columns of it where some are wanted (v->columns); of an overlap operator
 * in the form `form` of lat_propagator. `soon` as in lat_writer_put. x and its header are as before
 * then, for the next mass to begin with. 0, or -1 with lat_error set. */
int lat_result_write(lat_inverter *v, int form, int columns, const int *column, bool soon);
