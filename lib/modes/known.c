/* SPDX-License-Identifier: BSD-3-Clause */
/* known.c: modes that come from elsewhere: what they are, and whether one is missing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

/* What is left of a unit vector beside those before it: modes of files in single precision, and no
 * worse. */
static const double ALONE = 1e-4;

/* Vector k becomes a unit vector orthogonal to those before it. */
static int make_orthonormal(lat_search *w, const char *name, const lat_modes *m, int k)
{
    double before, after;
    if (lat_search_norm(w, m->vector[k], &before)
        || lat_search_orthogonal(w, k, m->vector, m->vector[k], NULL, &after))
        return -1;
    if (!(fabs(before - 1) <= ALONE) || !(fabs(after - 1) <= ALONE))
        return lat_fail("%s: mode %d: expected a vector of length 1 that is orthogonal to those "
                        "before it, found length %.6g, and %.6g beside them",
                        name, k, before, after);
    return lat_search_scale(w, 1 / after, m->vector[k]);
}

static int measure(lat_search *w, const char *name, lat_modes *m, lat_dfield *work)
{
    for (int k = 0; k < m->count; k++) {
        if (make_orthonormal(w, name, m, k)
            || lat_search_residual(w, m->vector[k], work, &m->value[k], &m->residual[k]))
            return -1;
        if (!(m->residual[k] <= w->job->tolerance))
            return lat_fail("%s: mode %d: expected a residual up to %.3g, found %.3g (lat-modes "
                            "--residual)",
                            name, k, w->job->tolerance, m->residual[k]);
    }
    lat_search_order(w, m->count, m->value, m->residual, m->vector);
    return 0;
}

static double square(const lat_search *w, double value)
{
    return w->op->positive ? value : value * value;
}

/* How many are kept, and where the others are said to begin: at the next one, or a little below
 * `rest`. */
static int choose(const lat_search *w, const lat_modes *m, double *need)
{
    const int n = m->count;
    double *value = lat_alloc((size_t)n + 1, sizeof *value, "eigenvalues");
    if (!value)
        return -1;
    memcpy(value, m->value, sizeof *value * (size_t)n);
    const double last = fabs(m->value[n - 1]);
    value[n] = m->rest > last ? m->rest : last;
    const int low = w->job->low, high = w->job->high,
              count = low < high ? lat_modes_cut(low, high, value) : low;
    *need = count < n        ? fabs(m->value[count]) - m->residual[count]
            : m->rest > last ? last + .9 * (m->rest - last)
                             : INFINITY;
    free(value);
    return count;
}

/* Of eigenvalues that are not among the first `count`, which are kept. */
static int find_rest(lat_search *w, const char *name, lat_modes *m, int count, double need)
{
    const double all = fabs(m->value[m->count - 1]), error = m->residual[m->count - 1],
                 last = count ? fabs(m->value[count - 1]) : 0;
    double b, g;
    const int rc = lat_ritz_beyond(w, m->count, m->vector, square(w, last), square(w, need), &b,
                                   &g);
    if (rc < 0)
        return -1;
    if (rc == 0)
        return lat_fail("%s: expected the next eigenvalue after %d modes, found none after %ld "
                        "applications",
                        name, m->count, w->applications);
    const double next = w->op->positive ? b : sqrt(b);
    if (next < all * (1 - 1e-6) - error)
        return lat_fail("%s: expected all modes up to the last one, %.8g, found that one up to "
                        "%.8g is missing",
                        name, all, next);
    m->rest = fmin(w->op->positive ? b - g : sqrt(fmax(b - g, 0)), need);
    while (m->count > count)
        lat_dfield_free(m->vector[--m->count]);
    return 0;
}

int lat_modes_examine(const lat_modes_job *job, const char *name, lat_modes *known)
{
    lat_modes_job own = *job;
    own.largest = false;
    lat_search w = lat_search_of(&own, job->op);
    lat_dfield *work = NULL;
    double need;
    int count = -1;
    if ((size_t)known->count >= w.dimension)
        return lat_fail("%s: expected fewer than %zu modes, found %d", name, w.dimension,
                        known->count);
    if (job->high > known->count)
        return lat_fail("%s: expected at least %d modes, found %d", name, job->high, known->count);
    if ((w.tmp = lat_search_vector(&w, "A^2")) && (work = lat_search_vector(&w, "a residual"))
        && measure(&w, name, known, work) == 0 && lat_lanczos_norm(&w) == 0)
        count = choose(&w, known, &need);
    const int rc = count < 0 ? -1 : find_rest(&w, name, known, count, need);
    known->norm = w.norm;
    known->applications = w.applications;
    known->converged = rc == 0;
    lat_dfield_free(work);
    lat_dfield_free(w.tmp);
    return rc;
}
