/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.c: reals into byte planes and back: 8 at a time in words of 64 bits, 32 in vectors where
 * the processor has AVX2. */
#include <stdint.h>
#include <string.h>
#include "base/bytes.h"
#include "base/isa.h"
#include "codec.h"

/* Exchanges those bits of a that `mask << shift` has with those of b that `mask` has; of words, and
 * of vectors of words. */
#define SWAP(a, b, shift, mask) \
    do { \
        __typeof__(a) t_ = ((a) >> (shift) ^ (b)) & UINT64_C(mask); \
        (b) ^= t_; \
        (a) ^= t_ << (shift); \
    } while (0)

/* Transposes 8 by 8 bytes; its own inverse. Unrolled by hand, here and below: where the compiler
 * does not unroll, the arrays would be in memory. */
#define TRANSPOSE8(w) \
    do { \
        SWAP(w[0], w[4], 32, 0x00000000ffffffff); \
        SWAP(w[1], w[5], 32, 0x00000000ffffffff); \
        SWAP(w[2], w[6], 32, 0x00000000ffffffff); \
        SWAP(w[3], w[7], 32, 0x00000000ffffffff); \
        SWAP(w[0], w[2], 16, 0x0000ffff0000ffff); \
        SWAP(w[1], w[3], 16, 0x0000ffff0000ffff); \
        SWAP(w[4], w[6], 16, 0x0000ffff0000ffff); \
        SWAP(w[5], w[7], 16, 0x0000ffff0000ffff); \
        SWAP(w[0], w[1], 8, 0x00ff00ff00ff00ff); \
        SWAP(w[2], w[3], 8, 0x00ff00ff00ff00ff); \
        SWAP(w[4], w[5], 8, 0x00ff00ff00ff00ff); \
        SWAP(w[6], w[7], 8, 0x00ff00ff00ff00ff); \
    } while (0)

/* Transposes squares of 4 by 4 bytes, one in each half of the words. */
#define TRANSPOSE4(w) \
    do { \
        SWAP(w[0], w[2], 16, 0x0000ffff0000ffff); \
        SWAP(w[1], w[3], 16, 0x0000ffff0000ffff); \
        SWAP(w[0], w[1], 8, 0x00ff00ff00ff00ff); \
        SWAP(w[2], w[3], 8, 0x00ff00ff00ff00ff); \
    } while (0)

/* ---- in words -------------------------------------------------------------------------------- */

static inline uint64_t left64(uint64_t w) { return w << 1 | w >> 63; }
static inline uint64_t right64(uint64_t w) { return w >> 1 | w << 63; }
static inline uint32_t left32(uint32_t w) { return w << 1 | w >> 31; }
static inline uint32_t right32(uint32_t w) { return w >> 1 | w << 31; }

static inline uint64_t native64(const unsigned char *p) { return lat_load64(p, false); }
static inline uint32_t native32(const unsigned char *p) { return lat_load32(p, false); }

/* Reals from number i on, by eights; returns where the rest begins. */
static size_t filter64(const unsigned char *raw, size_t count, size_t i, unsigned char *planes)
{
    for (; i + 8 <= count; i += 8) {
        const unsigned char *r = raw + 8 * i;
        uint64_t w[8] = {left64(native64(r)),      left64(native64(r + 8)),
                         left64(native64(r + 16)), left64(native64(r + 24)),
                         left64(native64(r + 32)), left64(native64(r + 40)),
                         left64(native64(r + 48)), left64(native64(r + 56))};
        TRANSPOSE8(w);
        unsigned char *p = planes + i;
        lat_store_le64(p, w[7]);
        lat_store_le64(p + count, w[6]);
        lat_store_le64(p + 2 * count, w[5]);
        lat_store_le64(p + 3 * count, w[4]);
        lat_store_le64(p + 4 * count, w[3]);
        lat_store_le64(p + 5 * count, w[2]);
        lat_store_le64(p + 6 * count, w[1]);
        lat_store_le64(p + 7 * count, w[0]);
    }
    return i;
}

