/* SPDX-License-Identifier: BSD-3-Clause */
/* check_flow.c: the gradient flow beside a plain one that multiplies its paths link by link; the
 * order of the integrator; what flows cannot change. */
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
    need(f && lat_flow_measure(f, &m) == 0, "a measurement");
    lat_flow_close(f);
    return m;
}

static lat_flow_measured measured(const lat_field *u) { return measured_on(cpu_device(), u); }

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

/* Z of link x, m, and the part of the action that has it. */
static double plain_force(const lat_field *u, size_t x, int m, double c1, double *z)
{
    const int n = u->head.nc;
    double sum[LAT_SUN_REALS] = {0}, action = 0, trace = 0;
    for (int s = 1; s <= u->head.geom.nd; s++)
        for (int sign = -1; sign <= 1 && s != m; sign += 2)
            action += weigh(u, x, m, sign * s, c1, sum);
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
static void plain_step(lat_field *u, double eps, double c1)
{
    static const double w[3][3] = {{1. / 4}, {-17. / 36, 8. / 9}, {17. / 36, -8. / 9, 3. / 4}};
    const size_t links = lat_field_matrices(u), nd = (size_t)u->head.geom.nd;
    const int n = u->head.nc, reals = 2 * n * n;
    double *z = malloc(3 * links * LAT_SUN_REALS * sizeof *z);
    need(z != NULL, "memory");
    for (size_t stage = 0; stage < 3; stage++) {
        for (size_t l = 0; l < links; l++)
            plain_force(u, l / nd, (int)(l % nd) + 1, c1, z + (stage * links + l) * LAT_SUN_REALS);
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

static void check_plain(lat_device *dev, const char *dims, int nc, double c1)
{
    const double eps = .03;
    lat_field u = rough_links(dims, nc, 5), v;
    const lat_flow_how how = {.c1 = c1, .step = eps};
    lat_field w = flowed(dev, &u, how, 2 * eps);
    need(lat_field_duplicate(&u, &v) == 0, "memory");
    plain_step(&v, eps, c1);
    plain_step(&v, eps, c1);
    /* Six stages; in each eps times a sum of paths, products of six matrices at most, of total
     * weight 2 (nd - 1) (c0 + 3 |c1|), and an exponential times a link: some N roundings each. */
    const double weights = 6 * (1 + 11 * fabs(c1)), bound = 6 * (eps * weights * 6 + 8) * nc * EPS;
    const double d = apart(&v, &w);
    CHECK(d <= bound, "%s, SU(%d), c1 %g: links apart by %g, at most %g expected", dims, nc, c1, d,
          bound);
    lat_field_free(&u);
    lat_field_free(&v);
    lat_field_free(&w);
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

static void check_order(int nc, double c1)
{
    const double t = .24;
    lat_field u = rough_links("4,4,4,4", nc, 11);
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
    plain_step(&v, .7, 0);
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

static void check_covariance(int nc, double c1)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-5};
    lat_field u = rough_links("4,6,3,4", nc, 17), rotated;
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
    lat_field_free(&u);
    lat_field_free(&rotated);
    lat_field_free(&g);
    lat_field_free(&v);
    lat_field_free(&w);
}

static double plain_action(const lat_field *u, double c1)
{
    double z[LAT_SUN_REALS], sum = 0;
    for (size_t l = 0; l < lat_field_matrices(u); l++)
        sum += plain_force(u, l / 4, (int)(l % 4) + 1, c1, z);
    return sum;
}

static void check_downhill(double c1)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-4};
    lat_field u = rough_links("4,3,2,4", 3, 23);
    double before = plain_action(&u, c1);
    for (int i = 0; i < 8; i++) {
        lat_field v = flowed(cpu_device(), &u, how, .15);
        const double after = plain_action(&v, c1);
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
static void check_same_bits(const char *dims, int nc, double c1)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-4};
    lat_field u = rough_links(dims, nc, 31);
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

/* ---- a GPU ----------------------------------------------------------------------------------- */

/* Groups of 32 sites that are full or not, extents of 2, strides that are no powers of two; two to
 * four directions. */
static const char *const even[] = {"8,8,4,4", "6,2,10,4", "2,2,2,2", "2,12,6,14", "4,6,2", "16,6"};
#define EVEN (sizeof even / sizeof *even)

/* Steps by the tolerance, as the CPU makes them, and their numbers; and once more, bit for bit. */
static void check_follows(lat_device *dev, const char *dims, int nc, double c1)
{
    const lat_flow_how how = {.c1 = c1, .tolerance = 1e-4};
    lat_device *const where[3] = {cpu_device(), dev, dev};
    lat_field u = rough_links(dims, nc, 41), v[3];
    lat_flow_measured m[3];
    long steps[3];
    for (int i = 0; i < 3; i++) {
        lat_flow *f = lat_flow_open(where[i], &u, &how);
        need(f && lat_field_duplicate(&u, &v[i]) == 0 && lat_flow_advance(f, .1) == 0
                 && lat_flow_measure(f, &m[i]) == 0 && lat_flow_get(f, &v[i]) == 0,
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
                check_follows(dev, even[i], nc, actions[a]);
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
    need(lat_boundary_set(&u.head, 1, LAT_OPEN) == 0, "a boundary");
    refused(&u, .1, "open");
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
    check_order(3, 0);
    check_order(2, LAT_FLOW_SYMANZIK);
    check_case("large steps stay in the group");
    for (int nc = 2; nc <= 5 && nc <= largest(cpu_device()); nc++)
        check_large_steps(cpu_device(), nc);
    check_case("the flow of rotated links is the rotated flow");
    check_covariance(2, LAT_FLOW_SYMANZIK);
    check_covariance(3, 0);
    if (largest(cpu_device()) >= 4)
        check_covariance(4, 0);
    check_case("the action falls");
    for (size_t a = 0; a < sizeof actions / sizeof *actions; a++)
        check_downhill(actions[a]);
    check_case("a pure gauge stays");
    check_pure_gauge(2, LAT_FLOW_SYMANZIK);
    check_pure_gauge(3, 0);
    if (largest(cpu_device()) >= 5)
        check_pure_gauge(5, 0);
    check_case("the same bits with ghosts and with other numbers of threads");
    check_same_bits("4,4,4,8", 3, 0);
    check_same_bits("3,6,2,5", 2, LAT_FLOW_SYMANZIK);
    check_case("what cannot flow is refused");
    check_refusals();
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
