/* SPDX-License-Identifier: BSD-3-Clause */
/* modes.c: the lowest eigenvalues of M by LOBPCG. X are the vectors, W the residuals times the
 * inverse Laplacian, Q the directions of the last step. In each iteration the lowest Ritz vectors
 * in the space of all three become X; of that space a basis is taken that is orthonormal, without
 * directions that are so to rounding alone (Duersch, Shao, Yang, Gu, SIAM J. Sci. Comput. 40 (2018)
 * C655). Units go on together, each with its own numbers. */
#include <math.h>
#include <stdlib.h>
#include "base/dense.h"
#include "base/error.h"
#include "base/memory.h"
#include "common/progress.h"
#include "ghost_internal.h"
#include "site/random.h"

/* Directions of the space that are a linear combination of others up to this. */
#define DEPENDENT 1e-11

typedef struct space {
    lat_ghost *m;
    int columns, all;    /* of X; of X, W and Q */
    double *array[6];    /* X, W, Q, M X, M W, M Q */
    double *gram, *ritz; /* [unit][all][all]: <s_i, s_j>, <s_i, M s_j> */
    double *block;       /* [unit][columns][columns] */
    double *combine;     /* [unit][all][columns] */
    double *value;       /* [unit][columns] */
    double *norm;        /* [unit][columns]: of residuals */
    double *work;        /* of one unit */
} space;

static int space_new(space *s, lat_ghost *m, double *v, double *value)
{
    const size_t units = (size_t)m->units, n = (size_t)m->columns, all = 3 * n;
    *s = (space){.m = m, .columns = (int)n, .all = (int)all, .value = value};
    s->array[0] = v;
    bool good = true;
    for (int i = 1; i < 6; i++)
        good = (s->array[i] = lat_ghost_vector(m, "eigenvectors")) && good;
    s->gram = lat_alloc(units, 2 * all * all * sizeof(double), "eigenvectors");
    s->block = lat_alloc(units, (n * n + all * n + n) * sizeof(double), "eigenvectors");
    s->work = lat_alloc(6 * all * all + 2 * all, sizeof(double), "eigenvectors");
    if (!good || !s->gram || !s->block || !s->work)
        return -1;
    s->ritz = s->gram + units * all * all;
    s->combine = s->block + units * n * n;
    s->norm = s->combine + units * all * n;
    return 0;
}

static void space_free(space *s)
{
    for (int i = 1; i < 6; i++)
        lat_ghost_vector_free(s->m, s->array[i]);
    LAT_FREE(s->gram, s->block, s->work);
}

/* ---- Rayleigh and Ritz ----------------------------------------------------------------------- */

/* Block (p, q) of a matrix of products: <array[a]_i, array[b]_j>, and its transpose. */
static int products(space *s, int a, int b, int p, int q, double *to)
{
    const size_t n = (size_t)s->columns, all = (size_t)s->all;
    const lat_ghost_call c = {.in = s->array[a], .other = s->array[b]};
    if (lat_ghost_run(s->m, LAT_GHOST_GRAM, &c, (int)(n * n), s->block))
        return -1;
    for (size_t unit = 0; unit < (size_t)s->m->units; unit++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double *of = to + unit * all * all;
                const size_t row = (size_t)p * n + i, column = (size_t)q * n + j;
                of[row * all + column] = of[column * all + row] = s->block[(unit * n + i) * n + j];
            }
    return 0;
}

static int all_products(space *s, int parts)
{
    for (int p = 0; p < parts; p++)
        for (int q = p; q < parts; q++)
            if (products(s, p, q, p, q, s->gram) || products(s, p, 3 + q, p, q, s->ritz))
                return -1;
    return 0;
}

/* c = a b^T of n x k and m x k matrices; strides are those of rows, `row` of a and b. */
static void times(int n, int m, int k, const double *a, const double *b, int row, double *c,
                  int c_row)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += a[i * row + l] * b[j * row + l];
            c[i * c_row + j] = sum;
        }
}

/* The rows of t: a basis of the space of `size` vectors with products `gram`, orthonormal. Returns
 * how many, or -1. */
