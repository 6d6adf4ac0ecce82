/* SPDX-License-Identifier: BSD-3-Clause */
/* check_krylov: the Krylov methods of lib/solve on dense matrices, in double and with an inner
 * precision of 24 bits, against Gaussian elimination. The linear algebra here is plain loops behind
 * the table of vector/space.h, so that nothing of lib/dirac is needed. A device that does not wait
 * for its host is emulated, too. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "check.h"
#include "vector/shadow.h"
#include "fields.h"
#include "site/random.h"
#include "solve/krylov.h"

typedef double complex cx;

enum { COLUMNS = 5, MOST = 200 };

/* A space of vectors of n numbers, each rounded to float if `single`. */
typedef struct toy {
    lat_space space;
    int n;
    bool single;
    cx *matrix; /* [n][n] */
    long applied;
    struct watch *watch; /* of a device that does not wait for the host */
} toy;

/* Which columns took a step, the last two times; the step of a norm that makes it no number in
 * column 2, 0 for none. */
typedef struct watch {
    int columns[LAT_STEPS][2], column[LAT_STEPS][2][COLUMNS];
    long norms, lost;
} watch;

/* What the space opens. */
typedef struct toy_scalars {
    lat_scalars host;
    const toy *t;
} toy_scalars;

static cx *column_of(const lat_dfield *v, int n, int k)
{
    return (cx *)v->data + (size_t)k * (size_t)n;
}
static cx scalar(const lat_scalar *a, int k) { return a ? a[k].re + a[k].im * I : 1; }
static cx rounded(const toy *t, cx z)
{
    return t->single ? (float)creal(z) + (float)cimag(z) * I : z;
}

static void dot_of(const toy *t, int k, const lat_dfield *x, const lat_dfield *y, lat_scalar *to)
{
    cx sum = 0;
    for (int i = 0; i < t->n; i++)
        sum += conj(column_of(x, t->n, k)[i]) * column_of(y, t->n, k)[i];
    to[k] = (lat_scalar){creal(sum), cimag(sum)};
}

static void norm_of(const toy *t, int k, const lat_dfield *y, double *norm)
{
    double sum = 0;
    for (int i = 0; i < t->n && norm; i++)
        sum += creal(conj(column_of(y, t->n, k)[i]) * column_of(y, t->n, k)[i]);
    if (norm)
        norm[k] = sum;
}

static int toy_zero(lat_space *s, const lat_part *p, lat_dfield *x)
{
    const toy *t = (const toy *)s;
    for (int c = 0; c < p->columns; c++)
        memset(column_of(x, t->n, p->column[c]), 0, sizeof(cx) * (size_t)t->n);
    return 0;
}

static int toy_copy(lat_space *s, const lat_part *p, const lat_dfield *x, lat_dfield *y)
{
    const toy *t = (const toy *)s;
    for (int c = 0; c < p->columns; c++)
        for (int i = 0; i < t->n; i++)
            column_of(y, t->n, p->column[c])[i] = rounded(t, column_of(x, t->n, p->column[c])[i]);
    return 0;
}

static int toy_convert(lat_space *s, const lat_part *p, const lat_space *from, const lat_dfield *x,
                       lat_dfield *y)
{
    (void)from;
    return toy_copy(s, p, x, y);
}

static int toy_axpby(lat_space *s, const lat_part *p, const lat_scalar *a, const lat_dfield *x,
                     const lat_scalar *b, lat_dfield *y, double *norm)
{
    const toy *t = (const toy *)s;
    for (int c = 0; c < p->columns; c++) {
        const int k = p->column[c];
        cx *to = column_of(y, t->n, k);
        for (int i = 0; i < t->n; i++)
            to[i] = rounded(t, scalar(a, k) * column_of(x, t->n, k)[i] + scalar(b, k) * to[i]);
        norm_of(t, k, y, norm);
    }
    return 0;
}

static int toy_axpys(lat_space *s, const lat_part *p, int n, const lat_scalar *const *a,
                     const lat_dfield *const *x, lat_dfield *y, double *norm)
{
    const toy *t = (const toy *)s;
    for (int c = 0; c < p->columns; c++) {
        const int k = p->column[c];
        for (int i = 0; i < t->n; i++) {
            cx sum = column_of(y, t->n, k)[i];
            for (int j = 0; j < n; j++)
                sum += scalar(a[j], k) * column_of(x[j], t->n, k)[i];
            column_of(y, t->n, k)[i] = rounded(t, sum);
        }
        norm_of(t, k, y, norm);
    }
    return 0;
}

static int toy_dots(lat_space *s, const lat_part *p, int n, const lat_dfield *const *x,
                    const lat_dfield *y, lat_scalar *const *dot, double *norm)
{
    const toy *t = (const toy *)s;
    for (int c = 0; c < p->columns; c++) {
        for (int j = 0; j < n; j++)
            dot_of(t, p->column[c], x[j], y, dot[j]);
        norm_of(t, p->column[c], y, norm);
    }
    return 0;
}

