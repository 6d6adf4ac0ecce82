/* SPDX-License-Identifier: BSD-3-Clause */
/* sun.h: N by N complex matrices of doubles, N at run time. In memory a matrix is row-major, re and
 * im interleaved, 2 N N doubles. For what is done once a site, not once a sweep; matrix.h is for
 * sweeps. No allocation, no state. Outputs must not overlap inputs unless it says so.
 *
 * Algebra compiles as device code, too; functions that draw random numbers are for the host. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include "groups.h"
#if !defined(__CUDACC__)
#include "random.h"
#endif

#if defined(__CUDACC__)
#define LAT_SUN_HOST_DEVICE static inline __host__ __device__
#else
#define LAT_SUN_HOST_DEVICE static inline
#endif

/* A matrix on the stack is `double m[LAT_SUN_REALS]`. GPU code for one N alone may say fewer. */
#ifndef LAT_SUN_REALS
#define LAT_SUN_REALS (2 * LAT_MAX_COLOURS * LAT_MAX_COLOURS)
#endif

/* What the functions do; bodies below. Where one returns -1, m is undefined.
 *   lat_sun_one(n, m)             m = 1
 *   lat_sun_mul(n, c, a, b)       c = a b
 *   lat_sun_mul_dag(n, c, a, b)   c = a b^+
 *   lat_sun_dag(n, c, a)          c = a^+
 *   lat_sun_trace(n, a, t)        t[2] = tr a
 *   lat_sun_det(n, a, d)          d[2] = det a, by elimination with pivoting
 *   lat_sun_invert(n, inv, a)     inv = a^-1 by Gauss-Jordan elimination; -1 where a pivot is zero
 *                                 to rounding, or a not finite
 *   lat_sun_gram_schmidt(n, m)    m <- rows orthonormalised from the first, det = 1 by the last;
 *                                 -1 where rows are dependent to rounding or not finite
 *   lat_sun_polar(n, m)           m <- the nearest U(N) matrix in the Frobenius norm, by Newton's
 *                                 iteration to convergence, times the phase that makes det = 1;
 *                                 -1 where m is singular to rounding or not finite
 *   lat_sun_last_row(n, m)        N = 2, 3: the last row from the others, det = 1; else nothing
 *   lat_sun_complete(n, m)        the same for any N, by cofactors from N = 4 on
 *   lat_sun_unitarity(n, m)       largest |element| of m m^+ - 1; NaN where m has NaN
 *   lat_sun_last_row_follows(n, m, bound)
 *                                 N = 2, 3: are the rows orthonormal, and is the last one what the
 *                                 others make it, to `bound`? No, where m has NaN
 *   lat_sun_distance(n, a, b)     Frobenius norm of a - b
 *   lat_sun_exp(n, c, a)          c = exp(a)
 *   lat_sun_halvings(bound)       of an exponent with eigenvalues up to `bound`, until they are 1
 *   lat_sun_normal(z, seed, site, config, step, draw)   two normal numbers (random.h)
 *   lat_sun_haar(n, m, seed, site, config, step)        m: Haar distributed in SU(N)
 *   lat_sun_near_one(n, m, eps, seed, site, config, step)   m = exp(i eps H), H random, traceless
 *                                 Hermitian, Gaussian: a weak field */

LAT_SUN_HOST_DEVICE void lat_sun_one(int n, double *m)
{
    memset(m, 0, sizeof(double) * 2 * (size_t)n * (size_t)n);
    for (int i = 0; i < n; i++)
        m[2 * (i * n + i)] = 1;
}

LAT_SUN_HOST_DEVICE void lat_sun_mul(int n, double *c, const double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < n; k++) {
                const double *p = a + 2 * (i * n + k), *q = b + 2 * (k * n + j);
                re += p[0] * q[0] - p[1] * q[1];
                im += p[0] * q[1] + p[1] * q[0];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

LAT_SUN_HOST_DEVICE void lat_sun_mul_dag(int n, double *c, const double *a, const double *b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double re = 0, im = 0;
            for (int k = 0; k < n; k++) {
                const double *p = a + 2 * (i * n + k), *q = b + 2 * (j * n + k);
                re += p[0] * q[0] + p[1] * q[1];
                im += p[1] * q[0] - p[0] * q[1];
            }
            c[2 * (i * n + j)] = re;
            c[2 * (i * n + j) + 1] = im;
        }
}

