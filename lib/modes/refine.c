/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.c: modes that a search in lower precision has found, made better: F of those that are not
 * good enough, orthogonal to the others, and a diagonalisation in the space of all, until they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

enum {
    STALLS = 5, /* rounds that do not help, until they are given up */
    NUMBERS = 6 /* of a state, before the residuals */
};

/* Where the interval of F begins, in terms of the last B: a level may be cut off there. */
static const double BEHIND = 1.25;

typedef struct refinement {
    lat_search *w;
    lat_filter f;
    int n, next;         /* vectors; the next one whose image is to be made */
    lat_dfield **x, **y; /* images; Ritz vectors */
    double *value, *residual, *worst;
    int stalls;
} refinement;

/* ---- states ---------------------------------------------------------------------------------- */

/* In the midst of the images. */
static int save(refinement *z)
{
    double *number = lat_alloc((size_t)(NUMBERS + z->n), sizeof *number, "a state");
    lat_dfield **v = lat_alloc((size_t)z->n, sizeof *v, "a state");
    int rc = number && v ? 0 : -1;
    if (rc == 0) {
        const double head[NUMBERS] = {
            z->next,    z->stalls,          *z->worst,
            z->w->norm, z->value[z->n - 1], z->value[z->w->job->high - 1]};
        memcpy(number, head, sizeof head);
        memcpy(number + NUMBERS, z->residual, (size_t)z->n * sizeof *number);
        for (int k = 0; k < z->n; k++)
            v[k] = k < z->next ? z->x[k] : z->y[k];
        const lat_modes_state state = {.between = true,
                                       .refined = true,
                                       .vectors = z->n,
                                       .numbers = NUMBERS + z->n,
                                       .vector = v,
                                       .number = number};
        rc = lat_search_save(z->w, &state);
    }
    LAT_FREE(number, v);
    return rc;
}

static int load(refinement *z, const lat_modes_state *from)
{
    const double *v = from->number;
    if (from->vectors != z->n || from->numbers != NUMBERS + z->n || !(v[0] >= 0 && v[0] <= z->n)
        || !(v[1] >= 0 && v[1] < STALLS))
        return lat_fail("the checkpoint: expected modes that are refined, found others");
    z->next = (int)v[0];
    z->stalls = (int)v[1];
    *z->worst = v[2];
    z->w->norm = v[3];
    z->value[z->n - 1] = v[4];
    z->value[z->w->job->high - 1] = v[5];
    memcpy(z->residual, v + NUMBERS, (size_t)z->n * sizeof *v);
    return lat_rc(lat_search_load(z->w, from, 0, z->next, z->x)
                  || lat_search_load(z->w, from, z->next, z->n - z->next, z->y + z->next));
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* The interval of F begins behind all modes, and F prefers a sign. Where F then ranks what is
 * behind them above some that are wanted, it prefers none, begins at the last mode, and is steep
 * there. */
static void choose(refinement *z)
{
    lat_search *w = z->w;
    const double last = fabs(z->value[z->n - 1]), wanted = fabs(z->value[w->job->high - 1]);
    const double power = w->op->positive ? 1 : 2;
    lat_filter_choose(&z->f, BEHIND * pow(last, power));
    w->sign = 1;
    if (w->op->positive || lat_filter_value(&z->f, -wanted) >= lat_filter_value(&z->f, last))
        return;
    w->sign = 0;
    lat_filter_choose(&z->f, pow(last, power));
    lat_filter_raise(&z->f, pow(wanted, power));
}

/* x[k] <- y[k], or F y[k] of a mode that is not good. */
static int images(refinement *z)
{
    lat_search *w = z->w;
    choose(z);
    while (z->next < z->n) {
        const int k = z->next++;
        lat_dfield *image = z->y[k];
        if ((!(z->residual[k] <= w->job->tolerance)
             && (lat_filter_apply(&z->f, 1, z->y + k) || lat_filter_image(&z->f, 0, &image)))
            || w->s->ops->copy(w->s, &w->p, image, z->x[k]))
            return -1;
        const int asked = lat_search_again(w);
        if (asked > 0)
            save(z);
        if (asked)
            return -1;
    }
    z->next = 0;
    return 0;
}

static int orthonormal(lat_search *w, int n, lat_dfield *const *x)
{
    for (int k = 0; k < n; k++) {
        double norm;
        if (lat_search_orthonormal(w, k, x, x[k], &norm))
            return -1;
    }
    return 0;
}

/* 1; 0 if they do not get better, or after too many applications; or -1. */
static int rounds(refinement *z, lat_dfield *work)
{
    lat_search *w = z->w;
    for (;;) {
        const double before = *z->worst;
        int converged;
        if (orthonormal(w, z->n, z->x)
            || lat_search_diagonalise(w, z->n, z->x, z->y, z->value, z->residual, work))
            return -1;
        const bool good = lat_search_converged(w, z->n, z->value, z->residual, &converged,
                                               z->worst);
        if (lat_search_progress(w, converged, *z->worst) < 0) /* 1: it is saved soon */
            return -1;
        if (good)
            return 1;
        z->stalls = *z->worst > .9 * before ? z->stalls + 1 : 0;
        if (z->stalls == STALLS || w->applications > w->job->max_applications)
            return 0;
        if (images(z))
            return -1;
    }
}

int lat_modes_refine(lat_search *w, int n, lat_dfield **x, double *value, double *residual,
                     double *worst)
{
    const lat_modes_state *from = w->job->from && w->job->from->refined ? w->job->from : NULL;
    refinement z = {.w = w,
                    .f = {.w = w},
                    .n = n,
                    .x = x,
                    .value = value,
                    .residual = residual,
                    .worst = worst};
    lat_dfield *work = lat_search_vector(w, "a residual");
    z.y = lat_search_vectors(w, n, "modes");
    *worst = INFINITY;
    int rc = work && z.y && lat_filter_open(&z.f, w) == 0 ? 0 : -1;
    if (rc == 0 && from)
        rc = load(&z, from) || images(&z) ? -1 : 0;
    rc = rc ? -1 : rounds(&z, work);
    for (int k = 0; k < n && z.y; k++) /* the result is in y */
        lat_search_swap(&x[k], &z.y[k]);
    lat_search_free(n, z.y);
    lat_dfield_free(work);
    lat_filter_close(&z.f);
    return rc;
}
