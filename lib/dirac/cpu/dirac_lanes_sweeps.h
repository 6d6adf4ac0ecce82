/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_lanes_sweeps.h: what the hop over blocks of spinors stands on (template; dirac_lanes.c
 * expands it). */
#include "site/real.h"
#include "site/matrix.h"
#include "site/elementary.h"
#include "site/spinor.h"
#include "site/wilson.h"

/* Lane l of the result is lane perm[l] of v; the numbers are as lat_hop_table.perm has them. */
LAT_HOST_DEVICE LAT_T LAT_(permute_lanes)(LAT_T v, const int32_t *perm)
{
#if BYTES == 64 && LAT_SIZE == 8
    return (LAT_T)_mm512_permutexvar_pd(_mm512_load_si512(perm), (__m512d)v);
#elif BYTES == 64
    return (LAT_T)_mm512_permutexvar_ps(_mm512_load_si512(perm), (__m512)v);
#elif BYTES == 32
    return (LAT_T)_mm256_permutevar8x32_ps((__m256)v, _mm256_load_si256((const __m256i *)perm));
#else
    LAT_T r = v;
    for (int l = 0; l < LAT_WIDTH; l++)
        r[l] = v[perm[l]];
    return r;
#endif
}

#include "vector/cpu/shadow_sweeps.h"
#include "hop_lanes.h"
