/* SPDX-License-Identifier: BSD-3-Clause */
/* multishift.c: conjugate gradients for several shifts of A^+ A, on the Krylov space of the first.
 *
 * With d = shift[j] - shift[0] the residual of shift j is zeta_j r. In the iterations of the first
 * shift, x += alpha p, r -= alpha (A^+ A + shift[0]) p, p = r + beta p:
 *
 *     zeta' = zeta zeta_before alpha_before
 *             / (alpha beta_before (zeta_before - zeta) + zeta_before alpha_before (1 + d alpha))
 *     alpha_j = alpha zeta'/zeta, beta_j = beta (zeta'/zeta)^2
 *     x_j += alpha_j p_j, p_j = zeta' r + beta_j p_j */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "krylov_internal.h"

/* Of one shift. */
typedef struct shifted {
    lat_dfield *p, *x;
    double d;
    double before[LAT_VECTOR_COLUMNS];
    lat_numbers zeta;
} shifted;

typedef struct state {
    const lat_equation *p;
    const lat_system *s;
    int shifts;
    double first;
    shifted *shift;
    lat_dfield *r, *q, *t; /* A p, A^+ A p */
    lat_part active;
    int list[LAT_VECTOR_COLUMNS];
    /* Without index of the shift: those of the first one. */
    double rho[LAT_VECTOR_COLUMNS], alpha[LAT_VECTOR_COLUMNS], beta[LAT_VECTOR_COLUMNS],
        beta_before[LAT_VECTOR_COLUMNS], alpha_before[LAT_VECTOR_COLUMNS];
} state;

/* q = A p, t = A^+ q; alpha = |r|^2 / (|q|^2 + shift |p|^2). */
static int product(state *m)
{
    const lat_system *s = m->s;
    lat_dfield *p = m->shift[0].p;
    double square[LAT_VECTOR_COLUMNS], own[LAT_VECTOR_COLUMNS];
    const lat_apply_end end = {.norm = square};
    if (s->apply(s->with, false, &m->active, m->q, p, &end)
        || s->apply(s->with, true, &m->active, m->t, m->q, NULL)
        || LAT_OPS(s)->dots(s->space, &m->active, 0, NULL, p, NULL, own))
        return -1;
    LAT_FOR_COLUMNS (k, &m->active) {
        const double all = square[k] + m->first * own[k];
        m->alpha_before[k] = m->alpha[k];
        m->alpha[k] = all > 0 ? m->rho[k] / all : 0;
    }
    return 0;
}

/* r -= alpha (A^+ A + shift) p. */
static int reduce(state *m, double *norm)
{
    lat_numbers minus, shift;
    const lat_scalar *const by[] = {minus, shift};
    const lat_dfield *const x[] = {m->t, m->shift[0].p};
    LAT_FOR_COLUMNS (k, &m->active) {
        minus[k] = (lat_scalar){-m->alpha[k], 0};
        shift[k] = (lat_scalar){-m->alpha[k] * m->first, 0};
    }
    return LAT_OPS(m->s)->axpys(m->s->space, &m->active, 2, by, x, m->r, norm);
}

/* zeta'; x_j += alpha_j p_j, p_j = zeta' r + beta_j p_j. */
static int advance(state *m, shifted *j)
{
    lat_numbers alpha, beta;
    LAT_FOR_COLUMNS (k, &m->active) {
        const double a = m->alpha[k], b = m->alpha_before[k], z = j->zeta[k].re, y = j->before[k];
        const double down = a * m->beta_before[k] * (y - z) + y * b * (1 + j->d * a);
        const double next = down != 0 ? z * y * b / down : 0, ratio = z != 0 ? next / z : 0;
        j->before[k] = z;
        j->zeta[k] = lat_scalar_real(next);
        alpha[k] = lat_scalar_real(a * ratio);
        beta[k] = lat_scalar_real(m->beta[k] * ratio * ratio);
    }
    return LAT_OPS(m->s)->cg(m->s->space, &m->active, lat_number(alpha), lat_number(beta),
                             lat_number(j->zeta), j->x, j->p, m->r);
}

