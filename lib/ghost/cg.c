/* SPDX-License-Identifier: BSD-3-Clause */
/* cg.c: conjugate gradients, preconditioned by the inverse Laplacian (Hestenes, Stiefel, J. Res.
 * Natl. Bur. Stand. 49 (1952) 409; Concus, Golub, O'Leary 1976), within a trust region (Steihaug,
 * SIAM J. Numer. Anal. 20 (1983) 626). */
#include <math.h>
#include <stdlib.h>
#include "base/memory.h"
#include "common/progress.h"
#include "ghost_internal.h"

/* A solve: systems, and numbers of each for passes, [unit * columns + column]. */
typedef struct work {
    lat_ghost *m;
    lat_ghost_system *system;
    size_t n;                          /* systems */
    double *x, *r, *p, *z;             /* vectors */
    double *factor, *sum, *hop, *mean; /* 1, 2 or (1 + reals) columns a unit; means of colours */
    bool *idle;                        /* of units */
} work;

static int work_new(work *w)
{
    static const char what[] = "conjugate gradients";
    const size_t units = (size_t)w->m->units, reals = lat_ghost_reals(w->m);
    w->n = units * (size_t)w->m->columns;
    w->p = lat_ghost_vector(w->m, what);
    w->z = lat_ghost_vector(w->m, what);
    w->factor = lat_alloc(4 * w->n + 2 * units * reals, sizeof *w->factor, what);
    w->idle = lat_alloc(units, sizeof *w->idle, what);
    if (!w->p || !w->z || !w->factor || !w->idle)
        return -1;
    w->sum = w->factor + w->n;
    w->hop = w->sum + 2 * w->n;
    w->mean = w->hop + w->n + units * reals;
    return 0;
}

static void work_free(work *w)
{
    lat_ghost_vector_free(w->m, w->p);
    lat_ghost_vector_free(w->m, w->z);
    LAT_FREE(w->factor, w->idle);
}

/* Which systems go on, and which units have none of them. */
static bool go_on(work *w)
{
    bool any = false;
    for (int unit = 0; unit < w->m->units; unit++)
        w->idle[unit] = true;
    for (size_t i = 0; i < w->n; i++) {
        lat_ghost_system *s = &w->system[i];
        s->active = s->active && !s->bound && !(s->rr <= s->target);
        any = any || s->active;
        if (s->active)
            w->idle[i / (size_t)w->m->columns] = false;
    }
    return any;
}

/* The largest |r|, in units of `residual` at the target. */
static double worst(const work *w, double residual)
{
    double most = 0;
    for (size_t i = 0; i < w->n; i++) {
        const lat_ghost_system *s = &w->system[i];
        most = lat_worse(most, s->target > 0 ? residual * sqrt(s->rr / s->target) : 0);
    }
    return most;
}

/* z <- L^-1 z, and with it <r, z> and <r, r> of systems that go on. */
static int precondition(work *w)
{
    lat_ghost *m = w->m;
    const size_t columns = (size_t)m->columns;
    const lat_ghost_call norms = {.in = w->r, .other = w->z, .idle = w->idle};
    if (lat_ghost_invert(m, w->z, w->idle)
        || lat_ghost_run(m, LAT_GHOST_NORMS, &norms, 2 * m->columns, w->sum))
        return -1;
    for (size_t i = 0; i < w->n; i++) {
        lat_ghost_system *s = &w->system[i];
        const double *sum = w->sum + i / columns * 2 * columns + i % columns;
        if (!s->active)
            continue;
        s->beta = s->iterations > 0 && s->rz != 0 ? sum[0] / s->rz : 0;
        s->rz = sum[0];
        s->rr = sum[columns];
    }
    return 0;
}

