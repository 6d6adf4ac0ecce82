/* SPDX-License-Identifier: BSD-3-Clause */
/* slices.h: norms and residuals of the slices of time, for solutions that decay along t.
 *
 * |b - M x|/|b| says nothing of slices where x is smaller than that: a heavy quark there may be
 * noise. Of a slice t the residual is |b - M x|_t / |x|_t. The error of x is M^-1 (b - M x), so
 * that a residual R on slice t' gives R |M^-1(t, t')| |x(t')| on slice t. Propagators multiply
 * along t: M^-1(t, t') x(t') is of the size of x(t). So residuals below R on all slices leave a
 * relative error of some R T on each, however far from the source.
 *
 * All ranks call these functions; results are the same bits on any number of threads and ranks. */
#pragma once

#include "plain.h"

/* norm[slice * columns + column] = |f| there, of all columns of spinors in double, however small.
 * 0, or -1 with lat_error set. */
int lat_slice_norms(const lat_field *f, double *norm);

/* r = b - M x of these columns; x in double with ghosts up to date, r like x. */
int lat_slice_remainder(lat_plain *m, const lat_field *x, const lat_field *b, int columns,
                        const int *column, lat_field *r);

/* |b - M x|_t / |x|_t of both norms; where x is zero: 0 if b - M x is, too, else infinite. */
static inline double lat_slice_residual(double remainder, double x)
{
    return remainder == 0 ? 0 : remainder / x;
}
