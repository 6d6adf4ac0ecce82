/* SPDX-License-Identifier: BSD-3-Clause */
/* twists.c: several twisted masses from one Krylov space. */
#include "inverter.h"

#include <math.h>
#include <stdlib.h>
#include "base/memory.h"

/* v->s becomes the solution for twist j. */
static void take_twist(lat_inverter *v, int j)
{
    v->fermion.twist = v->twist[j];
    v->s.x = &v->of_twist[j];
    lat_inverter_name(v);
}

/* What is good of these columns goes into the checkpoint, unless a limit has cut it short. */
static int save_twist(lat_inverter *v, int columns, const int *column)
{
    lat_solution *s = &v->s;
    for (int i = 0; i < columns; i++)
        s->residual[column[i]] = NAN;
    s->plain = lat_plain_new(lat_inverter_links(v), &v->fermion);
    int rc = s->plain ? lat_solution_certify(s, columns, column) : -1;
    lat_plain_free(s->plain);
    s->plain = NULL;
    for (int i = 0; i < columns && rc == 0; i++)
        if (s->solved[column[i]].report.end == LAT_END_CONVERGED
            && s->residual[column[i]] <= s->how->residual)
            rc = lat_solution_save(s, column[i]);
    return rc;
}

static int save_family(lat_inverter *v, int columns, const int *column)
{
    int rc = 0;
    for (int j = 0; j < v->twists && rc == 0; j++) {
        take_twist(v, j);
        rc = save_twist(v, columns, column);
    }
    return rc;
}

/* The columns of a batch for all twists, in one Krylov space. */
static int solve_family(lat_inverter *v, lat_wilson *w, int columns, const int *column,
                        lat_field *const *x)
{
    double target[LAT_VECTOR_COLUMNS];
    lat_solve_report report[LAT_VECTOR_COLUMNS] = {{0}};
    lat_wilson_cost cost[LAT_VECTOR_COLUMNS] = {{0}};
    const lat_wilson_job job = {.b = v->s.b,
                                .columns = columns,
                                .object = column,
                                .target = target,
                                .max_iterations = v->o->how.max_iterations,
                                .progress = lat_solution_progress,
                                .with = &v->s};
    for (int i = 0; i < columns; i++)
        target[i] = .9 * v->o->how.residual; /* rounding of the true one */
    v->s.rate = (lat_rate){0};
    if (lat_wilson_twists(w, &job, v->twists, v->twist, x, report, cost))
        return -1;
    for (int i = 0; i < columns; i++) {
        const lat_wilson_cost *c = &cost[i];
        const double n = v->twists; /* share it */
        v->s.solved[column[i]] = (lat_solved){.report = report[i],
                                              .cost = {c->seconds / n, c->flops / n, c->bytes / n}};
    }
    v->s.left -= columns;
    return v->s.kept.path ? save_family(v, columns, column) : 0;
}

/* Has the checkpoint all twists of a column? Then x has them. */
static int restore_family(lat_inverter *v, int column)
{
    int rc = 1;
    for (int j = 0; j < v->twists && rc > 0; j++) {
        take_twist(v, j);
        rc = lat_solution_saved(&v->s, column);
    }
    return rc;
}

static int solve_families(lat_inverter *v, lat_wilson *w)
{
    int list[LAT_MAX_COLUMNS], wanted[LAT_VECTOR_COLUMNS];
    lat_field *x[LAT_WILSON_TWISTS];
    const int columns = lat_inverter_columns(v, list);
    v->s.left = columns;
    for (int j = 0; j < v->twists; j++)
        x[j] = &v->of_twist[j];
    for (int i = 0; i < columns;) {
        int n = 0;
        for (; i < columns && n < v->o->how.batch; i++) {
            const int there = restore_family(v, list[i]);
            if (there < 0)
                return -1;
            if (there == 0)
                wanted[n++] = list[i];
        }
        if (n && solve_family(v, w, n, wanted, x))
            return -1;
    }
    return 0;
}
/* x of each twist, with the numbers of v->s.x. */
static int duplicate(lat_inverter *v)
{
    v->of_twist = lat_alloc((size_t)v->twists, sizeof *v->of_twist, "solutions");
    for (int j = 0; v->of_twist && j < v->twists; j++)
        v->of_twist[j] = (lat_field){.comm = v->s.x->comm};
    for (int j = 0; v->of_twist && j < v->twists; j++)
        if (lat_field_duplicate(v->s.x, &v->of_twist[j]))
            return -1;
    return v->of_twist ? 0 : -1;
}

void lat_twists_free(lat_inverter *v)
{
    for (int j = 0; v->of_twist && j < v->twists; j++)
        lat_field_free(&v->of_twist[j]);
    free(v->of_twist);
    v->of_twist = NULL;
}

int lat_twists_solve(lat_inverter *v)
{
    int list[LAT_MAX_COLUMNS];
    const int columns = lat_inverter_columns(v, list);
    lat_device *on = lat_inverter_device(v, lat_inverter_links(v));
    lat_fermion fermion = v->fermion;
    lat_wilson_options o = {.columns = lat_inverter_wide(v, columns),
                            .form = LAT_FULL,
                            .inner = LAT_STORAGE_DOUBLE,
                            .dirac = {.reals = (int)v->o->reals}};
    fermion.twist = 0;
    if (duplicate(v))
        return -1;
    if (on)
        lat_device_threads(on, lat_inverter_links(v), o.columns);
    lat_inverter_close(v);
    lat_wilson *w = on && lat_inverter_batch(v, on, 0, &o) == 0
                        ? lat_wilson_open(on, lat_inverter_links(v), &fermion, &o)
                        : NULL;
    const int rc = w ? solve_families(v, w) : -1;
    lat_wilson_close(w);
    return rc;
}
