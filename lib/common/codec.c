/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.c: filter, and one zlib stream a block, each byte plane deflated as it deserves.
 *
 * Of a link only the exponent can be compressed: the mantissa is noise, and to search it for
 * repetitions is what makes zlib slow on gauge fields (40 MB/s, to save 4 %). So the filter
 * brings all exponents together, and for each byte plane its histogram decides whether deflate
 * looks at it at all. The pieces are put together by hand into one ordinary zlib stream
 * (RFC 1950, 1951): stored planes are copied, the others go through deflate, which ends each
 * with a sync flush, so that every piece begins at a byte. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include "codec.h"

#define MAX_STORED 65535u          /* bytes of one stored block of deflate */
#define MAX_BYTES ((size_t)1 << 30)  /* zlib counts in 32 bits */

/* ---- filter ------------------------------------------------------------------------------ */

/* Eight bytes with the first in the low bits, whatever the machine. */
static inline uint64_t load64(const unsigned char *p)
{
    uint64_t w;
    memcpy(&w, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    return w;
}

static inline void store64(unsigned char *p, uint64_t w)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    w = __builtin_bswap64(w);
#endif
    memcpy(p, &w, 8);
}

/* Exchanges the bits of a above `shift` that `mask` keeps with those of b. */
#define SWAP(a, b, shift, mask) do { \
    uint64_t t_ = ((a) >> (shift) ^ (b)) & (mask); \
    (b) ^= t_; \
    (a) ^= t_ << (shift); \
} while (0)

/* Eight rows of eight bytes become columns; its own inverse. */
static inline void transpose8(uint64_t w[8])
{
    for (int i = 0; i < 4; i++)
        SWAP(w[i], w[i + 4], 32, UINT64_C(0x00000000ffffffff));
    for (int i = 0; i < 8; i += 4)
        for (int k = i; k < i + 2; k++)
            SWAP(w[k], w[k + 2], 16, UINT64_C(0x0000ffff0000ffff));
    for (int i = 0; i < 8; i += 2)
        SWAP(w[i], w[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
}

/* The same for two 4 by 4 squares, one in each half. */
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

static void filter64(const unsigned char *raw, size_t count, unsigned char *planes)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t w[8];
        memcpy(w, raw + 8 * i, sizeof w);
        for (int k = 0; k < 8; k++)
            w[k] = left64(w[k]);
        transpose8(w);
        for (size_t p = 0; p < 8; p++)
            store64(planes + p * count + i, w[7 - p]);
    }
    for (; i < count; i++) {
        uint64_t w;
        memcpy(&w, raw + 8 * i, 8);
        w = left64(w);
        for (size_t p = 0; p < 8; p++)
            planes[p * count + i] = (unsigned char)(w >> (56 - 8 * p));
    }
}

static void unfilter64(const unsigned char *planes, size_t count, unsigned char *raw)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t w[8];
        for (size_t p = 0; p < 8; p++)
            w[7 - p] = load64(planes + p * count + i);
        transpose8(w);
        for (int k = 0; k < 8; k++)
            w[k] = right64(w[k]);
        memcpy(raw + 8 * i, w, sizeof w);
    }
    for (; i < count; i++) {
        uint64_t w = 0;
        for (size_t p = 0; p < 8; p++)
            w = w << 8 | planes[p * count + i];
        w = right64(w);
        memcpy(raw + 8 * i, &w, 8);
    }
}

static void filter32(const unsigned char *raw, size_t count, unsigned char *planes)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint32_t a[8];
        uint64_t w[4];
        memcpy(a, raw + 4 * i, sizeof a);
        for (int k = 0; k < 4; k++)
            w[k] = left32(a[k]) | (uint64_t)left32(a[k + 4]) << 32;
        transpose4(w);
        for (size_t p = 0; p < 4; p++)
            store64(planes + p * count + i, w[3 - p]);
    }
    for (; i < count; i++) {
        uint32_t w;
        memcpy(&w, raw + 4 * i, 4);
        w = left32(w);
        for (size_t p = 0; p < 4; p++)
            planes[p * count + i] = (unsigned char)(w >> (24 - 8 * p));
    }
}

static void unfilter32(const unsigned char *planes, size_t count, unsigned char *raw)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint32_t a[8];
        uint64_t w[4];
        for (size_t p = 0; p < 4; p++)
            w[3 - p] = load64(planes + p * count + i);
        transpose4(w);
        for (int k = 0; k < 4; k++) {
            a[k] = right32((uint32_t)w[k]);
            a[k + 4] = right32((uint32_t)(w[k] >> 32));
        }
        memcpy(raw + 4 * i, a, sizeof a);
    }
    for (; i < count; i++) {
        uint32_t w = 0;
        for (size_t p = 0; p < 4; p++)
            w = w << 8 | planes[p * count + i];
        w = right32(w);
        memcpy(raw + 4 * i, &w, 4);
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

/* ---- pack -------------------------------------------------------------------------------- */

typedef enum { STORED, HUFFMAN, RUNS } method;

/* How to deflate n bytes, from their histogram. Above 7.85 of 8 bits of entropy Huffman's code
 * saves less than 2 %, not worth its time; where one byte dominates, run lengths cost less than
 * the one bit a byte that Huffman's code cannot go below. */
static method choose(const unsigned char *p, size_t n)
{
    uint32_t count[4][256] = {{0}};   /* four, so that equal neighbours do not wait for each other */
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        count[0][p[i]]++;
        count[1][p[i + 1]]++;
        count[2][p[i + 2]]++;
        count[3][p[i + 3]]++;
    }
    for (; i < n; i++)
        count[0][p[i]]++;
    uint32_t most = 0;
    double bits = 0;
    for (int v = 0; v < 256; v++) {
        uint32_t c = count[0][v] + count[1][v] + count[2][v] + count[3][v];
        if (c > most)
            most = c;
        if (c)
            bits += c * log2((double)n / c);
    }
    return bits > 7.85 * (double)n ? STORED : most > 0.8 * (double)n ? RUNS : HUFFMAN;
}

