/* SPDX-License-Identifier: BSD-3-Clause */
/* solve.c: relaxed conjugate gradients in a chirality, with residuals made anew, and defect
 * correction around them. */
#include "solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "algebra.h"
#include "base/error.h"
#include "common/progress.h"
#include "deflate.h"
#include "vector/conjugate.h"

enum { ROUNDS = 12, FIELDS = 8 };
static const double RELAX = .01;
static const double UPDATE = 1e-3; /* the residual is made anew when it has fallen by that */

typedef struct state {
    lat_overlap *o;
    lat_space *s;
    const lat_wilson_job *job;
    lat_solve_report *report;
    union {
        struct {
            lat_dfield *b, *x, *r, *y, *p,
                *q;               /* r: of D x = b, then of one chirality; y: its solution */
            lat_dfield *z, *last; /* y since the last update, and the residual of that */
        };
        lat_dfield *f[FIELDS]; /* the same */
    };
    double norm[LAT_VECTOR_COLUMNS]; /* |b| */
    double left[LAT_VECTOR_COLUMNS]; /* |b - D x| */
    double size[LAT_VECTOR_COLUMNS]; /* |last|, of a chirality */
    double work[LAT_VECTOR_COLUMNS]; /* iterations, for the costs */
    lat_conjugate cg;
    int chirality; /* of r; 0: both */
} state;

static double target(const state *w, int k) { return w->job->target[k] * w->norm[k]; }

/* ---- conjugate gradients --------------------------------------------------------------------- */

/* Where the residual of a column that was `size` at an update is made anew, or need not be. */
static double goal(const state *w, int k, double size) { return fmax(target(w, k), UPDATE * size); }

/* q = D D^+ in, each column with a sign function whose error is delta[column] at most. */
static int relaxed(state *w, const lat_part *p, const double *delta, lat_dfield *in)
{
    for (int l = 0; l < LAT_SIGN_LEVELS; l++) {
        int list[LAT_VECTOR_COLUMNS], n = 0;
        LAT_FOR_COLUMNS (k, p)
            if (lat_sign_level(w->o->sign, delta[k]) == l)
                list[n++] = k;
        const lat_part part = {LAT_BOTH, n, list};
        if (n && lat_overlap_chiral(w->o, w->chirality, l, &part, w->q, in))
            return -1;
    }
    return 0;
}

/* y += z, z = 0. */
static int collect(state *w, const lat_part *p)
{
    return lat_rc(w->s->ops->axpby(w->s, p, NULL, w->z, NULL, w->y, NULL)
                  || w->s->ops->zero(w->s, p, w->z));
}

/* r becomes the part of `last` of the chirality, its norms those of the next iteration and size. */
static int begin(state *w, const lat_part *p)
{
    const int c = w->chirality;
    if (w->s->ops->copy(w->s, p, w->last, w->r) || (c && lat_chirality(w->s, c, p, w->r, w->o->tmp))
        || w->s->ops->dots(w->s, p, 0, NULL, w->r, NULL, w->cg.next))
        return -1;
    LAT_FOR_COLUMNS (k, p)
        w->size[k] = sqrt(w->cg.next[k]);
    return 0;
}

/* last -= q, and as `begin`. */
static int renew(state *w, const lat_part *p)
{
    return lat_overlap_mix(w->s, p, -1, w->q, 1, w->last, NULL) || begin(w, p) ? -1 : 0;
}

/* The residuals of these columns. What an error of the sign function does to them stays, so it is
 * small against the targets. */
static int update(state *w, const lat_part *p)
{
    double delta[LAT_VECTOR_COLUMNS];
    if (w->s->ops->dots(w->s, p, 0, NULL, w->z, NULL, delta))
        return -1;
    LAT_FOR_COLUMNS (k, p)
        delta[k] = RELAX * target(w, k) / sqrt(delta[k]);
    return relaxed(w, p, delta, w->z) || collect(w, p) || renew(w, p) ? -1 : 0;
}

/* y += what the low modes span of (D D^+)^-1 r, and r becomes what is left. */
static int deflate(state *w, const lat_part *p)
{
    if (!w->o->deflation)
        return 0;
    return lat_rc(w->s->ops->zero(w->s, p, w->p)
                  || lat_overlap_deflation_add(w->o, w->chirality, p, w->p, w->r)
                  || lat_overlap_chiral(w->o, w->chirality, 0, p, w->q, w->p)
                  || w->s->ops->axpby(w->s, p, NULL, w->p, NULL, w->y, NULL) || renew(w, p));
}

/* p = r + beta p */
static int direction(void *with)
{
    state *w = with;
    lat_scalar beta[LAT_VECTOR_COLUMNS];
    LAT_FOR_COLUMNS (k, &w->cg.active)
        beta[k] = lat_scalar_real(w->cg.beta[k]);
    return w->s->ops->axpby(w->s, &w->cg.active, NULL, w->r, beta, w->p, NULL);
}

