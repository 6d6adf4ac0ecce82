/* SPDX-License-Identifier: BSD-3-Clause */
/* scalar.h: all site functions for one site in double precision, for N = 2, 3 and 4: for tests,
 * references in benchmarks, and to try something. Not for sweeps.
 *
 * The suffix is d and N, as on GPUs: the types c_d3, m_d3, mag_d3, rng_d3, .., the functions
 * relax_su2_d3, heat_d3, link_update_d3, ... A matrix m_d3 is 18 doubles, row by row, re and im. */
#pragma once

#define LAT_T double
#define LAT_S double
#define LAT_SIZE 8
#define LAT_WIDTH 1
#define LAT_HOST_DEVICE static inline __attribute__((unused))

#define LAT_N 2
#define LAT_(x) x##_d2
#include "template.h"
#include "link.h"
#undef LAT_N
#undef LAT_
#define LAT_N 3
#define LAT_(x) x##_d3
#include "template.h"
#include "link.h"
#undef LAT_N
#undef LAT_
#define LAT_N 4
#define LAT_(x) x##_d4
#include "template.h"
#include "link.h"
#undef LAT_N
#undef LAT_

#undef LAT_T
#undef LAT_S
#undef LAT_SIZE
#undef LAT_WIDTH
#undef LAT_HOST_DEVICE
