/* SPDX-License-Identifier: BSD-3-Clause */
/* check_measure.c: the measurements of lib/measure agree with exact values, with a plain program
 * that shares only the matrix product with them, and are gauge invariant where they must be. */
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "check.h"
#include "fields.h"
#include "measure/measure.h"
#include "lattice/slices.h"

#define EPS DBL_EPSILON

typedef double matrix[LAT_SUN_REALS];

/* Even and odd extents, and those where a site is its own neighbour or has one twice. */
static const lat_geometry lattices[] = {
    {4, {4, 4, 4, 4}},   {4, {3, 5, 2, 1}},  {4, {1, 1, 1, 1}}, {4, {2, 2, 2, 2}},
    {4, {7, 3, 6, 5}},   {3, {5, 1, 3, 1}},  {3, {4, 4, 6, 1}}, {2, {2, 9, 1, 1}},
    {2, {16, 33, 1, 1}}, {1, {13, 1, 1, 1}},
};
enum { LATTICES = sizeof lattices / sizeof *lattices };

static int landau(const lat_field *f, lat_gauge_state *s)
{
    const lat_condition c = lat_condition_of(LAT_LANDAU, &f->head.geom, -1);
    return lat_measure_gauge(f, &c, s, NULL, NULL);
}

/* Everything at once, to be compared with memcmp or one by one. */
typedef struct all {
    double plaquette, trace, loop[LAT_MAX_DIMS][2];
    lat_gauge_state state;
    lat_deviation off;
} all;

static all measure(const lat_field *f)
{
    all a;
    memset(&a, 0, sizeof a);
    int rc = lat_measure_plaquette(f, &a.plaquette, &a.trace) | landau(f, &a.state)
             | lat_measure_deviation(f, &a.off);
    for (int mu = 0; mu < f->head.geom.nd; mu++)
        rc |= lat_measure_polyakov(f, mu, a.loop[mu]);
    CHECK(rc == 0, "%s", lat_error());
    return a;
}

static bool near(double a, double b, double bound) { return fabs(a - b) <= bound; }

/* ---- known exactly --------------------------------------------------------------------------- */

static void cold(void)
{
    check_case("all links 1: plaquette, trace, functional and loops 1, theta and deviations 0");
    for (int l = 0; l < LATTICES; l++)
        for (int nc = 2; nc <= 5; nc++)
            for (int real = LAT_F32; real <= LAT_F64; real += 4) {
                matrix one;
                lat_field f = field_new(LAT_GAUGE, lattices[l], nc, (lat_real)real);
                lat_sun_one(nc, one);
                for (size_t i = 0; i < lat_field_matrices(&f); i++)
                    lat_field_put(&f, i, one);
                const all a = measure(&f);
                if (f.head.geom.nd > 1)
                    CHECK(near(a.plaquette, 1, EPS), "lattice %d: %.17g", l, a.plaquette);
                else
                    CHECK(isnan(a.plaquette), "one dimension has no plaquette, %g", a.plaquette);
                CHECK(near(a.trace, 1, EPS), "lattice %d: %.17g", l, a.trace);
                CHECK(near(a.state.functional, 1, EPS), "lattice %d: %.17g", l, a.state.functional);
                CHECK(a.state.theta == 0 && a.state.theta_max == 0, "lattice %d: %g", l,
                      a.state.theta);
                for (int mu = 0; mu < f.head.geom.nd; mu++)
                    CHECK(near(a.loop[mu][0], 1, EPS) && a.loop[mu][1] == 0, "lattice %d: loop %d",
                          l, mu);
                CHECK(a.off.det_max == 0 && a.off.unitarity_max == 0, "lattice %d: deviations", l);
                lat_field_free(&f);
            }
}

/* Diagonal links with phases a, b, -(a+b), 0, ...: everything is a sum of sines and cosines.
 * Delta = 2i (S - mean S) on the diagonal, S_k = sum_mu sin phase_k(x,mu) - sin phase_k(x-mu,mu).
 */
