/* SPDX-License-Identifier: BSD-3-Clause */
/* check_multigrid: properties of lib/multigrid on small lattices: transfers, Galerkin's product
 * against the Dirac operator, coarse solutions, and what a wrong multigrid does to a solve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/threads.h"
#include "certify/plain.h"
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "modes/modes.h"
#include "multigrid/multigrid_internal.h"
#include "vector/temporal.h"
#include "wilson/wilson.h"

/* Where multigrids are, after one another. */
static lat_device *under;

/* An operator in single precision and its multigrid. */
typedef struct setting {
    lat_field u;
    lat_temporal *gauge;
    lat_grid *grid;
    lat_space *space;
    lat_dirac *d;
    lat_system system;
    lat_multigrid *m;
} setting;

static int apply(void *with, bool dagger, const lat_part *p, lat_dfield *out, lat_dfield *in,
                 const lat_apply_end *end)
{
    lat_dirac *d = with;
    return d->ops->apply(d, (lat_dirac_matrix){LAT_ASYMMETRIC, dagger ? LAT_DAGGER : LAT_PLAIN}, p,
                         out, in, end);
}

static lat_dfield *vector(void *with, const char *what)
{
    return lat_vector_new_of(((lat_dirac *)with)->space, LAT_ODD, what);
}

static void release(void *with, lat_dfield *v)
{
    (void)with;
    lat_dfield_free(v);
}

static lat_fermion action(double mass)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = mass;
    f.boundary[3].theta = 1;
    return f;
}

static setting open_setting(const char *dims, int nc, double epsilon, const lat_fermion *f,
                            const lat_multigrid_options *options)
{
    setting s = {.u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64)};
    fill_near_one(&s.u, epsilon, 7);
    need(lat_field_exchange(&s.u) == 0, "links");
    need(lat_temporal_open(under, &s.u, NULL, &s.gauge) == 0, "a gauge");
    const lat_grid_spec spec = {
        .lattice = s.u.head.geom, .storage = LAT_STORAGE_SINGLE, .across = -1};
    const lat_dirac_options none = {0};
    need((s.grid = lat_grid_new(under, &spec)) != NULL, "a grid");
    need((s.space = lat_space_open_in(s.grid, nc, LAT_MULTIGRID_COLUMNS, s.gauge)) != NULL,
         "a space");
    need((s.d = lat_dirac_open(s.space, &s.u, f, &none)) != NULL, "an operator");
    s.system = (lat_system){.space = s.space,
                            .parity = LAT_ODD,
                            .epsilon = 0x1p-24,
                            .apply = apply,
                            .vector = vector,
                            .release = release,
                            .with = s.d};
    need((s.m = lat_multigrid_open(&s.system, s.d, &s.u, options)) != NULL, "a multigrid");
    return s;
}

static void close_setting(setting *s)
{
    lat_multigrid_close(s->m);
    lat_dirac_close(s->d);
    lat_space_close(s->space);
    lat_grid_free(s->grid);
    lat_temporal_close(s->gauge);
    lat_field_free(&s->u);
}

/* What a vector holds, in the memory of the host. */
static lat_eight *host_of(const lat_coarse *c, const lat_eight *v)
{
    lat_eight *const host = aligned_alloc(64, (lat_coarse_bytes(c) + 63) / 64 * 64);
    need(host && c->ops->fetch(under, host, v, lat_coarse_bytes(c)) == 0, "a vector of the host");
    return host;
}

/* |a - b| / |b| */
static double differ(const lat_coarse *c, const lat_eight *a, const lat_eight *b)
{
    double difference = 0, norm = 0;
    lat_eight *const x = host_of(c, a), *const y = host_of(c, b);
    for (int i = 0; i < c->sites.count * c->rows; i++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            const double re = x[i].re[k] - y[i].re[k], im = x[i].im[k] - y[i].im[k];
            difference += re * re + im * im;
            norm += y[i].re[k] * y[i].re[k] + y[i].im[k] * y[i].im[k];
        }
    free(x);
    free(y);
    return sqrt(difference / norm);
}

