/* SPDX-License-Identifier: BSD-3-Clause */
/* check_solve_memory: what wilson/memory.h counts is what a solve takes, and no more columns are
 * chosen than fit; the same of a search for modes. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include "base/error.h"
#include "check.h"
#include "fields.h"
#include "lattice/fermion.h"
#include "modes/modes.h"
#include "wilson/memory.h"

enum { COLUMNS = 5, MOST = 12 };

/* ---- bytes that are allocated ---------------------------------------------------------------- */

static long held, peak;

#ifdef __SANITIZE_ADDRESS__ /* has a malloc of its own */
enum { COUNTS = 0 };
#else
enum { COUNTS = 1 };

/* glibc's own, under names that nobody overrides */
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

/* What lat_alloc has given: all that grows with the lattice. */
static struct {
    void *p;
    size_t bytes;
} list[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void move(void *from, void *to, size_t bytes)
{
    size_t k = 0;
    pthread_mutex_lock(&lock);
    while (k < sizeof list / sizeof *list && list[k].p != from)
        k++;
    if (k < sizeof list / sizeof *list) {
        held += (long)bytes - (long)list[k].bytes;
        list[k].p = to;
        list[k].bytes = bytes;
        peak = held > peak ? held : peak;
    }
    pthread_mutex_unlock(&lock);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    *p = __libc_memalign(alignment, n);
    if (*p)
        move(NULL, *p, n);
    return *p ? 0 : ENOMEM;
}

void free(void *p)
{
    if (p)
        move(p, NULL, 0);
    __libc_free(p);
}
#endif

/* ---- a solve --------------------------------------------------------------------------------- */

static long before, most;

static int look(void *with, long iterations, int active, double ratio)
{
    const long now = held - before;
    (void)with, (void)iterations, (void)active, (void)ratio;
    most = now > most ? now : most;
    return 0;
}

static lat_field sources(const lat_field *u, int columns)
{
    lat_field f = spinor_field(u, columns);
    fill_spinors(&f, 3);
    return f;
}

/* Not counted are tables, of some words a site; what is counted too much is a vector or two. */
static void one_solve(lat_device *device, const lat_field *u, const lat_fermion *f,
                      lat_wilson_options o, lat_solver solver)
{
    static const int object[COLUMNS] = {0, 1, 2, 3, 4};
    static const double target[COLUMNS] = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6};
    const lat_wilson_use use = {solver, 0, 0};
    const double wanted = lat_wilson_bytes(device, &u->head, f, &o, &use, false);
    lat_field b = sources(u, COLUMNS), x = sources(u, COLUMNS);
    lat_solve_report report[COLUMNS] = {{0}};
    before = held;
    most = 0;
    lat_wilson *w = lat_wilson_open(device, u, f, &o);
    need(w != NULL, "the operator");
    const lat_wilson_job job = {.b = &b,
                                .x = &x,
                                .columns = COLUMNS,
                                .object = object,
                                .target = target,
                                .solver = solver,
                                .max_iterations = 1000,
                                .progress = look};
    need(lat_wilson_solve(w, &job, report, NULL) == 0, "a solve");
    lat_wilson_close(w);
    CHECK(wanted > .9 * (double)most && wanted < 1.3 * (double)most,
          "%s, form %d, %s, csw %g: %.0f bytes counted, %ld taken", lat_solver_name(solver), o.form,
          lat_storage_name(o.inner), f->csw, wanted, most);
    lat_field_free(&b);
    lat_field_free(&x);
}

/* With a multigrid, whose setup has eight columns of its own. What its levels begin and end with is
 * counted as if it were there at once. */
static void one_multigrid(lat_device *device, const lat_field *u, const lat_fermion *f, int columns)
{
    const lat_wilson_options o = {.columns = columns,
                                  .form = LAT_SYMMETRIC,
                                  .inner = LAT_STORAGE_SINGLE,
                                  .multigrid = true,
                                  .made_mass = f->mass};
    const lat_wilson_use use = {LAT_SOLVER_MG, 0, 0};
    const double wanted = lat_wilson_bytes(device, &u->head, f, &o, &use, false);
    double target[MOST];
    lat_solve_report report[MOST] = {{0}};
    for (int k = 0; k < columns; k++)
        target[k] = 1e-6;
    lat_field b = sources(u, columns), x = sources(u, columns);
    before = peak = held;
    lat_wilson *w = lat_wilson_open(device, u, f, &o);
    need(w != NULL, "the operator");
    const lat_wilson_job job = {.b = &b,
                                .x = &x,
                                .columns = columns,
                                .object = lat_column_numbers,
                                .target = target,
                                .solver = LAT_SOLVER_MG,
                                .max_iterations = 1000};
    need(lat_wilson_solve(w, &job, report, NULL) == 0, "a solve");
    lat_wilson_close(w);
    const double taken = (double)(peak - before);
    printf("# %d columns, csw %g: %.0f bytes counted, %.0f taken\n", columns, f->csw, wanted,
           taken);
    CHECK(wanted > taken && wanted < 1.3 * taken,
          "%d columns, csw %g: %.0f bytes counted, %.0f taken", columns, f->csw, wanted, taken);
    lat_field_free(&b);
    lat_field_free(&x);
}