/* Half of the target is enough. */
static bool ended(void *with, int k)
{
    const state *w = with;
    return !(sqrt(w->cg.rho[k]) > .5 * target(w, k))
           || w->report[k].iterations >= w->job->max_iterations;
}

static int product(void *with)
{
    state *w = with;
    const lat_part *c = &w->cg.active;
    double worst = 0, delta[LAT_VECTOR_COLUMNS];
    lat_scalar dot[LAT_VECTOR_COLUMNS], *const to = dot;
    const lat_dfield *const dir = w->p;
    LAT_FOR_COLUMNS (k, c) {
        const double now = sqrt(w->cg.rho[k]);
        worst = fmax(worst, now / target(w, k));
        delta[k] = RELAX * goal(w, k, w->size[k]) / now;
    }
    if ((w->job->progress && w->job->progress(w->job->with, w->cg.iterations, c->columns, worst))
        || relaxed(w, c, delta, w->p) || w->s->ops->dots(w->s, c, 1, &dir, w->q, &to, NULL))
        return -1;
    LAT_FOR_COLUMNS (k, c)
        w->cg.pq[k] = dot[k].re;
    return 0;
}

/* Updates those columns whose residual has come to its goal but not to its target: then they have
 * the true ones, and where the recursion was far off, begin anew. */
static int update_some(state *w)
{
    int list[LAT_VECTOR_COLUMNS], n = 0;
    double believed[LAT_VECTOR_COLUMNS];
    LAT_FOR_COLUMNS (k, &w->cg.active) {
        const double now = sqrt(believed[k] = w->cg.next[k]), at = goal(w, k, w->size[k]);
        if (now <= at && at > target(w, k) && now > .5 * target(w, k))
            list[n++] = k;
    }
    const lat_part part = {LAT_BOTH, n, list};
    if (n && update(w, &part))
        return -1;
    LAT_FOR_COLUMNS (k, &part)
        if (w->cg.next[k] > 4 * believed[k])
            w->cg.rho[k] = 0;
    return 0;
}

/* z += alpha p, r -= alpha q, and |r|^2. */
static int step(void *with)
{
    state *w = with;
    const lat_part *c = &w->cg.active;
    lat_scalar plus[LAT_VECTOR_COLUMNS], minus[LAT_VECTOR_COLUMNS];
    const lat_dfield *const dir = w->p, *const q = w->q;
    const lat_scalar *const by[] = {plus, minus};
    LAT_FOR_COLUMNS (k, c) {
        plus[k] = lat_scalar_real(w->cg.alpha[k]);
        minus[k] = lat_scalar_real(-w->cg.alpha[k]);
        w->report[k].iterations++;
        w->work[k]++;
    }
    return lat_rc(w->s->ops->axpys(w->s, c, 1, by, &dir, w->z, NULL)
                  || w->s->ops->axpys(w->s, c, 1, by + 1, &q, w->r, w->cg.next) || update_some(w));
}

/* y += (D D^+)^-1 last in a chirality, for these columns, to half of their targets; that part of
 * last becomes a residual. After `begin`. */
static int chiral_cg(state *w, const lat_part *p)
{
    static const lat_conjugate_calls calls = {direction, ended, product, step};
    memcpy(w->cg.list, p->column, sizeof(int) * (size_t)p->columns);
    w->cg.active = (lat_part){LAT_BOTH, p->columns, w->cg.list};
    return lat_rc(deflate(w, p) || w->s->ops->zero(w->s, p, w->z)
                  || lat_conjugate_run(&w->cg, &calls, w) || collect(w, p));
}

/* ---- defect correction ----------------------------------------------------------------------- */

/* r = b - D x, and its norm. */
static int defect(state *w, const lat_part *p)
{
    if (lat_overlap_apply(w->o, LAT_OVERLAP_D, 0, p, w->r, w->x)
        || lat_overlap_mix(w->s, p, 1, w->b, -1, w->r, w->left))
        return -1;
    LAT_FOR_COLUMNS (k, p)
        w->left[k] = sqrt(w->left[k]);
    return 0;
}

/* x += D^+ y, y = (D D^+)^-1 r. Columns without a part of this chirality are left out. */
static int correct(state *w, const lat_part *p)
{
    lat_dfield *all = w->q; /* of both chiralities, while it is not in use */
    int rc = w->s->ops->copy(w->s, p, w->r, w->last) || w->s->ops->zero(w->s, p, w->y) ? -1 : 0;
    /* Is the square of the sign function near enough to 1 for the product of chirality? What is off
     * must be small against the lowest eigenvalue of D D^+, which is mu^2. */
    const bool split = lat_sign_delta(w->o->sign, 0) <= .05 * fmax(w->o->mu * w->o->mu, 1e-8);
    for (int c = split; c >= -split && rc == 0; c -= 2) {
        int list[LAT_VECTOR_COLUMNS], n = 0;
        w->chirality = c;
        rc = begin(w, p);
        for (int i = 0; i < p->columns && rc == 0; i++)
            if (w->size[p->column[i]] > .1 * target(w, p->column[i]))
                list[n++] = p->column[i];
        const lat_part part = {LAT_BOTH, n, list};
        rc = rc || (n && chiral_cg(w, &part));
    }
    rc = rc || lat_overlap_apply(w->o, LAT_OVERLAP_DAGGER, 0, p, all, w->y)
         || w->s->ops->axpby(w->s, p, NULL, all, NULL, w->x, NULL);
    return rc ? -1 : 0;
}

