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
#include "common/text.h"
#include "formats/fields.h"
#include "ghost/ghost.h"
#include "grid/device.h"
#include "lattice/anisotropy.h"
#include "lattice/boundary.h"
#include "measure/measure.h"
#include "run/common/device_options.h"
#include "run/common/gauge_options.h"
#include "run/common/tool.h"
#include "stream/stream.h"

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
     "momenta 2 pi n/L with n^2 up to a number, or a list 1,0,0,0/0,0,0,1/..", false},
    {LAT_OPT_CHOICE, "orbits", 0, "one|all", &orbits, 0, 0,
     "momenta that reflections and exchanges of equal axes make equal: compute one of them, or "
     "all; n and -n have the same G, and count as one",
     false},
    {LAT_OPT_TEXT, "point", 0, "X,Y,Z,T", &point, 0, 0,
     "use one point source for all momenta (default: a plane wave for each, exact)", false},
    {LAT_OPT_INT, "modes", 0, "K", &modes, 1, MOST_MODES,
     "measure the K lowest eigenvalues instead, in Coulomb gauge of each slice (default: none)",
     false},
    LAT_HEADING("Solver"),
    {LAT_OPT_REAL, "residual", 0, "X", &residual, 1e-14, 1,
     "solve until |b - M x| / |b| of each column is below X", false},
    {LAT_OPT_REAL, "accuracy", 0, "X", &accuracy, 1e-12, 1,
     "iterate until |M v - lambda v| of each mode is below X |lambda|", false},
    {LAT_OPT_INT, "max-iterations", 0, "N", &max_iterations, 1, 1e9,
     "give up after N iterations, exit 3", false},
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
    .example = "lat-orelax --theta 1e-20 cfg.0100.lat | lat-ghost --tsv --momenta 4",
    .options = options,
    .max_files = 1 << 20,
    .common = LAT_HAS_INPUT | LAT_HAS_THREADS | LAT_HAS_QUIET,
    .start = lat_comm_start,
};

/* A row: a momentum, or a mode of a slice. */
typedef struct row {
    int n[LAT_MAX_DIMS], slice, mode;
    double k2, value, residual; /* value: G, or lambda */
} row;

typedef struct measured {
    const lat_field *f;
    lat_condition c;
    lat_gauge_state state;
    lat_ghost *m;
    long config;
    bool several;
    row *rows;
    int count;
    lat_ghost_report report; /* iterations of all */
    double *b, *x, *number;  /* two vectors; number[units * columns] */
} measured;

/* ---- momenta ----------------------------------------------------------------------------------
 */

/* sum_mu w_mu 4 sin^2(pi n_mu / L_mu). */
static double k_squared(const measured *m, const int *n)
{
    double sum = 0;
    for (int mu = 0; mu < m->f->head.geom.nd; mu++) {
        const double s = 2 * sin(M_PI * n[mu] / m->f->head.geom.dims[mu]);
        sum += m->c.weight[mu] * s * s;
    }
    return sum;
}

static bool alike(const measured *m, int i, int j)
{
    return m->f->head.geom.dims[i] == m->f->head.geom.dims[j] && i != m->c.time && j != m->c.time
           && m->c.weight[i] == m->c.weight[j];
}

/* Is n the one that stands for others? Of n and -n that whose first component which is not its own
 * negative is positive; of an orbit that without negative components, falling along axes alike. */
static bool stands(const measured *m, const int *n)
{
    const lat_geometry *geom = &m->f->head.geom;
    for (int i = 0; i < geom->nd; i++)
        for (int j = i; j < geom->nd && orbits == ONE; j++)
            if (n[i] < 0 || (alike(m, i, j) && n[i] < n[j]))
                return false;
    for (int i = 0; i < geom->nd; i++)
        if (n[i] != 0 && 2 * n[i] != geom->dims[i])
            return n[i] > 0;
    return true;
}

static int compare(const void *left, const void *right)
{
    const row *a = left, *b = right;
    if (fabs(a->k2 - b->k2) > 1e-12 * a->k2)
        return a->k2 < b->k2 ? -1 : 1;
    return -memcmp(a->n, b->n, sizeof a->n);
}

/* The next n of a cube -(size) .. size in all directions but time; false after the last. */
static bool next(const measured *m, int size, int *n)
{
    for (int mu = 0; mu < m->f->head.geom.nd; mu++) {
        if (mu == m->c.time)
            continue;
        if (n[mu]++ < size)
            return true;
        n[mu] = -size;
    }
    return false;
}

