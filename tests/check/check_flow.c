/* SPDX-License-Identifier: BSD-3-Clause */
/* check_flow.c: the gradient flow beside a plain one that multiplies its paths link by link; the
 * order of the integrator; what flows cannot change; open time and anisotropy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "check.h"
#include "devices.h"
#include "fields.h"
#include "flow/flow.h"
#include "lattice/boundary.h"
#include "measure/measure.h"

#define EPS 0x1p-52

static lat_field rough_links(const char *dims, int nc, uint64_t seed)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64);
    fill_near_one(&u, ROUGH, seed);
    need(lat_flow_prepare(&u) == 0, "links");
    return u;
}

/* Without the links from the last slice to the first. */
static lat_field open_links(const char *dims, int nc, uint64_t seed)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64);
    const double none[LAT_SUN_REALS] = {0};
    const size_t nd = (size_t)u.head.geom.nd, links = lat_field_matrices(&u),
                 slice = lat_slice_sites(&u.head);
    fill_near_one(&u, ROUGH, seed);
    for (size_t i = links - slice * nd + nd - 1; i < links; i += nd)
        lat_field_put(&u, i, none);
    need(lat_boundary_set(&u.head, (int)nd - 1, LAT_OPEN) == 0 && lat_flow_prepare(&u) == 0,
         "links");
    return u;
}

static lat_field links_of(const char *dims, int nc, bool open, uint64_t seed)
{
    return open ? open_links(dims, nc, seed) : rough_links(dims, nc, seed);
}

static lat_field flowed(lat_device *dev, const lat_field *u, lat_flow_how how, double t)
{
    lat_field v = {.data = NULL};
    lat_flow *f = lat_flow_open(dev, u, &how);
    need(f && lat_field_duplicate(u, &v) == 0 && lat_flow_advance(f, t) == 0
             && lat_flow_get(f, &v) == 0,
         "a flow");
    lat_flow_close(f);
    return v;
}

static lat_flow_measured measured_on(lat_device *dev, const lat_field *u)
{
    const lat_flow_how how = {.step = 1};
    lat_flow_measured m = {0};
    lat_flow *f = lat_flow_open(dev, u, &how);
    need(f && lat_flow_measure(f, &m, NULL) == 0, "a measurement");
    lat_flow_close(f);
    return m;
}

static lat_flow_measured measured(const lat_field *u) { return measured_on(cpu_device(), u); }

/* The numbers of its slices. */
static void slices_of(lat_device *dev, const lat_field *u, lat_flow_measured *slices)
{
    const lat_flow_how how = {.step = 1};
    lat_flow_measured m;
    lat_flow *f = lat_flow_open(dev, u, &how);
    need(f && lat_flow_measure(f, &m, slices) == 0, "a measurement");
    lat_flow_close(f);
}

/* The largest difference, of charges up to the sign. */
static double slice_apart(const lat_flow_measured *a, const lat_flow_measured *b, int sign)
{
    return fmax(fmax(fabs(a->plaquette - b->plaquette), fabs(a->temporal - b->temporal)),
                fmax(fabs(a->spatial - b->spatial), fabs(a->charge - sign * b->charge)));
}

/* The largest N that a device has code for. */
static int largest(const lat_device *dev)
{
    int nc = 1;
    for (bool more = true; more; nc += more) {
        lat_field u = field_new(LAT_GAUGE, geometry_of("2,2"), nc + 1, LAT_F64);
        more = nc < LAT_FLOW_MOST && lat_flow_check(dev, &u) == 0;
        lat_field_free(&u);
    }
    lat_error_clear();
    return nc;
}

/* The largest Frobenius norm of a difference of links. */
static double apart(const lat_field *a, const lat_field *b)
{
    double most = 0, m[LAT_SUN_REALS], n[LAT_SUN_REALS];
    for (size_t i = 0; i < lat_field_matrices(a); i++) {
        lat_field_get(a, i, m);
        lat_field_get(b, i, n);
        const double d = lat_sun_distance(a->head.nc, m, n);
        most = lat_worse(most, d);
    }
    return most;
}

/* ---- a plain flow ---------------------------------------------------------------------------- */

/* The product of links along steps: mu + 1 forwards along mu, -(mu + 1) backwards. */
static void path(const lat_field *u, size_t x, const int *steps, int length, double *p)
{
    const int n = u->head.nc, nd = u->head.geom.nd;
    double l[LAT_SUN_REALS], d[LAT_SUN_REALS], q[LAT_SUN_REALS];
    lat_sun_one(n, p);
    for (int i = 0; i < length; i++) {
        const int mu = abs(steps[i]) - 1;
        if (steps[i] < 0)
            x = lat_neighbour(&u->head.geom, x, mu, -1);
        lat_field_get(u, x * (size_t)nd + (size_t)mu, l);
        if (steps[i] < 0)
            lat_sun_dag(n, d, l);
        lat_sun_mul(n, q, p, steps[i] < 0 ? d : l);
        memcpy(p, q, 2 * (size_t)(n * n) * sizeof *p);
        if (steps[i] > 0)
            x = lat_neighbour(&u->head.geom, x, mu, 1);
    }
}

/* The closed paths that begin with the link along m: a plaquette, and three rectangles: long across
 * m, and along m with the link at their beginning or their end. s is the other direction, with its
 * sign. */
static double weigh(const lat_field *u, size_t x, int m, int s, double c1, double *sum)
{
    const int paths[4][6] = {
        {m, s, -m, -s}, {m, s, s, -m, -s, -s}, {m, m, s, -m, -m, -s}, {m, s, -m, -m, -s, m}};
    const int n = u->head.nc;
    double p[LAT_SUN_REALS], action = 0;
    for (int i = 0; i < 4; i++) {
        const double c = i ? c1 : 1 - 8 * c1;
        path(u, x, paths[i], i ? 6 : 4, p);
        for (int e = 0; e < 2 * n * n; e++)
            sum[e] += c * p[e];
        for (int a = 0; a < n; a++)
            action += c * (1 - p[2 * (a * n + a)]);
    }
    return action;
}