static double real_of(lat_coefficient c, int k)
{
    return creal(scalar(lat_coefficient_host(c), k));
}

static int toy_add(lat_space *s, const lat_part *p, lat_coefficient a, const lat_dfield *x,
                   lat_dfield *y)
{
    const lat_scalar *by = lat_coefficient_host(a);
    return toy_axpys(s, p, 1, &by, &x, y, NULL);
}

static int toy_cg(lat_space *s, const lat_part *p, lat_coefficient a, lat_coefficient b,
                  lat_coefficient c, lat_dfield *x, lat_dfield *dir, const lat_dfield *r)
{
    const toy *t = (const toy *)s;
    for (int e = 0; e < p->columns; e++) {
        const int k = p->column[e];
        for (int i = 0; i < t->n; i++) {
            cx *d = &column_of(dir, t->n, k)[i], *to = &column_of(x, t->n, k)[i];
            *to = rounded(t, *to + real_of(a, k) * *d);
            *d = rounded(t, real_of(c, k) * column_of(r, t->n, k)[i] + real_of(b, k) * *d);
        }
    }
    return 0;
}

/* Columns of a step are kept, for those who read what it reports. */
static void toy_take(const toy *t, const lat_part *p, lat_scalars *by, lat_scalar_step step,
                     double epsilon, int numbers, double *v)
{
    watch *w = t->watch;
    if (w) {
        const int at = (int)((by->taken[step] + 1) % 2);
        w->columns[step][at] = p->columns;
        memcpy(w->column[step][at], p->column, sizeof(int) * (size_t)p->columns);
        if ((step == LAT_STEP_CG_BETA || step == LAT_STEP_NORM) && ++w->norms == w->lost)
            for (int c = 0; c < p->columns; c++)
                v[c * numbers] = p->column[c] == 2 ? NAN : v[c * numbers];
    }
    lat_scalars_take(by, p, step, epsilon, numbers, v);
}

static int toy_bicgstab(lat_space *s, const lat_part *p, lat_scalars *by, lat_dfield *x,
                        lat_dfield *r, lat_dfield *dir, const lat_dfield *tt, const lat_dfield *v)
{
    const toy *t = (const toy *)s;
    double norm[COLUMNS], sum[COLUMNS];
    for (int c = 0; c < p->columns; c++) {
        const int k = p->column[c];
        const cx a = scalar(by->row[LAT_ROW_ALPHA], k), w = scalar(by->row[LAT_ROW_OMEGA], k),
                 b = scalar(by->row[LAT_ROW_BETA], k);
        for (int i = 0; i < t->n; i++) {
            cx *to = &column_of(x, t->n, k)[i], *z = &column_of(r, t->n, k)[i],
               *d = &column_of(dir, t->n, k)[i];
            *to = rounded(t, *to + a * *d + w * *z);
            *z = rounded(t, *z - w * column_of(tt, t->n, k)[i]);
            *d = rounded(t, *z + b * (*d - w * column_of(v, t->n, k)[i]));
        }
        norm_of(t, k, r, norm);
        sum[c] = norm[k];
    }
    toy_take(t, p, by, LAT_STEP_NORM, 0, 1, sum);
    return 0;
}

static int toy_shadow(lat_space *s, const lat_part *p, const lat_dfield *x, lat_scalar *dot)
{
    const toy *t = (const toy *)s;
    for (int c = 0; c < p->columns; c++) {
        cx sum = 0;
        for (int i = 0; i < t->n; i++)
            sum += (lat_shadow_signs((uint32_t)i) >> 31 ? -1 : 1)
                   * column_of(x, t->n, p->column[c])[i];
        dot[p->column[c]] = (lat_scalar){creal(sum), cimag(sum)};
    }
    return 0;
}

static lat_scalars *toy_open(lat_space *s)
{
    toy_scalars *by = calloc(1, sizeof *by);
    need(by != NULL, "scalars");
    by->t = (const toy *)s;
    return &by->host;
}

static int toy_read(lat_scalars *s, const lat_part *p, lat_scalar_step step, int ago,
                    double *number)
{
    const watch *w = ((const toy_scalars *)s)->t->watch;
    const int at = (int)((s->taken[step] - ago) % 2);
    CHECK(ago == (w != NULL), "numbers of %d iterations ago", ago);
    if (w)
        CHECK(p->columns == w->columns[step][at]
                  && !memcmp(p->column, w->column[step][at], sizeof(int) * (size_t)p->columns),
              "numbers of %d columns, there are those of %d", p->columns, w->columns[step][at]);
    return lat_scalars_host.read(s, p, step, ago, number);
}

static void toy_close(lat_scalars *s) { free(s); }

