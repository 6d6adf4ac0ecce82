/* SPDX-License-Identifier: BSD-3-Clause */
/* cg.c: conjugate gradients, preconditioned by the inverse Laplacian (Hestenes, Stiefel, J. Res.
 * Natl. Bur. Stand. 49 (1952) 409; Concus, Golub, O'Leary 1976). */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/progress.h"
#include "ghost_internal.h"

/* Scalars of all units and columns, [unit * columns + column], and what they are made of. */
typedef struct scalars {
    size_t n;
    double *target; /* of |r|^2 */
    double *rr, *rz, *alpha, *beta, *hop, *mean;
    bool *active;
} scalars;

static int scalars_new(const lat_ghost *m, scalars *s)
{
    const size_t units = (size_t)m->units, reals = lat_ghost_reals(m),
                 n = units * (size_t)m->columns;
    *s = (scalars){.n = n};
    s->target = lat_alloc(7 * n + 2 * units * reals, sizeof *s->target, "conjugate gradients");
    s->active = lat_alloc(n, sizeof *s->active, "conjugate gradients");
    if (!s->target || !s->active)
        return -1;
    s->rr = s->target + n;
    s->rz = s->rr + n;
    s->alpha = s->rz + n;
    s->beta = s->alpha + n;
    s->hop = s->beta + n; /* columns + reals a unit */
    s->mean = s->hop + n + units * reals;
    return 0;
}

static void scalars_free(scalars *s)
{
    free(s->target);
    free(s->active);
}

/* Which columns go on; the largest |r| / |b|. */
static int judge(scalars *s, double residual, double *worst)
{
    int active = 0;
    *worst = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double ratio = s->target[i] > 0 ? residual * sqrt(s->rr[i] / s->target[i]) : 0;
        s->active[i] = s->active[i] && !(s->rr[i] <= s->target[i]);
        *worst = lat_worse(*worst, ratio);
        active += s->active[i];
    }
    return active;
}

/* alpha from <r,z> and <p, M p>; false where M is not positive, or numbers are not finite. */
static bool step_lengths(const lat_ghost *m, scalars *s)
{
    const size_t columns = (size_t)m->columns, numbers = columns + lat_ghost_reals(m);
    for (size_t i = 0; i < s->n; i++) {
        const double pq = s->hop[i / columns * numbers + i % columns];
        s->alpha[i] = 0;
        if (!s->active[i])
            continue;
        if (!(pq > 0))
            return false;
        s->alpha[i] = s->rz[i] / pq;
    }
    return true;
}

/* z <- L^-1 z, <r,z>, and beta from it and the one before. */
static int precondition(lat_ghost *m, scalars *s, const double *r, double *z, bool first)
{
    if (lat_ghost_invert(m, z))
        return -1;
    memcpy(s->beta, s->rz, s->n * sizeof *s->rz);
    if (lat_ghost_dot(m, r, z, s->rz))
        return -1;
    for (size_t i = 0; i < s->n; i++)
        s->beta[i] = first || !s->active[i] || s->beta[i] == 0 ? 0 : s->rz[i] / s->beta[i];
    return 0;
}

/* One iteration: x, r and p move on, z is work space. 1: M is not positive. */
static int iterate(lat_ghost *m, scalars *s, double *x, double *r, double *p, double *z)
{
    const lat_ghost_call update = {
        .in = p, .out = x, .also = r, .third = z, .a = s->alpha, .mean = s->mean};
    if (lat_ghost_hop(m, z, p, s->hop))
        return -1;
    if (!step_lengths(m, s))
        return 1;
    lat_ghost_means(m, s->hop, m->columns + (int)lat_ghost_reals(m), m->columns, s->mean);
    return lat_ghost_run(m, LAT_GHOST_UPDATE, &update, m->columns, s->rr);
}

static int run(lat_ghost *m, scalars *s, double *x, double *r, double *p, double *z,
               double residual, long max_iterations, lat_ghost_report *report)
{
    const lat_ghost_call direction = {.in = z, .out = p, .b = s->beta};
    if (lat_ghost_zero(m, x) || lat_ghost_zero(m, p) || lat_ghost_copy(m, z, r)
        || lat_ghost_dot(m, r, r, s->rr))
        return -1;
    for (size_t i = 0; i < s->n; i++) {
        s->target[i] = residual * residual * s->rr[i];
        s->active[i] = true;
        s->rz[i] = 0;
    }
    int active = judge(s, residual, &report->residual);
    while (active > 0 && report->iterations < max_iterations) {
        if (precondition(m, s, r, z, report->iterations == 0)
            || lat_ghost_run(m, LAT_GHOST_EXTEND, &direction, 0, NULL))
            return -1;
        const int rc = iterate(m, s, x, r, p, z);
        if (rc < 0)
            return -1;
        if ((report->indefinite = rc > 0))
            return 0;
        report->iterations++;
        active = judge(s, residual, &report->residual);
        lat_progress("iteration %ld, residual %.2g", report->iterations, report->residual);
    }
    report->converged = active == 0;
    return 0;
}

int lat_ghost_solve(lat_ghost *m, double *x, double *b, double residual, long max_iterations,
                    lat_ghost_report *report)
{
    scalars s;
    double *p = lat_ghost_vector(m, "conjugate gradients"),
           *z = lat_ghost_vector(m, "conjugate gradients");
    *report = (lat_ghost_report){.iterations = 0};
    const lat_comm *comm = m->lattice.comm;
    int rc = lat_agree(comm, scalars_new(m, &s) || !p || !z ? -1 : 0);
    if (rc == 0)
        rc = run(m, &s, x, b, p, z, residual, max_iterations, report);
    scalars_free(&s);
    lat_ghost_vector_free(m, p);
    lat_ghost_vector_free(m, z);
    return rc;
}
