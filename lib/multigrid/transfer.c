/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: memory of a transfer, and small matrices. */
#include "multigrid/transfer.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int lat_transfer_open(lat_transfer *t, int components, int n)
{
    const size_t site = (size_t)components * (size_t)n * 2,
                 numbers = (size_t)t->blocks.sites * site,
                 ghosts = (size_t)lat_blocks_ghosts(&t->blocks) * site;
    t->components = components;
    t->n = n;
    t->v = t->ops->alloc(t->dev, numbers, sizeof *t->v, "test vectors");
    t->p = t->ops->alloc(t->dev, numbers + ghosts, sizeof *t->p, "the prolongation");
    return t->v && t->p ? t->ops->transfer_open(t) : -1;
}

void lat_transfer_close(lat_transfer *t)
{
    if (t->ops) {
        t->ops->transfer_close(t);
        t->ops->free(t->v);
        t->ops->free(t->p);
    }
    lat_blocks_close(&t->blocks);
    free(t->at);
}

void lat_transfer_lighten(lat_transfer *t)
{
    t->ops->free(t->v);
    t->v = NULL;
    if (t->dev->gpu) {
        t->ops->free(t->p);
        t->p = NULL;
    }
}

/* ---- triangular matrices --------------------------------------------------------------------- */

static double complex number_at(int n, const double *m, int i, int j)
{
    const int pitch = LAT_PITCH(n);
    return m[i * pitch + j] + I * m[(n + i) * pitch + j];
}

static void number_put(int n, double *m, int i, int j, double complex z)
{
    const int pitch = LAT_PITCH(n);
    m[i * pitch + j] = creal(z);
    m[(n + i) * pitch + j] = cimag(z);
}

/* g = L L^+, of which the lower triangle is given: l gets L. A dependent vector has a row that is 0
 * but for a pivot of infinity. */
static void cholesky(int n, const double *g, double *l)
{
    memset(l, 0, lat_small_doubles(n) * sizeof *l);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double complex s = number_at(n, g, i, j);
            for (int k = 0; k < j; k++)
                s -= number_at(n, l, i, k) * conj(number_at(n, l, j, k));
            if (j < i) {
                number_put(n, l, i, j, s / creal(number_at(n, l, j, j)));
                continue;
            }
            const bool bad = !(creal(s) > LAT_DEPENDENT * creal(number_at(n, g, i, i)));
            number_put(n, l, i, i, bad ? INFINITY : sqrt(creal(s)));
            for (int k = 0; k < i && bad; k++)
                number_put(n, l, i, k, 0);
        }
}

/* t = L^-+, upper triangular. Dependent vectors have columns of 0. */
static void invert_adjoint(int n, const double *l, double *t)
{
    memset(t, 0, lat_small_doubles(n) * sizeof *t);
    for (int j = 0; j < n; j++) {
        const double pivot = creal(number_at(n, l, j, j));
        if (!isfinite(pivot))
            continue;
        number_put(n, t, j, j, 1 / pivot);
        for (int i = 0; i < j; i++) { /* column j: (e_j - sum_k<j L*_jk column k) / L_jj */
            double complex s = 0;
            for (int k = i; k < j; k++)
                s -= conj(number_at(n, l, j, k)) * number_at(n, t, i, k);
            number_put(n, t, i, j, s / pivot);
        }
    }
}

void lat_small_transform(int n, const double *t, double *g, double *scratch)
{
    double complex *const a = (double complex *)scratch, *const b = a + (size_t)n * (size_t)n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i * n + j] = j <= i ? number_at(n, g, i, j) : conj(number_at(n, g, j, i));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double complex s = 0;
            for (int k = 0; k <= j; k++)
                s += a[i * n + k] * number_at(n, t, k, j);
            b[i * n + j] = s;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double complex s = 0;
            for (int k = 0; k <= i; k++)
                s += conj(number_at(n, t, k, i)) * b[k * n + j];
            number_put(n, g, i, j, s);
        }
}

void lat_small_orthonormal(int n, const double *g, double *l, double *t)
{
    cholesky(n, g, l);
    invert_adjoint(n, l, t);
}
