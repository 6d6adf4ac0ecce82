/* SPDX-License-Identifier: BSD-3-Clause */
/* wilson.h: M x = b for the Wilson-clover operator of lib/dirac: two precisions, even-odd
 * preconditioning, host fields in and out.
 *
 *     lat_wilson *w = lat_wilson_open(device, &links, &fermion, &options);
 *     lat_wilson_solve(w, &job, report);
 *     lat_wilson_close(w);
 *
 * With even-odd preconditioning the Schur complement is solved on the odd sites. Targets are those
 * of the equation M x = b: of the asymmetric complement |b - M x| is the residual, of the symmetric
 * one it is up to the norm of its diagonal blocks larger. Whether x is a solution is for the caller
 * to judge (certify/plain.h). Functions return 0 or a pointer, or -1 or NULL with lat_error set;
 * all ranks of the device call them. */
#pragma once

#include "dirac/dirac.h"
#include "grid/device.h"
#include "multigrid/multigrid.h"
#include "solve/krylov.h"

typedef struct lat_wilson_options {
    int columns;         /* side by side, at most LAT_VECTOR_COLUMNS */
    lat_dirac_form form; /* LAT_FULL: no even-odd preconditioning */
    lat_storage inner;   /* of the iterations; the outer precision is double */
    bool multigrid;      /* LAT_SOLVER_MG is wanted, or AUTO may take it (multigrid.h says where
                          * it can be); iterations are in single */
    lat_multigrid_options setup;  /* of it; columns of all masses for which it would be made, 0:
                                   * those side by side */
    double made_mass, made_twist; /* that it is made for: the least mass of those to come, so that
                                   * it is the same whichever needs it first */
    lat_dirac_options dirac;
} lat_wilson_options;

typedef struct lat_wilson lat_wilson;

/* The ghosts of the links are up to date. Device and links are borrowed. */
lat_wilson *lat_wilson_open(lat_device *device, const lat_field *links, const lat_fermion *fermion,
                            const lat_wilson_options *options);
void lat_wilson_close(lat_wilson *w); /* NULL is allowed */

/* The operator in double, and its space: for tools that apply it. */
lat_dirac *lat_wilson_operator(lat_wilson *w);

/* Solutions of lat_wilson_solve get their part in the space of these modes directly (deflation.h),
 * by conjugate gradients: modes of gamma5 M, or with even-odd preconditioning, which is asymmetric
 * then, of gamma5 S; `square`: of M^+ M, S^+ S. They are copied. Sentences begin with `name`. */
int lat_wilson_deflate(lat_wilson *w, const lat_field *modes, bool square, const char *name);

/* The multigrid, which LAT_SOLVER_MG makes with its first job; NULL: there is none. */
lat_multigrid *lat_wilson_multigrid(const lat_wilson *w);

/* It is made, if it is not there. 0, or -1. */
int lat_wilson_make_multigrid(lat_wilson *w);

/* Another operator of the same links, which differs in mass and twist alone, goes on with it: it
 * is taken away (NULL: there was none), to be closed or given to that one. 0; or -1, and it is
 * closed. */
lat_multigrid *lat_wilson_give_multigrid(lat_wilson *w);
int lat_wilson_take_multigrid(lat_wilson *w, lat_multigrid *m);

/* How many columns could not be solved in half precision, and went on in single. */
long lat_wilson_promoted(const lat_wilson *w);

typedef struct lat_wilson_job {
    const lat_field *b;        /* spinors or propagators of the links' lattice */
    lat_field *x;              /* gets the solutions; where to start if `from_x` */
    struct lat_mirror *mirror; /* or NULL: gets them in place of x, which is as before */
    bool from_x;
    int columns;          /* at most those of the options */
    const int *object;    /* [columns]: which objects of b and x */
    const double *target; /* [columns]: |b - M x|/|b| that is asked for */
    lat_solver solver;
    long max_iterations; /* of each column, those in its report counted */
    double delta;        /* of reliable updates; 0: the default */

    /* As in krylov.h. When `done` is called, x has that column. Columns are numbers in `object`. */
    int (*progress)(void *with, long iterations, int active, double ratio);
    int (*done)(void *with, int column);
    /* lat_wilson_solve: what is solved is on the device, the host is free. -1 ends the solve. */
    int (*loaded)(void *with);
    void *with;
} lat_wilson_job;

/* What a column took, beside its report. Columns share time and traffic by their applications of
 * the operator. */
typedef struct lat_wilson_cost {
    double seconds, flops, bytes; /* seconds: without host fields going in and out */
} lat_wilson_cost;

/* report[column] is as in krylov.h, but `residual` is relative to |b|; cost[column] is added to
 * (NULL: not wanted). */
int lat_wilson_solve(lat_wilson *w, const lat_wilson_job *job, lat_solve_report *report,
                     lat_wilson_cost *cost);

/* (M + i twist[j] gamma5) x[j] = b for several twisted masses, at most LAT_WILSON_TWISTS, in any
 * order, in one Krylov space: with gamma5 M gamma5 = M^+ it is
 *
 *     x = gamma5 M z - i mu z,    (M^+ M + mu^2) z = gamma5 b,
 *
 * a family of shifts (krylov.h, lat_multishift). w is opened with LAT_FULL and no twist; all is in
 * double, and a device has two fields more for each twist. x[j] gets the columns; of the job `x`,
 * `from_x`, `solver`, `delta` and `done` are not used, and the target is that of the smallest
 * twist. The rest is as above. */
#define LAT_WILSON_TWISTS 64
int lat_wilson_twists(lat_wilson *w, const lat_wilson_job *job, int twists, const double *twist,
                      lat_field *const *x, lat_solve_report *report, lat_wilson_cost *cost);
