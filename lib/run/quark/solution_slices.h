/* SPDX-License-Identifier: BSD-3-Clause */
/* solution_slices.h: solutions whose residual is small on each slice of time, relative to the
 * solution there (certify/slices.h says what that certifies).
 *
 * Solvers look at |b - M x| of the whole lattice, where rounding leaves 1e-16 |b|. So the part of
 * b - M x on slices that are not good yet is solved for by itself, and the solution is added to
 * x: each time the part is smaller by as much as a solver does, and good slices stay good. */
#pragma once

#include "solution.h"

/* Brings these columns of x, which are solutions on the host, to s->how->slices. LAT_DONE,
 * LAT_UNCONVERGED or LAT_FAILED, with lat_error set. s->residual becomes unknown of columns that
 * change. */
int lat_solution_slices(lat_solution *s, int columns, const int *column);

/* A warning where x, on the host, has slices below 100 times its residual. 0, or -1. */
int lat_solution_look_far(const lat_solution *s, int columns, const int *column);
