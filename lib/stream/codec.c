/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.c: the filter, and one zlib stream (RFC 1950, 1951) for each block.
 *
 * Only the exponents of links can be compressed. The mantissas are noise, and zlib, which searches
 * them for repetitions, is slow on gauge fields (40 MB/s, for 4 %). So the filter brings the
 * exponents together in byte planes, and the histogram of each plane decides: it is stored; or
 * coded by huffman.c; or, if one byte dominates, run-length coded by zlib. The parts, each of which
 * begins at a byte, are one ordinary zlib stream. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/bytes.h"
#include "codec.h"
#include "deflate.h"
#include "huffman_internal.h"

#define MAX_BYTES ((size_t)1 << 30) /* zlib counts in 32 bits */

/* ---- filter ---------------------------------------------------------------------------------- */

/* Exchanges those bits of a that `mask << shift` has with those of b that `mask` has. */
#define SWAP(a, b, shift, mask) \
    do { \
        uint64_t t_ = ((a) >> (shift) ^ (b)) & (mask); \
        (b) ^= t_; \
        (a) ^= t_ << (shift); \
    } while (0)

/* Transposes 8 by 8 bytes; its own inverse. Unrolled by hand, here and below: where the compiler
 * does not unroll, the arrays would be in memory. */
static inline void transpose8(uint64_t w[8])
{
    SWAP(w[0], w[4], 32, UINT64_C(0x00000000ffffffff));
    SWAP(w[1], w[5], 32, UINT64_C(0x00000000ffffffff));
    SWAP(w[2], w[6], 32, UINT64_C(0x00000000ffffffff));
    SWAP(w[3], w[7], 32, UINT64_C(0x00000000ffffffff));
    SWAP(w[0], w[2], 16, UINT64_C(0x0000ffff0000ffff));
    SWAP(w[1], w[3], 16, UINT64_C(0x0000ffff0000ffff));
    SWAP(w[4], w[6], 16, UINT64_C(0x0000ffff0000ffff));
    SWAP(w[5], w[7], 16, UINT64_C(0x0000ffff0000ffff));
    SWAP(w[0], w[1], 8, UINT64_C(0x00ff00ff00ff00ff));
    SWAP(w[2], w[3], 8, UINT64_C(0x00ff00ff00ff00ff));
    SWAP(w[4], w[5], 8, UINT64_C(0x00ff00ff00ff00ff));
    SWAP(w[6], w[7], 8, UINT64_C(0x00ff00ff00ff00ff));
}

/* Transposes two 4 by 4 squares of bytes, one in each half of the words. */
static inline void transpose4(uint64_t w[4])
{
    SWAP(w[0], w[2], 16, UINT64_C(0x0000ffff0000ffff));
    SWAP(w[1], w[3], 16, UINT64_C(0x0000ffff0000ffff));
    SWAP(w[0], w[1], 8, UINT64_C(0x00ff00ff00ff00ff));
    SWAP(w[2], w[3], 8, UINT64_C(0x00ff00ff00ff00ff));
}

static inline uint64_t left64(uint64_t w) { return w << 1 | w >> 63; }
static inline uint64_t right64(uint64_t w) { return w >> 1 | w << 63; }
static inline uint32_t left32(uint32_t w) { return w << 1 | w >> 31; }
static inline uint32_t right32(uint32_t w) { return w >> 1 | w << 31; }

static inline uint64_t native64(const unsigned char *p) { return lat_load64(p, false); }
static inline uint32_t native32(const unsigned char *p) { return lat_load32(p, false); }

static void filter64(const unsigned char *raw, size_t count, unsigned char *planes)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const unsigned char *r = raw + 8 * i;
        uint64_t w[8] = {left64(native64(r)),      left64(native64(r + 8)),
                         left64(native64(r + 16)), left64(native64(r + 24)),
                         left64(native64(r + 32)), left64(native64(r + 40)),
                         left64(native64(r + 48)), left64(native64(r + 56))};
        transpose8(w);
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
    for (; i < count; i++) {
        uint64_t w = left64(native64(raw + 8 * i));
        for (size_t p = 0; p < 8; p++)
            planes[p * count + i] = (unsigned char)(w >> (56 - 8 * p));
    }
}

