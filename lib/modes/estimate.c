/* SPDX-License-Identifier: BSD-3-Clause */
/* estimate.c: the norm and the spectral density of an operator, by some steps of Lanczos. */
#include <math.h>
#include <stdlib.h>
#include "base/dense.h"
#include "base/memory.h"
#include "modes_internal.h"

enum { STEPS = 80 };
static const double UNLIKELY = 1e-12, /* that the norm is larger */
    BEYOND = 2;                       /* as many modes as are wanted are in front of the interval */

/* Up to `most` steps of Lanczos with B from a random vector: n eigenvalues,
 * ascending, the squares of their first components, and how far the largest may be off. */
static int ritz_values(lat_search *w, lat_dfield **v, int most, int *n, double *value,
                       double *weight, double *beta)
{
    const size_t size = (size_t)most * (size_t)most;
    lat_cx *t = lat_alloc(2 * size + (size_t)most + 1, sizeof *t, "a small matrix"), *u = t + size,
           *dot = u + size;
    bool drawn;
    int k = 0, rc = t ? lat_search_draw(w, 0, v, v[0], &drawn) : -1;
    for (*n = 0; *n < most && rc == 0; k++) {
        rc = lat_search_square(w, v[k + 1], v[k], NULL)
             || lat_search_orthogonal(w, k + 1, v, v[k + 1], dot, beta);
        for (int i = 0; i <= k && rc == 0; i++)
            t[i * most + k] = dot[i];
        ++*n;
        if (rc || *beta < 1e-12 * cabs(dot[k]) || (size_t)*n >= w->dimension)
            break;
        rc = lat_search_scale(w, 1 / *beta, v[k + 1]);
    }
    for (int i = 0; i < *n && rc == 0; i++)
        for (int j = i; j < *n; j++)
            t[i * *n + j] = t[i * most + j];
    rc = rc || lat_dense_eigen(*n, t, value, u) ? -1 : 0;
    for (int j = 0; j < *n && rc == 0; j++)
        weight[j] = creal(u[j * *n] * conj(u[j * *n]));
    free(t);
    return rc;
}

/* An upper bound of |A| from the largest Ritz value of B after n steps from a random vector. It is
 * none with a probability below 1.648 sqrt(dimension) exp(-(2 n - 1) sqrt(e)) where |B| is said to
 * be 1/(1 - e) times that value (Kuczynski, Wozniakowski, SIAM J. Matrix Anal. Appl. 13 (1992)
 * 1094). */
static void bound_norm(lat_search *w, int n, double largest, double beta)
{
    const double e = log(1.648 * sqrt(2 * (double)w->dimension) / UNLIKELY) / (2 * n - 1),
                 most = e < .9 ? largest / (1 - e * e) : 0;
    w->norm = most > 0 ? fmin(most, largest + beta) : largest + beta;
    if (!w->op->positive)
        w->norm = sqrt(w->norm);
}

/* Where `count` eigenvalues of B are, by the power law through the points of the spectral density
 * that are around it, or nearest. */
static double interpolate(int n, const double *value, const double *weight, double dimension,
                          double count)
{
    double below[2] = {0, 0}, sum = 0; /* how many are below value[i - 1], and below value[i] */
    int i = 0;
    for (; i < n; i++) {
        below[0] = below[1];
        below[1] = dimension * (sum + weight[i] / 2);
        sum += weight[i];
        if (i > 0 && below[1] >= count)
            break;
    }
    if (i == 0 || i == n || !(value[i - 1] > 0) || !(below[1] > below[0]))
        return value[0];
    const double power = log(below[1] / below[0]) / log(value[i] / value[i - 1]);
    return value[i - 1] * pow(count / below[0], 1 / power);
}

int lat_lanczos_estimate(lat_search *w, lat_dfield **v, int capacity, double *a)
{
    double value[STEPS], weight[STEPS], beta = 0;
    const int most = capacity < STEPS + 1 ? capacity - 1 : STEPS;
    int n;
    if (ritz_values(w, v, most, &n, value, weight, &beta))
        return -1;
    bound_norm(w, n, value[n - 1], beta);
    *a = interpolate(n, value, weight, (double)w->dimension, BEYOND * w->want);
    return 0;
}

int lat_lanczos_norm(lat_search *w)
{
    lat_dfield **v = lat_search_vectors(w, STEPS + 1, "the basis of Lanczos");
    double value[STEPS], weight[STEPS], beta = 0;
    int n;
    const int rc = v ? ritz_values(w, v, STEPS, &n, value, weight, &beta) : -1;
    if (rc == 0)
        bound_norm(w, n, value[n - 1], beta);
    lat_search_free(STEPS + 1, v);
    return rc;
}
