/* SPDX-License-Identifier: BSD-3-Clause */
/* check_heat.c: random numbers in lanes are those of Random123; logarithm, exponential, sine and
 * cosine are accurate; the heat bath draws from its distributions, by chi-square, as a site
 * function in single and double and as a sweep in every vector length; proposals are accepted as
 * often as computed. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "devices.h"
#include "fix/fix.h"
#include "fix/fix_lanes.h"
#include "check.h"
#include "base/error.h"
#include "lattice/transform.h"
#include "site/scalar.h"
#include "site/sun.h"

#define LAT_HOST_DEVICE static inline __attribute__((unused))
#define LAT_N 2

#define WIDE 8
typedef double wide __attribute__((vector_size(8 * WIDE)));
typedef float thin __attribute__((vector_size(4 * WIDE)));

#define LAT_T float
#define LAT_S float
#define LAT_SIZE 4
#define LAT_WIDTH 1
#define LAT_(x) single_##x
#include "site/template.h"
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_
#define LAT_T wide
#define LAT_S double
#define LAT_SIZE 8
#define LAT_WIDTH WIDE
#define LAT_(x) wide_##x
#include "site/template.h"
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_
#define LAT_T thin
#define LAT_S float
#define LAT_SIZE 4
#define LAT_WIDTH WIDE
#define LAT_(x) thin_##x
#include "site/template.h"

static void check_philox(void)
{
    int64_t site[WIDE];
    for (int i = 0; i < 1000; i++) {
        const uint64_t seed = (uint64_t)i * 0x9E3779B97F4A7C15u;
        const uint32_t config = (uint32_t)i % 1000, step = 0x30000000u + (uint32_t)i,
                       draw = (uint32_t)(7 * i);
        for (int l = 0; l < WIDE; l++)
            site[l] = ((int64_t)i << 28) + l * 12345;
        const wide_rng d = {seed, site, config, step};
        const thin_rng f = {seed, site, config, step};
        wide_bits w[4];
        thin_bits v[4];
        wide u[4], other[8];
        thin t[4], thin_other[8];
        uint32_t expected[4], low[4];
        wide_random_words(&d, 1, &draw, &w);
        thin_random_words(&f, 1, &draw, &v);
        wide_uniforms(&d, draw, u);
        thin_uniforms(&f, draw, t);
        wide_uniforms_of_two(&d, draw + 3, draw, other);
        thin_uniforms_of_two(&f, draw + 3, draw, thin_other);
        CHECK(!memcmp(u, other + 4, 4 * sizeof *u) && !memcmp(t, thin_other + 4, 4 * sizeof *t),
              "draw %d beside another one: other fractions", i);
        wide_uniforms(&d, draw + 3, other + 4);
        thin_uniforms(&f, draw + 3, thin_other + 4);
        CHECK(!memcmp(other, other + 4, 4 * sizeof *u)
                  && !memcmp(thin_other, thin_other + 4, 4 * sizeof *t),
              "draw %d before another one: other fractions", i);
        for (int l = 0; l < WIDE; l++) {
            lat_random(seed, (uint64_t)site[l], config, step, draw, expected);
            for (int k = 0; k < 4; k++)
                CHECK(w[k][l] == expected[k] && v[k][l] == expected[k],
                      "draw %d, lane %d, word %d: %08x %08x, %08x", i, l, k, (unsigned)w[k][l],
                      v[k][l], expected[k]);
            /* A fraction takes two draws for 52 bits, in single the first for 23 of them. */
            lat_random(seed, (uint64_t)site[l], config, step, 2 * draw, expected);
            lat_random(seed, (uint64_t)site[l], config, step, 2 * draw + 1, low);
            for (int k = 0; k < 4; k++) {
                const double bits = ldexp(expected[k], 20) + (low[k] >> 12);
                CHECK(u[k][l] == lat_uniform(expected[k], low[k])
                          && (double)t[k][l] == ldexp(floor(ldexp(bits, -29)) + 0.5, -23),
                      "fraction %d, lane %d: %.17g and %.9g", k, l, u[k][l], (double)t[k][l]);
            }
        }
    }
}

/* As found, as expected, to n units of 2^-53 or 2^-24. */
#define NEAR(x, y, size, n, unit, what, at) \
    CHECK(fabs((double)(x) - (y)) <= (n) * (unit) * (size), what " %.17g: %.17g, %.17g", at, \
          (double)(x), y)