static size_t unfilter64(const unsigned char *planes, size_t count, size_t i, unsigned char *raw)
{
    for (; i + 8 <= count; i += 8) {
        const unsigned char *p = planes + i;
        uint64_t w[8] = {lat_load_le64(p + 7 * count), lat_load_le64(p + 6 * count),
                         lat_load_le64(p + 5 * count), lat_load_le64(p + 4 * count),
                         lat_load_le64(p + 3 * count), lat_load_le64(p + 2 * count),
                         lat_load_le64(p + count),     lat_load_le64(p)};
        TRANSPOSE8(w);
        unsigned char *r = raw + 8 * i;
        lat_store64(r, right64(w[0]), false);
        lat_store64(r + 8, right64(w[1]), false);
        lat_store64(r + 16, right64(w[2]), false);
        lat_store64(r + 24, right64(w[3]), false);
        lat_store64(r + 32, right64(w[4]), false);
        lat_store64(r + 40, right64(w[5]), false);
        lat_store64(r + 48, right64(w[6]), false);
        lat_store64(r + 56, right64(w[7]), false);
    }
    return i;
}

static size_t filter32(const unsigned char *raw, size_t count, size_t i, unsigned char *planes)
{
    for (; i + 8 <= count; i += 8) {
        const unsigned char *r = raw + 4 * i;
        uint64_t w[4] = {left32(native32(r)) | (uint64_t)left32(native32(r + 16)) << 32,
                         left32(native32(r + 4)) | (uint64_t)left32(native32(r + 20)) << 32,
                         left32(native32(r + 8)) | (uint64_t)left32(native32(r + 24)) << 32,
                         left32(native32(r + 12)) | (uint64_t)left32(native32(r + 28)) << 32};
        TRANSPOSE4(w);
        unsigned char *p = planes + i;
        lat_store_le64(p, w[3]);
        lat_store_le64(p + count, w[2]);
        lat_store_le64(p + 2 * count, w[1]);
        lat_store_le64(p + 3 * count, w[0]);
    }
    return i;
}

static size_t unfilter32(const unsigned char *planes, size_t count, size_t i, unsigned char *raw)
{
    for (; i + 8 <= count; i += 8) {
        const unsigned char *p = planes + i;
        uint64_t w[4] = {lat_load_le64(p + 3 * count), lat_load_le64(p + 2 * count),
                         lat_load_le64(p + count), lat_load_le64(p)};
        TRANSPOSE4(w);
        unsigned char *r = raw + 4 * i;
        lat_store32(r, right32((uint32_t)w[0]), false);
        lat_store32(r + 4, right32((uint32_t)w[1]), false);
        lat_store32(r + 8, right32((uint32_t)w[2]), false);
        lat_store32(r + 12, right32((uint32_t)w[3]), false);
        lat_store32(r + 16, right32((uint32_t)(w[0] >> 32)), false);
        lat_store32(r + 20, right32((uint32_t)(w[1] >> 32)), false);
        lat_store32(r + 24, right32((uint32_t)(w[2] >> 32)), false);
        lat_store32(r + 28, right32((uint32_t)(w[3] >> 32)), false);
    }
    return i;
}

/* One by one. */
static void filter_rest(const unsigned char *raw, size_t count, size_t i, int real,
                        unsigned char *planes)
{
    for (; i < count; i++) {
        const uint64_t w = real == 8 ? left64(native64(raw + 8 * i))
                                     : left32(native32(raw + 4 * i));
        for (int p = 0; p < real; p++)
            planes[(size_t)p * count + i] = (unsigned char)(w >> (8 * (real - 1 - p)));
    }
}

static void unfilter_rest(const unsigned char *planes, size_t count, size_t i, int real,
                          unsigned char *raw)
{
    for (; i < count; i++) {
        uint64_t w = 0;
        for (int p = 0; p < real; p++)
            w = w << 8 | planes[(size_t)p * count + i];
        if (real == 8)
            lat_store64(raw + 8 * i, right64(w), false);
        else
            lat_store32(raw + 4 * i, right32((uint32_t)w), false);
    }
}

/* ---- in vectors ------------------------------------------------------------------------------ */

#if defined(__x86_64__)

#define VECTOR __attribute__((target("avx2"), always_inline)) static inline

/* Eight words of 32 bits, four of 64. */
typedef uint32_t words __attribute__((vector_size(32), may_alias));
typedef uint64_t longs __attribute__((vector_size(32), may_alias));