LAT_SUN_HOST_DEVICE void lat_sun_dag(int n, double *c, const double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[2 * (i * n + j)] = a[2 * (j * n + i)];
            c[2 * (i * n + j) + 1] = -a[2 * (j * n + i) + 1];
        }
}

LAT_SUN_HOST_DEVICE void lat_sun_trace(int n, const double *a, double t[2])
{
    t[0] = t[1] = 0;
    for (int i = 0; i < n; i++) {
        t[0] += a[2 * (i * n + i)];
        t[1] += a[2 * (i * n + i) + 1];
    }
}

/* z = p q and z = p / q; z may be p or q. */
LAT_SUN_HOST_DEVICE void lat_sun_cmul(double z[2], const double p[2], const double q[2])
{
    double re = p[0] * q[0] - p[1] * q[1], im = p[0] * q[1] + p[1] * q[0];
    z[0] = re;
    z[1] = im;
}

LAT_SUN_HOST_DEVICE void lat_sun_cdiv(double z[2], const double p[2], const double q[2])
{
    double norm = q[0] * q[0] + q[1] * q[1];
    double re = (p[0] * q[0] + p[1] * q[1]) / norm, im = (p[1] * q[0] - p[0] * q[1]) / norm;
    z[0] = re;
    z[1] = im;
}

/* Swaps rows so that the largest element of column k, from row k down, is in row k; returns its
 * modulus, and changes the sign of *sign where rows were swapped. b: NULL, or a matrix whose rows
 * are swapped, too. */
LAT_SUN_HOST_DEVICE double lat_sun_pivot(int n, double *a, double *b, int k, double *sign)
{
    int best = k;
    double size = -1;
    for (int i = k; i < n; i++) {
        double s = hypot(a[2 * (i * n + k)], a[2 * (i * n + k) + 1]);
        if (s > size || s != s) {
            size = s;
            best = i;
        }
    }
    if (best != k) {
        for (int j = 0; j < 2 * n; j++) {
            double t = a[2 * n * k + j];
            a[2 * n * k + j] = a[2 * n * best + j];
            a[2 * n * best + j] = t;
            if (b) {
                t = b[2 * n * k + j];
                b[2 * n * k + j] = b[2 * n * best + j];
                b[2 * n * best + j] = t;
            }
        }
        *sign = -*sign;
    }
    return size;
}

/* row -= factor * other, over n complex numbers. */
LAT_SUN_HOST_DEVICE void lat_sun_row_take(int n, double *row, const double factor[2],
                                          const double *other)
{
    for (int j = 0; j < n; j++) {
        double z[2];
        lat_sun_cmul(z, factor, other + 2 * j);
        row[2 * j] -= z[0];
        row[2 * j + 1] -= z[1];
    }
}

LAT_SUN_HOST_DEVICE void lat_sun_det(int n, const double *a, double d[2])
{
    double m[LAT_SUN_REALS], sign = 1;
    memcpy(m, a, sizeof(double) * 2 * (size_t)n * (size_t)n);
    d[0] = 1;
    d[1] = 0;
    for (int k = 0; k < n; k++) {
        double *pivot = m + 2 * (k * n + k);
        double size = lat_sun_pivot(n, m, 0, k, &sign);
        lat_sun_cmul(d, d, pivot);
        if (size == 0)
            return;
        for (int i = k + 1; i < n; i++) {
            double factor[2];
            lat_sun_cdiv(factor, m + 2 * (i * n + k), pivot);
            lat_sun_row_take(n, m + 2 * n * i, factor, m + 2 * n * k);
        }
    }
    d[0] *= sign;
    d[1] *= sign;
}

