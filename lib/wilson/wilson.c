/* SPDX-License-Identifier: BSD-3-Clause */
/* wilson.c: grids, spaces and operators in two precisions; one job. */
#include "wilson/wilson_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/progress.h"
#include "lattice/box.h"
#include "solve/deflation.h"
#include "vector/mirror.h"
#include "vector/temporal.h"

/* ---- one precision --------------------------------------------------------------------------- */

/* Traffic if each link that is not 1 is read once a hop, and each spinor read once and written
 * once. */
static void count(lat_wilson_level *l, lat_dirac_form form, const lat_part *p)
{
    const double real = (double)lat_storage_bytes(l->grid->spec.storage);
    const double hops = form == LAT_FULL ? 1 : 2,
                 spinor = 16 * lat_spinor_colours(l->grid->dev, l->space->nc);
    LAT_FOR_COLUMNS (k, p)
        l->applied[k]++;
    l->bytes += hops * l->sites * real * (l->d->links * l->d->reals + spinor * p->columns);
}

static int apply(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                 const lat_apply_end *end)
{
    lat_wilson_level *l = with;
    count(l, l->form, p);
    return l->d->ops->apply(l->d, (lat_dirac_matrix){l->form, dagger ? LAT_DAGGER : LAT_PLAIN}, p,
                            out, in, end);
}

/* The asymmetric complement, whatever the form is. */
static int apply_asymmetric(void *with, bool dagger, const lat_part *p, lat_dfield *out,
                            lat_dfield *in, const lat_apply_end *end)
{
    lat_wilson_level *l = with;
    count(l, LAT_ASYMMETRIC, p);
    return l->d->ops->apply(
        l->d, (lat_dirac_matrix){LAT_ASYMMETRIC, dagger ? LAT_DAGGER : LAT_PLAIN}, p, out, in, end);
}

static lat_dfield *vector(void *with, const char *what)
{
    lat_wilson_level *l = with;
    return lat_vector_raw_of(l->space, l->system.parity, what);
}

static void release(LAT_UNUSED void *with, lat_dfield *v) { lat_dfield_free(v); }

static double epsilon_of(lat_storage storage)
{
    switch (storage) {
    case LAT_STORAGE_DOUBLE: return 0x1p-53;
    case LAT_STORAGE_SINGLE: return 0x1p-24;
    case LAT_STORAGE_HALF: return 0x1p-16; /* of a site's norm */
    }
    return 1;
}

int lat_wilson_level_open(lat_wilson_level *l, const lat_wilson *w, const lat_fermion *f,
                          lat_storage storage, int columns)
{
    const lat_wilson_options *o = &w->options;
    const lat_field *links = w->links;
    lat_device *device = w->device;
    const double volume = (double)lat_volume(&links->head.geom);
    l->form = o->form;
    if (!(l->grid = lat_grid_of_spinors(device, &links->head.geom, storage))
        || !(l->space = lat_space_open_in(l->grid, links->head.nc, columns, w->gauge))
        || !(l->d = lat_dirac_open(l->space, links, f, &o->dirac)))
        return -1;
    if (storage == LAT_STORAGE_HALF && l->space->ahead
        && (!(l->grid_of_x = lat_grid_of_spinors(device, &links->head.geom, LAT_STORAGE_SINGLE))
            || !(l->of_x = lat_space_open_in(l->grid_of_x, links->head.nc, columns, w->gauge))))
        return -1;
    l->flops = l->d->ops->flops(l->d, (lat_dirac_matrix){o->form, LAT_PLAIN}) * volume;
    l->sites = o->form == LAT_FULL ? volume : volume / 2;
    l->system = (lat_system){.space = l->space,
                             .parity = o->form == LAT_FULL ? LAT_BOTH : LAT_ODD,
                             .epsilon = epsilon_of(storage),
                             .apply = apply,
                             .vector = vector,
                             .release = release,
                             .sums = l->of_x,
                             .with = l};
    l->light = l->system;
    l->light.apply = apply_asymmetric;
    return 0;
}

