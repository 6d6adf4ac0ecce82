/* SPDX-License-Identifier: BSD-3-Clause */
/* newton.c: Newton's method near a maximum. What is done at a site: newton_site.h. */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "fourier/laplace_gpu.h"
#include "lattice/transform.h"
#include "newton_internal.h"

/* theta so near to a saddle, or a maximum, that the functional is quadratic there. */
#define BESIDE 1e-6

/* ---- opening --------------------------------------------------------------------------------- */

int lat_newton_check(const lat_device *dev, const lat_field *u, const lat_condition *c)
{
    lat_geometry unit = {0, {1, 1, 1, 1}};
    if (!dev->gpu && !lat_laplace_single_built)
        return lat_fail("Newton's method needs FFTW in single precision (libfftw3f), and this "
                        "program was built without it");
    if (lat_gauge_table[c->gauge].problem != LAT_LINEAR)
        return lat_fail("Newton's method is here for Landau and Coulomb gauge, not for %s",
                        lat_gauge_table[c->gauge].title);
    if (u->head.nc > LAT_NEWTON_MOST)
        return lat_fail("Newton's method is here for SU(2) to SU(%d), found SU(%d)",
                        LAT_NEWTON_MOST, u->head.nc);
    if (dev->comm->size > 1)
        return lat_fail("Newton's method runs on one rank, found %d", dev->comm->size);
    for (int mu = 0; mu < u->head.geom.nd; mu++) {
        if (mu == c->time)
            continue;
        if (!(c->weight[mu] > 0))
            return lat_fail("Newton's method needs weights above 0, found %g along %c",
                            c->weight[mu], "xyzt"[mu]);
        unit.dims[unit.nd++] = u->head.geom.dims[mu];
    }
    return dev->gpu ? lat_laplace_gpu_check(&unit, true) : 0;
}

/* Links and g on the device of the operator. */
static int open_fields(lat_newton *n, const lat_field *u, const char *what)
{
    lat_newton_fields *f = &n->fields;
    const lat_ghost *m = n->m;
    const size_t links = m->sites * (size_t)m->directions * lat_ghost_link(m) * sizeof(double);
    n->g_bytes = m->sites * lat_ghost_link(m) * sizeof(double);
    n->x = lat_ghost_vector(m, what);
    n->r = lat_ghost_vector(m, what);
    *f = (lat_newton_fields){.u = u, .gradient = n->r, .step = n->x};
    for (int i = 0; i < 2; i++)
        f->g[i] = lat_ghost_alloc(m, n->g_bytes, what);
    if (m->gpu)
        f->there = lat_ghost_gpu_upload(m->gpu, u);
    else
        f->links = lat_ghost_alloc(m, links, what);
    return n->x && n->r && f->g[0] && f->g[1] && (f->there || f->links) ? 0 : -1;
}

static int open_all(lat_newton *n, lat_device *dev, const lat_field *u, const lat_condition *c)
{
    static const char what[] = "Newton's method";
    n->nc = u->head.nc;
    n->weights = lat_condition_weights(c);
    if (!(n->m = lat_ghost_new_on(dev, u, c, 0)))
        return -1;
    n->units = n->m->units;
    n->sites = lat_ghost_unit_sites(n->m);
    n->unit = lat_alloc((size_t)n->units, sizeof *n->unit, what);
    n->idle = lat_alloc((size_t)n->units, sizeof *n->idle, what);
    n->now = lat_alloc((size_t)n->units, sizeof *n->now, what);
    n->system = lat_alloc((size_t)n->units, sizeof *n->system, what);
    n->coefficients = lat_alloc((size_t)n->units, sizeof *n->coefficients, what);
    return n->unit && n->idle && n->now && n->system && n->coefficients ? open_fields(n, u, what)
                                                                        : -1;
}

lat_newton *lat_newton_open(lat_device *dev, const lat_field *u, const lat_condition *c)
{
    if (lat_newton_check(dev, u, c))
        return NULL;
    lat_newton *n = lat_alloc_zero(1, sizeof *n, "Newton's method");
    if (!n || open_all(n, dev, u, c) == 0)
        return n;
    lat_newton_close(n);
    return NULL;
}