/* Is n in the Brillouin zone, not zero, n^2 at most `most`? */
static bool inside(const measured *m, const int *n, int most)
{
    int square = 0;
    for (int mu = 0; mu < m->f->head.geom.nd; mu++) {
        const int extent = m->f->head.geom.dims[mu];
        if (2 * n[mu] > extent || 2 * n[mu] <= -extent)
            return false;
        square += n[mu] * n[mu];
    }
    return square > 0 && square <= most;
}

static int momenta_below(measured *m, int most)
{
    const int size = (int)sqrt(most);
    for (int pass = 0; pass < 2; pass++) {
        int n[LAT_MAX_DIMS] = {0};
        for (int mu = 0; mu < m->f->head.geom.nd; mu++)
            n[mu] = mu == m->c.time ? 0 : -size;
        m->count = 0;
        do {
            if (!inside(m, n, most) || !stands(m, n))
                continue;
            if (pass)
                memcpy(m->rows[m->count].n, n, sizeof n);
            m->count++;
        } while (next(m, size, n));
        if (pass == 0 && !(m->rows = calloc((size_t)m->count + 1, sizeof *m->rows)))
            return lat_fail("out of memory: %d momenta", m->count);
    }
    return m->count > 0
               ? 0
               : lat_fail("--momenta %s: the lattice has no momentum but 0 there", momenta);
}

/* "1,0,0,0" or more of them, with "/" between. */
static int momenta_listed(measured *m)
{
    const lat_geometry *geom = &m->f->head.geom;
    const int nd = geom->nd;
    size_t most = 1;
    for (const char *c = momenta; *c; c++)
        most += *c == '/';
    if (!(m->rows = calloc(most, sizeof *m->rows)))
        return lat_fail("out of memory: momenta");
    const char *at = momenta;
    for (m->count = 0; (size_t)m->count < most; m->count++, at++) {
        int *n = m->rows[m->count].n;
        for (int mu = 0; mu < nd; mu++, at += mu < nd) {
            char *end;
            const long value = strtol(at, &end, 10);
            if (end == at || value < -65535 || value > 65535
                || *end
                       != (mu + 1 < nd                   ? ','
                           : (size_t)m->count + 1 < most ? '/'
                                                         : '\0'))
                return lat_fail_usage("--momenta %s: expected a number, or %d integers with commas "
                                      "between for each momentum and / between these",
                                      momenta, nd);
            n[mu] = (int)value;
            at = end;
        }
        if (!(k_squared(m, n) > 1e-12) || (m->c.time >= 0 && n[m->c.time]))
            return lat_fail_usage(
                "--momenta %s: momentum number %d is 0%s, where G is not defined", momenta,
                m->count + 1, m->c.time < 0 ? "" : " in a slice, or has a component along time");
        for (int i = 0; i < m->count; i++)
            if (lat_same_modulo(geom, nd, m->rows[i].n, n))
                return lat_fail_usage("--momenta %s: expected different momenta modulo the "
                                      "extents, found numbers %d and %d the same",
                                      momenta, i + 1, m->count + 1);
    }
    return 0;
}

static int make_momenta(measured *m)
{
    char *end;
    const long most = strtol(momenta, &end, 10);
    const bool number = end != momenta && !*end;
    if (number && (most < 1 || most > 1000))
        return lat_fail_usage("--momenta %s: expected n^2 from 1 to 1000", momenta);
    if (!number && lat_opt_given("orbits"))
        return lat_fail_usage("--orbits is for momenta with n^2 up to a number, not for a list, "
                              "found --momenta %s",
                              momenta);
    if (number ? momenta_below(m, (int)most) : momenta_listed(m))
        return -1;
    for (int i = 0; i < m->count; i++)
        m->rows[i].k2 = k_squared(m, m->rows[i].n);
    if (number)
        qsort(m->rows, (size_t)m->count, sizeof *m->rows, compare);
    return 0;
}

/* ---- solutions --------------------------------------------------------------------------------
 */