/* beta, and which columns have ended; they leave after this iteration. */
static void decide(state *m, const double *norm, lat_solve_report *report)
{
    LAT_FOR_COLUMNS (k, &m->active) {
        const double now = sqrt(norm[k]);
        report[k].iterations++;
        report[k].residual = now;
        if (!isfinite(now))
            report[k].end = LAT_END_INFINITE;
        else if (now <= m->p->target[k])
            report[k].end = LAT_END_CONVERGED;
        else if (report[k].iterations >= m->p->max_iterations)
            report[k].end = LAT_END_ITERATIONS;
        m->beta_before[k] = m->beta[k];
        m->beta[k] = m->rho[k] > 0 ? norm[k] / m->rho[k] : 0;
        m->rho[k] = norm[k];
    }
}

static int leave(state *m, const lat_solve_report *report)
{
    int left = 0;
    double worst = 0;
    LAT_FOR_COLUMNS (k, &m->active) {
        if (report[k].end != LAT_END_NONE)
            continue;
        worst = fmax(worst, report[k].residual / m->p->target[k]);
        m->list[left++] = k;
    }
    m->active.columns = left;
    return left && m->p->progress
               ? m->p->progress(m->p->with, report[m->list[0]].iterations, left, worst)
               : 0;
}

static int iterate(state *m, lat_solve_report *report)
{
    double norm[LAT_VECTOR_COLUMNS];
    while (m->active.columns > 0) {
        if (product(m) || reduce(m, norm))
            return -1;
        decide(m, norm, report);
        for (int j = 0; j < m->shifts; j++)
            if (advance(m, &m->shift[j]))
                return -1;
        if (leave(m, report))
            return -1;
    }
    return 0;
}

static int begin(state *m, lat_solve_report *report)
{
    const lat_system *s = m->s;
    double norm[LAT_VECTOR_COLUMNS];
    int left = 0;
    if (LAT_OPS(s)->copy(s->space, &m->active, m->p->b, m->r)
        || LAT_OPS(s)->dots(s->space, &m->active, 0, NULL, m->r, NULL, norm))
        return -1;
    for (int j = 0; j < m->shifts; j++) {
        shifted *v = &m->shift[j];
        if (!(v->p = lat_system_vector(s, &m->active, "conjugate gradients"))
            || LAT_OPS(s)->copy(s->space, &m->active, m->r, v->p)
            || LAT_OPS(s)->zero(s->space, &m->active, v->x))
            return -1;
    }
    LAT_FOR_COLUMNS (k, &m->active) {
        for (int j = 0; j < m->shifts; j++) {
            m->shift[j].zeta[k] = lat_scalar_real(1);
            m->shift[j].before[k] = 1;
        }
        m->alpha[k] = 1;
        m->beta[k] = 0;
        m->rho[k] = norm[k];
        report[k] = (lat_solve_report){.residual = sqrt(norm[k]), .solver = LAT_SOLVER_CG};
        if (report[k].residual <= m->p->target[k])
            report[k].end = LAT_END_CONVERGED;
        else
            m->list[left++] = k;
    }
    m->active.columns = left;
    return 0;
}

int lat_multishift(const lat_equation *p, int shifts, const double *shift, lat_dfield *const *x,
                   int columns, const int *column, lat_solve_report *report)
{
    const lat_system *s = p->outer;
    state *m = lat_alloc(1, sizeof *m, "conjugate gradients");
    shifted *each = lat_alloc_zero((size_t)shifts, sizeof *each, "conjugate gradients");
    int rc = m && each ? 0 : -1;
    if (rc == 0) {
        *m = (state){.p = p, .s = s, .shifts = shifts, .first = shift[0], .shift = each};
        memcpy(m->list, column, sizeof(int) * (size_t)columns);
        m->active = (lat_part){s->parity, columns, m->list};
        for (int j = 0; j < shifts; j++) {
            each[j].d = shift[j] - shift[0];
            each[j].x = x[j];
        }
        m->r = lat_system_vector(s, &m->active, "conjugate gradients");
        m->q = lat_system_vector(s, &m->active, "conjugate gradients");
        m->t = lat_system_vector(s, &m->active, "conjugate gradients");
        rc = m->r && m->q && m->t && begin(m, report) == 0 && iterate(m, report) == 0 ? 0 : -1;
        s->release(s->with, m->r);
        s->release(s->with, m->q);
        s->release(s->with, m->t);
        for (int j = 0; j < shifts; j++)
            s->release(s->with, each[j].p);
    }
    LAT_FREE(m, each);
    return rc;
}
