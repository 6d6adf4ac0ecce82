/* SPDX-License-Identifier: BSD-3-Clause */
/* flow.c: the integrator of the gradient flow. */
#include "flow.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "flow_internal.h"
#include "grid/tree.h"
#include "lattice/boundary.h"
#include "lattice/unitary.h"
#include "site/sun.h"

int lat_flow_prepare(lat_field *u)
{
    return lat_rc((u->head.kind == LAT_GAUGE
                   && (lat_boundary_closed(&u->head, u->head.geom.nd - 1, "the flow", NULL)
                       || lat_boundary_at_end(u)))
                  || lat_links_unitary(u, "flow"));
}

/* ---- steps ----------------------------------------------------------------------------------- */

static double squared_xi(const lat_flow_how *how) { return how->xi > 0 ? how->xi * how->xi : 1; }

double lat_flow_longest(const lat_geometry *geom, const lat_flow_how *how)
{
    return 2.5 / (4 * (geom->nd - 1 + squared_xi(how)) * (1 + 8 * fabs(how->c1)));
}

static const lat_flow_device *device_of(const lat_device *dev)
{
    return dev->gpu ? &lat_flow_gpu : &lat_flow_cpu;
}

/* What no device has code for; the GPU, nor odd extents. */
int lat_flow_check(const lat_device *dev, const lat_field *u)
{
    const lat_geometry *geom = &u->head.geom;
    const int nc = u->head.nc;
    char text[64];
    if (nc > LAT_FLOW_MOST)
        return lat_fail("SU(%d): the flow is for SU(2) to SU(%d)", nc, LAT_FLOW_MOST);
    if (geom->nd < 2)
        return lat_fail("lattice %s: a flow needs two directions at least",
                        lat_dims_text(geom, text));
    for (int mu = 0; dev->gpu && mu < geom->nd; mu++)
        if (geom->dims[mu] % 2)
            return lat_fail("lattice %s: on a GPU a flow needs even extents, found %d",
                            lat_dims_text(geom, text), geom->dims[mu]);
    return lat_device_check_group(dev->gpu, nc, device_of(dev)->groups);
}

static int open_fields(lat_flow *f, lat_device *dev, const lat_field *u)
{
    char text[64], what[96];
    const lat_geometry *geom = &u->head.geom;
    const lat_grid_spec spec = {
        .lattice = *geom, .storage = LAT_STORAGE_DOUBLE, .across = -1, .odd = true};
    const int nc = u->head.nc;
    const lat_shape links = lat_shape_of_links(geom->nd, nc),
                    plane = lat_shape_of_links(LAT_FLOW_STAPLES, nc),
                    algebra = {.objects = geom->nd, .reals = nc * nc};
    const bool again = !(f->how.step > 0), rectangles = f->how.c1 != 0;
    if (!(f->grid = lat_grid_new(dev, &spec)))
        return -1;
    snprintf(what, sizeof what, "the flow of lattice %s of SU(%d)", lat_dims_text(geom, text), nc);
    return lat_rc(
        lat_device_check_memory(dev,
                                (2 + again) * (double)lat_dfield_unit_bytes(f->grid, links)
                                    + (1 + again) * (double)lat_dfield_unit_bytes(f->grid, algebra)
                                    + rectangles * (double)lat_dfield_unit_bytes(f->grid, plane),
                                what)
        || !(f->u = lat_dfield_new(f->grid, links, 1, "links")) || lat_dfield_put(f->u, 0, u, NULL)
        || !(f->sums = lat_alloc((size_t)lat_slices(&u->head) * LAT_FLOW_NUMBERS, sizeof *f->sums,
                                 "sums of slices"))
        || !(f->y = lat_dfield_new(f->grid, algebra, 1, "the flow"))
        || (again && !(f->again = lat_dfield_new(f->grid, algebra, 1, "the flow")))
        || (rectangles && !(f->plane = lat_dfield_new(f->grid, plane, 1, "staples")))
        || f->device->open(f, links));
}

/* What no rectangles are defined for. */
static int check_how(const lat_field *u, const lat_flow_how *how)
{
    const bool open = lat_boundary_open(&u->head) != 0;
    const int slices = lat_slices(&u->head);
    if (open && slices < 3)
        return lat_fail("the flow with open time: expected three slices at least, found %d",
                        slices);
    if ((open || squared_xi(how) != 1) && how->c1 != 0)
        return lat_fail("the flow with %s: expected the Wilson flow, found an action with "
                        "rectangles",
                        open ? "open time" : "an anisotropy");
    return 0;
}

lat_flow *lat_flow_open(lat_device *dev, const lat_field *u, const lat_flow_how *how)
{
    const lat_flow_device *device = device_of(dev);
    const int nd = u->head.geom.nd, nc = u->head.nc;
    if (lat_flow_check(dev, u) || check_how(u, how))
        return NULL;
    lat_flow *f = lat_alloc_zero(1, device->size, "a flow");
    if (!f)
        return NULL;
    f->device = device;
    f->how = *how;
    f->open = lat_boundary_open(&u->head) != 0;
    f->temporal = squared_xi(how);
    f->longest = lat_flow_longest(&u->head.geom, how);
    f->next = fmin(.02, f->longest);
    /* The largest eigenvalue that Z can have: P of a sum of unitary matrices, of weights c. */
    const double staples = 2 * fmax(nd - 1, nd - 2 + f->temporal);
    f->bound = 2 * staples * (fabs(1 - 8 * how->c1) + 3 * fabs(how->c1)) * (nc - 1) / nc;
    if (open_fields(f, dev, u) == 0)
        return f;
    lat_flow_close(f);
    return NULL;
}