static void check_functions(void)
{
    for (int i = 1; i < 200000; i++) {
        const double u = i / 200000.0, x = exp(-40 * u), y = -690 * u, v = u - 0.5;
        const float fu = (float)u, fx = (float)x, fy = (float)(y / 10), fv = fu - 0.5f;
        double s, c;
        float fs, fc;
        /* A few roundings: of the result, or of the unit circle; a squared sine has four times its
         * error. */
        NEAR(log_d2(x), log(x), 1 + fabs(log(x)), 4, 0x1p-53, "log", x);
        NEAR(log_d2(u), log(u), fabs(log(u)), 4, 0x1p-53, "log", u);
        NEAR(exp_d2(y), exp(y), exp(y) * (1 - y), 4, 0x1p-53, "exp", y);
        NEAR(sine_d2(v), sin(M_PI * v), fabs(sin(M_PI * v)), 8, 0x1p-53, "sine", v);
        NEAR(cosine_d2(v), cos(M_PI * v), 1, 4, 0x1p-53, "cosine", v);
        sincos_2pi_d2(u, &s, &c);
        NEAR(s, sin(2 * M_PI * u), 1, 16, 0x1p-53, "sincos", u);
        NEAR(c, cos(2 * M_PI * u), 1, 16, 0x1p-53, "sincos", u);
        NEAR(single_log(fx), log((double)fx), 1 + fabs(log(x)), 4, 0x1p-24, "single log", x);
        NEAR(single_log(fu), log((double)fu), fabs(log((double)fu)), 4, 0x1p-24, "single log", u);
        NEAR(single_exp(fy), exp((double)fy), exp((double)fy) * (1 - (double)fy), 4, 0x1p-24,
             "single exp", y / 10);
        NEAR(single_sine(fv), sin(M_PI * (double)fv), fabs(sin(M_PI * (double)fv)), 8, 0x1p-24,
             "single sine", v);
        NEAR(single_cosine(fv), cos(M_PI * (double)fv), 1, 4, 0x1p-24, "single cosine", v);
        single_sincos_2pi(fu, &fs, &fc);
        NEAR(fs, sin(2 * M_PI * (double)fu), 1, 16, 0x1p-24, "single sincos", u);
        NEAR(fc, cos(2 * M_PI * (double)fu), 1, 16, 0x1p-24, "single sincos", u);
    }
}

/* Chi-square of BINS equally probable bins: mean BINS - 1, deviation sqrt(2 (BINS - 1)); 6
 * deviations are one chance in 1e8, and the draws are the same on every run. */
#define BINS 100
#define DRAWS FEW(1000000)

static void uniform(const long *count, const char *how, const char *what, double k)
{
    double chi2 = 0, draws = 0;
    for (int i = 0; i < BINS; i++)
        draws += (double)count[i];
    for (int i = 0; i < BINS; i++) {
        const double e = draws / BINS, d = (double)count[i] - e;
        chi2 += d * d / e;
    }
    CHECK(draws >= 0.99 * DRAWS && fabs(chi2 - (BINS - 1)) <= 6 * sqrt(2.0 * (BINS - 1)),
          "%s: %s, k = %g: chi-square %g of %d, %g draws", how, what, k, chi2, BINS - 1, draws);
}

/* Distribution of a_0 in (-1, 1): integral of sqrt(1 - x^2) exp(k (x - 1)), by Simpson's rule in
 * the angle. */
static void table3(double k, double cdf[1025])
{
    double sum = 0;
    cdf[0] = 0;
    for (int i = 0; i < 1024; i++) { /* x = -cos phi */
        const double a = M_PI * i / 1024, h = M_PI / 1024;
        double f[3];
        for (int j = 0; j < 3; j++) {
            const double phi = a + 0.5 * h * j;
            f[j] = sin(phi) * sin(phi) * exp(k * (-cos(phi) - 1));
        }
        sum += h / 6 * (f[0] + 4 * f[1] + f[2]);
        cdf[i + 1] = sum;
    }
    for (int i = 0; i <= 1024; i++)
        cdf[i] /= sum;
}

static double cdf_at(const double cdf[1025], double x)
{
    const double at = acos(-fmin(1, fmax(-1, x))) / M_PI * 1024;
    const int i = at >= 1024 ? 1023 : (int)at;
    return cdf[i] + (at - i) * (cdf[i + 1] - cdf[i]);
}

static int bin(double p)
{
    const int i = (int)(p * BINS);
    return i < 0 ? 0 : i >= BINS ? BINS - 1 : i;
}

/* What is uniform if a_0 and the rest of `three` have density exp(k a_0) on S^3, and if the
 * direction that `two` rotates to the pole has exp(k cos theta) on S^2. */
typedef struct {
    long a0[BINS], z[BINS], azimuth[BINS];
} counts;