LAT_SUN_HOST_DEVICE int lat_sun_invert(int n, double *inv, const double *a)
{
    double m[LAT_SUN_REALS], sign = 1, largest = 0;
    const int reals = 2 * n * n;
    memcpy(m, a, sizeof(double) * (size_t)reals);
    for (int i = 0; i < reals; i++) {
        if (!(fabs(m[i]) <= DBL_MAX))
            return -1;
        largest = fmax(largest, fabs(m[i]));
    }
    lat_sun_one(n, inv);
    for (int k = 0; k < n; k++) {
        const double one[2] = {1, 0};
        double scale[2], factor[2];
        if (!(lat_sun_pivot(n, m, inv, k, &sign) > 4 * n * DBL_EPSILON * largest))
            return -1;
        lat_sun_cdiv(scale, one, m + 2 * (k * n + k));
        for (int j = 0; j < n; j++) {
            lat_sun_cmul(m + 2 * (k * n + j), m + 2 * (k * n + j), scale);
            lat_sun_cmul(inv + 2 * (k * n + j), inv + 2 * (k * n + j), scale);
        }
        for (int i = 0; i < n; i++)
            if (i != k) {
                memcpy(factor, m + 2 * (i * n + k), sizeof factor);
                lat_sun_row_take(n, m + 2 * n * i, factor, m + 2 * n * k);
                lat_sun_row_take(n, inv + 2 * n * i, factor, inv + 2 * n * k);
            }
    }
    return 0;
}

/* SU(2): (a, b) gives (-b*, a*). SU(3): row 2 = conj(row 0 x row 1). */
LAT_SUN_HOST_DEVICE void lat_sun_last_row(int n, double *m)
{
    if (n == 2) {
        m[4] = -m[2];
        m[5] = m[3];
        m[6] = m[0];
        m[7] = -m[1];
    }
    for (int j = 0; n == 3 && j < 3; j++) {
        const double *a = m + 2 * ((j + 1) % 3), *b = m + 2 * ((j + 2) % 3);
        const double *c = a + 6, *d = b + 6; /* the same columns of row 1 */
        m[12 + 2 * j] = (a[0] * d[0] - a[1] * d[1]) - (b[0] * c[0] - b[1] * c[1]);
        m[13 + 2 * j] = (b[0] * c[1] + b[1] * c[0]) - (a[0] * d[1] + a[1] * d[0]);
    }
}

/* U^+ = U^-1 is the transposed matrix of cofactors, as det U = 1. */
LAT_SUN_HOST_DEVICE void lat_sun_last_cofactors(int n, double *m)
{
    for (int j = 0; j < n; j++) {
        double minor[LAT_SUN_REALS], det[2];
        for (int r = 0; r < n - 1; r++)
            for (int c = 0, to = 0; c < n; c++)
                if (c != j) {
                    memcpy(minor + 2 * (r * (n - 1) + to), m + 2 * (r * n + c), 2 * sizeof *m);
                    to++;
                }
        lat_sun_det(n - 1, minor, det);
        const double sign = (n - 1 + j) % 2 ? -1 : 1;
        m[2 * ((n - 1) * n + j)] = sign * det[0];
        m[2 * ((n - 1) * n + j) + 1] = -sign * det[1];
    }
}

LAT_SUN_HOST_DEVICE void lat_sun_complete(int n, double *m)
{
    if (n <= 3)
        lat_sun_last_row(n, m);
    else
        lat_sun_last_cofactors(n, m);
}

LAT_SUN_HOST_DEVICE double lat_sun_norm(int count, const double *v)
{
    double s = 0;
    for (int i = 0; i < count; i++)
        s += v[i] * v[i];
    return sqrt(s);
}

/* Row r of m is made orthogonal to the rows above it, and of length 1. To project twice is enough
 * for orthogonality to rounding (Kahan; Giraud, Langou, Rozloznik, Comput. Math. Appl. 50 (2005)
 * 1069). */
LAT_SUN_HOST_DEVICE int lat_sun_row_orthonormal(int n, double *m, int r)
{
    double *row = m + 2 * n * r;
    const double before = lat_sun_norm(2 * n, row);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < r; i++) {
            const double *u = m + 2 * n * i;
            double overlap[2] = {0, 0};
            for (int j = 0; j < n; j++) {
                overlap[0] += row[2 * j] * u[2 * j] + row[2 * j + 1] * u[2 * j + 1];
                overlap[1] += row[2 * j + 1] * u[2 * j] - row[2 * j] * u[2 * j + 1];
            }
            lat_sun_row_take(n, row, overlap, u);
        }
    const double after = lat_sun_norm(2 * n, row);
    if (!(after > 8 * n * DBL_EPSILON * before) || !(after <= DBL_MAX))
        return -1;
    for (int j = 0; j < 2 * n; j++)
        row[j] /= after;
    return 0;
}

