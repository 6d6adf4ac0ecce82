/* SPDX-License-Identifier: BSD-3-Clause */
/* lat-ghost: the ghost propagator of configurations in Landau or Coulomb gauge, and the lowest
 * eigenvalues of the Faddeev-Popov operator (docs/ghost.md). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "ghost/ghost.h"
#include "grid/device.h"
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "measure/measure.h"
#include "run/common/device_options.h"
#include "run/common/gauge_options.h"
#include "run/common/print.h"
#include "ghost_measured.h"

enum { ONE, ALL };
enum { MOST_MODES = 56, GUARD = 3, MOST_PACKS = 8 };

static int orbits = ONE;
static lat_device_options device;
static const char *momenta = "4", *point;
static long modes, max_iterations = 1000;
static double residual = 1e-8, accuracy = 1e-6;

static const lat_option options[] = {
    LAT_HEADING("Gauge"),
    LAT_GAUGE_OPTIONS("landau|coulomb"),
    LAT_WEIGHTS_OPTION,
    LAT_REQUIRE_OPTION,
    LAT_HEADING("Momenta and modes"),
    {LAT_OPT_TEXT, "momenta", 0, "P", &momenta, 0, 0,
     "momenta 2 pi n/L with n^2 up to a number, or a list 1,0,0,0/0,0,0,1/.."},
    {LAT_OPT_CHOICE, "orbits", 0, "one|all", &orbits, 0, 0,
     "momenta that reflections and exchanges of equal axes make equal: compute one of them, or "
     "all; n and -n have the same G, and count as one"},
    {LAT_OPT_TEXT, "point", 0, "X,Y,Z,T", &point, 0, 0,
     "use one point source for all momenta (default: a plane wave for each, exact)"},
    {LAT_OPT_INT, "modes", 0, "K", &modes, 1, MOST_MODES,
     "measure the K lowest eigenvalues instead, in Coulomb gauge of each slice (default: none)"},
    LAT_HEADING("Solver"),
    {LAT_OPT_REAL, "residual", 0, "X", &residual, 1e-14, 1,
     "solve until |b - M x| / |b| of each column is below X"},
    {LAT_OPT_REAL, "accuracy", 0, "X", &accuracy, 1e-12, 1,
     "iterate until |M v - lambda v| of each mode is below X |lambda|"},
    {LAT_OPT_INT, "max-iterations", 0, "N", &max_iterations, 1, 1e9,
     "give up after N iterations, exit 3"},
    LAT_HEADING("Device"),
    LAT_DEVICE_OPTIONS(device),
    LAT_HEADING("Output"),
    LAT_PRINT_OPTIONS("momentum or mode", "configuration"),
    {0}};

static const lat_tool tool = {
    .name = "lat-ghost",
    .args = "[FILE...]",
    .summary = "Measures the ghost propagator, or the lowest eigenvalues of the Faddeev-Popov "
               "operator.",
    .example = "lat-orelax --theta 1e-20 cfg.0100.lat | lat-ghost --tsv --momenta 4\n"
               "lat-ghost --gauge coulomb --momenta 4 cfg.coulomb.lat\n"
               "lat-ghost --tsv landau/*.lat | lat-stat > ghost.tsv",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

/* ---- solutions ------------------------------------------------------------------------------- */

/* Why a configuration has no numbers: exit code 3. */
static int unconverged(const lat_ghost_measured *m, const char *name, const lat_ghost_report *r)
{
    if (r->indefinite)
        lat_fail("%s: configuration %ld: the Faddeev-Popov operator is not positive: this is no "
                 "maximum of the functional",
                 name, m->config);
    else
        lat_fail("%s: configuration %ld: residual %.3g after %ld iterations, expected %g", name,
                 m->config, r->residual, r->iterations, modes ? accuracy : residual);
    return LAT_UNCONVERGED;
}

/* Solves for these columns: their source in m->b again, the solution in m->x, its true residuals in
 * m->number. An exit code. */