/* M_c z by restriction of M P z. */
static void restricted(setting *s, const lat_eight *z, lat_eight *image)
{
    const lat_part both = {LAT_BOTH, LAT_EIGHT, lat_column_numbers};
    const lat_mg_ops *ops = s->m->ops;
    lat_dfield *x = lat_vector_new(s->d->space, "P z"), *to = lat_vector_new(s->d->space, "M P z");
    need(x && to && !ops->fine_prolong(&s->m->fine, true, LAT_EIGHT, lat_column_numbers, x, z)
             && !s->d->ops->apply(s->d, (lat_dirac_matrix){LAT_FULL, LAT_PLAIN}, &both, to, x, NULL)
             && !ops->fine_restrict(&s->m->fine, true, LAT_EIGHT, lat_column_numbers, to, image),
         "operators");
    lat_dfield_free(x);
    lat_dfield_free(to);
}

/* A sum of n numbers of size 1 in single precision, relative to them: roundings add up at random.
 */
static double bound(double n) { return 8 * 0x1p-24 * sqrt(n); }

/* P of cycles on a GPU has 11 bits. */
static double bound_of_cycles(double n) { return under->gpu ? 8 * 0x1p-11 : bound(n); }

static void check_transfer(setting *s)
{
    const lat_coarse *c = &s->m->coarse->coarse;
    const lat_mg_ops *ops = s->m->ops;
    lat_eight *z = lat_coarse_vector(c), *back = lat_coarse_vector(c),
              *image = lat_coarse_vector(c);
    lat_dfield *x = lat_vector_new(s->d->space, "P z");
    need(x && !lat_coarse_random(c, 3, z)
             && !ops->fine_prolong(&s->m->fine, true, LAT_EIGHT, lat_column_numbers, x, z)
             && !ops->fine_restrict(&s->m->fine, true, LAT_EIGHT, lat_column_numbers, x, back),
         "transfers");
    lat_dfield_free(x);
    device_case(under, "P^+ P = 1");
    const double one = differ(c, back, z);
    CHECK(one < bound(c->rows), "%.2g", one);
    device_case(under, "P^+ M P is the coarse operator");
    restricted(s, z, back);
    need(!ops->apply(c, image, z), "a coarse operator");
    const double galerkin = differ(c, image, back);
    CHECK(galerkin < bound(8 * c->rows), "%.2g", galerkin);
    device_case(under, "H and X^-1 are those of the coarse operator");
    need(!lat_coarse_prepare(c, s->m->coarse->r, s->m->coarse->b, image)
             && !lat_coarse_complement(c, back, z),
         "an even-odd operator");
    double most = 0;
    lat_eight *const r = host_of(c, s->m->coarse->r), *const from = host_of(c, back);
    for (int i = c->sites.odd * c->rows; i < c->sites.count * c->rows; i++)
        for (int k = 0; k < LAT_EIGHT; k++)
            most = fmax(most, hypot(r[i].re[k] - from[i].re[k], r[i].im[k] - from[i].im[k]));
    CHECK(most < 64 * bound_of_cycles(c->rows), "%.2g", most);
    free(r);
    free(from);
    ops->free(z);
    ops->free(back);
    ops->free(image);
}

/* What a level has to solve again it solves in as many iterations, before which the host does not
 * look (level.c): the first time to .25 these are more than it takes. */
static void check_again(lat_level *l, const lat_eight *b, lat_eight *x)
{
    const lat_coarse *c = &l->coarse;
    lat_eight *first = NULL;
    device_case(under, "a coarse solution has the same bytes after any solves before");
    for (int i = 0; i < 6; i++) {
        l->tolerance = i < 3 ? 1e-5 : .25;
        need(lat_level_solve(l, x, b) == 0, "a coarse solution");
        lat_eight *const host = host_of(c, x);
        if (i % 3 == 0) {
            free(first);
            first = host;
            continue;
        }
        CHECK(!memcmp(first, host, lat_coarse_bytes(c)), "solve %d", i);
        free(host);
    }
    free(first);
}

