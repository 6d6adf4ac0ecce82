/* SPDX-License-Identifier: BSD-3-Clause */
/* abelian.c: Abelian projection, and its residual gauge. */
#include "abelian.h"

#include <math.h>
#include <string.h>
#include "measure.h"
#include "site/sun.h"

void lat_abelian_phases(int n, const double *u, double *phase)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double *d = u + 2 * (i * n + i);
        phase[i] = atan2(d[1], d[0]);
        sum += phase[i];
    }
    sum = (sum - 2 * M_PI * rint(sum / (2 * M_PI))) / n;
    for (int i = 0; i < n; i++)
        phase[i] -= sum;
}

/* f becomes its projection. */
static void project(lat_field *f)
{
    const int n = f->head.nc;
    const size_t links = lat_field_matrices(f);
#pragma omp parallel for schedule(static)
    for (size_t l = 0; l < links; l++) {
        double u[LAT_SUN_REALS], phase[LAT_MAX_COLOURS];
        lat_field_get(f, l, u);
        lat_abelian_phases(n, u, phase);
        memset(u, 0, 2 * (size_t)(n * n) * sizeof *u);
        for (int i = 0; i < n; i++) {
            u[2 * (i * n + i)] = cos(phase[i]);
            u[2 * (i * n + i) + 1] = sin(phase[i]);
        }
        lat_field_put(f, l, u);
    }
}

int lat_measure_residual(const lat_field *f, double *theta)
{
    const lat_condition landau = lat_condition_of(LAT_LANDAU, &f->head.geom, -1);
    lat_gauge_state state;
    lat_field u;
    if (lat_field_duplicate(f, &u))
        return -1;
    int rc = lat_field_convert(&u, LAT_F64);
    if (rc == 0)
        project(&u);
    rc = rc || lat_field_exchange(&u) || lat_measure_gauge(&u, &landau, &state, NULL, NULL) ? -1
                                                                                            : 0;
    lat_field_free(&u);
    *theta = rc ? NAN : state.theta;
    return rc;
}
