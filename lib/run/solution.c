/* SPDX-License-Identifier: BSD-3-Clause */
/* solution.c: columns, batches, certified solutions. */
#include "solution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "stream/stream.h"

enum { ROUNDS = 4, NUMBERS = 7 };

/* ---- memory ---------------------------------------------------------------------------------- */

int lat_solution_reserve(lat_solution *s)
{
    const size_t columns = lat_header_objects(&s->x->head);
    s->report = lat_alloc(columns, sizeof *s->report, "reports");
    s->cost = lat_alloc(columns, sizeof *s->cost, "reports");
    s->true_residual = lat_alloc(columns, sizeof *s->true_residual, "residuals");
    s->of_batch = lat_alloc(columns, sizeof *s->of_batch, "columns");
    s->certified = lat_alloc(columns, sizeof *s->certified, "columns");
    s->known = lat_alloc(columns, sizeof *s->known, "columns");
    return s->report && s->cost && s->true_residual && s->of_batch && s->certified && s->known ? 0
                                                                                               : -1;
}

void lat_solution_unreserve(lat_solution *s)
{
    free(s->report);
    free(s->cost);
    free(s->true_residual);
    free(s->of_batch);
    free(s->certified);
    free(s->known);
    s->report = NULL;
    s->cost = NULL;
    s->true_residual = NULL;
    s->of_batch = NULL;
    s->certified = NULL;
    s->known = NULL;
}

/* |b - M x|/|b|, by code that shares nothing with the solver. */
static int residual_of(lat_solution *s, int columns, const int *column, double *found)
{
    return s->overlap.plain
               ? lat_plain_overlap_residual(s->overlap.plain, s->x, s->b, columns, column, found)
               : lat_plain_residual(s->plain, s->x, s->b, columns, column, found);
}

/* What the certificate of an earlier batch has found. */
static int take_certificate(lat_solution *s)
{
    lat_certificate *c = &s->certificate;
    if (lat_certificate_end(c))
        return -1;
    for (int i = 0; i < c->columns; i++) {
        s->true_residual[c->column[i]] = c->residual[i];
        s->known[c->column[i]] = true;
    }
    c->columns = 0;
    return 0;
}

/* Where the solution is. */
static int residuals(lat_solution *s, int columns, const int *column, double *found)
{
    return s->mirrored
               ? lat_plain_gpu_residual(s->plain_gpu, s->mirror, s->b, columns, column, found)
           : lat_field_exchange(s->x) ? -1
                                      : residual_of(s, columns, column, found);
}

/* x gets what is in the mirror, for somebody who reads it. */
static int land(lat_solution *s)
{
    if (s->mirrored && lat_mirror_get(s->mirror, s->x))
        return -1;
    s->mirrored = false;
    return 0;
}

/* The residuals that are not known yet. */
static int certify(lat_solution *s, int columns, const int *column)
{
    int list[LAT_MAX_COLUMNS], n = 0;
    double found[LAT_MAX_COLUMNS];
    for (int i = 0; i < columns; i++)
        if (!s->known[column[i]])
            list[n++] = column[i];
    if (n && residuals(s, n, list, found))
        return -1;
    for (int i = 0; i < n; i++) {
        s->true_residual[list[i]] = found[i];
        s->known[list[i]] = true;
    }
    return 0;
}

/* ---- a column -------------------------------------------------------------------------------- */

int lat_solution_save(lat_solution *s, const lat_field *x, int c)
{
    const lat_solve_report *p = &s->report[c];
    const double numbers[NUMBERS] = {
        (double)p->iterations, (double)p->updates, p->residual,     p->solver,
        s->cost[c].seconds,    s->cost[c].flops,   s->cost[c].bytes};
    return lat_columns_save(s->kept, s->name, x, c, numbers, NUMBERS);
}

int lat_solution_saved(lat_solution *s, lat_field *x, int c)
{
    double v[NUMBERS];
    const int rc = lat_columns_restore(s->kept, s->name, x, c, v, NUMBERS);
    if (rc <= 0)
        return rc;
    s->report[c] = (lat_solve_report){.iterations = (long)v[0],
                                      .updates = (long)v[1],
                                      .residual = v[2],
                                      .solver = (lat_solver)v[3],
                                      .end = LAT_END_CONVERGED};
    s->cost[c] = (lat_wilson_cost){v[4], v[5], v[6]};
    return 1;
}

/* Columns that the checkpoint has. */
static int restore(lat_solution *s, int columns, const int *column)
{
    for (int i = 0; i < columns; i++) {
        const int c = column[i], there = lat_solution_saved(s, s->x, c);
        if (there < 0)
            return -1;
        if (there) {
            s->certified[c] = true;
            s->left--;
        }
    }
    return 0;
}

/* A column has converged by the solver's word: if it has by ours, the checkpoint gets it. Costs of
 * a batch are known when it ends; those of the checkpoint are 0. */
