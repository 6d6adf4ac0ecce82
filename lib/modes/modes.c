/* SPDX-License-Identifier: BSD-3-Clause */
/* modes.c: a search from beginning to end; how many modes are taken; gaps and bounds. */
#include "modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

static const int column_0 = 0;

/* ---- Dirac operators ------------------------------------------------------------------------- */

static int apply_dirac(const lat_hermitian *a, lat_dfield *out, lat_dfield *in,
                       const lat_dirac_end *end)
{
    const lat_dirac *d = a->with;
    const lat_spinor_part p = {a->parity, 1, &column_0};
    return d->ops->apply(a->with, a->matrix, &p, out, in, end);
}

lat_hermitian lat_hermitian_dirac(lat_dirac *d, lat_dirac_matrix matrix)
{
    return (lat_hermitian){.space = d->space,
                           .parity = matrix.form == LAT_FULL ? LAT_BOTH : LAT_ODD,
                           .positive = matrix.kind == LAT_NORMAL,
                           .apply = apply_dirac,
                           .with = d,
                           .matrix = matrix};
}

/* ---- gaps ------------------------------------------------------------------------------------ */

void lat_modes_gaps(int count, const double *value, double rest, bool largest, double *gap)
{
    for (int k = 0; k < count; k++) {
        /* Values of the rest lie beyond `rest` on both sides, or between -rest and rest. */
        gap[k] = largest ? fabs(value[k]) - rest : rest - fabs(value[k]);
        for (int j = 0; j < count; j++)
            if ((value[j] < 0) != (value[k] < 0))
                gap[k] = fmin(gap[k], fabs(value[k] - value[j]));
        gap[k] = fmax(gap[k], 0);
    }
}

double lat_modes_kappa(int count, const double *value, const double *residual, const double *gap,
                       int sign)
{
    double sum = 0;
    for (int k = 0; k < count; k++)
        if ((value[k] < 0) == (sign < 0))
            sum += gap[k] > 0 ? pow(residual[k] / gap[k], 2) : INFINITY;
    return sqrt(sum);
}

double lat_modes_bound(double kappa)
{
    const double x = kappa * (1 + 2 * kappa);
    return 2 * x < 1 ? x / (1 - 2 * x) : INFINITY;
}

/* ---- a search -------------------------------------------------------------------------------- */

static size_t dimension_of(const lat_hermitian *op)
{
    const size_t sites = lat_volume(&op->space->grid->spec.lattice);
    return (op->parity == LAT_BOTH ? sites : sites / 2) * 4 * (size_t)op->space->nc;
}

static int check(const lat_search *w)
{
    const lat_modes_job *job = w->job;
    if (job->low < 1 || job->high < job->low)
        return lat_fail("modes: expected a number of them from 1 on, found %d to %d", job->low,
                        job->high);
    if ((size_t)w->want > w->dimension)
        return lat_fail("modes: expected at most %zu of an operator of dimension %zu, found %d",
                        w->dimension - 1, w->dimension, job->high);
    return job->tolerance > 0 ? 0 : lat_fail("modes: expected a residual above 0");
}

/* How many of low .. high: the widest gap, in terms of the value before it. */
static int cut(const lat_modes_job *job, const double *value)
{
    int best = job->low;
    double widest = -1;
    for (int k = job->low; k <= job->high; k++) {
        const double a = fabs(value[k - 1]), b = fabs(value[k]), gap = fabs(b - a) / fmax(a, b);
        if (gap > widest * (1 + 1e-9)) {
            widest = gap;
            best = k;
        }
    }
    return best;
}

static void take(const lat_search *w, lat_modes *found)
{
    found->count = cut(w->job, found->value);
    const double next = fabs(found->value[found->count]), error = found->residual[found->count];
    found->rest = w->job->largest ? next + error : fmax(next - error, 0);
    for (int k = found->count; k < w->want; k++) {
        lat_dfield_free(found->vector[k]);
        found->vector[k] = NULL;
    }
    found->converged = true;
}

static void give_up(const lat_search *w, lat_modes *found)
{
    for (int k = 0; found->vector && k < w->want; k++)
        if (found->vector[k])
            lat_dfield_free(found->vector[k]);
    free(found->vector);
    found->vector = NULL;
}

int lat_modes_find(const lat_modes_job *job, lat_modes *found)
{
    lat_search w = {.job = job,
                    .op = job->op,
                    .s = job->op->space,
                    .p = {job->op->parity, 1, &column_0},
                    .dimension = dimension_of(job->op),
                    .want = job->high + 1,
                    .worst = INFINITY};
    *found = (lat_modes){.count = 0};
    if (check(&w))
        return -1;
    found->value = lat_alloc((size_t)w.want, sizeof(double), "eigenvalues");
    found->residual = lat_alloc((size_t)w.want, sizeof(double), "residuals");
    found->vector = calloc((size_t)w.want, sizeof(lat_dfield *));
    int rc = found->value && found->residual && found->vector ? 0 : -1;
    if (!found->vector)
        lat_fail("out of memory: modes");
    if (rc == 0 && !(w.tmp = lat_search_vector(&w, "A^2")))
        rc = -1;
    if (rc == 0)
        rc = job->method == LAT_MODES_RITZ
                 ? lat_modes_ritz(&w, found->vector, found->value, found->residual, &found->worst)
                 : lat_modes_lanczos(&w, found->vector, found->value, found->residual,
                                     &found->worst);
    if (w.tmp)
        lat_dfield_free(w.tmp);
    found->norm = w.norm;
    found->applications = w.applications;
    if (rc > 0)
        take(&w, found);
    else
        give_up(&w, found);
    return rc < 0 ? -1 : 0;
}

void lat_modes_free(lat_modes *found)
{
    for (int k = 0; k < found->count; k++)
        lat_dfield_free(found->vector[k]);
    free(found->vector);
    free(found->value);
    free(found->residual);
    *found = (lat_modes){.count = 0};
}
