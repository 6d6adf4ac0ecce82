/* SPDX-License-Identifier: BSD-3-Clause */
/* dense.h: inverses of dense complex matrices, by Gauss-Jordan elimination in blocks. In double,
 * and the same bits on any number of threads (unlike those of a BLAS with threads). */
#pragma once

/* a, n x n, n a multiple of 8, becomes its inverse; a row is re [n], im [n]. 1: a pivot is 0, or
 * not finite; -1 with lat_error set: no memory. Pivots are sought in blocks on the diagonal alone.
 */
int lat_mg_invert(int n, double *a);