/* Why a configuration has no numbers: exit code 3. */
static int unconverged(const measured *m, const char *name, const lat_ghost_report *r)
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
static int solve(measured *m, const lat_ghost_column *column, const char *name)
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
static lat_ghost_column wave(const measured *m, int k, int *momentum)
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
static int plane_waves(measured *m, const char *name)
{
    const int columns = lat_ghost_columns(m->m), units = lat_ghost_units(m->m),
              all = m->count * 2 * lat_ghost_colours(m->m);
    const double scale = 1 / (lat_ghost_colours(m->m) * lat_ghost_unit_sites(m->m) * (double)units);
    for (int first = 0; first < all; first += columns) {
        lat_ghost_column column[MOST_PACKS * LAT_GHOST_PACK];
        int of[MOST_PACKS * LAT_GHOST_PACK];
        for (int k = 0; k < columns; k++)
            column[k] = wave(m, first + k, &of[k]);
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
static int project_point(measured *m, const lat_ghost_column *column, row *r)
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

static int from_point(measured *m, const char *name)
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

/* ---- modes ------------------------------------------------------------------------------------
 */

static int lowest(measured *m, const char *name)
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
            m->rows[m->count++] = (row){
                .slice = unit, .mode = k, .value = lambda[i], .residual = m->number[i]};
            if (!(m->number[i] <= 1.01 * accuracy * fabs(lambda[i]) + 1e-14)) {
                m->report.residual = m->number[i] / fabs(lambda[i]);
                code = unconverged(m, name, &m->report);
            }
        }
    free(lambda);
    return code;
}

/* ---- printing ---------------------------------------------------------------------------------
 */

