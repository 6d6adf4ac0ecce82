/* SPDX-License-Identifier: BSD-3-Clause */
/* cg.c: conjugate gradients, preconditioned by the inverse Laplacian, within a trust region
 * (Steihaug, SIAM J. Numer. Anal. 20 (1983) 626). */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/progress.h"
#include "ghost_internal.h"
#include "vector/conjugate.h"

/* A solve; its columns are systems, [unit * columns + column]. */
typedef struct work {
    lat_ghost *m;
    lat_ghost_system *system;
    lat_conjugate cg;
    long most;                /* iterations */
    bool late;                /* there were so many */
    double watched, first;    /* of lat_ghost_cg; for progress */
    double *x, *r, *p, *z;    /* vectors; z is q, too */
    double *sum, *hop, *mean; /* 2 or (1 + reals) columns a unit; means of colours */
    bool *idle;               /* of units */
} work;

static int work_new(work *w)
{
    static const char what[] = "conjugate gradients";
    const size_t units = (size_t)w->m->units, reals = lat_ghost_reals(w->m),
                 n = units * (size_t)w->m->columns;
    w->p = lat_ghost_vector(w->m, what);
    w->z = lat_ghost_vector(w->m, what);
    w->sum = lat_alloc(3 * n + 2 * units * reals, sizeof *w->sum, what);
    w->idle = lat_alloc(units, sizeof *w->idle, what);
    if (!w->p || !w->z || !w->sum || !w->idle || lat_conjugate_open(&w->cg, (int)n))
        return -1;
    w->hop = w->sum + 2 * n;
    w->mean = w->hop + n + units * reals;
    return 0;
}

static void work_free(work *w)
{
    lat_ghost_vector_free(w->m, w->p);
    lat_ghost_vector_free(w->m, w->z);
    lat_conjugate_close(&w->cg);
    LAT_FREE(w->sum, w->idle);
}

/* Which units have no system that goes on. */
static void find_idle(work *w)
{
    memset(w->idle, true, (size_t)w->m->units * sizeof *w->idle);
    LAT_FOR_COLUMNS (i, &w->cg.active)
        w->idle[i / w->m->columns] = false;
}

/* The largest |r|, in units of `residual` at the target. */
static double worst(const work *w, double residual)
{
    double most = 0;
    for (int i = 0; i < w->m->units * w->m->columns; i++) {
        const lat_ghost_system *s = &w->system[i];
        most = lat_worse(most, s->target > 0 ? residual * sqrt(s->rr / s->target) : 0);
    }
    return most;
}

/* z <- L^-1 z, and with it <r, z> and <r, r>. */
static int precondition(work *w)
{
    const int columns = w->m->columns;
    const lat_ghost_call norms = {.in = w->r, .other = w->z, .idle = w->idle};
    if (lat_ghost_invert(w->m, w->z, w->idle)
        || lat_ghost_run(w->m, LAT_GHOST_NORMS, &norms, 2 * columns, w->sum))
        return -1;
    LAT_FOR_COLUMNS (i, &w->cg.active) {
        const double *sum = w->sum + i / columns * 2 * columns + i % columns;
        w->cg.next[i] = sum[0];
        w->system[i].rr = sum[columns];
    }
    return 0;
}

/* The next p: z + beta p. */
static int direction(void *with)
{
    work *w = with;
    const lat_conjugate *c = &w->cg;
    const lat_ghost_call extend = {.in = w->z, .out = w->p, .b = c->beta, .idle = w->idle};
    if (w->watched > 0)
        lat_part_at(lat_digits_done(&w->first, worst(w, 1), 1));
    if (w->watched > 0 && c->iterations > 0)
        lat_progress("iteration %ld, residual %.2g", c->iterations, worst(w, w->watched));
    LAT_FOR_COLUMNS (i, &c->active) {
        lat_ghost_system *s = &w->system[i];
        if (s->coefficients && s->iterations > 0 && s->iterations <= LAT_GHOST_COEFFICIENTS)
            s->coefficients->beta[s->iterations - 1] = c->beta[i];
        if (s->delta == 0)
            s->delta = 3 * sqrt(c->rho[i]);
        s->xp = c->beta[i] * (s->xp + c->alpha[i] * s->pp);
        s->pp = c->rho[i] + c->beta[i] * c->beta[i] * s->pp;
    }
    return lat_ghost_run(w->m, LAT_GHOST_EXTEND, &extend, 0, NULL);
}

static bool ended(void *with, int i)
{
    work *w = with;
    const lat_ghost_system *s = &w->system[i];
    if (s->bound || s->rr <= s->target)
        return true;
    return w->late = w->cg.iterations >= w->most;
}

