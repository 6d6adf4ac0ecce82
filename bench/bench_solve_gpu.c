/* SPDX-License-Identifier: BSD-3-Clause */
/* bench_solve_gpu: seconds a source of whole solves on GPUs, `make bench-dirac-gpu`; by mpirun on
 * several.
 *
 *     bench_solve_gpu LINKS.lat [LINES [DELTA]]    lines that fit a pattern alone ('clover*half
 * 12'); reliable updates when the residual has fallen by DELTA
 *
 * LINKS.lat, thermal links of SU(3), is repeated periodically to 32^3 x 64; the Makefile makes 16^4
 * at beta = 6.0.
 * Point sources, antiperiodic in t, |b - M x|/|b| <= 1e-10 of the full operator in double, which
 * the outer precision computes. Links, operator and sources are on the GPU before the clock begins;
 * the solution stays there. Must and aim are 1.2 and 1.6 times, with twelve sources 1.5 and 2.1
 * times, as fast as QUDA's best on the same card. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "base/error.h"
#include "base/threads.h"
#include "common/io.h"
#include "wilson/wilson.h"
#include "stream/stream.h"
#include "../tests/check/fields.h"

typedef struct line {
    const char *name;
    double kappa, csw;
    lat_solver solver;
    lat_dirac_form form;
    lat_storage inner;
    int columns;
    double must, aim; /* seconds a source; 0: no promise */
} line;

#define EACH(name, kappa, csw, solver, form, must1, aim1, must12, aim12) \
    {name, kappa, csw, solver, form, LAT_STORAGE_DOUBLE, 1, 0, 0}, \
        {name, kappa, csw, solver, form, LAT_STORAGE_SINGLE, 1, must1, aim1}, \
        {name, kappa, csw, solver, form, LAT_STORAGE_HALF, 1, must1, aim1}, \
        {name, kappa, csw, solver, form, LAT_STORAGE_SINGLE, 12, must12, aim12}, \
    { \
        name, kappa, csw, solver, form, LAT_STORAGE_HALF, 12, must12, aim12 \
    }

static const line lines[] = {
    EACH("wilson bicgstab", .1550, 0, LAT_SOLVER_BICGSTAB, LAT_ASYMMETRIC, .22, .16, .165, .11),
    EACH("wilson cg", .1550, 0, LAT_SOLVER_CG, LAT_ASYMMETRIC, .61, .50, .43, .33),
    EACH("clover bicgstab", .1440, 1, LAT_SOLVER_BICGSTAB, LAT_SYMMETRIC, .285, .21, .20, .14),
    EACH("clover cg", .1440, 1, LAT_SOLVER_CG, LAT_SYMMETRIC, .71, .58, .49, .38),
};

static lat_device *dev;

/* The links of the file again and again. */
static lat_field tiled(const char *path)
{
    lat_field one, all;
    lat_input *in = lat_input_open(path, &lat_comm_self);
    if (!in || lat_stream_read(in, &one) != 1)
        exit(lat_report(LAT_FAILED));
    lat_input_close(in);
    all = field_of_ranks(LAT_GAUGE, geometry_of("32 32 32 64"), 3, LAT_F64, dev->comm);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(&all); i++) {
        int x[LAT_MAX_DIMS];
        double m[18];
        lat_coordinates(&all.head.geom, lat_field_site(&all, i), x);
        for (int mu = 0; mu < 4; mu++)
            x[mu] %= one.head.geom.dims[mu];
        for (size_t mu = 0; mu < 4; mu++) {
            lat_field_get(&one, lat_site(&one.head.geom, x) * 4 + mu, m);
            lat_field_put(&all, i * 4 + mu, m);
        }
    }
    lat_field_free(&one);
    if (lat_field_exchange(&all))
        exit(lat_report(LAT_FAILED));
    return all;
}

static lat_fermion fermion_of(const line *l)
{
    lat_fermion f;
    lat_fermion_init(&f);
    strcpy(f.name, "wilson");
    f.mass = 1 / (2 * l->kappa) - 4;
    f.csw = f.csw_t = l->csw;
    f.boundary[3].theta = 1;
    return f;
}

