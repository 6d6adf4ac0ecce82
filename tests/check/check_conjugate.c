/* SPDX-License-Identifier: BSD-3-Clause */
/* check_conjugate.c: the loop of conjugate gradients, on diagonal matrices. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "check.h"
#include "base/error.h"
#include "vector/conjugate.h"

/* Column k has a matrix with k % MOST + 1 different eigenvalues: that many iterations solve it. */
enum { N = 24, MOST = 12, COLUMNS = 2 * LAT_VECTOR_COLUMNS };

typedef struct set {
    double a[COLUMNS][N], k[COLUMNS][N]; /* A; the preconditioner */
    double b[COLUMNS][N], x[COLUMNS][N], r[COLUMNS][N], z[COLUMNS][N], p[COLUMNS][N], q[COLUMNS][N];
    long ended[COLUMNS], limit; /* after how many iterations */
    int anew, stop;             /* columns begin anew after, step() returns 7 after so many */
    lat_conjugate cg;
} set;

static double dot(const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += x[i] * y[i];
    return sum;
}

static int direction(void *with)
{
    set *s = with;
    LAT_FOR_COLUMNS (k, &s->cg.active)
        for (int i = 0; i < N; i++)
            s->p[k][i] = s->z[k][i] + s->cg.beta[k] * s->p[k][i];
    return 0;
}

static bool ended(void *with, int k)
{
    set *s = with;
    s->ended[k] = s->cg.iterations;
    return dot(s->r[k], s->r[k]) <= 1e-20 || s->cg.iterations >= s->limit;
}

static int product(void *with)
{
    set *s = with;
    LAT_FOR_COLUMNS (k, &s->cg.active) {
        for (int i = 0; i < N; i++)
            s->q[k][i] = s->a[k][i] * s->p[k][i];
        s->cg.pq[k] = dot(s->p[k], s->q[k]);
    }
    return 0;
}

static void residual(set *s, int k)
{
    for (int i = 0; i < N; i++)
        s->z[k][i] = s->k[k][i] * s->r[k][i];
    s->cg.next[k] = dot(s->r[k], s->z[k]);
}

static int step(void *with)
{
    set *s = with;
    LAT_FOR_COLUMNS (k, &s->cg.active) {
        for (int i = 0; i < N; i++) {
            s->x[k][i] += s->cg.alpha[k] * s->p[k][i];
            s->r[k][i] -= s->cg.alpha[k] * s->q[k][i];
        }
        residual(s, k);
        if (s->cg.iterations + 1 == s->anew)
            s->cg.rho[k] = 0;
    }
    return s->cg.iterations + 1 == s->stop ? 7 : 0;
}

/* Solves for columns first .. last-1; r is b, x is 0. */
static int solve(set *s, int first, int last)
{
    static const lat_conjugate_calls calls = {direction, ended, product, step};
    CHECK(lat_conjugate_open(&s->cg, COLUMNS) == 0, "%s", lat_error());
    memset(s->x, 0, sizeof s->x);
    memset(s->p, 0, sizeof s->p);
    memcpy(s->r, s->b, sizeof s->r);
    for (int k = first; k < last; k++) {
        s->cg.list[s->cg.active.columns++] = k;
        residual(s, k);
    }
    const int rc = lat_conjugate_run(&s->cg, &calls, s);
    CHECK(rc || s->cg.active.columns == 0, "%d columns are left", s->cg.active.columns);
    for (int k = first; k < last && rc == 0; k++)
        CHECK(s->cg.alpha[k] == 0 && s->cg.beta[k] == 0, "column %d: scalars are left", k);
    lat_conjugate_close(&s->cg);
    s->cg = (lat_conjugate){.list = NULL};
    return rc;
}

static void make(set *s)
{
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < N; i++) {
            s->a[k][i] = 1 + i % (k % MOST + 1);
            s->k[k][i] = 1;
            s->b[k][i] = sin(1 + i + N * k);
        }
    s->limit = 100;
}

/* |A x - b| beside the rounding of so many iterations. */
static void solved(const set *s, int k)
{
    for (int i = 0; i < N; i++)
        CHECK(fabs(s->a[k][i] * s->x[k][i] - s->b[k][i]) <= 1e-10 + 100 * MOST * DBL_EPSILON,
              "column %d: %g, expected %g", k, s->a[k][i] * s->x[k][i], s->b[k][i]);
}

int main(void)
{
    static set s, alone;
    make(&s);
    alone = s;
    check_case("as many iterations as a matrix has eigenvalues, in more columns than a batch has");
    CHECK(solve(&s, 0, COLUMNS) == 0, "the run was ended");
    for (int k = 0; k < COLUMNS; k++) {
        solved(&s, k);
        CHECK(s.ended[k] == k % MOST + 1, "column %d: %ld iterations", k, s.ended[k]);
    }

    check_case("a column does not depend on those beside it");
    CHECK(solve(&alone, 77, 78) == 0, "the run was ended");
    CHECK(memcmp(alone.x[77], s.x[77], sizeof s.x[77]) == 0, "a column alone has other bits");

    check_case("the inverse for a preconditioner: one iteration");
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < N; i++)
            s.k[k][i] = 1 / s.a[k][i];
    CHECK(solve(&s, 0, COLUMNS) == 0, "the run was ended");
    for (int k = 0; k < COLUMNS; k++) {
        solved(&s, k);
        CHECK(s.ended[k] == 1, "column %d: %ld iterations", k, s.ended[k]);
    }

    check_case("directions begun anew: as many iterations from there as from the start");
    make(&s);
    s.anew = 2;
    CHECK(solve(&s, 0, COLUMNS) == 0, "the run was ended");
    for (int k = 0; k < COLUMNS; k++) {
        const int most = k % MOST + 1;
        solved(&s, k);
        CHECK(s.ended[k] == (most <= 2 ? most : most + 2), "column %d: %ld iterations", k,
              s.ended[k]);
    }

    check_case("a matrix that is not positive: x stays where it is");
    make(&s);
    s.a[5][0] = -1e4;
    s.limit = 20;
    CHECK(solve(&s, 5, 6) == 0 && s.ended[5] == 20, "ended after %ld iterations", s.ended[5]);
    CHECK(dot(s.x[5], s.x[5]) == 0, "|x|^2 = %g", dot(s.x[5], s.x[5]));

    check_case("what a call returns ends the run");
    s.stop = 3;
    CHECK(solve(&s, 10, 12) == 7 && s.ended[10] == 2, "ended after %ld iterations", s.ended[10]);
    return check_done();
}