/* The next p: z + beta p. */
static int next_direction(work *w)
{
    const lat_ghost_call extend = {.in = w->z, .out = w->p, .b = w->factor, .idle = w->idle};
    for (size_t i = 0; i < w->n; i++) {
        lat_ghost_system *s = &w->system[i];
        w->factor[i] = s->active ? s->beta : 0;
        if (!s->active)
            continue;
        if (s->coefficients && s->iterations > 0 && s->iterations <= LAT_GHOST_COEFFICIENTS)
            s->coefficients->beta[s->iterations - 1] = s->beta;
        if (s->delta == 0)
            s->delta = 3 * sqrt(s->rz);
        s->xp = s->beta * (s->xp + s->step * s->pp);
        s->pp = s->rz + s->beta * s->beta * s->pp;
    }
    return lat_ghost_run(w->m, LAT_GHOST_EXTEND, &extend, 0, NULL);
}

/* How far along p; false where <p, M p> is not positive and nothing bounds the step. */
static bool step_length(lat_ghost_system *s, double pq)
{
    const double far = s->rz / pq, xx = s->xx + 2 * far * s->xp + far * far * s->pp,
                 region = s->delta * s->delta;
    s->saddle = !(pq > 0);
    if (s->saddle && isinf(s->delta))
        return false;
    s->step = s->along = far;
    s->bound = s->saddle || xx >= region;
    if (s->bound)
        s->along = (sqrt(fmax(0, s->xp * s->xp + s->pp * (region - s->xx))) - s->xp) / s->pp;
    s->gain += s->along * s->rz - 0.5 * s->along * s->along * pq;
    s->xx = s->bound ? region : xx;
    if (s->coefficients && s->iterations < LAT_GHOST_COEFFICIENTS)
        s->coefficients->alpha[s->iterations] = far;
    s->iterations++;
    return true;
}

/* One iteration: x, r and p move on, z is r. 1: M is not positive. */
static int iterate(work *w)
{
    lat_ghost *m = w->m;
    const size_t columns = (size_t)m->columns,
                 numbers = columns + (m->single ? 0 : lat_ghost_reals(m));
    const lat_ghost_call update = {.in = w->p,
                                   .out = w->x,
                                   .also = w->r,
                                   .third = w->z,
                                   .a = w->factor,
                                   .mean = w->mean,
                                   .idle = w->idle};
    if (next_direction(w) || lat_ghost_hop(m, w->z, w->p, w->idle, w->hop))
        return -1;
    for (size_t i = 0; i < w->n; i++) {
        lat_ghost_system *s = &w->system[i];
        if (s->active && !step_length(s, w->hop[i / columns * numbers + i % columns]))
            return 1;
        w->factor[i] = s->active ? s->along : 0;
    }
    if (!m->single)
        lat_ghost_means(m, w->hop, (int)numbers, m->columns, w->mean);
    return lat_ghost_run(m, LAT_GHOST_UPDATE, &update, 0, NULL);
}

static int run(work *w, long max_iterations, double watched, lat_ghost_report *report)
{
    double first = 0;
    memset(w->idle, 0, (size_t)w->m->units * sizeof *w->idle);
    go_on(w);
    if (lat_ghost_zero(w->m, w->x) || lat_ghost_zero(w->m, w->p)
        || lat_ghost_copy(w->m, w->z, w->r))
        return -1;
    for (;; report->iterations++) {
        if (precondition(w))
            return -1;
        report->converged = !go_on(w);
        if (watched > 0)
            lat_part_at(lat_digits_done(&first, worst(w, 1), 1));
        if (watched > 0 && report->iterations > 0)
            lat_progress("iteration %ld, residual %.2g", report->iterations, worst(w, watched));
        if (report->converged || report->iterations >= max_iterations)
            return 0;
        const int rc = iterate(w);
        if (rc < 0)
            return -1;
        if ((report->indefinite = rc > 0))
            return 0;
    }
}

int lat_ghost_cg(lat_ghost *m, double *x, double *r, lat_ghost_system *system, long max_iterations,
                 double watched, lat_ghost_report *report)
{
    work w = {.m = m, .system = system, .x = x, .r = r};
    *report = (lat_ghost_report){.iterations = 0};
    int rc = lat_agree(m->lattice.comm, work_new(&w));
    if (watched > 0)
        lat_part_begin(NULL, 1);
    if (rc == 0)
        rc = run(&w, max_iterations, watched, report);
    if (watched > 0)
        lat_part_end();
    report->residual = rc ? 0 : worst(&w, watched);
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