static void check_levels(setting *s)
{
    for (lat_level *l = s->m->coarse; l; l = l->next) {
        const lat_coarse *c = &l->coarse;
        lat_eight *z = lat_coarse_vector(c), *b = lat_coarse_vector(c), *x = lat_coarse_vector(c);
        const double tolerance = l->tolerance;
        const int most = l->most;
        need(!lat_coarse_random(c, 4, z) && !c->ops->apply(c, b, z), "a source");
        l->tolerance = 1e-5;
        l->most = 200;
        l->iterations = 0;
        device_case(under, "the coarse solution is that of the coarse operator");
        need(lat_level_solve(l, x, b) == 0, "a coarse solution");
        need(!c->ops->apply(c, z, x), "a residual");
        const double residual = differ(c, z, b);
        printf("# %d sites, %d rows: %ld iterations, residual %.2g\n", c->sites.count, c->rows,
               l->iterations, residual);
        CHECK(residual < 2e-5 + bound_of_cycles(8 * c->rows), "%.2g", residual);
        check_again(l, b, x);
        l->tolerance = tolerance;
        l->most = most;
        c->ops->free(z);
        c->ops->free(b);
        c->ops->free(x);
    }
}

/* ---- solves ---------------------------------------------------------------------------------- */

/* A random source, and what came of it. */
typedef struct outcome {
    lat_dfield *x;
    long iterations;
    lat_solver solver; /* that ended column 0 */
} outcome;

/* |b - S x| of all columns is 1e-5 |b|, by its definition. `solver`: MG with the multigrid, or GCR
 * without. */
static outcome solve(setting *s, lat_solver solver, int columns, const int *column)
{
    const lat_method *method = solver == LAT_SOLVER_MG ? lat_multigrid_method(s->m) : NULL;
    double target[LAT_VECTOR_COLUMNS], norm[LAT_VECTOR_COLUMNS];
    const lat_part odd = {LAT_ODD, LAT_EIGHT, lat_column_numbers},
                   part = {LAT_ODD, columns, column};
    lat_solve_report report[LAT_VECTOR_COLUMNS] = {{0}};
    lat_dfield *b = vector(s->d, "b"), *r = vector(s->d, "r");
    outcome o = {vector(s->d, "x"), 0, solver};
    need(b && r && o.x && !s->space->ops->random(s->space, &odd, 5, b)
             && !s->space->ops->dots(s->space, &odd, 0, NULL, b, NULL, norm),
         "a source");
    for (int k = 0; k < LAT_EIGHT; k++)
        target[k] = 1e-5 * sqrt(norm[k]);
    const lat_equation q = {.outer = &s->system,
                            .inner = &s->system,
                            .b = b,
                            .x = o.x,
                            .from_zero = true,
                            .target = target,
                            .max_iterations = 4000,
                            .preconditioner = method};
    need(lat_solve(&q, solver, columns, column, report) == 0, "a solve");
    lat_scalar minus[LAT_VECTOR_COLUMNS];
    for (int k = 0; k < LAT_EIGHT; k++)
        minus[k] = (lat_scalar){-1, 0};
    need(!apply(s->d, false, &part, r, o.x, NULL)
             && !s->space->ops->axpby(s->space, &part, NULL, b, minus, r, norm),
         "a residual");
    for (int i = 0; i < columns; i++) {
        const int k = column[i];
        CHECK(report[k].end == LAT_END_CONVERGED, "column %d %s", k, lat_end_text(report[k].end));
        CHECK(sqrt(norm[k]) < 1.1 * target[k], "column %d: %g, target %g", k, sqrt(norm[k]),
              target[k]);
        o.iterations = report[k].iterations > o.iterations ? report[k].iterations : o.iterations;
    }
    o.solver = report[column[0]].solver;
    release(NULL, b);
    release(NULL, r);
    return o;
}

