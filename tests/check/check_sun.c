/* SPDX-License-Identifier: BSD-3-Clause */
/* check_sun.c: properties of the matrix functions of lib/site/sun.h, for N = 2 to 5, 8 and 16. */
#include <string.h>
#include "check.h"
#include "site/sun.h"

#define EPS DBL_EPSILON

static const int groups[] = {2, 3, 4, 5, 8, 16};
enum { GROUPS = sizeof groups / sizeof *groups };

typedef double matrix[LAT_SUN_REALS];

static void gaussian(int n, double *m, uint64_t seed, uint64_t site)
{
    for (int i = 0; i < n * n; i++)
        lat_sun_normal(m + 2 * i, seed, site, 0, 7, (uint32_t)i);
}

static void copy(int n, double *to, const double *from)
{
    memcpy(to, from, sizeof(double) * 2 * (size_t)(n * n));
}

/* Largest difference of elements. */
static double difference(int n, const double *a, const double *b)
{
    double d = 0;
    for (int i = 0; i < 2 * n * n; i++)
        d = !(fabs(a[i] - b[i]) <= d) ? fabs(a[i] - b[i]) : d;
    return d;
}

static double det_error(int n, const double *m)
{
    double d[2];
    lat_sun_det(n, m, d);
    return hypot(d[0] - 1, d[1]);
}

/* Each element of a product of n terms of size 1 is right to about n EPS; a determinant, a
 * factorisation or a Newton step lose some n EPS more. */
static double bound(int n) { return 8 * n * EPS; }

static void products(void)
{
    check_case("products, adjoint and trace agree with each other");
    for (int g = 0; g < GROUPS; g++) {
        const int n = groups[g];
        matrix a, b, c, d, e, bd;
        double t[2], u[2];
        gaussian(n, a, 1, 1);
        gaussian(n, b, 1, 2);
        lat_sun_dag(n, bd, b);
        lat_sun_mul(n, c, a, bd);
        lat_sun_mul_dag(n, d, a, b);
        CHECK(difference(n, c, d) < 40 * n * EPS, "N %d: %g", n, difference(n, c, d));
        lat_sun_mul_dag(n, c, b, a); /* (a b^+)^+ = b a^+ */
        lat_sun_dag(n, e, d);
        CHECK(difference(n, c, e) < 40 * n * EPS, "N %d: %g", n, difference(n, c, e));
        lat_sun_mul(n, c, a, b);
        lat_sun_mul(n, d, b, a);
        lat_sun_trace(n, c, t);
        lat_sun_trace(n, d, u);
        CHECK(hypot(t[0] - u[0], t[1] - u[1]) < 40 * n * n * EPS, "N %d: tr ab - tr ba", n);
        lat_sun_trace(n, a, t);
        double re = 0, im = 0;
        for (int i = 0; i < n; i++) {
            re += a[2 * (i * n + i)];
            im += a[2 * (i * n + i) + 1];
        }
        CHECK(t[0] == re && t[1] == im, "N %d: trace", n);
    }
}

static void determinants(void)
{
    check_case("det of a triangle is its diagonal, of a product the product, of an odd swap minus");
    for (int g = 0; g < GROUPS; g++) {
        const int n = groups[g];
        matrix a, b, c;
        double d[2], e[2], want[2] = {1, 0};
        gaussian(n, a, 2, 1);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                a[2 * (i * n + j)] = a[2 * (i * n + j) + 1] = 0;
        for (int i = 0; i < n; i++)
            lat_sun_cmul(want, want, a + 2 * (i * n + i));
        lat_sun_det(n, a, d);
        CHECK(hypot(d[0] - want[0], d[1] - want[1]) <= 4 * n * EPS * hypot(want[0], want[1]),
              "N %d: %g%+gi, expected %g%+gi", n, d[0], d[1], want[0], want[1]);
        lat_sun_haar(n, a, 2, 2, 0, 0);
        gaussian(n, b, 2, 3);
        lat_sun_mul(n, c, a, b);
        lat_sun_det(n, b, d);
        lat_sun_det(n, c, e);
        CHECK(hypot(d[0] - e[0], d[1] - e[1]) < 50 * n * n * EPS * hypot(d[0], d[1]),
              "N %d: det of a rotated matrix", n);
        for (int j = 0; j < 2 * n; j++) {
            double t = c[j];
            c[j] = c[2 * n + j];
            c[2 * n + j] = t;
        }
        lat_sun_det(n, c, d);
        CHECK(hypot(d[0] + e[0], d[1] + e[1]) < 50 * n * n * EPS * hypot(d[0], d[1]),
              "N %d: swapped rows", n);
        memset(c, 0, 2 * sizeof(double) * (size_t)n);
        lat_sun_det(n, c, d);
        CHECK(d[0] == 0 && d[1] == 0, "N %d: singular, det %g%+gi", n, d[0], d[1]);
    }
}

