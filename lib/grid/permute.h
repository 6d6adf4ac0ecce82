/* SPDX-License-Identifier: BSD-3-Clause */
/* permute.h: lanes in another order (template; after site/real.h). */
/* Lane l of the result is lane p[l] of v. */
LAT_HOST_DEVICE LAT_T LAT_(permute)(LAT_T v, const lat_layout *lay, int n)
{
#if defined(__AVX512F__) && LAT_SIZE == 8
    return (LAT_T)_mm512_permutexvar_pd(_mm512_loadu_si512(lay->perm + n * LAT_WIDTH), (__m512d)v);
#elif defined(__AVX512F__)
    return (LAT_T)_mm512_permutexvar_ps(_mm512_loadu_si512(lay->perm32 + n * LAT_WIDTH), (__m512)v);
#elif defined(__AVX2__) && LAT_SIZE == 4
    return (LAT_T)_mm256_permutevar8x32_ps(
        (__m256)v, _mm256_loadu_si256((const __m256i *)(lay->perm32 + n * LAT_WIDTH)));
#else
    LAT_T r = v;
    for (int l = 0; l < LAT_WIDTH; l++)
        r[l] = v[lay->perm[n * LAT_WIDTH + l]];
    return r;
#endif
}
