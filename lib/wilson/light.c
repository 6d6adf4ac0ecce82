/* SPDX-License-Identifier: BSD-3-Clause */
/* light.c: multigrids for light quarks: when they pay, and a job that they solve. */
#include <math.h>
#include "base/error.h"
#include "base/median.h"
#include "common/options.h"
#include "wilson/wilson_internal.h"

/* ---- the multigrid of an operator ------------------------------------------------------------ */

lat_multigrid *lat_wilson_multigrid(const lat_wilson *w) { return w->multigrid; }

/* What solves by the multigrid are in: NULL with lat_error set. */
static lat_wilson_level *level_of(lat_wilson *w)
{
    const int columns = w->options.columns;
    if (w->options.inner == LAT_STORAGE_SINGLE && columns >= LAT_MULTIGRID_COLUMNS)
        return &w->inner;
    if (!w->wide.d
        && lat_wilson_level_open(&w->wide, w, &w->fermion, LAT_STORAGE_SINGLE,
                                 columns < LAT_MULTIGRID_COLUMNS ? LAT_MULTIGRID_COLUMNS : columns))
        return NULL;
    return &w->wide;
}

/* In a level of its own, whose vectors have no more columns than a setup needs. */
static lat_multigrid *make(const lat_wilson *w, const lat_multigrid_options *o)
{
    lat_wilson_level l = {0};
    lat_fermion f = w->fermion;
    lat_multigrid *m = NULL;
    f.mass = w->options.made_mass;
    f.twist = w->options.made_twist;
    if (lat_wilson_level_open(&l, w, &f, LAT_STORAGE_SINGLE, LAT_MULTIGRID_COLUMNS) == 0)
        m = lat_multigrid_open(&l.light, l.d, w->links, o);
    if (m)
        lat_multigrid_leave(m);
    lat_wilson_level_close(&l);
    return m;
}

int lat_wilson_make_multigrid(lat_wilson *w)
{
    lat_multigrid_options o = w->options.setup;
    if (w->multigrid)
        return 0;
    o.there = w->options.dirac.there;
    o.box = w->options.dirac.box;
    if (!(o.columns > 0))
        o.columns = w->options.columns;
    if (w->options.form == LAT_FULL)
        return lat_fail("multigrid: expected even-odd preconditioning, found none");
    if (!w->options.multigrid || w->options.inner == LAT_STORAGE_DOUBLE)
        return lat_fail("multigrid: expected iterations in single or half, found double");
    o.beside = w->options.columns;
    lat_multigrid *const m = make(w, &o);
    if (!m)
        return -1;
    const lat_multigrid_report *r = lat_multigrid_told(m);
    lat_verbose("multigrid: %d levels, %d vectors, %d rounds of setup, |r| falls by %.2g a cycle",
                r->levels, r->vectors, r->rounds, r->rate);
    return lat_wilson_take_multigrid(w, m);
}

lat_multigrid *lat_wilson_give_multigrid(lat_wilson *w)
{
    lat_multigrid *const m = w->multigrid;
    if (m)
        lat_multigrid_leave(m);
    w->multigrid = NULL;
    return m;
}

int lat_wilson_take_multigrid(lat_wilson *w, lat_multigrid *m)
{
    const lat_wilson_level *const l = level_of(w);
    const int rc = l ? lat_multigrid_move(m, &l->light, l->d) : -1;
    if (rc == 0) {
        w->multigrid = m;
        return 0;
    }
    lat_multigrid_close(m);
    return rc > 0 ? lat_fail("multigrid: a matrix of a coarse level is singular at mass %g",
                             w->fermion.mass)
                  : -1;
}

/* ---- does it pay? ---------------------------------------------------------------------------- */

enum { SOME = 10 }; /* iterations whose middle says where a solve is */

/* The middle of the numbers around iteration `at`. */
static double middle(const double *digits, int at)
{
    return lat_median(SOME, digits + at - SOME + 1);
}

/* In applications of S: an iteration of BiCGstab with its linear algebra. */
#define BICGSTAB_COST 2.6

/* The column's share of the work, where all to come go as it does now, after `at` iterations: by
 * the faster of its rates, since the middle and since the start. */
