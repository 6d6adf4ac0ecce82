/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.c: one zlib stream (RFC 1950, 1951) for each block.
 *
 * Only the exponents of links can be compressed. The mantissas are noise, and zlib, which searches
 * them for repetitions, is slow on gauge fields (40 MB/s, for 4 %). So the filter (filter.c) brings
 * the exponents together in byte planes, and the histogram of each plane decides: it is stored; or
 * coded by huffman.c, with or without runs of one byte. The parts, each of which begins at a byte,
 * are one ordinary zlib stream. */
#include <math.h>
#include <stdint.h>
#include "codec.h"
#include "deflate.h"
#include "huffman_internal.h"

#define MAX_BYTES ((size_t)1 << 30) /* libraries count in 32 bits */

enum { SAMPLE = 1024 }; /* bytes of each 16 as many of a plane that choose its method */

/* How a plane is put. */
typedef enum { PUT_STORED, PUT_HUFFMAN, PUT_RUNS } put_method;

/* The method for n bytes, by a sample of them. Above 7 bits of entropy a byte Huffman's code would
 * save less than an eighth of a plane, as in the second one of doubles, and take a third of the
 * time in which a block is packed, half of that to unpack it. Where most bytes are as the one
 * before, runs take less than one bit a byte, which is the least that Huffman's code takes. */
static put_method choose(const unsigned char *p, size_t n)
{
    const size_t piece = SAMPLE, step = n < 32 * piece ? piece : 16 * piece;
    uint32_t count[4][256] = {{0}}, largest = 0;
    size_t sample = 0, same = 0;
    double bits = 0;
    for (size_t at = 0; at < n; at += step) {
        const size_t m = n - at < piece ? n - at : piece;
        lat_count_bytes(count, p + at, m);
        sample += m;
    }
    for (int v = 0; v < 256; v++) {
        count[0][v] += count[1][v] + count[2][v] + count[3][v];
        largest = count[0][v] > largest ? count[0][v] : largest;
    }
    if (128 * (size_t)largest < sample) /* no byte has fewer than 7 bits, as in noise */
        return PUT_STORED;
    for (int v = 0; v < 256; v++)
        if (count[0][v])
            bits += count[0][v] * log2((double)sample / count[0][v]);
    if (bits > 7 * (double)sample)
        return PUT_STORED;
    for (size_t at = 0; at < n; at += step)
        for (size_t i = at + 1; i < n && i < at + piece; i++)
            same += p[i] == p[i - 1];
    return 5 * same > 3 * sample ? PUT_RUNS : PUT_HUFFMAN;
}

static unsigned char *put_as(put_method how, unsigned char *out, const unsigned char *p, size_t n)
{
    return how == PUT_STORED ? lat_put_stored(out, p, n)
                             : lat_put_huffman(out, how == PUT_RUNS, p, n);
}

/* All planes as deflate blocks; neighbouring planes with the same method together. */
static unsigned char *put_planes(unsigned char *out, const unsigned char *planes, size_t n,
                                 int real)
{
    size_t size = n / (size_t)real, begin = 0;
    put_method last = PUT_STORED;
    for (size_t at = 0; at < n; at += size) {
        put_method how = choose(planes + at, size);
        if (how != last)
            out = put_as(last, out, planes + begin, at - begin);
        if (how != last)
            begin = at;
        last = how;
    }
    return put_as(last, out, planes + begin, n - begin);
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
    *out++ = 0x03; /* the last block: fixed codes, empty */
    *out++ = 0x00;
    const uint32_t check = lat_adler(work, n);
    for (int shift = 24; shift >= 0; shift -= 8)
        *out++ = (unsigned char)(check >> shift);
    return (size_t)(out - (unsigned char *)packed);
}

int lat_codec_unpack(const void *packed, size_t size, int real, void *work, void *raw, size_t n)
{
    if (n > MAX_BYTES || size > 2 * MAX_BYTES || (real != 1 && real != 4 && real != 8)
        || n % (size_t)real || lat_inflate(packed, size, real == 1 ? raw : work, n) < 0)
        return -1;
    if (real != 1)
        lat_unfilter(work, n, real, raw);
    return 0;
}
