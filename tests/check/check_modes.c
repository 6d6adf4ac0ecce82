/* SPDX-License-Identifier: BSD-3-Clause */
/* check_modes: eigenvectors of lib/modes on small lattices against the spectrum of the dense
 * matrix, and against what is known of free fields: both methods, every operator, degenerate
 * values, a search that goes on from a saved state; the same by a search in single precision. */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/threads.h"
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "base/dense.h"
#include "modes/modes.h"
#include "site/random.h"

typedef double complex cx;

static const int zero = 0;

static double uniform(uint64_t seed, uint64_t i)
{
    uint32_t w[4];
    lat_random(seed, i, 0, 0, 0, w);
    return w[0] / 4294967296. - .5;
}

/* ---- small dense matrices -------------------------------------------------------------------- */

/* A Hermitian matrix with eigenvalues in groups of `group` equal ones. */
static void one_dense(int n, int group, uint64_t seed)
{
    cx *a = lat_alloc((size_t)(3 * n * n), sizeof *a, "a matrix"), *copy = a + n * n,
       *v = copy + n * n;
    double *value = lat_alloc((size_t)n, sizeof *value, "values"), norm = 0;
    need(a && value, "a matrix");
    memset(a, 0, (size_t)(n * n) * sizeof *a);
    /* sum over k of (k / group) (1 - 2 u u^+) E_k (1 - 2 u u^+), u a unit vector */
    double uu = 0;
    for (int i = 0; i < n; i++) {
        v[i] = uniform(seed, 2 * (uint64_t)i) + I * uniform(seed, 2 * (uint64_t)i + 1);
        uu += creal(v[i] * conj(v[i]));
    }
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                a[i * n + j] += (k / group - 1) * ((i == k) - 2 * v[i] * conj(v[k]) / uu)
                                * ((j == k) - 2 * v[k] * conj(v[j]) / uu);
    memcpy(copy, a, (size_t)(n * n) * sizeof *a);
    for (int i = 0; i < n * n; i++)
        norm += creal(a[i] * conj(a[i]));
    const double bound = 64 * n * DBL_EPSILON * (sqrt(norm) + 1);
    CHECK(lat_dense_eigen(n, a, value, v) == 0, "%s", lat_error());
    for (int k = 0; k < n; k++) {
        CHECK(fabs(value[k] - (k / group - 1)) < bound, "n %d: value %d is %.17g", n, k, value[k]);
        for (int i = 0; i < n; i++) {
            cx off = -value[k] * v[k * n + i], product = 0;
            for (int j = 0; j < n; j++) {
                off += copy[i * n + j] * v[k * n + j];
                product += conj(v[k * n + j]) * v[i * n + j];
            }
            CHECK(cabs(off) < bound && cabs(product - (i == k)) < bound, "n %d: vector %d", n, k);
        }
    }
    free(a);
    free(value);
}

/* ---- operators ------------------------------------------------------------------------------- */

typedef struct lattice {
    lat_field u;
    lat_grid *grid, *coarse; /* coarse: single precision */
    lat_space *space, *one, *many;
    lat_dirac *d, *d1, *batch; /* of one column and of BATCH in single precision */
} lattice;

enum { BATCH = 3 };

static lat_hermitian coarse_of(const lattice *l, lat_dirac_matrix matrix)
{
    lat_hermitian op = lat_hermitian_dirac(l->d1, matrix);
    op.many = l->batch;
    return op;
}

static lattice open_lattice(const char *dims, int nc, const lat_fermion *f, double epsilon,
                            uint64_t seed)
{
    lattice l = {.u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64)};
    const lat_grid_spec spec = {
        .lattice = l.u.head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1};
    lat_grid_spec single = spec;
    single.storage = LAT_STORAGE_SINGLE;
    const lat_dirac_options options = {.reals = 0};
    fill_near_one(&l.u, epsilon, seed);
    need((l.grid = lat_grid_new(cpu_device(), &spec)) != NULL, "a grid");
    need((l.space = lat_space_open(l.grid, nc, 1)) != NULL, "a space");
    need((l.d = lat_dirac_open(l.space, &l.u, f, &options)) != NULL, "an operator");
    need((l.coarse = lat_grid_new(cpu_device(), &single)) != NULL, "a grid");
    need((l.one = lat_space_open(l.coarse, nc, 1)) != NULL
             && (l.many = lat_space_open(l.coarse, nc, BATCH)) != NULL,
         "spaces");
    need((l.d1 = lat_dirac_open(l.one, &l.u, f, &options)) != NULL
             && (l.batch = lat_dirac_open(l.many, &l.u, f, &options)) != NULL,
         "operators");
    return l;
}

