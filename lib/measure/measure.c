/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c: plaquette, Polyakov loop, deviations from SU(N), the gauge conditions. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "abelian.h"
#include "lattice/boundary.h"
#include "base/error.h"
#include "base/memory.h"
#include "site/sun.h"
#include "lattice/slices.h"
#include "lattice/iterate.h"

/* ---- plaquette and link trace ---------------------------------------------------------------- */

static int need_links(const lat_field *f, const char *what)
{
    if (f->head.kind != LAT_GAUGE)
        return lat_fail("%s needs a gauge field, but this is %s", what,
                        lat_kind_text(f->head.kind));
    return 0;
}

/* The sums of measure_plaquette.c over the whole field. The first ghost is the slice after the own
 * ones. */
int lat_measure_sums(const lat_field *f, bool group, lat_slice_sums *all)
{
    const int count = lat_field_slab(f).count;
    const char *after = (const char *)f->data
                        + (lat_field_shared(f) ? (size_t)count * lat_slice_bytes(&f->head) : 0);
    if (need_links(f, "the plaquette"))
        return -1;
    lat_slice_sums *own = lat_alloc((size_t)count, sizeof *own, "a measurement");
    lat_slice_sums *sums = lat_alloc((size_t)lat_slices(&f->head), sizeof *sums, "a measurement");
    int rc = own && sums ? lat_measure_slices(&f->head, f->data, count, after, group, own) : -1;
    if (rc == 0)
        rc = lat_field_gather(f, own, sizeof *own, sums);
    if (rc == 0)
        *all = lat_measure_total(&f->head, sums);
    LAT_FREE(own, sums);
    return rc;
}

int lat_measure_plaquette(const lat_field *f, double *plaquette, double *link_trace)
{
    lat_slice_sums all;
    if (lat_measure_sums(f, false, &all) < 0)
        return -1;
    lat_measure_means(&f->head, &all, plaquette, link_trace);
    return 0;
}

int lat_measure_planes(const lat_field *f, double *spatial, double *temporal)
{
    const int nd = f->head.geom.nd;
    const double sites = (double)lat_volume(&f->head.geom) * f->head.nc;
    lat_slice_sums all;
    if (lat_measure_sums(f, false, &all) < 0)
        return -1;
    *spatial = nd > 2 ? (all.plaquette - all.temporal) / (sites * ((nd - 1) * (nd - 2) / 2)) : NAN;
    *temporal = nd > 1 ? all.temporal / (sites * (nd - 1)) : NAN;
    return 0;
}

/* ---- Polyakov loop --------------------------------------------------------------------------- */

/* Item i is line number i along mu, not the last axis; its first site has x[mu] = 0. */
LAT_INLINE void lines_chunk(const lat_field *f, size_t from, size_t to, int n, int mu,
                            lat_partial *p)
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

static void lines_any(const lat_field *f, size_t from, size_t to, const void *arg, lat_partial *p)
{
    LAT_WITH_COLOURS(f->head.nc, lines_chunk(f, from, to, n, *(const int *)arg, p));
}

/* Along the last axis: loops <- loops times the links of this rank; `begin`: this is the first
 * rank, loops is undefined. */
static void extend_loops(const lat_field *f, double *loops, bool begin)
{
    const int n = f->head.nc, nd = f->head.geom.nd, count = lat_field_slab(f).count;
    const size_t lines = lat_slice_sites(&f->head), reals = 2 * (size_t)n * (size_t)n;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lines; i++) {
        double *loop = loops + i * reals, link[LAT_SUN_REALS], next[LAT_SUN_REALS];
        for (int t = 0; t < count; t++) {
            lat_load(f, (i + lines * (size_t)t) * (size_t)nd + (size_t)(nd - 1), n, link);
            if (begin && t == 0)
                memcpy(next, link, reals * sizeof *next);
            else
                lat_sun_mul(n, next, loop, link);
            memcpy(loop, next, reals * sizeof *next);
        }
    }
}

/* The sum over all lines along the last axis: the ranks multiply one after the other. */
static int polyakov_last_axis(const lat_field *f, double loop[2])
{
    const lat_comm *comm = lat_field_shared(f) ? f->comm : &lat_comm_self;
    const size_t lines = lat_slice_sites(&f->head),
                 reals = 2 * (size_t)f->head.nc * (size_t)f->head.nc;
    double *loops = lat_alloc(lines * reals, sizeof *loops, "Polyakov loops"), t[2];
    int rc = loops ? 0 : -1;
    if (rc == 0 && comm->rank > 0)
        rc = comm->receive(comm, comm->rank - 1, loops, lines * reals * sizeof *loops);
    if (rc == 0)
        extend_loops(f, loops, comm->rank == 0);
    if (rc == 0 && comm->rank + 1 < comm->size)
        rc = comm->send(comm, comm->rank + 1, loops, lines * reals * sizeof *loops);
    loop[0] = loop[1] = 0;
    for (size_t i = 0; i < lines && rc == 0; i++) {
        lat_sun_trace(f->head.nc, loops + i * reals, t);
        loop[0] += t[0];
        loop[1] += t[1];
    }
    free(loops);
    return rc ? -1 : comm->broadcast(comm, loop, 2 * sizeof *loop, comm->size - 1);
}

