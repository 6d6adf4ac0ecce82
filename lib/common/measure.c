/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c: plaquette, Polyakov loop, deviations from SU(N), Landau gauge condition. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "error.h"
#include "site/sun.h"
#include "tour.h"

_Static_assert(LAT_SUN_MAX == LAT_MAX_COLOURS, "sun.h and header.h disagree about the largest N");

int lat_over_chunks(const lat_field *f, size_t items, lat_chunk_fn *fn, const void *arg, lat_partial *total)
{
    const size_t chunks = (items + LAT_CHUNK - 1) / LAT_CHUNK;
    lat_partial *part = lat_alloc(chunks, sizeof *part, "a measurement");
    if (!part)
        return -1;
    memset(part, 0, chunks * sizeof *part);
#pragma omp parallel for schedule(static)
    for (size_t c = 0; c < chunks; c++) {
        const size_t to = (c + 1) * LAT_CHUNK;
        fn(f, c * LAT_CHUNK, to < items ? to : items, arg, &part[c]);
    }
    memset(total, 0, sizeof *total);
    for (size_t c = 0; c < chunks; c++) {
        for (int i = 0; i < LAT_SUMS; i++)
            total->sum[i] += part[c].sum[i];
        for (int i = 0; i < 2; i++)
            total->max[i] = lat_worse(total->max[i], part[c].max[i]);
    }
    free(part);
    return 0;
}

/* ---- plaquette and link trace ---------------------------------------------------------------- */

/* Re tr U_mu(x) U_nu(x+mu) [ U_nu(x) U_mu(x+nu) ]^+, summed over mu < nu: over all, and over nu the last
 * direction. */
LAT_INLINE void plaquette_chunk(const lat_field *f, size_t from, size_t to, int n, lat_partial *p)
{
    const int nd = f->head.geom.nd;
    double here[LAT_MAX_DIMS][LAT_SUN_REALS], link[LAT_SUN_REALS];
    double a[LAT_SUN_REALS], b[LAT_SUN_REALS], t[2];
    lat_tour w;
    for (lat_tour_start(&w, &f->head.geom, from); w.site < to; lat_tour_on(&w)) {
        for (int mu = 0; mu < nd; mu++) {
            lat_load(f, w.site * (size_t)nd + (size_t)mu, n, here[mu]);
            lat_sun_trace(n, here[mu], t);
            p->sum[1] += t[0];
        }
        for (int mu = 0; mu < nd; mu++)
            for (int nu = mu + 1; nu < nd; nu++) {
                lat_load(f, lat_ahead(&w, mu) * (size_t)nd + (size_t)nu, n, link);
                lat_sun_mul(n, a, here[mu], link);
                lat_load(f, lat_ahead(&w, nu) * (size_t)nd + (size_t)mu, n, link);
                lat_sun_mul(n, b, here[nu], link);
                const double trace = lat_overlap(n, a, b);
                p->sum[0] += trace;
                p->sum[2] += nu == nd - 1 ? trace : 0;
            }
    }
}

static void plaquette_any(const lat_field *f, size_t from, size_t to, const void *arg, lat_partial *p)
{
    (void)arg;
    switch (f->head.nc) {
    case 2: plaquette_chunk(f, from, to, 2, p); break;
    case 3: plaquette_chunk(f, from, to, 3, p); break;
    default: plaquette_chunk(f, from, to, f->head.nc, p);
    }
}

static int need_links(const lat_field *f, const char *what)
{
    if (f->head.kind != LAT_GAUGE)
        return lat_fail("%s is that of a gauge field, but this is a gauge transformation", what);
    return 0;
}

int lat_measure_plaquette(const lat_field *f, double *plaquette, double *link_trace)
{
    const int nd = f->head.geom.nd;
    const double sites = (double)lat_volume(&f->head.geom) * f->head.nc;
    lat_partial sum;
    if (need_links(f, "the plaquette") ||
        lat_over_chunks(f, lat_volume(&f->head.geom), plaquette_any, NULL, &sum))
        return -1;
    *plaquette = nd > 1 ? sum.sum[0] / (sites * (nd * (nd - 1) / 2)) : NAN;
    *link_trace = sum.sum[1] / (sites * nd);
    return 0;
}

