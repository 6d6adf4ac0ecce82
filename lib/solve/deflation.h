/* SPDX-License-Identifier: BSD-3-Clause */
/* deflation.h: the part of a solution of A x = b that modes span, computed directly.
 *
 * gamma5 A is Hermitian and has the eigenvectors w. Then A^-1 r has in their space the part
 *
 *     sum_w w <w, gamma5 r>/value;    of eigenvectors of A^+ A it is  sum_w w <w, A^+ r>/value.
 *
 * Conjugate gradients of A^+ A, begun with it, do not see the modes, whose eigenvalues are those
 * that made it slow: their directions stay orthogonal to the modes, but for rounding and for the
 * residuals of the modes. So the part is added again at each reliable update (krylov.h, improve):
 * modes need not be better than that each such step makes their part of r a tenth. (Stathopoulos,
 * Orginos, SIAM J. Sci. Comput. 32 (2010) 439.) Other methods do not keep out of the space.
 *
 * Functions return 0 or a pointer, or -1 or NULL with lat_error set; all ranks of the device call
 * them. */
#pragma once

#include "krylov.h"
#include "lattice/field.h"

typedef struct lat_deflation lat_deflation;

/* Copies the modes, a host field with eigenvalues, for the system in the outer precision. `square`:
 * they are of A^+ A. Each is tested: it fails with a sentence about the first one that is no unit
 * vector on the system's parity, or whose |gamma5 A w - value w| is not below a tenth of |value|;
 * sentences begin with `name`. */
lat_deflation *lat_deflation_open(const lat_system *s, const lat_field *modes, bool square,
                                  const char *name);
void lat_deflation_close(lat_deflation *d); /* NULL is allowed */

/* x += the part of A^-1 r in the space of the modes, of these columns; r is overwritten. */
int lat_deflation_improve(lat_deflation *d, const lat_part *p, lat_dfield *x, lat_dfield *r);

/* x += sum_w w <w, y>/value of n modes. */
int lat_deflation_project(lat_space *space, const lat_part *p, int n, lat_dfield *const *mode,
                          const double *value, lat_dfield *x, const lat_dfield *y);