static int slice_of(const lat_field *u, size_t x) { return (int)(x / lat_slice_sites(&u->head)); }

static bool at_end(const lat_field *u, int t)
{
    return lat_boundary_open(&u->head) && (t == 0 || t == lat_slices(&u->head) - 1);
}

/* What a path of link x, m and s counts in the flow: with open time the action has half of the
 * plaquettes of space at the ends, and its gradient for a link of space there counts twice. */
static double weight_of(const lat_field *u, size_t x, int m, int s, double xi)
{
    const int time = u->head.geom.nd;
    const bool end = at_end(u, slice_of(u, x)), space = m != time && s != time;
    return (space && end ? .5 : 1) * (m != time && end ? 2 : 1)
           * (m != time && !space && xi > 0 ? xi * xi : 1);
}

/* Z of link x, m, and the part of the action that has it. */
static double plain_force(const lat_field *u, size_t x, int m, const lat_flow_how *how, double *z)
{
    const int n = u->head.nc;
    double sum[LAT_SUN_REALS] = {0}, action = 0, trace = 0;
    for (int s = 1; s <= u->head.geom.nd; s++)
        for (int sign = -1; sign <= 1 && s != m; sign += 2) {
            double one[LAT_SUN_REALS] = {0};
            action += weigh(u, x, m, sign * s, how->c1, one);
            for (int e = 0; e < 2 * n * n; e++)
                sum[e] += weight_of(u, x, m, s, how->xi) * one[e];
        }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const double *p = sum + 2 * (a * n + b), *q = sum + 2 * (b * n + a);
            z[2 * (a * n + b)] = -(p[0] - q[0]) / 2;
            z[2 * (a * n + b) + 1] = -(p[1] + q[1]) / 2;
            trace += a == b ? -p[1] : 0;
        }
    for (int a = 0; a < n; a++)
        z[2 * (a * n + a) + 1] -= trace / n;
    return action;
}

/* A step of Luescher's scheme as he prints it, with all Z kept. */
static void plain_step(lat_field *u, double eps, const lat_flow_how *how)
{
    static const double w[3][3] = {{1. / 4}, {-17. / 36, 8. / 9}, {17. / 36, -8. / 9, 3. / 4}};
    const size_t links = lat_field_matrices(u), nd = (size_t)u->head.geom.nd;
    const int n = u->head.nc, reals = 2 * n * n;
    double *z = malloc(3 * links * LAT_SUN_REALS * sizeof *z);
    need(z != NULL, "memory");
    for (size_t stage = 0; stage < 3; stage++) {
        for (size_t l = 0; l < links; l++)
            plain_force(u, l / nd, (int)(l % nd) + 1, how, z + (stage * links + l) * LAT_SUN_REALS);
        for (size_t l = 0; l < links; l++) {
            double x[LAT_SUN_REALS] = {0}, e[LAT_SUN_REALS], m[LAT_SUN_REALS], v[LAT_SUN_REALS];
            for (size_t k = 0; k <= stage; k++)
                for (int i = 0; i < reals; i++)
                    x[i] += eps * w[stage][k] * z[(k * links + l) * LAT_SUN_REALS + (size_t)i];
            lat_sun_exp(n, e, x);
            lat_field_get(u, l, m);
            lat_sun_mul(n, v, e, m);
            lat_field_put(u, l, v);
        }
    }
    free(z);
}

static const double actions[] = {0, LAT_FLOW_SYMANZIK, LAT_FLOW_IWASAKI};

static void check_links(lat_device *dev, lat_field u, double c1, double xi)
{
    const double eps = .03;
    const int nc = u.head.nc;
    char dims[64];
    lat_field v;
    const lat_flow_how how = {.c1 = c1, .step = eps, .xi = xi};
    lat_field w = flowed(dev, &u, how, 2 * eps);
    need(lat_field_duplicate(&u, &v) == 0, "memory");
    plain_step(&v, eps, &how);
    plain_step(&v, eps, &how);
    /* Six stages; in each eps times a sum of paths, products of six matrices at most, of total
     * weight 2 (nd - 1) (c0 + 3 |c1|), and an exponential times a link: some N roundings each. */
    const double weights = (4 + 2 * fmax(1, xi * xi)) * (1 + 11 * fabs(c1)),
                 bound = 6 * (eps * weights * 6 + 8) * nc * EPS;
    const double d = apart(&v, &w);
    CHECK(d <= bound, "%s, SU(%d), %s, c1 %g, xi %g: links apart by %g, at most %g expected",
          lat_dims_text(&u.head.geom, dims), nc, lat_boundary_open(&u.head) ? "open" : "periodic",
          c1, xi, d, bound);
    lat_field_free(&u);
    lat_field_free(&v);
    lat_field_free(&w);
}

static void check_plain(lat_device *dev, const char *dims, int nc, double c1)
{
    check_links(dev, rough_links(dims, nc, 5), c1, 0);
}

/* Boxes of lanes and none, odd extents, extents of 1 and 2, two to four directions. */
static void check_plain_all(lat_device *dev)
{
    static const char *const lattices[] = {"4,4,4,4", "3,5,2,4", "8,3,4,2",
                                           "4,3,5",   "6,5",     "2,4,1,3"};
    for (size_t i = 0; i < sizeof lattices / sizeof *lattices; i++)
        for (size_t a = 0; a < sizeof actions / sizeof *actions; a++)
            for (int nc = 2; nc <= 3; nc++)
                check_plain(dev, lattices[i], nc, actions[a]);
    for (int nc = 4; nc <= largest(dev); nc++)
        check_plain(dev, nc % 2 ? "3,2,2,4" : "4,4,2,2", nc, actions[nc % 2]);
}

/* ---- measurements ---------------------------------------------------------------------------- */

