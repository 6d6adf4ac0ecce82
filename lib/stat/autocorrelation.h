/* SPDX-License-Identifier: BSD-3-Clause */
/* autocorrelation.h: the integrated autocorrelation time of a series, by the Gamma method (Wolff,
 * Comput. Phys. Commun. 156 (2004) 143, hep-lat/0306017; erratum 176 (2007) 383).
 *
 * Gamma(t) = sum_i d_i d_{i+t} / (n - t), d_i = a_i - mean. C(W) = Gamma(0) + 2 sum_{t=1}^W
 * Gamma(t), and tau(W) = C(W) / (2 Gamma(0)): 1/2 for independent numbers. The window W is the
 * first one where g(W) = exp(-W / T) - T / sqrt(W n) is negative, with S / T = ln [(2 tau + 1) / (2
 * tau - 1)]; S says how much slower than tau the exponential decay is. The bias of the mean is
 * corrected: Gamma(t) + C(W) / n. The error of tau is 2 tau sqrt [(W + 1/2 - tau) / n]. */
#pragma once

#include <stdbool.h>

typedef struct lat_autocorrelation {
    double tau, tau_error; /* in steps of the series; NaN where all numbers are equal */
    double variance;       /* of the mean: C(W) / n */
    double single;         /* Gamma(0), without the bias of the mean */
    long window;
    bool closed; /* there is such a window; else it is n / 2, and tau is a lower bound */
} lat_autocorrelation;

#define LAT_AUTOCORRELATION_S 1.5

/* The deviations d of n >= 2 numbers from their mean. */
lat_autocorrelation lat_autocorrelation_of(const double *d, long n, double s);

/* The same numbers' rho(t) = Gamma(t) / Gamma(0), t = 0 .. times - 1 < n, with the corrected bias:
 * g.tau is 1/2 + sum_{t=1}^W rho(t). Errors: error^2 = sum_{k=1}^{t+W} [rho(k+t) + rho(k-t) - 2
 * rho(k) rho(t)]^2 / n (Luescher, Comput. Phys. Commun. 165 (2005) 199, hep-lat/0409106, E.11).
 * `rho` has place for 2 times + g.window numbers, `error` for times. */
void lat_autocorrelation_function(const double *d, long n, const lat_autocorrelation *g, long times,
                                  double *rho, double *error);