LAT_SUN_HOST_DEVICE int lat_sun_gram_schmidt(int n, double *m)
{
    const int rows = n == 3 ? 2 : n; /* N = 3: the last row is a cross product */
    for (int r = 0; r < rows; r++)
        if (lat_sun_row_orthonormal(n, m, r))
            return -1;
    if (n == 3) {
        lat_sun_last_row(n, m);
        return 0;
    }
    double d[2];
    lat_sun_det(n, m, d);
    const double size = hypot(d[0], d[1]);
    const double phase[2] = {d[0] / size, -d[1] / size};
    for (int j = 0; j < n; j++)
        lat_sun_cmul(m + 2 * (n * (n - 1) + j), m + 2 * (n * (n - 1) + j), phase);
    return 0;
}

/* Newton's iteration X <- (s X + (s X)^-+) / 2 with s = sqrt(|X^-1| / |X|) in the Frobenius norm
 * (Higham, Functions of Matrices, section 8.6). It converges quadratically, in about 9 steps for
 * the worst matrix that is not singular in double. Near convergence s is 1. */
LAT_SUN_HOST_DEVICE int lat_sun_polar(int n, double *m)
{
    const int reals = 2 * n * n;
    double inv[LAT_SUN_REALS], dag[LAT_SUN_REALS];
    double change = 1;
    for (int step = 0; step < 40; step++) {
        if (lat_sun_invert(n, inv, m))
            return -1;
        lat_sun_dag(n, dag, inv);
        const double s = change > 1e-2 ? sqrt(lat_sun_norm(reals, dag) / lat_sun_norm(reals, m))
                                       : 1;
        double largest = 0;
        for (int i = 0; i < reals; i++) {
            double x = 0.5 * (s * m[i] + dag[i] / s);
            largest = fmax(largest, fabs(x - m[i]));
            m[i] = x;
        }
        /* The step after a change of d leaves an error of order d^2. */
        change = largest;
        if (change < 1e-9)
            break;
    }
    double d[2];
    lat_sun_det(n, m, d);
    if (!(fabs(hypot(d[0], d[1]) - 1) < 0.5)) /* or an overflow in between */
        return -1;
    const double angle = -atan2(d[1], d[0]) / n;
    const double phase[2] = {cos(angle), sin(angle)};
    for (int i = 0; i < n * n; i++)
        lat_sun_cmul(m + 2 * i, m + 2 * i, phase);
    return 0;
}

LAT_SUN_HOST_DEVICE double lat_sun_unitarity(int n, const double *m)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double re = i == j ? -1 : 0, im = 0;
            for (int k = 0; k < n; k++) {
                const double *p = m + 2 * (i * n + k), *q = m + 2 * (j * n + k);
                re += p[0] * q[0] + p[1] * q[1];
                im += p[1] * q[0] - p[0] * q[1];
            }
            double size = sqrt(re * re + im * im);
            if (!(size <= largest)) /* NaN stays NaN */
                largest = largest == largest ? size : largest;
        }
    return largest;
}

LAT_SUN_HOST_DEVICE int lat_sun_last_row_follows(int n, const double *m, double bound)
{
    double r[18];
    memcpy(r, m, (size_t)(2 * n * n) * sizeof *r);
    lat_sun_last_row(n, r);
    if (!(lat_sun_unitarity(n, m) <= bound))
        return 0;
    for (int e = 2 * n * (n - 1); e < 2 * n * n; e++)
        if (!(fabs(r[e] - m[e]) <= bound))
            return 0;
    return 1;
}

LAT_SUN_HOST_DEVICE double lat_sun_distance(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < 2 * n * n; i++)
        s += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(s);
}

LAT_SUN_HOST_DEVICE int lat_sun_halvings(double bound)
{
    int n = 0;
    for (; bound > 1; bound /= 2)
        n++;
    return n;
}

