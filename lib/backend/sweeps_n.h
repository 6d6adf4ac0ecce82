/* SPDX-License-Identifier: BSD-3-Clause */
/* sweeps_n.h: sweeps.h in single and in double for the LAT_N in force. */
#define LAT_T floats
#define LAT_S float
#define LAT_SIZE 4
#define LAT_WIDTH (BYTES / 4)
#define LAT_(x) JOIN(x##_f, LAT_N)
#include "sweeps.h"
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_

#define LAT_T doubles
#define LAT_S double
#define LAT_SIZE 8
#define LAT_WIDTH (BYTES / 8)
#define LAT_(x) JOIN(x##_d, LAT_N)
#include "sweeps.h"
#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_
