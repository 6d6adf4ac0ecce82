/* SPDX-License-Identifier: BSD-3-Clause */
/* ritz.c: conjugate gradients of the Ritz functional mu(z) = (z, B z)/(z, z), B = A^2 (or A, if A
 * is positive; with the other sign for the largest modes), in the complement of the modes found. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "modes_internal.h"

/* After so many steps x becomes a unit vector, and B x is computed anew; fewer beyond modes that
 * are known, as these are taken out then alone. More modes than are wanted are found where the last
 * one is a mixture of two with values of opposite sign. */
enum { FRESH = 40, BEYOND = 10, MORE = 8, STATE = 4, NUMBERS = 5, WORK = 5 /* vectors */ };

typedef struct ritz {
    lat_search *w;
    lat_dfield *x, *p, *g, *bx, *bp;
    lat_dfield **found, **y; /* modes of B; of A in their space */
    int count;               /* of found */
    double sign;
    double n, q, mu, gg; /* (x, x), (p, p), the functional, |g|^2 */
    double top;          /* the largest (p, B p)/(p, p) so far: about |B| */
    bool beyond;         /* what comes after known modes is searched, the last of which has */
    double last, need;   /* this value of B; a lower bound from this one on does */
    long step;           /* of the present mode */
    bool goes_on;        /* from a state in the midst of it */
} ritz;

static int apply(ritz *r, lat_dfield *out, lat_dfield *in)
{
    return lat_rc(lat_search_square(r->w, out, in, NULL)
                  || (r->sign < 0 && lat_search_scale(r->w, -1, out)));
}

static int real_dot(ritz *r, lat_dfield *x, lat_dfield *y, double *dot)
{
    lat_cx z;
    if (lat_search_dots(r->w, 1, &x, y, &z))
        return -1;
    *dot = creal(z);
    return 0;
}

/* y <- a x + b y */
static int axpby(ritz *r, double a, lat_dfield *x, double b, lat_dfield *y, double *norm)
{
    const lat_scalar sa = {a, 0}, sb = {b, 0};
    return r->w->s->ops->axpby(r->w->s, &r->w->p, &sa, x, &sb, y, norm);
}

/* g = P (B - mu) x / (x, x), from x and bx; P projects to the complement of the modes found: what
 * rounding puts into x of them would grow otherwise. */
static int gradient(ritz *r, bool project)
{
    double a, norm;
    if (real_dot(r, r->x, r->bx, &a) || r->w->s->ops->copy(r->w->s, &r->w->p, r->bx, r->g))
        return -1;
    r->mu = a / r->n;
    if (axpby(r, -r->mu / r->n, r->x, 1 / r->n, r->g, NULL)
        || lat_search_orthogonal(r->w, project ? r->count : 0, r->found, r->g, NULL, &norm))
        return -1;
    r->gg = norm * norm;
    return 0;
}

/* x becomes a unit vector of the complement, and what belongs to it is computed anew. The direction
 * stays, or is that of the gradient. */
static int fresh(ritz *r, bool restart)
{
    lat_search *w = r->w;
    double norm, p;
    if (lat_search_orthonormal(w, r->count, r->found, r->x, &norm) || apply(r, r->bx, r->x))
        return -1;
    r->n = 1;
    if (gradient(r, true))
        return -1;
    if (restart) {
        r->q = r->gg;
        return w->s->ops->copy(w->s, &w->p, r->g, r->p);
    }
    /* g is as many times larger as x is smaller. */
    if (lat_search_scale(w, norm, r->p)
        || (r->beyond && lat_search_orthogonal(w, r->count, r->found, r->p, NULL, &p))
        || lat_search_orthogonal(w, 1, &r->x, r->p, NULL, &p))
        return -1;
    r->q = p * p;
    return 0;
}

/* The minimum of mu(x + alpha p), of -c q alpha^2 + (b n - a q) alpha + c n = 0 the root with the
 * smaller functional; (x, p) = 0. */
static double step(double a, double b, double c, double n, double q)
{
    const double d = b * n - a * q, root = sqrt(d * d + 4 * c * c * n * q);
    return d >= 0 ? 2 * c * n / (-d - root) : (d - root) / (2 * c * q);
}