static int solve(lat_ghost_measured *m, const lat_ghost_column *column, const char *name)
{
    lat_ghost_report report;
    if (lat_ghost_source(m->m, m->b, column)
        || lat_ghost_solve(m->m, m->x, m->b, residual, max_iterations, &report))
        return LAT_FAILED;
    m->report.iterations += report.iterations;
    if (!report.converged)
        return unconverged(m, name, &report);
    if (lat_ghost_source(m->m, m->b, column)
        || lat_ghost_residual(m->m, m->f, m->b, m->x, NULL, m->number))
        return LAT_FAILED;
    report.residual = 0;
    for (int i = 0; i < lat_ghost_units(m->m) * lat_ghost_columns(m->m); i++)
        report.residual = lat_worse(report.residual, m->number[i]);
    /* It is computed from x, which the iteration does not round in the same way. */
    return report.residual <= residual + 1e-14 ? LAT_DONE : unconverged(m, name, &report);
}

/* Column k of the whole list, colour by colour of cos and sin of momentum after momentum; ZERO
 * behind the last. */
static lat_ghost_column wave(const lat_ghost_measured *m, int k, int *momentum)
{
    const int colours = lat_ghost_colours(m->m);
    lat_ghost_column c = {.kind = LAT_GHOST_ZERO};
    *momentum = k / (2 * colours);
    if (*momentum < m->count) {
        c.kind = k / colours % 2 ? LAT_GHOST_SIN : LAT_GHOST_COS;
        c.colour = k % colours;
        memcpy(c.n, m->rows[*momentum].n, sizeof c.n);
    }
    return c;
}

/* G(k) = sum_a (<cos, M^-1 cos> + <sin, M^-1 sin>) / ((N^2-1) V), the mean over slices. */
static int plane_waves(lat_ghost_measured *m, const char *name)
{
    const int columns = lat_ghost_columns(m->m), units = lat_ghost_units(m->m),
              all = m->count * 2 * lat_ghost_colours(m->m);
    const double scale = 1 / (lat_ghost_colours(m->m) * lat_ghost_unit_sites(m->m) * (double)units);
    lat_part_begin("momentum", m->count);
    for (int first = 0; first < all; first += columns) {
        lat_ghost_column column[MOST_PACKS * LAT_GHOST_PACK];
        int of[MOST_PACKS * LAT_GHOST_PACK];
        for (int k = 0; k < columns; k++)
            column[k] = wave(m, first + k, &of[k]);
        lat_part_at((double)first * m->count / all);
        const int code = solve(m, column, name);
        if (code != LAT_DONE)
            return code;
        for (int i = 0; i < units * columns; i++)
            if (of[i % columns] < m->count)
                m->rows[of[i % columns]].residual = lat_worse(m->rows[of[i % columns]].residual,
                                                              m->number[i]);
        if (lat_ghost_dot(m->m, m->b, m->x, m->number))
            return LAT_FAILED;
        for (int i = 0; i < units * columns; i++)
            if (of[i % columns] < m->count)
                m->rows[of[i % columns]].value += scale * m->number[i];
    }
    lat_part_end();
    return LAT_DONE;
}

static int parse_point(const lat_geometry *geom, int time, int *x)
{
    const char *at = point;
    for (int mu = 0; mu < geom->nd; mu++) {
        char *end;
        const long value = strtol(at, &end, 10);
        if (end == at || value < 0 || value >= geom->dims[mu]
            || *end != (mu + 1 < geom->nd ? ',' : '\0'))
            return lat_fail_usage(
                "--point %s: expected the %d coordinates of a site of the lattice", point,
                geom->nd);
        x[mu] = mu == time ? 0 : (int)value;
        at = end + 1;
    }
    return 0;
}

