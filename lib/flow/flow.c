/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.c: the integrator of the gradient flow. */
#include "flow.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "flow_internal.h"
#include "lattice/boundary.h"
#include "lattice/iterate.h"

/* ---- links to start from --------------------------------------------------------------------- */

/* Farther than this from SU(N), a link is no result of rounding in double. */
#define ROUNDED 1e-13

/* How many links are farther; or, with `mend`, the number of those that cannot be mended. */
static long far_links(lat_field *u, bool mend)
{
    const int n = u->head.nc;
    long count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (size_t i = 0; i < lat_field_matrices(u); i++) {
        double m[LAT_SUN_REALS], det[2];
        lat_load(u, i, n, m);
        lat_sun_det(n, m, det);
        if (lat_sun_unitarity(n, m) <= n * ROUNDED && hypot(det[0] - 1, det[1]) <= n * ROUNDED)
            continue;
        count += mend ? lat_sun_polar(n, m) != 0 : 1;
        if (mend)
            lat_field_put(u, i, m);
    }
    return count;
}

int lat_flow_prepare(lat_field *u)
{
    const lat_comm *comm = u->comm ? u->comm : &lat_comm_self;
    if (u->head.kind != LAT_GAUGE)
        return lat_fail("flow: expected a gauge field, found %s", lat_kind_text(u->head.kind));
    if (lat_boundary_closed(&u->head, -1, "the flow") || lat_field_convert(u, LAT_F64))
        return -1;
    u->head.reals = 2 * u->head.nc * u->head.nc;
    double far = (double)far_links(u, false);
    if (comm->sum(comm, &far, 1))
        return -1;
    if (far == 0)
        return 0;
    double bad = (double)far_links(u, true);
    if (comm->sum(comm, &bad, 1))
        return -1;
    if (bad > 0)
        return lat_fail("flow: expected links near SU(%d), found a singular one", u->head.nc);
    u->head.plaquette = u->head.link_trace = NAN;
    return lat_field_exchange(u);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The largest eigenvalue that Z can have: P of a sum of unitary matrices, of weights c. */
static double bound_of(const lat_field *u, double c1)
{
    const double weights = 2 * (u->head.geom.nd - 1) * (fabs(1 - 8 * c1) + 3 * fabs(c1));
    return 2 * weights * (u->head.nc - 1) / u->head.nc;
}

/* On smooth links Z is linear: its largest eigenvalue is 4 for each direction, and rectangles of
 * c1 < 0 make it 1 + 8 |c1| times as large. Steps of Runge-Kutta schemes of third order are stable
 * up to 2.5 over that; rounding, which no error of a step shows, would grow beyond. */
static double longest_of(const lat_field *u, double c1)
{
    return 2.5 / (4 * u->head.geom.nd * (1 + 8 * fabs(c1)));
}

lat_flow *lat_flow_open(lat_device *dev, const lat_field *u, const lat_flow_how *how)
{
    lat_flow *f = calloc(1, sizeof *f);
    if (!f) {
        lat_fail("out of memory: a flow");
        return NULL;
    }
    f->how = *how;
    f->longest = longest_of(u, how->c1);
    f->next = fmin(.02, f->longest);
    f->bound = bound_of(u, how->c1);
    if (lat_flow_cpu_open(f, dev, u) == 0)
        return f;
    lat_flow_close(f);
    return NULL;
}

/* Luescher's scheme: with Z_i = eps Z(W_i)
 *     W_1 = exp(Z_0/4) W_0,  W_2 = exp(8/9 Z_1 - 17/36 Z_0) W_1,
 *     V = exp(3/4 Z_2 - 8/9 Z_1 + 17/36 Z_0) W_2;
 * and of second order exp(2 Z_1 - Z_0) W_0. y has the exponent of each stage over eps. `adaptive`:
 * *error is the distance of the two. */
static int step(lat_flow *f, double eps, bool adaptive, double *error)
{
    const double second = 17. / 36 + 8. / 9;
    if (adaptive)
        lat_flow_cpu_save(f);
    if (lat_flow_cpu_force(f, 0, 1))
        return -1;
    if (adaptive)
        lat_flow_cpu_combine(f, 1, 0); /* Z_0 */
    if (lat_flow_cpu_apply(f, eps / 4, f->bound * eps / 4)
        || lat_flow_cpu_force(f, -17. / 36, 8. / 9))
        return -1;
    if (adaptive)
        lat_flow_cpu_combine(f, 9. / 4, 1. / 16); /* 2 Z_1 - Z_0 */
    if (lat_flow_cpu_apply(f, eps, second * f->bound * eps) || lat_flow_cpu_force(f, -1, 3. / 4)
        || lat_flow_cpu_apply(f, eps, (second + 3. / 4) * f->bound * eps))
        return -1;
    return adaptive ? lat_flow_cpu_apart(f, eps, 3 * f->bound * eps, error) : 0;
}

static int fixed(lat_flow *f, double span)
{
    const double n = rint(span / f->how.step);
    if (!(fabs(n * f->how.step - span) <= 1e-9 * f->how.step))
        return lat_fail("flow: expected a time that is a multiple of the step %g, found %g",
                        f->how.step, span);
    for (long i = 0; i < (long)n; i++, f->steps++)
        if (step(f, f->how.step, false, NULL))
            return -1;
    return 0;
}

/* What the next step is to be, in units of this one; errors grow with its third power. */
static double factor(double tolerance, double error)
{
    const double x = .95 * cbrt(tolerance / error);
    return isfinite(error) ? fmin(fmax(x, .2), 4) : .2;
}

/* Steps of equal length lead to the end of the span. */
static int adaptive(lat_flow *f, double span)
{
    const double shortest = 1e-9;
    double error;
    for (double left = span; left > 0;) {
        const double n = ceil(left / f->next), eps = left / n;
        if (eps < shortest && n > 1)
            return lat_fail("flow: a step of %g has an error above the tolerance %g", eps,
                            f->how.tolerance);
        if (step(f, eps, true, &error))
            return -1;
        f->next = fmin(eps * factor(f->how.tolerance, error), f->longest);
        if (error <= f->how.tolerance) {
            left = n > 1 ? left - eps : 0;
            f->steps++;
        } else if (lat_flow_cpu_restore(f)) {
            return -1;
        } else {
            f->rejected++;
        }
    }
    return 0;
}

int lat_flow_advance(lat_flow *f, double span)
{
    return f->how.step > 0 ? fixed(f, span) : adaptive(f, span);
}

long lat_flow_steps(const lat_flow *f) { return f->steps; }

long lat_flow_rejected(const lat_flow *f) { return f->rejected; }