/* ---- modes ----------------------------------------------------------------------------------- */

static int look_at_modes(void *with, int converged, int of, double residual, long applications)
{
    (void)converged, (void)of, (void)residual;
    return look(with, applications, 0, 0);
}

/* An operator on batches of so many columns. */
static lat_dirac *operator_on(lat_grid *grid, const lat_field *u, const lat_fermion *f, int columns)
{
    lat_space *s = lat_space_open(grid, 3, columns);
    lat_dirac *d = s ? lat_dirac_open(s, u, f, NULL) : NULL;
    need(d != NULL, "an operator");
    return d;
}

static void close_operator(lat_dirac *d)
{
    lat_space *s = d->space;
    lat_dirac_close(d);
    lat_space_close(s);
}

static void one_search(lat_device *device, const lat_field *u, const lat_fermion *f,
                       lat_modes_method method, bool single, double tolerance)
{
    const lat_dirac_matrix matrix = {LAT_FULL, LAT_GAMMA5};
    lat_grid_spec spec = {.lattice = u->head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1};
    lat_grid *grid = lat_grid_new(device, &spec), *low;
    spec.storage = LAT_STORAGE_SINGLE;
    low = lat_grid_new(device, &spec);
    need(grid && low, "grids");
    lat_dirac *d = operator_on(grid, u, f, 1), *one = operator_on(low, u, f, 1),
              *many = operator_on(low, u, f, 4);
    const lat_hermitian op = lat_hermitian_dirac(d, matrix);
    lat_hermitian coarse = lat_hermitian_dirac(one, matrix);
    coarse.many = many;
    lat_modes_job job = {.op = &op,
                         .coarse = single ? &coarse : NULL,
                         .low = 6,
                         .high = 6,
                         .tolerance = tolerance,
                         .method = method,
                         .seed = 1,
                         .max_applications = 1000000,
                         .progress = look_at_modes};
    lat_modes found;
    const double wanted = lat_modes_bytes(&job);
    before = held;
    most = 0;
    need(lat_modes_find(&job, &found) == 0 && found.converged, "modes");
    lat_modes_free(&found);
    CHECK(!COUNTS || (wanted > .9 * (double)most && wanted < 1.3 * (double)most),
          "method %d, single %d, residual %g: %.0f bytes counted, %ld taken", (int)method, single,
          tolerance, wanted, most);
    job.memory = wanted - 1;
    CHECK(lat_modes_find(&job, &found) == -1 && strstr(lat_error(), "a search for 6 modes needs"),
          "modes in a byte less than they need: %s", lat_error());
    lat_modes_free(&found);
    lat_error_clear();
    close_operator(d);
    close_operator(one);
    close_operator(many);
    lat_grid_free(grid);
    lat_grid_free(low);
}

/* ---- columns --------------------------------------------------------------------------------- */

static void choice(const lat_device *device, const lat_header *links, const lat_fermion *f)
{
    const lat_wilson_options all = {.columns = 12, .inner = LAT_STORAGE_HALF};
    const lat_wilson_use use = {LAT_SOLVER_AUTO, 0, 0};
    lat_wilson_options o = all;
    CHECK(lat_wilson_columns(device, links, f, &all, &use, INFINITY) == 12, "not all columns");
    for (o.columns = 12; o.columns >= 1; o.columns--) {
        const double bytes = lat_wilson_bytes(device, links, f, &o, &use, true);
        CHECK(lat_wilson_columns(device, links, f, &all, &use, bytes) == o.columns,
              "%d columns do not fit where they should", o.columns);
        CHECK(o.columns == 1
                  || lat_wilson_columns(device, links, f, &all, &use, bytes - 1) == o.columns - 1,
              "%d columns in a byte less than they need", o.columns);
    }
    o.columns = 1;
    const double least = lat_wilson_bytes(device, links, f, &o, &use, false);
    CHECK(lat_wilson_columns(device, links, f, &all, &use, least) >= 1, "one column does not fit");
    CHECK(lat_wilson_columns(device, links, f, &all, &use, least - 1) == 0
              && strstr(lat_error(), "one column needs"),
          "one column in a byte less: %s", lat_error());
    lat_error_clear();
}

