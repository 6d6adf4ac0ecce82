/* SPDX-License-Identifier: BSD-3-Clause */
/* abelian.c: Abelian projection, and its residual gauge. */
#include "abelian.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"
#include "measure.h"
#include "lattice/boundary.h"
#include "lattice/iterate.h"
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

void lat_abelian_project(lat_field *f)
{
    const int n = f->head.nc;
    const size_t links = lat_field_matrices(f);
    const unsigned open = lat_boundary_open(&f->head);
#pragma omp parallel for schedule(static)
    for (size_t l = 0; l < links; l++) {
        double u[LAT_SUN_REALS], phase[LAT_MAX_COLOURS];
        lat_field_get(f, l, u);
        if (open && lat_boundary_none(open, (int)(l % (size_t)f->head.geom.nd), u, 2 * n * n))
            continue;
        lat_abelian_phases(n, u, phase);
        memset(u, 0, 2 * (size_t)(n * n) * sizeof *u);
        for (int i = 0; i < n; i++) {
            u[2 * (i * n + i)] = cos(phase[i]);
            u[2 * (i * n + i) + 1] = sin(phase[i]);
        }
        lat_field_put(f, l, u);
    }
}

/* Sums of |Delta_ii|^2, Delta_ii = 2 Im sum_mu [ u_mu(x) - u_mu(x-mu) ]_ii minus the mean over i,
 * of phases i = *arg and those after it. */
static void sectors_chunk(const lat_field *f, size_t from, size_t to, const void *arg,
                          lat_partial *p)
{
    const int n = f->head.nc, nd = f->head.geom.nd, first = *(const int *)arg;
    double u[LAT_SUN_REALS], back[LAT_SUN_REALS], delta[LAT_MAX_COLOURS];
    lat_iterator w;
    for (lat_iterator_start(&w, f, from); w.site < to; lat_iterator_next(&w)) {
        double mean = 0;
        memset(delta, 0, sizeof delta);
        for (int mu = 0; mu < nd; mu++) {
            lat_load(f, w.site * (size_t)nd + (size_t)mu, n, u);
            lat_load(f, lat_iterator_down(&w, mu) * (size_t)nd + (size_t)mu, n, back);
            for (int i = 0; i < n; i++)
                delta[i] += 2 * (u[2 * (i * n + i) + 1] - back[2 * (i * n + i) + 1]);
        }
        for (int i = 0; i < n; i++)
            mean += delta[i] / n;
        for (int i = 0; i < LAT_SUMS && first + i < n; i++)
            p->sum[i] += (delta[first + i] - mean) * (delta[first + i] - mean);
    }
}

/* theta of each phase, of projected links. */
static int measure_sectors(const lat_field *u, lat_residual *r)
{
    r->worst = 0;
    for (int first = 0; first < u->head.nc; first += LAT_SUMS) {
        lat_partial all;
        if (lat_over_chunks(u, lat_slice_sites(&u->head), sectors_chunk, &first, &all))
            return -1;
        for (int i = 0; i < LAT_SUMS && first + i < u->head.nc; i++) {
            r->sector[first + i] = all.sum[i] / (double)lat_volume(&u->head.geom);
            r->worst = lat_worse(r->worst, r->sector[first + i]);
        }
    }
    return 0;
}

int lat_measure_residual(const lat_field *f, lat_residual *r)
{
    const lat_condition landau = lat_condition_of(LAT_LANDAU, &f->head.geom, -1);
    lat_gauge_state state = {.theta = NAN};
    lat_field u;
    if (lat_field_duplicate(f, &u))
        return -1;
    int rc = lat_field_convert(&u, LAT_F64);
    if (rc == 0)
        lat_abelian_project(&u);
    rc = lat_rc(rc || lat_field_exchange(&u) || lat_measure_gauge(&u, &landau, &state, NULL, NULL)
                || measure_sectors(&u, r));
    lat_field_free(&u);
    r->functional = state.functional;
    r->theta = state.theta;
    return rc;
}

int lat_residual_note(lat_header *head, const lat_residual *r)
{
    char text[LAT_MAX_COLOURS * 32];
    int n = 0;
    for (int i = 0; i < head->nc; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%.17g", i ? " " : "", r->sector[i]);
    return lat_info_set(head, LAT_INFO_RESIDUAL, text);
}