static void phase(const lat_geometry *geom, size_t site, int mu, int nc, double p[LAT_MAX_COLOURS])
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(geom, site, x);
    const double a = 0.3 * x[0] * (mu + 1) + 0.7 * x[1] - 0.4 * x[2] * x[2] + x[3] + 0.1 * mu;
    const double b = nc > 2 ? 1.1 * x[1] * x[2] - 0.9 * x[0] + 0.5 * x[3] * mu + 0.2 : 0;
    memset(p, 0, sizeof(double) * LAT_MAX_COLOURS);
    p[0] = a;
    p[1] = nc > 2 ? b : -a;
    if (nc > 2)
        p[2] = -a - b;
}

static void abelian(void)
{
    check_case("diagonal links: functional, theta and plaquette as worked out by hand");
    for (int l = 0; l < LATTICES; l++)
        for (int nc = 2; nc <= 5; nc++) {
            const lat_geometry *geom = &lattices[l];
            const size_t volume = lat_volume(geom);
            const int nd = geom->nd;
            double f_sum = 0, theta = 0, theta_max = 0, plaq = 0, p[LAT_MAX_COLOURS],
                   q[LAT_MAX_COLOURS];
            lat_field f = field_new(LAT_GAUGE, *geom, nc, LAT_F64);
            for (size_t x = 0; x < volume; x++) {
                double s[LAT_MAX_COLOURS] = {0}, mean = 0, site = 0;
                for (int mu = 0; mu < nd; mu++) {
                    matrix m;
                    phase(geom, x, mu, nc, p);
                    phase(geom, lat_neighbour(geom, x, mu, -1), mu, nc, q);
                    memset(m, 0, sizeof m);
                    for (int k = 0; k < nc; k++) {
                        m[2 * (k * nc + k)] = cos(p[k]);
                        m[2 * (k * nc + k) + 1] = sin(p[k]);
                        f_sum += cos(p[k]);
                        s[k] += sin(p[k]) - sin(q[k]);
                    }
                    lat_field_put(&f, x * (size_t)nd + (size_t)mu, m);
                    for (int nu = mu + 1; nu < nd; nu++) {
                        double a[LAT_MAX_COLOURS], b[LAT_MAX_COLOURS];
                        phase(geom, lat_neighbour(geom, x, mu, 1), nu, nc, q);
                        phase(geom, lat_neighbour(geom, x, nu, 1), mu, nc, a);
                        phase(geom, x, nu, nc, b);
                        for (int k = 0; k < nc; k++)
                            plaq += cos(p[k] + q[k] - a[k] - b[k]);
                    }
                }
                for (int k = 0; k < nc; k++)
                    mean += s[k] / nc;
                for (int k = 0; k < nc; k++)
                    site += 4 * (s[k] - mean) * (s[k] - mean) / nc;
                theta += site / (double)volume;
                theta_max = fmax(theta_max, site);
            }
            const all a = measure(&f);
            const double sum = nc * (double)volume;
            /* theta is at most 64 a site, of differences exact to a few EPS each. Phases are below
             * 64, so exact to 32 EPS, and four of them and their sums are off by 256 EPS. */
            CHECK(near(a.state.functional, f_sum / (sum * nd), 32 * EPS),
                  "lattice %d, SU(%d): %.17g", l, nc, a.state.functional);
            CHECK(a.trace == a.state.functional || near(a.trace, a.state.functional, 8 * EPS),
                  "trace %.17g", a.trace);
            CHECK(near(a.state.theta, theta, 512 * EPS),
                  "lattice %d, SU(%d): %.17g, expected %.17g", l, nc, a.state.theta, theta);
            CHECK(near(a.state.theta_max, theta_max, 512 * EPS),
                  "lattice %d, SU(%d): %.17g, expected %.17g", l, nc, a.state.theta_max, theta_max);
            if (nd > 1)
                CHECK(near(a.plaquette, plaq / (sum * (nd * (nd - 1) / 2)), 320 * EPS),
                      "lattice %d, SU(%d): %.17g", l, nc, a.plaquette);
            lat_field_free(&f);
        }
}

/* ---- against a plain program ----------------------------------------------------------------- */

static void link(const lat_field *f, size_t x, int mu, double *m)
{
    lat_field_get(f, x * (size_t)f->head.geom.nd + (size_t)mu, m);
}