static lat_end verdict(const state *w, int k, double before)
{
    if (!isfinite(w->left[k]))
        return LAT_END_INFINITE;
    if (w->left[k] <= target(w, k))
        return LAT_END_CONVERGED;
    if (w->report[k].iterations >= w->job->max_iterations)
        return LAT_END_ITERATIONS;
    return w->left[k] > .9 * before ? LAT_END_STAGNATION : LAT_END_NONE;
}

static int finish(state *w, int k)
{
    w->report[k].residual = w->norm[k] > 0 ? w->left[k] / w->norm[k] : w->left[k];
    w->report[k].solver = LAT_SOLVER_CG;
    if (lat_spinor_get(w->s, w->x, k, w->job->x, w->job->object[k]))
        return -1;
    return w->report[k].end == LAT_END_CONVERGED && w->job->done ? w->job->done(w->job->with, k)
                                                                 : 0;
}

static int iterate(state *w, const lat_part *all)
{
    int list[LAT_VECTOR_COLUMNS] = {0};
    double before[LAT_VECTOR_COLUMNS];
    lat_part p = {LAT_BOTH, all->columns, list};
    memcpy(list, all->column, sizeof(int) * (size_t)all->columns);
    for (int i = 0; i < p.columns; i++)
        before[list[i]] = INFINITY;
    for (int round = 0; p.columns > 0; round++) {
        int n = 0;
        for (int i = 0; i < p.columns; i++) {
            const int k = list[i];
            w->report[k].end = verdict(w, k, before[k]);
            if (w->report[k].end == LAT_END_NONE && round == ROUNDS)
                w->report[k].end = LAT_END_STAGNATION;
            before[k] = w->left[k];
            if (w->report[k].end == LAT_END_NONE)
                list[n++] = k;
            else if (finish(w, k))
                return -1;
        }
        p.columns = n;
        if (n && (correct(w, &p) || defect(w, &p)))
            return -1;
        for (int i = 0; i < n; i++)
            w->report[list[i]].updates++;
    }
    return 0;
}

/* b and x to the device, |b|, and r. */
static int load(state *w, const lat_part *all)
{
    const lat_wilson_job *job = w->job;
    if (lat_spinors_put(w->s, all, w->b, job->b, job->object)
        || (job->from_x && lat_spinors_put(w->s, all, w->x, job->x, job->object))
        || w->s->ops->dots(w->s, all, 0, NULL, w->b, NULL, w->norm))
        return -1;
    for (int k = 0; k < job->columns; k++)
        w->norm[k] = w->left[k] = sqrt(w->norm[k]);
    return job->from_x ? defect(w, all)
           : w->s->ops->zero(w->s, all, w->x) || w->s->ops->copy(w->s, all, w->b, w->r) ? -1
                                                                                        : 0;
}

static void add_costs(const state *w, double seconds, long applied, lat_wilson_cost *cost)
{
    const lat_dirac *h = w->o->h;
    const int spinor = 16 * lat_spinor_colours(h->space->grid->dev, h->space->nc);
    const double sites = (double)lat_volume(&h->space->grid->spec.lattice),
                 flops = h->ops->flops(h, (lat_dirac_matrix){LAT_FULL, LAT_PLAIN}) * sites,
                 bytes = (1. * h->links * h->reals / w->job->columns + spinor) * 8 * sites;
    double all = 0;
    for (int k = 0; k < w->job->columns; k++)
        all += w->work[k];
    for (int k = 0; k < w->job->columns && all > 0; k++) {
        const double share = w->work[k] / all;
        cost[k].seconds += seconds * share;
        cost[k].flops += flops * (double)applied * share;
        cost[k].bytes += bytes * (double)applied * share;
    }
}

int lat_overlap_solve(lat_overlap *o, const lat_wilson_job *job, lat_solve_report *report,
                      lat_wilson_cost *cost)
{
    state w = {.o = o, .s = o->space, .job = job, .report = report};
    int rc = lat_vector_new_all(o->space, FIELDS, w.f, "a solution")
             || lat_conjugate_open(&w.cg, job->columns);
    const double start = lat_seconds();
    const long applied = lat_sign_applications(o->sign);
    const lat_part all = {LAT_BOTH, job->columns, lat_column_numbers};
    rc = rc || lat_overlap_deflation_check(o) || load(&w, &all) || iterate(&w, &all);
    if (rc == 0 && cost)
        add_costs(&w, lat_seconds() - start, lat_sign_applications(o->sign) - applied, cost);
    lat_vector_free_all(FIELDS, w.f);
    lat_conjugate_close(&w.cg);
    return rc ? -1 : 0;
}