/* Where single goes on after half, vectors of both are never there together. By hand, for a site
 * and a column of SU(3) on one CPU, with numbers of 24 reals and sums of 64 bytes: double has b, x,
 * r and one or, with M^+, two between hops; half (52 bytes) and single those between hops; single
 * x, r and those of the method. */
static void half_and_single(const lat_device *device, const lat_header *links, const lat_fermion *f)
{
    static const struct {
        lat_solver solver;
        int outer, between, method;
    } known[] = {
        {LAT_SOLVER_CG, 5, 2, 3}, {LAT_SOLVER_BICGSTAB, 4, 1, 3}, {LAT_SOLVER_AUTO, 4, 2, 10}};
    lat_wilson_options o = {.inner = LAT_STORAGE_HALF, .form = LAT_SYMMETRIC};
    for (int i = 0; i < 3; i++) {
        const lat_wilson_use use = {known[i].solver, 0, 0};
        double bytes[2];
        for (int n = 0; n < 2; n++) {
            o.columns = n + 1;
            bytes[n] = lat_wilson_bytes(device, links, f, &o, &use, true);
        }
        const double site = known[i].outer * 192 + 64 + known[i].between * (52 + 96) + 2 * 64
                            + (2 + known[i].method) * 96;
        CHECK(fabs((bytes[1] - bytes[0]) / (double)lat_volume(&links->geom) - site) < 1e-6,
              "%s in half and single: %.6f bytes a site and column, expected %.0f",
              lat_solver_name(known[i].solver),
              (bytes[1] - bytes[0]) / (double)lat_volume(&links->geom), site);
    }
}

int main(void)
{
    static const lat_dirac_form forms[] = {LAT_SYMMETRIC, LAT_ASYMMETRIC, LAT_FULL};
    static const lat_solver solvers[] = {LAT_SOLVER_CG, LAT_SOLVER_BICGSTAB, LAT_SOLVER_BICGSTABL,
                                         LAT_SOLVER_GCR};
    const lat_device_options options = {.choice = LAT_DEVICE_CPU};
    lat_device *device = lat_device_open(&options, &lat_comm_self);
    need(device != NULL, "a device");
    lat_field u = field_new(LAT_GAUGE, geometry_of("8 8 8 8"), 3, LAT_F64);
    lat_fermion f;
    fill_near_one(&u, .2, 1);
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = 1;
    check_case("what is counted is what a solve takes");
    for (int i = 0; i < 12 && COUNTS; i++) {
        const lat_wilson_options o = {.columns = COLUMNS,
                                      .form = forms[i % 3],
                                      .inner = i % 8 < 4 ? LAT_STORAGE_SINGLE : LAT_STORAGE_DOUBLE,
                                      .dirac = {.reals = i % 5 ? 18 : 12}};
        f.csw = f.csw_t = i % 2;
        one_solve(device, &u, &f, o, solvers[i % 4]);
    }
    check_case("what is counted is what a multigrid takes, its setup, too");
    for (int i = 0; i < 4 && COUNTS; i++) {
        static const int columns[] = {1, 5, 8, MOST};
        f.csw = f.csw_t = i % 2;
        one_multigrid(device, &u, &f, columns[i]);
    }
    check_case("what is counted is what a search for modes takes, and less is refused");
    lat_field v = field_new(LAT_GAUGE, geometry_of("8 8 4 4"), 3, LAT_F64);
    fill_near_one(&v, .2, 1);
    one_search(device, &v, &f, LAT_MODES_LANCZOS, false, 1e-6);
    one_search(device, &v, &f, LAT_MODES_LANCZOS, true, 1e-3);
    one_search(device, &v, &f, LAT_MODES_LANCZOS, true, 1e-8);
    one_search(device, &v, &f, LAT_MODES_RITZ, false, 1e-2);
    lat_field_free(&v);
    check_case("columns that fit, and no more");
    choice(device, &u.head, &f);
    half_and_single(device, &u.head, &f);
    lat_field_free(&u);
    lat_device_close(device);
    lat_device_end();
    return check_done();
}