static void unfilter64(const unsigned char *planes, size_t count, unsigned char *raw)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const unsigned char *p = planes + i;
        uint64_t w[8] = {lat_load_le64(p + 7 * count), lat_load_le64(p + 6 * count),
                         lat_load_le64(p + 5 * count), lat_load_le64(p + 4 * count),
                         lat_load_le64(p + 3 * count), lat_load_le64(p + 2 * count),
                         lat_load_le64(p + count),     lat_load_le64(p)};
        transpose8(w);
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
    for (; i < count; i++) {
        uint64_t w = 0;
        for (size_t p = 0; p < 8; p++)
            w = w << 8 | planes[p * count + i];
        lat_store64(raw + 8 * i, right64(w), false);
    }
}

static void filter32(const unsigned char *raw, size_t count, unsigned char *planes)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const unsigned char *r = raw + 4 * i;
        uint64_t w[4] = {left32(native32(r)) | (uint64_t)left32(native32(r + 16)) << 32,
                         left32(native32(r + 4)) | (uint64_t)left32(native32(r + 20)) << 32,
                         left32(native32(r + 8)) | (uint64_t)left32(native32(r + 24)) << 32,
                         left32(native32(r + 12)) | (uint64_t)left32(native32(r + 28)) << 32};
        transpose4(w);
        unsigned char *p = planes + i;
        lat_store_le64(p, w[3]);
        lat_store_le64(p + count, w[2]);
        lat_store_le64(p + 2 * count, w[1]);
        lat_store_le64(p + 3 * count, w[0]);
    }
    for (; i < count; i++) {
        uint32_t w = left32(native32(raw + 4 * i));
        for (size_t p = 0; p < 4; p++)
            planes[p * count + i] = (unsigned char)(w >> (24 - 8 * p));
    }
}

static void unfilter32(const unsigned char *planes, size_t count, unsigned char *raw)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const unsigned char *p = planes + i;
        uint64_t w[4] = {lat_load_le64(p + 3 * count), lat_load_le64(p + 2 * count),
                         lat_load_le64(p + count), lat_load_le64(p)};
        transpose4(w);
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
    for (; i < count; i++) {
        uint32_t w = 0;
        for (size_t p = 0; p < 4; p++)
            w = w << 8 | planes[p * count + i];
        lat_store32(raw + 4 * i, right32(w), false);
    }
}

void lat_filter(const void *raw, size_t n, int real, void *planes)
{
    if (real == 8)
        filter64(raw, n / 8, planes);
    else if (real == 4)
        filter32(raw, n / 4, planes);
    else
        memcpy(planes, raw, n);
}

void lat_unfilter(const void *planes, size_t n, int real, void *raw)
{
    if (real == 8)
        unfilter64(planes, n / 8, raw);
    else if (real == 4)
        unfilter32(planes, n / 4, raw);
    else
        memcpy(raw, planes, n);
}

/* ---- pack ------------------------------------------------------------------------------------ */

typedef enum { STORED, HUFFMAN, RUNS } method;

/* The method for n bytes, by the histogram of a sample of them. Above 7.85 bits of entropy a byte
 * Huffman's code would save less than 2 %. Where one byte dominates, run lengths take less than one
 * bit a byte, which is the least that Huffman's code takes. */
