/* SPDX-License-Identifier: BSD-3-Clause */
/* complete.c: thick-restart Lanczos of A itself (Wu, Simon, SIAM J. Matrix Anal. Appl. 22 (2000)
 * 602) from one vector, in the complement of known modes.
 *
 * A polynomial would spare vectors at the cost of applications. Here nothing is worth an
 * application: images stay in the basis while it has space, values and residuals are those
 * of the projected matrix, which is real. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

enum {
    SPARE = 16, /* Ritz vectors that stay at a restart, beside those that are wanted */
    CYCLE = 64, /* images between restarts */
    EVERY = 6   /* of them between two looks at the Ritz values; or an eighth of the basis */
};
static const double TRUST =
                        .02, /* of its value: the residual of a Ritz value that no mode is below */
    UNSEEN = 1e-3;           /* part of a mode in the first vector, in terms of an average one */

typedef struct lanczos {
    lat_search *w;
    const lat_modes_known *known;
    lat_dfield **v;    /* [known + capacity]: the known modes, the basis, scratch */
    int most, keep, n; /* images before a restart, and that stay; n: of so many vectors */
    long steps;        /* images in all */
    lat_cx *h, *a, *u; /* [most][most]: the upper triangle of the projected matrix, which is real;
                        * a copy; its eigenvectors [n] */
    double *theta;     /* its eigenvalues */
    double beta;       /* |A v_{n-1} - ..|, which is v_n; 0: the space is invariant */
} lanczos;

static lat_dfield **basis(const lanczos *z) { return z->v + z->known->m->count; }
static int capacity_of(const lanczos *z) { return z->most + 1 + z->keep; } /* basis and scratch */

/* ---- the space ------------------------------------------------------------------------------- */

/* The first vector; what is left of it is nothing if there is no complement. */
static int begin(lanczos *z)
{
    lat_search *w = z->w;
    double before;
    lat_dfield *v = basis(z)[0];
    if (w->s->ops->copy(w->s, &w->p, z->known->start, v) || lat_search_norm(w, v, &before)
        || lat_search_orthogonal(w, z->known->m->count, z->v, v, NULL, &z->beta))
        return -1;
    z->beta = z->beta > 1e-8 * before ? z->beta : 0;
    return z->beta > 0 ? lat_search_scale(w, 1 / z->beta, v) : 0;
}

/* One more image. */
static int step(lanczos *z)
{
    lat_search *w = z->w;
    const int known = z->known->m->count, j = z->n;
    lat_dfield **v = basis(z);
    lat_cx *dot = lat_alloc((size_t)(known + j) + 1, sizeof *dot, "products");
    int rc = lat_rc(!dot || lat_search_apply(w, v[j + 1], v[j], NULL)
                    || lat_search_orthogonal(w, known + j + 1, z->v, v[j + 1], dot, &z->beta));
    for (int i = 0; i <= j && rc == 0; i++)
        z->h[i * z->most + j] = creal(dot[known + i]);
    free(dot);
    z->n++;
    z->steps++;
    if (!(z->beta > 1e3 * w->epsilon)) /* |A| is about 1 */
        z->beta = 0;
    return rc || (z->beta > 0 && lat_search_scale(w, 1 / z->beta, v[z->n])) ? -1 : 0;
}

static int diagonalise(lanczos *z)
{
    const int n = z->n;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            z->a[i * n + j] = z->h[i * z->most + j];
    return lat_dense_eigen(n, z->a, z->theta, z->u);
}

static double residual_of(const lanczos *z, int k)
{
    return z->beta * fabs(creal(z->u[k * z->n + z->n - 1]));
}

/* to[k] = sum_i v_i u_k[i], k < count. */
static int ritz_vectors(lanczos *z, int count, lat_dfield *const *to)
{
    return lat_search_rotate(z->w, z->n, basis(z), count, z->u, z->n, to);
}

