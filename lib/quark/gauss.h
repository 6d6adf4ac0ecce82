/* SPDX-License-Identifier: BSD-3-Clause */
/* gauss.h: gauge covariant Gaussian smearing of quark fields (Wuppertal; Guesken, Nucl. Phys. B
 * Proc. Suppl. 17 (1990) 361). A step is
 *
 *     chi(x) <- (1 - 6 a) chi(x) + a sum over i = x, y, z of [U_i(x) chi(x+i) + U_i(x-i)^+
 * chi(x-i)]
 *
 * with a = w^2 / (4 n): n steps of width w are exp(w^2 laplacian / 4) for large n (Chroma's
 * GAUGE_INV_GAUSSIAN). Wuppertal's alpha is a / (1 - 6 a). For a > 1/6 the highest momenta grow.
 * Slices of the last axis, time, do not mix; in space quarks are periodic here, whatever the
 * boundary of the operator is. */
#pragma once

#include "lattice/field.h"

/* n steps of width w on slice t of this rank (counted from its first one), for `columns` spinors a
 * site: psi is the slice, [site][column][spin][colour][re, im]. 4 dimensions. 0, or -1 without
 * memory. */
int lat_gauss_slice(const lat_field *u, int t, double width, int steps, int columns, double *psi);
