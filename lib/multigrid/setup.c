/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.c: test vectors from random ones, first by GCR on S, then by cycles. */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "multigrid/multigrid_internal.h"

/* ---- approximate inverses -------------------------------------------------------------------- */

static int asked(void *with, LAT_UNUSED long iterations, LAT_UNUSED int active,
                 LAT_UNUSED double ratio)
{
    const lat_multigrid_options *o = with;
    return o->asked ? o->asked(o->with) : 0;
}

/* x = S^-1 m->rhs, about, by a few cycles. */
static int cycles(lat_multigrid *m, lat_dfield *x)
{
    const lat_part odd = {LAT_ODD, LAT_MULTIGRID_COLUMNS, lat_column_numbers};
    double none[LAT_VECTOR_COLUMNS] = {0};
    lat_solve_report report[LAT_VECTOR_COLUMNS] = {{0}};
    const lat_equation q = {.outer = &m->system,
                            .inner = &m->system,
                            .b = m->rhs,
                            .x = x,
                            .from_zero = true,
                            .target = none,
                            .max_iterations = LAT_MULTIGRID_CYCLES,
                            .preconditioner = &m->method,
                            .estimate = true,
                            .progress = asked,
                            .with = &m->options};
    return m->system.space->ops->zero(m->system.space, &odd, x)
                   || lat_solve(&q, LAT_SOLVER_GCR, odd.columns, lat_column_numbers, report)
               ? -1
               : 0;
}

/* x <- M^-1 x, about, on all sites: by cycles, or, with vectors for powers of S, by a polynomial.
 */
static int invert(lat_multigrid *m, lat_dfield *const *power, lat_dfield *x)
{
    const lat_part odd = {LAT_ODD, LAT_MULTIGRID_COLUMNS, lat_column_numbers};
    if (m->d->ops->prepare(m->d, LAT_ASYMMETRIC, &odd, m->rhs, x)
        || (power ? lat_multigrid_least(m, x, m->rhs, power) : cycles(m, x)))
        return -1;
    return m->d->ops->reconstruct(m->d, &odd, x, x);
}

/* All test vectors become M^-1 of themselves, about. */
static int improve(lat_multigrid *m)
{
    m->now = &m->rough;
    for (int k = 0; k < m->fine.down.n; k += LAT_EIGHT) {
        if (m->ops->fine_give(&m->fine, k, m->x) || invert(m, NULL, m->x)
            || m->ops->fine_take(&m->fine, k, m->x))
            return -1;
    }
    return 0;
}

static int search_with(lat_multigrid *m, lat_dfield *const *power)
{
    for (int k = 0; k < m->fine.down.n; k += LAT_EIGHT) {
        if (m->ops->fine_random(&m->fine, LAT_EIGHT, (uint64_t)k, m->x)
            || asked(&m->options, 0, 0, 0))
            return -1;
        for (int i = 0; i < LAT_MULTIGRID_SEARCHES; i++)
            if (invert(m, power, m->x))
                return -1;
        if (m->ops->fine_take(&m->fine, k, m->x))
            return -1;
    }
    return 0;
}

static int search(lat_multigrid *m)
{
    enum { COUNT = LAT_MULTIGRID_SEARCH + 1 };
    const lat_part p = {LAT_ODD, LAT_MULTIGRID_COLUMNS, lat_column_numbers};
    lat_dfield *power[COUNT];
    const int rc = lat_rc(lat_system_vectors(&m->system, &p, COUNT, power, "powers of S")
                          || search_with(m, power));
    lat_system_release(&m->system, COUNT, power);
    return rc;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* Test vectors as the first coarse level sees them; the caller frees them. */
static int restricted(lat_multigrid *m, lat_eight **v)
{
    for (int k = 0; k < m->fine.down.n / LAT_EIGHT; k++) {
        if (!(v[k] = lat_coarse_vector(&m->coarse->coarse)))
            return -1;
        if (m->ops->fine_give(&m->fine, k * LAT_EIGHT, m->x)
            || m->ops->fine_restrict(&m->fine, true, LAT_EIGHT, lat_column_numbers, m->x, v[k])
            || m->ops->gather(&m->coarse->coarse, v[k]))
            return -1;
    }
    return 0;
}

/* All levels from the test vectors. */
static int make(lat_multigrid *m)
{
    enum { MOST = 8 };
    lat_eight *v[MOST] = {NULL};
    int rc = m->ops->make(&m->fine.down) || m->ops->fine_galerkin(&m->fine, m->coarse, m->x)
                     || (m->coarse->next && restricted(m, v))
                 ? -1
                 : 0;
    if (rc == 0)
        rc = lat_level_setup(m->coarse, 0, 0, v, m->fine.down.n);
    for (int k = 0; k < MOST; k++)
        m->ops->free(v[k]);
    return rc ? rc : lat_multigrid_fit(m);
}

/* ---- the rate, and how many rounds pay --------------------------------------------------------
 */

/* What |r| falls by in a cycle after the search alone, about: a round always follows. */
#define SEARCHED .88
enum { MOST = 60 }; /* cycles of a solve for the rate */
#define FALL 1e-3   /* of its residual */

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
                            .x = m->x,
                            .from_zero = true,
                            .target = target,
                            .max_iterations = MOST,
                            .preconditioner = &m->method,
                            .estimate = true,
                            .progress = note,
                            .with = &c};
    if (m->ops->fine_random(&m->fine, 1, UINT64_MAX - 1, m->x)
        || s->ops->copy(s, &odd, m->x, m->rhs) || s->ops->dots(s, &odd, 0, NULL, m->rhs, NULL, norm)
        || s->ops->zero(s, &odd, m->x))
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
    return m->options.columns * saved * LAT_MULTIGRID_CYCLE > work;
}

