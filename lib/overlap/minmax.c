/* SPDX-License-Identifier: BSD-3-Clause */
/* minmax.c: minmax polynomials by the algorithm of Remez.
 *
 * A reference has n + 2 points z_i of [-1, 1]. The polynomial whose error 1 - sqrt(y) P alternates
 * between +E and -E there has P(z_i) = f_i (1 - (-1)^i E), f = 1/sqrt(y), and, as its divided
 * difference of order n + 1 vanishes,
 *
 *     E = sum w_i f_i / sum (-1)^i w_i f_i,   w_i = 1 / prod_{j != i} 2 (z_i - z_j)
 *
 * It is evaluated by the barycentric formula. The next reference has the extrema of the error. All
 * is done in long double. */
#include "minmax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

typedef long double real;

enum { ITERATIONS = 60, FINE = 12, BETWEEN = 24 };

typedef struct remez {
    int points; /* n + 2 */
    real epsilon, level;
    real *z, *w, *value; /* of the reference; value: P */
    real *at, *error;    /* of the grid, [FINE (points + 1)]: angles, errors */
} remez;

static real y_of(const remez *r, real z) { return (z * (1 - r->epsilon) + 1 + r->epsilon) / 2; }

static void level_reference(remez *r)
{
    const int m = r->points;
    real up = 0, down = 0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < m; i++) {
        real product = 1;
        for (int j = 0; j < m; j++)
            product *= j == i ? 1 : 2 * (r->z[i] - r->z[j]);
        r->w[i] = 1 / product;
    }
    for (int i = 0; i < m; i++) {
        const real f = r->w[i] / sqrtl(y_of(r, r->z[i]));
        up += f;
        down += i & 1 ? -f : f;
    }
    r->level = up / down;
    for (int i = 0; i < m; i++)
        r->value[i] = (i & 1 ? 1 + r->level : 1 - r->level) / sqrtl(y_of(r, r->z[i]));
}

/* P(z). */
static real polynomial(const remez *r, real z)
{
    real up = 0, down = 0;
    for (int i = 0; i < r->points; i++) {
        const real d = z - r->z[i];
        if (d == 0)
            return r->value[i];
        up += r->w[i] / d * r->value[i];
        down += r->w[i] / d;
    }
    return up / down;
}

/* The extremum near grid point i, by a parabola of the angle through it and its neighbours. */
static real extremum(const remez *r, int i, int n)
{
    if (i == 0 || i == n - 1)
        return cosl(r->at[i]);
    const real x0 = r->at[i - 1] - r->at[i], x1 = r->at[i + 1] - r->at[i];
    const real s0 = (r->error[i - 1] - r->error[i]) / x0, s1 = (r->error[i + 1] - r->error[i]) / x1;
    const real curve = (s1 - s0) / (x1 - x0), slope = s0 - curve * x0;
    const real step = curve != 0 ? -slope / (2 * curve) : 0;
    return cosl(r->at[i] + fmaxl(x1, fminl(x0, step))); /* angles descend: x1 < 0 < x0 */
}

/* Extrema become the reference. The ratio of the largest to the level, or -1 where there are fewer
 * than there should be. */
static real exchange(remez *r)
{
    const int m = r->points, n = FINE * (m - 1) + 1;
    real largest = 0;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        const int k = i / FINE, e = i % FINE;
        const real from = acosl(r->z[k]), to = e ? acosl(r->z[k + 1]) : from;
        r->at[i] = from + (to - from) * e / FINE;
        const real z = e ? cosl(r->at[i]) : r->z[k];
        r->error[i] = 1 - sqrtl(y_of(r, z)) * polynomial(r, z);
    }
    /* The largest of each run of one sign. */
    int found = 0, best = 0;
    for (int i = 1; i <= n; i++) {
        if (i == n || (r->error[i] > 0) != (r->error[best] > 0)) {
            if (found < m)
                r->value[found] = extremum(r, best, n);
            found++;
            largest = fmaxl(largest, fabsl(r->error[best]));
            best = i;
        } else if (fabsl(r->error[i]) > fabsl(r->error[best])) {
            best = i;
        }
    }
    if (found != m)
        return -1;
    memcpy(r->z, r->value, (size_t)m * sizeof *r->z);
    return largest / fabsl(r->level);
}

/* c_k = 2/(n+1) sum_j P(cos t_j) cos(k t_j), t_j = pi (j + 1/2)/(n + 1); half of it for k = 0. */
static void coefficients(const remez *r, int n, double *c)
{
    real *p = r->error; /* a buffer now; its rest has the cosines */
    const real step = acosl(-1.L) / (2 * (n + 1));
    real *cosine = p + n + 1;
    for (int i = 0; i < 4 * (n + 1); i++)
        cosine[i] = cosl(step * i);
#pragma omp parallel for schedule(static)
    for (int j = 0; j <= n; j++)
        p[j] = polynomial(r, cosine[2 * j + 1]);
    for (int k = 0; k <= n; k++) {
        real sum = 0;
        for (int j = 0; j <= n; j++)
            sum += p[j] * cosine[(int)((long)k * (2 * j + 1) % (4 * (n + 1)))];
        c[k] = (double)(sum * (k ? 2 : 1) / (n + 1));
    }
}