/* |x - y|^2 of a column; y is overwritten. */
static double distance(const setting *s, int column, const lat_dfield *x, lat_dfield *y)
{
    const lat_part p = {LAT_ODD, 1, &column};
    lat_scalar minus[LAT_VECTOR_COLUMNS];
    double norm[LAT_VECTOR_COLUMNS];
    for (int k = 0; k < LAT_EIGHT; k++)
        minus[k] = (lat_scalar){-1, 0};
    need(s->space->ops->axpby(s->space, &p, NULL, x, minus, y, norm) == 0, "a difference");
    return norm[column];
}

static void check_solves(setting *s)
{
    static const int one = 3;
    device_case(under, "a solve takes few iterations, and a column alone the same bits");
    const outcome with = solve(s, LAT_SOLVER_MG, LAT_EIGHT, lat_column_numbers),
                  alone = solve(s, LAT_SOLVER_MG, 1, &one),
                  without = solve(s, LAT_SOLVER_GCR, 1, &one);
    printf("# %ld iterations, without %ld\n", with.iterations, without.iterations);
    CHECK(with.solver == LAT_SOLVER_MG, "%s", lat_solver_name(with.solver));
    CHECK(with.iterations * 4 < without.iterations, "%ld, without %ld", with.iterations,
          without.iterations);
    CHECK(distance(s, one, with.x, alone.x) == 0, "another column");
    release(NULL, with.x);
    release(NULL, alone.x);
    release(NULL, without.x);
}

/* A cycle of 2^40 r is 2^40 times that of r, and the same on any threads. */
static void check_cycle(setting *s)
{
    const lat_part odd = {LAT_ODD, LAT_EIGHT, lat_column_numbers};
    lat_dfield *v[5];
    lat_scalar by[LAT_VECTOR_COLUMNS];
    for (int k = 0; k < LAT_EIGHT; k++)
        by[k] = (lat_scalar){0x1p40, 0};
    for (int i = 0; i < 5; i++)
        need((v[i] = vector(s->d, "a vector")) != NULL, "a vector");
    const int threads = lat_threads();
    device_case(under, "a cycle scales with its source, on any threads, to the last bit");
    need(!s->space->ops->random(s->space, &odd, 6, v[3])
             && !lat_multigrid_cycle(s->m, &odd, v[1], v[2], v[3])
             && !s->space->ops->axpby(s->space, &odd, by, v[3], NULL, v[0], NULL),
         "a cycle"); /* v[0] was 0 */
    lat_threads_set(3);
    need(!lat_multigrid_cycle(s->m, &odd, v[3], v[4], v[0]), "a cycle");
    lat_threads_set(threads);
    need(!s->space->ops->zero(s->space, &odd, v[0])
             && !s->space->ops->axpby(s->space, &odd, by, v[1], NULL, v[0], NULL),
         "a product");
    for (int k = 0; k < LAT_EIGHT; k++)
        CHECK(distance(s, k, v[3], v[0]) == 0, "column %d", k);
    device_case(under, "s of a cycle is S e");
    need(!lat_multigrid_cycle(s->m, &odd, v[1], v[2], v[3])
             && !apply(s->d, false, &odd, v[0], v[1], NULL),
         "a cycle");
    double norm[LAT_VECTOR_COLUMNS];
    need(!s->space->ops->dots(s->space, &odd, 0, NULL, v[0], NULL, norm), "a norm");
    for (int k = 0; k < LAT_EIGHT; k++) {
        const double off = sqrt(distance(s, k, v[2], v[0]) / norm[k]);
        CHECK(off < 64 * 0x1p-24, "column %d: %g", k, off);
    }
    for (int i = 0; i < 5; i++)
        release(NULL, v[i]);
}