static int toy_set(lat_scalars *s, const lat_part *p, lat_row row, const lat_scalar *to)
{
    return lat_scalars_host.set(s, p, row, to);
}

static const lat_scalar_ops toy_scalar_ops = {toy_open, toy_close, toy_set, toy_read};

static const lat_vector_ops toy_ops = {.zero = toy_zero,
                                       .copy = toy_copy,
                                       .axpby = toy_axpby,
                                       .axpys = toy_axpys,
                                       .dots = toy_dots,
                                       .add = toy_add,
                                       .cg = toy_cg,
                                       .bicgstab = toy_bicgstab,
                                       .shadow = toy_shadow,
                                       .convert = toy_convert,
                                       .scalars = &toy_scalar_ops};

/* What the sums of an end become; sums of a column in the order of dirac/dirac.h. */
static void toy_sums(toy *t, const lat_part *p, lat_dfield *out, lat_dfield *in,
                     const lat_apply_end *end)
{
    const int sums = lat_apply_sums(end), numbers = lat_sum_numbers(sums);
    double v[7 * COLUMNS], norm[COLUMNS], *to = v;
    lat_scalar dot[COLUMNS], shadow[COLUMNS], shadow_in[COLUMNS];
    toy_shadow(&t->space, p, out, shadow);
    toy_shadow(&t->space, p, in, shadow_in);
    for (int c = 0; c < p->columns; c++) {
        const int k = p->column[c];
        if (sums & LAT_SUM_NORM) {
            norm_of(t, k, out, norm);
            *to++ = norm[k];
        }
        if (sums & LAT_SUM_DOT)
            dot_of(t, k, end->with, out, dot);
        const lat_scalar *const more[] = {dot, shadow, shadow_in};
        static const int flag[] = {LAT_SUM_DOT, LAT_SUM_SHADOW, LAT_SUM_SHADOW_IN};
        for (int j = 0; j < 3; j++)
            if (sums & flag[j]) {
                *to++ = more[j][k].re;
                *to++ = more[j][k].im;
            }
    }
    if (end && end->scalars)
        toy_take(t, p, end->scalars, end->step, end->epsilon, numbers, v);
    else if (end)
        lat_apply_hand_over(end, p, v);
}

static int toy_apply(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                     const lat_apply_end *end)
{
    toy *t = with;
    for (int c = 0; c < p->columns; c++) {
        const int k = p->column[c], n = t->n;
        const cx *x = column_of(in, n, k);
        t->applied++;
        for (int i = 0; i < n; i++) {
            cx sum = 0;
            for (int j = 0; j < n; j++)
                sum += (dagger ? conj(t->matrix[j * n + i]) : t->matrix[i * n + j]) * x[j];
            cx *const y = &column_of(out, n, k)[i];
            const double add = !lat_apply_adds(end) ? 0
                               : end->add           ? end->add[k]
                                                    : end->scalars->row[LAT_ROW_MINUS][k].re;
            *y = rounded(t, lat_apply_adds(end) ? *y + add * sum : sum);
        }
    }
    toy_sums(t, p, out, in, end);
    return 0;
}

/* ---- vectors --------------------------------------------------------------------------------- */

static lat_dfield *toy_vector(void *with, const char *what)
{
    const toy *t = with;
    lat_dfield *v = lat_alloc(1, sizeof *v, what);
    need(v != NULL, what);
    memset(v, 0, sizeof *v);
    v->data = calloc((size_t)t->n * COLUMNS, sizeof(cx));
    need(v->data != NULL, what);
    return v;
}

static void toy_release(void *with, lat_dfield *v)
{
    (void)with;
    if (v)
        free(v->data);
    free(v);
}

/* ---- problems -------------------------------------------------------------------------------- */

static double uniform(uint64_t seed, uint64_t i)
{
    uint32_t word[4];
    lat_random(seed, i, 0, 0, 0, word);
    return word[0] / 4294967296. - .5;
}

/* diagonal + spread times random numbers of modulus about 1/sqrt(n). */
static void fill(cx *m, int n, cx diagonal, double spread, uint64_t seed)
{
    for (int i = 0; i < n * n; i++)
        m[i] = spread * (uniform(seed, 2 * (uint64_t)i) + uniform(seed, 2 * (uint64_t)i + 1) * I)
               * sqrt(6. / n);
    for (int i = 0; i < n; i++)
        m[i * n + i] += diagonal;
}

/* x = m^-1 b by elimination with pivoting; m and b are overwritten. */
static void dense_solve(int n, cx *m, cx *b, cx *x)
{
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int j = i + 1; j < n; j++)
            best = cabs(m[j * n + i]) > cabs(m[best * n + i]) ? j : best;
        for (int k = 0; k < n; k++) {
            const cx other = m[i * n + k];
            m[i * n + k] = m[best * n + k];
            m[best * n + k] = other;
        }
        const cx other = b[i];
        b[i] = b[best];
        b[best] = other;
        for (int j = i + 1; j < n; j++) {
            const cx f = m[j * n + i] / m[i * n + i];
            for (int k = i; k < n; k++)
                m[j * n + k] -= f * m[i * n + k];
            b[j] -= f * b[i];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = b[i];
        for (int k = i + 1; k < n; k++)
            x[i] -= m[i * n + k] * x[k];
        x[i] /= m[i * n + i];
    }
}