static double plain_plaquette(const lat_field *f)
{
    const lat_geometry *geom = &f->head.geom;
    const int n = f->head.nc;
    double sum = 0, count = 0, t[2];
    for (size_t x = 0; x < lat_volume(geom); x++)
        for (int mu = 0; mu < geom->nd; mu++)
            for (int nu = 0; nu < mu; nu++) {
                matrix a, b, c, d;
                link(f, x, mu, a);
                link(f, lat_neighbour(geom, x, mu, 1), nu, b);
                lat_sun_mul(n, c, a, b);
                link(f, lat_neighbour(geom, x, nu, 1), mu, b);
                lat_sun_mul_dag(n, d, c, b);
                link(f, x, nu, b);
                lat_sun_mul_dag(n, c, d, b);
                lat_sun_trace(n, c, t);
                sum += t[0] / n;
                count++;
            }
    return sum / count;
}

/* Every loop is counted once a starting site; the mean is the same. */
static void plain_polyakov(const lat_field *f, int mu, double loop[2])
{
    const lat_geometry *geom = &f->head.geom;
    const int n = f->head.nc;
    double t[2];
    loop[0] = loop[1] = 0;
    for (size_t x = 0; x < lat_volume(geom); x++) {
        matrix a, b, c;
        size_t y = x;
        lat_sun_one(n, a);
        do {
            link(f, y, mu, b);
            lat_sun_mul(n, c, a, b);
            memcpy(a, c, sizeof(double) * 2 * (size_t)(n * n));
            y = lat_neighbour(geom, y, mu, 1);
        } while (y != x);
        lat_sun_trace(n, a, t);
        loop[0] += t[0] / n / (double)lat_volume(geom);
        loop[1] += t[1] / n / (double)lat_volume(geom);
    }
}

static double plain_theta(const lat_field *f, double *largest)
{
    const lat_geometry *geom = &f->head.geom;
    const int n = f->head.nc;
    double sum = 0, t[2];
    *largest = 0;
    for (size_t x = 0; x < lat_volume(geom); x++) {
        matrix delta, u, v, dag, square;
        memset(delta, 0, sizeof delta);
        for (int mu = 0; mu < geom->nd; mu++) {
            link(f, x, mu, u);
            link(f, lat_neighbour(geom, x, mu, -1), mu, v);
            for (int i = 0; i < 2 * n * n; i++)
                delta[i] += u[i] - v[i];
        }
        lat_sun_dag(n, dag, delta);
        for (int i = 0; i < 2 * n * n; i++)
            delta[i] -= dag[i];
        lat_sun_trace(n, delta, t);
        for (int i = 0; i < n; i++) {
            delta[2 * (i * n + i)] -= t[0] / n;
            delta[2 * (i * n + i) + 1] -= t[1] / n;
        }
        lat_sun_mul_dag(n, square, delta, delta);
        lat_sun_trace(n, square, t);
        sum += t[0] / n;
        *largest = fmax(*largest, t[0] / n);
    }
    return sum / (double)lat_volume(geom);
}