static void close_lattice(lattice *l)
{
    lat_dirac_close(l->d);
    lat_dirac_close(l->d1);
    lat_dirac_close(l->batch);
    lat_space_close(l->space);
    lat_space_close(l->one);
    lat_space_close(l->many);
    lat_grid_free(l->grid);
    lat_grid_free(l->coarse);
    lat_field_free(&l->u);
}

static lat_field host_spinor(const lattice *l)
{
    lat_field f = {.comm = l->u.comm};
    lat_header_init(&f.head);
    f.head.geom = l->u.head.geom;
    f.head.nc = l->u.head.nc;
    f.head.real = LAT_F64;
    lat_header_make_spinors(&f.head, LAT_SPINOR, 1);
    need(lat_field_alloc(&f, f.comm) == 0, "a spinor");
    memset(f.data, 0, lat_field_reals(&f) * sizeof(double));
    return f;
}

/* All eigenvalues of A on sites of its parity, ascending. */
static double *spectrum(lattice *l, const lat_hermitian *op, int *n)
{
    lat_field f = host_spinor(l);
    lat_dfield *x = lat_vector_new(l->space, "x"), *y = lat_vector_new(l->space, "y");
    const int each = 4 * l->u.head.nc, all = (int)lat_field_sites(&f) * each;
    int *at = lat_alloc((size_t)all, sizeof *at, "a list");
    cx *a = lat_alloc((size_t)all * (size_t)all, sizeof *a, "a matrix"),
       *v = lat_alloc((size_t)all * (size_t)all, sizeof *v, "a matrix"), *data = f.data;
    double *value = lat_alloc((size_t)all, sizeof *value, "values");
    need(x && y && at && a && v && value, "a matrix");
    *n = 0;
    for (int i = 0; i < all; i++) {
        int coord[LAT_MAX_DIMS], sum = 0;
        lat_coordinates(&l->u.head.geom, (size_t)(i / each), coord);
        for (int mu = 0; mu < 4; mu++)
            sum += coord[mu];
        if (op->parity == LAT_BOTH || sum % 2 == (int)op->parity)
            at[(*n)++] = i;
    }
    for (int j = 0; j < *n; j++) {
        memset(f.data, 0, lat_field_reals(&f) * sizeof(double));
        data[at[j]] = 1;
        need(lat_spinor_put(l->space, x, 0, &f, 0) == 0 && op->apply(op, y, x, NULL) == 0
                 && lat_spinor_get(l->space, y, 0, &f, 0) == 0,
             "a column");
        for (int i = 0; i < *n; i++)
            a[i * *n + j] = data[at[i]];
    }
    need(lat_dense_eigen(*n, a, value, v) == 0, "the spectrum");
    lat_dfield_free(x);
    lat_dfield_free(y);
    lat_field_free(&f);
    free(at);
    free(a);
    free(v);
    return value;
}