void lat_newton_close(lat_newton *n)
{
    if (!n)
        return;
    if (n->m) {
        double *const held[] = {n->x, n->r, n->fields.g[0], n->fields.g[1], n->fields.links};
        for (size_t i = 0; i < sizeof held / sizeof *held; i++)
            lat_ghost_vector_free(n->m, held[i]);
    }
    lat_ghost_free(n->m);
    LAT_FREE(n->unit, n->idle, n->now, n->system, n->coefficients, n);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static int pass(lat_newton *n, lat_ghost_pass_name name, const double *scale, int numbers,
                double *sums)
{
    const lat_ghost_call c = {.a = scale, .newton = &n->fields, .now = n->now, .idle = n->idle};
    return lat_ghost_run(n->m, name, &c, numbers, sums);
}

/* g as the sweeps have it on the GPU. */
static int take(lat_newton *n, lat_fixer *from, int copy)
{
    const struct lat_dfield *g = lat_fix_transformations(from);
    return lat_rc(!g || lat_ghost_gpu_take(g, copy, n->fields.g[0])
                  || pass(n, LAT_GHOST_PROJECT, NULL, 0, NULL));
}

int lat_newton_begin(lat_newton *n, lat_fixer *from, int copy, lat_field *g)
{
    for (int i = 0; i < n->units; i++)
        n->idle[i] = n->now[i] = false;
    if (from && n->m->gpu)
        return take(n, from, copy);
    if (from && (lat_fix_get(from, copy, g) || lat_transform_project(g)))
        return -1;
    return lat_ghost_move(n->m, n->fields.g[0], g->data, n->g_bytes);
}

int lat_newton_gradient(lat_newton *n, bool next, double *sums)
{
    n->fields.next = next;
    return lat_rc((n->fields.links && pass(n, LAT_GHOST_ROTATE, NULL, 0, NULL))
                  || pass(n, LAT_GHOST_GRADIENT, NULL, 2, sums));
}

/* The result in g; or in the sweeps again, if `back`. */
static int end(lat_newton *n, lat_fixer *from, int copy, lat_field *g, bool back)
{
    for (int i = 0; i < n->units; i++)
        n->idle[i] = !n->now[i];
    return lat_rc(pass(n, LAT_GHOST_KEEP, NULL, 0, NULL)
                  || (n->m->gpu
                          ? lat_ghost_gpu_fetch(n->m->gpu, g->data, n->fields.g[0], n->g_bytes)
                          : lat_ghost_move(n->m, g->data, n->fields.g[0], n->g_bytes))
                  || (back && lat_fix_set(from, copy, g)));
}

/* theta of |A|^2. */
static double theta_of(const lat_newton *n, double square)
{
    /* Delta is twice A (site/landau.h). */
    return 4 * square / (n->nc * n->sites);
}

/* ---- the lowest Ritz value ------------------------------------------------------------------- */

/* How many eigenvalues of the tridiagonal matrix, d[n] and off[n-1], are below x (Sturm). */
static int below(int n, const double *d, const double *off, double x)
{
    int count = 0;
    double pivot = 1;
    for (int i = 0; i < n; i++) {
        pivot = d[i] - x - (i ? off[i - 1] * off[i - 1] / pivot : 0);
        if (pivot == 0)
            pivot = -1e-300;
        count += pivot < 0;
    }
    return count;
}

/* The lowest eigenvalue of Lanczos' matrix of L^-1/2 M L^-1/2, which conjugate gradients make with
 * their coefficients a[n], b[n-1] (Saad, Iterative Methods for Sparse Linear Systems, 6.7.3). */
static double lowest_ritz(int n, const double *a, const double *b)
{
    double d[LAT_GHOST_COEFFICIENTS], off[LAT_GHOST_COEFFICIENTS], low = INFINITY, high = INFINITY;
    for (int i = 0; i < n; i++) {
        d[i] = 1 / a[i] + (i ? b[i - 1] / a[i - 1] : 0);
        off[i] = i + 1 < n ? sqrt(b[i]) / fabs(a[i]) : 0;
    }
    for (int i = 0; i < n; i++) { /* Gershgorin's discs; no diagonal element is below */
        low = fmin(low, d[i] - off[i] - (i ? off[i - 1] : 0));
        high = fmin(high, d[i]);
    }
    for (int k = 0; k < 60 && n > 0; k++) {
        const double middle = 0.5 * (low + high);
        if (below(n, d, off, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* |r|^2 that ends a solve, in units of |A|^2. */
static double tolerance(const lat_newton *n, const lat_newton_unit *u, double target)
{
    const double theta = theta_of(n, u->square), eta = fmin(0.1, 10 * sqrt(theta));
    return fmax(eta * eta, 0.2 * target / theta);
}

/* After a solve, with the sums of the gradient of exp(s) g: is that to be taken for g? *busy: is
 * another step to follow? */
static bool judge(const lat_newton *n, lat_newton_unit *u, const lat_ghost_system *c,
                  const double sums[2], double target, bool *busy)
{
    const double theta = theta_of(n, u->square), after = theta_of(n, sums[1]),
                 gain = c->gain * u->square, norm = sqrt(c->xx * u->square);
    /* Where the gain is lost in the rounding of the functional theta decides. */
    const double rho = gain > 1e-11 * fabs(u->share) / 2 ? (sums[0] - u->share) / 2 / gain
                       : after < theta                   ? 1
                                                         : 0;
    u->iterations += c->iterations;
    u->ritz = fmin(u->ritz,
                   lowest_ritz((int)c->iterations, c->coefficients->alpha, c->coefficients->beta));
    u->saddle = c->saddle;
    u->delta = c->delta * sqrt(u->square);
    *busy = false;
    if (rho < 0.25)
        u->delta = norm / 4;
    else if (rho > 0.75 && c->bound)
        u->delta *= 2.5;
    if (!(rho >= 0.05))
        return false;
    u->steps++;
    u->share = sums[0];
    u->square = sums[1];
    /* Close to a saddle steps end at the boundary, and theta rises: the functional tells whether
     * they are good, and the trust region grows. Sweeps would take hundreds to leave it. Where
     * theta is larger they decide to which maximum. */
    *busy = rho >= 0.5 && (after <= theta / 2 ? !c->saddle : c->bound && after < BESIDE)
            && after >= target && u->steps < LAT_NEWTON_STEPS;
    return true;
}

/* M s = -A of units that are not idle, A being in n->r: s / |A| to n->x. In units of |A|, as single
 * precision has no small numbers: r <- - r / |A| + x, and x is 0. */
static int solve(lat_newton *n, double target, double *scale)
{
    const lat_ghost_call begin = {.in = n->x, .out = n->r, .b = scale, .idle = n->idle};
    lat_ghost_report report;
    for (int i = 0; i < n->units; i++) {
        const lat_newton_unit *u = &n->unit[i];
        const double size = sqrt(u->square);
        scale[i] = n->idle[i] ? 0 : -1 / (M_SQRT2 * size);
        n->system[i] = (lat_ghost_system){.active = !n->idle[i],
                                          .rr = INFINITY,
                                          .target = n->idle[i] ? 0 : tolerance(n, u, target),
                                          .delta = n->idle[i] ? 0 : u->delta / size,
                                          .coefficients = &n->coefficients[i]};
    }
    return lat_rc(lat_ghost_zero(n->m, n->x)
                  || lat_ghost_run(n->m, LAT_GHOST_EXTEND, &begin, 0, NULL)
                  || lat_ghost_cg(n->m, n->x, n->r, n->system, LAT_GHOST_COEFFICIENTS, 0, &report));
}

/* A step of each unit that is not idle; numbers[units][2] is work space. */
static int step(lat_newton *n, double target, double *numbers)
{
    if (solve(n, target, numbers))
        return -1;
    for (int i = 0; i < n->units; i++)
        numbers[i] = M_SQRT2 * sqrt(n->unit[i].square);
    if (pass(n, LAT_GHOST_STEP, numbers, 0, NULL) || lat_newton_gradient(n, true, numbers))
        return -1;
    for (int i = 0; i < n->units; i++) {
        bool busy;
        if (n->idle[i])
            continue;
        n->now[i] = judge(n, &n->unit[i], &n->system[i], &numbers[2 * i], target, &busy)
                    != n->now[i];
        n->idle[i] = !busy;
    }
    return 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool all_idle(const lat_newton *n)
{
    for (int i = 0; i < n->units; i++)
        if (!n->idle[i])
            return false;
    return true;
}

/* The gradient of g, of all units, of which those above theta have something to do. */
static int start(lat_newton *n, double theta, double *numbers)
{
    for (int i = 0; i < n->units; i++) {
        n->unit[i] = (lat_newton_unit){.ritz = INFINITY};
    }
    if (lat_newton_gradient(n, false, numbers))
        return -1;
    for (int i = 0; i < n->units; i++) {
        n->unit[i].share = numbers[2 * i];
        n->unit[i].square = numbers[2 * i + 1];
        n->idle[i] = theta_of(n, n->unit[i].square) < theta;
    }
    return 0;
}

/* What was done, and the state of all units. Returns whether all are below theta. */
static bool conclude(const lat_newton *n, double theta, lat_newton_report *report,
                     lat_gauge_state *s, double *slices)
{
    const double per = 2 * n->nc * n->weights * n->sites;
    *report = (lat_newton_report){.slices = n->units, .ritz = INFINITY, .ended_ritz = INFINITY};
    *s = (lat_gauge_state){0};
    for (int i = 0; i < n->units; i++) {
        const lat_newton_unit *u = &n->unit[i];
        slices[i] = theta_of(n, u->square);
        const bool ended = slices[i] < theta;
        report->converged += ended;
        report->saddles += u->saddle;
        report->steps += u->steps;
        report->iterations += (int)u->iterations;
        report->ritz = fmin(report->ritz, u->ritz);
        if (ended)
            report->ended_ritz = fmin(report->ended_ritz, u->ritz);
        s->functional += u->share / per / n->units;
        s->theta += slices[i] / n->units;
        s->theta_slice = fmax(s->theta_slice, slices[i]);
    }
    return report->converged == report->slices;
}

int lat_newton_run(lat_newton *n, lat_fixer *from, int copy, lat_field *g, double theta,
                   lat_newton_report *report, lat_gauge_state *s, double *slices)
{
    double *numbers = lat_alloc((size_t)n->units, 2 * sizeof *numbers, "Newton's method");
    int rc = !numbers || lat_newton_begin(n, from, copy, g) || start(n, theta, numbers) ? -1 : 0;
    while (rc == 0 && !all_idle(n))
        rc = step(n, theta, numbers);
    if (rc == 0) {
        const bool ended = conclude(n, theta, report, s, slices);
        rc = end(n, from, copy, g, from && !ended);
    }
    free(numbers);
    return rc;
}
