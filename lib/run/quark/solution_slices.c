/* SPDX-License-Identifier: BSD-3-Clause */
/* solution_slices.c: solutions whose residual is small on each slice of time, relative to the
 * solution there (certify/slices.h says what that certifies).
 *
 * Solvers look at |b - M x| of the whole lattice, where rounding leaves 1e-16 |b|. So the part of
 * b - M x on slices that are not good yet is solved for by itself, and the solution is added to
 * x: each time the part is smaller by as much as a solver does, and good slices stay good. */
#include "solution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "certify/slices.h"

enum { ROUNDS = 100 };

typedef struct far {
    lat_solution *s;
    lat_field rest, add;           /* b - M x where it is too large, and its solution */
    int slices, all;               /* of the lattice; columns of a field */
    double *of_x, *of_rest;        /* [slice][column]: norms */
    double last[LAT_MAX_COLUMNS];  /* |rest| of the round before */
    int exponent[LAT_MAX_COLUMNS]; /* rest was divided by 2^exponent */
} far;

static int begin(far *f, lat_solution *s)
{
    const size_t numbers = (size_t)lat_slices(&s->x->head) * lat_header_objects(&s->x->head);
    f->s = s;
    f->slices = lat_slices(&s->x->head);
    f->all = (int)lat_header_objects(&s->x->head);
    for (int c = 0; c < f->all; c++)
        f->last[c] = INFINITY;
    f->of_x = lat_alloc(2 * numbers, sizeof *f->of_x, "norms");
    f->of_rest = f->of_x + numbers;
    return lat_rc(!f->of_x || lat_field_spinors(&f->rest, s->x, s->x->head.kind, f->all)
                  || lat_field_spinors(&f->add, s->x, s->x->head.kind, f->all));
}

static void end(far *f)
{
    free(f->of_x);
    lat_field_free(&f->rest);
    lat_field_free(&f->add);
}

/* The worst slice of column c. */
static int worst_of(const far *f, int c, double *residual)
{
    int worst = 0;
    *residual = 0;
    for (int t = 0; t < f->slices; t++) {
        const int i = t * f->all + c;
        const double here = lat_slice_residual(f->of_rest[i], f->of_x[i]);
        if (!(here <= *residual)) {
            *residual = here;
            worst = t;
        }
    }
    return worst;
}

/* Multiplies what this rank has of slice t and column c by 2^by; or makes it 0. */
static void scale(lat_field *v, int t, int c, bool zero, int by)
{
    const lat_slab slab = lat_field_slab(v);
    const size_t n = lat_header_full_reals(&v->head), all = lat_header_objects(&v->head),
                 sites = lat_slice_sites(&v->head);
    if (t < slab.first || t >= slab.first + slab.count)
        return;
    double *to = (double *)v->data + ((size_t)(t - slab.first) * sites * all + (size_t)c) * n;
    for (size_t i = 0; i < sites; i++)
        for (size_t k = 0; k < n; k++)
            to[i * all * n + k] = zero ? 0 : ldexp(to[i * all * n + k], by);
}

/* Leaves of column c of b - M x the slices that are not good, with a margin, and makes it of size
 * 1. Its norm. */
static double leave_bad(far *f, int c)
{
    double norm = 0;
    for (int t = 0; t < f->slices; t++) {
        const int i = t * f->all + c;
        if (lat_slice_residual(f->of_rest[i], f->of_x[i]) <= f->s->how->slices / 4)
            f->of_rest[i] = 0;
        norm = hypot(norm, f->of_rest[i]);
    }
    frexp(norm, &f->exponent[c]);
    for (int t = 0; t < f->slices; t++)
        scale(&f->rest, t, c, f->of_rest[t * f->all + c] == 0, -f->exponent[c]);
    return norm;
}

/* b - M x, and its columns that are not good: how many, or -1. */
static int look(far *f, int columns, const int *column, int *bad)
{
    lat_solution *s = f->s;
    int n = 0;
    if (lat_field_exchange(s->x)
        || lat_slice_remainder(s->plain, s->x, s->b, columns, column, &f->rest)
        || lat_slice_norms(s->x, f->of_x) || lat_slice_norms(&f->rest, f->of_rest))
        return -1;
    s->slices = 0;
    for (int i = 0; i < columns; i++) {
        double residual;
        worst_of(f, column[i], &residual);
        s->slices = fmax(s->slices, residual);
        if (!(residual <= s->how->slices))
            bad[n++] = column[i];
    }
    return n;
}

