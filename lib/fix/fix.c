/* SPDX-License-Identifier: BSD-3-Clause */
/* fix.c: what gauge fixing on the CPU and on a GPU share: copies in and out, functional and theta,
 * which slices are swept. */
#include "fix.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "fix_internal.h"

static const lat_fix_device *device_of(bool gpu) { return gpu ? &lat_fix_gpu : &lat_fix_cpu; }

int lat_fix_groups(bool gpu) { return device_of(gpu)->groups; }

const char *lat_fix_description(const lat_fixer *f) { return f->description; }

/* ---- opening --------------------------------------------------------------------------------- */

static int open_fields(lat_fixer *f, const lat_field *u, lat_real real)
{
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = lat_storage_of(real), .across = f->condition.time};
    if (!(f->grid = lat_grid_new(f->dev, &spec)))
        return -1;
    if (f->copies > INT_MAX / 16 / f->grid->slices)
        return lat_fail("%d copies of %d slices each are too many at once", f->copies,
                        f->grid->slices);
    const size_t states = (size_t)f->copies * (size_t)f->grid->slices;
    f->theta = lat_alloc(states, sizeof *f->theta, "theta of slices");
    f->total = lat_alloc(states, 3 * sizeof *f->total, "sums of slices");
    if (!f->theta || !f->total || f->device->open(f, u, real))
        return -1;
    for (size_t i = 0; i < states; i++)
        f->theta[i] = INFINITY;
    for (int i = 0; i < f->copies; i++)
        if (lat_dfield_put(f->g, i, NULL, NULL))
            return -1;
    return f->device->ready ? f->device->ready(f) : 0;
}

/* After slices have migrated or converged. */
static int listed(lat_fixer *f)
{
    lat_balance_list(&f->balance);
    return f->device->listed ? f->device->listed(f) : 0;
}

lat_fixer *lat_fix_open(lat_device *dev, const lat_field *u, const lat_condition *c, lat_real real,
                        int copies)
{
    const lat_fix_device *device = device_of(dev->gpu);
    const int nc = u->head.nc;
    if (lat_gauge_check_group(c->gauge, nc) || lat_device_check_group(dev->gpu, nc, device->groups))
        return NULL;
    lat_fixer *f = lat_alloc_zero(1, device->size, "gauge fixing");
    if (!f)
        return NULL;
    f->device = device;
    f->dev = dev;
    f->condition = *c;
    f->nc = nc;
    f->copies = copies;
    snprintf(f->description, sizeof f->description, "%s", dev->name);
    if (open_fields(f, u, real) == 0 && listed(f) == 0)
        return f;
    lat_fix_close(f);
    return NULL;
}

void lat_fix_close(lat_fixer *f)
{
    if (!f || lat_grid_stuck(f->grid))
        return;
    lat_grid_free(f->grid);
    if (f->device->close)
        f->device->close(f);
    lat_balance_close(&f->balance);
    LAT_FREE(f->theta, f->total, f);
}

/* ---- transformations ------------------------------------------------------------------------- */

static int return_slices(lat_fixer *f)
{
    return lat_balance_return(&f->balance) || listed(f) ? -1 : 0;
}

int lat_fix_set(lat_fixer *f, int copy, const lat_field *g)
{
    return return_slices(f) || lat_dfield_put(f->g, copy, g, NULL) ? -1 : 0;
}

int lat_fix_get(lat_fixer *f, int copy, lat_field *g)
{
    return return_slices(f) || lat_dfield_get(f->g, copy, g) ? -1 : 0;
}

lat_dfield *lat_fix_transformations(lat_fixer *f) { return return_slices(f) ? NULL : f->g; }

/* ---- sweeps, functional and theta ------------------------------------------------------------ */

int lat_fix_sweep(lat_fixer *f, const lat_sweep *how, long n)
{
    lat_balance_swept(&f->balance, n);
    return f->device->sweep(f, how, n);
}

/* A copy, from [slices][3] of its independent slices. */
static void state_of(const lat_fixer *f, const double *total, double *theta, lat_gauge_state *s)
{
    const int slices = f->grid->slices;
    const double all = (double)lat_volume(&f->grid->spec.lattice), sites = all / slices,
                 links = lat_condition_weights(&f->condition);
    double functional = 0, sum = 0;
    s->theta_max = s->theta_slice = 0;
    for (int i = 0; i < slices; i++, total += 3) {
        functional += total[0];
        sum += total[1];
        theta[i] = total[1] / sites;
        s->theta_max = lat_worse(s->theta_max, total[2]);
        s->theta_slice = lat_worse(s->theta_slice, theta[i]);
    }
    s->functional = functional / (2 * f->nc * links * all);
    s->theta = sum / all;
}

int lat_fix_state(lat_fixer *f, lat_gauge_state *s, double *slices)
{
    const size_t each = (size_t)f->grid->slices, copies = (size_t)f->copies;
    if (f->device->sums(f, f->total))
        return -1;
    for (size_t i = 0; i < copies; i++)
        state_of(f, f->total + 3 * i * each, f->theta + i * each, s + i);
    if (slices)
        memcpy(slices, f->theta, copies * each * sizeof *slices);
    return 0;
}

long lat_fix_freeze(lat_fixer *f, const double *theta)
{
    const int slices = f->grid->slices;
    long left = 0;
    if (lat_balance_freeze(&f->balance, f->theta, theta) || listed(f))
        return -1;
    for (int i = 0; i < f->copies * slices; i++)
        left += f->balance.active[i];
    return left;
}