static bool pays(lat_wilson *w, const double *digits, long at)
{
    const double now = digits[at], here = middle(digits, (int)at),
                 rate = fmax((middle(digits, (int)at / 2) - here) / (double)(at / 2),
                             (middle(digits, SOME) - here) / (double)(at - SOME)),
                 left = rate > 0 ? now / rate : INFINITY,
                 to_come = fmax(w->options.setup.columns, 1), as_now = BICGSTAB_COST * left,
                 with_one = lat_multigrid_cost(w->device, &w->links->head.geom, to_come, now)
                            / to_come;
    if (!w->told && left < INFINITY)
        lat_verbose("BiCGstab promises %.0f iterations more, the work of %.0f applications of the "
                    "operator; a multigrid for %.0f columns would take %.0f: %s",
                    left, as_now, to_come, with_one,
                    as_now > with_one ? "it goes on" : "there is none");
    else if (!w->told)
        lat_verbose("BiCGstab stagnates: a multigrid goes on");
    w->told = true;
    return as_now > with_one;
}

/* It asks after 100, 200, 400 .. iterations: on large lattices the first ones promise too much. */
bool lat_wilson_leaves(void *wilson, int column, long iterations, double ratio)
{
    lat_wilson *const w = wilson;
    lat_wilson_watch *const v = &w->watch[column];
    if (iterations > LAT_WILSON_WATCHED)
        return false;
    v->digits[iterations] = log(ratio);
    for (long at = 100; at <= iterations && !v->chosen; at *= 2)
        v->chosen = at == iterations && pays(w, v->digits, at);
    return v->chosen;
}

/* ---- a job ----------------------------------------------------------------------------------- */

/* Updates: each costs an application in double. Where cycles smooth in half, what they say of S e
 * is wrong by 2^-16 of it. */
#define DELTA 1e-5
#define DELTA_HALF 1e-3

/* Where the solver is chosen by itself and there can be no multigrid. */
static int go_on_without(const lat_wilson *w, const lat_equation *problem, int columns,
                         const int *column, lat_solve_report *report)
{
    lat_equation usual = *problem;
    if (w->job->solver != LAT_SOLVER_AUTO)
        return -1;
    lat_warn("%s: BiCGstab and conjugate gradients go on", lat_error());
    lat_error_clear();
    usual.leaves = NULL;
    usual.from_zero = false;
    return lat_solve(&usual, LAT_SOLVER_AUTO, columns, column, report);
}

int lat_wilson_light(lat_wilson *w, const lat_equation *problem, const double *norm,
                     lat_solve_report *report)
{
    int list[LAT_VECTOR_COLUMNS], left = 0, stagnated = 0;
    double target[LAT_VECTOR_COLUMNS];
    lat_equation light = *problem;
    const lat_part odd = {LAT_ODD, w->job->columns, lat_column_numbers};
    for (int k = 0; k < w->job->columns; k++) {
        target[k] = w->job->target[k] * norm[k];
        if (w->watch[k].chosen || w->job->solver == LAT_SOLVER_MG)
            list[left++] = k;
    }
    if (left == 0)
        return 0;
    if (lat_wilson_make_multigrid(w))
        return go_on_without(w, problem, left, list, report);
    lat_multigrid_lighten(w->multigrid);
    const bool half = w->options.inner == LAT_STORAGE_HALF;
    if (lat_multigrid_smooth_in(w->multigrid, half ? &w->inner.light : NULL))
        return -1;
    if (w->options.form == LAT_SYMMETRIC
        && w->outer.d->ops->diagonal(w->outer.d, false, false, &odd, w->b, w->b))
        return -1;
    light.outer = &w->outer.light;
    light.inner = &level_of(w)->light;
    light.target = target;
    light.from_zero = problem->from_zero && w->job->solver == LAT_SOLVER_MG;
    light.leaves = NULL;
    light.preconditioner = lat_multigrid_method(w->multigrid);
    light.delta = w->job->delta > 0 ? w->job->delta : half ? DELTA_HALF : DELTA;
    if (lat_solve(&light, LAT_SOLVER_MG, left, list, report))
        return -1;
    for (int i = 0; i < left; i++) {
        stagnated += report[list[i]].solver != LAT_SOLVER_MG;
        report[list[i]].residual /= lat_wilson_scale(w);
    }
    if (stagnated)
        lat_warn("the multigrid stagnated in %d of %d columns at mass %.6g, which went on by "
                 "conjugate gradients: the least singular value of M is about %.2g at mass %.6g, "
                 "which it was made for",
                 stagnated, left, w->outer.d->fermion.mass,
                 lat_multigrid_told(w->multigrid)->lowest, w->options.made_mass);
    return 0;
}
