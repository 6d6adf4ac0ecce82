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
#include "vector/conjugate.h"

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
    lat_solve_report *report;
    lat_conjugate cg; /* of the first shift */
    int shifts;
    double first;
    shifted *shift;
    lat_dfield *r, *q, *t; /* A p, A^+ A p */
    double alpha_before[LAT_VECTOR_COLUMNS], beta_before[LAT_VECTOR_COLUMNS];
} state;

/* q = A p, t = A^+ q; |q|^2 + shift |p|^2 */
static int product(void *with)
{
    state *m = with;
    const lat_system *s = m->s;
    const lat_part *c = &m->cg.active;
    lat_dfield *p = m->shift[0].p;
    double worst = 0, square[LAT_VECTOR_COLUMNS], own[LAT_VECTOR_COLUMNS];
    const lat_apply_end end = {.norm = square};
    LAT_FOR_COLUMNS (k, c)
        worst = fmax(worst, m->report[k].residual / m->p->target[k]);
    if ((m->cg.iterations && m->p->progress
         && m->p->progress(m->p->with, m->cg.iterations, c->columns, worst))
        || s->apply(s->with, false, c, m->q, p, &end)
        || s->apply(s->with, true, c, m->t, m->q, NULL)
        || LAT_OPS(s)->dots(s->space, c, 0, NULL, p, NULL, own))
        return -1;
    LAT_FOR_COLUMNS (k, c) {
        m->cg.pq[k] = square[k] + m->first * own[k];
        m->alpha_before[k] = m->cg.iterations ? m->cg.alpha[k] : 1;
        m->beta_before[k] = m->cg.beta[k];
    }
    return 0;
}

/* r -= alpha (A^+ A + shift) p. */
static int step(void *with)
{
    state *m = with;
    lat_numbers minus, shift;
    const lat_scalar *const by[] = {minus, shift};
    const lat_dfield *const x[] = {m->t, m->shift[0].p};
    LAT_FOR_COLUMNS (k, &m->cg.active) {
        minus[k] = lat_scalar_real(-m->cg.alpha[k]);
        shift[k] = lat_scalar_real(-m->cg.alpha[k] * m->first);
        m->report[k].iterations++;
    }
    return LAT_OPS(m->s)->axpys(m->s->space, &m->cg.active, 2, by, x, m->r, m->cg.next);
}

/* Each shift: zeta'; x_j += alpha_j p_j, p_j = zeta' r + beta_j p_j. At first p_j is r. */
static int direction(void *with)
{
    state *m = with;
    const lat_part *c = &m->cg.active;
    lat_numbers alpha, beta;
    for (shifted *j = m->shift; m->cg.iterations && j < m->shift + m->shifts; j++) {
        LAT_FOR_COLUMNS (k, c) {
            const double a = m->cg.alpha[k], b = m->alpha_before[k], z = j->zeta[k].re,
                         y = j->before[k];
            const double down = a * m->beta_before[k] * (y - z) + y * b * (1 + j->d * a);
            const double next = down != 0 ? z * y * b / down : 0, ratio = z != 0 ? next / z : 0;
            j->before[k] = z;
            j->zeta[k] = lat_scalar_real(next);
            alpha[k] = lat_scalar_real(a * ratio);
            beta[k] = lat_scalar_real(m->cg.beta[k] * ratio * ratio);
        }
        if (LAT_OPS(m->s)->cg(m->s->space, c, lat_number(alpha), lat_number(beta),
                              lat_number(j->zeta), j->x, j->p, m->r))
            return -1;
    }
    return 0;
}

static bool ended(void *with, int k)
{
    const state *m = with;
    lat_solve_report *r = &m->report[k];
    r->residual = sqrt(m->cg.rho[k]);
    if (!isfinite(r->residual))
        r->end = LAT_END_INFINITE;
    else if (r->residual <= m->p->target[k])
        r->end = LAT_END_CONVERGED;
    else if (r->iterations >= m->p->max_iterations)
        r->end = LAT_END_ITERATIONS;
    return r->end != LAT_END_NONE;
}

static int begin(state *m)
{
    const lat_system *s = m->s;
    const lat_part *c = &m->cg.active;
    if (LAT_OPS(s)->copy(s->space, c, m->p->b, m->r)
        || LAT_OPS(s)->dots(s->space, c, 0, NULL, m->r, NULL, m->cg.next))
        return -1;
    for (shifted *j = m->shift; j < m->shift + m->shifts; j++) {
        if (!(j->p = lat_system_vector(s, c, "conjugate gradients"))
            || LAT_OPS(s)->copy(s->space, c, m->r, j->p) || LAT_OPS(s)->zero(s->space, c, j->x))
            return -1;
        LAT_FOR_COLUMNS (k, c) {
            j->zeta[k] = lat_scalar_real(1);
            j->before[k] = 1;
        }
    }
    LAT_FOR_COLUMNS (k, c)
        m->report[k] = (lat_solve_report){.solver = LAT_SOLVER_CG};
    return 0;
}

int lat_multishift(const lat_equation *p, int shifts, const double *shift, lat_dfield *const *x,
                   int columns, const int *column, lat_solve_report *report)
{
    static const lat_conjugate_calls calls = {direction, ended, product, step};
    static const char what[] = "conjugate gradients";
    const lat_system *s = p->outer;
    state m = {.p = p, .s = s, .report = report, .shifts = shifts, .first = shift[0]};
    lat_dfield *v[3] = {NULL};
    m.shift = lat_alloc_zero((size_t)shifts, sizeof *m.shift, what);
    int rc = m.shift && lat_conjugate_open(&m.cg, LAT_VECTOR_COLUMNS) == 0 ? 0 : -1;
    if (rc == 0) {
        memcpy(m.cg.list, column, sizeof(int) * (size_t)columns);
        m.cg.active = (lat_part){s->parity, columns, m.cg.list};
        rc = lat_system_vectors(s, &m.cg.active, 3, v, what);
        m.r = v[0];
        m.q = v[1];
        m.t = v[2];
        for (int j = 0; j < shifts; j++) {
            m.shift[j].d = shift[j] - shift[0];
            m.shift[j].x = x[j];
        }
        rc = rc || begin(&m) || lat_conjugate_run(&m.cg, &calls, &m) ? -1 : 0;
        lat_system_release(s, 3, v);
        for (int j = 0; j < shifts; j++)
            s->release(s->with, m.shift[j].p);
    }
    lat_conjugate_close(&m.cg);
    free(m.shift);
    return rc;
}