static size_t stored_size(size_t n)
{
    return n + 5 * ((n + MAX_STORED - 1) / MAX_STORED);
}

/* Stored blocks, none of them the last (RFC 1951, 3.2.4). */
static unsigned char *put_stored(unsigned char *out, const unsigned char *p, size_t n)
{
    while (n) {
        unsigned length = n < MAX_STORED ? (unsigned)n : MAX_STORED;
        *out++ = 0;
        *out++ = (unsigned char)length;
        *out++ = (unsigned char)(length >> 8);
        *out++ = (unsigned char)~length;
        *out++ = (unsigned char)(~length >> 8);
        memcpy(out, p, length);
        out += length, p += length, n -= length;
    }
    return out;
}

/* Blocks by deflate, none the last, ending at a byte; stored ones if those are not longer.
 * NULL on failure. */
static unsigned char *put_deflated(z_stream *z, unsigned char *out, const unsigned char *p, size_t n,
                                   method how)
{
    size_t room = stored_size(n);
    if (deflateReset(z) != Z_OK || deflateParams(z, 1, how == RUNS ? Z_RLE : Z_HUFFMAN_ONLY) != Z_OK)
        return NULL;
    z->next_in = (Bytef *)(uintptr_t)p;
    z->avail_in = (uInt)n;
    z->next_out = out;
    z->avail_out = (uInt)room;
    int rc = deflate(z, Z_SYNC_FLUSH);
    if (rc != Z_OK && rc != Z_BUF_ERROR)
        return NULL;
    if (z->avail_in || z->avail_out == 0)   /* no room left: maybe not all was flushed */
        return put_stored(out, p, n);
    return out + (room - z->avail_out);
}

size_t lat_codec_bound(size_t n)
{
    /* header and check 6, the empty last block 2, and each of 8 planes may round up once */
    return stored_size(n) + 5 * 8 + 8;
}

/* The pieces of a deflate stream for `planes`: neighbours of one kind go together. */
static unsigned char *put_planes(z_stream *z, unsigned char *out, const unsigned char *planes, size_t n,
                                 int real)
{
    size_t size = n / (size_t)real, begin = 0;
    method last = STORED;
    for (size_t at = 0; at < n && out; at += size) {
        method how = choose(planes + at, size);
        if (how == last)
            continue;
        out = last == STORED ? put_stored(out, planes + begin, at - begin)
                             : put_deflated(z, out, planes + begin, at - begin, last);
        begin = at;
        last = how;
    }
    if (!out || begin == n)
        return out;
    return last == STORED ? put_stored(out, planes + begin, n - begin)
                          : put_deflated(z, out, planes + begin, n - begin, last);
}

size_t lat_codec_pack(const void *raw, size_t n, int real, void *work, void *packed)
{
    z_stream z = {0};
    unsigned char *out = packed;
    if (n > MAX_BYTES || (real != 1 && real != 4 && real != 8) || n % (size_t)real ||
        deflateInit2(&z, 1, Z_DEFLATED, -15, 9, Z_HUFFMAN_ONLY) != Z_OK)
        return 0;
    lat_filter(raw, n, real, work);
    *out++ = 0x78;   /* deflate, window of 32 KiB; level "fastest" and the check of both: RFC 1950 */
    *out++ = 0x01;
    out = put_planes(&z, out, work, n, real);
    deflateEnd(&z);
    if (!out)
        return 0;
    *out++ = 0x03;   /* the last block: fixed codes, nothing in it */
    *out++ = 0x00;
    uLong check = adler32_z(1, work, n);
    for (int shift = 24; shift >= 0; shift -= 8)
        *out++ = (unsigned char)(check >> shift);
    return (size_t)(out - (unsigned char *)packed);
}

/* ---- unpack ------------------------------------------------------------------------------ */

int lat_codec_unpack(const void *packed, size_t size, int real, void *work, void *raw, size_t n)
{
    z_stream z = {0};
    if (n > MAX_BYTES || size > 2 * MAX_BYTES || (real != 1 && real != 4 && real != 8) ||
        n % (size_t)real)
        return -1;
    z.next_in = (Bytef *)(uintptr_t)packed;
    z.avail_in = (uInt)size;
    if (inflateInit(&z) != Z_OK)
        return -1;
    z.next_out = real == 1 ? raw : work;
    z.avail_out = (uInt)n;
    int rc = inflate(&z, Z_FINISH);
    bool good = rc == Z_STREAM_END && z.avail_in == 0 && z.avail_out == 0;
    inflateEnd(&z);
    if (!good)
        return -1;
    if (real != 1)
        lat_unfilter(work, n, real, raw);
    return 0;
}