static void plain(void)
{
    check_case(
        "random links: as a plain program finds, every N, single and double, 1 to 4 dimensions");
    for (int l = 0; l < LATTICES; l++)
        for (int nc = 2; nc <= 5; nc++)
            for (int real = LAT_F32; real <= LAT_F64; real += 4) {
                double loop[2], largest;
                lat_field f = field_new(LAT_GAUGE, lattices[l], nc, (lat_real)real);
                fill_haar(&f, 17);
                const all a = measure(&f);
                if (f.head.geom.nd > 1)
                    CHECK(near(a.plaquette, plain_plaquette(&f), 16 * nc * EPS),
                          "lattice %d, SU(%d): %.17g, expected %.17g", l, nc, a.plaquette,
                          plain_plaquette(&f));
                for (int mu = 0; mu < f.head.geom.nd; mu++) {
                    const double bound = 8 * nc * f.head.geom.dims[mu] * EPS; /* a product a link */
                    plain_polyakov(&f, mu, loop);
                    CHECK(near(a.loop[mu][0], loop[0], bound)
                              && near(a.loop[mu][1], loop[1], bound),
                          "lattice %d, SU(%d), direction %d: %g%+gi, expected %g%+gi", l, nc, mu,
                          a.loop[mu][0], a.loop[mu][1], loop[0], loop[1]);
                }
                const double theta = plain_theta(&f, &largest);
                CHECK(near(a.state.theta, theta, 64 * nc * EPS * (1 + theta)),
                      "lattice %d, SU(%d): %.17g, expected %.17g", l, nc, a.state.theta, theta);
                CHECK(near(a.state.theta_max, largest, 64 * nc * EPS * (1 + largest)),
                      "lattice %d, SU(%d): maximum %g, expected %g", l, nc, a.state.theta_max,
                      largest);
                /* Rounding to single moves an element by 2^-25 at most, a scalar product of two
                 * rows by 2 sqrt(2N) 2^-25, a determinant by sqrt(2) N^1.5 2^-25 and less. */
                const double eps = real == LAT_F32 ? 0x1p-23 : 8 * EPS;
                CHECK(a.off.unitarity_max < nc * eps && a.off.det_max < nc * eps,
                      "lattice %d, SU(%d): off by %g, %g", l, nc, a.off.unitarity_max,
                      a.off.det_max);
                lat_field_free(&f);
            }
}

/* Portions of 1, 2, 3, ... slices. */
static void in_portions(const lat_field *f, lat_slice_sums *sums)
{
    const size_t each = lat_slice_bytes(&f->head);
    const int n_all = lat_slices(&f->head);
    for (int done = 0, n = 1; done < n_all;
         done += n, n = n + 1 < n_all - done ? n + 1 : n_all - done) {
        const char *at = (const char *)f->data + (size_t)done * each;
        const int next = (done + n) % n_all;
        CHECK(lat_measure_slices(&f->head, at, n, (const char *)f->data + (size_t)next * each, true,
                                 sums + done)
                  == 0,
              "%s", lat_error());
    }
}

/* The largest distance from SU(2) or SU(3) that lat_slice_sums has, by its definition. */
static double plain_distance(const lat_field *f)
{
    const int n = f->head.nc;
    double most = 0;
    for (size_t i = 0; i < lat_field_matrices(f); i++) {
        double m[LAT_SUN_REALS], made[LAT_SUN_REALS], sum = 0;
        lat_field_get(f, i, m);
        lat_field_get(f, i, made);
        lat_sun_complete(n, made);
        for (int a = 0; a < n - 1; a++)
            for (int b = 0; b <= a; b++) {
                double re = a == b ? -1 : 0, im = 0;
                for (int k = 0; k < n; k++) {
                    const double *p = m + 2 * (a * n + k), *q = m + 2 * (b * n + k);
                    re += p[0] * q[0] + p[1] * q[1];
                    im += p[1] * q[0] - p[0] * q[1];
                }
                sum += re * re + im * im;
            }
        for (int k = 2 * n * (n - 1); k < 2 * n * n; k++)
            sum += (m[k] - made[k]) * (m[k] - made[k]);
        most = fmax(most, sqrt(sum));
    }
    return most;
}

