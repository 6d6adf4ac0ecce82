/* SPDX-License-Identifier: BSD-3-Clause */
/* real.h: the real numbers that site functions compute with (template).
 *
 * A site function is written once, over a type LAT_T that is a scalar (one site a thread, as on a
 * GPU) or a vector (one site a lane, as on the CPU). The includer of a template first defines
 *     LAT_T            the type: float, double, or a vector of them
 *     LAT_S            the scalar in it, float or double
 *     LAT_WIDTH        how many scalars, 1 for a scalar
 *     LAT_SIZE         bytes of one, 4 or 8
 *     LAT_N            N of SU(N)
 *     LAT_(x)          a name for x, unique to these
 *     LAT_HOST_DEVICE  the storage class of a function ("static inline"; in CUDA __device__, too)
 *
 * (scalar.h does so for double, one site.) The operators + - * work on vectors in gcc and clang;
 * what else is needed is here:
 *
 *     LAT_(set)(s)                 s in every lane
 *     LAT_(where_gt)(a, b, x, y)   a > b ? x : y, lane by lane
 *     LAT_(rsqrt)(a)               1/sqrt(a) to a few ulp, for a in the normal range
 *     LAT_(mask_gt)(a, b)          bit l is set where a > b in lane l; LAT_ALL: all bits
 *
 * LAT_UNROLL stands before loops that have to be unrolled where a variable must not index an array,
 * as in registers of a GPU; the includer may define it. LAT_UNROLL_ALL stands where this is so for
 * any N. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#define LAT_ALL ((1u << LAT_WIDTH) - 1)
#ifndef LAT_UNROLL
#define LAT_UNROLL
#endif
#ifndef LAT_UNROLL_ALL
#if defined(__CUDACC__)
#define LAT_UNROLL_ALL _Pragma("unroll")
#elif !defined(__clang__)
#define LAT_UNROLL_ALL _Pragma("GCC unroll 8")
#else
#define LAT_UNROLL_ALL
#endif
#endif

LAT_HOST_DEVICE LAT_T LAT_(set)(LAT_S s)
{
    LAT_T zero = {0};
    return zero + s;
}

#if LAT_WIDTH == 1

LAT_HOST_DEVICE LAT_T LAT_(where_gt)(LAT_T a, LAT_T b, LAT_T x, LAT_T y) { return a > b ? x : y; }

LAT_HOST_DEVICE LAT_T LAT_(rsqrt)(LAT_T a)
{
#if defined(__CUDACC__)
    return rsqrt(a); /* of either precision */
#elif LAT_SIZE == 4
    return 1.0f / sqrtf(a);
#else
    return 1.0 / sqrt(a);
#endif
}

LAT_HOST_DEVICE unsigned LAT_(mask_gt)(LAT_T a, LAT_T b) { return a > b; }

#else

LAT_HOST_DEVICE LAT_T LAT_(where_gt)(LAT_T a, LAT_T b, LAT_T x, LAT_T y)
{
#if LAT_SIZE == 4
    typedef int32_t mask __attribute__((vector_size(sizeof(LAT_T))));
#else
    typedef int64_t mask __attribute__((vector_size(sizeof(LAT_T))));
#endif
    mask m = (mask)(a > b);
    return (LAT_T)(((mask)x & m) | ((mask)y & ~m));
}

LAT_HOST_DEVICE LAT_T LAT_(rsqrt)(LAT_T a)
{
    /* Where the hardware has an estimate, that and Newton's steps y <- y + y (1 - a y y) / 2, each
     * of which squares the relative error: a quarter of the time of square root and division. */
#if defined(__AVX512F__) && LAT_SIZE == 8
    LAT_T y = (LAT_T)_mm512_rsqrt14_pd((__m512d)a);
    y += y * (0.5 - 0.5 * a * y * y);
    y += y * (0.5 - 0.5 * a * y * y);
    return y;
#elif defined(__AVX512F__) && LAT_SIZE == 4
    LAT_T y = (LAT_T)_mm512_rsqrt14_ps((__m512)a);
    y += y * (0.5f - 0.5f * a * y * y);
    return y;
#elif defined(__AVX2__) && LAT_SIZE == 4
    LAT_T y = (LAT_T)_mm256_rsqrt_ps((__m256)a);
    y += y * (0.5f - 0.5f * a * y * y);
    y += y * (0.5f - 0.5f * a * y * y);
    return y;
#elif defined(__AVX2__)
    return 1.0 / (LAT_T)_mm256_sqrt_pd((__m256d)a);
#else
    LAT_T y = a;
    for (int i = 0; i < LAT_WIDTH; i++)
#if LAT_SIZE == 4
        y[i] = 1.0f / sqrtf(a[i]);
#else
        y[i] = 1.0 / sqrt(a[i]);
#endif
    return y;
#endif
}

LAT_HOST_DEVICE unsigned LAT_(mask_gt)(LAT_T a, LAT_T b)
{
#if defined(__AVX512F__) && LAT_SIZE * LAT_WIDTH == 64 && LAT_SIZE == 4
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
#elif defined(__AVX512F__) && LAT_SIZE * LAT_WIDTH == 64
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ);
#elif defined(__AVX2__) && LAT_SIZE * LAT_WIDTH == 32 && LAT_SIZE == 4
    return (unsigned)_mm256_movemask_ps((__m256)(a > b));
#elif defined(__AVX2__) && LAT_SIZE * LAT_WIDTH == 32
    return (unsigned)_mm256_movemask_pd((__m256d)(a > b));
#else
    unsigned bits = 0;
    for (int l = 0; l < LAT_WIDTH; l++)
        bits |= (unsigned)(a[l] > b[l]) << l;
    return bits;
#endif
}

#endif
