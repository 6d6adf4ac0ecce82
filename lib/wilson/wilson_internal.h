/* SPDX-License-Identifier: BSD-3-Clause */
/* wilson_internal.h: the struct behind wilson.h, and what multigrids add to a job. */
#pragma once

#include "solve/deflation.h"
#include "vector/temporal.h"
#include "wilson/wilson.h"

/* How BiCGstab goes, from which AUTO decides whether a multigrid pays for a column. */
enum { LAT_WILSON_WATCHED = 1600 };
typedef struct lat_wilson_watch {
    double digits[LAT_WILSON_WATCHED + 1]; /* log of |r| over its target, after each iteration */
    bool chosen;                           /* the multigrid */
} lat_wilson_watch;

/* One precision. */
typedef struct lat_wilson_level {
    lat_grid *grid, *grid_of_x;
    lat_space *space, *of_x; /* of_x: NULL, or of solutions of half, in single */
    lat_dirac *d;
    lat_system system, light; /* of S for multigrids, where form is not that: the asymmetric one */
    lat_dirac_form form;
    double flops, sites;                /* of an application; sites that it goes over */
    double applied[LAT_VECTOR_COLUMNS]; /* applications a column */
    double bytes;                       /* of all */
} lat_wilson_level;

struct lat_wilson {
    lat_wilson_options options;
    lat_wilson_level outer, inner; /* of inner only the form is set if it is the outer one */
    lat_wilson_level spare;        /* in single, where half does not do; made when needed */
    lat_wilson_level wide;         /* of the multigrid, where inner is in half or has few columns */
    lat_device *device;
    const lat_field *links;
    lat_field box; /* of them, for all levels, where ranks have boxes */
    lat_fermion fermion;
    lat_temporal *gauge; /* of all spaces; NULL: that of the links */
    long promoted;       /* columns that needed it */
    lat_dfield *b, *x;
    lat_deflation *deflation;                   /* or NULL */
    lat_multigrid *multigrid;                   /* or NULL */
    lat_wilson_watch watch[LAT_VECTOR_COLUMNS]; /* of the job's columns */
    bool told;                                  /* -v has said what the first column promises */
    const lat_wilson_job *job;                  /* while it runs */
};

/* One precision. 0, or -1 with lat_error set; lat_wilson_level_close in either case. */
int lat_wilson_level_open(lat_wilson_level *l, const lat_wilson *w, const lat_fermion *f,
                          lat_storage storage, int columns);
void lat_wilson_level_close(lat_wilson_level *l);

/* AUTO, while BiCGstab is at work (krylov.h, `leaves`): does the multigrid go on with the column?
 */
bool lat_wilson_leaves(void *wilson, int column, long iterations, double ratio);

/* Solves by a multigrid the columns that have left for it, or all of LAT_SOLVER_MG, from where they
 * are. norm: |b|. */
int lat_wilson_light(lat_wilson *w, const lat_equation *problem, const double *norm,
                     lat_solve_report *report);

/* Of the symmetric complement: the order of |A_oo|, by which its residuals are smaller; else 1. */
double lat_wilson_scale(const lat_wilson *w);
