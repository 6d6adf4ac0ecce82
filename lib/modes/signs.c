/* SPDX-License-Identifier: BSD-3-Clause */
/* signs.c: Lanczos of modes of both signs.
 *
 * T_n falls with |lambda|, so F = (1 + A/(4 |A|)) T_n ranks the modes of one sign by |lambda|. It
 * ranks -lambda as it does mu > lambda where T_n(mu)/T_n(lambda) = (4 |A| - lambda)/(4 |A| + mu).
 * Light quarks have a small lambda/|A|, and mu is close to lambda. Heavy ones have many modes from
 * lambda to mu: all vectors that are kept are of positive modes, and the lowest of these are found.
 * Then a second search, with 1 - A/(4 |A|), finds the lowest negative ones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

bool lat_signs_complete(const lat_filter *f, int n, const double *value, const double *residual)
{
    const lat_search *w = f->w;
    if (w->job->largest || w->op->positive)
        return true;
    const double least = lat_filter_value(f, -w->sign * fabs(value[w->want - 1]));
    for (int k = 0; k < n; k++) {
        const double nearest = fmax(fabs(value[k]) - residual[k], 0);
        if (lat_filter_value(f, copysign(nearest, value[k])) <= least)
            return true;
    }
    return false;
}

/* ---- states ---------------------------------------------------------------------------------- */

int lat_signs_save(lat_search *w, const lat_modes_state *state)
{
    if (!w->held)
        return lat_search_save(w, state);
    const int held = w->held->count;
    const size_t size = sizeof(double) * (size_t)held;
    lat_modes_state all = *state;
    all.vectors += held;
    all.numbers += 2 * held;
    all.vector = lat_alloc((size_t)all.vectors, sizeof(lat_dfield *), "a state");
    all.number = lat_alloc((size_t)all.numbers, sizeof *all.number, "a state");
    int rc = all.vector && all.number ? 0 : -1;
    if (rc == 0) {
        memcpy(all.vector, state->vector, sizeof(lat_dfield *) * (size_t)state->vectors);
        memcpy(all.vector + state->vectors, w->held->vector, sizeof(lat_dfield *) * (size_t)held);
        memcpy(all.number, state->number, sizeof(double) * (size_t)state->numbers);
        memcpy(all.number + state->numbers, w->held->value, size);
        memcpy(all.number + state->numbers + held, w->held->residual, size);
        rc = lat_search_save(w, &all);
    }
    LAT_FREE(all.vector, all.number);
    return rc;
}

/* The modes that a state holds, without which it is that of a search with one sign. */
static int load(lat_search *w, lat_modes_state *state, lat_modes *held)
{
    const double both = state->numbers > LAT_LANCZOS_HELD ? state->number[LAT_LANCZOS_HELD] : 0;
    const int count = both >= 0 && both < 2. * w->want + 2 ? (int)both / 2 : 0;
    if (count == 0)
        return 0;
    if (state->vectors < count || state->numbers < 2 * count)
        return lat_fail("the checkpoint: expected a state of --method lanczos, found another");
    state->vectors -= count;
    state->numbers -= 2 * count;
    const double *const number = state->number + state->numbers;
    if (lat_modes_new(held, w->s, count)
        || lat_search_load(w, state, state->vectors, count, held->vector))
        return -1;
    memcpy(held->value, number, sizeof(double) * (size_t)count);
    memcpy(held->residual, number + count, sizeof(double) * (size_t)count);
    return 0;
}

/* ---- modes of two searches ------------------------------------------------------------------- */

/* The positive ones of the modes y are held. */
static int hold(lat_search *w, lat_dfield **y, const double *value, const double *residual,
                lat_modes *held)
{
    int count = 0, k = 0;
    for (int i = 0; i < w->want; i++)
        count += value[i] > 0;
    if (lat_search_memory(w->job, lat_search_bytes(w->s) * (lat_lanczos_vectors(w) + 1 + count))
        || lat_modes_new(held, w->s, count))
        return -1;
    for (int i = 0; i < w->want; i++) {
        if (value[i] > 0) {
            held->value[k] = value[i];
            held->residual[k] = residual[i];
            lat_search_swap(&held->vector[k++], &y[i]);
        }
        lat_dfield_free(y[i]);
        y[i] = NULL;
    }
    return 0;
}

/* y: the first of those that are held and of its negative ones. 1, 0 if they are too few, or -1. */
static int merge(lat_search *w, lat_modes *held, lat_dfield **y, double *value, double *residual,
                 double *worst)
{
    const int want = w->want;
    const size_t most = (size_t)(held->count + want);
    double *v = lat_alloc(2 * most, sizeof *v, "eigenvalues"), *r = v + most;
    lat_dfield **x = lat_alloc_zero(most, sizeof *x, "modes");
    int n = 0, converged;
    for (int i = 0; i < (int)most && v && x; i++) {
        const bool first = i < held->count;
        const int k = first ? i : i - held->count;
        v[n] = first ? held->value[k] : value[k];
        r[n] = first ? held->residual[k] : residual[k];
        if (first || v[n] < 0)
            lat_search_swap(&x[n++], first ? &held->vector[k] : &y[k]);
    }
    if (v && x)
        lat_search_order(w, n, v, r, x);
    for (int k = 0; k < n; k++) {
        if (k < want) {
            value[k] = v[k];
            residual[k] = r[k];
            lat_search_swap(&y[k], &x[k]);
        }
        lat_dfield_free(x[k]);
    }
    const int rc = v && x ? lat_search_converged(w, n, value, residual, &converged, worst) : -1;
    LAT_FREE(v, x);
    return rc;
}

int lat_modes_lanczos(lat_search *w, lat_dfield **y, double *value, double *residual, double *worst)
{
    const lat_modes_job *const job = w->job;
    lat_modes_job own = *job;
    lat_modes_state state = {.vectors = 0};
    lat_modes held = {.count = 0};
    bool complete = true;
    int rc = 1;
    w->job = &own;
    w->sign = 1;
    if (job->from) {
        state = *job->from;
        own.from = &state;
        rc = load(w, &state, &held) ? -1 : 1;
    }
    if (rc > 0 && held.count == 0) {
        rc = lat_lanczos_of_sign(w, y, value, residual, worst, &complete);
        own.from = NULL;
        if (rc > 0 && !complete && hold(w, y, value, residual, &held))
            rc = -1;
    }
    if (rc > 0 && held.count > 0) {
        w->sign = -1;
        w->held = &held;
        rc = lat_lanczos_of_sign(w, y, value, residual, worst, &complete);
        if (rc > 0)
            rc = merge(w, &held, y, value, residual, worst);
        else if (isinf(*worst)) /* some are found */
            *worst = 0;
    }
    lat_modes_free(&held);
    w->held = NULL;
    w->job = job;
    return rc;
}