int lat_measure_polyakov(const lat_field *f, int mu, double loop[2])
{
    const lat_geometry *geom = &f->head.geom;
    lat_partial sum;
    if (need_links(f, "the Polyakov loop"))
        return -1;
    if (mu < 0 || mu >= geom->nd)
        return lat_fail("direction %d of a Polyakov loop is not in 0 to %d", mu, geom->nd - 1);
    if (mu == geom->nd - 1) {
        if (polyakov_last_axis(f, loop))
            return -1;
    } else {
        if (lat_over_chunks(f, lat_slice_sites(&f->head) / (size_t)geom->dims[mu], lines_any, &mu,
                            &sum))
            return -1;
        loop[0] = sum.sum[0];
        loop[1] = sum.sum[1];
    }
    for (int i = 0; i < 2; i++)
        loop[i] /= (double)(lat_volume(geom) / (size_t)geom->dims[mu]) * f->head.nc;
    return 0;
}

/* ---- deviations from SU(N) ------------------------------------------------------------------- */

LAT_INLINE void deviation_chunk(const lat_field *f, size_t from, size_t to, int n, unsigned open,
                                lat_partial *p)
{
    double m[LAT_SUN_REALS], det[2];
    for (size_t i = from; i < to; i++) {
        lat_load(f, i, n, m);
        if (open && lat_boundary_none(open, (int)(i % (size_t)f->head.geom.nd), m, 2 * n * n))
            continue;
        lat_sun_det(n, m, det);
        const double off = sqrt((1 - det[0]) * (1 - det[0]) + det[1] * det[1]);
        const double unitarity = lat_sun_unitarity(n, m);
        p->sum[0] += off;
        p->sum[1] += unitarity;
        p->max[0] = lat_worse(p->max[0], off);
        p->max[1] = lat_worse(p->max[1], unitarity);
    }
}

static void deviation_any(const lat_field *f, size_t from, size_t to, const void *arg,
                          lat_partial *p)
{
    LAT_WITH_COLOURS(f->head.nc, deviation_chunk(f, from, to, n, *(const unsigned *)arg, p));
}

