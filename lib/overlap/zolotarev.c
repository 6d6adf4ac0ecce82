/* SPDX-License-Identifier: BSD-3-Clause */
/* zolotarev.c: Zolotarev's rational function, with elliptic functions by the arithmetic-geometric
 * mean. */
#include <math.h>
#include "base/error.h"
#include "minmax.h"

enum { STEPS = 24 };

/* Of modulus k, k' = sqrt(1 - k^2) being given, as k is near 1. */
typedef struct elliptic {
    double quarter; /* K(k) */
    double a[STEPS], c[STEPS];
    int steps;
} elliptic;

static void begin(elliptic *e, double complement)
{
    double a = 1, b = complement;
    e->a[0] = 1;
    e->c[0] = sqrt((1 - complement) * (1 + complement));
    for (e->steps = 0; e->steps + 1 < STEPS && fabs(e->c[e->steps]) > 1e-17 * a;) {
        const double next = (a + b) / 2;
        e->c[++e->steps] = (a - b) / 2;
        b = sqrt(a * b);
        a = e->a[e->steps] = next;
    }
    e->quarter = M_PI / (2 * a);
}

/* The amplitude of u: sn = sin, cn = cos (Abramowitz, Stegun 16.4). */
static double amplitude(const elliptic *e, double u)
{
    double phi = ldexp(e->a[e->steps] * u, e->steps);
    for (int n = e->steps; n > 0; n--)
        phi = (phi + asin(e->c[n] / e->a[n] * sin(phi))) / 2;
    return phi;
}

double lat_zolotarev_at(const lat_zolotarev *r, double x)
{
    double value = r->factor * x / (x * x + r->c[1]);
    for (int l = 1; l < r->poles; l++)
        value *= (x * x + r->c[2 * l]) / (x * x + r->c[2 * l + 1]);
    return value;
}

static void residues(lat_zolotarev *r)
{
    for (int l = 0; l < r->poles; l++) {
        const double at = -r->c[2 * l + 1];
        double v = r->factor;
        for (int m = 1; m < r->poles; m++)
            v *= at + r->c[2 * m];
        for (int m = 0; m < r->poles; m++)
            v /= m == l ? 1 : at + r->c[2 * m + 1];
        r->residue[l] = v;
    }
}

int lat_zolotarev_new(lat_zolotarev *r, double a, double b, int poles)
{
    elliptic e;
    double least = INFINITY, most = 0;
    if (!(a > 0) || !(b > a) || !isfinite(b) || poles < 1 || poles > LAT_ZOLOTAREV_POLES)
        return lat_fail("Zolotarev's function: expected an interval of positive numbers and 1 to "
                        "%d poles, found [%g, %g] and %d",
                        LAT_ZOLOTAREV_POLES, a, b, poles);
    *r = (lat_zolotarev){.poles = poles, .a = a, .b = b, .factor = 1};
    begin(&e, a / b);
    for (int l = 1; l < 2 * poles; l++) {
        const double t = tan(amplitude(&e, e.quarter * l / (2 * poles)));
        r->c[l] = a * a * t * t;
    }
    /* Extrema are at a / dn; dn^2 = 1 - k^2 sn^2 = cn^2 + k'^2 sn^2. */
    for (int l = 0; l <= 2 * poles; l++) {
        const double phi = amplitude(&e, e.quarter * l / (2 * poles));
        const double x = l == 2 * poles ? b : a / hypot(cos(phi), a / b * sin(phi));
        const double v = lat_zolotarev_at(r, x);
        least = fmin(least, v);
        most = fmax(most, v);
    }
    r->factor = 2 / (least + most);
    r->delta = (most - least) / (most + least) + 4e-16;
    residues(r);
    return 0;
}

int lat_zolotarev_for(lat_zolotarev *r, double a, double b, double delta)
{
    for (int poles = 1; poles <= LAT_ZOLOTAREV_POLES; poles++) {
        if (lat_zolotarev_new(r, a, b, poles))
            return -1;
        if (r->delta <= delta)
            return 0;
    }
    return lat_fail("sign function: expected an error of %.3g on [%.3g, %.3g] by at most %d poles, "
                    "found %.3g",
                    delta, a, b, LAT_ZOLOTAREV_POLES, r->delta);
}
