/* SPDX-License-Identifier: BSD-3-Clause */
/* check_heat: random numbers in lanes are Random123's; logarithm, exponential, sine and cosine; the
 * distributions that the heat bath draws from, by chi-square. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "backend/lanes.h"
#include "check.h"
#include "site/random.h"

#define LAT_HD static inline __attribute__((unused))
#define LAT_N 2

#define WIDE 8
typedef double wide __attribute__((vector_size(8 * WIDE)));

#define LAT_T double
#define LAT_S double
#define LAT_SIZE 8
#define LAT_WIDTH 1
#define LAT_(x) one_##x
#include "site/template.h"
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_
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

static void check_philox(void)
{
    int64_t site[WIDE];
    for (int i = 0; i < 1000; i++) {
        const uint64_t seed = (uint64_t)i * 0x9E3779B97F4A7C15u;
        const uint32_t copy = (uint32_t)i % 1000, step = 0x30000000u + (uint32_t)i, draw = (uint32_t)(7 * i);
        for (int l = 0; l < WIDE; l++)
            site[l] = ((int64_t)i << 28) + l * 12345;
        const wide_dice d = {seed, site, copy, step};
        uint32_t w[4][WIDE], expected[4];
        wide_roll(&d, draw, w);
        for (int l = 0; l < WIDE; l++) {
            lat_random(seed, (uint64_t)site[l], copy, step, draw, expected);
            for (int k = 0; k < 4; k++)
                CHECK(w[k][l] == expected[k], "draw %d, lane %d, word %d: %08x, %08x", i, l, k, w[k][l], expected[k]);
        }
    }
}

static void check_functions(void)
{
    for (int i = 1; i < 20000; i++) {
        const double u = i / 20000.0, x = exp(-40 * u), y = -690 * u;
        double s, c;
        float fs, fc;
        /* A few roundings: of the result, or of the unit circle. */
        CHECK(fabs(one_log(x) - log(x)) <= 8 * 0x1p-53 * (1 + fabs(log(x))), "log %.17g", x);
        CHECK(fabs(one_log(u) - log(u)) <= 8 * 0x1p-53 * fabs(log(u)) + 1e-17, "log %.17g", u);
        CHECK(fabs(one_exp(y) - exp(y)) <= 16 * 0x1p-53 * exp(y) * (1 - y), "exp %.17g", y);
        one_turn(u, &s, &c);
        CHECK(fabs(s - sin(2 * M_PI * u)) <= 32 * 0x1p-53 && fabs(c - cos(2 * M_PI * u)) <= 32 * 0x1p-53, "turn %.17g", u);
        CHECK(fabsf(single_log((float)x) - (float)log((double)(float)x)) <= 8 * 0x1p-24 * (1 + fabs(log(x))), "log %g in single", x);
        CHECK(fabsf(single_exp((float)(y / 10)) - (float)exp((double)(float)(y / 10))) <= 16 * 0x1p-24 * exp(y / 10) * (1 - y / 10), "exp %g in single", y / 10);
        single_turn((float)u, &fs, &fc);
        CHECK(fabs(fs - sin(2 * M_PI * (double)(float)u)) <= 32 * 0x1p-24 && fabs(fc - cos(2 * M_PI * (double)(float)u)) <= 32 * 0x1p-24, "turn %g in single", u);
    }
}

/* Chi-square of BINS equally probable bins: mean BINS - 1, deviation sqrt(2 (BINS - 1)); 6 deviations are one
 * chance in 1e8, and the draws are the same on every run. */
#define BINS 100
#define DRAWS 1000000

static void uniform(const long *count, const char *what, double k)
{
    double chi2 = 0;
    for (int i = 0; i < BINS; i++) {
        const double e = (double)DRAWS / BINS, d = (double)count[i] - e;
        chi2 += d * d / e;
    }
    CHECK(fabs(chi2 - (BINS - 1)) <= 6 * sqrt(2.0 * (BINS - 1)), "%s, k = %g: chi-square %g of %d", what, k, chi2, BINS - 1);
}

/* Distribution of a_0 in (-1, 1): integral of sqrt(1 - x^2) exp(k (x - 1)), by Simpson's rule in the angle. */
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

static double look(const double cdf[1025], double x)
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

static void check_draws(void)
{
    static const double ks[] = {1e-6, 1e-3, 0.1, 0.5, 1.5, 1.8, 5, 20, 100};
    for (size_t n = 0; n < sizeof ks / sizeof *ks; n++) {
        const double k = ks[n];
        long three[BINS] = {0}, two[BINS] = {0}, turn3[BINS] = {0}, turn2[BINS] = {0};
        double cdf[1025];
        int64_t site[WIDE];
        const wide kk = {k, k, k, k, k, k, k, k};
        table3(k, cdf);
        for (int i = 0; i < DRAWS / WIDE; i++) {
            for (int l = 0; l < WIDE; l++)
                site[l] = i * WIDE + l;
            const wide_dice d = {11, site, (uint32_t)n, 5};
            wide a[4], b[4];
            wide_heat_sphere3(kk, &d, 0, 1, a);
            wide_heat_sphere2(kk, &d, 0, b);
            for (int l = 0; l < WIDE; l++) {
                three[bin(look(cdf, a[0][l]))]++;
                turn3[bin(0.5 + atan2(a[2][l], a[1][l]) / (2 * M_PI))]++;
                /* cos theta = a0^2 - a1^2 - a2^2; its distribution is (e^{k(c-1)} - e^{-2k}) / (1 - e^{-2k}) */
                const double c = 2 * b[0][l] * b[0][l] - 1;
                two[bin(expm1(k * (c + 1)) / expm1(2 * k))]++;
                turn2[bin(0.5 + atan2(b[2][l], b[1][l]) / (2 * M_PI))]++;
                const double norm = a[0][l] * a[0][l] + a[1][l] * a[1][l] + a[2][l] * a[2][l] + a[3][l] * a[3][l];
                CHECK(fabs(norm - 1) <= 32 * 0x1p-53, "|a|^2 = %.17g", norm);
            }
        }
        uniform(three, "a_0 on S^3", k);
        uniform(turn3, "azimuth on S^3", k);
        uniform(two, "cos theta on S^2", k);
        uniform(turn2, "azimuth on S^2", k);
    }
}

int main(void)
{
    check_case("random numbers in lanes are Random123's Philox");
    check_philox();
    check_case("logarithm, exponential, sine and cosine are good to a few roundings");
    check_functions();
    check_case("the heat bath draws from exp(k a0) on S^3 and exp(k cos) on S^2, at any k");
    check_draws();
    return check_done();
}