void lat_wilson_level_close(lat_wilson_level *l)
{
    lat_dirac_close(l->d);
    lat_space_close(l->space);
    lat_space_close(l->of_x);
    lat_grid_free(l->grid);
    lat_grid_free(l->grid_of_x);
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Ranks give each other the links of their boxes once. */
static int open_box(lat_wilson *w)
{
    if (lat_box_take_own(w->device->comm, w->links, &w->box))
        return -1;
    w->options.dirac.box = w->box.data ? &w->box : NULL;
    return 0;
}

/* In double: what it finds of the links holds of the other levels, too. */
static int open_outer(lat_wilson *w)
{
    if (lat_wilson_level_open(&w->outer, w, &w->fermion, LAT_STORAGE_DOUBLE, w->options.columns))
        return -1;
    w->options.dirac.unitary = !w->options.dirac.reals && w->links->head.nc == 3
                               && w->outer.d->reals == 12;
    return 0;
}

lat_wilson *lat_wilson_open(lat_device *device, const lat_field *links, const lat_fermion *fermion,
                            const lat_wilson_options *options)
{
    lat_wilson *w = lat_alloc_zero(1, sizeof *w, "the operator");
    if (!w)
        return NULL;
    w->options = *options;
    w->device = device;
    w->links = links;
    w->fermion = *fermion;
    if (lat_temporal_open(device, links, options->dirac.there, &w->gauge) || open_box(w)
        || open_outer(w)
        || (options->inner != LAT_STORAGE_DOUBLE
            && lat_wilson_level_open(&w->inner, w, fermion, options->inner, options->columns))
        || !(w->b = lat_vector_raw(w->outer.space, "the sources"))
        || !(w->x = lat_vector_raw(w->outer.space, "the solutions"))) {
        lat_wilson_close(w);
        return NULL;
    }
    return w;
}

void lat_wilson_close(lat_wilson *w)
{
    if (!w)
        return;
    lat_multigrid_close(w->multigrid);
    lat_deflation_close(w->deflation);
    release(NULL, w->b);
    release(NULL, w->x);
    lat_wilson_level_close(&w->wide);
    lat_wilson_level_close(&w->spare);
    lat_wilson_level_close(&w->inner);
    lat_wilson_level_close(&w->outer);
    lat_temporal_close(w->gauge);
    lat_field_free(&w->box);
    free(w);
}

lat_dirac *lat_wilson_operator(lat_wilson *w) { return w->outer.d; }

int lat_wilson_deflate(lat_wilson *w, const lat_field *modes, bool square, const char *name)
{
    if (w->options.form == LAT_SYMMETRIC)
        return lat_fail("deflation: expected the asymmetric Schur complement, or none");
    lat_deflation_close(w->deflation);
    w->deflation = lat_deflation_open(&w->outer.system, modes, square, name);
    return w->deflation ? 0 : -1;
}

long lat_wilson_promoted(const lat_wilson *w) { return w->promoted; }

/* ---- a job ----------------------------------------------------------------------------------- */

static lat_part part_of(lat_parity parity, int columns, const int *column)
{
    return (lat_part){parity, columns, column};
}

/* These columns of the solution to the host. */
static int fetch(lat_wilson *w, int columns, const int *column)
{
    const lat_part p = part_of(LAT_ODD, columns, column);
    const lat_wilson_job *job = w->job;
    lat_space *s = w->outer.space;
    if (columns && w->options.form != LAT_FULL
        && w->outer.d->ops->reconstruct(w->outer.d, &p, w->x, w->b))
        return -1;
    return columns == 0  ? 0
           : job->mirror ? lat_mirror_take(job->mirror, s, &p, w->x, job->object)
                         : lat_spinors_get(s, &p, w->x, job->x, job->object);
}

static int done(void *with, int column)
{
    lat_wilson *w = with;
    return fetch(w, 1, &column) || w->job->done(w->job->with, column) ? -1 : 0;
}

static int progress(void *with, long iterations, int active, double ratio)
{
    const lat_wilson *w = with;
    return w->job->progress(w->job->with, iterations, active, ratio);
}

static int improve(void *with, const lat_part *p, lat_dfield *x, lat_dfield *r)
{
    return lat_deflation_improve(((lat_wilson *)with)->deflation, p, x, r);
}

/* b and x to the device, b as the right-hand side; target: |b - A x|, norm: |b|. */
static int load(lat_wilson *w, double *norm)
{
    const lat_wilson_job *job = w->job;
    lat_space *s = w->outer.space;
    const lat_part both = part_of(LAT_BOTH, job->columns, lat_column_numbers),
                   own = part_of(w->outer.system.parity, job->columns, lat_column_numbers);
    if (lat_spinors_put(s, &both, w->b, job->b, job->object)
        || (job->from_x ? lat_spinors_put(s, &both, w->x, job->x, job->object)
                        : s->ops->zero(s, &own, w->x))
        || s->ops->dots(s, &both, 0, NULL, w->b, NULL, norm))
        return -1;
    for (int k = 0; k < job->columns; k++)
        norm[k] = sqrt(norm[k]);
    return w->options.form == LAT_FULL
               ? 0
               : w->outer.d->ops->prepare(w->outer.d, w->options.form, &own, w->b, w->b);
}

static double applications(const lat_wilson *w, int k)
{
    return w->outer.applied[k] + w->inner.applied[k] + w->spare.applied[k] + w->wide.applied[k];
}

static void add_costs(lat_wilson *w, double seconds, lat_wilson_cost *cost)
{
    const double bytes = w->outer.bytes + w->inner.bytes + w->spare.bytes + w->wide.bytes;
    double all = 0;
    for (int k = 0; k < w->job->columns; k++)
        all += applications(w, k);
    for (int k = 0; k < w->job->columns && all > 0; k++) {
        const double own = applications(w, k);
        cost[k].seconds += seconds * own / all;
        cost[k].flops += w->outer.flops * own;
        cost[k].bytes += bytes * own / all;
    }
}

double lat_wilson_scale(const lat_wilson *w)
{
    const lat_fermion *f = &w->outer.d->fermion;
    const double diagonal = 1 + 3 * f->nu / f->xi + f->mass;
    return w->options.form == LAT_SYMMETRIC ? fmax(1, hypot(diagonal, f->twist)) : 1;
}

/* Columns that half precision could not bring to their target go on in single, where they are. */
static int promote(lat_wilson *w, lat_equation *problem, lat_solve_report *report)
{
    int list[LAT_VECTOR_COLUMNS], left = 0;
    for (int k = 0; k < w->job->columns && w->options.inner == LAT_STORAGE_HALF; k++)
        if (report[k].end != LAT_END_CONVERGED && report[k].end != LAT_END_ITERATIONS)
            list[left++] = k;
    if (left == 0)
        return 0;
    if (!w->spare.d
        && lat_wilson_level_open(&w->spare, w, &w->fermion, LAT_STORAGE_SINGLE, w->options.columns))
        return -1;
    problem->inner = &w->spare.system;
    problem->from_zero = false;
    w->promoted += left;
    return lat_solve(problem, w->job->solver, left, list, report);
}

static void begin(lat_wilson *w, const lat_wilson_job *job)
{
    w->job = job;
    w->outer.bytes = w->inner.bytes = w->spare.bytes = w->wide.bytes = 0;
    memset(w->watch, 0, sizeof w->watch);
    for (int k = 0; k < job->columns; k++)
        w->outer.applied[k] = w->inner.applied[k] = w->spare.applied[k] = w->wide.applied[k] = 0;
}

int lat_wilson_solve(lat_wilson *w, const lat_wilson_job *job, lat_solve_report *report,
                     lat_wilson_cost *cost)
{
    double norm[LAT_VECTOR_COLUMNS], target[LAT_VECTOR_COLUMNS];
    lat_equation problem = {.outer = &w->outer.system,
                            .inner = w->inner.d ? &w->inner.system : &w->outer.system,
                            .b = w->b,
                            .x = w->x,
                            .from_zero = !job->from_x,
                            .target = target,
                            .max_iterations = job->max_iterations,
                            .delta = job->delta,
                            .progress = job->progress ? progress : NULL,
                            .done = job->done ? done : NULL,
                            .improve = w->deflation ? improve : NULL,
                            .with = w};
    begin(w, job);
    if (load(w, norm) || (job->loaded && job->loaded(job->with)))
        return -1;
    for (int k = 0; k < job->columns; k++)
        target[k] = job->target[k] * norm[k] / lat_wilson_scale(w);
    const double start = lat_seconds();
    if (job->solver == LAT_SOLVER_AUTO && w->options.multigrid && w->options.form != LAT_FULL)
        problem.leaves = lat_wilson_leaves;
    if ((job->solver != LAT_SOLVER_MG
         && (lat_solve(&problem, job->solver, job->columns, lat_column_numbers, report)
             || promote(w, &problem, report)))
        || lat_wilson_light(w, &problem, norm, report))
        return -1;
    const double seconds = lat_seconds() - start;
    int left[LAT_VECTOR_COLUMNS], count = 0;
    for (int k = 0; k < job->columns; k++) {
        report[k].residual *= norm[k] > 0 ? lat_wilson_scale(w) / norm[k] : 1;
        if (!job->done || report[k].end != LAT_END_CONVERGED) /* not fetched yet */
            left[count++] = k;
    }
    if (fetch(w, count, left))
        return -1;
    if (cost)
        add_costs(w, seconds, cost);
    return 0;
}

/* ---- several twisted masses ------------------------------------------------------------------ */

/* x = gamma5 M z - i mu z, to the host. */
static int fetch_twist(lat_wilson *w, double mu, lat_dfield *z, lat_field *x)
{
    const lat_part both = part_of(LAT_BOTH, w->job->columns, lat_column_numbers);
    const lat_dirac *d = w->outer.d;
    lat_space *s = w->outer.space;
    lat_scalar minus[LAT_VECTOR_COLUMNS];
    const lat_scalar *const by[] = {minus};
    const lat_dfield *const from[] = {z};
    for (int k = 0; k < w->job->columns; k++)
        minus[k] = (lat_scalar){0, -mu};
    if (d->ops->apply(w->outer.d, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5}, &both, w->x, z, NULL)
        || s->ops->axpys(s, &both, 1, by, from, w->x, NULL))
        return -1;
    return lat_spinors_get(s, &both, w->x, x, w->job->object);
}