static int advance(ritz *r)
{
    lat_search *w = r->w;
    double b, c, gg = r->gg;
    lat_cx xp;
    if (apply(r, r->bp, r->p) || real_dot(r, r->p, r->bp, &b) || real_dot(r, r->p, r->g, &c))
        return -1;
    c *= r->n; /* (p, B x), without what rounding leaves of (p, x) mu */
    r->top = fmax(r->top, fabs(b) / r->q);
    const double alpha = step(r->mu * r->n, b, c, r->n, r->q);
    if (!isfinite(alpha) || alpha == 0)
        return fresh(r, true);
    if (axpby(r, alpha, r->p, 1, r->x, &r->n) || axpby(r, alpha, r->bp, 1, r->bx, NULL)
        || gradient(r, !r->beyond))
        return -1;
    /* p <- g + beta (p - x (x, p)/(x, x)) */
    const double beta = r->gg / gg;
    if (lat_search_dots(w, 1, &r->x, r->p, &xp))
        return -1;
    const lat_cx back = -xp / r->n;
    return lat_rc(lat_search_axpys(w, 1, &back, &r->x, r->p)
                  || axpby(r, 1, r->g, beta, r->p, &r->q));
}

/* |g| of the unit vector at which the iteration stops. An eigenvalue of B then lies within it of
 * mu. A mode of A is less precise: a neighbour in the spectrum of B, with a value of the other
 * sign, is far off in that of A. Rounding sets the end. */
static double target(const ritz *r)
{
    if (r->beyond)
        return fmin(.02 * r->mu,
                    fmax(fmax(r->mu - r->need, .1 * fabs(r->mu - r->last)), 1e-6 * r->mu));
    const double tol = r->w->job->tolerance, mu = fabs(r->mu), end = 32 * DBL_EPSILON * r->top;
    return fmax(r->w->op->positive ? .5 * tol : .001 * tol * fmax(sqrt(mu), tol), end);
}

/* ---- states ---------------------------------------------------------------------------------- */

/* The numbers of a state: draws; between two modes no others. */
static void numbers_of(ritz *r, double *of[NUMBERS])
{
    double *const all[NUMBERS] = {&r->n, &r->q, &r->mu, &r->gg, &r->top};
    memcpy(of, all, sizeof all);
}

/* The modes that are found, and what the present one goes on from. */
static int save(ritz *r, bool between)
{
    const int vectors = r->count + (between ? STATE : 0);
    double number[2 + NUMBERS] = {(double)r->w->draws, (double)r->step}, *of[NUMBERS];
    lat_dfield **v = lat_alloc((size_t)vectors + 1, sizeof *v, "a state");
    if (!v)
        return -1;
    memcpy(v, r->found, (size_t)r->count * sizeof *v);
    memcpy(v + r->count, (lat_dfield *[STATE]){r->x, r->p, r->g, r->bx},
           (size_t)(vectors - r->count) * sizeof *v);
    numbers_of(r, of);
    for (int i = 0; i < NUMBERS; i++)
        number[2 + i] = *of[i];
    const lat_modes_state state = {.between = between,
                                   .vectors = vectors,
                                   .numbers = between ? 2 + NUMBERS : 1,
                                   .vector = v,
                                   .number = number};
    const int rc = lat_search_save(r->w, &state);
    free(v);
    return rc;
}

static int load(ritz *r)
{
    const lat_modes_state *from = r->w->job->from;
    double *of[NUMBERS];
    if (!from)
        return 0;
    r->goes_on = from->numbers == 2 + NUMBERS;
    r->count = from->vectors - (r->goes_on ? STATE : 0);
    if ((from->numbers != 1 && !r->goes_on) || r->count < 0 || r->count > r->w->want + MORE
        || (r->goes_on && !(from->number[1] >= 0 && from->number[1] < 1e15)))
        return lat_fail("the checkpoint: expected modes of --method ritz, found others");
    r->w->draws = (uint64_t)from->number[0];
    lat_dfield *const to[STATE] = {r->x, r->p, r->g, r->bx};
    if (lat_search_load(r->w, from, 0, r->count, r->found)
        || (r->goes_on && lat_search_load(r->w, from, r->count, STATE, to)))
        return -1;
    r->step = r->goes_on ? (long)from->number[1] : 0;
    numbers_of(r, of);
    for (int i = 0; r->goes_on && i < NUMBERS; i++)
        *of[i] = from->number[2 + i];
    return 0;
}

/* ---- minima ---------------------------------------------------------------------------------- */

/* A random vector. */
static int begin(ritz *r)
{
    bool drawn;
    r->step = 0;
    r->top = 0;
    if (lat_search_draw(r->w, r->count, r->found, r->x, &drawn))
        return -1;
    return drawn ? 0
                 : lat_fail("modes: expected fewer than the dimension of the space, found more");
}