int lat_measure_planes(const lat_field *f, double *spatial, double *temporal)
{
    const int nd = f->head.geom.nd;
    const double sites = (double)lat_volume(&f->head.geom) * f->head.nc;
    lat_partial sum;
    if (need_links(f, "the plaquette") ||
        lat_over_chunks(f, lat_volume(&f->head.geom), plaquette_any, NULL, &sum))
        return -1;
    *spatial = nd > 2 ? (sum.sum[0] - sum.sum[2]) / (sites * ((nd - 1) * (nd - 2) / 2)) : NAN;
    *temporal = nd > 1 ? sum.sum[2] / (sites * (nd - 1)) : NAN;
    return 0;
}

/* ---- Polyakov loop --------------------------------------------------------------------------- */

/* Item i is the i-th line along mu: its first site has x[mu] = 0. */
LAT_INLINE void polyakov_chunk(const lat_field *f, size_t from, size_t to, int n, int mu, lat_partial *p)
{
    const lat_geometry *geom = &f->head.geom;
    const size_t nd = (size_t)geom->nd, bytes = sizeof(double) * 2 * (size_t)n * (size_t)n;
    double loop[LAT_SUN_REALS], link[LAT_SUN_REALS], next[LAT_SUN_REALS], t[2];
    size_t stride = 1;
    for (int nu = 0; nu < mu; nu++)
        stride *= (size_t)geom->dims[nu];
    for (size_t i = from; i < to; i++) {
        size_t site = i / stride * stride * (size_t)geom->dims[mu] + i % stride;
        lat_load(f, site * nd + (size_t)mu, n, loop);
        for (int k = 1; k < geom->dims[mu]; k++) {
            site += stride;
            lat_load(f, site * nd + (size_t)mu, n, link);
            lat_sun_mul(n, next, loop, link);
            memcpy(loop, next, bytes);
        }
        lat_sun_trace(n, loop, t);
        p->sum[0] += t[0];
        p->sum[1] += t[1];
    }
}

static void polyakov_any(const lat_field *f, size_t from, size_t to, const void *arg, lat_partial *p)
{
    const int mu = *(const int *)arg;
    switch (f->head.nc) {
    case 2: polyakov_chunk(f, from, to, 2, mu, p); break;
    case 3: polyakov_chunk(f, from, to, 3, mu, p); break;
    default: polyakov_chunk(f, from, to, f->head.nc, mu, p);
    }
}

int lat_measure_polyakov(const lat_field *f, int mu, double loop[2])
{
    lat_partial sum;
    if (need_links(f, "the Polyakov loop"))
        return -1;
    if (mu < 0 || mu >= f->head.geom.nd)
        return lat_fail("direction %d of a Polyakov loop is not in 0 to %d", mu, f->head.geom.nd - 1);
    const size_t lines = lat_volume(&f->head.geom) / (size_t)f->head.geom.dims[mu];
    if (lat_over_chunks(f, lines, polyakov_any, &mu, &sum))
        return -1;
    for (int i = 0; i < 2; i++)
        loop[i] = sum.sum[i] / ((double)lines * f->head.nc);
    return 0;
}

/* ---- deviations from SU(N) ------------------------------------------------------------------- */

LAT_INLINE void deviation_chunk(const lat_field *f, size_t from, size_t to, int n, lat_partial *p)
{
    double m[LAT_SUN_REALS], det[2];
    for (size_t i = from; i < to; i++) {
        lat_load(f, i, n, m);
        lat_sun_det(n, m, det);
        const double off = sqrt((1 - det[0]) * (1 - det[0]) + det[1] * det[1]);
        const double unitarity = lat_sun_unitarity(n, m);
        p->sum[0] += off;
        p->sum[1] += unitarity;
        p->max[0] = lat_worse(p->max[0], off);
        p->max[1] = lat_worse(p->max[1], unitarity);
    }
}

static void deviation_any(const lat_field *f, size_t from, size_t to, const void *arg, lat_partial *p)
{
    (void)arg;
    switch (f->head.nc) {
    case 2: deviation_chunk(f, from, to, 2, p); break;
    case 3: deviation_chunk(f, from, to, 3, p); break;
    default: deviation_chunk(f, from, to, f->head.nc, p);
    }
}