/* x <- Gamma5 x / |x|, in the memory of the host. */
static void gamma5_unit(const lat_coarse *c, const double norm[LAT_EIGHT], lat_eight *x)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (int64_t)c->sites.count * c->rows; i++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            const double sign = i % c->rows < c->n ? 1 : -1, by = norm[k] > 0 ? sign / norm[k] : 0;
            x[i].re[k] = (float)(by * x[i].re[k]);
            x[i].im[k] = (float)(by * x[i].im[k]);
        }
}

/* The least singular value of M is that of M_c, about: from a few steps z <- M_c^-1 Gamma5 z, as
 * Gamma5 M_c is Hermitian (but for a twist). x: host memory. */
static int find_lowest_in(lat_multigrid *m, lat_eight *x)
{
    enum { STEPS = 6 };
    const lat_coarse *c = &m->coarse->coarse;
    const size_t bytes = lat_coarse_bytes(c);
    double before[LAT_EIGHT], after[LAT_EIGHT];
    if (lat_coarse_random(c, 0, m->correction))
        return -1;
    for (int step = 0; step < STEPS; step++) {
        if (m->ops->fetch(c->dev, x, m->correction, bytes))
            return -1;
        lat_coarse_norms(c, x, before);
        gamma5_unit(c, before, x);
        if (m->ops->send(c->dev, m->z, x, bytes) || lat_level_solve(m->coarse, m->correction, m->z))
            return -1;
    }
    if (m->ops->fetch(c->dev, x, m->correction, bytes))
        return -1;
    lat_coarse_norms(c, x, before);
    if (m->ops->apply(c, m->z, m->correction) || m->ops->fetch(c->dev, x, m->z, bytes))
        return -1;
    lat_coarse_norms(c, x, after);
    m->report.lowest = INFINITY;
    for (int k = 0; k < LAT_EIGHT; k++)
        if (before[k] > 0)
            m->report.lowest = fmin(m->report.lowest, after[k] / before[k]);
    return 0;
}

static int find_lowest(lat_multigrid *m)
{
    lat_eight *const x = lat_alloc(1, lat_coarse_bytes(&m->coarse->coarse), "a coarse vector");
    const int rc = x ? find_lowest_in(m, x) : -1;
    free(x);
    return rc;
}

/* The vectors that the setup begins with, and their levels. */
static int begin(lat_multigrid *m, lat_field *kept)
{
    m->applied = m->options.from.applied;
    m->report.rounds = m->options.from.rounds;
    m->report.rate = m->options.from.rate;
    if (m->options.known ? lat_multigrid_take_known(m) : search(m) || lat_multigrid_round(m, kept))
        return -1;
    const int rc = make(m);
    if (m->options.known) /* it was made before */
        m->applied = m->options.from.applied;
    return rc;
}

/* Whoever keeps states hears of this one. */
static int tell(lat_multigrid *m, const lat_field *kept, double before)
{
    const lat_multigrid_state state = {m->report.rounds, m->report.rate, before, m->applied};
    return m->options.round ? m->options.round(m->options.with, kept, &state) : 0;
}

/* So many rounds as pay. */
static int rounds(lat_multigrid *m, lat_field *kept)
{
    double before = m->options.from.before;
    int rc = begin(m, kept);
    if (rc == 0 && !m->options.known && tell(m, kept, before))
        return -1;
    while (rc == 0 && !m->options.finished && m->report.rounds < LAT_MULTIGRID_MOST_ROUNDS
           && (m->report.rounds == 0 || pays(m, before))) {
        before = m->report.rounds ? m->report.rate : SEARCHED;
        if (improve(m) || lat_multigrid_round(m, kept) || (rc = make(m)) < 0
            || (rc == 0 && measure(m)))
            return -1;
        m->report.rounds++;
        if (rc == 0 && tell(m, kept, before))
            return -1;
    }
    return rc;
}

/* A host field of the test vectors, in single precision. */
static int open_kept(const lat_multigrid *m, lat_field *f)
{
    f->head.geom = m->links->head.geom;
    f->head.nc = m->links->head.nc;
    f->head.real = LAT_F32;
    lat_header_make_spinors(&f->head, LAT_MODES, m->report.vectors);
    return lat_field_alloc(f, m->links->comm);
}

int lat_multigrid_setup(lat_multigrid *m)
{
    lat_field kept = {.data = NULL};
    lat_header_init(&kept.head);
    if (m->options.round && open_kept(m, &kept))
        return -1;
    int rc = rounds(m, &kept);
    lat_field_free(&kept);
    if (rc == 0)
        rc = find_lowest(m);
    m->report.applied = m->applied / m->fine.down.n;
    return rc;
}