/* x becomes the minimum of the complement: 1, 0 if there were too many applications, or -1. */
static int minimise(ritz *r)
{
    lat_search *w = r->w;
    if (!r->goes_on && begin(r))
        return -1;
    for (;; r->step++) {
        const long i = r->step;
        if (!r->goes_on && (i % (r->beyond ? BEYOND : FRESH) == 0 ? fresh(r, i == 0) : advance(r)))
            return -1;
        r->goes_on = false;
        const int asked = i % 64 ? 0 : lat_search_progress(w, r->count, sqrt(r->gg * r->n));
        if (asked > 0)
            save(r, true);
        if (asked)
            return -1;
        /* Believed if x is fresh. */
        if (sqrt(r->gg * r->n) <= target(r)) {
            if (fresh(r, false))
                return -1;
            if (sqrt(r->gg) <= target(r))
                return 1;
        }
        if (w->applications > w->job->max_applications) {
            r->gg *= r->n; /* of the unit vector */
            return 0;
        }
    }
}

/* One more mode: as minimise. */
static int one(ritz *r)
{
    lat_search *w = r->w;
    double norm;
    const int rc = minimise(r);
    if (rc <= 0)
        return rc;
    if (lat_search_orthonormal(w, r->count, r->found, r->x, &norm))
        return -1;
    lat_search_swap(&r->x, &r->found[r->count++]);
    return 1;
}

/* Modes until as many as are wanted are eigenvectors of A: 1, 0 or -1. */
static int all(ritz *r, double *value, double *residual, double *worst)
{
    lat_search *w = r->w;
    int rc = load(r) ? -1 : 1, converged;
    while (rc > 0) {
        if (r->count >= w->want) {
            if (lat_search_diagonalise(w, r->count, r->found, r->y, value, residual, r->bx))
                return -1;
            if (lat_search_converged(w, w->want, value, residual, &converged, worst))
                return 1;
            if (r->count == w->want + MORE || (size_t)r->count == w->dimension)
                return 0;
        }
        rc = one(r);
        if (rc > 0 && save(r, false))
            return -1;
    }
    *worst = sqrt(r->gg);
    return rc;
}

static int open_iteration(ritz *r)
{
    lat_dfield *v[WORK] = {NULL};
    const int rc = lat_vector_new_all(r->w->s, WORK, v, "the Ritz functional");
    r->x = v[0];
    r->p = v[1];
    r->g = v[2];
    r->bx = v[3];
    r->bp = v[4];
    return rc;
}

static void close_iteration(ritz *r)
{
    lat_vector_free_all(WORK, (lat_dfield *const[]){r->x, r->p, r->g, r->bx, r->bp});
}

int lat_ritz_vectors(const lat_search *w) { return WORK + 2 * (w->want + MORE); }

int lat_modes_ritz(lat_search *w, lat_dfield **y, double *value, double *residual, double *worst)
{
    ritz r = {.w = w, .sign = w->job->largest ? -1 : 1};
    const size_t most = (size_t)w->want + MORE;
    double *numbers = lat_alloc(2 * most, sizeof *numbers, "eigenvalues");
    int rc = numbers && open_iteration(&r) == 0
                     && (r.found = lat_search_vectors(w, (int)most, "modes"))
                     && (r.y = lat_search_vectors(w, (int)most, "modes"))
                 ? all(&r, numbers, numbers + most, worst)
                 : -1;
    for (int i = 0; rc > 0 && i < w->want; i++) {
        value[i] = numbers[i];
        residual[i] = numbers[most + (size_t)i];
        lat_search_swap(&y[i], &r.y[i]);
    }
    lat_search_free((int)most, r.found);
    lat_search_free((int)most, r.y);
    close_iteration(&r);
    free(numbers);
    return rc;
}

int lat_ritz_beyond(lat_search *w, int n, lat_dfield *const *known, double last, double need,
                    double *least, double *gradient)
{
    ritz r = {.w = w, .sign = 1, .beyond = true, .last = last, .need = need, .count = n};
    int rc = (r.found = lat_alloc((size_t)n + 1, sizeof *r.found, "modes")) ? 0 : -1;
    for (int i = 0; i < n && rc == 0; i++)
        r.found[i] = known[i];
    rc = rc || open_iteration(&r) ? -1 : minimise(&r);
    *least = r.mu;
    *gradient = sqrt(r.gg);
    close_iteration(&r);
    free(r.found);
    return rc;
}