/* A solve with a multigrid that is broken. */
static void solve_broken(setting *s, const char *what)
{
    char text[80];
    snprintf(text, sizeof text, "a broken %s: slow, not wrong", what);
    device_case(under, text);
    const outcome o = solve(s, LAT_SOLVER_MG, LAT_EIGHT, lat_column_numbers);
    printf("# %ld iterations, the last by %s\n", o.iterations, lat_solver_name(o.solver));
    release(NULL, o.x);
}

/* What is wrong in a multigrid makes a solve slow, or leaves it to conjugate gradients. */
static void check_broken(setting *s)
{
    lat_coarse *c = &s->m->coarse->coarse;
    const lat_transfer *t = &s->m->fine.down;
    const bool dense = s->m->coarse->dense;
    const size_t count = (size_t)(t->blocks.sites * t->components * t->n) * 2;
    s->m->smoother.by[0] *= -3;
    solve_broken(s, "smoother");
    s->m->smoother.by[0] /= -3;
    need(lat_coarse_finish(c, 2, 0, dense) == 0, "another M_c");
    solve_broken(s, "M_c");
    need(lat_coarse_finish(c, 0, 0, dense) == 0, "M_c");
    float *const v = malloc(count * sizeof *v); /* P of other vectors than M_c */
    need(v && !s->m->ops->fetch(under, v, t->v, count * sizeof *v), "test vectors");
    for (size_t i = 0; i < count; i += 3)
        v[i] = -v[i];
    need(!s->m->ops->send(under, t->v, v, count * sizeof *v) && !s->m->ops->make(&s->m->fine.down),
         "P");
    free(v);
    solve_broken(s, "P");
}

/* The setup has the same bits on any threads. */
static void check_threads(setting *s, const char *dims, const lat_fermion *f)
{
    const lat_multigrid_options usual = {0};
    const lat_transfer *t = &s->m->fine.down;
    const int threads = lat_threads();
    lat_threads_set(threads == 3 ? 2 : 3);
    setting other = open_setting(dims, 3, .3, f, &usual);
    lat_threads_set(threads);
    device_case(under, "a setup has the same bits on any threads");
    const size_t bytes = (size_t)(t->blocks.sites * t->components * t->n) * 2 * sizeof *t->p;
    void *const one = malloc(bytes), *const two = malloc(bytes);
    need(one && two && !s->m->ops->fetch(under, one, t->p, bytes)
             && !s->m->ops->fetch(under, two, other.m->fine.down.p, bytes),
         "P");
    CHECK(!memcmp(one, two, bytes), "P differs");
    free(one);
    free(two);
    close_setting(&other);
}

/* ---- lattices and operators ------------------------------------------------------------------ */

/* Extents that want blocks of 2 to 6 sites, coarse ones of 1, 2, 4 and 7; all that an operator may
 * have. */
static const struct {
    const char *dims;
    int nc;
    double csw, twist, xi, nu;
    lat_phase t, x;
} cases[] = {
    {"4 4 4 8", 3, 0, 0, 1, 1, {.theta = 1}, {.theta = 0}},
    {"6 4 10 4", 2, 0, 0, 1, 1, {.theta = .3}, {.theta = -.7}},
    {"2 2 4 2", 3, 1.3, 0, 1, 1, {.theta = 1}, {.theta = .25}},
    {"4 6 4 12", 3, 1.5, .1, 1, 1, {.theta = 1}, {.theta = 0}},
    {"4 4 4 8", 3, 1.2, 0, 2.5, .9, {.dirichlet = true}, {.theta = 1}},
    {"4 4 4 8", 2, 1.2, .2, 1, 1, {.dirichlet = true, .open = true}, {.theta = 0}},
    {"14 4 4 4", 3, 0, 0, 1, 1, {.theta = 1}, {.theta = 0}},
    {"12 12 12 12", 3, 0, 0, 1, 1, {.theta = 1}, {.theta = 0}},
};