static int orthonormal(space *s, const double *gram, int size, double *t, double *work)
{
    const int all = s->all;
    double *scaled = work, *vector = work + all * all, *value = vector + all * all,
           *scale = value + all;
    for (int i = 0; i < size; i++)
        scale[i] = gram[i * all + i] > 0 ? 1 / sqrt(gram[i * all + i]) : 0;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            scaled[i * size + j] = scale[i] * gram[i * all + j] * scale[j];
    if (lat_dense_eigen_real(size, scaled, value, vector))
        return -1;
    int n = 0;
    for (int i = 0; i < size; i++)
        if (value[i] > DEPENDENT * value[size - 1]) {
            for (int j = 0; j < size; j++)
                t[n * all + j] = vector[i * size + j] * scale[j] / sqrt(value[i]);
            n++;
        }
    return n;
}

/* The lowest Ritz values of a unit, and how their vectors are made. */
static int ritz_unit(space *s, int unit, int size)
{
    const int all = s->all, n = s->columns;
    double *t = s->work, *a = t + all * all, *b = a + all * all, *work = b + all * all,
           *combine = s->combine + (size_t)unit * (size_t)(all * n);
    const double *gram = s->gram + (size_t)unit * (size_t)(all * all),
                 *ritz = s->ritz + (size_t)unit * (size_t)(all * all);
    const int rank = orthonormal(s, gram, size, t, work);
    if (rank < 0)
        return -1;
    if (rank < n)
        return lat_fail("eigenvectors: expected %d independent vectors, found %d (a lattice too "
                        "small for so many modes?)",
                        n, rank);
    times(rank, size, size, t, ritz, all, a, all); /* ritz is symmetric */
    times(rank, rank, size, a, t, all, b, rank);
    for (int i = 0; i < rank; i++)
        for (int j = 0; j < i; j++)
            b[i * rank + j] = b[j * rank + i] = (b[i * rank + j] + b[j * rank + i]) / 2;
    if (lat_dense_eigen_real(rank, b, work + all * all, work))
        return -1;
    memcpy(s->value + unit * n, work + all * all, (size_t)n * sizeof(double));
    memset(combine, 0, (size_t)(all * n) * sizeof *combine);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < rank; i++)
            for (int j = 0; j < size; j++)
                combine[j * n + k] += work[k * rank + i] * t[i * all + j];
    return 0;
}

/* X and Q from the space of X, W and Q, of which the first `parts` are there. */
static int ritz(space *s, int parts)
{
    const lat_ghost_call c = {
        .a = s->combine,
        .array = {s->array[0], s->array[1], s->array[2], s->array[3], s->array[4], s->array[5]}};
    if (all_products(s, parts))
        return -1;
    for (int unit = 0; unit < s->m->units; unit++)
        if (ritz_unit(s, unit, parts * s->columns))
            return -1;
    return lat_ghost_run(s->m, LAT_GHOST_COMBINE, &c, 0, NULL);
}

/* ---- the iteration --------------------------------------------------------------------------- */

/* Random numbers for X, the same on any number of ranks. */
static void randoms(const lat_ghost *m, uint64_t seed, double *x)
{
    const size_t reals = lat_ghost_reals(m);
    const uint64_t first = lat_field_site(&m->lattice, 0);
#pragma omp parallel for schedule(static)
    for (size_t site = 0; site < m->sites; site++)
        for (size_t k = 0; k < reals; k++) {
            uint32_t word[4];
            lat_random(seed, first + site, 0, LAT_FOR_SPINORS, (uint32_t)k, word);
            x[site * reals + k] = lat_uniform(word[0], word[1]) - 0.5;
        }
}

static int start(space *s, uint64_t seed)
{
    lat_ghost *m = s->m;
    if (!m->gpu) {
        randoms(m, seed, s->array[0]);
        return 0;
    }
    double *x = lat_alloc(m->sites, lat_ghost_reals(m) * sizeof *x, "eigenvectors");
    if (!x)
        return -1;
    randoms(m, seed, x);
    const int rc = lat_ghost_copy(m, s->array[0], x);
    free(x);
    return rc;
}

