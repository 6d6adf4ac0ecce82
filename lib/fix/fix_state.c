/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_state.c: sums of slices to the state of a copy. */
#include "fix_state.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "grid/reduce.h"

/* A copy, from [slices][3] of its independent slices. */
static void state_of(const lat_grid *grid, const lat_condition *c, int nc, const double *total,
                     double *theta, lat_gauge_state *s)
{
    const lat_geometry *geom = &grid->spec.lattice;
    const double all = (double)lat_volume(geom), sites = all / grid->slices;
    const double links = lat_condition_weights(c);
    double f = 0, sum = 0;
    s->theta_max = s->theta_slice = 0;
    for (int i = 0; i < grid->slices; i++, total += 3) {
        f += total[0];
        sum += total[1];
        theta[i] = total[1] / sites;
        s->theta_max = lat_worse(s->theta_max, total[2]);
        s->theta_slice = lat_worse(s->theta_slice, theta[i]);
    }
    s->functional = f / (2 * nc * links * all);
    s->theta = sum / all;
}

int lat_state_total(const lat_grid *grid, const lat_condition *c, int nc, int copies,
                    const double *sum, double *theta, lat_gauge_state *s)
{
    const size_t slices = (size_t)grid->slices;
    double *total = lat_alloc((size_t)copies * slices, 3 * sizeof *total, "sums of slices");
    if (!total)
        return -1;
    const int rc = lat_reduce_total(grid, copies, 3, 1, sum, total);
    for (size_t i = 0; i < (size_t)copies && rc == 0; i++)
        state_of(grid, c, nc, total + 3 * i * slices, theta + i * slices, s + i);
    free(total);
    return rc;
}

long lat_state_left(const double *theta, const double *bound, int copies, int slices)
{
    long left = 0;
    for (int i = 0; i < copies * slices; i++)
        left += !(theta[i] < bound[i / slices]);
    return left;
}
