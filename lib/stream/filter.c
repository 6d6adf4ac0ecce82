/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.c: reals into byte planes and back, 16 at a time in vectors that all processors have. */
#include <stdint.h>
#include <string.h>
#include "base/bytes.h"
#include "codec.h"

#define INLINE __attribute__((always_inline)) static inline

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint32_t singles __attribute__((vector_size(16)));
typedef uint64_t doubles __attribute__((vector_size(16)));

/* Anywhere in memory. */
typedef uint8_t stored __attribute__((vector_size(16), aligned(1), may_alias));

/* Bytes of two vectors in turn, from byte i on. */
#define IN_TURN(a, b, i) \
    __builtin_shufflevector(a, b, i, i + 16, i + 1, i + 17, i + 2, i + 18, i + 3, i + 19, i + 4, \
                            i + 20, i + 5, i + 21, i + 6, i + 22, i + 7, i + 23)

/* `real` vectors, one after the other, have the bytes of 16 reals: w has the first half of these
 * bytes and the second in turn, so that the bits of a byte's number rotate left by one. */
INLINE void in_turn(int real, const bytes v[8], bytes w[8])
{
#pragma GCC unroll 4
    for (int k = 0; k < real / 2; k++) {
        w[2 * k] = IN_TURN(v[k], v[k + real / 2], 0);
        w[2 * k + 1] = IN_TURN(v[k], v[k + real / 2], 8);
    }
}

INLINE bytes rotated(int real, bytes v, int left)
{
    const singles s = (singles)v;
    const doubles d = (doubles)v;
    return real == 8 ? (bytes)(d << left | d >> (64 - left))
                     : (bytes)(s << left | s >> (32 - left));
}

/* Where plane k is, that of byte k of the reals in memory. */
INLINE size_t plane(int real, int k, size_t count)
{
    return (size_t)(lat_big_endian() ? k : real - 1 - k) * count;
}

/* 16 reals. The number of a byte has four bits for the real, above two or three for the byte in it;
 * among planes it is the other way round. */
INLINE void filter_16(int real, const unsigned char *raw, size_t count, unsigned char *planes)
{
    bytes v[8], w[8];
#pragma GCC unroll 8
    for (int k = 0; k < real; k++)
        v[k] = rotated(real, *(const stored *)(raw + 16 * k), 1);
    in_turn(real, v, w), in_turn(real, w, v), in_turn(real, v, w), in_turn(real, w, v);
#pragma GCC unroll 8
    for (int k = 0; k < real; k++)
        *(stored *)(planes + plane(real, k, count)) = v[k];
}

INLINE void unfilter_16(int real, const unsigned char *planes, size_t count, unsigned char *raw)
{
    bytes v[8], w[8];
#pragma GCC unroll 8
    for (int k = 0; k < real; k++)
        v[k] = *(const stored *)(planes + plane(real, k, count));
    in_turn(real, v, w), in_turn(real, w, v);
    if (real == 8)
        in_turn(real, v, w);
#pragma GCC unroll 8
    for (int k = 0; k < real; k++)
        *(stored *)(raw + 16 * k) = rotated(real, real == 8 ? w[k] : v[k], 8 * real - 1);
}

/* The rest one by one. */
INLINE void filter(int real, const unsigned char *raw, size_t count, unsigned char *planes)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        filter_16(real, raw + i * (size_t)real, count, planes + i);
    for (; i < count; i++) {
        const uint64_t d = real == 8 ? lat_load64(raw + 8 * i, false) : 0;
        const uint32_t s = real == 4 ? lat_load32(raw + 4 * i, false) : 0;
        const uint64_t w = real == 8 ? d << 1 | d >> 63 : s << 1 | s >> 31;
        for (int p = 0; p < real; p++)
            planes[(size_t)p * count + i] = (unsigned char)(w >> (8 * (real - 1 - p)));
    }
}

INLINE void unfilter(int real, const unsigned char *planes, size_t count, unsigned char *raw)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        unfilter_16(real, planes + i, count, raw + i * (size_t)real);
    for (; i < count; i++) {
        uint64_t w = 0;
        for (int p = 0; p < real; p++)
            w = w << 8 | planes[(size_t)p * count + i];
        const uint32_t s = (uint32_t)w;
        if (real == 8)
            lat_store64(raw + 8 * i, w >> 1 | w << 63, false);
        else
            lat_store32(raw + 4 * i, s >> 1 | s << 31, false);
    }
}

void lat_filter(const void *raw, size_t n, int real, void *planes)
{
    if (real == 8)
        filter(8, raw, n / 8, planes);
    else if (real == 4)
        filter(4, raw, n / 4, planes);
    else
        memcpy(planes, raw, n);
}

void lat_unfilter(const void *planes, size_t n, int real, void *raw)
{
    if (real == 8)
        unfilter(8, planes, n / 8, raw);
    else if (real == 4)
        unfilter(4, planes, n / 4, raw);
    else
        memcpy(raw, planes, n);
}
