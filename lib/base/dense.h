/* SPDX-License-Identifier: BSD-3-Clause */
/* dense.h: all eigenvalues and eigenvectors of a small dense Hermitian matrix.
 *
 * Jacobi's method: slower than LAPACK's above a hundred rows, where applications of a Dirac
 * operator take most of the time anyway, and, unlike a BLAS with threads, the same bits on every
 * machine, which the same bytes on any number of ranks and threads ask for. */
#pragma once

#include <complex.h>

/* a [n][n], of which the upper triangle is read, becomes garbage; value[n] ascends; vector[j * n +
 * i] is element i of the eigenvector of value[j]. 0, or -1 with lat_error set: numbers that are not
 * finite. */
int lat_dense_eigen(int n, double complex *a, double *value, double complex *vector);

/* The same of a real symmetric matrix, which is not changed. -1 also without memory. */
int lat_dense_eigen_real(int n, const double *a, double *value, double *vector);