static void projections(void)
{
    check_case("Gram-Schmidt and polar projections are in SU(N), and doing them twice is once");
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < 200; k++) {
            const int n = groups[g];
            matrix a, b;
            gaussian(n, a, 3, (uint64_t)k);
            CHECK(lat_sun_gram_schmidt(n, a) == 0, "N %d: refused", n);
            CHECK(lat_sun_unitarity(n, a) < bound(n), "N %d: %g", n, lat_sun_unitarity(n, a));
            CHECK(det_error(n, a) < bound(n), "N %d: det off by %g", n, det_error(n, a));
            copy(n, b, a);
            lat_sun_gram_schmidt(n, b);
            CHECK(difference(n, a, b) < bound(n), "N %d: again moves %g", n, difference(n, a, b));

            gaussian(n, a, 4, (uint64_t)k);
            CHECK(lat_sun_polar(n, a) == 0, "N %d: refused", n);
            CHECK(lat_sun_unitarity(n, a) < bound(n), "N %d: %g", n, lat_sun_unitarity(n, a));
            CHECK(det_error(n, a) < bound(n), "N %d: det off by %g", n, det_error(n, a));
            copy(n, b, a);
            lat_sun_polar(n, b);
            CHECK(difference(n, a, b) < bound(n), "N %d: again moves %g", n, difference(n, a, b));
        }
}

/* U = exp(i phi) W P with P positive: W is what polar must find. P Hermitian, 1 + small. */
static void nearest(void)
{
    check_case(
        "polar finds the unitary factor, and is no farther than Gram-Schmidt or a neighbour");
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < 100; k++) {
            const int n = groups[g];
            matrix w, h, p, m, polar, gs, near;
            lat_sun_haar(n, w, 5, (uint64_t)k, 0, 0);
            gaussian(n, h, 5, (uint64_t)k);
            lat_sun_one(n, p);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    p[2 * (i * n + j)] += 0.02 * (h[2 * (i * n + j)] + h[2 * (j * n + i)]) / n;
                    p[2 * (i * n + j) + 1] += 0.02
                                              * (h[2 * (i * n + j) + 1] - h[2 * (j * n + i) + 1])
                                              / n;
                }
            lat_sun_mul(n, m, w, p);
            copy(n, polar, m);
            copy(n, gs, m);
            lat_sun_polar(n, polar);
            lat_sun_gram_schmidt(n, gs);
            CHECK(difference(n, polar, w) < bound(n), "N %d: %g", n, difference(n, polar, w));
            const double best = lat_sun_distance(n, polar, m);
            CHECK(best <= lat_sun_distance(n, gs, m) + bound(n), "N %d: Gram-Schmidt is nearer", n);
            lat_sun_near_one(n, h, 0.01, 6, (uint64_t)k, 0, 0);
            lat_sun_mul(n, near, h, polar);
            CHECK(best < lat_sun_distance(n, near, m), "N %d: a neighbour is nearer", n);
        }
}