static void check_measurements(lat_device *dev, const char *dims, int nc)
{
    lat_field u = rough_links(dims, nc, 7);
    const lat_flow_measured m = measured_on(dev, &u);
    const int nd = u.head.geom.nd;
    double p, trace;
    lat_clover c = {NAN, NAN};
    need(lat_measure_plaquette(&u, &p, &trace) == 0, "a plaquette");
    need(nd != 4 || lat_measure_clover(&u, &c) == 0, "a clover");
    /* Sums of nd (nd - 1) / 2 planes of numbers of order N, products of eight matrices. */
    const double bound = 8 * nd * nd * nc * nc * EPS, volume = (double)lat_volume(&u.head.geom);
    CHECK(fabs(m.plaquette - nd * (nd - 1) * nc * (1 - p)) <= bound, "%s, SU(%d): %.17g", dims, nc,
          m.plaquette);
    if (nd == 4) {
        CHECK(fabs(m.temporal + m.spatial - c.density) <= bound, "%s, SU(%d): %.17g and %.17g",
              dims, nc, m.temporal + m.spatial, c.density);
        CHECK(fabs(m.charge - c.charge) <= bound * volume / 40,
              "%s, SU(%d): charge %.17g and %.17g", dims, nc, m.charge, c.charge);
    } else {
        CHECK(isnan(m.charge), "%s: a charge", dims);
    }
    lat_field_free(&u);
}

/* Abelian fields of uniform flux in the planes 01 and 23: staples on both sides cancel, so that no
 * link moves. F_12 = sin w diag(1, -1, 0 ..). */
static lat_field flux(const char *dims, int nc, int k, int l)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of(dims), nc, LAT_F64);
    const lat_geometry *geom = &u.head.geom;
    const int *n = geom->dims;
    const double w[2] = {2 * M_PI * k / (n[0] * n[1]), 2 * M_PI * l / (n[2] * n[3])};
    for (size_t x = 0; x < lat_volume(geom); x++) {
        int y[LAT_MAX_DIMS];
        lat_coordinates(geom, x, y);
        for (int mu = 0; mu < 4; mu++) {
            const int a = mu / 2 * 2;
            const double angle = mu % 2             ? w[mu / 2] * y[a]
                                 : y[a] == n[a] - 1 ? -w[mu / 2] * n[a] * y[a + 1]
                                                    : 0;
            double m[LAT_SUN_REALS];
            lat_sun_one(nc, m);
            for (int i = 0; i < 2; i++) {
                m[2 * (i * nc + i)] = cos(angle);
                m[2 * (i * nc + i) + 1] = i ? -sin(angle) : sin(angle);
            }
            lat_field_put(&u, x * 4 + (size_t)mu, m);
        }
    }
    return u;
}

static void check_flux(int nc, double c1)
{
    lat_field u = flux("4,6,5,4", nc, 1, 2);
    const double w = 2 * M_PI / 24, v = 4 * M_PI / 20, volume = 4 * 6 * 5 * 4;
    const double t = .3, bound = 200 * nc * EPS;
    const lat_flow_how how = {.c1 = c1, .step = .05};
    lat_field f = flowed(cpu_device(), &u, how, t);
    const lat_flow_measured m = measured(&f);
    /* Six steps of three stages; modes that are not stable grow by exp(t w) at most. */
    CHECK(apart(&u, &f) <= bound, "SU(%d): moved by %g", nc, apart(&u, &f));
    CHECK(fabs(m.plaquette - 4 * (1 - cos(w)) - 4 * (1 - cos(v))) <= bound, "%.17g", m.plaquette);
    CHECK(fabs(m.spatial - 2 * sin(w) * sin(w)) <= bound, "%.17g", m.spatial);
    CHECK(fabs(m.temporal - 2 * sin(v) * sin(v)) <= bound, "%.17g", m.temporal);
    CHECK(fabs(m.charge - volume * 2 * sin(w) * sin(v) / (4 * M_PI * M_PI)) <= bound * volume / 40,
          "%.17g", m.charge);
    lat_field_free(&u);
    lat_field_free(&f);
}

/* ---- the integrator -------------------------------------------------------------------------- */

static void check_order(int nc, double c1, bool open)
{
    const double t = .24;
    lat_field u = links_of("4,4,4,4", nc, open, 11);
    double d[2];
    lat_field fine = flowed(cpu_device(), &u, (lat_flow_how){.c1 = c1, .step = t / 64}, t);
    for (int i = 0; i < 2; i++) {
        lat_field v = flowed(cpu_device(), &u, (lat_flow_how){.c1 = c1, .step = t / (8 << i)}, t);
        d[i] = apart(&v, &fine);
        lat_field_free(&v);
    }
    /* 8 but for terms of the next order, and for the error of the finest, 1/512 of the first. */
    CHECK(d[0] / d[1] > 6.5 && d[0] / d[1] < 10, "SU(%d), c1 %g: errors %g and %g, ratio %g", nc,
          c1, d[0], d[1], d[0] / d[1]);
    for (double tolerance = 1e-3; tolerance > 1e-8; tolerance /= 100) {
        lat_field v = flowed(cpu_device(), &u, (lat_flow_how){.c1 = c1, .tolerance = tolerance}, t);
        /* The fine one has d[1] / 64 at most. */
        CHECK(apart(&v, &fine) <= tolerance + d[1] / 64, "SU(%d), c1 %g: error %g of tolerance %g",
              nc, c1, apart(&v, &fine), tolerance);
        lat_field_free(&v);
    }
    lat_field_free(&u);
    lat_field_free(&fine);
}

/* Where the bound of eps Z is large, exponentials are squared: links stay in the group. */
static void check_large_steps(lat_device *dev, int nc)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of("4,4,4,2"), nc, LAT_F64), v, w;
    fill_haar(&u, 13);
    w = flowed(dev, &u, (lat_flow_how){.step = .7}, .7);
    need(lat_field_duplicate(&u, &v) == 0, "memory");
    plain_step(&v, .7, &(lat_flow_how){.c1 = 0});
    lat_deviation off;
    need(lat_measure_deviation(&w, &off) == 0, "a deviation");
    /* Four squarings; the error of a square is twice that of its root. */
    const double bound = 3 * 16 * 32 * nc * EPS;
    CHECK(off.unitarity_max <= bound && off.det_max <= nc * bound, "SU(%d): %g, %g", nc,
          off.unitarity_max, off.det_max);
    CHECK(apart(&v, &w) <= 8 * bound, "SU(%d): links apart by %g", nc, apart(&v, &w));
    lat_field_free(&u);
    lat_field_free(&v);
    lat_field_free(&w);
}