static int column_done(void *with, int i)
{
    lat_solution *s = with;
    const int c = s->of_batch[i];
    if (certify(s, 1, &c))
        return -1;
    if (!(s->true_residual[c] <= s->how->residual))
        return 0;
    s->certified[c] = true;
    s->left--;
    s->report[c] = s->batch_report[i];
    return lat_solution_save(s, s->x, c);
}

bool lat_solution_asked(lat_solution *s)
{
    if (!s->stopped)
        s->stopped = lat_columns_asked(s->kept);
    return s->stopped != 0;
}

/* Could the solution before not be written? Then lat_error says why. */
static bool lost(lat_solution *s)
{
    return lat_behind_failed(&s->behind) && lat_solution_written(s) < 0;
}

int lat_solution_progress(void *solution, long iterations, int active, double ratio)
{
    lat_solution *s = solution;
    char left[LAT_LEFT];
    if (lat_solution_asked(s) || lost(s))
        return -1;
    if (s->meanwhile)
        s->meanwhile(s->with);
    const double digits = log10(ratio), rate = lat_rate_sample(&s->rate, -digits);
    lat_progress("residual %.1e  iteration %ld  %s  %d columns left  field %ld",
                 ratio * s->how->residual, iterations,
                 lat_left_text(rate > 0 && s->left <= active ? digits / rate : NAN, left), s->left,
                 s->field);
    return 0;
}