int lat_measure_deviation(const lat_field *f, lat_deviation *d)
{
    const size_t matrices = lat_field_matrices(f);
    lat_partial all;
    if (lat_over_chunks(f, matrices, deviation_any, NULL, &all))
        return -1;
    d->det_mean = all.sum[0] / (double)matrices;
    d->unitarity_mean = all.sum[1] / (double)matrices;
    d->det_max = all.max[0];
    d->unitarity_max = all.max[1];
    return 0;
}

/* ---- gauge conditions ------------------------------------------------------------------------ */

/* tr Delta Delta^+ with Delta = s - s^+ - trace part, s = sum_mu w_mu (U_mu(x) - U_mu(x-mu)). */
LAT_INLINE double residual(int n, const double *s)
{
    double sum = 0, trace = 0;
    for (int i = 0; i < n; i++)
        trace += 2 * s[2 * (i * n + i) + 1];
    for (int i = 0; i < n; i++) {
        const double d = 2 * s[2 * (i * n + i) + 1] - trace / n;
        sum += d * d;
        for (int j = i + 1; j < n; j++) {
            const double *u = s + 2 * (i * n + j), *l = s + 2 * (j * n + i);
            sum += 2 * ((u[0] - l[0]) * (u[0] - l[0]) + (u[1] + l[1]) * (u[1] + l[1]));
        }
    }
    return sum;
}

/* Landau and Coulomb gauge at the site of w: its share of N W V F, and N theta(x). */
LAT_INLINE void linear_site(const lat_field *f, const lat_condition *c, const lat_tour *w, int n, double *share, double *theta)
{
    const int nd = f->head.geom.nd;
    double s[LAT_SUN_REALS], a[LAT_SUN_REALS], b[LAT_SUN_REALS], t[2];
    memset(s, 0, sizeof(double) * 2 * (size_t)(n * n));
    *share = 0;
    for (int mu = 0; mu < nd; mu++) {
        if (c->weight[mu] == 0)
            continue;
        lat_load(f, w->site * (size_t)nd + (size_t)mu, n, a);
        lat_load(f, lat_behind(w, mu) * (size_t)nd + (size_t)mu, n, b);
        lat_sun_trace(n, a, t);
        *share += c->weight[mu] * t[0];
        for (int i = 0; i < 2 * n * n; i++)
            s[i] += c->weight[mu] * (a[i] - b[i]);
    }
    *theta = residual(n, s);
}

/* Adds V_aa conj(V_ba) - V_ab conj(V_bb) of v to x[2 (a n + b)], a < b. */
LAT_INLINE void add_off_diagonal(int n, const double *v, double *x)
{
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            const double *aa = v + 2 * (a * n + a), *ba = v + 2 * (b * n + a);
            const double *ab = v + 2 * (a * n + b), *bb = v + 2 * (b * n + b);
            x[2 * (a * n + b)] += aa[0] * ba[0] + aa[1] * ba[1] - ab[0] * bb[0] - ab[1] * bb[1];
            x[2 * (a * n + b) + 1] += aa[1] * ba[0] - aa[0] * ba[1] - ab[1] * bb[0] + ab[0] * bb[1];
        }
}

/* Maximally Abelian gauge: its share of N D V F, and N theta(x). */
LAT_INLINE void mag_site(const lat_field *f, const lat_tour *w, int n, double *share, double *theta)
{
    const int nd = f->head.geom.nd;
    double x[LAT_SUN_REALS], a[LAT_SUN_REALS], b[LAT_SUN_REALS];
    memset(x, 0, sizeof(double) * 2 * (size_t)(n * n));
    *share = *theta = 0;
    for (int mu = 0; mu < nd; mu++) {
        lat_load(f, w->site * (size_t)nd + (size_t)mu, n, a);
        for (int i = 0; i < n; i++) {
            const double *d = a + 2 * (i * n + i);
            *share += d[0] * d[0] + d[1] * d[1];
        }
        add_off_diagonal(n, a, x);
        lat_load(f, lat_behind(w, mu) * (size_t)nd + (size_t)mu, n, b);
        lat_sun_dag(n, a, b);
        add_off_diagonal(n, a, x);
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const double *z = x + 2 * (i * n + j);
            *theta += z[0] * z[0] + z[1] * z[1];
        }
}