static void by_slices(void)
{
    static const char *const lanes[] = {"base", "avx2", "avx512"};
    check_case("slice by slice the same bits, in vectors of any length the same numbers");
    for (int l = 0; l < LATTICES; l++)
        for (int nc = 2; nc <= 5; nc++)
            for (int real = LAT_F32; real <= LAT_F64; real += 4) {
                lat_slice_sums part[64], whole[64];
                lat_deviation d;
                lat_field f = field_new(LAT_GAUGE, lattices[l], nc, (lat_real)real);
                fill_haar(&f, 5);
                CHECK(lat_measure_deviation(&f, &d) == 0, "%s", lat_error());
                for (int i = 0; i < 3; i++) {
                    double p, trace;
                    setenv("LAT_LANES", lanes[i], 1);
                    in_portions(&f, part);
                    CHECK(lat_measure_slices(&f.head, f.data, lat_slices(&f.head), f.data, true,
                                             whole)
                              == 0,
                          "%s", lat_error());
                    CHECK(memcmp(part, whole, sizeof *part * (size_t)lat_slices(&f.head)) == 0,
                          "lattice %d, SU(%d)", l, nc);
                    const lat_slice_sums total = lat_measure_total(&f.head, part);
                    lat_measure_means(&f.head, &total, &p, &trace);
                    if (f.head.geom.nd > 1)
                        CHECK(near(p, plain_plaquette(&f), 16 * nc * EPS),
                              "lattice %d, SU(%d), %s: %.17g", l, nc, lanes[i], p);
                    const double off = nc <= 3 ? plain_distance(&f)
                                               : fmax(d.unitarity_max, d.det_max);
                    CHECK(near(total.distance, off, 64 * nc * EPS),
                          "lattice %d, SU(%d), %s: off by %g; expected %g", l, nc, lanes[i],
                          total.distance, off);
                }
                unsetenv("LAT_LANES");
                lat_field_free(&f);
            }
}

/* ---- threads --------------------------------------------------------------------------------- */

#ifdef _OPENMP
static void threads(void)
{
    check_case("one thread and many give identical numbers");
    const lat_geometry geom = {4, {8, 6, 10, 9}};
    const int usual = omp_get_max_threads();
    for (int nc = 2; nc <= 4; nc++) {
        lat_field f = field_new(LAT_GAUGE, geom, nc, LAT_F64);
        fill_haar(&f, 3);
        omp_set_num_threads(1);
        const all a = measure(&f);
        for (int t = 2; t <= 7; t++) {
            omp_set_num_threads(t);
            const all b = measure(&f);
            CHECK(memcmp(&a, &b, sizeof a) == 0, "SU(%d): %d threads", nc, t);
        }
        omp_set_num_threads(usual);
        lat_field_free(&f);
    }
}
#endif

/* ---- gauge transformations ------------------------------------------------------------------- */

/* A transformed link is wrong by about 4 N EPS an element, and so much for a factor more in a
 * loop: 16 N EPS a link of it. The mean is no worse than its terms. F of a random gauge has
 * variance 1/(2 N^2) / (D V), theta the mean 4 D (1 - 1/N^2) for N > 2. */
static void transformed(void)
{
    check_case(
        "a random transformation: plaquette and loops stay, functional and theta are random");
    const lat_geometry geom = {4, {6, 4, 5, 8}};
    for (int nc = 2; nc <= 5; nc++) {
        const double sites = (double)lat_volume(&geom);
        lat_field f = field_new(LAT_GAUGE, geom, nc, LAT_F64);
        fill_near_one(&f, 0.2, 5);
        lat_field g = haar_transform(&f, 6);
        const all a = measure(&f);
        CHECK(lat_transform_apply(&f, &g) == 0, "%s", lat_error());
        const all b = measure(&f);
        CHECK(near(a.plaquette, b.plaquette, 64 * nc * EPS), "SU(%d): %g", nc,
              a.plaquette - b.plaquette);
        for (int mu = 0; mu < 4; mu++)
            for (int i = 0; i < 2; i++)
                CHECK(near(a.loop[mu][i], b.loop[mu][i], 16 * geom.dims[mu] * nc * EPS),
                      "SU(%d), direction %d: %g", nc, mu, a.loop[mu][i] - b.loop[mu][i]);
        const double sigma = sqrt((nc == 2 ? 0.25 : 0.5 / (nc * nc)) / (4 * sites));
        CHECK(a.state.functional > 0.9, "SU(%d): F %g before", nc, a.state.functional);
        CHECK(fabs(b.state.functional) < 6 * sigma, "SU(%d): F %g, sigma %g", nc,
              b.state.functional, sigma);
        /* For SU(2) <tr U^2> = -1 and tr U is real: 24 instead of 12. A site's theta scatters
         * by less than its mean, and shares links with 8 others. */
        const double theta = nc == 2 ? 24 : 16 * (1 - 1.0 / (nc * nc));
        CHECK(near(b.state.theta, theta, 6 * theta / sqrt(sites)), "SU(%d): theta %g, expected %g",
              nc, b.state.theta, theta);
        CHECK(b.state.theta_max > b.state.theta, "SU(%d): theta maximum %g", nc, b.state.theta_max);
        lat_field_free(&f);
        lat_field_free(&g);
    }
}

