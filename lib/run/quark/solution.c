/* SPDX-License-Identifier: BSD-3-Clause */
/* solution.c: columns, batches, certified solutions. */
#include "solution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"

enum { ROUNDS = 4, NUMBERS = 9 };

/* ---- memory ---------------------------------------------------------------------------------- */

int lat_solution_reserve(lat_solution *s)
{
    const size_t columns = lat_header_objects(&s->x->head);
    s->solved = lat_alloc_zero(columns, sizeof *s->solved, "reports");
    s->residual = lat_alloc(columns, sizeof *s->residual, "residuals");
    return s->solved && s->residual ? 0 : -1;
}

void lat_solution_unreserve(lat_solution *s)
{
    LAT_FREE(s->solved, s->residual);
    s->solved = NULL;
    s->residual = NULL;
}

/* ---- certified columns ----------------------------------------------------------------------- */

static bool is_good(const lat_solution *s, int c) { return s->residual[c] <= s->how->residual; }

/* |b - M x|/|b|, by code that shares nothing with the solver. */
static int residuals(lat_solution *s, int columns, const int *column, double *found)
{
    if (s->where == LAT_X_DEVICE)
        return lat_plain_gpu_residual(s->plain_gpu, lat_mirror_data(s->mirror), s->b, columns,
                                      column, found);
    if (lat_field_exchange(s->x))
        return -1;
    return s->overlap.plain
               ? lat_plain_overlap_residual(s->overlap.plain, s->x, s->b, columns, column, found)
               : lat_plain_residual(s->plain, s->x, s->b, columns, column, found);
}

int lat_solution_certify(lat_solution *s, int columns, const int *column)
{
    int list[LAT_MAX_COLUMNS], n = 0;
    double found[LAT_MAX_COLUMNS];
    for (int i = 0; i < columns; i++)
        if (isnan(s->residual[column[i]]))
            list[n++] = column[i];
    if (n && residuals(s, n, list, found))
        return -1;
    for (int i = 0; i < n; i++)
        s->residual[list[i]] = found[i];
    return 0;
}

/* Brings x to the host, for those who read it there. */
static int land(lat_solution *s)
{
    if (s->where == LAT_X_DEVICE && lat_mirror_get(s->mirror, s->x))
        return -1;
    s->where = LAT_X_HOST;
    return 0;
}

/* ---- the checkpoint -------------------------------------------------------------------------- */

/* How the multigrid was made that has solved the column. */
static void note_multigrid(const lat_solution *s, lat_solved *column)
{
    const lat_multigrid *m = s->wilson ? lat_wilson_multigrid(s->wilson) : NULL;
    if (!m || column->report.solver != LAT_SOLVER_MG)
        return;
    column->rounds = lat_multigrid_told(m)->rounds;
    column->vectors = lat_multigrid_told(m)->vectors;
}

int lat_solution_save(lat_solution *s, int c)
{
    note_multigrid(s, &s->solved[c]);
    const lat_solve_report *p = &s->solved[c].report;
    const lat_wilson_cost *t = &s->solved[c].cost;
    const double numbers[NUMBERS] = {(double)p->iterations,
                                     (double)p->updates,
                                     p->residual,
                                     p->solver,
                                     t->seconds,
                                     t->flops,
                                     t->bytes,
                                     s->solved[c].rounds,
                                     s->solved[c].vectors};
    return lat_columns_save(&s->kept, s->name, s->x, c, numbers, NUMBERS);
}

int lat_solution_saved(lat_solution *s, int c)
{
    double v[NUMBERS];
    const int rc = lat_columns_restore(&s->kept, s->name, s->x, c, v, NUMBERS);
    if (rc <= 0)
        return rc;
    s->solved[c].report = (lat_solve_report){.iterations = (long)v[0],
                                             .updates = (long)v[1],
                                             .residual = v[2],
                                             .solver = (lat_solver)v[3],
                                             .end = LAT_END_CONVERGED};
    s->solved[c].cost = (lat_wilson_cost){v[4], v[5], v[6]};
    s->solved[c].rounds = (int)v[7];
    s->solved[c].vectors = (int)v[8];
    return 1;
}

