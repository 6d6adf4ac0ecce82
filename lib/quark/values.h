/* SPDX-License-Identifier: BSD-3-Clause */
/* values.h: the numbers that follow from propagators and vertices in momentum space: quark field
 * and mass, and Z of bilinears by RI'/MOM and RI/SMOM (docs/momentum.md).
 */
#pragma once

#include "kinematics.h"
#include "legs.h"

/* A propagator has one row of five columns: trace, Zq, M, M_additive, M_multiplicative. A pair has
 * rows, bilinears or sums of them, of three columns: Lambda, Z_over_Zq, Z; with the conserved
 * current two rows more and a fourth column, Z_conserved. */
enum {
    LAT_VALUES_STRIDE = 4,                                 /* from row to row of a pair */
    LAT_VALUES_ROWS = 25,                                  /* at most */
    LAT_VALUES_WARD = LAT_VALUES_ROWS * LAT_VALUES_STRIDE, /* defect of the Ward identity */
    LAT_VALUES
};

int lat_values_rows(lat_legs_kind kind);
int lat_values_columns(lat_legs_kind kind);
const char *lat_values_row(int row);
const char *lat_values_column(lat_legs_kind kind, int column);

/* How many of v are of this kind: the others are not written. */
int lat_values_count(lat_legs_kind kind);

/* v[LAT_VALUES] of legs (legs.h). NaN is what is not defined: along q where q is 0, corrections
 * where the mass is not known. 0, or -1 with a sentence, which begins with `name`, where a leg is
 * singular. */
int lat_values_of(const char *name, const lat_kinematics *k, lat_legs_kind kind, int nc,
                  const double *legs, double v[LAT_VALUES]);
