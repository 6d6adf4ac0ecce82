/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_state.c: sums of slices to the state of a copy. */
#include "fix_state.h"

#include <stdlib.h>
#include "base/memory.h"

/* A copy, whose shares and thetas are added up in sum[slices][2], with the largest ones. */
static void state_of(const lat_condition *c, const lat_geometry *geom, int nc, const double *sum,
                     const double *most, double *theta, lat_gauge_state *s)
{
    const int slices = lat_condition_slices(c, geom);
    const double all = (double)lat_volume(geom), sites = all / slices;
    const double links = c->gauge == LAT_MAG ? geom->nd : lat_condition_weights(c);
    double f = 0, total = 0;
    s->theta_max = s->theta_slice = 0;
    for (int i = 0; i < slices; i++) {
        f += sum[2 * i];
        total += sum[2 * i + 1];
        theta[i] = sum[2 * i + 1] / sites;
        s->theta_max = lat_worse(s->theta_max, most[i]);
        s->theta_slice = lat_worse(s->theta_slice, theta[i]);
    }
    s->functional = f / (2 * nc * links * all);
    s->theta = total / all;
}

int lat_state_total(const lat_comm *comm, const lat_condition *c, const lat_geometry *geom, int nc,
                    int copies, const double *sum, double *theta, lat_gauge_state *s)
{
    const size_t slices = (size_t)lat_condition_slices(c, geom), units = (size_t)copies * slices;
    double *room = lat_alloc(units, 3 * sizeof *room, "sums of slices"), *most = room + 2 * units;
    if (!room)
        return -1;
    for (size_t i = 0; i < units; i++) {
        room[2 * i] = sum[3 * i];
        room[2 * i + 1] = sum[3 * i + 1];
        most[i] = sum[3 * i + 2];
    }
    const int rc = comm->sum(comm, room, (int)(2 * units)) || comm->max(comm, most, (int)units) ? -1
                                                                                                : 0;
    for (size_t i = 0; i < (size_t)copies && rc == 0; i++)
        state_of(c, geom, nc, room + 2 * i * slices, most + i * slices, theta + i * slices, s + i);
    free(room);
    return rc;
}

long lat_state_left(const double *theta, const double *bound, int copies, int slices)
{
    long left = 0;
    for (int i = 0; i < copies * slices; i++)
        left += !(theta[i] < bound[i / slices]);
    return left;
}
