/* SPDX-License-Identifier: BSD-3-Clause */
/* deflate.h: the part of a solution of D D^+ y = r that low modes of D^+ D span, computed directly.
 *
 * On spinors of a chirality c, D D^+ = (1 + mu^2)/2 + (1 - mu^2)/2 c P sign(H) P has the same
 * eigenvectors w for every mu. Where x is the eigenvalue at mu = 0, it is x (1 - mu^2) + mu^2, and
 *
 *     y0 = sum_w w <w, r> / (x (1 - mu^2) + mu^2)
 *
 * Conjugate gradients begin with it, with r - D D^+ y0: they converge as if the spectrum began
 * behind the modes. solve.h does so each time that the residual was computed anew: modes need not
 * be better than that their part of r becomes a tenth. The smaller mu, the larger the gain: the
 * condition number falls from 1/(x_0 + mu^2) to 1/(x_n + mu^2).
 *
 * Functions return 0 or a pointer, or -1 or NULL with lat_error set; all ranks of the device call
 * them. */
#pragma once

#include "overlap.h"

/* Gives o these modes, a host field; it keeps copies, and closes them. Each is examined: a vector
 * that has no chirality, or is in the span of those before it, is refused with a sentence that
 * begins with `name`, which is copied. Values and residuals are computed anew. */
int lat_overlap_deflate(lat_overlap *o, const lat_field *modes, const char *name);
void lat_overlap_deflation_close(struct lat_overlap_deflation *d); /* NULL is allowed */

/* Fails where the residual of a mode is above a tenth of its value at the present mu. */
int lat_overlap_deflation_check(const lat_overlap *o);

/* y += the part of (D D^+)^-1 r in the space of the modes of chirality c; 0: of both. */
int lat_overlap_deflation_add(lat_overlap *o, int c, const lat_part *p, lat_dfield *y,
                              const lat_dfield *r);
