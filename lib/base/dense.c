/* SPDX-License-Identifier: BSD-3-Clause */
/* dense.c: Jacobi's method for Hermitian matrices (Golub, Van Loan, Matrix Computations, 8.5). */
#include "dense.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include "error.h"
#include "memory.h"

typedef double complex cx;

enum { MOST_SWEEPS = 60 };

/* x <- c x - s conj(phase) y, y <- s phase x + c y, for rows of numbers. */
static void rotate(int n, double c, double s, cx phase, cx *x, cx *y)
{
    const double pr = s * creal(phase), pi = s * cimag(phase);
    double *a = (double *)x, *b = (double *)y;
    for (int k = 0; k < 2 * n; k += 2) {
        const double ar = a[k], ai = a[k + 1], br = b[k], bi = b[k + 1];
        a[k] = c * ar - (pr * br + pi * bi);
        a[k + 1] = c * ai - (pr * bi - pi * br);
        b[k] = pr * ar - pi * ai + c * br;
        b[k + 1] = pr * ai + pi * ar + c * bi;
    }
}

/* Makes a[p][q] zero. Of rows of A the one with the conjugate phase. */
static void annihilate(int n, cx *a, cx *vector, int p, int q)
{
    const cx apq = a[p * n + q];
    const double size = cabs(apq), app = creal(a[p * n + p]), aqq = creal(a[q * n + q]),
                 tau = (aqq - app) / (2 * size),
                 t = (tau >= 0 ? 1 : -1) / (fabs(tau) + sqrt(1 + tau * tau)),
                 c = 1 / sqrt(1 + t * t), s = t * c;
    const cx phase = apq / size;
    rotate(n, c, s, conj(phase), a + p * n, a + q * n);
    rotate(n, c, s, phase, vector + p * n, vector + q * n);
    for (int k = 0; k < n; k++) {
        a[k * n + p] = conj(a[p * n + k]);
        a[k * n + q] = conj(a[q * n + k]);
    }
    a[p * n + p] = app - t * size;
    a[q * n + q] = aqq + t * size;
    a[p * n + q] = a[q * n + p] = 0;
}

/* How many rotations a sweep over all elements took. */
static long sweep(int n, cx *a, cx *vector, double small)
{
    long rotations = 0;
    for (int p = 0; p < n; p++)
        for (int q = p + 1; q < n; q++)
            if (cabs(a[p * n + q]) > small) {
                annihilate(n, a, vector, p, q);
                rotations++;
            }
    return rotations;
}

/* By selection: n is small. */
static void sort(int n, double *value, cx *vector)
{
    for (int i = 0; i < n; i++) {
        int least = i;
        for (int j = i + 1; j < n; j++)
            least = value[j] < value[least] ? j : least;
        const double v = value[i];
        value[i] = value[least];
        value[least] = v;
        for (int k = 0; k < n && least != i; k++) {
            const cx x = vector[i * n + k];
            vector[i * n + k] = vector[least * n + k];
            vector[least * n + k] = x;
        }
    }
}

int lat_dense_eigen(int n, cx *a, double *value, cx *vector)
{
    double norm = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) {
            a[j * n + i] = conj(a[i * n + j]);
            norm += (i == j ? 1 : 2) * creal(a[i * n + j] * conj(a[i * n + j]));
        }
    if (!isfinite(norm))
        return lat_fail("eigenvalues: expected a matrix of finite numbers, found others");
    for (int i = 0; i < n; i++) {
        a[i * n + i] = creal(a[i * n + i]);
        for (int j = 0; j < n; j++)
            vector[i * n + j] = i == j;
    }
    /* Elements below it move no eigenvalue by more than a rounding of the norm. */
    const double small = DBL_EPSILON * sqrt(norm) / (16 * n);
    for (int i = 0; i < MOST_SWEEPS && sweep(n, a, vector, small) > 0; i++)
        ;
    for (int i = 0; i < n; i++)
        value[i] = creal(a[i * n + i]);
    sort(n, value, vector);
    return 0;
}

int lat_dense_eigen_real(int n, const double *a, double *value, double *vector)
{
    const size_t numbers = (size_t)n * (size_t)n;
    cx *both = lat_alloc(2 * numbers, sizeof *both, "a dense matrix"), *v = both + numbers;
    int rc = both ? 0 : -1;
    for (size_t i = 0; i < numbers && rc == 0; i++)
        both[i] = a[i];
    rc = rc || lat_dense_eigen(n, both, value, v) ? -1 : 0;
    for (size_t i = 0; i < numbers && rc == 0; i++)
        vector[i] = creal(v[i]); /* phases of real elements are 1 or -1 */
    free(both);
    return rc;
}
