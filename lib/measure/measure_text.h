/* SPDX-License-Identifier: BSD-3-Clause */
/* measure_text.h: Polyakov loops as text, in the forms of common/text.h. */
#ifndef LAT_MEASURE_TEXT_H
#define LAT_MEASURE_TEXT_H

#include <stdio.h>
#include "common/geometry.h"

/* loop[mu]: real and imaginary part of the loop around direction mu (lat_measure_polyakov), for
 * each direction of the lattice.
 *
 *     _text   a line a direction
 *     _tsv    eight columns, LAT_POLYAKOV_COLUMNS, a tab before each; "nan" where the lattice has
 *             no such direction
 *     _json   "polyakov": an array of [re, im], not the first pair of its object */
#define LAT_POLYAKOV_COLUMNS \
    "polyakov_x_re\tpolyakov_x_im\tpolyakov_y_re\tpolyakov_y_im\tpolyakov_z_re\tpolyakov_z_im\t" \
    "polyakov_t_re\tpolyakov_t_im"
void lat_polyakov_text(FILE *to, const lat_geometry *geom, const double loop[][2]);
void lat_polyakov_tsv(FILE *to, const lat_geometry *geom, const double loop[][2]);
void lat_polyakov_json(FILE *to, const lat_geometry *geom, const double loop[][2]);

#endif
