/* SPDX-License-Identifier: BSD-3-Clause */
/* solution.h: M x = b for columns of x: solved batch by batch, certified, kept in a checkpoint.
 *
 * A column is done when its residual, computed by code that shares nothing with the solver
 * (certify/plain.h, certify/plain_gpu.h, certify/plain_overlap.h), is not above the wanted one. One
 * above it is solved further, with a lower target. Columns are the same bits whatever others run
 * beside them, and wherever a run was cut off and resumed (columns.h).
 *
 * x is in one place at a time, s->where. README.md says who may read it there, stage by stage. */
#pragma once

#include "columns.h"
#include "common/progress.h"
#include "certify/plain_gpu.h"
#include "overlap.h"
#include "certify/plain.h"
#include "wilson/wilson.h"
#include "writer.h"

typedef struct lat_solution_options {
    int solver;      /* lat_solver */
    double residual; /* |b - M x|/|b| that is wanted, */
    double slices;   /* and |b - M x|/|x| of each slice of time (below); 0: any */
    double delta;    /* of reliable updates; 0: the solver's */
    long max_iterations, batch /* columns side by side */;
} lat_solution_options;

/* Where the numbers of x are: on the host, in x; or on the device, in the mirror. */
typedef enum { LAT_X_HOST, LAT_X_DEVICE } lat_where;

/* What the solver says of a column, and what it took. */
typedef struct lat_solved {
    lat_solve_report report;
    lat_wilson_cost cost;
    int rounds, vectors; /* of the setup of the multigrid that solved it; or 0 */
} lat_solved;

typedef struct lat_solution {
    /* set by the caller */
    const lat_solution_options *how;
    const lat_fermion *fermion; /* of M, for messages */
    lat_plain *plain;           /* M by plain code, */
    lat_wilson *wilson;         /* and for the solver; */
    lat_overlap_pair overlap;   /* in place of both, where it is open */
    lat_mirror *mirror;         /* on a GPU, where a solution from zero may stay, and */
    lat_plain_gpu *plain_gpu;   /* M by plain code there; or NULL */
    lat_sections kept;          /* the checkpoint */
    char name[384];             /* of this solution, for the checkpoint */
    long field;                 /* number of the source among all, for messages */
    lat_field *b, *x;           /* with as many columns; x in double */
    lat_writer writer;          /* has the solution before */

    /* or NULL: called now and then while columns are solved, so that other work begins beside it */
    void (*meanwhile)(void *with);
    void *with;

    lat_where where;    /* of x */
    lat_solved *solved; /* of each column of x (lat_solution_reserve), */
    double *residual;   /* and its certified residual; NAN: not known as it is now */
    double slices;      /* the worst residual of a slice, where how->slices asked for one */
    int left;           /* columns that are not done, for progress */

    lat_rate rate;                      /* the rest is for solution.c */
    int of_batch[LAT_VECTOR_COLUMNS];   /* columns of the present batch, */
    const lat_solve_report *of_columns; /* and their reports, while it is solved */
} lat_solution;

/* Memory for what is known of each column of x: nothing yet. 0, or -1 with lat_error set. */
int lat_solution_reserve(lat_solution *s);
void lat_solution_unreserve(lat_solution *s);

/* Where a solution begins: at 0, at x, or it is there and is to be certified first. */
typedef enum { LAT_FROM_ZERO, LAT_FROM_X, LAT_SOLVED } lat_solution_start;

/* Solves and certifies these columns of x; what the checkpoint has is taken from there. b is
 * overwritten where a column does not converge. With a mirror all columns of x are asked for, and
 * those that are solved from zero stay there: s->where. LAT_DONE; or, with lat_error set,
 * LAT_UNCONVERGED, or LAT_FAILED, as also where the run was asked to stop. */
int lat_solution_solve(lat_solution *s, int columns, const int *column, lat_solution_start from);

/* Computes those residuals of these columns that are not known, where x is. 0, or -1. */
int lat_solution_certify(lat_solution *s, int columns, const int *column);

/* How many columns go side by side. */
int lat_solution_side_by_side(const lat_solution *s);

/* For those who solve by other means than lat_solution_solve:
 *   progress    lat_wilson_job.progress, with the solution; -1 where the run was asked to stop
 *   save        gives column c of x to the checkpoint, with its report and cost
 *   saved       1 and column c of x is that of the checkpoint; 0: it is not there; or -1
 */
int lat_solution_progress(void *solution, long iterations, int active, double ratio);
int lat_solution_save(lat_solution *s, int c);
int lat_solution_saved(lat_solution *s, int c);

/* solution_slices.c: brings these columns of x, which are solutions on the host, to s->how->slices.
 * LAT_DONE, LAT_UNCONVERGED or LAT_FAILED, with lat_error set. s->residual becomes unknown of
 * columns that change. */
int lat_solution_slices(lat_solution *s, int columns, const int *column);

/* A warning where x, on the host, has slices below 100 times its residual. 0, or -1. */
int lat_solution_look_far(const lat_solution *s, int columns, const int *column);