static void refusals(void)
{
    check_case("singular, infinite and NaN matrices are refused, large and small ones are not");
    for (int g = 0; g < GROUPS; g++) {
        const int n = groups[g];
        matrix a, b, zero;
        memset(zero, 0, sizeof zero);
        CHECK(lat_sun_polar(n, zero) == -1, "N %d: zero", n);
        memset(zero, 0, sizeof zero);
        CHECK(lat_sun_gram_schmidt(n, zero) == -1, "N %d: zero", n);
        gaussian(n, a, 8, 1);
        memcpy(a + 2 * n, a, 2 * sizeof(double) * (size_t)n);
        copy(n, b, a);
        CHECK(lat_sun_polar(n, a) == -1, "N %d: equal rows", n);
        CHECK(lat_sun_gram_schmidt(n, b) == -1, "N %d: equal rows", n);
        const double bad[] = {NAN, INFINITY, -INFINITY};
        for (int i = 0; i < 3; i++) {
            gaussian(n, a, 8, 2);
            a[1] = bad[i];
            copy(n, b, a);
            CHECK(lat_sun_polar(n, a) == -1, "N %d: %g", n, bad[i]);
            CHECK(lat_sun_gram_schmidt(n, b) == -1, "N %d: %g", n, bad[i]);
        }
        for (double scale = 1e-30; scale < 1e31; scale *= 1e15) {
            lat_sun_haar(n, b, 8, 3, 0, 0);
            for (int i = 0; i < 2 * n * n; i++)
                a[i] = scale * b[i];
            CHECK(lat_sun_polar(n, a) == 0 && difference(n, a, b) < bound(n), "N %d: %g", n, scale);
            for (int i = 0; i < 2 * n * n; i++)
                a[i] = scale * b[i];
            CHECK(lat_sun_gram_schmidt(n, a) == 0 && difference(n, a, b) < bound(n), "N %d: %g", n,
                  scale);
        }
    }
}

static void third_row(void)
{
    check_case("the third row is the conjugate cross product of the first two");
    for (int k = 0; k < 100; k++) {
        matrix a, b;
        lat_sun_haar(3, a, 9, (uint64_t)k, 0, 0);
        copy(3, b, a);
        memset(b + 12, 0, 6 * sizeof(double));
        lat_sun_last_row(3, b);
        CHECK(difference(3, a, b) == 0, "%g", difference(3, a, b));
        CHECK(lat_sun_unitarity(3, b) < bound(3), "%g", lat_sun_unitarity(3, b));
    }
}

/* Over Haar, with K draws: <U> = 0 and <|U_ij|^2> = 1/N; <|tr U|^2> = 1 with variance 1 for N >= 2
 * (<|tr U|^4> = 2); <(tr U)^2> = 0 for N > 2 and 1 for N = 2; <tr U^2> = 0 for N > 2, -1 for N = 2
 * (its |.|^2 averages at most 2). Bounds are 5 standard deviations. */