/* One matrix, two precisions, right-hand sides. */
typedef struct problem {
    toy wide, narrow;
    lat_system outer, inner;
    cx *matrix;
    lat_dfield *b, *x;
    double target[COLUMNS];
    lat_solve_report report[COLUMNS];
    cx known[COLUMNS * MOST]; /* by elimination */
    bool solved[COLUMNS];
} problem;

static lat_system system_of(toy *t)
{
    return (lat_system){.space = &t->space,
                        .parity = LAT_BOTH,
                        .epsilon = t->single ? 0x1p-24 : 0x1p-53,
                        .apply = toy_apply,
                        .vector = toy_vector,
                        .release = toy_release,
                        .with = t};
}

static void problem_new(problem *q, int n, cx diagonal, double spread, uint64_t seed)
{
    memset(q, 0, sizeof *q);
    q->matrix = calloc((size_t)(n * n), sizeof(cx));
    need(q->matrix != NULL, "a matrix");
    fill(q->matrix, n, diagonal, spread, seed);
    q->wide = (toy){{.ops = &toy_ops, .nc = 3, .columns = COLUMNS}, n, false, q->matrix, 0, NULL};
    q->narrow = q->wide;
    q->narrow.single = true;
    q->outer = system_of(&q->wide);
    q->inner = system_of(&q->narrow);
    q->b = toy_vector(&q->wide, "b");
    q->x = toy_vector(&q->wide, "x");
    for (int k = 0; k < COLUMNS; k++)
        for (int i = 0; i < n; i++)
            column_of(q->b, n, k)[i] = uniform(seed + 1, (uint64_t)(k * n + i));
}

static void problem_free(problem *q)
{
    toy_release(NULL, q->b);
    toy_release(NULL, q->x);
    free(q->matrix);
}

static double length(const cx *v, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += creal(v[i] * conj(v[i]));
    return sqrt(sum);
}

static int run_with(problem *q, lat_solver solver, const lat_method *preconditioner, bool mixed,
                    double tolerance, long most, int columns, const int *column)
{
    for (int c = 0; c < columns; c++) {
        const int k = column[c];
        q->target[k] = tolerance * length(column_of(q->b, q->wide.n, k), q->wide.n);
        q->report[k] = (lat_solve_report){0};
        memset(column_of(q->x, q->wide.n, k), 0, sizeof(cx) * (size_t)q->wide.n);
    }
    const lat_equation p = {.outer = &q->outer,
                            .inner = mixed ? &q->inner : &q->outer,
                            .b = q->b,
                            .x = q->x,
                            .from_zero = true,
                            .target = q->target,
                            .max_iterations = most,
                            .preconditioner = preconditioner};
    return lat_solve(&p, solver, columns, column, q->report);
}

static int run(problem *q, lat_solver solver, bool mixed, double tolerance, long most, int columns,
               const int *column)
{
    return run_with(q, solver, NULL, mixed, tolerance, most, columns, column);
}

static const int all[COLUMNS] = {0, 1, 2, 3, 4};