static void check_operators(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool levels = !strcmp(cases[i].dims, "12 12 12 12"); /* two coarse ones with 16 */
        if (levels && FEW(8) < 8)
            continue;
        const lat_multigrid_options few = {.vectors = levels ? 16 : 8};
        lat_fermion f = action(-.2);
        f.csw = f.csw_t = cases[i].csw;
        f.twist = cases[i].twist;
        f.xi = cases[i].xi;
        f.nu = cases[i].nu;
        f.boundary[3] = cases[i].t;
        f.boundary[0] = cases[i].x;
        printf("# %s, SU(%d)\n", cases[i].dims, cases[i].nc);
        setting s = open_setting(cases[i].dims, cases[i].nc, .3, &f, &few);
        check_transfer(&s);
        check_levels(&s);
        close_setting(&s);
    }
}

/* A multigrid goes from a mass to another one, with a twist, and back. */
static void check_moved(void)
{
    const lat_multigrid_options few = {.vectors = 8};
    const lat_dirac_options none = {0};
    lat_fermion f = action(-.2);
    f.csw = f.csw_t = 1.2;
    setting s = open_setting("4 4 4 8", 3, .3, &f, &few);
    lat_multigrid_leave(s.m);
    lat_dirac_close(s.d);
    f.mass = .1;
    f.twist = .3;
    need((s.d = lat_dirac_open(s.space, &s.u, &f, &none)) != NULL, "an operator");
    s.system.with = s.d;
    need(lat_multigrid_move(s.m, &s.system, s.d) == 0, "another mass");
    printf("# at another mass and twist\n");
    check_transfer(&s);
    check_levels(&s);
    close_setting(&s);
}

/* ---- what is known exactly ------------------------------------------------------------------- */

/* Free quarks: test vectors that are constant, six with numbers in both chiralities, so that row
 * (c, j) of the coarse operator is a spin and a colour. Then, with blocks of b^4 sites, M_c of mass
 * m is 1/b times the Wilson operator of the coarse lattice with mass b m. */
static lat_field constants(const lat_field *u)
{
    lat_field v;
    need(lat_field_spinors(&v, u, LAT_MODES, LAT_EIGHT) == 0, "constants");
    memset(v.data, 0, lat_field_sites(&v) * LAT_EIGHT * 24 * sizeof(double));
    for (size_t i = 0; i < lat_field_sites(&v); i++)
        for (size_t j = 0; j < 6; j++) {
            double *const at = (double *)v.data + (i * LAT_EIGHT + j) * 24;
            at[2 * j] = at[12 + 2 * j] = 1;
        }
    return v;
}

/* Columns of a coarse vector to spinors of the coarse lattice, or back. */
static void exchange_spinors(const lat_coarse *c, lat_eight *z, lat_field *f, bool out)
{
    for (int i = 0; i < c->sites.count; i++)
        for (int row = 0; row < c->rows; row++)
            for (int k = 0; k < LAT_EIGHT; k++) {
                const int j = row % c->n, component = row / c->n * 6 + j;
                lat_eight *const at = z + (size_t)c->sites.number[i] * (size_t)c->rows + row;
                double *const to = (double *)f->data + ((size_t)i * LAT_EIGHT + (size_t)k) * 24
                                   + 2 * component;
                if (j >= 6)
                    at->re[k] = at->im[k] = 0;
                else if (out) {
                    to[0] = at->re[k];
                    to[1] = at->im[k];
                } else {
                    at->re[k] = (float)to[0];
                    at->im[k] = (float)to[1];
                }
            }
}

