/* SPDX-License-Identifier: BSD-3-Clause */
/* clover.h: the clover term of a site, on the host, in double. */
#pragma once

#include <stdbool.h>
#include "lattice/fermion.h"
#include "lattice/field.h"

#define LAT_CLOVER_ROWS 6 /* 2N of SU(3) */

/* The two Hermitian matrices, 2N x 2N, of the diagonal of M at a site, for the spins with gamma5 =
 * 1 and -1; index spin * N + colour, complex [row][column]. */
typedef struct lat_clover {
    int rows;
    double m[2][LAT_CLOVER_ROWS][LAT_CLOVER_ROWS][2];
} lat_clover;

/* 1 + 3 nu/xi + m - 1/2 sum_{mu<nu} c_munu sigma_munu F_munu(x) (dirac.h), and c_F - 1 where open
 * time has it, x an own site of u, whose ghosts are up to date. Without twist. With a gauge
 * transformation g it is that of the links in this gauge, G F G^+ for F; NULL: as they are. */
void lat_clover_at(const lat_field *u, const lat_field *g, const lat_fermion *f, bool traceless,
                   size_t x, lat_clover *c);

/* c becomes its inverse, with a twist that of c^2 + twist^2. *log gets log |det (c + i twist
 * gamma5)|, *negative how many of its two determinants are negative (0 with a twist). The number of
 * the matrix that is singular, 1 or 2; or 0. */
int lat_clover_invert(lat_clover *c, double twist, double *log, int *negative);

/* One of them packed: its diagonal, then what is below it, row by row, re and im. */
void lat_clover_pack(const lat_clover *c, int which, double factor, double *to);
