/* SPDX-License-Identifier: BSD-3-Clause */
/* factors.c: roots of a minmax polynomial by the method of Aberth (Math. Comp. 27 (1973) 339), and
 * an order for them. In long double, since roots near 0 are as near to each other as the interval
 * begins. */
#include "factors.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

typedef long double real;
typedef long double complex number;

enum { ROUNDS = 100 };

/* P at z in [-1, 1] and beyond, and its derivative, by Clenshaw's recursion. */
static number polynomial(const lat_minmax *p, number z, number *slope)
{
    number b1 = 0, b2 = 0, d1 = 0, d2 = 0;
    for (int k = p->degree; k > 0; k--) {
        const number b = 2 * z * b1 - b2 + p->c[k], d = 2 * b1 + 2 * z * d1 - d2;
        b2 = b1;
        b1 = b;
        d2 = d1;
        d1 = d;
    }
    *slope = b1 + z * d1 - d2;
    return z * b1 - b2 + p->c[0];
}

/* All roots z[degree]; next: as many. They begin near the ellipse with foci -1 and 1 through the
 * zero of y, where those of a truncated series of 1/sqrt(y) come to lie. */
static int find_roots(const lat_minmax *p, number *z, number *next)
{
    const int n = p->degree;
    const real a = sqrtl(p->epsilon), mu = log1pl(a) - log1pl(-a), angle = 2 * acosl(-1.L) / n;
    for (int i = 0; i < n; i++)
        z[i] = ccosl(angle * (i + .3L) + I * mu);
    for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < n; i++) {
            number slope, others = 0;
            const number value = polynomial(p, z[i], &slope), step = value / slope;
            for (int j = 0; j < n; j++)
                if (j != i)
                    others += 1 / (z[i] - z[j]);
            next[i] = z[i] - step / (1 - step * others);
        }
        real most = 0;
        bool finite = true;
        for (int i = 0; i < n; i++) {
            const real moved = cabsl(next[i] - z[i]) / (cabsl(z[i] + 1) + p->epsilon);
            finite = finite && isfinite(moved);
            most = fmaxl(most, moved);
        }
        if (!finite)
            break;
        memcpy(z, next, sizeof *z * (size_t)n);
        if (most < 1e-15L)
            return 0;
    }
    return lat_fail("minmax polynomial of degree %d on [%g, 1]: its roots were not found", n,
                    p->epsilon);
}

/* ---- the order ------------------------------------------------------------------------------- */

/* On points of [epsilon, 1], dense at both ends: logarithms of |y - root|, [degree][points]. */
typedef struct table {
    int n, points;
    double *y, *log, *part, *all; /* [points], .., of the factors so far, of all of them */
} table;

static void fill(table *t, double epsilon, const number *root)
{
    for (int g = 0; g < t->points; g++) {
        const double x = cos(M_PI * (g + .5) / t->points);
        t->y[g] = (1 + epsilon + (1 - epsilon) * x) / 2;
        t->part[g] = t->all[g] = 0;
    }
#pragma omp parallel for schedule(static)
    for (int i = 0; i < t->n; i++)
        for (int g = 0; g < t->points; g++)
            t->log[(size_t)i * (size_t)t->points + (size_t)g] = (double)logl(
                cabsl(t->y[g] - root[i]));
    for (int i = 0; i < t->n; i++)
        for (int g = 0; g < t->points; g++)
            t->all[g] += t->log[(size_t)i * (size_t)t->points + (size_t)g];
}

/* The factor, of those not used, that makes the partial product flattest. */
static int flattest(const table *t, const bool *used, double *range)
{
    int best = -1;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < t->n; i++) {
        const double *const l = t->log + (size_t)i * (size_t)t->points;
        double high = -INFINITY, low = INFINITY;
        for (int g = 0; g < t->points && !used[i]; g++) {
            const double v = t->part[g] + l[g];
            high = v > high ? v : high;
            low = v < low ? v : low;
        }
        range[i] = used[i] ? INFINITY : high - low;
    }
    for (int i = 0; i < t->n; i++)
        if (best < 0 || range[i] < range[best])
            best = i;
    return best;
}

