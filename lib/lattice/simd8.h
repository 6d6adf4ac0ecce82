/* SPDX-License-Identifier: BSD-3-Clause */
/* simd8.h: matrices of eight sites, one in each lane of a vector of 8 doubles. The includer is
 * compiled for each vector length of x86, and chooses one at run time (base/isa.h). */
#pragma once

#include <stddef.h>
#include "header.h"
#include "iterate.h"

enum { LAT_SIMD8 = 8 };
typedef double lat_simd8 __attribute__((vector_size(8 * LAT_SIMD8)));

/* Declares an N by N matrix of eight sites: number 2 (i N + j) is Re m_ij, the next one Im m_ij. */
#define LAT_SIMD8_MATRIX(name) lat_simd8 name[2 * LAT_MAX_COLOURS * LAT_MAX_COLOURS]

/* Real number k at each of p[0] .. p[7]. */
#define LAT_SIMD8_REALS(type, p, k) \
    (lat_simd8) \
    { \
        ((const type *)(p)[0])[k], ((const type *)(p)[1])[k], ((const type *)(p)[2])[k], \
            ((const type *)(p)[3])[k], ((const type *)(p)[4])[k], ((const type *)(p)[5])[k], \
            ((const type *)(p)[6])[k], ((const type *)(p)[7])[k] \
    }

/* Loads the N by N matrices that begin `offset` bytes after site[0] .. site[7], as doubles. */
LAT_INLINE void lat_simd8_load(const char *const *site, size_t offset, lat_real real, int n,
                               lat_simd8 *m)
{
    const char *p[LAT_SIMD8];
    for (int l = 0; l < LAT_SIMD8; l++)
        p[l] = site[l] + offset;
    for (int k = 0; k < 2 * n * n; k++)
        if (real == LAT_F64)
            m[k] = LAT_SIMD8_REALS(double, p, k);
        else
            m[k] = LAT_SIMD8_REALS(float, p, k);
}