static int solve_batch(far *f, int columns, const int *column)
{
    lat_solution *s = f->s;
    lat_solve_report report[LAT_VECTOR_COLUMNS];
    lat_wilson_cost cost[LAT_VECTOR_COLUMNS];
    double target[LAT_VECTOR_COLUMNS];
    const lat_wilson_job job = {.b = &f->rest,
                                .x = &f->add,
                                .columns = columns,
                                .object = column,
                                .target = target,
                                .solver = (lat_solver)s->how->solver,
                                .max_iterations = s->how->max_iterations,
                                .delta = s->how->delta,
                                .progress = lat_solution_progress,
                                .with = s};
    memset(report, 0, sizeof report);
    memset(cost, 0, sizeof cost);
    for (int i = 0; i < columns; i++)
        target[i] = s->how->residual;
    s->rate = (lat_rate){0};
    if (lat_wilson_solve(s->wilson, &job, report, cost))
        return -1;
    for (int i = 0; i < columns; i++) {
        lat_solved *of = &s->solved[column[i]];
        of->report.iterations += report[i].iterations;
        of->report.updates += report[i].updates;
        of->cost.seconds += cost[i].seconds;
        of->cost.flops += cost[i].flops;
        of->cost.bytes += cost[i].bytes;
    }
    return 0;
}

static void add_column(far *f, int c)
{
    const size_t n = lat_header_full_reals(&f->add.head), all = (size_t)f->all;
    double *x = f->s->x->data;
    const double *add = f->add.data;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(&f->add); i++)
        for (size_t k = 0; k < n; k++) {
            const size_t at = (i * all + (size_t)c) * n + k;
            x[at] += ldexp(add[at], f->exponent[c]);
        }
    f->s->residual[c] = NAN;
}

static int unconverged(const far *f, int c, int columns, int bad)
{
    double residual, whole = 0;
    const int t = worst_of(f, c, &residual);
    for (int k = 0; k < f->slices; k++)
        whole = hypot(whole, f->of_x[k * f->all + c]);
    lat_fail("field %ld, column %d: expected residuals of time slices below %.3g of x there, found "
             "%.3g on slice %d, where x is %.2g of the whole (%d of %d columns converged)",
             f->s->field, c, f->s->how->slices, residual, t, f->of_x[t * f->all + c] / whole,
             columns - bad, columns);
    return LAT_UNCONVERGED;
}

/* A round. LAT_DONE: there may be others. */
static int correct(far *f, int columns, int bad, const int *list)
{
    for (int i = 0; i < bad; i++) {
        double residual;
        const int c = list[i], t = worst_of(f, c, &residual);
        const double was = f->of_rest[t * f->all + c], norm = leave_bad(f, c);
        if (!(norm < .5 * f->last[c])) {
            f->of_rest[t * f->all + c] = was;
            return unconverged(f, c, columns, bad);
        }
        f->last[c] = norm;
    }
    const int most = lat_solution_side_by_side(f->s);
    for (int i = 0; i < bad; i += most)
        if (solve_batch(f, bad - i < most ? bad - i : most, list + i))
            return LAT_FAILED;
    for (int i = 0; i < bad; i++)
        add_column(f, list[i]);
    return LAT_DONE;
}

int lat_solution_slices(lat_solution *s, int columns, const int *column)
{
    far f = {.rest = {.data = NULL}, .add = {.data = NULL}};
    int list[LAT_MAX_COLUMNS], bad = 0, code = begin(&f, s) ? LAT_FAILED : LAT_DONE;
    for (int round = 0; code == LAT_DONE; round++) {
        if ((bad = look(&f, columns, column, list)) <= 0)
            break;
        s->left = bad;
        code = round < ROUNDS ? correct(&f, columns, bad, list)
                              : unconverged(&f, list[0], columns, bad);
    }
    end(&f);
    return bad < 0 ? LAT_FAILED : code;
}

int lat_solution_look_far(const lat_solution *s, int columns, const int *column)
{
    const int slices = lat_slices(&s->x->head), all = (int)lat_header_objects(&s->x->head);
    double *norm = lat_alloc((size_t)slices * (size_t)all, sizeof *norm, "norms"), least = INFINITY;
    int of_least = 0, at = 0, few = 0;
    if (!norm || lat_slice_norms(s->x, norm)) {
        free(norm);
        return -1;
    }
    for (int i = 0; i < columns; i++) {
        const int c = column[i];
        double whole = 0;
        for (int t = 0; t < slices; t++)
            whole = hypot(whole, norm[t * all + c]);
        bool small = false;
        for (int t = 0; t < slices; t++) {
            const double here = norm[t * all + c] / whole;
            small = small || (here > 0 && here < 100 * s->residual[c]);
            if (here > 0 && here < least) {
                least = here;
                of_least = c;
                at = t;
            }
        }
        few += small;
    }
    free(norm);
    if (few)
        lat_warn("field %ld: %d of %d columns have time slices below 100 times their residual, "
                 "where x may be noise: the least, %.2g of the whole, is slice %d of column %d "
                 "(--residual-slices)",
                 s->field, few, columns, least, at, of_least);
    return 0;
}
