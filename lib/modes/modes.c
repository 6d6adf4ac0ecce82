/* SPDX-License-Identifier: BSD-3-Clause */
/* modes.c: a search from beginning to end; how many modes are taken; gaps and bounds. */
#include "modes.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

static const int column_0 = 0;

/* Of residuals of a search in lower precision: those that rounding allows, in terms of epsilon |A|;
 * below that absolute one it gets modes to spare. */
static const double FLOOR = 32, REFINED = 1e-5;

/* ---- Dirac operators ------------------------------------------------------------------------- */

static int apply_dirac(const lat_hermitian *a, lat_dfield *out, lat_dfield *in,
                       const lat_apply_end *end)
{
    const lat_dirac *d = a->with;
    const lat_part p = {a->parity, 1, &column_0};
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

int lat_modes_cut(int low, int high, const double *value)
{
    int best = low;
    double widest = -1;
    for (int k = low; k <= high; k++) {
        const double a = fabs(value[k - 1]), b = fabs(value[k]), gap = fabs(b - a) / fmax(a, b);
        if (gap > widest * (1 + 1e-9)) {
            widest = gap;
            best = k;
        }
    }
    return best;
}

/* Of n candidates. */
static void take(const lat_search *w, int n, lat_modes *found)
{
    found->count = lat_modes_cut(w->job->low, w->job->high, found->value);
    const double next = fabs(found->value[found->count]), error = found->residual[found->count];
    found->rest = w->job->largest ? next + error : fmax(next - error, 0);
    for (int k = found->count; k < n; k++) {
        lat_dfield_free(found->vector[k]);
        found->vector[k] = NULL;
    }
    found->converged = true;
}

lat_search lat_search_of(const lat_modes_job *job, const lat_hermitian *op)
{
    return (lat_search){.job = job,
                        .op = op,
                        .s = op->space,
                        .p = {op->parity, 1, &column_0},
                        .dimension = dimension_of(op),
                        .epsilon = op->space->grid->spec.storage == LAT_STORAGE_DOUBLE ? 0x1p-53
                                                                                       : 0x1p-24,
                        .want = job->high + 1,
                        .worst = INFINITY};
}

/* That of the operator in lower precision; with some modes more where they have to be refined, as
 * its convergence is by what it has beyond those that are wanted. */
static lat_search coarse_search(const lat_modes_job *job, lat_modes_job *own)
{
    *own = *job;
    if (job->tolerance < REFINED)
        own->high += 4 + own->high / 4;
    lat_search w = lat_search_of(own, job->coarse);
    if ((size_t)w.want > w.dimension) {
        own->high = job->high;
        w.want = own->high + 1;
    }
    w.floor = FLOOR * w.epsilon;
    return w;
}

/* Vectors of the coarse space become those of the other one. */
static int convert(const lat_search *w, const lat_search *coarse, lat_dfield **v)
{
    for (int k = 0; k < coarse->want; k++) {
        lat_dfield *old = v[k], *new = lat_search_vector((lat_search *)w, "modes");
        if (!new)
            return -1;
        v[k] = new;
        const int rc = w->s->ops->convert(w->s, &w->p, coarse->s, old, new);
        lat_dfield_free(old);
        if (rc)
            return -1;
    }
    return 0;
}

/* Of a search by one operator. */
static double bytes_of(lat_search *w)
{
    const lat_dirac *many = w->op->many;
    const double one = lat_search_bytes(w->s), batch = many ? lat_search_bytes(many->space) : one;
    const double sums = lat_search_sums(many ? many->space : w->s);
    if (w->job->method == LAT_MODES_DAVIDSON)
        return one * (lat_davidson_vectors(w) + 1) + batch + sums;
    if (w->job->method == LAT_MODES_RITZ)
        return one * (lat_ritz_vectors(w) + 1) + sums;
    return one * (lat_lanczos_vectors(w) + 1) + batch * 3 + (many ? batch + one : 0) + sums;
}

double lat_modes_bytes(const lat_modes_job *job)
{
    lat_modes_job own;
    lat_search w = lat_search_of(job, job->op), coarse;
    if (!job->coarse)
        return bytes_of(&w);
    coarse = coarse_search(job, &own);
    /* Modes, those that they become, A^2, a residual, the polynomial. */
    return fmax(bytes_of(&coarse),
                lat_search_bytes(w.s) * (2 * coarse.want + 5) + lat_search_sums(w.s));
}

/* n modes; what the method returns. */
static int run(lat_search *w, lat_modes *found)
{
    w->tmp = lat_search_vector(w, "A^2");
    if (w->op->many)
        w->batch = lat_vector_new(w->op->many->space, "rotations");
    int (*const method)(lat_search *, lat_dfield **, double *, double *,
                        double *) = w->job->method == LAT_MODES_RITZ       ? lat_modes_ritz
                                    : w->job->method == LAT_MODES_DAVIDSON ? lat_modes_davidson
                                                                           : lat_modes_lanczos;
    const int rc = !w->tmp || (w->op->many && !w->batch)
                       ? -1
                       : method(w, found->vector, found->value, found->residual, &found->worst);
    lat_dfield_free(w->tmp);
    lat_dfield_free(w->batch);
    w->tmp = w->batch = NULL;
    return rc;
}

/* The same by two operators. A state of modes that are refined is from behind the coarse search. */
static int run_both(lat_search *w, lat_search *coarse, lat_modes *found)
{
    const bool refined = w->job->from && w->job->from->refined;
    int rc = refined ? 1 : run(coarse, found);
    w->norm = coarse->norm;
    w->applications = coarse->applications;
    if (rc <= 0)
        return rc;
    rc = (refined ? lat_vector_new_all(w->s, coarse->want, found->vector, "modes")
                  : convert(w, coarse, found->vector))
                 || !(w->tmp = lat_search_vector(w, "A^2"))
             ? -1
             : lat_modes_refine(w, coarse->want, found->vector, found->value, found->residual,
                                &found->worst);
    lat_dfield_free(w->tmp);
    return rc;
}

/* Lists for n modes, vectors NULL. */
static int alloc_lists(lat_modes *m, size_t n)
{
    m->value = lat_alloc(n + 1, sizeof(double), "eigenvalues");
    m->residual = lat_alloc(n + 1, sizeof(double), "residuals");
    m->vector = lat_alloc_zero(n + 1, sizeof(lat_dfield *), "modes");
    return m->value && m->residual && m->vector ? 0 : -1;
}

int lat_modes_find(const lat_modes_job *job, lat_modes *found)
{
    lat_modes_job own;
    lat_search w = lat_search_of(job, job->op), coarse;
    *found = (lat_modes){.count = 0};
    if (check(&w) || lat_search_memory(job, lat_modes_bytes(job)))
        return -1;
    if (job->coarse)
        coarse = coarse_search(job, &own);
    const int n = job->coarse ? coarse.want : w.want;
    int rc = alloc_lists(found, (size_t)n);
    if (rc == 0)
        rc = job->coarse ? run_both(&w, &coarse, found) : run(&w, found);
    found->norm = w.norm;
    found->applications = w.applications;
    if (rc > 0) {
        take(&w, n, found);
    } else {
        lat_search_free(n, found->vector);
        found->vector = NULL;
    }
    return rc < 0 ? -1 : 0;
}

int lat_modes_new(lat_modes *m, lat_space *s, int n)
{
    if (alloc_lists(m, (size_t)n))
        return -1;
    m->count = n; /* to be freed, whatever there is */
    return lat_vector_new_all(s, n, m->vector, "modes");
}

void lat_modes_free(lat_modes *found)
{
    lat_search_free(found->count, found->vector);
    LAT_FREE(found->value, found->residual);
    *found = (lat_modes){.count = 0};
}
