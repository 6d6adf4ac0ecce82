/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c: test vectors from random ones, first by GCR on S, then by cycles. */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "multigrid/multigrid_internal.h"

/* ---- approximate inverses -------------------------------------------------------------------- */

/* x <- M^-1 x, about, on all sites: so many iterations of GCR on S. b: to work with. */
static int invert(lat_multigrid *m, lat_dfield *x, lat_dfield *b, const lat_method *method,
                  int iterations)
{
    lat_space *s = m->system.space;
    const lat_part both = {LAT_BOTH, LAT_MULTIGRID_COLUMNS, lat_column_numbers},
                   odd = {LAT_ODD, LAT_MULTIGRID_COLUMNS, lat_column_numbers};
    double none[LAT_VECTOR_COLUMNS] = {0};
    lat_solve_report report[LAT_VECTOR_COLUMNS] = {{0}};
    const lat_equation q = {.outer = &m->system,
                            .inner = &m->system,
                            .b = m->rhs,
                            .x = x,
                            .from_zero = true,
                            .target = none,
                            .max_iterations = iterations,
                            .preconditioner = method,
                            .estimate = true};
    if (s->ops->copy(s, &both, x, b) || m->d->ops->prepare(m->d, LAT_ASYMMETRIC, &odd, b, b)
        || s->ops->copy(s, &odd, b, m->rhs) || s->ops->zero(s, &odd, x)
        || lat_solve(&q, LAT_SOLVER_GCR, odd.columns, lat_column_numbers, report))
        return -1;
    return m->d->ops->reconstruct(m->d, &odd, x, b);
}

/* All test vectors become M^-1 of themselves, about. */
static int improve(lat_multigrid *m)
{
    for (int k = 0; k < m->fine.down.n; k += LAT_EIGHT) {
        lat_mg_fine_give(&m->fine, k, LAT_EIGHT, m->x[0]);
        if (invert(m, m->x[0], m->x[1], &m->method, LAT_MULTIGRID_CYCLES))
            return -1;
        lat_mg_fine_take(&m->fine, k, LAT_EIGHT, m->x[0]);
    }
    return 0;
}

static int search(lat_multigrid *m)
{
    lat_space *s = m->system.space;
    const lat_part both = {LAT_BOTH, LAT_MULTIGRID_COLUMNS, lat_column_numbers};
    for (int k = 0; k < m->fine.down.n; k += LAT_EIGHT) {
        if (s->ops->random(s, &both, (uint64_t)k, m->x[0]))
            return -1;
        for (int i = 0; i < LAT_MULTIGRID_SEARCHES; i++)
            if (invert(m, m->x[0], m->x[1], NULL, LAT_MULTIGRID_SEARCH))
                return -1;
        lat_mg_fine_take(&m->fine, k, LAT_EIGHT, m->x[0]);
    }
    return 0;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Test vectors as the first coarse level sees them; the caller frees them. */
static int restricted(lat_multigrid *m, lat_eight **v)
{
    for (int k = 0; k < m->fine.down.n / LAT_EIGHT; k++) {
        if (!(v[k] = lat_coarse_vector(&m->coarse->coarse)))
            return -1;
        lat_mg_fine_give(&m->fine, k * LAT_EIGHT, LAT_EIGHT, m->x[0]);
        if (lat_mg_fine_restrict_all(&m->fine, m->x[0], v[k])
            || lat_coarse_gather(&m->coarse->coarse, v[k]))
            return -1;
    }
    return 0;
}

/* All levels from the test vectors. */
static int make(lat_multigrid *m)
{
    enum { MOST = 8 };
    lat_eight *v[MOST] = {NULL};
    int rc = lat_transfer_make(&m->fine.down) || lat_mg_fine_galerkin(&m->fine, m->coarse, m->x)
                     || (m->coarse->next && restricted(m, v))
                 ? -1
                 : 0;
    if (rc == 0)
        rc = lat_level_setup(m->coarse, 0, 0, v, m->fine.down.n);
    for (int k = 0; k < MOST; k++)
        free(v[k]);
    return rc ? rc : lat_multigrid_fit(m);
}

/* ---- the rate, and how many rounds pay --------------------------------------------------------
 */

/* What |r| falls by in a cycle after the search alone, about: a round always follows. */
#define SEARCHED .88
enum { MOST = 60 }; /* cycles of a solve for the rate */
#define FALL 1e-4   /* of its residual */

typedef struct course {
    double ratio[MOST + 1]; /* |r| over its target after so many cycles */
    long cycles;
} course;

static int note(void *with, long iterations, int active, double ratio)
{
    course *c = with;
    (void)active;
    if (iterations <= MOST) {
        c->ratio[iterations] = ratio;
        c->cycles = iterations;
    }
    return 0;
}

/* Of a random column: by what |r| falls in a cycle, in the second half of a solve. */
static int measure(lat_multigrid *m)
{
    lat_space *s = m->system.space;
    const lat_part odd = {LAT_ODD, 1, lat_column_numbers};
    double norm[LAT_VECTOR_COLUMNS], target[LAT_VECTOR_COLUMNS];
    lat_solve_report report[LAT_VECTOR_COLUMNS] = {{0}};
    course c = {{0}, 0};
    const lat_equation q = {.outer = &m->system,
                            .inner = &m->system,
                            .b = m->rhs,
                            .x = m->x[0],
                            .from_zero = true,
                            .target = target,
                            .max_iterations = MOST,
                            .preconditioner = &m->method,
                            .estimate = true,
                            .progress = note,
                            .with = &c};
    if (s->ops->random(s, &odd, UINT64_MAX - 1, m->rhs)
        || s->ops->dots(s, &odd, 0, NULL, m->rhs, NULL, norm) || s->ops->zero(s, &odd, m->x[0]))
        return -1;
    target[0] = FALL * sqrt(norm[0]);
    if (lat_solve(&q, LAT_SOLVER_GCR, 1, lat_column_numbers, report))
        return -1;
    const long half = c.cycles / 2;
    m->report.rate = half > 0
                         ? pow(c.ratio[c.cycles] / c.ratio[half], 1. / (double)(c.cycles - half))
                         : FALL;
    return 0;
}

/* Cycles to 1e-10 by the rate; as many as there may be where there is none. */
static double cycles_of(double rate)
{
    return rate > 0 && rate < .995 ? log(1e-10) / log(rate) : 5000;
}

/* The next round saves half of what the last one has saved, if that is worth its work. */
static bool pays(const lat_multigrid *m, double before)
{
    const double saved = (cycles_of(before) - cycles_of(m->report.rate)) / 2,
                 work = m->fine.down.n * (LAT_MULTIGRID_CYCLES * LAT_MULTIGRID_CYCLE + 2)
                        + LAT_MULTIGRID_MAKE;
    return m->columns * saved * LAT_MULTIGRID_CYCLE > work;
}

int lat_multigrid_setup(lat_multigrid *m)
{
    int rc;
    double before = 1;
    m->applied = 0;
    if (search(m) || (rc = make(m)) < 0)
        return -1;
    while (rc == 0 && m->report.rounds < LAT_MULTIGRID_MOST_ROUNDS
           && (m->report.rounds == 0 || pays(m, before))) {
        before = m->report.rounds ? m->report.rate : SEARCHED;
        if (improve(m) || (rc = make(m)) < 0 || (rc == 0 && measure(m)))
            return -1;
        m->report.rounds++;
    }
    m->report.applied = m->applied / m->fine.down.n + LAT_MULTIGRID_SEARCHES * LAT_MULTIGRID_SEARCH;
    return rc;
}