/* The same anywhere in memory; by a load: memcpy would go through memory, in halves. */
typedef uint64_t stored __attribute__((vector_size(32), aligned(1), may_alias));

#define PICK(type, a, b, ...) ((longs)__builtin_shufflevector((type)(a), (type)(b), __VA_ARGS__))

/* Eight words of 64 bits from each of four rows become v[k], the words number k of these rows; and
 * back. In memory m[2 l], m[2 l + 1] are row l. */
VECTOR void columns64(const longs m[8], longs v[8])
{
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        const longs a = PICK(longs, m[h], m[h + 2], 0, 4, 2, 6),
                    b = PICK(longs, m[h], m[h + 2], 1, 5, 3, 7),
                    c = PICK(longs, m[h + 4], m[h + 6], 0, 4, 2, 6),
                    d = PICK(longs, m[h + 4], m[h + 6], 1, 5, 3, 7);
        v[4 * h] = PICK(longs, a, c, 0, 1, 4, 5);
        v[4 * h + 1] = PICK(longs, b, d, 0, 1, 4, 5);
        v[4 * h + 2] = PICK(longs, a, c, 2, 3, 6, 7);
        v[4 * h + 3] = PICK(longs, b, d, 2, 3, 6, 7);
    }
}

VECTOR void rows64(const longs v[8], longs m[8])
{
#pragma GCC unroll 2
    for (int h = 0; h < 2; h++) {
        const longs a = PICK(longs, v[4 * h], v[4 * h + 1], 0, 4, 2, 6),
                    b = PICK(longs, v[4 * h], v[4 * h + 1], 1, 5, 3, 7),
                    c = PICK(longs, v[4 * h + 2], v[4 * h + 3], 0, 4, 2, 6),
                    d = PICK(longs, v[4 * h + 2], v[4 * h + 3], 1, 5, 3, 7);
        m[h] = PICK(longs, a, c, 0, 1, 4, 5);
        m[h + 2] = PICK(longs, b, d, 0, 1, 4, 5);
        m[h + 4] = PICK(longs, a, c, 2, 3, 6, 7);
        m[h + 6] = PICK(longs, b, d, 2, 3, 6, 7);
    }
}

/* Four words of 32 bits from each of eight rows become v[k], the words number k; and back. In
 * memory m[l] are rows 2 l and 2 l + 1. */