static void check_free(void)
{
    enum { B = 2 };
    lat_fermion f = action(.1);
    f.boundary[0].theta = .3;
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 4 4 4"), 3, LAT_F64);
    lat_field v = constants(&u);
    const lat_multigrid_options known = {.known = &v, .finished = true};
    setting s = open_setting("4 4 4 4", 3, 0, &f, &known);
    const lat_coarse *c = &s.m->coarse->coarse;
    lat_field one = field_new(LAT_GAUGE, c->sites.geom, 3, LAT_F64), x, y;
    lat_fermion coarse = f;
    coarse.mass = B * f.mass;
    fill_near_one(&one, 0, 7);
    need(lat_field_exchange(&one) == 0 && !lat_field_spinors(&x, &one, LAT_MODES, LAT_EIGHT)
             && !lat_field_spinors(&y, &one, LAT_MODES, LAT_EIGHT),
         "a coarse lattice");
    lat_plain *plain = lat_plain_new(&one, &coarse);
    lat_eight *z = lat_coarse_vector(c), *image = lat_coarse_vector(c),
              *expected = lat_coarse_vector(c);
    device_case(under,
                "free quarks: the coarse operator is the Wilson operator of the coarse lattice");
    need(!lat_coarse_random(c, 17, z), "random numbers");
    lat_eight *const host = host_of(c, z);
    exchange_spinors(c, host, &x, true);
    need(plain && lat_field_exchange(&x) == 0
             && !lat_plain_apply(plain, false, &x, LAT_EIGHT, lat_column_numbers, &y)
             && !c->ops->send(under, z, host, lat_coarse_bytes(c)) && !c->ops->apply(c, image, z),
         "operators");
    for (size_t i = 0; i < lat_field_sites(&y) * LAT_EIGHT * 24; i++)
        ((double *)y.data)[i] /= B;
    exchange_spinors(c, host, &y, false);
    need(!c->ops->send(under, expected, host, lat_coarse_bytes(c)), "a vector");
    const double off = differ(c, image, expected);
    CHECK(off < bound(8 * c->rows), "%.2g", off);
    free(host);
    c->ops->free(z);
    c->ops->free(image);
    c->ops->free(expected);
    lat_plain_free(plain);
    lat_field_free(&one);
    lat_field_free(&x);
    lat_field_free(&y);
    lat_field_free(&v);
    lat_field_free(&u);
    close_setting(&s);
}

/* Modes of gamma5 S in double, completed on even sites, as host fields; and the least modulus of
 * their values. */
static double find_modes(const lat_field *u, const lat_fermion *f, lat_field *v)
{
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1};
    const lat_dirac_options none = {0};
    const lat_part odd = {LAT_ODD, 1, lat_column_numbers};
    lat_grid *grid = lat_grid_new(cpu_device(), &spec);
    lat_space *space = lat_space_open(grid, 3, 1);
    lat_dirac *d = lat_dirac_open(space, u, f, &none);
    const lat_hermitian a = lat_hermitian_dirac(d, (lat_dirac_matrix){LAT_ASYMMETRIC, LAT_GAMMA5});
    const lat_modes_job job = {.op = &a,
                               .low = LAT_EIGHT,
                               .high = LAT_EIGHT,
                               .tolerance = 1e-9,
                               .seed = 3,
                               .max_applications = 1000000};
    lat_modes m;
    lat_dfield *x = lat_vector_new(space, "a mode"), *b = lat_vector_new(space, "zeros");
    need(lat_modes_find(&job, &m) == 0 && m.converged && x && b
             && lat_field_spinors(v, u, LAT_MODES, LAT_EIGHT) == 0,
         "modes");
    for (int k = 0; k < LAT_EIGHT; k++)
        need(!space->ops->copy(space, &odd, m.vector[k], x) && !d->ops->reconstruct(d, &odd, x, b)
                 && !lat_spinor_get(space, x, 0, v, k),
             "a mode");
    const double least = fabs(m.value[0]);
    lat_modes_free(&m);
    lat_dfield_free(x);
    lat_dfield_free(b);
    lat_dirac_close(d);
    lat_space_close(space);
    lat_grid_free(grid);
    return least;
}

