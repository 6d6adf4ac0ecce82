/* SPDX-License-Identifier: BSD-3-Clause */
/* newton.c: Newton's method near a maximum: what CPU and GPU share. */
#include "newton_internal.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "fourier/laplace_single.h"
#include "newton_lanes.h"

/* theta so near to a saddle, or a maximum, that the functional is quadratic there. */
#define BESIDE 1e-6

/* ---- opening --------------------------------------------------------------------------------- */

/* The lattice of a unit. */
static lat_geometry unit_of(const lat_geometry *geom, int time)
{
    lat_geometry unit = {0, {1, 1, 1, 1}};
    for (int mu = 0; mu < geom->nd; mu++)
        if (mu != time)
            unit.dims[unit.nd++] = geom->dims[mu];
    return unit;
}

int lat_newton_check(const lat_device *dev, const lat_field *u, const lat_condition *c)
{
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
    for (int mu = 0; mu < u->head.geom.nd; mu++)
        if (mu != c->time && !(c->weight[mu] > 0))
            return lat_fail("Newton's method needs weights above 0, found %g along %c",
                            c->weight[mu], "xyzt"[mu]);
    const lat_geometry unit = unit_of(&u->head.geom, c->time);
    return dev->gpu ? lat_newton_gpu_check(&unit) : 0;
}

lat_newton *lat_newton_open(lat_device *dev, const lat_field *u, const lat_condition *c)
{
    return lat_newton_check(dev, u, c) ? NULL
           : dev->gpu                  ? lat_newton_gpu(dev, u, c)
                                       : lat_newton_cpu(dev, u, c);
}

void lat_newton_close(lat_newton *n)
{
    if (n)
        n->side->close(n);
}

double lat_newton_theta(const lat_newton *n, double square)
{
    /* Delta is twice A (site/landau.h). */
    return 4 * square / (n->nc * (double)n->sites);
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
    double d[LAT_NEWTON_ITERATIONS], off[LAT_NEWTON_ITERATIONS], low = INFINITY, high = INFINITY;
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

double lat_newton_tolerance(const lat_newton *n, const lat_newton_unit *u, double target)
{
    const double theta = lat_newton_theta(n, u->square), eta = fmin(0.1, 10 * sqrt(theta));
    return fmax(eta * eta, 0.2 * target / theta);
}

bool lat_newton_judge(const lat_newton *n, lat_newton_unit *u, const lat_newton_cg *c,
                      const double sums[2], double target)
{
    const double theta = lat_newton_theta(n, u->square), after = lat_newton_theta(n, sums[1]),
                 gain = c->gain * u->square, norm = sqrt(c->ss * u->square);
    /* Where the gain is lost in the rounding of the functional theta decides. */
    const double rho = gain > 1e-11 * fabs(u->share) / 2 ? (sums[0] - u->share) / 2 / gain
                       : after < theta                   ? 1
                                                         : 0;
    u->iterations += c->k;
    u->ritz = fmin(u->ritz, lowest_ritz(c->k, c->a, c->beta));
    u->saddle = c->saddle;
    u->busy = false;
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
    u->busy = rho >= 0.5 && (after <= theta / 2 ? !c->saddle : c->bound && after < BESIDE)
              && after >= target && u->steps < LAT_NEWTON_STEPS;
    return true;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void report_unit(const lat_newton *n, const lat_newton_unit *u, double target,
                        lat_newton_report *report)
{
    const bool ended = lat_newton_theta(n, u->square) < target;
    report->converged += ended;
    report->saddles += u->saddle;
    report->steps += u->steps;
    report->iterations += u->iterations;
    report->ritz = fmin(report->ritz, u->ritz);
    if (ended)
        report->ended_ritz = fmin(report->ended_ritz, u->ritz);
}

/* The state of all units. */
static void state_of(const lat_newton *n, const lat_newton_unit *u, lat_gauge_state *s)
{
    const double per = 2 * n->nc * lat_condition_weights(&n->condition) * (double)n->sites;
    *s = (lat_gauge_state){0};
    for (int i = 0; i < n->units; i++) {
        const double theta = lat_newton_theta(n, u[i].square);
        s->functional += u[i].share / per / n->units;
        s->theta += theta / n->units;
        s->theta_slice = fmax(s->theta_slice, theta);
    }
}

bool lat_newton_ended(const lat_newton *n, const lat_newton_unit *u, double theta)
{
    bool all = true;
    for (int i = 0; i < n->units; i++)
        all = all && lat_newton_theta(n, u[i].square) < theta;
    return all;
}

int lat_newton_run(lat_newton *n, lat_fixer *from, int copy, lat_field *g, double theta,
                   lat_newton_report *report, lat_gauge_state *s, double *slices)
{
    *report = (lat_newton_report){.slices = n->units, .ritz = INFINITY, .ended_ritz = INFINITY};
    lat_newton_unit *u = lat_alloc((size_t)n->units, sizeof *u, "Newton's method");
    for (int i = 0; u && i < n->units; i++)
        u[i] = (lat_newton_unit){.busy = true, .ritz = INFINITY};
    const int rc = u ? n->side->run(n, from, copy, g, u, theta) : -1;
    for (int i = 0; rc == 0 && i < n->units; i++) {
        report_unit(n, &u[i], theta, report);
        slices[i] = lat_newton_theta(n, u[i].square);
    }
    if (rc == 0)
        state_of(n, u, s);
    free(u);
    return rc;
}

int lat_newton_apply(lat_newton *n, lat_field *g, float *out, const float *in)
{
    return n->side->apply(n, g, out, in);
}

int lat_newton_precondition(lat_newton *n, float *v, double *dot)
{
    return n->side->precondition(n, v, dot);
}