/* ---- symmetries ------------------------------------------------------------------------------ */

static void check_covariance(int nc, double c1, bool open)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-5};
    lat_field u = links_of("4,6,3,4", nc, open, 17), rotated;
    lat_field g = haar_transform(&u, 19);
    need(lat_field_duplicate(&u, &rotated) == 0 && lat_transform_apply(&rotated, &g) == 0
             && lat_flow_prepare(&rotated) == 0,
         "a transformation");
    lat_field v = flowed(cpu_device(), &u, how, .2), w = flowed(cpu_device(), &rotated, how, .2);
    const lat_flow_measured a = measured(&v), b = measured(&w);
    need(lat_transform_apply(&v, &g) == 0, "a transformation");
    /* Some tens of stages. */
    const double bound = 400 * nc * EPS;
    CHECK(apart(&v, &w) <= bound, "SU(%d), c1 %g: apart by %g", nc, c1, apart(&v, &w));
    CHECK(fabs(a.plaquette - b.plaquette) <= bound && fabs(a.charge - b.charge) <= bound,
          "SU(%d): densities and charge differ", nc);
    lat_flow_measured of[2][4];
    slices_of(cpu_device(), &v, of[0]);
    slices_of(cpu_device(), &w, of[1]);
    for (int t = 0; t < 4; t++)
        CHECK(slice_apart(&of[0][t], &of[1][t], 1) <= bound, "SU(%d): slice %d differs", nc, t);
    lat_field_free(&u);
    lat_field_free(&rotated);
    lat_field_free(&g);
    lat_field_free(&v);
    lat_field_free(&w);
}

static double plain_action(const lat_field *u, const lat_flow_how *how)
{
    double z[LAT_SUN_REALS], sum = 0;
    for (size_t l = 0; l < lat_field_matrices(u); l++)
        sum += plain_force(u, l / 4, (int)(l % 4) + 1, how, z);
    return sum;
}

static void check_downhill(double c1)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-4};
    lat_field u = rough_links("4,3,2,4", 3, 23);
    double before = plain_action(&u, &how);
    for (int i = 0; i < 8; i++) {
        lat_field v = flowed(cpu_device(), &u, how, .15);
        const double after = plain_action(&v, &how);
        CHECK(after < before, "c1 %g, t %g: action %g after %g", c1, .15 * (i + 1), after, before);
        before = after;
        lat_field_free(&u);
        u = v;
    }
    lat_field_free(&u);
}

/* g(x) g(x+mu)^+: no force, no step. */
static void check_pure_gauge(int nc, double c1)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-6};
    lat_field u = field_new(LAT_GAUGE, geometry_of("4,2,3,4"), nc, LAT_F64);
    fill_near_one(&u, 0, 1);
    lat_field g = haar_transform(&u, 29);
    need(lat_transform_apply(&u, &g) == 0 && lat_flow_prepare(&u) == 0, "a transformation");
    lat_field v = flowed(cpu_device(), &u, how, 1);
    const lat_flow_measured m = measured(&v);
    const double bound = 100 * nc * EPS;
    CHECK(apart(&u, &v) <= bound, "SU(%d): moved by %g", nc, apart(&u, &v));
    CHECK(fabs(m.plaquette) <= bound && fabs(m.spatial) <= bound * bound
              && fabs(m.temporal) <= bound * bound && fabs(m.charge) <= bound,
          "SU(%d): a density", nc);
    lat_field_free(&u);
    lat_field_free(&v);
    lat_field_free(&g);
}

/* Bit for bit: the checking device, which has ghosts, and another number of threads. */
static void check_same_bits(const char *dims, int nc, double c1, bool open)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-4};
    lat_field u = links_of(dims, nc, open, 31);
    lat_field v = flowed(cpu_device(), &u, how, .1);
    lat_field w = flowed(checking_device(), &u, how, .1);
    CHECK(!memcmp(v.data, w.data, lat_field_reals(&v) * sizeof(double)),
          "%s, SU(%d): the checking device has other links", dims, nc);
    lat_field_free(&w);
#ifdef _OPENMP
    const int threads = omp_get_max_threads();
    omp_set_num_threads(3);
    w = flowed(cpu_device(), &u, how, .1);
    omp_set_num_threads(threads);
    CHECK(!memcmp(v.data, w.data, lat_field_reals(&v) * sizeof(double)),
          "%s, SU(%d): three threads have other links", dims, nc);
    lat_field_free(&w);
#endif
    lat_field_free(&u);
    lat_field_free(&v);
}

/* ---- slices, open time, anisotropy ----------------------------------------------------------- */

/* 8i F of a plane at a site, from the leaves. */
static void plain_strength(const lat_field *u, size_t x, int m, int s, double *f)
{
    const int leaf[4][4] = {{m, s, -m, -s}, {s, -m, -s, m}, {-m, -s, m, s}, {-s, m, s, -m}};
    const int n = u->head.nc;
    double sum[LAT_SUN_REALS] = {0}, p[LAT_SUN_REALS], trace = 0;
    for (int l = 0; l < 4; l++) {
        path(u, x, leaf[l], 4, p);
        for (int e = 0; e < 2 * n * n; e++)
            sum[e] += p[e];
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            f[2 * (a * n + b)] = sum[2 * (a * n + b)] - sum[2 * (b * n + a)];
            f[2 * (a * n + b) + 1] = sum[2 * (a * n + b) + 1] + sum[2 * (b * n + a) + 1];
            trace += a == b ? f[2 * (a * n + a) + 1] / n : 0;
        }
    for (int a = 0; a < n; a++)
        f[2 * (a * n + a) + 1] -= trace;
}

/* tr F G of two of them. */
static double plain_product(int n, const double *f, const double *g)
{
    double sum = 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const double *p = f + 2 * (a * n + b), *q = g + 2 * (b * n + a);
            sum -= (p[0] * q[0] - p[1] * q[1]) / 64;
        }
    return sum;
}