/* The error of column k against elimination, relative to the solution. */
static double error_of(problem *q, int k)
{
    const int n = q->wide.n;
    cx b[MOST], x[MOST], *known = q->known + (size_t)k * MOST;
    if (!q->solved[k]) {
        cx *m = malloc(sizeof(cx) * (size_t)(n * n));
        need(m != NULL, "a matrix");
        memcpy(m, q->matrix, sizeof(cx) * (size_t)(n * n));
        memcpy(b, column_of(q->b, n, k), sizeof(cx) * (size_t)n);
        dense_solve(n, m, b, known);
        q->solved[k] = true;
        free(m);
    }
    for (int i = 0; i < n; i++)
        x[i] = known[i] - column_of(q->x, n, k)[i];
    return length(x, n) / length(known, n);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Eigenvalues lie within 1 +- spread, and |A^-1| is below 10 for all these seeds: errors are below
 * 10 |A| times the residual. */
static void every_solver(void)
{
    static const lat_solver solvers[] = {LAT_SOLVER_CG, LAT_SOLVER_BICGSTAB, LAT_SOLVER_BICGSTABL,
                                         LAT_SOLVER_GCR, LAT_SOLVER_AUTO};
    check_case("every solver in both precisions solves what elimination solves");
    for (int trial = 0; trial < 40; trial++) {
        const int n = 8 + 13 * (trial % 14);
        problem q;
        problem_new(&q, n, 1, .2 + .015 * trial, (uint64_t)(100 + trial));
        for (int s = 0; s < 5; s++)
            for (int mixed = 0; mixed < 2; mixed++) {
                CHECK(run(&q, solvers[s], mixed, 1e-11, 4000, COLUMNS, all) == 0, "%s",
                      lat_error());
                for (int k = 0; k < COLUMNS; k++) {
                    const lat_solve_report *r = &q.report[k];
                    CHECK(r->end == LAT_END_CONVERGED && r->residual <= q.target[k],
                          "%s, n %d, %s: column %d %s at %g of %g after %ld",
                          lat_solver_name(solvers[s]), n, mixed ? "mixed" : "double", k,
                          lat_end_text(r->end), r->residual, q.target[k], r->iterations);
                    CHECK(error_of(&q, k) < 1e-9, "%s, n %d: column %d is off by %g",
                          lat_solver_name(solvers[s]), n, k, error_of(&q, k));
                }
            }
        problem_free(&q);
    }
}

/* A column's bits do not depend on those beside it. */
static void alone(void)
{
    static const lat_solver solvers[] = {LAT_SOLVER_CG, LAT_SOLVER_BICGSTAB, LAT_SOLVER_BICGSTABL,
                                         LAT_SOLVER_GCR, LAT_SOLVER_AUTO};
    check_case("a column has the same bits alone and beside others");
    problem q;
    problem_new(&q, 90, 1, .5, 7);
    for (int i = 0; i < 90; i++)
        column_of(q.b, 90, 1)[i] *= 1e-7;
    for (int s = 0; s < 5; s++)
        for (int mixed = 0; mixed < 2; mixed++) {
            cx kept[COLUMNS * MOST];
            run(&q, solvers[s], mixed, 1e-10, 4000, COLUMNS, all);
            memcpy(kept, q.x->data, sizeof(cx) * COLUMNS * 90);
            for (int k = 0; k < COLUMNS; k++) {
                run(&q, solvers[s], mixed, 1e-10, 4000, 1, &k);
                CHECK(memcmp(column_of(q.x, 90, k), kept + 90 * k, sizeof(cx) * 90) == 0,
                      "%s: column %d differs", lat_solver_name(solvers[s]), k);
            }
        }
    problem_free(&q);
}

/* A device that does not wait for the host. Each column has a target of its own. */
static void run_ahead(problem *q, watch *w, lat_solver solver, bool mixed, long most, int columns,
                      const int *column)
{
    q->wide.watch = q->narrow.watch = w;
    q->wide.space.ahead = q->narrow.space.ahead = true;
    for (int c = 0; c < columns; c++) {
        const int k = column[c], n = q->wide.n;
        q->target[k] = pow(10, -6 - k) * length(column_of(q->b, n, k), n);
        q->report[k] = (lat_solve_report){0};
        memset(column_of(q->x, n, k), 0, sizeof(cx) * (size_t)n);
    }
    const lat_equation p = {.outer = &q->outer,
                            .inner = mixed ? &q->inner : &q->outer,
                            .b = q->b,
                            .x = q->x,
                            .from_zero = true,
                            .target = q->target,
                            .max_iterations = most};
    CHECK(lat_solve(&p, solver, columns, column, q->report) == 0, "%s", lat_error());
}

/* The result of a column is that in kept, to the last bit. */
static void same_column(const problem *q, int k, const cx *kept, const lat_solve_report *report,
                        const char *what)
{
    const int n = q->wide.n;
    CHECK(memcmp(column_of(q->x, n, k), kept + n * k, sizeof(cx) * (size_t)n) == 0
              && memcmp(&q->report[k], &report[k], sizeof *report) == 0,
          "column %d %s: %s after %ld iterations, %s after %ld", k, what,
          lat_end_text(q->report[k].end), q->report[k].iterations, lat_end_text(report[k].end),
          report[k].iterations);
}

/* Columns are updated and leave at different iterations: at their targets, all at one, one by
 * numbers that are none. */
static void numbers_late(void)
{
    enum { N = 90 };
    static const struct {
        long most, lost;
    } trials[] = {{4000, 0}, {16, 0}, {17, 0}, {4000, 9}, {4000, 10}};
    static const lat_solver solvers[] = {LAT_SOLVER_CG, LAT_SOLVER_BICGSTAB};
    check_case(
        "a host that reads numbers an iteration late solves the same, each column for itself");
    problem q;
    problem_new(&q, N, 1, .6, 19);
    for (size_t t = 0; t < 4 * sizeof trials / sizeof *trials; t++) {
        const long most = trials[t / 4].most, lost = trials[t / 4].lost;
        const lat_solver solver = solvers[t / 2 % 2];
        const bool mixed = t % 2;
        cx kept[COLUMNS * N];
        lat_solve_report report[COLUMNS];
        watch w = {.lost = lost};
        run_ahead(&q, &w, solver, mixed, most, COLUMNS, all);
        memcpy(kept, q.x->data, sizeof kept);
        memcpy(report, q.report, sizeof report);
        for (int k = 0; k < COLUMNS; k++) {
            const lat_end end = lost && k == 2 ? LAT_END_INFINITE
                                : most < 100   ? LAT_END_ITERATIONS
                                               : LAT_END_CONVERGED;
            CHECK(report[k].end == end || (most < 100 && report[k].end == LAT_END_CONVERGED),
                  "%s, column %d: %s", lat_solver_name(solver), k, lat_end_text(report[k].end));
            /* |A^-1| < 10, as above */
            CHECK(report[k].end != LAT_END_CONVERGED || error_of(&q, k) < 100 * pow(10, -6 - k),
                  "column %d is off by %g", k, error_of(&q, k));
            CHECK(end != LAT_END_INFINITE || length(column_of(q.x, N, k), N) == 0,
                  "column %d is lost, but not zero", k);
        }
        for (int k = 0; k < COLUMNS; k++) {
            watch own = {.lost = lost};
            run_ahead(&q, &own, solver, mixed, most, 1, &k);
            same_column(&q, k, kept, report, "alone");
        }
    }
    problem_free(&q);
}

/* A rotation by 90 degrees: <s, A s> = 0 for real s, so that omega vanishes in each iteration. */
static void breakdown(void)
{
    check_case("auto solves what BiCGstab cannot, and says who did");
    problem q;
    const int n = 60;
    problem_new(&q, n, 0, 0, 9);
    for (int i = 0; i < n; i += 2) {
        q.matrix[i * n + i + 1] = 1;
        q.matrix[(i + 1) * n + i] = -1;
    }
    run(&q, LAT_SOLVER_BICGSTAB, false, 1e-10, 4000, COLUMNS, all);
    for (int k = 0; k < COLUMNS; k++)
        CHECK(q.report[k].end == LAT_END_BREAKDOWN, "column %d: %s", k,
              lat_end_text(q.report[k].end));
    run(&q, LAT_SOLVER_AUTO, false, 1e-10, 4000, COLUMNS, all);
    for (int k = 0; k < COLUMNS; k++)
        CHECK(q.report[k].end == LAT_END_CONVERGED && q.report[k].solver != LAT_SOLVER_BICGSTAB
                  && error_of(&q, k) < 1e-9,
              "column %d: %s by %s", k, lat_end_text(q.report[k].end),
              lat_solver_name(q.report[k].solver));
    problem_free(&q);
}

/* A zero row: no solution. */
static void singular(void)
{
    check_case("a singular matrix is not solved, by any solver, and its residual is stated");
    problem q;
    const int n = 40;
    problem_new(&q, n, 1, .5, 11);
    for (int i = 0; i < n; i++)
        q.matrix[3 * n + i] = 0;
    for (int s = LAT_SOLVER_AUTO; s <= LAT_SOLVER_GCR; s++)
        for (int mixed = 0; mixed < 2; mixed++) {
            run(&q, (lat_solver)s, mixed, 1e-10, 3000, COLUMNS, all);
            for (int k = 0; k < COLUMNS; k++)
                CHECK(q.report[k].end != LAT_END_CONVERGED && q.report[k].end != LAT_END_NONE
                          && q.report[k].residual > q.target[k],
                      "%s: column %d %s at %g", lat_solver_name((lat_solver)s), k,
                      lat_end_text(q.report[k].end), q.report[k].residual);
        }
    problem_free(&q);
}

static void ends(void)
{
    check_case("zero is solved by zero, and numbers that are not finite end a column alone");
    problem q;
    const int n = 50;
    problem_new(&q, n, 1, .5, 13);
    memset(column_of(q.b, n, 0), 0, sizeof(cx) * (size_t)n);
    column_of(q.b, n, 2)[5] = NAN;
    for (int s = LAT_SOLVER_AUTO; s <= LAT_SOLVER_GCR; s++) {
        CHECK(run(&q, (lat_solver)s, true, 1e-10, 500, COLUMNS, all) == 0, "%s", lat_error());
        CHECK(q.report[0].end == LAT_END_CONVERGED && q.report[0].iterations == 0
                  && length(column_of(q.x, n, 0), n) == 0,
              "zero: %s after %ld", lat_end_text(q.report[0].end), q.report[0].iterations);
        CHECK(q.report[2].end == LAT_END_INFINITE, "NaN: %s", lat_end_text(q.report[2].end));
        for (int k = 1; k < COLUMNS; k += 2)
            CHECK(q.report[k].end == LAT_END_CONVERGED, "column %d: %s", k,
                  lat_end_text(q.report[k].end));
    }
    check_case("the number of iterations is a bound, and the residual then reached is true");
    for (int s = LAT_SOLVER_AUTO; s <= LAT_SOLVER_GCR; s++) {
        run(&q, (lat_solver)s, true, 1e-14, 4, COLUMNS, all);
        CHECK(q.report[3].end == LAT_END_ITERATIONS && q.report[3].iterations == 4, "%s: %s, %ld",
              lat_solver_name((lat_solver)s), lat_end_text(q.report[3].end),
              q.report[3].iterations);
        cx r[MOST];
        for (int i = 0; i < n; i++) {
            r[i] = column_of(q.b, n, 3)[i];
            for (int j = 0; j < n; j++)
                r[i] -= q.matrix[i * n + j] * column_of(q.x, n, 3)[j];
        }
        CHECK(fabs(length(r, n) - q.report[3].residual)
                  < n * 0x1p-52 * length(column_of(q.b, n, 3), n),
              "%g, reported %g", length(r, n), q.report[3].residual);
    }
    problem_free(&q);
}

/* ---- preconditioners ------------------------------------------------------------------------- */

/* The true residual of column k, relative to the target. */
static double true_residual(problem *q, int k)
{
    const int n = q->wide.n;
    cx r[MOST];
    for (int i = 0; i < n; i++) {
        r[i] = column_of(q->b, n, k)[i];
        for (int j = 0; j < n; j++)
            r[i] -= q->matrix[i * n + j] * column_of(q->x, n, k)[j];
    }
    return length(r, n) / q->target[k];
}

/* Iterations of GCR with this preconditioner, all columns together; each has the same bits alone.
 */
static long iterations_with(problem *q, const lat_method *m, const char *what)
{
    const int n = q->wide.n;
    cx kept[COLUMNS * MOST];
    long all_of_them = 0;
    CHECK(run_with(q, LAT_SOLVER_GCR, m, false, 1e-10, 2000, COLUMNS, all) == 0, "%s", lat_error());
    memcpy(kept, q->x->data, sizeof(cx) * (size_t)(COLUMNS * n));
    for (int k = 0; k < COLUMNS; k++) {
        all_of_them += q->report[k].iterations;
        /* Rounding of n products in double. */
        CHECK(q->report[k].end == LAT_END_CONVERGED && true_residual(q, k) < 1.01, "%s: %s at %g",
              what, lat_end_text(q->report[k].end), true_residual(q, k));
    }
    for (int k = 0; k < COLUMNS; k++) {
        run_with(q, LAT_SOLVER_GCR, m, false, 1e-10, 2000, 1, &k);
        CHECK(memcmp(column_of(q->x, n, k), kept + n * k, sizeof(cx) * (size_t)n) == 0,
              "%s: column %d differs alone", what, k);
    }
    return all_of_them;
}

/* Any solver is the preconditioner of GCR, in single below double and in double, and GCR with one
 * that of GCR again. */
static void solvers_as_preconditioners(void)
{
    check_case("any solver, to a tenth of the residual, preconditions GCR in any precision");
    static const lat_solver solvers[] = {LAT_SOLVER_CG, LAT_SOLVER_BICGSTAB, LAT_SOLVER_BICGSTABL,
                                         LAT_SOLVER_GCR, LAT_SOLVER_MR};
    problem q;
    problem_new(&q, 120, 1, .7, 23);
    const lat_method none = {.solver = LAT_SOLVER_MR, .system = &q.outer, .steps = 1};
    const long alone = iterations_with(&q, &none, "one step of MR");
    for (int s = 0; s < 5; s++)
        for (int wide = 0; wide < 2; wide++) {
            const lat_method inner = {.solver = LAT_SOLVER_MR, .system = &q.inner, .steps = 2},
                             m = {.solver = solvers[s],
                                  .system = wide ? &q.outer : &q.inner,
                                  .steps = 200,
                                  .tolerance = .1,
                                  .preconditioner = &inner};
            const long found = iterations_with(&q, &m, lat_solver_name(solvers[s]));
            /* Each iteration gains a tenth; |A^+ r| of CG is not |r|. */
            CHECK(found <= COLUMNS * (solvers[s] == LAT_SOLVER_CG ? 20 : 12) && found < alone,
                  "%s: %ld iterations, %ld without", lat_solver_name(solvers[s]), found, alone);
        }
    const lat_method wrong = {.solver = LAT_SOLVER_AUTO, .system = &q.inner, .steps = 5};
    CHECK(run_with(&q, LAT_SOLVER_GCR, &wrong, false, 1e-10, 100, 1, all) < 0, "auto is taken");
    problem_free(&q);
}

/* What is wrong with a preconditioner. */
typedef enum { ZERO, NOT_FINITE, RANDOM_SIGNS, FALSE_S, CONSTANT, FAULTS } fault;
typedef struct broken {
    problem *q;
    fault what;
} broken;

static int broken_precondition(void *with, const lat_part *p, lat_dfield *e, lat_dfield *s,
                               lat_dfield *r)
{
    const broken *b = with;
    const int n = b->q->wide.n;
    for (int c = 0; c < p->columns; c++)
        for (int i = 0; i < n; i++) {
            const cx v = column_of(r, n, p->column[c])[i];
            const double sign = uniform(3, (uint64_t)i) < -.3 ? -.1 : 1;
            column_of(e, n, p->column[c])[i] = b->what == ZERO           ? 0
                                               : b->what == NOT_FINITE   ? NAN
                                               : b->what == RANDOM_SIGNS ? sign * v
                                               : b->what == CONSTANT     ? 1
                                                                         : v;
        }
    toy_apply(&b->q->wide, false, p, s, e, NULL);
    for (int c = 0; c < p->columns && b->what == FALSE_S; c++)
        for (int i = 0; i < n; i++)
            column_of(s, n, p->column[c])[i] *= 1.5;
    return 0;
}

static void broken_preconditioners(void)
{
    static const char *const name[] = {"zero", "not finite", "random signs", "a false A e",
                                       "always the same"};
    check_case("a broken preconditioner makes GCR slow or ends it, and never makes it wrong");
    problem q;
    problem_new(&q, 100, 1, .5, 29);
    run(&q, LAT_SOLVER_GCR, false, 1e-10, 2000, 1, all);
    const long alone = q.report[0].iterations;
    for (int what = 0; what < FAULTS; what++) {
        broken b = {&q, (fault)what};
        const lat_method m = {.precondition = broken_precondition, .with = &b};
        CHECK(run_with(&q, LAT_SOLVER_GCR, &m, false, 1e-10, 2000, COLUMNS, all) == 0, "%s",
              lat_error());
        for (int k = 0; k < COLUMNS; k++) {
            const lat_solve_report *r = &q.report[k];
            CHECK((r->end == LAT_END_CONVERGED) == (true_residual(&q, k) < 1.01), "%s: %s at %g",
                  name[what], lat_end_text(r->end), true_residual(&q, k));
            CHECK(what > RANDOM_SIGNS || r->end == LAT_END_CONVERGED, "%s: %s", name[what],
                  lat_end_text(r->end));
            CHECK(fabs(r->residual - true_residual(&q, k) * q.target[k])
                      < 100 * 0x1p-52
                            * (length(column_of(q.b, 100, k), 100)
                               + 3 * length(column_of(q.x, 100, k), 100)),
                  "%s: residual %g, reported %g", name[what], true_residual(&q, k) * q.target[k],
                  r->residual);
        }
        CHECK(what > NOT_FINITE || q.report[0].iterations == alone,
              "%s: %ld iterations, %ld without", name[what], q.report[0].iterations, alone);
    }
    problem_free(&q);
}

static void multishift(void)
{
    check_case("multi-shift CG solves all shifts in the iterations of the first");
    enum { SHIFTS = 4, N = 60 };
    static const double shift[SHIFTS] = {.01, .05, .3, 7};
    problem q;
    problem_new(&q, N, 1, .7, 17);
    lat_dfield *x[SHIFTS];
    for (int j = 0; j < SHIFTS; j++)
        x[j] = toy_vector(&q.wide, "x");
    for (int k = 0; k < COLUMNS; k++)
        q.target[k] = 1e-11 * length(column_of(q.b, N, k), N);
    const lat_equation p = {
        .outer = &q.outer, .inner = &q.outer, .b = q.b, .target = q.target, .max_iterations = 1000};
    CHECK(lat_multishift(&p, SHIFTS, shift, x, COLUMNS, all, q.report) == 0, "%s", lat_error());
    for (int k = 0; k < COLUMNS; k++)
        for (int j = 0; j < SHIFTS; j++) {
            cx y[N], r[N];
            CHECK(q.report[k].end == LAT_END_CONVERGED, "column %d: %s", k,
                  lat_end_text(q.report[k].end));
            for (int i = 0; i < N; i++) {
                y[i] = 0;
                for (int e = 0; e < N; e++)
                    y[i] += q.matrix[i * N + e] * column_of(x[j], N, k)[e];
            }
            for (int i = 0; i < N; i++) {
                r[i] = column_of(q.b, N, k)[i] - shift[j] * column_of(x[j], N, k)[i];
                for (int e = 0; e < N; e++)
                    r[i] -= conj(q.matrix[e * N + i]) * y[e];
            }
            /* Rounding in some 100 iterations of numbers of the size of b / shift. */
            CHECK(length(r, N) < 3 * q.target[k], "column %d, shift %g: residual %g of %g", k,
                  shift[j], length(r, N), q.target[k]);
        }
    for (int j = 0; j < SHIFTS; j++)
        toy_release(NULL, x[j]);
    problem_free(&q);
}

int main(void)
{
    every_solver();
    alone();
    numbers_late();
    breakdown();
    singular();
    ends();
    solvers_as_preconditioners();
    broken_preconditioners();
    multishift();
    return check_done();
}
