/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_polyakov.c: Polyakov loops and their correlators. Every rank has all of them. */
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/unitary.h"
#include "loops_device.h"
#include "loops_lanes.h"

/* The mean over x and directions. */
static double correlator(const lat_loops *l, const double *p, const lat_loops_separation *s)
{
    int d[LAT_LOOPS_DIRECTIONS][LAT_MAX_DIMS];
    const int directions = lat_loops_directions(l->how->vector[s->kind], l->axes, d);
    double sum = 0;
    for (int i = 0; i < directions; i++) {
        int by[LAT_MAX_DIMS];
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            by[mu] = s->n * d[i][mu];
        for (size_t x = 0; x < l->sites; x++) {
            const size_t y = lat_loops_shift(&l->space, x, by);
            sum += p[2 * x] * p[2 * y] + p[2 * x + 1] * p[2 * y + 1];
        }
    }
    return sum / ((double)l->sites * directions * l->n * l->n);
}

/* Their mean and correlators from the traces. */
static void means(const lat_loops *l, const double *p, double loop[2],
                  const lat_loops_separation *list, int count, double *c)
{
    loop[0] = loop[1] = 0;
    for (size_t x = 0; x < l->sites; x++) {
        loop[0] += p[2 * x];
        loop[1] += p[2 * x + 1];
    }
    for (int i = 0; i < 2; i++)
        loop[i] /= (double)l->sites * l->n;
#pragma omp parallel for schedule(dynamic) if (l->sites > 1024)
    for (int i = 0; i < count; i++)
        c[i] = correlator(l, p, &list[i]);
}

int lat_loops_polyakov(lat_device *dev, lat_field *u, const lat_loops_how *how, double loop[2],
                       double *c)
{
    if (lat_links_unitary(u, "loops"))
        return -1;
    const int count = lat_loops_separations(how, NULL);
    lat_loops *l = lat_loops_new(dev, u, how);
    lat_loops_separation *list = lat_alloc((size_t)count, sizeof *list, "separations");
    double *p = lat_alloc(lat_slice_sites(&u->head), 2 * sizeof *p, "Polyakov loops");
    int rc = lat_agree(lat_field_shared(u) ? u->comm : &lat_comm_self, l && list && p ? 0 : -1);
    rc = rc ? rc : l->device->polyakov(l, u, p);
    if (rc == 0) {
        lat_loops_separations(how, list);
        means(l, p, loop, list, count, c);
    }
    LAT_FREE(l, list, p);
    return rc;
}