/* Scaling and squaring: the Taylor series of a / 2^k of norm below 1/16, squared k times. */
LAT_SUN_HOST_DEVICE void lat_sun_exp(int n, double *c, const double *a)
{
    const int reals = 2 * n * n;
    double x[LAT_SUN_REALS], term[LAT_SUN_REALS], next[LAT_SUN_REALS];
    int squarings = 0;
    double scale = 1;
    while (lat_sun_norm(reals, a) * scale > 0.0625 && squarings < 64) {
        scale /= 2;
        squarings++;
    }
    for (int i = 0; i < reals; i++)
        x[i] = scale * a[i];
    lat_sun_one(n, c);
    lat_sun_one(n, term);
    for (int k = 1; k <= 10; k++) { /* 16^-11 / 11! < 1e-20 */
        lat_sun_mul(n, next, term, x);
        for (int i = 0; i < reals; i++) {
            term[i] = next[i] / k;
            c[i] += term[i];
        }
    }
    for (; squarings > 0; squarings--) {
        lat_sun_mul(n, next, c, c);
        memcpy(c, next, sizeof(double) * (size_t)reals);
    }
}

#if !defined(__CUDACC__)

/* Two independent normal numbers of mean 0 and variance 1 (Box-Muller). */
static inline void lat_sun_normal(double z[2], uint64_t seed, uint64_t site, uint32_t config,
                                  uint32_t step, uint32_t draw)
{
    uint32_t w[4];
    lat_random(seed, site, config, step, draw, w);
    const double radius = sqrt(-2 * log(lat_uniform(w[0], w[1])));
    const double angle = 2 * 3.14159265358979323846 * lat_uniform(w[2], w[3]);
    z[0] = radius * cos(angle);
    z[1] = radius * sin(angle);
}

/* A complex Gaussian matrix Z has the same distribution as Z V for every unitary V. Gram-Schmidt
 * of its rows with positive norms is the one factorisation Z = L Q with L lower triangular and a
 * positive diagonal (Mezzadri, Notices AMS 54 (2007) 592: without that choice of phases Q is not
 * Haar), so Q(Z V) = Q(Z) V and Q is Haar in U(N). Taking the phase of det Q out of the last row,
 * S(Q) = diag(1, ..., 1, conj det Q) Q, keeps S(Q V) = S(Q) V for V in SU(N), since det V = 1:
 * the distribution of S is invariant under SU(N) from the right, and Haar is the only such one.
 * The draws of row i are i*n to i*n + n - 1 of this (seed, site, config, step). */
static inline void lat_sun_haar(int n, double *m, uint64_t seed, uint64_t site, uint32_t config,
                                uint32_t step)
{
    uint32_t draw = 0;
    do { /* again where rows are dependent to rounding, which was never seen */
        for (int i = 0; i < n * n; i++)
            lat_sun_normal(m + 2 * i, seed, site, config, step, draw++);
    } while (lat_sun_gram_schmidt(n, m));
}

/* m = exp(i eps H), H traceless Hermitian with density exp(-tr H^2): H = sum_a w_a lambda_a / 2,
 * w_a normal of variance 1. So <1 - Re tr m / N> = eps^2 (N^2 - 1) / (4 N) for small eps. */
static inline void lat_sun_near_one(int n, double *m, double eps, uint64_t seed, uint64_t site,
                                    uint32_t config, uint32_t step)
{
    double a[LAT_SUN_REALS], mean = 0;
    uint32_t draw = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            double z[2], *up = a + 2 * (i * n + j), *down = a + 2 * (j * n + i);
            lat_sun_normal(z, seed, site, config, step, draw++);
            const double h[2] = {i == j ? 0.70710678118654752440 * z[0] : 0.5 * z[0],
                                 i == j ? 0 : 0.5 * z[1]};
            up[0] = -eps * h[1]; /* i eps H above the diagonal */
            up[1] = eps * h[0];
            down[0] = eps * h[1]; /* and minus its conjugate below */
            down[1] = eps * h[0];
            if (i == j)
                mean += up[1] / n;
        }
    for (int i = 0; i < n; i++)
        a[2 * (i * n + i) + 1] -= mean;
    lat_sun_exp(n, m, a);
    lat_sun_polar(n, m);
}

#endif