/* The residuals to W, their norms; how many of the modes are not accurate enough. */
static int residuals(space *s, const lat_ghost_modes *wanted, lat_ghost_report *report, int *left)
{
    const lat_ghost_call c = {
        .in = s->array[0], .other = s->array[3], .out = s->array[1], .a = s->value};
    if (lat_ghost_run(s->m, LAT_GHOST_DEFECT, &c, s->columns, s->norm))
        return -1;
    *left = 0;
    report->residual = 0;
    for (int unit = 0; unit < s->m->units; unit++)
        for (int k = 0; k < wanted->modes; k++) {
            const int i = unit * s->columns + k;
            const double r = sqrt(s->norm[i]);
            *left += !(r <= wanted->accuracy * fabs(s->value[i]));
            report->residual = lat_worse(report->residual, r / fabs(s->value[i]));
        }
    return 0;
}

/* M in, on columns of norm 1 or so. */
static int iterate(space *s, const lat_ghost_modes *wanted, lat_ghost_report *report)
{
    int left = 1, rc = 0;
    double first = 0;
    lat_part_begin(NULL, 1);
    for (; rc == 0; report->iterations++) {
        if ((rc = residuals(s, wanted, report, &left)) || left == 0
            || report->iterations == wanted->max_iterations)
            break;
        lat_part_at(lat_digits_done(&first, report->residual, wanted->accuracy));
        lat_progress("iteration %ld, lowest eigenvalue %.8g, %d of %d left, residual %.2g",
                     report->iterations, s->value[0], left, wanted->modes * s->m->units,
                     report->residual);
        rc = lat_ghost_invert(s->m, s->array[1], NULL)
             || lat_ghost_apply(s->m, s->array[4], s->array[1])
             || ritz(s, report->iterations == 0 ? 2 : 3);
    }
    lat_part_end();
    report->converged = rc == 0 && left == 0;
    return rc ? -1 : 0;
}

static int begin(space *s, const lat_ghost_modes *wanted)
{
    if (start(s, wanted->seed) || lat_ghost_invert(s->m, s->array[0], NULL)
        || lat_ghost_apply(s->m, s->array[3], s->array[0]))
        return -1;
    for (int i = 1; i < 6; i++)
        if (i != 3 && lat_ghost_zero(s->m, s->array[i]))
            return -1;
    return ritz(s, 1);
}

int lat_ghost_lowest(lat_ghost *m, const lat_ghost_modes *wanted, double *v, double *value,
                     lat_ghost_report *report)
{
    space s;
    const lat_comm *comm = m->lattice.comm;
    *report = (lat_ghost_report){.iterations = 0};
    int rc = lat_agree(comm, space_new(&s, m, v, value));
    if (rc == 0)
        rc = begin(&s, wanted) || iterate(&s, wanted, report) ? -1 : 0;
    space_free(&s);
    return rc;
}

/* Eight columns: the others make it converge. */
static int least_of(lat_ghost *m, const lat_field *u, double accuracy, long max_iterations,
                    double *v, double *value, lat_ghost_least *least)
{
    const lat_ghost_modes wanted = {1, accuracy, max_iterations, 1};
    double *residual = value + m->units * m->columns;
    if (lat_ghost_lowest(m, &wanted, v, value, &least->report)
        || lat_ghost_residual(m, u, NULL, v, value, residual))
        return -1;
    for (int unit = 0; unit < m->units; unit++) {
        const int i = unit * m->columns;
        if (unit == 0 || value[i] < least->value) {
            least->value = value[i];
            least->residual = residual[i];
            least->unit = unit;
        }
        /* as it was computed by the definition, too */
        least->report.converged = least->report.converged
                                  && residual[i] <= 1.01 * accuracy * fabs(value[i]) + 1e-14;
    }
    return 0;
}

int lat_ghost_minimum(const lat_field *u, const lat_condition *c, double accuracy,
                      long max_iterations, lat_ghost_least *least)
{
    lat_ghost *m = lat_ghost_new(u, c, 1);
    if (!m)
        return -1;
    double *v = lat_ghost_vector(m, "eigenvectors"),
           *value = lat_alloc((size_t)(2 * m->units * m->columns), sizeof *value, "eigenvalues");
    const lat_comm *comm = m->lattice.comm;
    int rc = lat_agree(comm, v && value ? 0 : -1);
    if (rc == 0)
        rc = least_of(m, u, accuracy, max_iterations, v, value, least);
    lat_progress_end();
    lat_ghost_vector_free(m, v);
    free(value);
    lat_ghost_free(m);
    return rc;
}
