/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_polyakov.c: Polyakov loops and their correlators. Every rank has all of them. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/unitary.h"
#include "loops_internal.h"
#include "site/sun.h"

/* The mean over x and directions. */
static double correlator(const lat_loops_frame *f, const double *p, const lat_loops_how *how,
                         const lat_loops_separation *s)
{
    int d[LAT_LOOPS_DIRECTIONS][LAT_MAX_DIMS];
    const int directions = lat_loops_directions(how->vector[s->class], f->axes, d);
    double sum = 0;
    for (int i = 0; i < directions; i++) {
        int by[LAT_MAX_DIMS];
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            by[mu] = s->n * d[i][mu];
        for (size_t x = 0; x < f->sites; x++) {
            const size_t y = lat_loops_shift(&f->space, x, by);
            sum += p[2 * x] * p[2 * y] + p[2 * x + 1] * p[2 * y + 1];
        }
    }
    return sum / ((double)f->sites * directions * f->n * f->n);
}

int lat_loops_polyakov(lat_field *u, const lat_loops_how *how, double loop[2], double *c)
{
    lat_loops_frame f;
    if (lat_links_unitary(u, "loops"))
        return -1;
    const int count = lat_loops_separations(how, NULL);
    lat_loops_separation *list = lat_alloc((size_t)count, sizeof *list, "separations");
    int rc = lat_loops_frame_open(&f, u, how, false);
    double *p = lat_alloc(f.sites, 2 * sizeof *p, "Polyakov loops");
    rc = lat_agree(f.comm, rc == 0 && list && p ? 0 : -1);
    loop[0] = loop[1] = 0;
    for (size_t x = 0; x < f.sites && rc == 0; x++) {
        lat_sun_trace(f.n, f.around + x * 2 * (size_t)(f.n * f.n), p + 2 * x);
        loop[0] += p[2 * x];
        loop[1] += p[2 * x + 1];
    }
    for (int i = 0; i < 2; i++)
        loop[i] /= (double)f.sites * f.n;
    if (rc == 0)
        lat_loops_separations(how, list);
#pragma omp parallel for schedule(dynamic) if (f.wide)
    for (int i = 0; i < (rc == 0 ? count : 0); i++)
        c[i] = correlator(&f, p, how, &list[i]);
    LAT_FREE(list, p);
    lat_loops_frame_close(&f);
    return rc;
}