double lat_minmax_at(const lat_minmax *p, double y)
{
    const double z = (2 * y - 1 - p->epsilon) / (1 - p->epsilon);
    double d1 = 0, d2 = 0;
    for (int k = p->degree; k > 0; k--) {
        const double d = 2 * z * d1 - d2 + p->c[k];
        d2 = d1;
        d1 = d;
    }
    return z * d1 - d2 + p->c[0];
}

/* max |1 - x P(x^2)|, of degree 2n+1 in x: a trigonometric polynomial of the angle of x in
 * [sqrt(epsilon), 1], of which between points at distance h is at most 1/cos((2n+1) h/2) of what
 * is at them. Rounding of Clenshaw's recursion is in it. */
static double bound(const lat_minmax *p)
{
    const int m = 2 * p->degree + 1, n = BETWEEN * m;
    const double a = sqrt(p->epsilon);
    double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (int i = 0; i <= n; i++) {
        const double x = (1 + a) / 2 + (1 - a) / 2 * cos(M_PI * i / n);
        largest = fmax(largest, fabs(1 - x * lat_minmax_at(p, x * x)));
    }
    return largest / cos(M_PI / (2 * BETWEEN));
}

static int improve(remez *r)
{
    real before = 0;
    for (int k = 0; k < ITERATIONS; k++) {
        level_reference(r);
        const real ratio = exchange(r), now = fabsl(r->level);
        if (ratio < 0 || !(now < 1))
            return -1;
        if (ratio < 1.01L && fabsl(now - before) < 1e-7L * now + 1e-18L)
            break;
        before = now;
    }
    level_reference(r);
    return 0;
}

int lat_minmax_new(lat_minmax *p, double epsilon, int degree)
{
    remez r = {.points = degree + 2, .epsilon = epsilon};
    *p = (lat_minmax){.degree = degree, .epsilon = epsilon};
    if (!(epsilon > 0) || !(epsilon < 1) || degree < 1 || degree > LAT_MINMAX_DEGREE)
        return lat_fail("minmax polynomial: expected epsilon between 0 and 1 and a degree from 1 "
                        "to %d, found %g and %d",
                        LAT_MINMAX_DEGREE, epsilon, degree);
    const size_t m = (size_t)r.points, grid = FINE * (m + 1);
    real *all = lat_alloc(3 * m + 2 * grid, sizeof *all, "a minmax polynomial");
    p->c = lat_alloc((size_t)degree + 1, sizeof *p->c, "a minmax polynomial");
    if (!all || !p->c) {
        free(all);
        lat_minmax_free(p);
        return -1;
    }
    r.z = all;
    r.w = r.z + m;
    r.value = r.w + m;
    r.at = r.value + m;
    r.error = r.at + grid;
    for (size_t i = 0; i < m; i++)
        r.z[i] = cosl(acosl(-1.L) * (real)(m - 1 - i) / (real)(m - 1));
    const int rc = improve(&r);
    if (rc == 0) {
        coefficients(&r, degree, p->c);
        p->level = (double)fabsl(r.level);
        p->delta = bound(p);
    } else {
        lat_minmax_free(p);
        lat_fail("minmax polynomial of degree %d on [%g, 1]: Remez's algorithm did not converge",
                 degree, epsilon);
    }
    free(all);
    return rc;
}

void lat_minmax_free(lat_minmax *p)
{
    free(p->c);
    p->c = NULL;
}

/* delta falls by exp(-rate) a degree, where exp(rate) = (1 + sqrt(epsilon))/(1 - sqrt(epsilon)). */
int lat_minmax_for(lat_minmax *p, double epsilon, double delta)
{
    const double a = sqrt(epsilon), rate = log1p(a) - log1p(-a);
    double degree = ceil(log(1 / delta) / rate);
    *p = (lat_minmax){.epsilon = epsilon};
    for (int tries = 0; tries < 8; tries++) {
        degree = fmax(degree, 1);
        if (degree > LAT_MINMAX_DEGREE)
            break;
        lat_minmax_free(p);
        if (lat_minmax_new(p, epsilon, (int)degree))
            return -1;
        const double more = log(p->delta / delta) / rate;
        if (more <= 0 && (more > -2 || tries > 2 || degree < 2))
            return 0;
        degree += more > 0 ? ceil(more) : fmin(-1, ceil(more));
    }
    const double found = p->c ? p->delta : 1;
    lat_minmax_free(p);
    return lat_fail(
        "sign function: expected an error of %.3g on [%.3g, 1] of Q^2/|Q|^2 by a degree "
        "up to %d, found %.3g: project more modes, or ask for less",
        delta, epsilon, LAT_MINMAX_DEGREE, found);
}