/* Columns that the checkpoint has. */
static int restore(lat_solution *s, int columns, const int *column)
{
    int list[LAT_MAX_COLUMNS], n = 0;
    for (int i = 0; i < columns; i++) {
        const int there = lat_solution_saved(s, column[i]);
        if (there < 0)
            return -1;
        if (there)
            list[n++] = column[i];
    }
    s->left -= n;
    return n ? lat_solution_certify(s, n, list) : 0;
}

/* A column has converged by the solver's word: if it has by ours, the checkpoint gets it. Costs of
 * a batch are known when it ends; those of the checkpoint are 0. */
static int column_done(void *with, int i)
{
    lat_solution *s = with;
    const int c = s->of_batch[i];
    if (lat_solution_certify(s, 1, &c))
        return -1;
    if (!is_good(s, c))
        return 0;
    s->left--;
    s->solved[c].report = s->of_columns[i];
    return lat_solution_save(s, c);
}

int lat_solution_progress(void *solution, long iterations, int active, double ratio)
{
    lat_solution *s = solution;
    char left[LAT_LEFT];
    if (lat_sections_asked(&s->kept) || lat_writer_look(&s->writer))
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
static int loaded(void *solution) { return lat_writer_begin(&((lat_solution *)solution)->writer); }

/* ---- batches --------------------------------------------------------------------------------- */

/* One batch, s->of_batch, each column with its target. */
static int solve_batch(lat_solution *s, int columns, const double *target, bool from_x)
{
    lat_solve_report report[LAT_VECTOR_COLUMNS];
    lat_wilson_cost cost[LAT_VECTOR_COLUMNS];
    const lat_wilson_job job = {.b = s->b,
                                .x = s->x,
                                .mirror = s->where == LAT_X_DEVICE ? s->mirror : NULL,
                                .from_x = from_x,
                                .columns = columns,
                                .object = s->of_batch,
                                .target = target,
                                .solver = (lat_solver)s->how->solver,
                                .max_iterations = s->how->max_iterations,
                                .delta = s->how->delta,
                                .loaded = loaded,
                                .progress = lat_solution_progress,
                                .done = s->kept.path ? column_done : NULL,
                                .with = s};
    for (int i = 0; i < columns; i++) {
        report[i] = s->solved[s->of_batch[i]].report;
        cost[i] = s->solved[s->of_batch[i]].cost;
        s->residual[s->of_batch[i]] = NAN;
    }
    s->of_columns = report;
    s->rate = (lat_rate){0};
    if (s->overlap.fast
            ? lat_overlap_solve(s->overlap.fast, &job, report, cost)
            : lat_wilson_solve(s->wilson, &job, report, cost) || lat_writer_look(&s->writer))
        return -1;
    for (int i = 0; i < columns; i++) {
        lat_solved *const one = &s->solved[s->of_batch[i]];
        *one = (lat_solved){.report = report[i], .cost = cost[i]};
        note_multigrid(s, one);
    }
    if (!s->kept.path)
        s->left -= columns;
    return 0;
}

/* The operator may have been opened for a source of fewer. */
int lat_solution_side_by_side(const lat_solution *s)
{
    const lat_space *space = s->overlap.fast ? s->overlap.fast->space
                                             : lat_wilson_operator(s->wilson)->space;
    return s->how->batch < space->columns ? (int)s->how->batch : space->columns;
}

/* All columns that are not good, batch after batch. */
static int solve_columns(lat_solution *s, int columns, const int *column, const double *target,
                         bool from_x)
{
    double of_batch[LAT_VECTOR_COLUMNS];
    const int most = lat_solution_side_by_side(s);
    for (int i = 0; i < columns;) {
        int n = 0;
        for (; i < columns && n < most; i++)
            if (!is_good(s, column[i])) {
                s->of_batch[n] = column[i];
                of_batch[n++] = target[column[i]];
            }
        if (n && solve_batch(s, n, of_batch, from_x))
            return -1;
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
    const lat_solve_report *p = &s->solved[c].report;
    char text[LAT_FERMION_TEXT], seen[160] = "";
    double ratio;
    const char *kept = lat_sections_save(&s->kept) ? s->kept.path : NULL;
    if (shrinkage(s, c, &ratio) == 0 && ratio < .05)
        snprintf(seen, sizeof seen,
                 "; M makes a vector %.2g times as long, so it is near singular: is kappa at or "
                 "beyond the critical one?",
                 ratio);
    lat_fail("field %ld, column %d: expected a residual below %.3g, found %.3g after %ld "
             "iterations: %s %s (%d of %d columns converged, %s)%s%s%s%s",
             s->field, c, s->how->residual, s->residual[c], p->iterations,
             lat_solver_name(p->solver),
             p->end == LAT_END_CONVERGED ? "could not do better" : lat_end_text(p->end), good,
             columns, lat_fermion_text(s->fermion, text), seen, kept ? "; --resume " : "",
             kept ? kept : "", kept ? " with a larger --max-iterations goes on" : "");
    return LAT_UNCONVERGED;
}

/* What a round has come to: columns that are good, the worst of the others, and whether one that
 * had converged by the solver's word will with a lower target. */
typedef struct verdict {
    int good, worst;
    bool again;
} verdict;

/* `trusted`: nothing was solved, what came was certified alone. */
static verdict judge(const lat_solution *s, int columns, const int *column, bool trusted,
                     double *target)
{
    verdict v = {0, -1, false};
    for (int i = 0; i < columns; i++) {
        const int c = column[i];
        const double now = s->residual[c];
        const lat_end end = s->solved[c].report.end;
        if (is_good(s, c)) {
            v.good++;
            continue;
        }
        if (v.worst < 0 || !(now <= s->residual[v.worst]))
            v.worst = c;
        if (!trusted)
            target[c] *= .5 * s->how->residual / now;
        v.again = v.again || end == LAT_END_CONVERGED || (trusted && end != LAT_END_ITERATIONS);
    }
    return v;
}

static int solve_in_rounds(lat_solution *s, int columns, const int *column, lat_solution_start from,
                           double *target)
{
    for (int round = 0;; round++) {
        const bool trusted = from == LAT_SOLVED && round == 0;
        if ((!trusted
             && solve_columns(s, columns, column, target, from != LAT_FROM_ZERO || round > 0))
            || lat_solution_certify(s, columns, column))
            return LAT_FAILED;
        const verdict v = judge(s, columns, column, trusted, target);
        s->left = columns - v.good;
        if (v.good == columns)
            return LAT_DONE;
        if (land(s))
            return LAT_FAILED;
        if (!v.again || round == ROUNDS - 1)
            return unconverged(s, v.worst, columns, v.good);
    }
}

/* Solutions, and their slices of time. */
static int look_at_slices(lat_solution *s, int columns, const int *column)
{
    if (s->how->slices == 0)
        return s->where == LAT_X_HOST && lat_solution_look_far(s, columns, column) ? LAT_FAILED
                                                                                   : LAT_DONE;
    const int code = lat_solution_slices(s, columns, column);
    if (code != LAT_DONE || lat_solution_certify(s, columns, column))
        return code == LAT_DONE ? LAT_FAILED : code;
    for (int i = 0; i < columns; i++)
        if (!is_good(s, column[i]))
            return unconverged(s, column[i], columns, i);
    return LAT_DONE;
}

int lat_solution_solve(lat_solution *s, int columns, const int *column, lat_solution_start from)
{
    const size_t all = lat_header_objects(&s->x->head);
    double *target = lat_alloc(all, sizeof *target, "targets");
    for (size_t c = 0; target && c < all; c++) {
        target[c] = .95 * s->how->residual;
        s->residual[c] = NAN;
    }
    s->left = columns;
    s->where = s->mirror && s->plain_gpu && from == LAT_FROM_ZERO
                       && lat_mirror_fits(s->mirror, &s->x->head)
                   ? LAT_X_DEVICE
                   : LAT_X_HOST;
    int code = target && restore(s, columns, column) == 0
                   ? solve_in_rounds(s, columns, column, from, target)
                   : LAT_FAILED;
    free(target);
    return code == LAT_DONE ? look_at_slices(s, columns, column) : code;
}
