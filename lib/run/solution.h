/* SPDX-License-Identifier: BSD-3-Clause */
/* solution.h: M x = b for columns of x, solved batch by batch, certified, and kept in a checkpoint.
 *
 * A column is done when its residual, computed by code that shares nothing with the solver
 * (certify/plain.h, certify/plain_overlap.h), is not above the wanted one. One above it is solved
 * further, with a lower target. Columns are the same bits whatever others run beside them, and
 * wherever a run was cut off and resumed (columns.h). */
#ifndef LAT_RUN_SOLUTION_H
#define LAT_RUN_SOLUTION_H

#include "behind.h"
#include "certificate.h"
#include "columns.h"
#include "common/io.h"
#include "common/progress.h"
#include "certify/plain_gpu.h"
#include "overlap.h"
#include "certify/plain.h"
#include "solve/wilson.h"

typedef struct lat_solution_options {
    int solver;      /* lat_solver */
    double residual; /* |b - M x|/|b| that is wanted */
    double delta;    /* of reliable updates; 0: the solver's */
    long max_iterations, batch /* columns side by side */;
} lat_solution_options;

typedef struct lat_solution {
    /* set by the caller */
    const lat_solution_options *how;
    const lat_fermion *fermion; /* of M, for messages */
    lat_plain *plain;           /* M by plain code, */
    lat_wilson *wilson;         /* and for the solver; */
    lat_overlap_pair overlap;   /* in place of both, where it is open */
    lat_columns *kept;          /* the checkpoint */
    char name[384];             /* of this solution, for the checkpoint */
    long field;                 /* number of the source among all, for messages */
    lat_field *b, *x;           /* with as many columns; x in double */
    lat_mirror *mirror;         /* on a GPU, where a solution from zero may stay, and */
    lat_plain_gpu *plain_gpu;   /* M by plain code there; or NULL */
    bool beside;                /* certify while the next columns are solved: on one rank, and where
                                 * the CPU has nothing else to do */

    /* or NULL: called now and then while columns are solved, so that other work begins beside it */
    void (*meanwhile)(void *with);
    void *with;

    /* of each column of x (lat_solution_reserve) */
    lat_solve_report *report;
    lat_wilson_cost *cost;
    double *true_residual;

    bool mirrored; /* the solution is in the mirror: x has no numbers */
    bool lost;     /* a solution could not be written; lat_error is about that */
    int left;      /* columns that are not done, for progress */
    int stopped;   /* the run was asked to stop, by this signal */

    bool *certified;             /* the rest is for solution.c */
    bool *known;                 /* true_residual is that of x as it is now */
    lat_certificate certificate; /* of the batch before, while a GPU has the present one */
    lat_behind behind;           /* writes the solution before */
    lat_rate rate;
    int *of_batch;                  /* columns of the present batch */
    lat_solve_report *batch_report; /* of them, while it is solved */
} lat_solution;

/* Memory for what is known of each column of x; forgets reports and costs of the columns. 0, or -1
 * with lat_error set. */
int lat_solution_reserve(lat_solution *s);
void lat_solution_unreserve(lat_solution *s);

/* Where a solution begins: at 0, at x, or it is there and is to be certified first. */
typedef enum { LAT_FROM_ZERO, LAT_FROM_X, LAT_SOLVED } lat_solution_start;

/* Solves and certifies these columns of x; what the checkpoint has is taken from there. b is
 * overwritten where a column does not converge. With a mirror all columns of x are asked for, and
 * nobody but lat_solution_write reads those that are solved from zero. LAT_DONE; or, with lat_error
 * set, LAT_UNCONVERGED, or LAT_FAILED, as also where the run was asked to stop. */
int lat_solution_solve(lat_solution *s, int columns, const int *column, lat_solution_start from);

/* Writes the solution, whole, with the header of x; `store` as in lat_stream_write. One that stays
 * on a GPU is written by a thread: into a pipe from here on; into a file beside the next solve,
 * where that begins soon, or at once. Until lat_solution_written has waited for that, the output is
 * used by functions of this header alone, and a solve fails soon if the one before cannot be
 * written. */
int lat_solution_write(lat_solution *s, lat_output *out, int store, bool soon);
int lat_solution_written(lat_solution *s);

/* Preallocates space for x as soon as nothing is written, lat_stream_preallocate. */
void lat_solution_expect(lat_solution *s, lat_output *out, int store);

/* For those who solve by other means than lat_solution_solve:
 *   progress    lat_wilson_job.progress, with the solution; -1 where the run was asked to stop
 *   save        gives column c of x to the checkpoint, with its report and cost
 *   saved       1 and column c of x is that of the checkpoint; 0: it is not there; or -1
 *   asked       has the run been asked to stop? All ranks call it. */
int lat_solution_progress(void *solution, long iterations, int active, double ratio);
int lat_solution_save(lat_solution *s, const lat_field *x, int c);
int lat_solution_saved(lat_solution *s, lat_field *x, int c);
bool lat_solution_asked(lat_solution *s);

#endif