static void print_text(FILE *to, const measured *m, const char *called)
{
    const int nd = m->f->head.geom.nd;
    lat_report_text(to, "configuration", m->config, m->several);
    lat_lattice_text(to, &m->f->head.geom, m->f->head.nc);
    fprintf(to, "gauge          %s, theta %.6g%s\n", called, m->state.theta,
            lat_gauge_is_off(&m->state) ? ", which is not in it (--force)" : "");
    fprintf(to, "source         %s%s\n",
            modes   ? "none: lowest eigenvalues"
            : point ? "point "
                    : "plane waves",
            !modes && point ? point : "");
    if (modes)
        fprintf(to, "\n%-8s %6s %20s %12s\n", "slice", "mode", "eigenvalue", "residual");
    else
        fprintf(to, "\n%-16s %10s %18s %10s %10s\n", "momentum", "k^2", "G", "k^2 G", "residual");
    for (int i = 0; i < m->count; i++) {
        const row *r = &m->rows[i];
        char text[64];
        int n = 0;
        for (int mu = 0; mu < nd; mu++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", mu ? "," : "", r->n[mu]);
        if (modes)
            fprintf(to, "%-8d %6d %20.13g %12.3g\n", r->slice, r->mode, r->value, r->residual);
        else
            fprintf(to, "%-16s %10.6f %18.12g %10.6f %10.3g\n", text, r->k2, r->value,
                    r->k2 * r->value, r->residual);
    }
}

static void print_tsv(FILE *to, const measured *m, const char *called)
{
    if (lat_report_heading()) {
        fprintf(to, "configuration\t%s\tresidual\tgauge\ttheta\t" LAT_LATTICE_COLUMNS "\tforced",
                modes ? "slice\tmode\tvalue" : "kx\tky\tkz\tkt\tk2\tG");
        lat_report_end_heading(to);
    }
    for (int i = 0; i < m->count; i++) {
        const row *r = &m->rows[i];
        fprintf(to, "%ld\t", m->config);
        if (modes)
            fprintf(to, "%d\t%d", r->slice, r->mode);
        else
            fprintf(to, "%d\t%d\t%d\t%d\t%.17g", r->n[0], r->n[1], r->n[2], r->n[3], r->k2);
        fprintf(to, "\t%.17g\t%.3g\t%s\t%.17g", r->value, r->residual, called, m->state.theta);
        lat_lattice_tsv(to, &m->f->head.geom, m->f->head.nc);
        fprintf(to, "\t%d", lat_gauge_is_off(&m->state));
        lat_report_end_row(to);
    }
}

static void print_row(FILE *to, const measured *m, const row *r)
{
    if (modes) {
        fprintf(to, "{\"slice\": %d, \"mode\": %d", r->slice, r->mode);
        lat_json_pair(to, "value", r->value);
    } else {
        fputs("{\"momentum\": [", to);
        for (int mu = 0; mu < m->f->head.geom.nd; mu++)
            fprintf(to, "%s%d", mu ? ", " : "", r->n[mu]);
        fputs("]", to);
        lat_json_pair(to, "k2", r->k2);
        lat_json_pair(to, "G", r->value);
    }
    lat_json_pair(to, "residual", r->residual);
    fputc('}', to);
}

static void print_json(FILE *to, const measured *m, const char *called)
{
    lat_report_json(to);
    if (m->several)
        fprintf(to, "\"configuration\": %ld, ", m->config);
    fprintf(to, "\"gauge\": \"%s\"", called);
    lat_json_pair(to, "theta", m->state.theta);
    fprintf(to, ", \"forced\": %s", lat_gauge_is_off(&m->state) ? "true" : "false");
    lat_lattice_json(to, &m->f->head.geom, m->f->head.nc);
    fprintf(to, ", \"iterations\": %ld", m->report.iterations);
    lat_json_key(to, false, modes ? "modes" : "propagator");
    fputc('[', to);
    for (int i = 0; i < m->count; i++) {
        fputs(i ? ", " : "", to);
        print_row(to, m, &m->rows[i]);
    }
    fputs("]}\n", to);
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* Columns that are solved side by side: a momentum of SU(3), 16, or as many as there are. */
static int packs_for(const measured *m, int colours)
{
    const int columns = modes   ? (int)modes + GUARD
                        : point ? colours
                                : 2 * colours * m->count,
              most = modes ? MOST_PACKS : 2,
              packs = (columns + LAT_GHOST_PACK - 1) / LAT_GHOST_PACK;
    return packs < most ? packs : most;
}

/* Of all configurations. */
static lat_device *opened, *cpu; /* cpu: in place of a GPU that cannot */

static int compute(measured *m, const char *name)
{
    const int colours = m->f->head.nc * m->f->head.nc - 1;
    /* Other weights are for anisotropic lattices, and so are slices across their axis. */
    const int axis = lat_anisotropy_axis(&m->f->head);
    const bool all_alike = axis < 0
                           || (m->c.time >= 0 ? m->c.time != axis
                                              : m->c.weight[axis] == m->c.weight[axis ? 0 : 1]);
    if (!modes
        && ((all_alike && lat_anisotropy_none(&m->f->head, name))
            || lat_boundary_closed(&m->f->head, m->c.time, "momenta", name) || make_momenta(m)))
        return LAT_FAILED;
    lat_device *on = lat_device_or_cpu_said(opened, &device, lat_ghost_check(opened, m->f), &cpu);
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

static void measured_free(measured *m)
{
    if (m->m) {
        lat_ghost_vector_free(m->m, m->b);
        lat_ghost_vector_free(m->m, m->x);
    }
    lat_ghost_free(m->m);
    free(m->rows);
    free(m->number);
}

static int print(FILE *to, const measured *m)
{
    char called[LAT_CONDITION_TEXT];
    lat_condition_text(&m->c, &m->f->head.geom, called);
    if (lat_print_opts.tsv)
        print_tsv(to, m, called);
    else if (lat_print_opts.json)
        print_json(to, m, called);
    else
        print_text(to, m, called);
    return fflush(to) ? LAT_FAILED : LAT_DONE;
}

/* One configuration: an exit code. */
static int one(const lat_field *f, lat_input *in, FILE *text, long config)
{
    measured m = {.f = f, .config = config};
    int more;
    if (lat_gauge_condition_linear(&f->head, &m.c, lat_input_name(in))
        || lat_measure_gauge(f, &m.c, &m.state, NULL, NULL))
        return LAT_FAILED;
    int code = lat_require_gauge(&f->head, &m.c, &m.state, lat_input_name(in), config);
    if (code == LAT_DONE)
        code = compute(&m, lat_input_name(in));
    lat_progress_end();
    if (code == LAT_DONE && (more = lat_fields_more(in)) < 0)
        code = LAT_FAILED;
    if (code == LAT_DONE) {
        m.several = config > 0 || more > 0;
        code = print(text, &m);
    }
    measured_free(&m);
    return code;
}

static int all(lat_input *in, FILE *text)
{
    lat_field f;
    int rc, code = LAT_DONE;
    for (long config = 0; code == LAT_DONE && (rc = lat_fields_read_links(in, &f)) != 0; config++) {
        code = rc < 0 ? LAT_FAILED : one(&f, in, text, config);
        if (rc > 0)
            lat_field_free(&f);
    }
    return code;
}

int main(int argc, char **argv)
{
    lat_require_theta = 1e-10;
    lat_options_parse(&tool, argc, argv);
    if (modes
        && (point || lat_opt_given("momenta") || lat_opt_given("orbits")
            || lat_opt_given("residual")))
        lat_usage("--modes measures eigenvalues: --momenta, --orbits, --point and --residual are "
                  "for the propagator");
    if (!modes && lat_opt_given("accuracy"))
        lat_usage("--accuracy is for --modes, and there is no --modes");
    if (lat_device_begin(&device, lat_opts.comm)
        || !(opened = lat_device_open(&device, lat_opts.comm)))
        return lat_report(LAT_FAILED);
    const int code = lat_print_run(all, NULL);
    lat_device_close(cpu);
    lat_device_close(opened);
    lat_device_end();
    return code;
}