/* q, in z, with its means. */
static int product(void *with)
{
    work *w = with;
    lat_ghost *m = w->m;
    const int numbers = m->columns + (m->single ? 0 : (int)lat_ghost_reals(m));
    find_idle(w);
    if (lat_ghost_hop(m, w->z, w->p, w->idle, w->hop))
        return -1;
    LAT_FOR_COLUMNS (i, &w->cg.active)
        w->cg.pq[i] = w->hop[i / m->columns * numbers + i % m->columns];
    if (!m->single)
        lat_ghost_means(m, w->hop, numbers, m->columns, w->mean);
    return 0;
}

/* How far along p; false where <p, M p> is not positive and nothing bounds the step. */
static bool step_length(lat_ghost_system *s, double rho, double pq, double *alpha)
{
    const double far = rho / pq, xx = s->xx + 2 * far * s->xp + far * far * s->pp,
                 region = s->delta * s->delta;
    s->saddle = !(pq > 0);
    if (s->saddle && isinf(s->delta))
        return false;
    s->bound = s->saddle || xx >= region;
    *alpha = !s->bound ? far
                       : (sqrt(fmax(0, s->xp * s->xp + s->pp * (region - s->xx))) - s->xp) / s->pp;
    s->gain += *alpha * rho - 0.5 * *alpha * *alpha * pq;
    s->xx = s->bound ? region : xx;
    if (s->coefficients && s->iterations < LAT_GHOST_COEFFICIENTS)
        s->coefficients->alpha[s->iterations] = far;
    s->iterations++;
    return true;
}

/* x and r move on, z is r, then L^-1 r. 1: M is not positive. */
static int step(void *with)
{
    work *w = with;
    const lat_conjugate *c = &w->cg;
    const lat_ghost_call update = {.in = w->p,
                                   .out = w->x,
                                   .also = w->r,
                                   .third = w->z,
                                   .a = c->alpha,
                                   .mean = w->mean,
                                   .idle = w->idle};
    LAT_FOR_COLUMNS (i, &c->active)
        if (!step_length(&w->system[i], c->rho[i], c->pq[i], &c->alpha[i]))
            return 1;
    return lat_rc(lat_ghost_run(w->m, LAT_GHOST_UPDATE, &update, 0, NULL) || precondition(w));
}

static int run(work *w, lat_ghost_report *report)
{
    static const lat_conjugate_calls calls = {direction, ended, product, step};
    for (int i = 0; i < w->m->units * w->m->columns; i++)
        if (w->system[i].active)
            w->cg.list[w->cg.active.columns++] = i;
    find_idle(w);
    if (lat_ghost_zero(w->m, w->x) || lat_ghost_zero(w->m, w->p) || lat_ghost_copy(w->m, w->z, w->r)
        || precondition(w))
        return -1;
    const int rc = lat_conjugate_run(&w->cg, &calls, w);
    *report = (lat_ghost_report){.iterations = w->cg.iterations,
                                 .residual = worst(w, w->watched),
                                 .converged = rc == 0 && !w->late,
                                 .indefinite = rc > 0};
    return rc < 0 ? -1 : 0;
}

int lat_ghost_cg(lat_ghost *m, double *x, double *r, lat_ghost_system *system, long max_iterations,
                 double watched, lat_ghost_report *report)
{
    work w = {.m = m, .system = system, .most = max_iterations, .watched = watched, .x = x, .r = r};
    *report = (lat_ghost_report){.iterations = 0};
    int rc = lat_agree(m->lattice.comm, work_new(&w));
    if (watched > 0)
        lat_part_begin(NULL, 1);
    if (rc == 0)
        rc = run(&w, report);
    if (watched > 0)
        lat_part_end();
    work_free(&w);
    return rc;
}

int lat_ghost_solve(lat_ghost *m, double *x, double *b, double residual, long max_iterations,
                    lat_ghost_report *report)
{
    const size_t n = (size_t)(m->units * m->columns);
    lat_ghost_system *system = lat_alloc(n, sizeof *system, "conjugate gradients");
    double *bb = lat_alloc(n, sizeof *bb, "conjugate gradients");
    int rc = lat_agree(m->lattice.comm, system && bb ? 0 : -1);
    rc = rc ? rc : lat_ghost_dot(m, b, b, bb);
    for (size_t i = 0; rc == 0 && i < n; i++)
        system[i] = (lat_ghost_system){.active = true,
                                       .target = residual * residual * bb[i],
                                       .delta = INFINITY,
                                       .rr = INFINITY};
    if (rc == 0)
        rc = lat_ghost_cg(m, x, b, system, max_iterations, residual, report);
    LAT_FREE(system, bb);
    return rc;
}