static void count3(counts *n, const double cdf[1025], const double a[4])
{
    n->a0[bin(cdf_at(cdf, a[0]))]++;
    n->z[bin(0.5 + 0.5 * a[3] / sqrt(a[1] * a[1] + a[2] * a[2] + a[3] * a[3]))]++;
    n->azimuth[bin(0.5 + atan2(a[2], a[1]) / (2 * M_PI))]++;
}

static void count2(counts *n, double k, const double a[4])
{
    /* 1 - cos theta = 2 (a1^2 + a2^2); the distribution of cos theta is (e^{k(c-1)} - e^{-2k}) / (1
     * - e^{-2k}) */
    const double gap = 2 * (a[1] * a[1] + a[2] * a[2]);
    n->a0[bin(expm1(k * (2 - gap)) / expm1(2 * k))]++;
    n->azimuth[bin(0.5 + atan2(a[2], a[1]) / (2 * M_PI))]++;
}

static void judge(const char *how, double k, const counts *three, const counts *two)
{
    uniform(three->a0, how, "a_0 on S^3", k);
    uniform(three->z, how, "z on S^3", k);
    uniform(three->azimuth, how, "azimuth on S^3", k);
    uniform(two->a0, how, "cos theta on S^2", k);
    uniform(two->azimuth, how, "azimuth on S^2", k);
}

static const double ks[] = {1e-6, 1e-3, 0.1, 0.5, 1.5, 1.8, 5, 20, 100};
#define KS (int)(sizeof ks / sizeof *ks)

#define DRAW(NAME, P, T, S, EPS) \
    static void NAME(double k, uint32_t n) \
    { \
        counts three = {{0}, {0}, {0}}, two = {{0}, {0}, {0}}; \
        double cdf[1025]; \
        int64_t site[WIDE]; \
        table3(k, cdf); \
        for (int i = 0; i < DRAWS / WIDE; i++) { \
            T a[4], b[4]; \
            for (int l = 0; l < WIDE; l++) \
                site[l] = i * WIDE + l; \
            const P##rng d = {11, site, n, 5}; \
            P##heat_sphere3(P##set((S)k), &d, 0, 1, a); \
            P##heat_sphere2(P##set((S)k), &d, 0, b); \
            for (int l = 0; l < WIDE; l++) { \
                const double x[4] = {(double)a[0][l], (double)a[1][l], (double)a[2][l], \
                                     (double)a[3][l]}; \
                const double y[4] = {(double)b[0][l], (double)b[1][l], (double)b[2][l], \
                                     (double)b[3][l]}; \
                const double norm = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]; \
                CHECK(fabs(norm - 1) <= 32 * EPS, "|a|^2 = %.17g", norm); \
                count3(&three, cdf, x); \
                count2(&two, k, y); \
            } \
        } \
        judge(#T, k, &three, &two); \
    }
DRAW(draw_double, wide_, wide, double, 0x1p-53)
DRAW(draw_single, thin_, thin, float, 0x1p-24)

/* ---- of proposals ---- */

/* exp(-k) I_1(k) = 1/pi integral of exp(k (cos phi - 1)) cos phi over (0, pi). */
static double bessel(double k)
{
    double sum = 0;
    const int n = 4000;
    for (int i = 0; i < n; i++) { /* midpoints: exact to rounding for what is periodic */
        const double phi = M_PI * (i + 0.5) / n;
        sum += exp(k * (cos(phi) - 1)) * cos(phi) / n;
    }
    return sum;
}

static void check_rates(void)
{
    printf("# k, proposals accepted, expected\n");
    static const double at[] = {1e-6, 0.01, 0.5, 1, 1.699, 1.701, 3, 10, 100, 1e4};
    for (size_t n = 0; n < sizeof at / sizeof *at; n++) {
        const double k = at[n];
        const double p = k > LAT_HEAT_SWITCH ? sqrt(2 * M_PI * k) * bessel(k)
                                             : M_PI * bessel(k) / (1 - exp(-2 * k));
        long closed = 0, closed_single = 0;
        int64_t site[1];
        for (int i = 0; i < DRAWS; i++) {
            double u[8], gap, open = 1;
            float v[8], thin_gap, thin_open = 1;
            site[0] = i;
            const rng_d2 d = {12, site, (uint32_t)n, 6};
            uniforms_d2(&d, 0, u);
            uniforms_d2(&d, 1, u + 4);
            for (int j = 0; j < 8; j++)
                v[j] = (float)u[j];
            heat_try_d2(k, u, &gap, &open);
            single_heat_try((float)k, v, &thin_gap, &thin_open);
            closed += open < 1;
            closed_single += thin_open < 1;
        }
        /* Two independent proposals: at least one is accepted. */
        const double q = 1 - (1 - p) * (1 - p), error = sqrt(q * (1 - q) / DRAWS),
                     one = 1 - sqrt(1 - (double)closed / DRAWS);
        printf("# %g\t%.4f\t%.4f\n", k, one, p);
        CHECK(fabs((double)closed / DRAWS - q) <= 5 * error + 1e-6
                  && fabs((double)closed_single / DRAWS - q) <= 5 * error + 1e-6,
              "k = %g: %.5f in double, %.5f in single, expected %.5f", k, (double)closed / DRAWS,
              (double)closed_single / DRAWS, q);
        CHECK(p >= 0.709, "k = %g: only %.4f are accepted", k, p);
    }
}