/* Re tr (1 - U_p); 0 where time is open and the plaquette is missing. */
static double plain_plaquette(const lat_field *u, size_t x, int m, int s)
{
    const int n = u->head.nc;
    double p[LAT_SUN_REALS], sum = 0;
    path(u, x, (const int[]){m, s, -m, -s}, 4, p);
    for (int a = 0; a < n; a++)
        sum += 1 - p[2 * (a * n + a)];
    const bool missing = lat_boundary_open(&u->head) && s == u->head.geom.nd
                         && slice_of(u, x) == lat_slices(&u->head) - 1;
    return missing ? 0 : sum;
}

/* What a site of four dimensions has of its slice, and half of its plaquettes in time of the next
 * one. */
static void plain_numbers(const lat_field *u, size_t x, lat_flow_measured *here, double *next)
{
    static const int plane[6][2] = {{1, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}};
    const bool end = at_end(u, slice_of(u, x));
    const int n = u->head.nc;
    double f[6][LAT_SUN_REALS];
    for (int p = 0; p < 6; p++) {
        const int m = plane[p][0], s = plane[p][1];
        const double one = plain_plaquette(u, x, m, s);
        here->plaquette += s == 4 ? one : 2 * one * (end ? .5 : 1);
        *next += s == 4 ? one : 0;
        plain_strength(u, x, m, s, f[p]);
        const double square = end ? 0 : plain_product(n, f[p], f[p]);
        here->temporal += s == 4 ? square : 0;
        here->spatial += s == 4 ? 0 : square;
    }
    here->charge += end ? 0
                        : (plain_product(n, f[0], f[5]) - plain_product(n, f[1], f[4])
                           + plain_product(n, f[2], f[3]))
                              / (4 * M_PI * M_PI);
}

/* Slices as the plain numbers have them; their sums and means. */
static void check_slices(lat_device *dev, const char *dims, int nc, bool open)
{
    enum { MOST = 16 };
    lat_field u = links_of(dims, nc, open, 43);
    const int slices = lat_slices(&u.head);
    const double sites = (double)lat_slice_sites(&u.head);
    const lat_flow_how how = {.step = 1};
    lat_flow_measured plain[MOST + 1] = {{0}}, found[MOST], all, part;
    double charge = 0;
    for (size_t x = 0; x < lat_volume(&u.head.geom); x++) {
        const int t = slice_of(&u, x);
        plain_numbers(&u, x, &plain[t], &plain[(t + 1) % slices].plaquette);
    }
    lat_flow *f = lat_flow_open(dev, &u, &how);
    need(f && lat_flow_measure(f, &all, found) == 0, "a measurement");
    /* Six planes of numbers of order N, products of eight matrices. */
    const double bound = 8 * 16 * nc * nc * EPS;
    for (int t = 0; t < slices; t++) {
        const lat_flow_measured p = {plain[t].plaquette / sites, plain[t].temporal / sites,
                                     plain[t].spatial / sites, plain[t].charge};
        CHECK(slice_apart(&p, &found[t], 1) <= bound * sites,
              "SU(%d), %s: slice %d: %.17g and %.17g", nc, dims, t, p.plaquette,
              found[t].plaquette);
        CHECK(!at_end(&u, t) || (found[t].spatial == 0 && found[t].charge == 0), "slice %d", t);
        charge += found[t].charge;
    }
    CHECK(fabs(charge - all.charge) <= bound * sites, "SU(%d): charge %.17g and %.17g", nc, charge,
          all.charge);
    part = lat_flow_window(f, found, 0, slices - 1);
    CHECK(slice_apart(&part, &all, 1) <= bound * sites, "SU(%d): the window of all slices", nc);
    part = lat_flow_window(f, found, 2, 2);
    CHECK(slice_apart(&part, &found[2], 1) <= bound, "SU(%d): the window of a slice", nc);
    lat_flow_close(f);
    lat_field_free(&u);
}

/* The flow with open time is the periodic one of links and their mirror image beyond each end, of
 * which it has the first slices. */
static void check_reflected(const char *dims, const char *twice, int nc, double xi)
{
    const lat_flow_how how = {.step = .05, .xi = xi};
    lat_field u = open_links(dims, nc, 47),
              m = field_new(LAT_GAUGE, geometry_of(twice), nc, LAT_F64);
    const size_t nd = (size_t)u.head.geom.nd, slice = lat_slice_sites(&u.head);
    const int last = lat_slices(&u.head) - 1;
    for (size_t l = 0; l < lat_field_matrices(&m); l++) {
        const int t = slice_of(&m, l / nd);
        const bool time = l % nd == nd - 1;
        const size_t from = (size_t)(t < last + !time ? t : 2 * last - time - t) * slice;
        double a[LAT_SUN_REALS], b[LAT_SUN_REALS];
        lat_field_get(&u, (from + l / nd % slice) * nd + l % nd, a);
        lat_sun_dag(nc, b, a);
        lat_field_put(&m, l, time && t >= last ? b : a);
    }
    lat_field v = flowed(cpu_device(), &u, how, .2), w = flowed(cpu_device(), &m, how, .2);
    double most = 0, a[LAT_SUN_REALS], b[LAT_SUN_REALS];
    for (size_t l = 0; l < lat_field_matrices(&v); l++) {
        lat_field_get(&v, l, a);
        lat_field_get(&w, l, b);
        if (l % nd != nd - 1 || slice_of(&v, l / nd) < last)
            most = lat_worse(most, lat_sun_distance(nc, a, b));
        else
            CHECK(lat_boundary_none(1, 0, a, 2 * nc * nc), "%s, SU(%d): a link that was missing",
                  dims, nc);
    }
    /* Twelve stages; rounding as in check_links, which the flow damps. */
    const double bound = 12 * (.05 * (4 + 2 * fmax(1, xi * xi)) * 6 + 8) * nc * EPS;
    CHECK(most <= bound, "%s, SU(%d), xi %g: apart by %g, at most %g expected", dims, nc, xi, most,
          bound);
    lat_field_free(&u);
    lat_field_free(&m);
    lat_field_free(&v);
    lat_field_free(&w);
}

