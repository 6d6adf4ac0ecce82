/* SPDX-License-Identifier: BSD-3-Clause */
/* scales.c: where t^2 E and its derivative pass the level. */
#include "scales.h"

#include <limits.h>
#include <math.h>

enum { ROOT = 4, SLOPE = 5 }; /* rows of a polynomial */

/* f(t): t^2 E, or t d/dt (t^2 E). */
typedef struct curve {
    int rows;
    const double *t, *density;
} curve;

static double value(const curve *c, int i) { return c->t[i] * c->t[i] * c->density[i]; }

/* The first of n rows around the rows i and up, of those that there are. */
static int window(int rows, int n, int first)
{
    if (first > rows - n)
        first = rows - n;
    return first < 0 ? 0 : first;
}

/* t times the derivative at row i of the polynomial through SLOPE rows around it. */
static double slope(const curve *c, int i)
{
    const int n = c->rows < SLOPE ? c->rows : SLOPE, first = window(c->rows, n, i - SLOPE / 2);
    double sum = 0;
    for (int j = first; j < first + n; j++) {
        double term = 0, product = 1; /* of Lagrange's polynomial of row j: its derivative at i */
        for (int k = first; k < first + n; k++)
            if (k != j && (j == i || k != i))
                product *= j == i ? 1 : (c->t[i] - c->t[k]);
        for (int k = first; k < first + n; k++)
            if (k != j) {
                term += 1 / (c->t[j] - c->t[k]);
                product *= j == i ? 1 : 1 / (c->t[j] - c->t[k]);
            }
        sum += value(c, j) * (j == i ? term : product);
    }
    return c->t[i] * sum;
}

typedef double row_value(const curve *c, int i);

/* The polynomial through n rows from `first`, at t. */
static double polynomial(const curve *c, row_value *f, int first, int n, double t)
{
    double sum = 0;
    for (int j = first; j < first + n; j++) {
        double l = f(c, j);
        for (int k = first; k < first + n; k++)
            if (k != j)
                l *= (t - c->t[k]) / (c->t[j] - c->t[k]);
        sum += l;
    }
    return sum;
}

/* The first time at which f passes the level from below, and the row after it; NaN if none. */
static double crossing(const curve *c, row_value *f, int *after)
{
    const int n = c->rows < ROOT ? c->rows : ROOT;
    for (int i = 0; i + 1 < c->rows; i++) {
        if (!(f(c, i) < LAT_FLOW_LEVEL && f(c, i + 1) >= LAT_FLOW_LEVEL))
            continue;
        const int first = window(c->rows, n, i - 1);
        double low = c->t[i], high = c->t[i + 1];
        for (int k = 0; k < 60; k++) {
            const double middle = (low + high) / 2;
            if (polynomial(c, f, first, n, middle) < LAT_FLOW_LEVEL)
                low = middle;
            else
                high = middle;
        }
        *after = i + 1;
        return (low + high) / 2;
    }
    *after = INT_MAX / 2;
    return NAN;
}

double lat_flow_slope(int rows, const double *t, const double *density, int i)
{
    const curve c = {rows, t, density};
    return rows < 2 ? NAN : slope(&c, i);
}

lat_flow_scales lat_flow_scales_of(int rows, const double *t, const double *density)
{
    const curve c = {rows, t, density};
    int after[2];
    lat_flow_scales s;
    s.t0 = crossing(&c, value, &after[0]);
    s.w0 = sqrt(crossing(&c, slope, &after[1]));
    /* One row beyond the crossing; of slopes two more. */
    s.needed = after[0] + 2;
    if (after[1] + 4 > s.needed)
        s.needed = after[1] + 4;
    if (isnan(s.t0) || isnan(s.w0))
        s.needed = INT_MAX;
    return s;
}
