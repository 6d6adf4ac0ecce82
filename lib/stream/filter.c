/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.c: reals into byte planes and back: 8 at a time in words of 64 bits; 32, or 64, in vectors
 * where the processor has AVX2. */
#include <stdint.h>
#include <string.h>
#include "base/bytes.h"
#include "base/isa.h"
#include "codec.h"

/* Exchanges those bits of a that `mask << shift` has with those of b that `mask` has. */
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

#define VECTOR LAT_TARGET_AVX2("") __attribute__((always_inline)) static inline

/* Two halves of 16 bytes, in which the instructions work apart. */
typedef uint8_t bytes __attribute__((vector_size(32)));
typedef uint32_t words __attribute__((vector_size(32)));
typedef uint64_t u64x4 __attribute__((vector_size(32)));

/* Anywhere in memory; by a load: memcpy would go through memory, in halves. */
typedef uint8_t stored __attribute__((vector_size(32), aligned(1), may_alias));
typedef uint8_t half __attribute__((vector_size(16), aligned(1), may_alias));

/* Bytes of two vectors in turn: of the low 8 bytes of each half, of the high ones. */
#define IN_TURN(a, b, i, j) \
    __builtin_shufflevector(a, b, i, i + 32, i + 1, i + 33, i + 2, i + 34, i + 3, i + 35, i + 4, \
                            i + 36, i + 5, i + 37, i + 6, i + 38, i + 7, i + 39, j, j + 32, j + 1, \
                            j + 33, j + 2, j + 34, j + 3, j + 35, j + 4, j + 36, j + 5, j + 37, \
                            j + 6, j + 38, j + 7, j + 39)

#define LOW(a, b) IN_TURN(a, b, 0, 16)
#define HIGH(a, b) IN_TURN(a, b, 8, 24)

/* One half of all vectors, one after the other, has 128 bytes, or 64: w has the first half of these
 * bytes and the second in turn, so that the bits of a byte's number rotate left by one. */
VECTOR void in_turn8(const bytes v[8], bytes w[8])
{
    w[0] = LOW(v[0], v[4]), w[1] = HIGH(v[0], v[4]);
    w[2] = LOW(v[1], v[5]), w[3] = HIGH(v[1], v[5]);
    w[4] = LOW(v[2], v[6]), w[5] = HIGH(v[2], v[6]);
    w[6] = LOW(v[3], v[7]), w[7] = HIGH(v[3], v[7]);
}

VECTOR void in_turn4(const bytes v[4], bytes w[4])
{
    w[0] = LOW(v[0], v[2]), w[1] = HIGH(v[0], v[2]);
    w[2] = LOW(v[1], v[3]), w[3] = HIGH(v[1], v[3]);
}

/* From two places, and to them. */
VECTOR bytes load_halves(const unsigned char *p, const unsigned char *q)
{
    return __builtin_shufflevector(*(const half *)p, *(const half *)q, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                   10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                   26, 27, 28, 29, 30, 31);
}

VECTOR void store_halves(unsigned char *p, unsigned char *q, bytes v)
{
    *(half *)p = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                         15);
    *(half *)q = __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
                                         29, 30, 31);
}

/* 32 reals of `real` bytes, 16 in each half of the vectors. The number of a byte has four bits for
 * the real, above two or three for the byte in it; among planes it is the other way round. many_8
 * and many_4 take 64 reals, as planes of a block are a power of two apart: all of them share the
 * same few lines of the first cache, so that each is written at once. */
#define TRANSPOSE_AND_BACK(real, type, to_planes, to_reals) \
    VECTOR void transpose_##real(const unsigned char *raw, bytes v[real]) \
    { \
        bytes w[real]; \
        _Pragma("GCC unroll 8") for (int k = 0; k < real; k++) \
        { \
            const type m = (type)load_halves(raw + 16 * k, raw + 16 * (real + k)); \
            v[k] = (bytes)(m << 1 | m >> (8 * sizeof m[0] - 1)); \
        } \
        to_planes; \
    } \
    VECTOR void many_##real(const unsigned char *raw, size_t count, unsigned char *planes) \
    { \
        bytes v[real], w[real]; \
        transpose_##real(raw, v); \
        transpose_##real(raw + 32 * real, w); \
        _Pragma("GCC unroll 8") for (int k = 0; k < real; k++) \
        { \
            stored *p = (stored *)(planes + (size_t)(real - 1 - k) * count); \
            p[0] = v[k]; \
            p[1] = w[k]; \
        } \
    } \
    VECTOR void back_##real(const unsigned char *planes, size_t count, unsigned char *raw) \
    { \
        bytes v[real], w[real]; \
        _Pragma("GCC unroll 8") for (int k = 0; k < real; k++) \
            v[k] = *(const stored *)(planes + (size_t)(real - 1 - k) * count); \
        to_reals; \
        _Pragma("GCC unroll 8") for (int k = 0; k < real; k++) \
        { \
            const type m = (type)v[k]; \
            store_halves(raw + 16 * k, raw + 16 * (real + k), \
                         (bytes)(m >> 1 | m << (8 * sizeof m[0] - 1))); \
        } \
    }
TRANSPOSE_AND_BACK(8, u64x4, (in_turn8(v, w), in_turn8(w, v), in_turn8(v, w), in_turn8(w, v)),
                   (in_turn8(v, w), in_turn8(w, v), in_turn8(v, w), memcpy(v, w, sizeof v)))
TRANSPOSE_AND_BACK(4, words, (in_turn4(v, w), in_turn4(w, v), in_turn4(v, w), in_turn4(w, v)),
                   (in_turn4(v, w), in_turn4(w, v)))

/* As many reals as vectors take; returns how many. */
#define IN_VECTORS(name, side, call) \
    LAT_TARGET_AVX2("") \
    static size_t name(const unsigned char *from, size_t count, unsigned char *to) \
    { \
        size_t i = 0; \
        for (; i + side <= count; i += side) \
            call; \
        return i; \
    }
IN_VECTORS(filter64_in_vectors, 64, many_8(from + 8 * i, count, to + i))
IN_VECTORS(unfilter64_in_vectors, 32, back_8(from + i, count, to + 8 * i))
IN_VECTORS(filter32_in_vectors, 64, many_4(from + 4 * i, count, to + i))
IN_VECTORS(unfilter32_in_vectors, 32, back_4(from + i, count, to + 4 * i))

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
