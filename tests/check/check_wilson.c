/* SPDX-License-Identifier: BSD-3-Clause */
/* check_wilson: solutions of random small lattices against a dense reference: the matrix of the
 * plain operator, column by column, and Gaussian elimination. Every solver, precision, Schur
 * complement, boundary and anisotropy has its turn. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/threads.h"
#include "check.h"
#include "fields.h"
#include "certify/plain.h"
#include "site/random.h"
#include "wilson/wilson.h"

typedef double complex cx;

enum { COLUMNS = 2 };

static uint32_t word(uint64_t seed, uint64_t i)
{
    uint32_t w[4];
    lat_random(seed, i, 0, 0, 0, w);
    return w[0];
}

static double uniform(uint64_t seed, uint64_t i) { return word(seed, i) / 4294967296. - .5; }

static lat_field spinors(const lat_field *u, int columns)
{
    lat_field f = spinor_field(u, columns);
    memset(f.data, 0, lat_field_reals(&f) * sizeof(double));
    return f;
}

/* One of the small even lattices, of 128 to 384 complex numbers; of the larger ones, with ratios of
 * three, every seventh. */
static lat_geometry lattice(uint64_t seed, int nc)
{
    static const char *const dims[] = {"2 2 2 2", "2 2 2 4", "4 2 2 2", "2 4 2 2", "2 2 4 2"},
                             *const wide[] = {"6 2 2 2", "2 2 2 6", "2 6 2 2", "2 2 6 2"};
    if (seed % 7 == 1)
        return geometry_of(nc == 2 ? wide[word(seed, 0) % 4] : dims[1 + word(seed, 0) % 4]);
    return geometry_of(dims[nc == 2 ? word(seed, 0) % 5 : 0]);
}

/* Masses around the critical one of rough links, and below it. */
static lat_fermion action(uint64_t seed)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = .3 + uniform(seed, 1);
    f.csw = seed % 2 ? 1.5 * (.5 + uniform(seed, 2)) : 0;
    f.csw_t = seed % 3 ? f.csw : f.csw / 2;
    f.xi = seed % 5 ? 1 : 2;
    f.nu = seed % 5 ? 1 : .9;
    f.twist = seed % 7 ? 0 : .2;
    for (int mu = 0; mu < 4; mu++)
        switch (word(seed, 10 + (uint64_t)mu) % 4) {
        case 0: f.boundary[mu].dirichlet = true; break;
        case 1: f.boundary[mu].theta = 1; break;
        case 2: f.boundary[mu].theta = uniform(seed, 20 + (uint64_t)mu); break;
        default: break;
        }
    if (seed % 11 == 3) {
        f.boundary[3] = (lat_phase){.dirichlet = true, .open = true};
        f.cf = seed % 2 ? .9 : 1.2;
    }
    return f;
}

/* The matrix of the plain operator, [row][column]. */
static cx *dense(lat_plain *m, const lat_field *u, int n)
{
    lat_field x = spinors(u, 1), y = spinors(u, 1);
    cx *matrix = lat_alloc((size_t)n * (size_t)n, sizeof *matrix, "a matrix");
    need(matrix != NULL, "a matrix");
    const int zero = 0;
    for (int j = 0; j < n; j++) {
        ((cx *)x.data)[j] = 1;
        need(lat_plain_apply(m, false, &x, 1, &zero, &y) == 0, "the operator");
        ((cx *)x.data)[j] = 0;
        for (int i = 0; i < n; i++)
            matrix[i * n + j] = ((cx *)y.data)[i];
    }
    lat_field_free(&x);
    lat_field_free(&y);
    return matrix;
}

/* row -= f of. */
static void subtract(int count, cx f, const cx *of, cx *row)
{
    const double *a = (const double *)of, re = creal(f), im = cimag(f);
    double *b = (double *)row;
    for (int k = 0; k < 2 * count; k += 2) {
        b[k] -= re * a[k] - im * a[k + 1];
        b[k + 1] -= re * a[k + 1] + im * a[k];
    }
}

/* b becomes matrix^-1 b for COLUMNS right-hand sides [n][COLUMNS]; the smallest pivot. */
static double eliminate(int n, cx *m, cx *b)
{
    double least = INFINITY;
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int j = i + 1; j < n; j++)
            best = cabs(m[j * n + i]) > cabs(m[best * n + i]) ? j : best;
        for (int k = 0; k < n; k++) {
            const cx other = m[i * n + k];
            m[i * n + k] = m[best * n + k];
            m[best * n + k] = other;
        }
        for (int c = 0; c < COLUMNS; c++) {
            const cx other = b[i * COLUMNS + c];
            b[i * COLUMNS + c] = b[best * COLUMNS + c];
            b[best * COLUMNS + c] = other;
        }
        least = fmin(least, cabs(m[i * n + i]));
        for (int j = i + 1; j < n; j++) {
            const cx f = m[j * n + i] / m[i * n + i];
            subtract(n - i, f, m + i * n + i, m + j * n + i);
            subtract(COLUMNS, f, b + i * COLUMNS, b + j * COLUMNS);
        }
    }
    for (int i = n - 1; i >= 0; i--)
        for (int c = 0; c < COLUMNS; c++) {
            cx sum = b[i * COLUMNS + c];
            for (int k = i + 1; k < n; k++)
                sum -= m[i * n + k] * b[k * COLUMNS + c];
            b[i * COLUMNS + c] = sum / m[i * n + i];
        }
    return least;
}

static double size_of(const cx *v, int n, int c)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += creal(v[i * COLUMNS + c] * conj(v[i * COLUMNS + c]));
    return sqrt(sum);
}

