/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_lanes.c: linear algebra of batches, a site in each lane of a vector. Compiled as
 * fix_lanes.c is, for each vector length and N: LAT_LANES = base, avx2 or avx512, LAT_N = 2 or 3;
 * space_cpu.c chooses at run time. This file expands vector_sweeps.h in single and in double. */
#include "vector/cpu/vector_lanes.h"
#include "grid/vectors.h"
#if defined(__x86_64__) && !defined(__AVX2__)
#include <immintrin.h>
#endif

#define SPINOR (8 * LAT_N) /* vectors of four spins */

#include "grid/lanes_single.h"
#include "vector_sweeps.h"
#include "grid/lanes_double.h"
#include "vector_sweeps.h"

const lat_vector_lanes LAT_LANES_OF(lat_vector_lanes)[] = {
    {LAT_N, 4, BYTES / 4, axpby_f, axpys_f, dots_f, products_f, combine_f, cg_f, bicgstab_f,
     shadow_of_f, sum_f},
    {LAT_N, 8, BYTES / 8, axpby_d, axpys_d, dots_d, products_d, combine_d, cg_d, bicgstab_d,
     shadow_of_d, sum_d}};