/* The numbers of the twists in order of their squares. */
static void sort(int n, const double *twist, int *order)
{
    for (int i = 0; i < n; i++) {
        int at = i;
        for (; at > 0 && fabs(twist[order[at - 1]]) > fabs(twist[i]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

int lat_wilson_twists(lat_wilson *w, const lat_wilson_job *job, int twists, const double *twist,
                      lat_field *const *x, lat_solve_report *report, lat_wilson_cost *cost)
{
    double norm[LAT_VECTOR_COLUMNS], target[LAT_VECTOR_COLUMNS], shift[LAT_WILSON_TWISTS];
    int order[LAT_WILSON_TWISTS], rc = 0;
    lat_dfield *z[LAT_WILSON_TWISTS] = {NULL};
    lat_space *s = w->outer.space;
    const lat_equation problem = {.outer = &w->outer.system,
                                  .inner = &w->outer.system,
                                  .b = w->b,
                                  .target = target,
                                  .max_iterations = job->max_iterations,
                                  .progress = job->progress ? progress : NULL,
                                  .with = w};
    begin(w, job);
    sort(twists, twist, order);
    for (int j = 0; j < twists && rc == 0; j++) {
        shift[j] = twist[order[j]] * twist[order[j]];
        rc = (z[j] = lat_vector_new(s, "the solutions")) ? 0 : -1;
    }
    const lat_part both = part_of(LAT_BOTH, job->columns, lat_column_numbers);
    rc = rc || load(w, norm) || s->ops->gamma5(s, &both, w->b) ? -1 : 0;
    for (int k = 0; k < job->columns; k++)
        target[k] = job->target[k] * norm[k];
    const double start = lat_seconds();
    if (rc == 0)
        rc = lat_multishift(&problem, twists, shift, z, job->columns, lat_column_numbers, report);
    const double seconds = lat_seconds() - start;
    for (int j = 0; j < twists && rc == 0; j++)
        rc = fetch_twist(w, twist[order[j]], z[j], x[order[j]]);
    for (int k = 0; k < job->columns && rc == 0; k++)
        report[k].residual /= norm[k] > 0 ? norm[k] : 1;
    if (rc == 0 && cost)
        add_costs(w, seconds, cost);
    for (int j = 0; j < twists; j++)
        release(NULL, z[j]);
    return rc ? -1 : 0;
}