VECTOR void columns32(const longs m[4], longs v[4])
{
    /* rows 0 and 4, 1 and 5, 2 and 6, 3 and 7 */
    const longs a = PICK(words, m[0], m[2], 0, 1, 2, 3, 8, 9, 10, 11),
                b = PICK(words, m[0], m[2], 4, 5, 6, 7, 12, 13, 14, 15),
                c = PICK(words, m[1], m[3], 0, 1, 2, 3, 8, 9, 10, 11),
                d = PICK(words, m[1], m[3], 4, 5, 6, 7, 12, 13, 14, 15),
                ab0 = PICK(words, a, b, 0, 8, 1, 9, 4, 12, 5, 13),
                ab2 = PICK(words, a, b, 2, 10, 3, 11, 6, 14, 7, 15),
                cd0 = PICK(words, c, d, 0, 8, 1, 9, 4, 12, 5, 13),
                cd2 = PICK(words, c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    v[0] = PICK(longs, ab0, cd0, 0, 4, 2, 6);
    v[1] = PICK(longs, ab0, cd0, 1, 5, 3, 7);
    v[2] = PICK(longs, ab2, cd2, 0, 4, 2, 6);
    v[3] = PICK(longs, ab2, cd2, 1, 5, 3, 7);
}

VECTOR void rows32(const longs v[4], longs m[4])
{
    /* a to d as above */
    const longs p = PICK(words, v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13),
                q = PICK(words, v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15),
                r = PICK(words, v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13),
                s = PICK(words, v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15),
                a = PICK(longs, p, r, 0, 4, 2, 6), b = PICK(longs, p, r, 1, 5, 3, 7),
                c = PICK(longs, q, s, 0, 4, 2, 6), d = PICK(longs, q, s, 1, 5, 3, 7);
    m[0] = PICK(longs, a, b, 0, 1, 4, 5);
    m[1] = PICK(longs, c, d, 0, 1, 4, 5);
    m[2] = PICK(longs, a, b, 2, 3, 6, 7);
    m[3] = PICK(longs, c, d, 2, 3, 6, 7);
}

enum { SIDE = 32 };

/* 32 reals of 8 bytes. Word l of v[k] is real 8 l + k; transposed, it is byte k of reals 8 l to
 * 8 l + 7. */
VECTOR void many64(const unsigned char *raw, size_t count, unsigned char *planes)
{
    longs m[8], v[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        m[k] = ((const stored *)raw)[k];
    columns64(m, v);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        v[k] = v[k] << 1 | v[k] >> 63;
    TRANSPOSE8(v);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        *(stored *)(planes + (size_t)(7 - k) * count) = v[k];
}

VECTOR void back64(const unsigned char *planes, size_t count, unsigned char *raw)
{
    longs m[8], v[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        v[k] = *(const stored *)(planes + (size_t)(7 - k) * count);
    TRANSPOSE8(v);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        v[k] = v[k] >> 1 | v[k] << 63;
    rows64(v, m);
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++)
        ((stored *)raw)[k] = m[k];
}

/* 32 reals of 4 bytes. Word l of v[k] is real 4 l + k; transposed, it is byte k of reals 4 l to
 * 4 l + 3. */
VECTOR void many32(const unsigned char *raw, size_t count, unsigned char *planes)
{
    longs m[4], v[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        m[k] = ((const stored *)raw)[k];
    columns32(m, v);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const words w = (words)v[k];
        v[k] = (longs)(w << 1 | w >> 31);
    }
    TRANSPOSE4(v);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        *(stored *)(planes + (size_t)(3 - k) * count) = v[k];
}

VECTOR void back32(const unsigned char *planes, size_t count, unsigned char *raw)
{
    longs m[4], v[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        v[k] = *(const stored *)(planes + (size_t)(3 - k) * count);
    TRANSPOSE4(v);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++) {
        const words w = (words)v[k];
        v[k] = (longs)(w >> 1 | w << 31);
    }
    rows32(v, m);
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
        ((stored *)raw)[k] = m[k];
}

/* As many reals as vectors take; returns how many. */
#define IN_VECTORS(name, call) \
    __attribute__((target("avx2"))) static size_t name(const unsigned char *from, size_t count, \
                                                       unsigned char *to) \
    { \
        size_t i = 0; \
        for (; i + SIDE <= count; i += SIDE) \
            call; \
        return i; \
    }
IN_VECTORS(filter64_in_vectors, many64(from + 8 * i, count, to + i))
IN_VECTORS(unfilter64_in_vectors, back64(from + i, count, to + 8 * i))
IN_VECTORS(filter32_in_vectors, many32(from + 4 * i, count, to + i))
IN_VECTORS(unfilter32_in_vectors, back32(from + i, count, to + 4 * i))

#define WIDE(name, from, count, to) \
    (lat_isa_widest() >= LAT_ISA_AVX2 ? name##_in_vectors(from, count, to) : 0)
#else
#define WIDE(name, from, count, to) 0
#endif

/* ---- what others call ------------------------------------------------------------------------ */

void lat_filter(const void *raw, size_t n, int real, void *planes)
{
    const size_t count = n / (size_t)real;
    if (real == 8)
        filter_rest(raw, count, filter64(raw, count, WIDE(filter64, raw, count, planes), planes), 8,
                    planes);
    else if (real == 4)
        filter_rest(raw, count, filter32(raw, count, WIDE(filter32, raw, count, planes), planes), 4,
                    planes);
    else
        memcpy(planes, raw, n);
}

void lat_unfilter(const void *planes, size_t n, int real, void *raw)
{
    const size_t count = n / (size_t)real;
    if (real == 8)
        unfilter_rest(planes, count,
                      unfilter64(planes, count, WIDE(unfilter64, planes, count, raw), raw), 8, raw);
    else if (real == 4)
        unfilter_rest(planes, count,
                      unfilter32(planes, count, WIDE(unfilter32, planes, count, raw), raw), 4, raw);
    else
        memcpy(raw, planes, n);
}