/* [site][column][rest] of a field to [site][rest][column], or back. */
static void shuffle(const lat_field *f, cx *flat, bool back)
{
    const size_t each = 4 * (size_t)f->head.nc;
    cx *data = f->data;
    for (size_t i = 0; i < lat_field_sites(f); i++)
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t k = 0; k < each; k++) {
                cx *a = &data[(i * COLUMNS + c) * each + k],
                   *b = &flat[(i * each + k) * COLUMNS + c];
                if (back)
                    *a = *b;
                else
                    *b = *a;
            }
}

/* The first number of the first link of t, by a hundredth. */
static void lengthen(lat_field *u)
{
    const int at = 3 * 2 * u->head.nc * u->head.nc;
    if (u->head.real == LAT_F32)
        ((float *)u->data)[at] *= 1.01f;
    else
        ((double *)u->data)[at] *= 1.01;
}

/* One lattice; everything else follows from the seed. */
static void one_lattice(lat_device *device, uint64_t seed)
{
    static const lat_dirac_form forms[] = {LAT_SYMMETRIC, LAT_ASYMMETRIC, LAT_FULL};
    static const int object[COLUMNS] = {0, 1};
    static const double target[COLUMNS] = {1e-11, 1e-11};
    const int nc = 2 + (int)(seed % 2);
    const lat_solver solver = (lat_solver)(seed % 5);
    /* Links in single: those of t are 1 for an inner operator in single, and not in double. */
    lat_field u = field_new(LAT_GAUGE, lattice(seed, nc), nc, seed % 7 ? LAT_F64 : LAT_F32);
    if (seed % 4 == 0)
        fill_haar(&u, seed);
    else
        fill_near_one(&u, ROUGH, seed);
    if (seed % 3 == 0) /* not all links are of SU(N): they keep the gauge that they have */
        lengthen(&u);
    const lat_fermion f = action(seed);
    const int n = (int)lat_field_sites(&u) * 4 * nc;
    lat_field b = spinors(&u, COLUMNS), x = spinors(&u, COLUMNS);
    for (size_t i = 0; i < lat_field_reals(&b); i++)
        ((double *)b.data)[i] = uniform(seed + 1, i);
    lat_plain *m = lat_plain_new(&u, &f);
    need(m != NULL, "the operator");
    cx *matrix = dense(m, &u, n), *known = lat_alloc((size_t)n * COLUMNS, sizeof *known, "b"),
       *found = lat_alloc((size_t)n * COLUMNS, sizeof *found, "x");
    need(known && found, "vectors");
    shuffle(&b, known, false);
    const double least = eliminate(n, matrix, known);
    const lat_wilson_options o = {.columns = COLUMNS,
                                  .form = forms[seed / 5 % 3],
                                  .inner = seed / 15 % 2 ? LAT_STORAGE_SINGLE : LAT_STORAGE_DOUBLE};
    lat_wilson *w = lat_wilson_open(device, &u, &f, &o);
    need(w != NULL, "the fast operator");
    lat_solve_report report[COLUMNS] = {{0}};
    const lat_wilson_job job = {.b = &b,
                                .x = &x,
                                .columns = COLUMNS,
                                .object = object,
                                .target = target,
                                .solver = solver,
                                .max_iterations = 20000};
    CHECK(lat_wilson_solve(w, &job, report, NULL) == 0, "seed %d: %s", (int)seed, lat_error());
    double residual[COLUMNS];
    need(lat_plain_residual(m, &x, &b, COLUMNS, object, residual) == 0, "residuals");
    shuffle(&x, found, false);
    for (int c = 0; c < COLUMNS; c++) {
        /* The symmetric complement may miss the target by the norm of its diagonal. GCR is not made
         * for matrices that are not positive: it may stagnate, and then has to say so. */
        if (solver == LAT_SOLVER_GCR && report[c].end == LAT_END_STAGNATION)
            continue;
        CHECK(report[c].end == LAT_END_CONVERGED && residual[c] < 1e-10,
              "seed %d, %s: %s, residual %g after %ld", (int)seed, lat_solver_name(solver),
              lat_end_text(report[c].end), residual[c], report[c].iterations);
        for (int i = 0; i < n; i++)
            found[i * COLUMNS + c] -= known[i * COLUMNS + c];
        /* |error| < |M^-1| |b| residual; |M^-1| |b| < 20 |x| / least pivot, generously. */
        const double error = size_of(found, n, c) / size_of(known, n, c);
        CHECK(error < 1e-10 * 200 * (1 + 1 / least), "seed %d, %s: off by %g, pivot %g", (int)seed,
              lat_solver_name(solver), error, least);
    }
    lat_wilson_close(w);
    lat_plain_free(m);
    free(matrix);
    free(known);
    free(found);
    lat_field_free(&u);
    lat_field_free(&b);
    lat_field_free(&x);
}

/* Without arguments the usual lattices; FIRST COUNT: a campaign of others (tests/long). */
int main(int argc, char **argv)
{
    const uint64_t first = argc == 3 ? strtoull(argv[1], NULL, 10) : 1,
                   count = argc == 3 ? strtoull(argv[2], NULL, 10) : 180;
    const lat_device_options options = {.choice = LAT_DEVICE_CPU};
    lat_device *device = lat_device_open(&options, &lat_comm_self);
    need(device != NULL, "a device");
    lat_threads_set(1); /* some hundred sites */
    check_case("solutions of random small lattices are those of elimination");
    for (uint64_t seed = first; seed < first + count; seed++)
        one_lattice(device, seed);
    lat_device_close(device);
    lat_device_end();
    return check_done();
}