/* ---- of sweeps ---- */

/* Where all links are 1 and g of odd sites is 1, even sites of SU(2) draw with the same k: in D = 2
 * Landau gauge |r| = 8; in maximally Abelian gauge X_0 - X_1 = diag(4, -4), l = 4, and the vector
 * that h turns to the pole is the pole itself. */
static void check_lanes(const char *set, lat_real real, double k, uint32_t n)
{
    enum { L = 512, SWEEPS = FEW(8) };
    static const lat_gauge gauges[] = {LAT_LANDAU, LAT_MAG};
    counts count[2] = {{{0}, {0}, {0}}, {{0}, {0}, {0}}};
    lat_field u = {.data = NULL}, one, g;
    double cdf[1025], unit[8];
    char how[64];
    snprintf(how, sizeof how, "%s, %s", set, real == LAT_F32 ? "single" : "double");
    setenv("LAT_LANES", set, 1); /* where there are none so wide, the widest that there are */
    table3(k, cdf);
    lat_sun_one(2, unit);
    lat_header_init(&u.head);
    u.head.geom = (lat_geometry){.nd = 2, .dims = {L, L, 1, 1}};
    u.head.nc = 2;
    u.head.reals = 8;
    if (lat_field_alloc(&u, &lat_comm_self) || lat_transform_new(&one, &u.head, &lat_comm_self)
        || lat_transform_new(&g, &u.head, &lat_comm_self))
        exit(lat_report(LAT_FAILED));
    for (size_t i = 0; i < lat_field_matrices(&u); i++)
        lat_field_put(&u, i, unit);
    for (size_t i = 0; i < lat_field_matrices(&one); i++)
        lat_field_put(&one, i, unit);
    for (int i = 0; i < 2; i++) {
        const lat_condition c = lat_condition_of(gauges[i], &u.head.geom, -1);
        lat_sweep sweep = {
            .update = LAT_UPDATE_HEATBATH, .temperature = (i ? 4 : 8) / k, .seed = 13, .config = n};
        lat_fixer *dev = lat_fix_open(cpu_device(), &u, &c, real, 1);
        if (!dev)
            exit(lat_report(LAT_FAILED));
        for (; sweep.step < SWEEPS; sweep.step++) {
            if (lat_fix_set(dev, 0, &one) || lat_fix_sweep(dev, &sweep, 1)
                || lat_fix_get(dev, 0, &g))
                exit(lat_report(LAT_FAILED));
            for (size_t x = 0; x < (size_t)L * L; x++) {
                double m[8];
                lat_field_get(&g, x, m);
                const double a[4] = {m[0], m[3], m[2], m[1]};
                if ((x % L + x / L) % 2)
                    continue;
                if (i)
                    count2(&count[i], k, a);
                else
                    count3(&count[i], cdf, a);
            }
        }
        lat_fix_close(dev);
    }
    judge(how, k, &count[0], &count[1]);
    lat_field_free(&u);
    lat_field_free(&one);
    lat_field_free(&g);
    unsetenv("LAT_LANES");
}

int main(void)
{
    check_case("random numbers in lanes are Random123's Philox");
    check_philox();
    check_case("logarithm, exponential, sine and cosine are good to a few roundings");
    check_functions();
    check_case("the heat bath draws from exp(k a0) on S^3 and exp(k cos) on S^2, at any k, in "
               "single and double");
    for (int n = 0; n < KS; n++) {
        draw_double(ks[n], (uint32_t)n);
        draw_single(ks[n], (uint32_t)n);
    }
    check_case("proposals are accepted as often as they should be, at small and at large k");
    check_rates();
    check_case("sweeps in the widest lanes draw from the same distributions");
    for (int n = 0; n < KS; n += 2)
        for (int real = 4; real <= 8; real += 4)
            check_lanes("avx512", (lat_real)real, ks[n], (uint32_t)n);
    check_case("and so do those in shorter lanes");
    for (int n = 3; n < KS; n += 3)
        for (int real = 4; real <= 8; real += 4) {
            check_lanes("avx2", (lat_real)real, ks[n], (uint32_t)n);
            check_lanes("base", (lat_real)real, ks[n], (uint32_t)n);
        }
    return check_done();
}