static method choose(const unsigned char *p, size_t n)
{
    const size_t piece = 1024, step = n < 32 * piece ? piece : 4 * piece;
    uint32_t count[4][256] = {{0}}, most = 0;
    size_t sample = 0;
    double bits = 0;
    for (size_t at = 0; at < n; at += step) {
        size_t m = n - at < piece ? n - at : piece;
        lat_count_bytes(count, p + at, m);
        sample += m;
    }
    for (int v = 0; v < 256; v++) {
        uint32_t c = count[0][v] + count[1][v] + count[2][v] + count[3][v];
        if (c > most)
            most = c;
        if (c)
            bits += c * log2((double)sample / c);
    }
    return bits > 7.85 * (double)sample ? STORED : most > 0.8 * (double)sample ? RUNS : HUFFMAN;
}

/* ---- planes ---------------------------------------------------------------------------------- */

/* Run lengths by zlib, padded to a byte, no block marked as the last; stored blocks if those are
 * not longer. Returns the end, or NULL if there is no memory. */
static unsigned char *put_runs(unsigned char *out, const unsigned char *p, size_t n)
{
    z_stream z = {0};
    size_t capacity = lat_stored_size(n);
    if (deflateInit2(&z, 1, Z_DEFLATED, -15, 9, Z_RLE) != Z_OK)
        return NULL;
    z.next_in = (Bytef *)(uintptr_t)p;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)capacity;
    int rc = deflate(&z, Z_SYNC_FLUSH);
    deflateEnd(&z);
    if (rc != Z_OK && rc != Z_BUF_ERROR)
        return NULL;
    if (z.avail_in || z.avail_out == 0) /* full: maybe not all was flushed */
        return lat_put_stored(out, p, n);
    return out + (capacity - z.avail_out);
}

static unsigned char *put_as(method how, unsigned char *out, const unsigned char *p, size_t n)
{
    return how == STORED ? lat_put_stored(out, p, n)
           : how == RUNS ? put_runs(out, p, n)
                         : lat_put_huffman(out, p, n);
}

size_t lat_codec_bound(size_t n)
{
    /* Header and checksum are 6 bytes, the empty last block 2. Each of 8 planes, and each LAT_CODED
     * bytes in them, may round up to another stored block. The bit writer needs up to 8 bytes more.
     */
    return lat_stored_size(n) + 5 * (n / LAT_CODED + 8) + 16;
}

/* All planes as deflate blocks; neighbouring planes with the same method together. */
static unsigned char *put_planes(unsigned char *out, const unsigned char *planes, size_t n,
                                 int real)
{
    size_t size = n / (size_t)real, begin = 0;
    method last = STORED;
    for (size_t at = 0; at < n && out; at += size) {
        method how = choose(planes + at, size);
        if (how != last)
            out = put_as(last, out, planes + begin, at - begin);
        if (how != last)
            begin = at;
        last = how;
    }
    return out ? put_as(last, out, planes + begin, n - begin) : NULL;
}

size_t lat_codec_pack(const void *raw, size_t n, int real, void *work, void *packed)
{
    unsigned char *out = packed;
    if (n > MAX_BYTES || (real != 1 && real != 4 && real != 8) || n % (size_t)real)
        return 0;
    lat_filter(raw, n, real, work);
    *out++ = 0x78; /* RFC 1950: deflate, window of 32 KiB; level "fastest", check bits */
    *out++ = 0x01;
    out = put_planes(out, work, n, real);
    if (!out)
        return 0;
    *out++ = 0x03; /* the last block: fixed codes, empty */
    *out++ = 0x00;
    const uint32_t check = lat_adler(work, n);
    for (int shift = 24; shift >= 0; shift -= 8)
        *out++ = (unsigned char)(check >> shift);
    return (size_t)(out - (unsigned char *)packed);
}

/* ---- unpack ---------------------------------------------------------------------------------- */

int lat_codec_unpack(const void *packed, size_t size, int real, void *work, void *raw, size_t n)
{
    if (n > MAX_BYTES || size > 2 * MAX_BYTES || (real != 1 && real != 4 && real != 8)
        || n % (size_t)real || lat_inflate(packed, size, real == 1 ? raw : work, n) < 0)
        return -1;
    if (real != 1)
        lat_unfilter(work, n, real, raw);
    return 0;
}