/* Puts factors in order, each scaled so that the largest value of a partial product is 1. */
static void arrange(lat_factors *f, table *t, const number *root, bool *used, double *range)
{
    /* sqrt(y) P is near 1 everywhere: so the product of all factors tells the size of P. */
    const int middle = t->points / 2;
    const double size = log(t->y[middle]) / 2 + t->all[middle];
    double before = 0, sum = 0;
    for (int k = 0; k < t->n; k++) {
        const int i = flattest(t, used, range);
        const number w = csqrtl(root[i]);
        double high = -INFINITY, left = -INFINITY;
        used[i] = true;
        for (int g = 0; g < t->points; g++) {
            t->part[g] += t->log[(size_t)i * (size_t)t->points + (size_t)g];
            high = fmax(high, t->part[g]);
            left = fmax(left, log(t->y[g]) / 2 + t->all[g] - t->part[g]);
        }
        f->w[k] = (lat_scalar){(double)creall(w), (double)cimagl(w)};
        f->f[k] = exp(before - high);
        before = high;
        sum += exp(2 * (high + left - size));
    }
    f->rounding = sqrt(sum);
}

/* ---- against the polynomial ------------------------------------------------------------------ */

static number product(const lat_factors *f, real y)
{
    number v = 1;
    for (int k = 0; k < f->degree; k++) {
        const number w = f->w[k].re + I * f->w[k].im;
        v *= f->f[k] * (y - w * w);
    }
    return v;
}

static real value_at(const lat_minmax *p, real y)
{
    const real e = p->epsilon;
    number slope;
    return creall(polynomial(p, (2 * y - 1 - e) / (1 - e), &slope));
}

/* What the product may differ by, relatively, for its numbers are rounded to double: w^2 by 2 |w|^2
 * epsilon. */
static real rounded(const lat_factors *f, real y)
{
    real sum = 1;
    for (int k = 0; k < f->degree; k++) {
        const number w = f->w[k].re + I * f->w[k].im;
        sum += 2 * cabsl(w * w) / cabsl(y - w * w);
    }
    return sum * 0x1p-53L;
}

/* The last factor makes of the product P in the middle; then both are compared. */
static int compare(lat_factors *f, const lat_minmax *p, const table *t)
{
    const real middle = t->y[t->points / 2], once = rounded(f, middle);
    f->f[f->degree - 1] *= (double)(value_at(p, middle) / creall(product(f, middle)));
    for (int g = 0; g < t->points; g++) {
        const real y = t->y[g], off = sqrtl(y) * cabsl(product(f, y) - value_at(p, y)),
                   most = (1 + p->delta) * (rounded(f, y) + once);
        if (!(off <= most))
            return lat_fail("minmax polynomial of degree %d on [%g, 1]: the product of its "
                            "factors is off by %.3Lg, expected %.3Lg at most",
                            p->degree, p->epsilon, off, most);
        f->error = fmax(f->error, (double)off);
    }
    return 0;
}

int lat_factors_new(lat_factors *f, const lat_minmax *p)
{
    const size_t n = (size_t)p->degree;
    table t = {.n = p->degree, .points = p->degree < 256 ? 4 * p->degree + 60 : 1084};
    const size_t points = (size_t)t.points;
    *f = (lat_factors){.degree = p->degree};
    if (p->degree < 1 || p->degree > LAT_FACTORS_DEGREE)
        return lat_fail("factors of a polynomial: expected a degree from 1 to %d, found %d",
                        LAT_FACTORS_DEGREE, p->degree);
    number *z = lat_alloc(2 * n, sizeof *z, "roots of a polynomial");
    bool *used = lat_alloc_zero(n, sizeof *used, "roots of a polynomial");
    double *range = lat_alloc(n + (n + 3) * points, sizeof *range, "roots of a polynomial");
    f->w = lat_alloc(n, sizeof *f->w, "factors of a polynomial");
    f->f = lat_alloc(n, sizeof *f->f, "factors of a polynomial");
    int rc = z && used && range && f->w && f->f ? find_roots(p, z, z + n) : -1;
    if (rc == 0) {
        t.y = range + n;
        t.part = t.y + points;
        t.all = t.part + points;
        t.log = t.all + points;
        for (size_t i = 0; i < n; i++)
            z[i] = (z[i] * (1 - (real)p->epsilon) + 1 + (real)p->epsilon) / 2;
        fill(&t, p->epsilon, z);
        arrange(f, &t, z, used, range);
        rc = compare(f, p, &t);
    }
    LAT_FREE(z, used, range);
    if (rc)
        lat_factors_free(f);
    return rc;
}

void lat_factors_free(lat_factors *f)
{
    LAT_FREE(f->w, f->f);
    *f = (lat_factors){0};
}
