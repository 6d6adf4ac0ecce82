/* SPDX-License-Identifier: BSD-3-Clause */
/* algebra.h: linear algebra that the files of this folder share. Functions return 0, or -1 with
 * lat_error set. */
#pragma once

#include "vector/space.h"

/* out <- a in + b out on these columns, and |out|^2 (NULL: not computed). */
int lat_overlap_mix(lat_space *s, const lat_part *p, double a, const lat_dfield *in, double b,
                    lat_dfield *out, double *norm);

/* x <- (1 + c gamma5)/2 x, c = 1 or -1. tmp is another field of the space of x. */
int lat_chirality(lat_space *s, int c, const lat_part *p, lat_dfield *x, lat_dfield *tmp);

/* Of column 0: <x, y>; |x|; x <- x - sum w <w, x>, w after w, so many rounds. */
int lat_overlap_dot(lat_space *s, const lat_dfield *x, const lat_dfield *y, lat_scalar *dot);
int lat_overlap_norm(lat_space *s, const lat_dfield *x, double *norm);
int lat_overlap_orthogonal(lat_space *s, int rounds, int n, lat_dfield *const *w, lat_dfield *x);
