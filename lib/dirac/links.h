/* SPDX-License-Identifier: BSD-3-Clause */
/* links.h: links in fewer reals: 12 of SU(3) and 4 of SU(2) are all rows but the last, 8 of SU(3)
 * are angles. On the host, in double. */
#pragma once

#include "grid/grid.h"
#include "lattice/field.h"

/* A matrix m in `reals` reals. The angles are those of Bronzan's parametrisation in units
 * of 2 pi, theta_1 to theta_3 in [0, 1/4], phi_1 to phi_5 in [0, 1): with c and s of theta and
 * e(x) = exp(i x),
 *     row 1   c1 c2 e(phi1),   s1 e(phi3),   c1 s2 e(phi4)
 *     row 2   s2 s3 e(-phi4-phi5) - s1 c2 c3 e(phi1+phi2-phi3),   c1 c3 e(phi2),
 *             -c2 s3 e(-phi1-phi5) - s1 s2 c3 e(phi2-phi3+phi4)
 *     row 3   conj(row 1 x row 2) */
void lat_link_pack(int nc, int reals, const double *m, double *packed);

/* Chooses the reals of a link in a storage (`asked`, `unitary`: lat_dirac_options of dirac.h), or
 * refuses: the links of all ranks have to come back from them but for a rounding. -1 with lat_error
 * set. */
int lat_link_reals(const lat_field *u, lat_storage storage, int asked, bool unitary);
