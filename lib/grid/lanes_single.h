/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes_single.h: from here on a text for lanes is one for vectors of floats. LAT_T is a vector,
 * LAT_S one of its LAT_WIDTH numbers of LAT_SIZE bytes, LAT_(x) the name x in this precision. */
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_
#define LAT_T floats
#define LAT_S float
#define LAT_SIZE 4
#define LAT_WIDTH (BYTES / 4)
#define LAT_(x) x##_f
