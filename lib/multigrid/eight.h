/* SPDX-License-Identifier: BSD-3-Clause */
/* eight.h: eight columns side by side: what vectors of coarse levels are made of, [site][component]
 * of lat_eight. A column's result depends on no other column. C and C++. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { LAT_EIGHT = 8, LAT_LEVEL_DEPTH = 10 }; /* columns; vectors that GCR keeps on a level */

/* A complex number of each column. */
#ifdef __cplusplus
typedef struct lat_eight {
    float re[LAT_EIGHT], im[LAT_EIGHT];
} lat_eight;
#else
typedef float lat_eight_floats __attribute__((vector_size(4 * LAT_EIGHT), may_alias));
typedef struct lat_eight {
    lat_eight_floats re, im;
} lat_eight;
#endif

#define LAT_PITCH(n) (((n) + 3) / 4 * 4) /* of rows of n numbers, in vectors of four doubles */

/* Sums, a number of each column. */
typedef struct lat_eight_sums {
    double re[LAT_EIGHT], im[LAT_EIGHT];
} lat_eight_sums;

/* Of a solve by GCR, where its device computes; the host has no more than their addresses. Of
 * several batches of eight columns there are as many, one behind the other. */
typedef struct lat_mg_scalars {
    lat_eight_sums dot[LAT_LEVEL_DEPTH];        /* <s_j, s_k> */
    lat_eight_sums square[LAT_LEVEL_DEPTH];     /* |s_k|^2, a real number */
    lat_eight_sums step[2];                     /* <r, s_k>, |s_k|^2 */
    lat_eight_sums norm, target;                /* |r|^2, and where a column is done; real */
    int done[LAT_EIGHT], iterations[LAT_EIGHT]; /* those before it was done */
} lat_mg_scalars;

/* Of all columns: are they done, and the most iterations of one. */
typedef struct lat_mg_found {
    bool all;
    int iterations;
} lat_mg_found;

/* A coefficient: sign, or sign * over/under, of columns that are not done; 0 where under is 0. */
typedef struct lat_mg_factor {
    float sign;
    const lat_eight_sums *over, *under; /* NULL: 1; of `under` the real part */
    bool conjugate;                     /* of over */
    const int *done;                    /* NULL: no column is */
} lat_mg_factor;

#if defined(__CUDACC__)
#define LAT_MG_INLINE static __host__ __device__ __forceinline__
#else
#define LAT_MG_INLINE static inline
#endif

/* Sums of another batch: in its scalars they are where those of batch 0 are in theirs. */
LAT_MG_INLINE const lat_eight_sums *lat_mg_of_batch(const lat_eight_sums *of, int batch)
{
    return (const lat_eight_sums *)((const char *)of + (size_t)batch * sizeof(lat_mg_scalars));
}

/* Of a column. */
LAT_MG_INLINE void lat_mg_factor_of(lat_mg_factor f, int k, float *re, float *im)
{
    const double square = f.under ? f.under->re[k] : 1;
    *re = f.sign;
    *im = 0;
    if (!f.over)
        return;
    const bool some = square > 0 && !(f.done && f.done[k]);
    *re = some ? (float)(f.sign * f.over->re[k] / square) : 0;
    *im = some ? (float)((f.conjugate ? -f.sign : f.sign) * f.over->im[k] / square) : 0;
}

/* After an iteration; and before the first one, which sets the targets. */
LAT_MG_INLINE void lat_mg_look(lat_mg_scalars *s, int k, bool begin, double tolerance)
{
    if (begin) {
        s->target.re[k] = tolerance * tolerance * s->norm.re[k];
        s->done[k] = s->iterations[k] = 0;
    } else
        s->iterations[k] += !s->done[k];
    s->done[k] = s->done[k] || !(s->norm.re[k] > s->target.re[k]);
}