/* Slice t becomes T - 1 - t: so do its numbers, and the charge changes its sign. */
static void check_reversed(int nc)
{
    enum { T = 7 };
    const lat_flow_how how = {.tolerance = 1e-4};
    lat_field u = open_links("4,3,4,7", nc, 53), m;
    const size_t slice = lat_slice_sites(&u.head);
    lat_flow_measured a[T], b[T];
    need(lat_field_duplicate(&u, &m) == 0, "memory");
    for (size_t l = 0; l < lat_field_matrices(&u); l++) {
        const int t = slice_of(&u, l / 4), to = T - 1 - t - (l % 4 == 3);
        double p[LAT_SUN_REALS], q[LAT_SUN_REALS];
        lat_field_get(&u, l, p);
        lat_sun_dag(nc, q, p);
        if (to >= 0)
            lat_field_put(&m, ((size_t)to * slice + l / 4 % slice) * 4 + l % 4, l % 4 == 3 ? q : p);
    }
    lat_field v = flowed(cpu_device(), &u, how, .3), w = flowed(cpu_device(), &m, how, .3);
    slices_of(cpu_device(), &v, a);
    slices_of(cpu_device(), &w, b);
    for (int t = 0; t < T; t++)
        CHECK(slice_apart(&a[t], &b[T - 1 - t], -1) <= 400 * nc * EPS, "SU(%d): slice %d", nc, t);
    lat_field_free(&u);
    lat_field_free(&m);
    lat_field_free(&v);
    lat_field_free(&w);
}

/* The ends move by the first stage, and each one after it carries that on by a slice: after six of
 * them, slices six and more from the ends have the bits of the periodic flow. The density falls. */
static void check_inside(int nc)
{
    enum { T = 16, STAGES = 6 };
    const lat_flow_how how = {.step = .05};
    lat_field u = open_links("4,2,4,16", nc, 59), p = rough_links("4,2,4,16", nc, 59);
    lat_field v = flowed(cpu_device(), &u, how, .1), w = flowed(cpu_device(), &p, how, .1);
    const size_t slice = lat_field_reals(&v) / T;
    const double *a = v.data, *b = w.data;
    for (int t = 0; t < T; t++) {
        const bool same = !memcmp(a + (size_t)t * slice, b + (size_t)t * slice, slice * sizeof *a);
        CHECK(same == (t >= STAGES && t < T - STAGES), "SU(%d): slice %d is %s", nc, t,
              same ? "the same" : "another");
    }
    CHECK(measured(&v).plaquette < measured(&u).plaquette, "SU(%d): the density rises", nc);
    lat_field_free(&u);
    lat_field_free(&p);
    lat_field_free(&v);
    lat_field_free(&w);
}

static void check_unit(int nc)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of("4,3,2,5"), nc, LAT_F64), v;
    const double none[LAT_SUN_REALS] = {0};
    lat_flow_measured of[5];
    fill_near_one(&u, 0, 1);
    for (size_t i = 0; i < lat_slice_sites(&u.head); i++)
        lat_field_put(&u, (4 * lat_slice_sites(&u.head) + i) * 4 + 3, none);
    need(lat_boundary_set(&u.head, 3, LAT_OPEN) == 0 && lat_flow_prepare(&u) == 0, "links");
    v = flowed(cpu_device(), &u, (lat_flow_how){.tolerance = 1e-5}, 1);
    CHECK(apart(&u, &v) <= 100 * nc * EPS, "SU(%d): moved by %g", nc, apart(&u, &v));
    slices_of(cpu_device(), &v, of);
    for (int t = 0; t < 5; t++)
        CHECK(fabs(of[t].plaquette) + of[t].temporal + of[t].spatial + fabs(of[t].charge)
                  <= 100 * nc * EPS,
              "SU(%d): slice %d has a density", nc, t);
    lat_field_free(&u);
    lat_field_free(&v);
}

/* A weak wave of links mu along axis nu: its density falls by exp(-2 w t phat^2) of its momentum,
 * which in physical units is the same for all axes: w = xi^2 where links of space have a momentum
 * in time, else 1. */
static void check_wave(int mu, int nu, double xi)
{
    const double angle = 1e-4, eps = .004, t = .4, phat2 = 2, w = mu != 3 && nu == 3 ? xi * xi : 1;
    lat_field u = field_new(LAT_GAUGE, geometry_of("4,4,4,4"), 2, LAT_F64);
    for (size_t l = 0; l < lat_field_matrices(&u); l++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&u.head.geom, l / 4, x);
        const double a = (int)(l % 4) == mu ? angle * cos(M_PI / 2 * x[nu] + .3) : 0;
        const double m[8] = {cos(a), sin(a), 0, 0, 0, 0, cos(a), -sin(a)};
        lat_field_put(&u, l, m);
    }
    lat_field v = flowed(cpu_device(), &u, (lat_flow_how){.step = eps, .xi = xi}, t);
    const double found = measured(&v).plaquette / measured(&u).plaquette,
                 exact = exp(-2 * w * phat2 * t);
    /* Of the next order of steps; of angles; of densities, squares of angles, by rounding. */
    const double bound = 2 * t * pow(w * phat2, 4) * pow(eps, 3) / 24 + angle * angle
                         + 64 * EPS / (angle * angle * exact);
    CHECK(fabs(found / exact - 1) <= bound, "links %d along %d, xi %g: %g, not %g, bound %g", mu,
          nu, xi, found, exact, bound);
    lat_field_free(&u);
    lat_field_free(&v);
}

