/* SPDX-License-Identifier: BSD-3-Clause */
/* refine.c: modes that a search in lower precision has found, made better: F of those that are not
 * good enough, orthogonal to the others, and a diagonalisation in the space of all, until they are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "modes_internal.h"

enum { STALLS = 5 }; /* rounds that do not help, until they are given up */

/* Where the interval of F begins, in terms of the last B: a level may be cut off there. */
static const double BEHIND = 1.25;

/* x[k] <- y[k], or F y[k] of a mode that is not good. */
static int images(lat_filter *f, int n, lat_dfield *const *y, const double *residual,
                  lat_dfield *const *x)
{
    lat_search *w = f->w;
    for (int k = 0; k < n; k++) {
        lat_dfield *image = y[k];
        if (!(residual[k] <= w->job->tolerance)
            && (lat_filter_apply(f, 1, y + k) || lat_filter_image(f, 0, &image)))
            return -1;
        if (w->s->ops->copy(w->s, &w->p, image, x[k]) || lat_search_again(w))
            return -1;
    }
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
static int rounds(lat_filter *f, int n, lat_dfield **x, lat_dfield **y, double *value,
                  double *residual, lat_dfield *work, double *worst)
{
    lat_search *w = f->w;
    for (int stalls = 0;;) {
        const double before = *worst;
        int converged;
        if (orthonormal(w, n, x) || lat_search_diagonalise(w, n, x, y, value, residual, work))
            return -1;
        const bool good = lat_search_converged(w, n, value, residual, &converged, worst);
        if (lat_search_progress(w, converged, *worst))
            return -1;
        if (good)
            return 1;
        stalls = *worst > .9 * before ? stalls + 1 : 0;
        if (stalls == STALLS || w->applications > w->job->max_applications)
            return 0;
        lat_filter_choose(f, BEHIND * pow(value[n - 1], w->op->positive ? 1 : 2));
        if (images(f, n, y, residual, x))
            return -1;
    }
}

int lat_modes_refine(lat_search *w, int n, lat_dfield **x, double *value, double *residual,
                     double *worst)
{
    lat_filter f = {.w = w};
    lat_dfield *work = lat_search_vector(w, "a residual"), **y = lat_search_vectors(w, n, "modes");
    *worst = INFINITY;
    const int rc = work && y && lat_filter_open(&f, w) == 0
                       ? rounds(&f, n, x, y, value, residual, work, worst)
                       : -1;
    for (int k = 0; k < n && y; k++) /* the result is in y */
        lat_search_swap(&x[k], &y[k]);
    lat_search_free(n, y);
    lat_dfield_free(work);
    lat_filter_close(&f);
    return rc;
}