/* The lowest Ritz vectors take the place of the basis, and the vector behind it stays. */
static int restart(lanczos *z)
{
    lat_dfield **v = basis(z), **scratch = v + z->most + 1;
    if (ritz_vectors(z, z->keep, scratch))
        return -1;
    for (int k = 0; k <= z->keep; k++)
        lat_search_swap(v + k, k < z->keep ? scratch + k : v + z->n);
    for (int i = 0; i < z->keep; i++)
        for (int j = i; j < z->keep; j++)
            z->h[i * z->most + j] = i == j ? z->theta[i] : 0;
    z->n = z->keep;
    return 0;
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* The value of the last mode that is wanted, of those known and the first `count` Ritz values; or
 * infinite, where these are too few. */
static double last_wanted(const lanczos *z, int count)
{
    const int known = z->known->m->count, want = z->w->job->low;
    if (known + count < want)
        return INFINITY;
    /* Known values ascend, as Ritz values do. */
    int i = 0, j = 0;
    double last = 0;
    while (i + j < want)
        last = j == count || (i < known && z->known->m->value[i] <= z->theta[j])
                   ? z->known->m->value[i++]
                   : z->theta[j++];
    return last;
}

/* Images after which a zero mode is seen where all others have values from `theta` on: Chebyshev's
 * polynomial of that degree amplifies its part of the first vector. */
static double enough(const lanczos *z, double theta)
{
    const double b = fmin(fmax(theta, 1e-6), .9);
    return log(2 * sqrt((double)z->w->dimension) / UNSEEN) / acosh((1 + b) / (1 - b));
}

/* Is each mode known, up to the last one that is wanted? *count of the Ritz vectors are lacking,
 * or, where A has an error, may be. */
static bool decided(const lanczos *z, int *count, double *worst)
{
    const double error = z->known->error;
    for (*count = 0; *count < z->n; ++*count) {
        const double theta = z->theta[*count], residual = residual_of(z, *count),
                     last = last_wanted(z, *count),
                     tolerance = z->known->tolerance(theta) * z->w->job->tolerance + error;
        *worst = residual;
        if (isfinite(last) && residual <= fmax(tolerance, TRUST * theta)
            && theta - residual - error > last && (double)z->steps >= enough(z, theta))
            return true;
        if (isfinite(last) && error <= 0 && residual <= tolerance && theta > last - tolerance)
            return true;
        if (residual > tolerance)
            return false;
        if (error > 0) {
            *count = 1;
            return true;
        }
    }
    return z->beta <= 0;
}

/* 1, 0 after too many applications, or -1. */
static int iterate(lanczos *z, int *count, double *worst)
{
    lat_search *w = z->w;
    *count = 0;
    while (z->beta > 0) {
        if (step(z))
            return -1;
        const int every = z->n / 8 > EVERY ? z->n / 8 : EVERY;
        if (z->n < z->most && z->beta > 0 && z->n % every) {
            if (lat_search_again(w))
                return -1;
            continue;
        }
        if (diagonalise(z))
            return -1;
        const bool done = decided(z, count, worst);
        if (lat_search_progress(w, z->known->m->count + *count, *worst))
            return -1;
        if (done)
            break;
        if (w->applications > w->job->max_applications)
            return 0;
        if (z->n == z->most && restart(z))
            return -1;
    }
    return 1;
}

/* ---- the method ------------------------------------------------------------------------------ */

static int open_space(lanczos *z, size_t dimension)
{
    const int known = z->known->m->count, want = z->w->job->low;
    const size_t left = dimension - (size_t)known;
    z->keep = want + SPARE;
    z->most = z->keep + CYCLE;
    if ((size_t)z->most > left) {
        z->most = (int)left;
        z->keep = z->most / 2;
    }
    const int capacity = capacity_of(z);
    const size_t most = (size_t)z->most;
    /* Those that are found, and their partners, besides. */
    if (lat_search_memory(z->w->job, lat_search_bytes(z->w->s) * (capacity + 2 * want - known)))
        return -1;
    z->v = lat_alloc_zero((size_t)(known + capacity), sizeof *z->v, "modes");
    z->h = lat_alloc(3 * most * most + 1, sizeof *z->h, "a small matrix");
    z->theta = lat_alloc(most + 1, sizeof *z->theta, "eigenvalues");
    if (!z->v || !z->h || !z->theta)
        return -1;
    z->a = z->h + most * most;
    z->u = z->a + most * most;
    if (known)
        memcpy(z->v, z->known->m->vector, (size_t)known * sizeof *z->v);
    return lat_vector_new_all(z->w->s, capacity, basis(z), "the basis of Lanczos");
}

static void close_space(lanczos *z)
{
    if (z->v)
        lat_vector_free_all(capacity_of(z), basis(z));
    LAT_FREE(z->v, z->h, z->theta);
}

/* `count` Ritz vectors to the caller. */
static int hand_over(lanczos *z, int count, lat_modes *found)
{
    if (lat_modes_new(found, z->w->s, count))
        return -1;
    for (int k = 0; k < count; k++) {
        found->value[k] = z->theta[k];
        found->residual[k] = residual_of(z, k);
    }
    return count ? ritz_vectors(z, count, found->vector) : 0;
}

int lat_modes_complete(const lat_modes_job *job, const lat_modes_known *known, lat_modes *found)
{
    lat_search w = lat_search_of(job, job->op);
    lanczos z = {.w = &w, .known = known};
    int count = 0, rc = -1;
    *found = (lat_modes){.worst = INFINITY};
    if ((w.tmp = lat_search_vector(&w, "a vector")) && open_space(&z, known->dimension) == 0
        && begin(&z) == 0)
        rc = iterate(&z, &count, &found->worst);
    if (rc > 0)
        rc = hand_over(&z, known->error > 0 ? 0 : count, found) ? -1 : 1;
    found->converged = rc > 0 && !(known->error > 0 && count > 0);
    found->applications = w.applications;
    close_space(&z);
    lat_dfield_free(w.tmp);
    return rc < 0 ? -1 : 0;
}