typedef struct gauge_sums {
    const lat_field *f;
    const lat_condition *c;
    size_t chunks, slices;
    lat_partial *part;       /* [chunks]: sum[0] F, sum[1] and max[1] theta */
    double *slice;       /* [chunks][slices]: theta */
} gauge_sums;

LAT_INLINE void gauge_chunk(const gauge_sums *g, size_t chunk, size_t to, int n)
{
    lat_partial *p = &g->part[chunk];
    double *slice = g->slice + chunk * g->slices, share, theta;
    lat_tour w;
    for (lat_tour_start(&w, &g->f->head.geom, chunk * LAT_CHUNK); w.site < to; lat_tour_on(&w)) {
        if (g->c->gauge == LAT_MAG)
            mag_site(g->f, &w, n, &share, &theta);
        else
            linear_site(g->f, g->c, &w, n, &share, &theta);
        p->sum[0] += share;
        p->sum[1] += theta;
        p->max[1] = lat_worse(p->max[1], theta);
        slice[g->c->time < 0 ? 0 : w.x[g->c->time]] += theta;
    }
}

static void gauge_any(const gauge_sums *g, size_t chunk, size_t to)
{
    switch (g->f->head.nc) {
    case 2: gauge_chunk(g, chunk, to, 2); break;
    case 3: gauge_chunk(g, chunk, to, 3); break;
    default: gauge_chunk(g, chunk, to, g->f->head.nc);
    }
}

static void gauge_total(const gauge_sums *g, double sites, lat_gauge_state *s, double *slices)
{
    const double weights = g->c->gauge == LAT_MAG ? g->f->head.geom.nd : lat_condition_weights(g->c);
    lat_partial all = {{0}, {0}};
    s->theta_slice = 0;
    for (size_t c = 0; c < g->chunks; c++) {
        all.sum[0] += g->part[c].sum[0];
        all.sum[1] += g->part[c].sum[1];
        all.max[1] = lat_worse(all.max[1], g->part[c].max[1]);
    }
    for (size_t i = 0; i < g->slices; i++) {
        double sum = 0;
        for (size_t c = 0; c < g->chunks; c++)
            sum += g->slice[c * g->slices + i];
        sum /= sites / (double)g->slices;
        s->theta_slice = lat_worse(s->theta_slice, sum);
        if (slices)
            slices[i] = sum;
    }
    s->functional = all.sum[0] / (sites * weights);
    s->theta = all.sum[1] / sites;
    s->theta_max = all.max[1] / g->f->head.nc;
}

int lat_measure_gauge(const lat_field *f, const lat_condition *c, lat_gauge_state *s, double *slices)
{
    const size_t volume = lat_volume(&f->head.geom);
    gauge_sums g = {.f = f, .c = c, .chunks = (volume + LAT_CHUNK - 1) / LAT_CHUNK,
                    .slices = (size_t)lat_condition_slices(c, &f->head.geom)};
    if (need_links(f, "the gauge condition"))
        return -1;
    g.part = lat_alloc(g.chunks, sizeof *g.part, "a measurement");
    g.slice = lat_alloc(g.chunks * g.slices, sizeof *g.slice, "a measurement");
    if (g.part && g.slice) {
        memset(g.part, 0, g.chunks * sizeof *g.part);
        memset(g.slice, 0, g.chunks * g.slices * sizeof *g.slice);
#pragma omp parallel for schedule(static)
        for (size_t chunk = 0; chunk < g.chunks; chunk++)
            gauge_any(&g, chunk, (chunk + 1) * LAT_CHUNK < volume ? (chunk + 1) * LAT_CHUNK : volume);
        gauge_total(&g, (double)volume * f->head.nc, s, slices);
    }
    const int rc = g.part && g.slice ? 0 : -1;
    free(g.part);
    free(g.slice);
    return rc;
}