static void check_open(void)
{
    check_case("open time: the flow is that of a plain one, and of the reflected lattice");
    check_links(cpu_device(), open_links("4,4,4,4", 3, 5), 0, 0);
    check_links(cpu_device(), open_links("3,5,2,5", 2, 5), 0, 0);
    check_links(cpu_device(), open_links("8,3,4,3", 3, 5), 0, 1.5);
    check_links(checking_device(), open_links("4,2,4,6", 3, 5), 0, 0);
    check_links(cpu_device(), open_links("4,4,8", 2, 5), 0, 0);
    check_links(cpu_device(), open_links("6,5", 3, 5), 0, 0);
    if (largest(cpu_device()) >= 4)
        check_links(cpu_device(), open_links("4,2,2,4", 4, 5), 0, 0);
    check_reflected("4,4,4,5", "4,4,4,8", 3, 0);
    check_reflected("3,4,2,4", "3,4,2,6", 2, 2);
    check_case("anisotropy: the flow is that of a plain one; waves have one speed along all axes");
    check_links(cpu_device(), rough_links("4,4,4,8", 3, 5), 0, 2.5);
    check_links(cpu_device(), rough_links("3,2,5", 2, 5), 0, .7);
    for (int mu = 0; mu < 4; mu += 3)
        for (int nu = 0; nu < 4; nu++)
            if (nu != mu) {
                check_wave(mu, nu, 1.5);
                check_wave(mu, nu, 1);
            }
    check_case("open time: slices are those of plain numbers, sums and means those of slices");
    check_slices(cpu_device(), "4,4,2,6", 3, true);
    check_slices(cpu_device(), "3,4,2,5", 2, true);
    check_slices(checking_device(), "4,2,4,4", 3, true);
    check_slices(cpu_device(), "4,4,2,6", 3, false);
    check_case("open time: gauge, reversal, order, inside as periodic, unit links");
    check_covariance(3, 0, true);
    check_covariance(2, 0, true);
    check_reversed(3);
    check_reversed(2);
    check_order(3, 0, true);
    check_inside(3);
    check_inside(2);
    check_unit(3);
    check_unit(2);
    check_same_bits("4,4,4,8", 3, 0, true);
    check_same_bits("3,6,2,5", 2, 0, true);
}

/* ---- a GPU ----------------------------------------------------------------------------------- */

/* Groups of 32 sites that are full or not, extents of 2, strides that are no powers of two; two to
 * four directions. */
static const char *const even[] = {"8,8,4,4", "6,2,10,4", "2,2,2,2", "2,12,6,14", "4,6,2", "16,6"};
#define EVEN (sizeof even / sizeof *even)

/* Steps by the tolerance, as the CPU makes them, and their numbers; and once more, bit for bit. */
static void check_follows(lat_device *dev, const char *dims, int nc, double c1, bool open)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-4};
    lat_device *const where[3] = {cpu_device(), dev, dev};
    lat_field u = links_of(dims, nc, open, 41), v[3];
    lat_flow_measured m[3];
    long steps[3];
    for (int i = 0; i < 3; i++) {
        lat_flow *f = lat_flow_open(where[i], &u, &how);
        need(f && lat_field_duplicate(&u, &v[i]) == 0 && lat_flow_advance(f, .1) == 0
                 && lat_flow_measure(f, &m[i], NULL) == 0 && lat_flow_get(f, &v[i]) == 0,
             "a flow");
        steps[i] = lat_flow_steps(f) + lat_flow_rejected(f);
        lat_flow_close(f);
    }
    const double volume = (double)lat_volume(&u.head.geom);
    /* Of each step as in check_plain, eps at most .16: steps divide what is left by a whole number,
     * so that they are the same. */
    const double links = 3 * (double)steps[0] * (.16 * 6 * (1 + 11 * fabs(c1)) * 6 + 8) * nc * EPS;
    /* Sums of six planes of numbers of order N. */
    const double numbers = 8 * 16 * nc * nc * EPS + 6 * nc * links;
    CHECK(steps[0] == steps[1], "%s, SU(%d), c1 %g: %ld and %ld steps", dims, nc, c1, steps[0],
          steps[1]);
    CHECK(apart(&v[0], &v[1]) <= links, "%s, SU(%d), c1 %g: links apart by %g, at most %g expected",
          dims, nc, c1, apart(&v[0], &v[1]), links);
    CHECK(fabs(m[0].plaquette - m[1].plaquette) <= numbers
              && fabs(m[0].temporal - m[1].temporal) <= numbers
              && fabs(m[0].spatial - m[1].spatial) <= numbers
              && (isnan(m[0].charge) ? isnan(m[1].charge)
                                     : fabs(m[0].charge - m[1].charge) <= numbers * volume / 40),
          "%s, SU(%d), c1 %g: densities or charge differ", dims, nc, c1);
    CHECK(!memcmp(v[1].data, v[2].data, lat_field_reals(&u) * sizeof(double))
              && !memcmp(&m[1], &m[2], sizeof m[1]),
          "%s, SU(%d), c1 %g: other bits", dims, nc, c1);
    for (int i = 0; i < 3; i++)
        lat_field_free(&v[i]);
    lat_field_free(&u);
}

static void check_gpu(lat_device *dev)
{
    const int most = largest(dev);
    device_case(dev, "the flow is that of a plain one");
    for (size_t i = 0; i < EVEN; i++)
        for (int nc = 2; nc <= (i < 3 ? most : 3); nc++)
            check_plain(dev, even[i], nc, actions[(i + (size_t)nc) % 3]);
    device_case(dev, "densities and charge are those of lib/measure");
    for (size_t i = 0; i < EVEN; i++)
        for (int nc = 2; nc <= most; nc++)
            check_measurements(dev, even[i], nc);
    device_case(dev, "steps by the tolerance are those of the CPU, every time the same bits");
    for (size_t i = 0; i < EVEN; i++)
        for (int nc = 2; nc <= (i < 2 ? most : 3); nc++)
            for (size_t a = 0; a < 2; a++)
                check_follows(dev, even[i], nc, actions[a], false);
    device_case(dev, "open time and anisotropy");
    for (int nc = 2; nc <= most; nc++) {
        check_links(dev, open_links("8,8,4,4", nc, 5), 0, 0);
        check_links(dev, open_links("6,2,10,4", nc, 5), 0, 1.7);
        check_links(dev, rough_links("4,6,4", nc, 5), 0, .6);
        check_follows(dev, "2,12,6,14", nc, 0, true);
        check_slices(dev, "4,2,6,4", nc, true);
        check_slices(dev, "4,2,6,4", nc, false);
    }
    device_case(dev, "large steps stay in the group");
    for (int nc = 2; nc <= most; nc++)
        check_large_steps(dev, nc);
}

