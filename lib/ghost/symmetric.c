/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetric.c: eigenvalues of small symmetric matrices by Jacobi's rotations, row by row (Golub and
 * Van Loan, Matrix Computations, 8.5). */
#include <math.h>
#include <string.h>
#include "ghost_internal.h"

/* Rows and columns p and q of a, rows p and q of v. */
static void rotate(int n, double *a, double *v, int p, int q)
{
    const double off = a[p * n + q], half = (a[q * n + q] - a[p * n + p]) / (2 * off),
                 t = (half >= 0 ? 1 : -1) / (fabs(half) + sqrt(half * half + 1)),
                 c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) {
        const double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) {
        const double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        const double f = v[p * n + k], g = v[q * n + k];
        v[p * n + k] = c * f - s * g;
        v[q * n + k] = s * f + c * g;
    }
    a[p * n + q] = a[q * n + p] = 0;
}

static void sort(int n, double *value, double *v)
{
    for (int i = 0; i < n; i++) {
        int low = i;
        for (int j = i + 1; j < n; j++)
            low = value[j] < value[low] ? j : low;
        const double other = value[i];
        value[i] = value[low];
        value[low] = other;
        for (int k = 0; k < n && low != i; k++) {
            const double x = v[i * n + k];
            v[i * n + k] = v[low * n + k];
            v[low * n + k] = x;
        }
    }
}

void lat_symmetric_eigen(int n, double *a, double *value, double *v)
{
    memset(v, 0, (size_t)n * (size_t)n * sizeof *v);
    for (int i = 0; i < n; i++)
        v[i * n + i] = 1;
    double squares = 0;
    for (int i = 0; i < n * n; i++)
        squares += a[i] * a[i];
    const double nothing = 1e-18 * sqrt(squares); /* eps of what is nothing beside the others */
    bool rotated = squares > 0;
    for (int sweep = 0; sweep < 50 && rotated; sweep++) {
        rotated = false;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(a[p * n + q]) > nothing) {
                    rotate(n, a, v, p, q);
                    rotated = true;
                }
    }
    for (int i = 0; i < n; i++)
        value[i] = a[i * n + i];
    sort(n, value, v);
}