static void haar_moments(void)
{
    check_case("Haar: moments of traces and elements, from the left and from the right");
    enum { K = 20000 };
    for (int g = 0; g < 4; g++) {
        const int n = groups[g];
        matrix u, v, c, mean, square;
        double trace2 = 0, tt[2] = {0, 0}, sq[2] = {0, 0}, fixed[2] = {0, 0}, worst = 0;
        memset(mean, 0, sizeof mean);
        memset(square, 0, sizeof square);
        lat_sun_haar(n, v, 99, 0, 0, 0);
        for (int k = 0; k < K; k++) {
            double t[2], z[2];
            lat_sun_haar(n, u, 10, (uint64_t)k, 0, LAT_FOR_START);
            worst = fmax(worst, fmax(det_error(n, u), lat_sun_unitarity(n, u)));
            lat_sun_trace(n, u, t);
            trace2 += (t[0] * t[0] + t[1] * t[1]) / K;
            lat_sun_cmul(z, t, t);
            tt[0] += z[0] / K;
            tt[1] += z[1] / K;
            lat_sun_mul(n, c, u, u);
            lat_sun_trace(n, c, t);
            sq[0] += t[0] / K;
            sq[1] += t[1] / K;
            for (int i = 0; i < n * n; i++) {
                mean[2 * i] += u[2 * i] / K;
                mean[2 * i + 1] += u[2 * i + 1] / K;
                square[i] += (u[2 * i] * u[2 * i] + u[2 * i + 1] * u[2 * i + 1]) / K;
            }
            lat_sun_mul(n, c, v, u); /* invariance: a shifted draw has the same <tr tr> */
            lat_sun_trace(n, c, t);
            fixed[0] += (t[0] * t[0] + t[1] * t[1]) / K;
            lat_sun_mul(n, c, u, v);
            lat_sun_trace(n, c, t);
            fixed[1] += (t[0] * t[0] + t[1] * t[1]) / K;
        }
        const double s = 5 / sqrt(K), special = n == 2 ? 1 : 0;
        CHECK(worst < bound(n), "N %d: off SU(N) by %g", n, worst);
        CHECK(fabs(trace2 - 1) < s, "N %d: <|tr U|^2> = %g", n, trace2);
        CHECK(fabs(fixed[0] - 1) < s && fabs(fixed[1] - 1) < s,
              "N %d: <|tr VU|^2> = %g, <|tr UV|^2> = %g", n, fixed[0], fixed[1]);
        CHECK(hypot(tt[0] - special, tt[1]) < 1.5 * s, "N %d: <(tr U)^2> = %g%+gi", n, tt[0],
              tt[1]);
        CHECK(hypot(sq[0] + special, sq[1]) < 1.5 * s, "N %d: <tr U^2> = %g%+gi", n, sq[0], sq[1]);
        for (int i = 0; i < n * n; i++) {
            CHECK(hypot(mean[2 * i], mean[2 * i + 1]) < s / sqrt(n), "N %d: <U_%d> = %g%+gi", n, i,
                  mean[2 * i], mean[2 * i + 1]);
            CHECK(fabs(square[i] - 1.0 / n) < s / n, "N %d: <|U_%d|^2> = %g", n, i, square[i]);
        }
    }
}

/* The eigenvalue phases of SU(2) have density (2/pi) sin^2 a, a in (0, pi): tr U / 2 = cos a, so
 * the distribution of x = tr U / 2 is F(x) = 1/2 + (x sqrt(1-x^2) + asin x) / pi. Kolmogorov and
 * Smirnov: sqrt(K) sup |F_K - F| < 2.2 but for 1 in 8000. */
static void haar_distribution(void)
{
    check_case("Haar: the trace of SU(2) has the semicircle distribution");
    enum { K = 20000, BINS = 400 };
    static int count[BINS + 1];
    for (int k = 0; k < K; k++) {
        matrix u;
        double t[2];
        lat_sun_haar(2, u, 11, (uint64_t)k, 3, LAT_FOR_GAUGE);
        lat_sun_trace(2, u, t);
        CHECK(fabs(t[1]) < bound(2), "tr U = %g%+gi", t[0], t[1]);
        int bin = (int)((t[0] / 2 + 1) / 2 * BINS);
        count[bin < 0 ? 0 : bin > BINS ? BINS : bin]++;
    }
    int sum = 0;
    for (int b = 0; b < BINS; b++) {
        sum += count[b];
        double x = 2 * (b + 1.0) / BINS - 1;
        double f = 0.5 + (x * sqrt(fmax(0, 1 - x * x)) + asin(fmin(1, x))) / 3.14159265358979323846;
        CHECK(fabs((double)sum / K - f) * sqrt(K) < 2.2, "F(%g) = %g, expected %g", x,
              (double)sum / K, f);
    }
}

static void draws(void)
{
    check_case(
        "a draw depends on seed, site, configuration and step, each of them, and on nothing else");
    for (int g = 0; g < GROUPS; g++) {
        const int n = groups[g];
        matrix a, b[6];
        lat_sun_haar(n, a, 1, 2, 3, 4);
        lat_sun_haar(n, b[0], 1, 2, 3, 4);
        CHECK(memcmp(a, b[0], sizeof(double) * 2 * (size_t)(n * n)) == 0, "N %d: not the same", n);
        lat_sun_haar(n, b[0], UINT64_C(1) << 32 | 1, 2, 3, 4);
        lat_sun_haar(n, b[1], 0, 2, 3, 4);
        lat_sun_haar(n, b[2], 1, UINT64_C(1) << 32 | 2, 3, 4);
        lat_sun_haar(n, b[3], 1, 3, 3, 4);
        lat_sun_haar(n, b[4], 1, 2, 4, 4);
        lat_sun_haar(n, b[5], 1, 2, 3, 5);
        for (int i = 0; i < 6; i++)
            CHECK(difference(n, a, b[i]) > 1e-3, "N %d: change %d has no effect", n, i);
    }
}