/* Adds sum_a sum_x cos k(x - x0) M^-1_aa(x, x0) of the columns that have been solved for. */
static int project_point(lat_ghost_measured *m, const lat_ghost_column *column, lat_ghost_row *r)
{
    const int columns = lat_ghost_columns(m->m), units = lat_ghost_units(m->m);
    double angle = 0;
    for (int mu = 0; mu < m->f->head.geom.nd; mu++)
        angle += 2 * M_PI * ((long)r->n[mu] * column->n[mu] % m->f->head.geom.dims[mu])
                 / m->f->head.geom.dims[mu];
    for (int sine = 0; sine < 2; sine++) {
        lat_ghost_column waves[MOST_PACKS * LAT_GHOST_PACK];
        for (int k = 0; k < columns; k++) {
            waves[k] = (lat_ghost_column){.kind = sine ? LAT_GHOST_SIN : LAT_GHOST_COS,
                                          .colour = column[k].colour};
            memcpy(waves[k].n, r->n, sizeof waves[k].n);
        }
        if (lat_ghost_source(m->m, m->b, waves) || lat_ghost_dot(m->m, m->b, m->x, m->number))
            return -1;
        for (int i = 0; i < units * columns; i++)
            r->value += (sine ? sin(angle) : cos(angle)) * m->number[i]
                        / (lat_ghost_colours(m->m) * (double)units);
    }
    return 0;
}

static int from_point(lat_ghost_measured *m, const char *name)
{
    const int columns = lat_ghost_columns(m->m), colours = lat_ghost_colours(m->m);
    int x[LAT_MAX_DIMS] = {0};
    if (parse_point(&m->f->head.geom, m->c.time, x))
        return LAT_FAILED;
    for (int first = 0; first < colours; first += columns) {
        lat_ghost_column column[MOST_PACKS * LAT_GHOST_PACK];
        for (int k = 0; k < columns; k++) {
            column[k] = (lat_ghost_column){.kind = first + k < colours ? LAT_GHOST_POINT
                                                                       : LAT_GHOST_ZERO,
                                           .colour = (first + k) % colours};
            memcpy(column[k].n, x, sizeof x);
        }
        const int code = solve(m, column, name);
        if (code != LAT_DONE)
            return code;
        for (int i = 0; i < m->count; i++)
            for (int k = 0; k < lat_ghost_units(m->m) * columns; k++)
                m->rows[i].residual = lat_worse(m->rows[i].residual, m->number[k]);
        for (int i = 0; i < m->count; i++)
            if (project_point(m, column, &m->rows[i]))
                return LAT_FAILED;
    }
    return LAT_DONE;
}

/* ---- modes ----------------------------------------------------------------------------------- */

static int lowest(lat_ghost_measured *m, const char *name)
{
    const int columns = lat_ghost_columns(m->m), units = lat_ghost_units(m->m);
    const lat_ghost_modes wanted = {(int)modes, accuracy, max_iterations, 1};
    double *lambda = lat_alloc((size_t)(units * columns), sizeof *lambda, "eigenvalues");
    if (lambda && !(m->rows = calloc((size_t)(units * modes), sizeof *m->rows)))
        lat_fail("out of memory: the list of modes");
    int code = m->rows && !lat_ghost_lowest(m->m, &wanted, m->x, lambda, &m->report)
                       && !lat_ghost_residual(m->m, m->f, NULL, m->x, lambda, m->number)
                   ? LAT_DONE
                   : LAT_FAILED;
    if (code == LAT_DONE && !m->report.converged)
        code = unconverged(m, name, &m->report);
    for (int unit = 0; unit < units && code == LAT_DONE; unit++)
        for (int k = 0; k < modes; k++) {
            const int i = unit * columns + k;
            m->rows[m->count++] = (lat_ghost_row){
                .slice = unit, .mode = k, .value = lambda[i], .residual = m->number[i]};
            if (!(m->number[i] <= 1.01 * accuracy * fabs(lambda[i]) + 1e-14)) {
                m->report.residual = m->number[i] / fabs(lambda[i]);
                code = unconverged(m, name, &m->report);
            }
        }
    free(lambda);
    return code;
}

/* ---- the run --------------------------------------------------------------------------------- */

