/* SPDX-License-Identifier: BSD-3-Clause */
/* measure_links.c: clover field strength, topological charge, Schwinger-Dyson equation. */
#include "measure.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "lattice/iterate.h"

/* c = a^+ b. */
LAT_INLINE void dag_mul(int n, double *c, const double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < n; k++) {
                const double *p = a + 2 * (k * n + i), *q = b + 2 * (k * n + j);
                re += p[0] * q[0] + p[1] * q[1];
                im += p[0] * q[1] - p[1] * q[0];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

LAT_INLINE void add(int n, double *s, double w, const double *v)
{
    for (int i = 0; i < 2 * n * n; i++)
        s[i] += w * v[i];
}

LAT_INLINE void link_of(const lat_field *f, size_t site, int mu, int n, double *m)
{
    lat_load(f, site * (size_t)f->head.geom.nd + (size_t)mu, n, m);
}

/* c = U_mu(x) U_nu(y). */
LAT_INLINE void link_product(const lat_field *f, size_t x, int mu, size_t y, int nu, int n,
                             double *c)
{
    double a[LAT_SUN_REALS], b[LAT_SUN_REALS];
    link_of(f, x, mu, n, a);
    link_of(f, y, nu, n, b);
    lat_sun_mul(n, c, a, b);
}

/* ---- clover ---------------------------------------------------------------------------------- */

/* The sum of the four plaquettes at x that lead from mu towards nu (the leaves of the clover); each
 * is a product of two links times the dagger of another one. */
LAT_INLINE void leaves(const lat_field *f, const lat_iterator *w, int mu, int nu, int n,
                       double *sum)
{
    const size_t x = w->site, xm = lat_iterator_down(w, mu), xn = lat_iterator_down(w, nu);
    const size_t xmn = lat_field_next(f, xm, nu, -1);
    double a[LAT_SUN_REALS], p[LAT_SUN_REALS], q[LAT_SUN_REALS], v[LAT_SUN_REALS];
    memset(sum, 0, sizeof *sum * 2 * (size_t)(n * n));
    /* U_mu(x) U_nu(x+mu) [U_nu(x) U_mu(x+nu)]^+ */
    link_product(f, x, mu, lat_iterator_up(w, mu), nu, n, p);
    link_product(f, x, nu, lat_iterator_up(w, nu), mu, n, q);
    lat_sun_mul_dag(n, v, p, q);
    add(n, sum, 1, v);
    /* U_nu(x) [U_nu(x-mu) U_mu(x-mu+nu)]^+ U_mu(x-mu) */
    link_product(f, xm, nu, lat_field_next(f, xm, nu, 1), mu, n, p);
    link_of(f, x, nu, n, a);
    lat_sun_mul_dag(n, q, a, p);
    link_of(f, xm, mu, n, a);
    lat_sun_mul(n, v, q, a);
    add(n, sum, 1, v);
    /* [U_nu(x-mu-nu) U_mu(x-mu)]^+ U_mu(x-mu-nu) U_nu(x-nu) */
    link_product(f, xmn, nu, xm, mu, n, p);
    link_product(f, xmn, mu, xn, nu, n, q);
    dag_mul(n, v, p, q);
    add(n, sum, 1, v);
    /* U_nu(x-nu)^+ U_mu(x-nu) U_nu(x+mu-nu) U_mu(x)^+ */
    link_product(f, xn, mu, lat_field_next(f, xn, mu, 1), nu, n, p);
    link_of(f, xn, nu, n, a);
    dag_mul(n, q, a, p);
    link_of(f, x, mu, n, a);
    lat_sun_mul_dag(n, v, q, a);
    add(n, sum, 1, v);
}

/* F = (Q - Q^+)/8i without its trace, Q the sum of the leaves. */
LAT_INLINE void strength(int n, const double *q, double *f)
{
    double trace = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const double *u = q + 2 * (i * n + j), *l = q + 2 * (j * n + i);
            f[2 * (i * n + j)] = (u[1] + l[1]) / 8;
            f[2 * (i * n + j) + 1] = (l[0] - u[0]) / 8;
            trace += i == j ? u[1] / (4 * n) : 0;
        }
    for (int i = 0; i < n; i++)
        f[2 * (i * n + i)] -= trace;
}

LAT_INLINE void clover_chunk(const lat_field *f, size_t from, size_t to, int n, lat_partial *p)
{
    /* Planes xy, xz, xt, zt, yt, yz: i and i + 3 are dual, and eps is +, -, +. In fewer than four
     * dimensions some are missing. */
    const int nd = f->head.geom.nd;
    static const int plane[6][2] = {{0, 1}, {0, 2}, {0, 3}, {2, 3}, {1, 3}, {1, 2}};
    double q[LAT_SUN_REALS], s[6][LAT_SUN_REALS];
    lat_iterator w;
    for (lat_iterator_start(&w, f, from); w.site < to; lat_iterator_next(&w)) {
        for (int i = 0; i < 6; i++) {
            if (plane[i][1] >= nd)
                continue;
            leaves(f, &w, plane[i][0], plane[i][1], n, q);
            strength(n, q, s[i]);
            p->sum[1] += lat_overlap(n, s[i], s[i]);
        }
        if (nd == 4)
            p->sum[0] += lat_overlap(n, s[0], s[3]) - lat_overlap(n, s[1], s[4])
                         + lat_overlap(n, s[2], s[5]);
    }
}

