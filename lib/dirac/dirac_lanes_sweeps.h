/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_lanes_sweeps.h: all passes over blocks of spinors (template; dirac_lanes.c expands it). */
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

/* As many numbers as doubles fill a vector, as doubles: one instruction, of which gcc makes five
 * where __builtin_convertvector asks for it. */
LAT_HOST_DEVICE doubles LAT_(widen)(const LAT_S *v)
{
#if LAT_SIZE == 8
    return *(const doubles *)v;
#elif BYTES == 64
    return (doubles)_mm512_cvtps_pd(_mm256_load_ps(v));
#elif BYTES == 32
    return (doubles)_mm256_cvtps_pd(_mm_load_ps(v));
#else
    typedef LAT_S pair __attribute__((vector_size(BYTES / 8 * LAT_SIZE)));
    return __builtin_convertvector(*(const pair *)v, doubles);
#endif
}

#include "hop_lanes.h"
#include "spinor_lanes.h"