/* Columns that are solved side by side: a momentum of SU(3), 16, or as many as there are. */
static int packs_for(const lat_ghost_measured *m, int colours)
{
    const int columns = modes   ? (int)modes + GUARD
                        : point ? colours
                                : 2 * colours * m->count,
              most = modes ? MOST_PACKS : 2,
              packs = (columns + LAT_GHOST_PACK - 1) / LAT_GHOST_PACK;
    return packs < most ? packs : most;
}

static lat_device *opened; /* of all configurations */

static int compute(lat_ghost_measured *m, const char *name)
{
    const int colours = m->f->head.nc * m->f->head.nc - 1;
    /* Other weights are for anisotropic lattices, and so are slices across their axis. */
    const int axis = lat_anisotropy_axis(&m->f->head);
    const bool all_alike = axis < 0
                           || (m->c.time >= 0 ? m->c.time != axis
                                              : m->c.weight[axis] == m->c.weight[axis ? 0 : 1]);
    if (!modes
        && ((all_alike && lat_anisotropy_none(&m->f->head, name))
            || lat_boundary_closed(&m->f->head, m->c.time, "momenta", name)
            || lat_ghost_momenta(m)))
        return LAT_FAILED;
    lat_device *on = lat_device_or_cpu_said(opened, lat_ghost_check(opened, m->f));
    if (!on || !(m->m = lat_ghost_new_on(on, m->f, &m->c, packs_for(m, colours))))
        return LAT_FAILED;
    const size_t numbers = (size_t)(lat_ghost_units(m->m) * lat_ghost_columns(m->m));
    m->x = lat_ghost_vector(m->m, "solutions");
    m->b = modes ? NULL : lat_ghost_vector(m->m, "sources");
    m->number = lat_alloc(numbers, sizeof *m->number, "numbers of columns");
    const lat_comm *comm = lat_opts.comm;
    if (lat_agree(comm, m->x && (m->b || modes) && m->number ? 0 : -1))
        return LAT_FAILED;
    return modes ? lowest(m, name) : point ? from_point(m, name) : plane_waves(m, name);
}

static void measured_free(lat_ghost_measured *m)
{
    if (m->m) {
        lat_ghost_vector_free(m->m, m->b);
        lat_ghost_vector_free(m->m, m->x);
    }
    lat_ghost_free(m->m);
    LAT_FREE(m->rows, m->number);
}

/* One configuration: an exit code. */
static int one(lat_field *f, lat_input *in, FILE *text, long config)
{
    lat_ghost_measured m = {.momenta = momenta,
                            .point = point,
                            .all_orbits = orbits == ALL,
                            .modes = modes,
                            .f = f,
                            .config = config};
    int code = lat_gauge_condition_linear(&f->head, &m.c, lat_input_name(in));
    if (code == LAT_DONE && lat_measure_gauge(f, &m.c, &m.state, NULL, NULL))
        code = LAT_FAILED;
    if (code == LAT_DONE)
        code = lat_require_gauge(&f->head, &m.c, &m.state, lat_input_name(in), config);
    if (code == LAT_DONE)
        code = compute(&m, lat_input_name(in));
    lat_progress_end();
    if (code == LAT_DONE)
        code = lat_ghost_print(text, in, &m);
    measured_free(&m);
    return code;
}

static int all(lat_input *in, FILE *text) { return lat_print_links(in, text, one, false); }

int main(int argc, char **argv)
{
    lat_require_theta = 1e-10;
    lat_options_parse(&tool, argc, argv);
    if (modes
        && (point || lat_opt_given("momenta") || lat_opt_given("orbits")
            || lat_opt_given("residual")))
        lat_usage("--modes measures eigenvalues: --momenta, --orbits, --point and --residual are "
                  "for the propagator");
    lat_usage_for("accuracy", modes, "--modes, and there is no --modes");
    if (lat_device_begin(&device, lat_opts.comm)
        || !(opened = lat_device_open(&device, lat_opts.comm)))
        return lat_report(LAT_FAILED);
    const int code = lat_print_run(all, NULL);
    lat_device_close(opened);
    lat_device_end();
    return code;
}