static void clover_any(const lat_field *f, size_t from, size_t to, LAT_UNUSED const void *arg,
                       lat_partial *p)
{
    LAT_WITH_COLOURS(f->head.nc, clover_chunk(f, from, to, n, p));
}

int lat_measure_clover(const lat_field *f, lat_clover *c)
{
    lat_partial sum;
    if (f->head.kind != LAT_GAUGE || f->head.geom.nd < 2)
        return lat_fail("a field strength needs a gauge field in two dimensions or more");
    if (lat_over_chunks(f, lat_slice_sites(&f->head), clover_any, NULL, &sum))
        return -1;
    /* 8 terms of eps, over 32 pi^2 */
    c->charge = f->head.geom.nd == 4 ? sum.sum[0] / (4 * M_PI * M_PI) : NAN;
    c->density = sum.sum[1] / (double)lat_volume(&f->head.geom);
    return 0;
}

/* ---- Schwinger-Dyson ------------------------------------------------------------------------- */

/* The weighted staple sum of U_mu(x), which leads from x to x + mu (site/link.h). */
LAT_INLINE void staples(const lat_field *f, const lat_iterator *w, int mu, double xi, int n,
                        double *sum)
{
    const int nd = f->head.geom.nd;
    double a[LAT_SUN_REALS], b[LAT_SUN_REALS], v[LAT_SUN_REALS];
    memset(sum, 0, sizeof *sum * 2 * (size_t)(n * n));
    for (int nu = 0; nu < nd; nu++) {
        const double weight = mu == nd - 1 || nu == nd - 1 ? xi : 1 / xi;
        const size_t below = lat_iterator_down(w, nu);
        if (nu == mu)
            continue;
        /* U_nu(x) U_mu(x+nu) U_nu(x+mu)^+ */
        link_product(f, w->site, nu, lat_iterator_up(w, nu), mu, n, b);
        link_of(f, lat_iterator_up(w, mu), nu, n, a);
        lat_sun_mul_dag(n, v, b, a);
        add(n, sum, weight, v);
        /* U_nu(x-nu)^+ U_mu(x-nu) U_nu(x-nu+mu) */
        link_product(f, below, mu, lat_field_next(f, below, mu, 1), nu, n, b);
        link_of(f, below, nu, n, a);
        dag_mul(n, v, a, b);
        add(n, sum, weight, v);
    }
}

LAT_INLINE void schwinger_dyson_chunk(const lat_field *f, size_t from, size_t to, int n, double xi,
                                      lat_partial *p)
{
    double s[LAT_SUN_REALS], u[LAT_SUN_REALS], x[LAT_SUN_REALS];
    lat_iterator w;
    for (lat_iterator_start(&w, f, from); w.site < to; lat_iterator_next(&w))
        for (int mu = 0; mu < f->head.geom.nd; mu++) {
            double trace = 0;
            staples(f, &w, mu, xi, n, s);
            link_of(f, w.site, mu, n, u);
            lat_sun_mul_dag(n, x, u, s);
            for (int i = 0; i < n; i++) {
                p->sum[0] += x[2 * (i * n + i)];
                trace += x[2 * (i * n + i) + 1];
                for (int j = 0; j < n; j++) {
                    const double *z = x + 2 * (i * n + j), *t = x + 2 * (j * n + i);
                    const double re = z[0] - t[0], im = z[1] + t[1];
                    p->sum[1] += (re * re + im * im) / 4;
                }
            }
            p->sum[1] -= trace * trace / n;
        }
}

static void schwinger_dyson_any(const lat_field *f, size_t from, size_t to, const void *arg,
                                lat_partial *p)
{
    const double xi = *(const double *)arg;
    LAT_WITH_COLOURS(f->head.nc, schwinger_dyson_chunk(f, from, to, n, xi, p));
}

int lat_measure_schwinger_dyson(const lat_field *f, double xi, lat_schwinger_dyson *m)
{
    const double links = (double)lat_header_matrices(&f->head), n = f->head.nc;
    lat_partial sum;
    if (f->head.kind != LAT_GAUGE)
        return lat_fail("the Schwinger-Dyson equation needs a gauge field, but this is %s",
                        lat_kind_text(f->head.kind));
    if (lat_over_chunks(f, lat_slice_sites(&f->head), schwinger_dyson_any, &xi, &sum))
        return -1;
    /* Elements of X are sums of 2(D - 1) staples of weight xi or 1 / xi, each a product of three
     * links; those of B have their rounding, times a few. */
    const double eps = f->head.real == LAT_F32 ? FLT_EPSILON : DBL_EPSILON,
                 one = 16 * eps * 2 * (f->head.geom.nd - 1) * fmax(xi, 1 / xi),
                 force = sum.sum[1] / links;
    *m = (lat_schwinger_dyson){sum.sum[0] / links, force,
                               force > n * n * one * one ? (n * n - 1) * sum.sum[0] / sum.sum[1]
                                                         : NAN};
    return 0;
}
