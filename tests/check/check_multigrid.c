/* SPDX-License-Identifier: BSD-3-Clause */
/* check_multigrid: properties of lib/multigrid on small lattices: transfers, Galerkin's product
 * against the Dirac operator, coarse solutions, and what a wrong multigrid does to a solve. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "multigrid/multigrid_internal.h"
#include "vector/temporal.h"
#include "wilson/wilson.h"

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
    need(lat_temporal_open(cpu_device(), &s.u, NULL, &s.gauge) == 0, "a gauge");
    const lat_grid_spec spec = {
        .lattice = s.u.head.geom, .storage = LAT_STORAGE_SINGLE, .across = -1};
    const lat_dirac_options none = {0};
    need((s.grid = lat_grid_new(cpu_device(), &spec)) != NULL, "a grid");
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

static void randomise(const lat_coarse *c, lat_eight *z, uint64_t seed)
{
    for (int i = 0; i < c->sites.count * c->rows; i++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            uint32_t word[4];
            lat_random(seed, (uint64_t)i, 0, (uint32_t)k, 0, word);
            z[i].re[k] = (float)(word[0] * 0x1p-31 - 1);
            z[i].im[k] = (float)(word[1] * 0x1p-31 - 1);
        }
}

/* |a - b| / |b| */
static double differ(const lat_coarse *c, const lat_eight *a, const lat_eight *b, int from)
{
    double difference = 0, norm = 0;
    for (int i = from * c->rows; i < c->sites.count * c->rows; i++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            const double re = a[i].re[k] - b[i].re[k], im = a[i].im[k] - b[i].im[k];
            difference += re * re + im * im;
            norm += b[i].re[k] * b[i].re[k] + b[i].im[k] * b[i].im[k];
        }
    return sqrt(difference / norm);
}

/* A sum of n numbers of size 1 in single precision, relative to them: roundings add up at random. */
static double bound(double n) { return 8 * 0x1p-24 * sqrt(n); }

static void check_transfer(setting *s)
{
    const lat_coarse *c = &s->m->coarse->coarse;
    lat_eight *z = lat_coarse_vector(c), *back = lat_coarse_vector(c), *image = lat_coarse_vector(c);
    const lat_part both = {LAT_BOTH, LAT_EIGHT, lat_column_numbers};
    randomise(c, z, 3);
    need(!lat_mg_fine_prolong_all(&s->m->fine, s->m->x[0], z)
             && !lat_mg_fine_restrict_all(&s->m->fine, s->m->x[0], back),
         "transfers");
    check_case("P^+ P = 1");
    const double one = differ(c, back, z, 0);
    CHECK(one < bound(c->rows), "%.2g", one);
    check_case("P^+ M P is the coarse operator");
    need(!s->d->ops->apply(s->d, (lat_dirac_matrix){LAT_FULL, LAT_PLAIN}, &both, s->m->x[1],
                           s->m->x[0], NULL)
             && !lat_mg_fine_restrict_all(&s->m->fine, s->m->x[1], back)
             && !lat_coarse_apply(c, image, z),
         "operators");
    const double galerkin = differ(c, image, back, 0);
    CHECK(galerkin < bound(8 * c->rows), "%.2g", galerkin);
    free(z);
    free(back);
    free(image);
}

static void check_levels(setting *s)
{
    for (lat_level *l = s->m->coarse; l; l = l->next) {
        const lat_coarse *c = &l->coarse;
        lat_eight *z = lat_coarse_vector(c), *b = lat_coarse_vector(c), *x = lat_coarse_vector(c);
        const double tolerance = l->tolerance;
        const int most = l->most;
        randomise(c, z, 4);
        lat_coarse_apply(c, b, z);
        l->tolerance = 1e-5;
        l->most = 200;
        l->iterations = 0;
        check_case("the coarse solution is that of the coarse operator");
        need(lat_level_solve(l, x, b) == 0, "a coarse solution");
        lat_coarse_apply(c, z, x);
        const double residual = differ(c, z, b, 0);
        printf("# %d sites, %d rows: %ld iterations, residual %.2g\n", c->sites.count, c->rows,
               l->iterations, residual);
        CHECK(residual < 2e-5 + bound(8 * c->rows), "%.2g", residual);
        l->tolerance = tolerance;
        l->most = most;
        free(z);
        free(b);
        free(x);
    }
}

/* Iterations of GCR to 1e-5, in single. */
static long solve(setting *s, const lat_method *method)
{
    double target[LAT_EIGHT], norm[LAT_EIGHT];
    const lat_part odd = {LAT_ODD, LAT_EIGHT, lat_column_numbers};
    lat_solve_report report[LAT_EIGHT] = {{0}};
    lat_dfield *b = vector(s->d, "b"), *x = vector(s->d, "x");
    need(b && x && !s->space->ops->random(s->space, &odd, 5, b)
             && !s->space->ops->dots(s->space, &odd, 0, NULL, b, NULL, norm),
         "a source");
    for (int k = 0; k < LAT_EIGHT; k++)
        target[k] = 1e-5 * sqrt(norm[k]);
    const lat_equation q = {.outer = &s->system,
                            .inner = &s->system,
                            .b = b,
                            .x = x,
                            .from_zero = true,
                            .target = target,
                            .max_iterations = 500,
                            .preconditioner = method};
    need(lat_solve(&q, LAT_SOLVER_GCR, LAT_EIGHT, lat_column_numbers, report) == 0, "a solve");
    long most = 0;
    for (int k = 0; k < LAT_EIGHT; k++) {
        CHECK(report[k].end == LAT_END_CONVERGED, "column %d %s", k, lat_end_text(report[k].end));
        most = report[k].iterations > most ? report[k].iterations : most;
    }
    release(NULL, b);
    release(NULL, x);
    return most;
}

int main(void)
{
    const lat_fermion f = action(-.75);
    const lat_multigrid_options usual = {0};
    setting s = open_setting("8 8 8 8", 3, .3, &f, &usual);
    check_transfer(&s);
    check_levels(&s);
    check_case("GCR takes fewer iterations");
    const long with = solve(&s, lat_multigrid_method(s.m)), without = solve(&s, NULL);
    printf("# %ld iterations, without %ld; smoother %g %g %g %g\n", with, without,
           s.m->smoother[0], s.m->smoother[1], s.m->smoother[2], s.m->smoother[3]);
    CHECK(with * 4 < without, "%ld, without %ld", with, without);
    close_setting(&s);
    return check_done();
}
