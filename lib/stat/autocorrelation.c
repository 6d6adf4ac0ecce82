/* SPDX-License-Identifier: BSD-3-Clause */
/* autocorrelation.c: the Gamma method. */
#include "autocorrelation.h"

#include <math.h>
#include <stdlib.h>

static double at(const double *d, long n, long t)
{
    double sum = 0;
    for (long i = 0; i + t < n; i++)
        sum += d[i] * d[i + t];
    return sum / (double)(n - t);
}

/* g(W) of the paper, for tau of this window. */
static double criterion(double tau, long w, long n, double s)
{
    const double slow = tau > .5 ? s / log((2 * tau + 1) / (2 * tau - 1)) : 1e-10;
    return exp(-(double)w / slow) - slow / sqrt((double)w * (double)n);
}

lat_autocorrelation lat_autocorrelation_of(const double *d, long n, double s)
{
    const double zero = at(d, n, 0);
    lat_autocorrelation g = {
        .tau = NAN, .tau_error = NAN, .variance = zero / (double)n, .single = zero};
    double c = zero;
    if (!(zero > 0))
        return g;
    while (!g.closed && g.window < n / 2) {
        c += 2 * at(d, n, ++g.window);
        g.closed = criterion(c / (2 * zero), g.window, n, s) < 0;
    }
    /* of the mean, which is itself of these numbers */
    const double bias = c / (double)n, w = (double)g.window;
    c += (2 * w + 1) * bias;
    g.single = zero + bias;
    g.tau = c / (2 * g.single);
    g.tau_error = 2 * g.tau * sqrt(fmax(w + .5 - g.tau, 0) / (double)n);
    g.variance = c / (double)n;
    return g;
}

void lat_autocorrelation_function(const double *d, long n, const lat_autocorrelation *g, long times,
                                  double *rho, double *error)
{
    const long last = 2 * times + g->window;
    const double bias = g->single - at(d, n, 0);
    for (long t = 0; t < last; t++)
        rho[t] = t < n ? (at(d, n, t) + bias) / g->single : 0;
    for (long t = 0; t < times; t++) {
        double sum = 0;
        for (long k = 1; k <= t + g->window; k++) {
            const double x = rho[k + t] + rho[labs(k - t)] - 2 * rho[k] * rho[t];
            sum += x * x;
        }
        error[t] = t ? sqrt(sum / (double)n) : 0; /* rho(0) is 1 */
    }
}