/* With v of a mode, S v_o = value gamma5 v_o, as a test vector the coarse correction of r = gamma5
 * v_o is v_o / value: nothing is left of r. Rounding of e, which is 1/value as large, comes back
 * through S, |S| < 8. */
static void check_exact(void)
{
    const lat_fermion f = action(-.5);
    const lat_part odd = {LAT_ODD, LAT_EIGHT, lat_column_numbers};
    lat_field u = field_new(LAT_GAUGE, geometry_of("4 4 4 8"), 3, LAT_F64), v;
    fill_near_one(&u, .3, 7);
    need(lat_field_exchange(&u) == 0, "links");
    const double least = find_modes(&u, &f, &v);
    const lat_multigrid_options known = {.known = &v, .finished = true};
    setting s = open_setting("4 4 4 8", 3, .3, &f, &known);
    lat_dfield *r = vector(s.d, "r"), *e = vector(s.d, "e"), *image = vector(s.d, "s");
    double before[LAT_VECTOR_COLUMNS], after[LAT_VECTOR_COLUMNS];
    device_case(under, "modes as test vectors: the coarse correction takes them from the residual");
    need(s.m->coarse->dense && !lat_spinors_put(s.space, &odd, s.m->x, &v, lat_column_numbers)
             && !s.space->ops->copy(s.space, &odd, s.m->x, r)
             && !s.space->ops->gamma5(s.space, &odd, r)
             && !lat_multigrid_cycle(s.m, &odd, e, image, r) /* q = r - S e before it smooths */
             && !s.space->ops->dots(s.space, &odd, 0, NULL, r, NULL, before)
             && !s.space->ops->dots(s.space, &odd, 0, NULL, s.m->single.q, NULL, after),
         "a cycle");
    const double epsilon = under->gpu ? 0x1p-11 : 0x1p-24; /* of P and of coarse matrices */
    for (int k = 0; k < LAT_EIGHT; k++) {
        const double left = sqrt(after[k] / before[k]);
        CHECK(left < 8 * 8 * epsilon / least, "mode %d: %.2g of it, least value %.3g", k, left,
              least);
    }
    release(NULL, r);
    release(NULL, e);
    release(NULL, image);
    lat_field_free(&v);
    lat_field_free(&u);
    close_setting(&s);
}

static void check_refused(void)
{
    check_case("a lattice without blocks is refused with a sentence");
    const lat_geometry geom = geometry_of("22 4 4 4");
    lat_error_clear();
    CHECK(lat_multigrid_takes(cpu_device(), &geom, 3) == 0, "22 4 4 4: %s", lat_error());
    const lat_geometry prime = {.nd = 4, .dims = {49, 4, 4, 4}};
    CHECK(lat_multigrid_takes(cpu_device(), &prime, 3) != 0
              && strstr(lat_error(), "no block of 2 to 6 sites divides an extent of 49"),
          "%s", lat_error());
    lat_error_clear();
    CHECK(lat_multigrid_takes(cpu_device(), &geom, 4) != 0, "SU(4)");
    lat_error_clear();
}

/* Light quarks: what solves are worth. */
static void check_light(void)
{
    const lat_fermion light = action(-.7);
    const lat_multigrid_options usual = {0};
    setting s = open_setting("8 8 8 8", 3, .3, &light, &usual);
    check_transfer(&s);
    check_levels(&s);
    check_cycle(&s);
    check_solves(&s);
    check_threads(&s, "8 8 8 8", &light);
    check_broken(&s);
    close_setting(&s);
}

static void check_device(lat_device *dev)
{
    under = dev;
    if (FEW(8) == 8)
        check_light();
    check_operators();
    check_moved();
    check_free();
    check_exact();
}

/* "gpu": on the GPU alone. */
int main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "gpu"))
        check_device(cpu_device());
    check_refused();
    lat_device *const gpu = gpu_device();
    if (gpu)
        check_device(gpu);
    else
        check_skipped("multigrids on a GPU", lat_error());
    return check_done();
}