static lat_field spinors(const lat_field *u, int columns)
{
    lat_field f = {.data = NULL};
    lat_header_init(&f.head);
    f.head.geom = u->head.geom;
    f.head.nc = 3;
    f.head.real = LAT_F64;
    lat_header_make_spinors(&f.head, LAT_MODES, columns);
    if (lat_field_alloc(&f, dev->comm))
        exit(lat_report(LAT_FAILED));
    memset(f.data, 0, lat_field_reals(&f) * sizeof(double));
    return f;
}

static void measure(const line *l, const lat_field *u, double delta)
{
    const lat_fermion f = fermion_of(l);
    const lat_wilson_options o = {.columns = l->columns, .form = l->form, .inner = l->inner};
    lat_wilson *w = lat_wilson_open(dev, u, &f, &o);
    lat_field b = spinors(u, l->columns), x = spinors(u, l->columns);
    lat_solve_report report[12];
    lat_wilson_cost cost[12];
    int object[12];
    double target[12], t[3], worst = 0;
    long iterations = 0, updates = 0;
    if (!w)
        exit(lat_report(LAT_FAILED));
    for (int c = 0; c < l->columns; c++) {
        object[c] = c;
        target[c] = 1e-10;
        if (dev->comm->rank == 0)
            ((double *)b.data)[(size_t)c * 24 + 2 * (size_t)c] = 1; /* at the origin */
    }
    const lat_wilson_job job = {.b = &b,
                                .x = &x,
                                .columns = l->columns,
                                .object = object,
                                .target = target,
                                .solver = l->solver,
                                .max_iterations = 20000,
                                .delta = delta};
    for (int r = 0; r < 3; r++) {
        memset(report, 0, sizeof report);
        memset(cost, 0, sizeof cost);
        if (lat_wilson_solve(w, &job, report, cost))
            exit(lat_report(LAT_FAILED));
        t[r] = 0;
        for (int c = 0; c < l->columns; c++)
            t[r] += cost[c].seconds;
        t[r] /= l->columns;
    }
    for (int c = 0; c < l->columns; c++) {
        worst = fmax(worst, report[c].end == LAT_END_CONVERGED ? report[c].residual : NAN);
        iterations = report[c].iterations > iterations ? report[c].iterations : iterations;
        updates = report[c].updates > updates ? report[c].updates : updates;
    }
    const double dt = bench_median(t, 3);
    char promise[64];
    const bool one = dev->comm->size == 1;
    if (dev->comm->rank == 0)
        printf("%-16s double-%-6s %2d  %7.4f %7.4f  %5ld %3ld %8.1e %s %s\n", l->name,
               lat_storage_name(l->inner), l->columns, dt, t[0], iterations, updates, worst,
               lat_end_text(report[0].end),
               bench_promise(promise, "%6.3f", dt, one ? -l->must : 0, one ? -l->aim : 0));
    fflush(stdout);
    lat_field_free(&b);
    lat_field_free(&x);
    lat_wilson_close(w);
}

/* "clover cg double-half 12" */
static bool fits(const line *l, const char *pattern)
{
    char label[64];
    snprintf(label, sizeof label, "%s double-%s %d", l->name, lat_storage_name(l->inner),
             l->columns);
    return fnmatch(pattern, label, 0) == 0;
}

int main(int argc, char **argv)
{
    lat_threads_limit_spinning(argv);
    lat_tool_name = "bench_solve_gpu";
    const lat_comm *comm = argc < 2 ? NULL : lat_comm_start(0, argv);
    const lat_device_options options = {.choice = LAT_DEVICE_GPU};
    if (!comm || !(dev = lat_device_open(&options, comm)))
        return lat_report(LAT_FAILED);
    lat_field u = tiled(argv[1]);
    if (comm->rank == 0)
        printf("%-16s %-13s %2s  %7s %7s  %5s %3s %8s\n", "32^3x64", "precision", "n", "s/source",
               "best", "iter.", "up.", "residual");
    for (int i = 0; i < (int)(sizeof lines / sizeof *lines); i++)
        if (argc < 3 || fits(lines + i, argv[2]))
            measure(lines + i, &u, argc > 3 ? atof(argv[3]) : 0);
    lat_field_free(&u);
    lat_device_close(dev);
    lat_device_end();
    return 0;
}