static void refused(lat_field *u, double t, const char *word)
{
    const lat_flow_how how = {.step = .1};
    lat_flow *f = lat_flow_prepare(u) ? NULL : lat_flow_open(cpu_device(), u, &how);
    const bool no = !f || lat_flow_advance(f, t);
    CHECK(no && strstr(lat_error(), word), "%s: '%s'", word, lat_error());
    lat_flow_close(f);
    lat_field_free(u);
    lat_error_clear();
}

static void check_refusals(void)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of("8"), 3, LAT_F64);
    fill_haar(&u, 1);
    refused(&u, .1, "two directions");
    u = field_new(LAT_GAUGE, geometry_of("2,2"), LAT_FLOW_MOST + 1, LAT_F64);
    fill_haar(&u, 1);
    refused(&u, .1, "the flow is for SU(2)");
    u = field_new(LAT_TRANSFORM, geometry_of("2,2"), 3, LAT_F64);
    fill_haar(&u, 1);
    refused(&u, .1, "expected a gauge field");
    u = field_new(LAT_GAUGE, geometry_of("2,2"), 3, LAT_F64);
    fill_haar(&u, 1);
    refused(&u, .15, "multiple of the step");
    u = field_new(LAT_GAUGE, geometry_of("2,2"), 3, LAT_F64);
    memset(u.data, 0, lat_field_reals(&u) * sizeof(double));
    refused(&u, .1, "singular");
    u = field_new(LAT_GAUGE, geometry_of("2,2"), 3, LAT_F64);
    fill_haar(&u, 1);
    need(lat_boundary_set(&u.head, 0, LAT_OPEN) == 0, "a boundary");
    refused(&u, .1, "open");
    u = field_new(LAT_GAUGE, geometry_of("2,4"), 3, LAT_F64);
    fill_haar(&u, 1);
    need(lat_boundary_set(&u.head, 1, LAT_OPEN) == 0, "a boundary");
    refused(&u, .1, "found 0 of 2 there");
    u = open_links("2,2", 3, 1);
    refused(&u, .1, "three slices");
}

static void check_no_rectangles(void)
{
    for (int open = 0; open < 2; open++) {
        const lat_flow_how how = {.c1 = LAT_FLOW_SYMANZIK, .step = .1, .xi = open ? 0 : 2};
        lat_field u = links_of("4,4,4", 2, open, 1);
        CHECK(!lat_flow_open(cpu_device(), &u, &how) && strstr(lat_error(), "rectangles"), "%s",
              lat_error());
        lat_error_clear();
        lat_field_free(&u);
    }
}

/* Links in single, and rounded ones, are replaced by the nearest in the group. */
static void check_prepare(void)
{
    lat_field u = field_new(LAT_GAUGE, geometry_of("4,2,2,3"), 3, LAT_F32);
    lat_deviation off;
    fill_haar(&u, 37);
    CHECK(lat_flow_prepare(&u) == 0 && u.head.real == LAT_F64, "%s", lat_error());
    need(lat_measure_deviation(&u, &off) == 0, "a deviation");
    CHECK(off.unitarity_max <= 64 * EPS && off.det_max <= 64 * EPS, "%g, %g", off.unitarity_max,
          off.det_max);
    lat_field_free(&u);
}

static void check_cpu(void)
{
    check_case("links that are not in the group are replaced by the nearest");
    check_prepare();
    check_case("the flow is that of a plain one, for any group, action and lattice");
    check_plain_all(cpu_device());
    check_case("checking device: the flow is that of a plain one");
    check_plain(checking_device(), "4,4,4,4", 3, 0);
    check_plain(checking_device(), "4,3,2,5", 3, LAT_FLOW_SYMANZIK);
    check_plain(checking_device(), "2,4,4,6", 2, LAT_FLOW_SYMANZIK);
    check_case("densities and charge are those of lib/measure");
    check_measurements(cpu_device(), "4,4,4,4", 3);
    check_measurements(cpu_device(), "3,4,5,2", 2);
    if (largest(cpu_device()) >= 4)
        check_measurements(cpu_device(), "4,2,2,6", 4);
    check_measurements(cpu_device(), "4,3,6", 3);
    check_measurements(cpu_device(), "4,6", 2);
    check_case("uniform flux stays, with the densities and the charge that it has");
    check_flux(2, 0);
    check_flux(3, LAT_FLOW_SYMANZIK);
    if (largest(cpu_device()) >= 4)
        check_flux(4, 0);
    check_case("errors fall with the third power of the step, or stay below the tolerance");
    check_order(3, 0, false);
    check_order(2, LAT_FLOW_SYMANZIK, false);
    check_case("large steps stay in the group");
    for (int nc = 2; nc <= 5 && nc <= largest(cpu_device()); nc++)
        check_large_steps(cpu_device(), nc);
    check_case("the flow of rotated links is the rotated flow");
    check_covariance(2, LAT_FLOW_SYMANZIK, false);
    check_covariance(3, 0, false);
    if (largest(cpu_device()) >= 4)
        check_covariance(4, 0, false);
    check_case("the action falls");
    for (size_t a = 0; a < sizeof actions / sizeof *actions; a++)
        check_downhill(actions[a]);
    check_case("a pure gauge stays");
    check_pure_gauge(2, LAT_FLOW_SYMANZIK);
    check_pure_gauge(3, 0);
    if (largest(cpu_device()) >= 5)
        check_pure_gauge(5, 0);
    check_case("the same bits with ghosts and with other numbers of threads");
    check_same_bits("4,4,4,8", 3, 0, false);
    check_same_bits("3,6,2,5", 2, LAT_FLOW_SYMANZIK, false);
    check_open();
    check_case("what cannot flow is refused");
    check_refusals();
    check_no_rectangles();
    if (largest(cpu_device()) < LAT_FLOW_MOST)
        check_skipped("the flow of larger groups", "built without them");
}

/* With an argument: the GPU alone. */
int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1)
        check_cpu();
    lat_device *const gpu = gpu_device();
    if (gpu)
        check_gpu(gpu);
    else
        check_skipped("GPU: the flow", lat_error());
    return check_done();
}