static int by_modulus(const void *a, const void *b)
{
    const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* ---- one search ------------------------------------------------------------------------------ */

/* |A w - value w| here, and |w|. */
static double residual_of(lattice *l, const lat_hermitian *op, lat_dfield *w, double value)
{
    lat_dfield *y = lat_vector_new(l->space, "y");
    const lat_part p = {op->parity, 1, &zero};
    const lat_scalar minus = {-value, 0};
    double norm = 0, unit = 0;
    need(y && op->apply(op, y, w, NULL) == 0
             && l->space->ops->axpby(l->space, &p, &minus, w, NULL, y, &norm) == 0
             && l->space->ops->dots(l->space, &p, 0, NULL, w, NULL, &unit) == 0,
         "a residual");
    CHECK(fabs(unit - 1) < 1e-12, "|w|^2 = %.17g", unit);
    lat_dfield_free(y);
    return sqrt(norm);
}

/* The modes are those of the dense matrix, as often as it has them. */
static void compare(lattice *l, const lat_hermitian *op, const lat_modes_job *job,
                    const lat_modes *m, const double *sorted, int n, const char *what)
{
    const double *next = job->largest ? sorted + n - 1 : sorted;
    const int step = job->largest ? -1 : 1;
    CHECK(m->converged && m->count >= job->low && m->count <= job->high, "%s: %d modes, worst %g",
          what, m->count, m->worst);
    if (!m->converged)
        return;
    for (int k = 0; k < m->count; k++, next += step) {
        /* |value| is within the residual of the k-th modulus. */
        CHECK(fabs(fabs(m->value[k]) - fabs(*next)) <= job->tolerance,
              "%s: mode %d %.15g, not %.15g", what, k, m->value[k], *next);
        const double now = residual_of(l, op, m->vector[k], m->value[k]);
        CHECK(now <= 1.01 * job->tolerance && m->residual[k] <= job->tolerance,
              "%s: mode %d has residual %g, said %g", what, k, now, m->residual[k]);
    }
    const double error = 2e-3 * fabs(*next); /* of the next value */
    CHECK(m->count == n || fabs(m->rest - fabs(*next)) <= error, "%s: rest %.10g, next %.10g", what,
          m->rest, *next);
}

static void search(lattice *l, lat_dirac_matrix matrix, lat_modes_job job, const char *what)
{
    const lat_hermitian op = lat_hermitian_dirac(l->d, matrix), coarse = coarse_of(l, matrix);
    int n;
    double *all = spectrum(l, &op, &n);
    qsort(all, (size_t)n, sizeof *all, by_modulus);
    for (int method = 0; method < (job.largest ? 2 : 4); method++) {
        lat_modes m;
        char says[200];
        job.op = &op;
        job.coarse = method > 1 ? &coarse : NULL;
        job.method = method == 1 ? LAT_MODES_RITZ : LAT_MODES_LANCZOS;
        if (method == 3)
            job.tolerance = 1e-4; /* without refinement */
        job.max_applications = 1000000;
        snprintf(says, sizeof says, "%s, %s", what,
                 method == 1  ? "ritz"
                 : method > 1 ? "lanczos in single precision"
                              : "lanczos");
        CHECK(lat_modes_find(&job, &m) == 0, "%s: %s", says, lat_error());
        lat_error_clear();
        compare(l, &op, &job, &m, all, n, says);
        lat_modes_free(&m);
    }
    free(all);
}

static lat_fermion fermion(double mass, double csw)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = mass;
    f.csw = f.csw_t = csw;
    f.boundary[3].theta = 1;
    return f;
}

static void operators(void)
{
    static const struct {
        const char *what, *dims;
        int nc;
        double mass, csw, twist;
        lat_dirac_matrix matrix;
        bool largest;
    } list[] = {
        {"gamma5 M, Wilson", "2 2 2 2", 3, -.7, 0, 0, {LAT_FULL, LAT_GAMMA5}, false},
        {"gamma5 M, clover", "2 2 2 2", 3, -.2, 1.4, 0, {LAT_FULL, LAT_GAMMA5}, false},
        {"gamma5 M, SU(2)", "2 4 2 2", 2, -.9, 0, 0, {LAT_FULL, LAT_GAMMA5}, false},
        {"M^+ M", "2 2 2 2", 3, -.5, 1, 0, {LAT_FULL, LAT_NORMAL}, false},
        {"M^+ M, twisted", "2 2 2 2", 3, -.5, 1, .1, {LAT_FULL, LAT_NORMAL}, false},
        {"gamma5 S", "2 2 4 2", 3, -.4, 1, 0, {LAT_ASYMMETRIC, LAT_GAMMA5}, false},
        {"S^+ S", "2 4 2 2", 3, -.4, 0, 0, {LAT_SYMMETRIC, LAT_NORMAL}, false},
        {"largest of gamma5 M", "2 2 2 2", 3, -.7, 1, 0, {LAT_FULL, LAT_GAMMA5}, true},
        {"largest of M^+ M", "2 2 2 2", 3, -.7, 1, 0, {LAT_FULL, LAT_NORMAL}, true},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        lat_fermion f = fermion(list[i].mass, list[i].csw);
        f.twist = list[i].twist;
        lattice l = open_lattice(list[i].dims, list[i].nc, &f, ROUGH, 7 + i);
        const lat_modes_job job = {
            .low = 3, .high = 6, .tolerance = 1e-9, .seed = i, .largest = list[i].largest};
        search(&l, list[i].matrix, job, list[i].what);
        close_lattice(&l);
    }
}