/* <1 - Re tr U / N> = eps^2 (N^2-1)/(4N), with terms of order eps^4 above; tr H^2 is half a chi^2
 * of N^2-1 degrees, so the relative deviation of the mean is sqrt(2/(N^2-1)/K). */
static void weak(void)
{
    check_case("near one: in SU(N), at the distance that eps says, exact for eps 0");
    enum { K = 4000 };
    for (int g = 0; g < 4; g++) {
        const int n = groups[g];
        const double eps = 0.01, want = eps * eps * (n * n - 1) / (4.0 * n);
        matrix u, one;
        double sum = 0, worst = 0;
        for (int k = 0; k < K; k++) {
            double t[2];
            lat_sun_near_one(n, u, eps, 12, (uint64_t)k, 0, LAT_FOR_START);
            lat_sun_trace(n, u, t);
            sum += (1 - t[0] / n) / K;
            worst = fmax(worst, fmax(det_error(n, u), lat_sun_unitarity(n, u)));
        }
        CHECK(worst < bound(n), "N %d: off SU(N) by %g", n, worst);
        CHECK(fabs(sum / want - 1) < 5 * sqrt(2.0 / (n * n - 1) / K) + n * eps * eps,
              "N %d: %g, expected %g", n, sum, want);
        lat_sun_near_one(n, u, 30, 12, 0, 0, LAT_FOR_START);
        CHECK(lat_sun_unitarity(n, u) < bound(n) && det_error(n, u) < bound(n), "N %d: eps 30", n);
        lat_sun_near_one(n, u, 0, 12, 0, 0, LAT_FOR_START);
        lat_sun_one(n, one);
        CHECK(difference(n, u, one) == 0, "N %d: eps 0", n);
    }
}

/* exp of a small multiple, N times over, is exp of the whole; and det exp A = exp tr A. */
static void exponentials(void)
{
    check_case("exp(a) squared is exp(2a), exp(a) exp(-a) is 1, det exp(a) is exp(tr a)");
    for (int g = 0; g < GROUPS; g++) {
        const int n = groups[g];
        matrix a, b, e, f, s;
        double t[2], d[2];
        gaussian(n, a, 13, 1);
        for (int i = 0; i < 2 * n * n; i++) {
            a[i] /= n;
            b[i] = -a[i];
        }
        lat_sun_exp(n, e, a);
        lat_sun_exp(n, f, b);
        lat_sun_mul(n, s, e, f);
        lat_sun_one(n, f);
        const double size = pow(lat_sun_norm(2 * n * n, e), 2);
        CHECK(difference(n, s, f) < 40 * n * EPS * size, "N %d: %g", n, difference(n, s, f));
        lat_sun_mul(n, s, e, e);
        for (int i = 0; i < 2 * n * n; i++)
            b[i] = 2 * a[i];
        lat_sun_exp(n, f, b);
        CHECK(difference(n, s, f) < 40 * n * EPS * size, "N %d: %g", n, difference(n, s, f));
        lat_sun_trace(n, a, t);
        lat_sun_det(n, e, d);
        CHECK(hypot(d[0] - exp(t[0]) * cos(t[1]), d[1] - exp(t[0]) * sin(t[1]))
                  < 100 * n * EPS * size,
              "N %d: det", n);
    }
}

int main(void)
{
    products();
    determinants();
    projections();
    nearest();
    refusals();
    third_row();
    haar_moments();
    haar_distribution();
    draws();
    weak();
    exponentials();
    return check_done();
}