int lat_measure_deviation(const lat_field *f, lat_deviation *d)
{
    const size_t matrices = lat_header_matrices(&f->head) - lat_boundary_missing(&f->head);
    const unsigned open = f->head.kind == LAT_GAUGE ? lat_boundary_open(&f->head) : 0;
    lat_partial all;
    if (lat_header_spinors(&f->head))
        return lat_fail("the distance from SU(%d) needs matrices, but this is %s", f->head.nc,
                        lat_kind_text(f->head.kind));
    if (lat_over_chunks(f, lat_slice_matrices(&f->head), deviation_any, &open, &all))
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

/* Landau and Coulomb gauge at the site of w: its term of N W V F, and N theta(x). */
LAT_INLINE void linear_site(const lat_field *f, const lat_condition *c, const lat_iterator *w,
                            int n, double *term, double *theta)
{
    const int nd = f->head.geom.nd;
    double s[LAT_SUN_REALS], a[LAT_SUN_REALS], b[LAT_SUN_REALS], t[2];
    memset(s, 0, sizeof(double) * 2 * (size_t)(n * n));
    *term = 0;
    for (int mu = 0; mu < nd; mu++) {
        if (c->weight[mu] == 0)
            continue;
        lat_load(f, w->site * (size_t)nd + (size_t)mu, n, a);
        lat_load(f, lat_iterator_down(w, mu) * (size_t)nd + (size_t)mu, n, b);
        lat_sun_trace(n, a, t);
        *term += c->weight[mu] * t[0];
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

/* Maximally Abelian gauge: its term of N D V F, and N theta(x). */
LAT_INLINE void mag_site(const lat_field *f, const lat_iterator *w, int n, double *term,
                         double *theta)
{
    const int nd = f->head.geom.nd;
    double x[LAT_SUN_REALS], a[LAT_SUN_REALS], b[LAT_SUN_REALS];
    memset(x, 0, sizeof(double) * 2 * (size_t)(n * n));
    *term = *theta = 0;
    for (int mu = 0; mu < nd; mu++) {
        lat_load(f, w->site * (size_t)nd + (size_t)mu, n, a);
        for (int i = 0; i < n; i++) {
            const double *d = a + 2 * (i * n + i);
            *term += d[0] * d[0] + d[1] * d[1];
        }
        add_off_diagonal(n, a, x);
        lat_load(f, lat_iterator_down(w, mu) * (size_t)nd + (size_t)mu, n, b);
        lat_sun_dag(n, a, b);
        add_off_diagonal(n, a, x);
    }
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            const double *z = x + 2 * (i * n + j);
            *theta += z[0] * z[0] + z[1] * z[1];
        }
}

/* A record has the sums of a chunk, of a slice across the last axis, or of all: functional, theta,
 * the largest theta, then theta and functional of each slice that is fixed independently. If these
 * are the slices across the last axis, a record has one of them only. */
typedef struct gauge_sums {
    const lat_field *f;
    const lat_condition *c;
    lat_problem problem;
    size_t slices, record; /* term, theta, these of each slice, the largest theta */
    bool across;           /* the slices of the condition are those of the last axis */
} gauge_sums;

LAT_INLINE void gauge_chunk(const gauge_sums *g, size_t from, size_t to, double *p, int n)
{
    const int time = g->across ? -1 : g->c->time;
    double term, theta;
    lat_iterator w;
    for (lat_iterator_start(&w, g->f, from); w.site < to; lat_iterator_next(&w)) {
        if (g->problem == LAT_ABELIAN)
            mag_site(g->f, &w, n, &term, &theta);
        else
            linear_site(g->f, g->c, &w, n, &term, &theta);
        p[0] += term;
        p[1] += theta;
        p[g->record - 1] = lat_worse(p[g->record - 1], theta);
        double *slice = p + 2 + 2 * (time < 0 ? 0 : w.x[time]);
        slice[0] += theta;
        slice[1] += term;
    }
}

static void gauge_any(const void *with, LAT_UNUSED size_t block, size_t from, size_t to, double *p)
{
    const gauge_sums *g = with;
    LAT_WITH_COLOURS(g->f->head.nc, gauge_chunk(g, from, to, p, n));
}

/* *s, thetas[] and functionals[] from the sums over all sites, and those of the slices, `step`
 * numbers apart. */
static void gauge_total(const gauge_sums *g, const double *sum, const double *of_slice, size_t step,
                        lat_gauge_state *s, double *thetas, double *functionals)
{
    const double weights = lat_condition_weights(g->c);
    const double sites = (double)lat_volume(&g->f->head.geom) * g->f->head.nc;
    s->theta_slice = 0;
    for (size_t i = 0; i < g->slices; i++) {
        const double theta = of_slice[i * step] / (sites / (double)g->slices);
        s->theta_slice = lat_worse(s->theta_slice, theta);
        if (thetas)
            thetas[i] = theta;
        if (functionals)
            functionals[i] = of_slice[i * step + 1] / (sites / (double)g->slices * weights);
    }
    s->functional = sum[0] / (sites * weights);
    s->theta = sum[1] / sites;
    s->theta_max = sum[g->record - 1] / g->f->head.nc;
}

int lat_measure_gauge(const lat_field *f, const lat_condition *c, lat_gauge_state *s,
                      double *thetas, double *functionals)
{
    gauge_sums g = {.f = f,
                    .c = c,
                    .problem = lat_gauge_table[c->gauge].problem,
                    .slices = (size_t)lat_condition_slices(c, &f->head.geom)};
    if (need_links(f, "the gauge condition"))
        return -1;
    g.across = c->time == f->head.geom.nd - 1;
    g.record = 3 + 2 * (g.across ? 1 : g.slices);
    lat_sums sums = {f, lat_slice_sites(&f->head), 1, .numbers = g.record, .most = 1};
    const int rc = lat_sums_take(&sums, gauge_any, &g);
    if (rc == 0)
        gauge_total(&g, sums.total, (g.across ? sums.all : sums.total) + 2, g.across ? g.record : 2,
                    s, thetas, functionals);
    free(sums.memory);
    return rc;
}

int lat_measure_restate(lat_field *f)
{
    lat_gauge_state state = {.functional = NAN, .theta = NAN};
    lat_condition condition;
    lat_residual residual;
    const bool known = strcmp(f->head.gauge, "none")
                       && lat_condition_read(&f->head, &condition) == 0;
    if (known && lat_measure_gauge(f, &condition, &state, NULL, NULL))
        return -1;
    if (!known)
        lat_error_clear();
    f->head.functional = state.functional;
    f->head.theta = state.theta;
    return lat_rc(
        lat_info_get(&f->head, LAT_INFO_RESIDUAL)
        && (lat_measure_residual(f, &residual) || lat_residual_note(&f->head, &residual)));
}