void lat_flow_close(lat_flow *f)
{
    if (!f || lat_grid_stuck(f->grid))
        return;
    lat_grid_free(f->grid);
    LAT_FREE(f->sums, f);
}

/* Luescher's scheme: with Z_i = eps Z(W_i)
 *     W_1 = exp(Z_0/4) W_0,  W_2 = exp(8/9 Z_1 - 17/36 Z_0) W_1,
 *     V = exp(3/4 Z_2 - 8/9 Z_1 + 17/36 Z_0) W_2;
 * and of second order exp(2 Z_1 - Z_0) W_0. y has the exponent of each stage over eps, but Z_0
 * after the first one. `adaptive`: *error is the distance of the two. */
static int step(lat_flow *f, double eps, bool adaptive, double *error)
{
    const double second = 17. / 36 + 8. / 9, bound = f->bound * eps;
    const int halvings[3] = {lat_sun_halvings(bound / 4), lat_sun_halvings(second * bound),
                             lat_sun_halvings((second + 3. / 4) * bound)};
    const lat_flow_stage stages[3] = {
        {.beta = 0, .alpha = 1, .eps = eps / 4, .halvings = halvings[0], .first = adaptive},
        {.beta = -17. / 36,
         .alpha = 8. / 9,
         .eps = eps,
         .halvings = halvings[1],
         .again = adaptive,
         .a = 9. / 4,
         .b = 1. / 16}, /* 2 Z_1 - Z_0 */
        {.beta = -1, .alpha = 3. / 4, .eps = eps, .halvings = halvings[2], .last = true}};
    for (int i = 0; i < 3; i++)
        if (f->device->stage(f, stages + i))
            return -1;
    double square = 0;
    if (adaptive && f->device->apart(f, eps, lat_sun_halvings(3 * bound), &square))
        return -1;
    if (adaptive)
        *error = sqrt(square);
    return 0;
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
        } else if (f->device->restore(f)) {
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

const char *lat_flow_description(const lat_flow *f) { return f->grid->dev->gpu ? "gpu" : "cpu"; }

long lat_flow_steps(const lat_flow *f) { return f->steps; }

long lat_flow_rejected(const lat_flow *f) { return f->rejected; }

/* ---- what it has come to --------------------------------------------------------------------- */

static int slices_of(const lat_flow *f) { return f->grid->slot.dims[f->grid->slot.nd - 1]; }

/* From sums over plaquettes and clovers of so many sites. */
static lat_flow_measured measured(const lat_flow *f, const double sum[LAT_FLOW_NUMBERS],
                                  double plaquettes, double clovers)
{
    return (lat_flow_measured){
        2 * (f->temporal * sum[LAT_FLOW_PLAQUETTE_T] + sum[LAT_FLOW_PLAQUETTE_S]) / plaquettes,
        f->temporal * sum[LAT_FLOW_CLOVER_T] / clovers, sum[LAT_FLOW_CLOVER_S] / clovers,
        f->grid->slot.nd == 4 ? sum[LAT_FLOW_CHARGE] / (4 * M_PI * M_PI) : NAN};
}

int lat_flow_measure(lat_flow *f, lat_flow_measured *m, lat_flow_measured *slices)
{
    const int n = slices_of(f);
    const double sites = (double)lat_volume(&f->grid->slot) / n;
    if (f->device->numbers(f, f->sums))
        return -1;
    for (int t = 0; slices && t < n; t++) {
        const double *below = f->sums + (t + n - 1) % n * LAT_FLOW_NUMBERS;
        double sum[LAT_FLOW_NUMBERS];
        memcpy(sum, f->sums + t * LAT_FLOW_NUMBERS, sizeof sum);
        sum[LAT_FLOW_PLAQUETTE_T] = .5 * (sum[LAT_FLOW_PLAQUETTE_T] + below[LAT_FLOW_PLAQUETTE_T]);
        slices[t] = measured(f, sum, sites, sites);
    }
    lat_tree_fold(f->sums, (size_t)n, 1, LAT_FLOW_NUMBERS);
    *m = measured(f, f->sums, sites * (n - f->open), sites * (n - 2 * f->open));
    return 0;
}

lat_flow_measured lat_flow_window(const lat_flow *f, const lat_flow_measured *slices, int first,
                                  int last)
{
    const int ends = f->open ? (first == 0) + (last == slices_of(f) - 1) : 0,
              count = last - first + 1;
    lat_flow_measured sum = {0, 0, 0, 0};
    for (int t = first; t <= last; t++) {
        sum.plaquette += slices[t].plaquette;
        sum.temporal += slices[t].temporal;
        sum.spatial += slices[t].spatial;
        sum.charge += slices[t].charge;
    }
    return (lat_flow_measured){sum.plaquette / (count - .5 * ends), sum.temporal / (count - ends),
                               sum.spatial / (count - ends), sum.charge};
}

int lat_flow_get(const lat_flow *f, lat_field *v)
{
    return lat_dfield_get(f->u, 0, v) || lat_field_exchange(v) ? -1 : 0;
}