/* ---- what is wrong with a field -------------------------------------------------------------- */

static void deviations(void)
{
    check_case("one bad matrix among many is found, and a NaN stays a NaN");
    const lat_geometry geom = {4, {4, 4, 4, 5}};
    for (int nc = 2; nc <= 5; nc++)
        for (int kind = LAT_GAUGE; kind <= LAT_TRANSFORM; kind++) {
            matrix m;
            lat_field f = field_new(LAT_GAUGE, geom, nc, LAT_F64);
            if (kind == LAT_TRANSFORM)
                f.head.kind = LAT_TRANSFORM; /* fewer matrices than are allocated */
            fill_haar(&f, 7);
            const size_t bad = lat_field_matrices(&f) / 2;
            lat_deviation d;
            lat_field_get(&f, bad, m);
            for (int i = 0; i < 2 * nc * nc; i++)
                m[i] *= 1.5;
            lat_field_put(&f, bad, m);
            CHECK(lat_measure_deviation(&f, &d) == 0, "%s", lat_error());
            const double det = pow(1.5, nc) - 1, count = (double)lat_field_matrices(&f);
            CHECK(near(d.det_max, det, 64 * nc * EPS * det), "SU(%d): %g, expected %g", nc,
                  d.det_max, det);
            CHECK(near(d.unitarity_max, 1.25, 64 * nc * EPS), "SU(%d): %g", nc, d.unitarity_max);
            CHECK(near(d.det_mean, det / count, 64 * nc * EPS), "SU(%d): mean %g", nc, d.det_mean);
            CHECK(near(d.unitarity_mean, 1.25 / count, 64 * nc * EPS), "SU(%d): mean %g", nc,
                  d.unitarity_mean);
            m[2 * nc * nc - 1] = NAN;
            lat_field_put(&f, bad, m);
            CHECK(lat_measure_deviation(&f, &d) == 0, "%s", lat_error());
            CHECK(isnan(d.det_max) && isnan(d.unitarity_max), "SU(%d): %g, %g", nc, d.det_max,
                  d.unitarity_max);
            if (kind == LAT_GAUGE) {
                lat_gauge_state s;
                CHECK(landau(&f, &s) == 0, "%s", lat_error());
                CHECK(isnan(s.theta) && isnan(s.theta_max), "SU(%d): theta %g, maximum %g", nc,
                      s.theta, s.theta_max);
            }
            lat_field_free(&f);
        }
}

static void refusals(void)
{
    check_case("a transformation has no plaquette, loop or gauge condition, and 4 is no direction");
    const lat_geometry geom = {3, {2, 2, 2, 1}};
    double a, b, loop[2];
    lat_gauge_state s;
    lat_field f = field_new(LAT_GAUGE, geom, 3, LAT_F64);
    CHECK(lat_measure_polyakov(&f, 3, loop) == -1 && strstr(lat_error(), "direction"), "'%s'",
          lat_error());
    lat_error_clear();
    CHECK(lat_measure_polyakov(&f, -1, loop) == -1, "direction -1");
    lat_error_clear();
    f.head.kind = LAT_TRANSFORM;
    CHECK(lat_measure_plaquette(&f, &a, &b) == -1 && strstr(lat_error(), "transformation"), "'%s'",
          lat_error());
    lat_error_clear();
    CHECK(lat_measure_polyakov(&f, 0, loop) == -1 && strstr(lat_error(), "transformation"), "'%s'",
          lat_error());
    lat_error_clear();
    CHECK(landau(&f, &s) == -1 && strstr(lat_error(), "transformation"), "'%s'", lat_error());
    lat_error_clear();
    lat_field_free(&f);
}

int main(void)
{
    cold();
    abelian();
    plain();
    by_slices();
#ifdef _OPENMP
    threads();
#endif
    transformed();
    deviations();
    refusals();
    return check_done();
}