/* The host has nothing to do: the solution before is written. */
static int loaded(void *solution)
{
    lat_solution *s = solution;
    return lat_behind_begin(&s->behind);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* One batch: its columns, each with its target. */
static int solve_batch(lat_solution *s, int columns, const double *target, bool from_x)
{
    lat_solve_report report[LAT_SPINOR_COLUMNS];
    lat_wilson_cost cost[LAT_SPINOR_COLUMNS];
    const lat_wilson_job job = {.b = s->b,
                                .x = s->x,
                                .mirror = s->mirrored ? s->mirror : NULL,
                                .from_x = from_x,
                                .columns = columns,
                                .object = s->of_batch,
                                .target = target,
                                .solver = (lat_solver)s->how->solver,
                                .max_iterations = s->how->max_iterations,
                                .delta = s->how->delta,
                                .loaded = loaded,
                                .progress = lat_solution_progress,
                                .done = lat_columns_writes(s->kept) ? column_done : NULL,
                                .with = s};
    for (int i = 0; i < columns; i++) {
        report[i] = s->report[s->of_batch[i]];
        cost[i] = s->cost[s->of_batch[i]];
        s->known[s->of_batch[i]] = false;
    }
    s->batch_report = report;
    if (s->overlap.fast ? lat_overlap_solve(s->overlap.fast, &job, report, cost)
                        : lat_wilson_solve(s->wilson, &job, report, cost) || lost(s))
        return -1;
    for (int i = 0; i < columns; i++) {
        s->report[s->of_batch[i]] = report[i];
        s->cost[s->of_batch[i]] = cost[i];
    }
    return 0;
}

/* Columns side by side: the operator may have been opened for a source of fewer. */
static int side_by_side(const lat_solution *s)
{
    const lat_spinor_space *space = s->overlap.fast ? s->overlap.fast->space
                                                    : lat_wilson_operator(s->wilson)->space;
    return s->how->batch < space->columns ? (int)s->how->batch : space->columns;
}

/* All columns that are not certified, batch after batch; with s->beside the certificate of a batch
 * is made while the next one is solved. */
static int solve_columns(lat_solution *s, int columns, const int *column, const double *target,
                         bool from_x)
{
    double of_batch[LAT_SPINOR_COLUMNS];
    const int most = side_by_side(s);
    for (int i = 0; i < columns;) {
        int n = 0;
        for (; i < columns && n < most; i++)
            if (!s->certified[column[i]]) {
                s->of_batch[n] = column[i];
                of_batch[n++] = target[column[i]];
            }
        s->rate = (lat_rate){0};
        if (n && solve_batch(s, n, of_batch, from_x))
            return -1;
        if (n && s->beside && s->plain && !s->mirrored && !lat_columns_writes(s->kept)) {
            if (take_certificate(s))
                return -1;
            lat_certificate_begin(&s->certificate, s->plain, s->x, s->b, n, s->of_batch,
                                  i < columns);
        }
        if (!lat_columns_writes(s->kept))
            s->left -= n;
    }
    return 0;
}

/* |M x|/|x|: M has no singular value above it, so that a small one says that M is nearly singular.
 * b is overwritten. */
static int shrinkage(lat_solution *s, int c, double *ratio)
{
    const size_t columns = lat_header_objects(&s->x->head);
    if (!s->plain)
        return -1;
    if (lat_field_convert(s->b, LAT_F64) || lat_plain_apply(s->plain, false, s->x, 1, &c, s->b))
        return -1;
    const size_t n = lat_header_full_reals(&s->x->head);
    double sum[2] = {0, 0};
    const double *x = s->x->data, *y = s->b->data;
    for (size_t i = 0; i < lat_field_sites(s->x); i++)
        for (size_t k = 0; k < n; k++) {
            const size_t at = (i * columns + (size_t)c) * n + k;
            sum[0] += x[at] * x[at];
            sum[1] += y[at] * y[at];
        }
    if (s->x->comm && s->x->comm->sum(s->x->comm, sum, 2))
        return -1;
    *ratio = sum[0] > 0 ? sqrt(sum[1] / sum[0]) : NAN;
    return 0;
}

/* LAT_UNCONVERGED, with a sentence about column c. */
static int unconverged(lat_solution *s, int c, int columns, int good)
{
    const lat_solve_report *p = &s->report[c];
    char text[LAT_FERMION_TEXT], seen[160] = "";
    double ratio;
    const char *kept = lat_columns_keep(s->kept);
    if (shrinkage(s, c, &ratio) == 0 && ratio < .05)
        snprintf(seen, sizeof seen,
                 "; M makes a vector %.2g times as long, so it is near singular: is kappa at or "
                 "beyond the critical one?",
                 ratio);
    lat_fail("field %ld, column %d: expected a residual below %.3g, found %.3g after %ld "
             "iterations: %s %s (%d of %d columns converged, %s)%s%s%s%s",
             s->field, c, s->how->residual, s->true_residual[c], p->iterations,
             lat_solver_name(p->solver),
             p->end == LAT_END_CONVERGED ? "could not do better" : lat_end_text(p->end), good,
             columns, lat_fermion_text(s->fermion, text), seen, kept ? "; --resume " : "",
             kept ? kept : "", kept ? " with a larger --max-iterations goes on" : "");
    return LAT_UNCONVERGED;
}

int lat_solution_solve(lat_solution *s, int columns, const int *column, lat_solution_start from)
{
    const size_t all = lat_header_objects(&s->x->head);
    double *target = lat_alloc(all, sizeof *target, "targets");
    memset(s->certified, 0, all * sizeof *s->certified);
    memset(s->known, 0, all * sizeof *s->known);
    s->left = columns;
    s->mirrored = s->mirror && s->plain_gpu && from == LAT_FROM_ZERO
                  && lat_mirror_fits(s->mirror, &s->x->head);
    int code = target && restore(s, columns, column) == 0 ? LAT_UNCONVERGED : LAT_FAILED;
    for (int i = 0; i < columns && code != LAT_FAILED; i++)
        target[column[i]] = .95 * s->how->residual;
    for (int round = 0; round < ROUNDS && code == LAT_UNCONVERGED; round++) {
        int good = 0, worst = -1;
        const bool trusts = from == LAT_SOLVED && round == 0;
        const bool bad = !trusts
                         && solve_columns(s, columns, column, target,
                                          from != LAT_FROM_ZERO || round > 0);
        if (take_certificate(s) || bad || certify(s, columns, column)) {
            code = LAT_FAILED;
            break;
        }
        bool again = false;
        for (int i = 0; i < columns; i++) {
            const int c = column[i];
            const double now = s->true_residual[c];
            s->certified[c] = now <= s->how->residual;
            good += s->certified[c];
            if (s->certified[c])
                continue;
            if (worst < 0 || !(now <= s->true_residual[worst]))
                worst = c;
            target[c] *= trusts ? 1 : .5 * s->how->residual / now;
            again = again || s->report[c].end == LAT_END_CONVERGED
                    || (trusts && s->report[c].end != LAT_END_ITERATIONS);
        }
        s->left = columns - good;
        if (good == columns)
            code = LAT_DONE;
        else if (land(s))
            code = LAT_FAILED;
        else if (!again || round == ROUNDS - 1) {
            unconverged(s, worst, columns, good);
            break;
        }
    }
    free(target);
    return code;
}

/* ---- the end --------------------------------------------------------------------------------- */

int lat_solution_write(lat_solution *s, lat_output *out, int store, bool soon)
{
    if (!s->mirrored)
        return lat_solution_written(s) || lat_stream_write(out, s->x, store) ? -1 : 0;
    if (lat_behind_keep(&s->behind, out, &s->x->head, store, s->mirror))
        return -1;
    if (!lat_output_is_file(out)) /* a pipe takes one thread, and its time */
        return lat_behind_begin(&s->behind);
    return soon ? 0 : lat_behind_end(&s->behind);
}

int lat_solution_written(lat_solution *s)
{
    const int rc = lat_behind_end(&s->behind);
    s->lost = s->lost || rc < 0;
    return rc;
}

void lat_solution_expect(lat_solution *s, lat_output *out, int store)
{
    lat_behind_expect(&s->behind, out, &s->x->head, store);
}