/* ---- what is known --------------------------------------------------------------------------- */

/* The free operator: Q^2 = (m + sum (1 - cos p))^2 + sum sin^2 p, 12 times for each momentum, half
 * of them with each sign of Q. */
static void free_field(void)
{
    const lat_fermion f = fermion(.1, 0);
    lattice l = open_lattice("4 4 4 4", 3, &f, 0, 1);
    const lat_hermitian op = lat_hermitian_dirac(l.d, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    const double p = M_PI / 4, value = hypot(.1 + 1 - cos(p), sin(p)),
                 next = sqrt(pow(.1 + 2 - cos(p), 2) + pow(sin(p), 2) + 1);
    const lat_hermitian coarse = coarse_of(&l, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    /* 12 copies of what batches of BATCH begin with; for sanitizers, refined from single alone. */
    for (int single = SANITIZED; single < (SANITIZED ? 2 : 3); single++) {
        const lat_modes_job job = {.op = &op,
                                   .coarse = single ? &coarse : NULL,
                                   .low = 20,
                                   .high = 24,
                                   .tolerance = single == 2 ? 1e-3 : 1e-9,
                                   .max_applications = 1000000};
        lat_modes m;
        int plus = 0;
        CHECK(lat_modes_find(&job, &m) == 0 && m.converged, "%d: %s", single, lat_error());
        CHECK(m.count == 24, "%d: %d modes before the widest gap", single, m.count);
        for (int k = 0; k < m.count; k++) {
            CHECK(fabs(fabs(m.value[k]) - value) <= job.tolerance, "%d: mode %d: %.15g, not %.15g",
                  single, k, m.value[k], value);
            plus += m.value[k] > 0;
        }
        CHECK(plus == 12 && fabs(m.rest - next) < 2e-3 * next, "%d: %d positive, rest %g, not %g",
              single, plus, m.rest, next);
        lat_modes_free(&m);
    }
    close_lattice(&l);
}

static void gaps(void)
{
    const double value[] = {.1, -.25, .3, -.5}, residual[] = {1e-3, 0, 2e-3, 0};
    double gap[4];
    lat_modes_gaps(4, value, .7, false, gap);
    /* .1: -.25 at .35, the rest at .6; -.25: .1 at .35; .3: the rest at .4; -.5: the rest at .2. */
    CHECK(fabs(gap[0] - .35) < 1e-15 && fabs(gap[1] - .35) < 1e-15 && fabs(gap[2] - .4) < 1e-15
              && fabs(gap[3] - .2) < 1e-15,
          "%g %g %g %g", gap[0], gap[1], gap[2], gap[3]);
    const double kappa = lat_modes_kappa(4, value, residual, gap, 1);
    CHECK(fabs(kappa - hypot(1e-3 / .35, 2e-3 / .4)) < 1e-15, "kappa %g", kappa);
    CHECK(lat_modes_kappa(4, value, residual, gap, -1) == 0, "kappa of exact modes");
    CHECK(fabs(lat_modes_bound(.1) - .12 / .76) < 1e-15 && isinf(lat_modes_bound(1)), "the bound");
    const double top[] = {3, -2.9};
    lat_modes_gaps(2, top, 2.5, true, gap);
    CHECK(fabs(gap[0] - .5) < 1e-15 && fabs(gap[1] - .4) < 1e-15, "%g %g of the largest", gap[0],
          gap[1]);
}

/* ---- states ---------------------------------------------------------------------------------- */

typedef struct kept {
    lat_space *space; /* of the search */
    lat_space *exact; /* of modes that are refined */
    int calls, stop;  /* ends the search at that call */
    int asked, from;  /* it is asked to end from that call of progress on */
    lat_modes_state state;
} kept;

static void copy_state(kept *k, const lat_modes_state *s)
{
    const lat_part p = {LAT_BOTH, 1, &zero};
    k->state = *s;
    k->state.vector = lat_alloc((size_t)s->vectors, sizeof(lat_dfield *), "a state");
    k->state.number = lat_alloc((size_t)s->numbers, sizeof(double), "a state");
    need(k->state.vector && k->state.number, "a state");
    memcpy(k->state.number, s->number, (size_t)s->numbers * sizeof(double));
    for (int i = 0; i < s->vectors; i++) {
        need((k->state.vector[i] = lat_vector_new(k->space, "a state")) != NULL, "a state");
        k->space->ops->copy(k->space, &p, s->vector[i], k->state.vector[i]);
    }
}

static void free_state(kept *k)
{
    lat_vector_free_all(k->state.vectors, k->state.vector);
    free(k->state.vector);
    free(k->state.number);
}

static int keep(void *with, const lat_modes_state *s)
{
    kept *k = with;
    if (++k->calls != k->stop)
        return 0;
    copy_state(k, s);
    return lat_fail("stopped");
}

static int keep_where_asked(void *with, const lat_modes_state *s)
{
    kept *k = with;
    if (k->asked < k->from)
        return 0;
    if (s->refined)
        k->space = k->exact;
    copy_state(k, s);
    return s->between ? 0 : -1;
}

static int ask(void *with, int converged, int of, double residual, long applications)
{
    kept *k = with;
    (void)converged, (void)of, (void)residual, (void)applications;
    return ++k->asked >= k->from;
}

static void same_modes(const lat_modes *whole, const lat_modes *rest)
{
    CHECK(whole->count == rest->count, "%d modes, then %d", whole->count, rest->count);
    for (int i = 0; i < whole->count && i < rest->count; i++)
        CHECK(whole->value[i] == rest->value[i]
                  && !memcmp(whole->vector[i]->data, rest->vector[i]->data,
                             whole->vector[i]->unit_bytes),
              "mode %d: %.17g, then %.17g", i, whole->value[i], rest->value[i]);
}

/* A search that is asked to end anywhere goes on from there: the same bits, and no application of A
 * twice, but for those of the probe and of a mode between two looks at it. */
static void stop_anywhere(lat_modes_method method, bool single)
{
    const lat_fermion f = fermion(-.8, 0);
    lattice l = open_lattice("4 2 2 4", 3, &f, ROUGH, 5);
    const lat_hermitian op = lat_hermitian_dirac(l.d, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    const lat_hermitian coarse = coarse_of(&l, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    kept k = {.from = 1 << 30};
    lat_modes_job job = {.op = &op,
                         .coarse = single ? &coarse : NULL,
                         .low = method == LAT_MODES_RITZ ? 2 : 6,
                         .high = method == LAT_MODES_RITZ ? 2 : 6,
                         .tolerance = single ? 1e-9 : 1e-8,
                         .method = method,
                         .max_applications = 1000000,
                         .progress = ask,
                         .save = keep_where_asked,
                         .with = &k};
    lat_modes whole;
    CHECK(lat_modes_find(&job, &whole) == 0 && whole.converged, "%s", lat_error());
    const int calls = k.asked, steps = SANITIZED ? 3 : 7;
    CHECK(calls > steps, "%d calls", calls);
    for (int i = 0; i < steps; i++) {
        lat_modes cut, rest;
        k = (kept){.space = single ? l.one : l.space,
                   .exact = l.space,
                   .from = 1 + (calls - 2) * i / (steps - 1)};
        job.from = NULL;
        const int rc = lat_modes_find(&job, &cut);
        lat_error_clear();
        CHECK(rc == -1 && k.state.vectors > 0, "call %d: %d", k.from, rc);
        job.from = &k.state;
        k.from = 1 << 30;
        CHECK(lat_modes_find(&job, &rest) == 0 && rest.converged, "%s", lat_error());
        CHECK(cut.applications + rest.applications <= whole.applications + 2 * job.high + 4,
              "%ld and %ld applications, %ld without a stop", cut.applications, rest.applications,
              whole.applications);
        same_modes(&whole, &rest);
        free_state(&k);
        lat_modes_free(&cut);
        lat_modes_free(&rest);
    }
    lat_modes_free(&whole);
    close_lattice(&l);
}

static void resume(lat_modes_method method, bool single)
{
    const lat_fermion f = fermion(-.8, 0);
    lattice l = open_lattice("4 2 2 4", 3, &f, ROUGH, 5);
    const lat_hermitian op = lat_hermitian_dirac(l.d, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    const lat_hermitian coarse = coarse_of(&l, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    kept k = {.space = single ? l.one : l.space};
    lat_modes_job job = {.op = &op,
                         .coarse = single ? &coarse : NULL,
                         .degree = single ? 2 : 0, /* slow */
                         .low = 6,
                         .high = 6,
                         .tolerance = single ? 1e-4 : 1e-10,
                         .method = method,
                         .max_applications = 1000000,
                         .save = keep,
                         .with = &k};
    lat_modes whole, cut, rest;
    CHECK(lat_modes_find(&job, &whole) == 0 && whole.converged, "%s", lat_error());
    k.stop = k.calls / 2 + 1;
    k.calls = 0;
    CHECK(lat_modes_find(&job, &cut) == -1 && !strcmp(lat_error(), "stopped"), "%s", lat_error());
    lat_error_clear();
    job.from = &k.state;
    CHECK(lat_modes_find(&job, &rest) == 0 && rest.converged, "%s", lat_error());
    CHECK(rest.applications < whole.applications, "nothing was saved: %ld applications of %ld",
          rest.applications, whole.applications);
    same_modes(&whole, &rest);
    free_state(&k);
    lat_modes_free(&whole);
    lat_modes_free(&cut);
    lat_modes_free(&rest);
    close_lattice(&l);
}

static void refused(void)
{
    const lat_fermion f = fermion(-.8, 0);
    lattice l = open_lattice("2 2 2 2", 3, &f, ROUGH, 5);
    const lat_hermitian op = lat_hermitian_dirac(l.d, (lat_dirac_matrix){LAT_FULL, LAT_GAMMA5});
    lat_modes_job job = {
        .op = &op, .low = 192, .high = 192, .tolerance = 1e-9, .max_applications = 100000};
    lat_modes m;
    CHECK(lat_modes_find(&job, &m) == -1 && strstr(lat_error(), "at most 191"), "%s", lat_error());
    lat_error_clear();
    lat_modes_free(&m);
    job.low = job.high = 8;
    job.max_applications = 50;
    for (int method = 0; method < 2; method++) {
        job.method = (lat_modes_method)method;
        CHECK(lat_modes_find(&job, &m) == 0 && !m.converged && m.worst > job.tolerance,
              "method %d: converged %d, worst %g after %ld: %s", method, m.converged, m.worst,
              m.applications, lat_error());
        lat_modes_free(&m);
    }
    close_lattice(&l);
}

int main(void)
{
    lat_threads_set(1); /* some hundred sites */
    check_case("eigenvalues and eigenvectors of small dense matrices, degenerate ones too");
    for (int n = 1; n <= 40; n += 13)
        for (int group = 1; group <= 5; group += 2)
            one_dense(n, group, (uint64_t)(n + group));
    check_case("modes of every operator are those of its dense matrix, by both methods");
    operators();
    check_case("the free operator: 12 modes of each sign, then the gap");
    free_field();
    check_case("gaps and the bound of projectors");
    gaps();
    check_case("a search that was cut off goes on to the same bits");
    resume(LAT_MODES_LANCZOS, false);
    resume(LAT_MODES_LANCZOS, true);
    resume(LAT_MODES_RITZ, false);
    stop_anywhere(LAT_MODES_LANCZOS, false);
    stop_anywhere(LAT_MODES_LANCZOS, true);
    stop_anywhere(LAT_MODES_RITZ, false);
    check_case("too many modes are refused; too few applications do not converge");
    refused();
    lat_device_close(cpu_device());
    lat_device_end();
    return check_done();
}
