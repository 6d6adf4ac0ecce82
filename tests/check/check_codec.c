/* SPDX-License-Identifier: BSD-3-Clause */
/* check_codec.c: filter and compressed blocks give back every bit of any numbers; zlib reads what
 * they write; damaged blocks are refused. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "check.h"
#include "lattice/reals.h"
#include "stream/codec.h"
#include "stream/deflate.h"

#define MAX_N ((size_t)1200000)

static unsigned char raw[MAX_N], work[MAX_N], back[MAX_N], *packed;

/* Bytes that lat_codec_pack may write for n raw bytes. Header and checksum are 6 bytes, the empty
 * last block 2. Stored blocks of 65535 bytes have a head of 5; each of 8 planes, and each 2^17
 * bytes in them, may round up to another one. The bit writer needs up to 8 bytes more. */
static size_t bound(size_t n) { return n + 5 * ((n + 65534) / 65535 + (n >> 17) + 8) + 16; }

/* xorshift64*, so that a failure comes again. */
static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
static uint64_t random64(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static double uniform(void) { return (double)(random64() >> 11) * 0x1p-53; }

/* Bytes v with probability 0.618^v: the tree that Huffman makes of them is as deep as can be,
 * deeper than the 15 levels that deflate allows. */
static uint64_t golden(void)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | (uint64_t)(log(1 - uniform()) / log(0.6180339887498949)) % 256;
    return bits;
}

/* Runs of one value, short ones and long ones: beyond 258, the longest match of deflate, and beyond
 * RUNS_AT_ONCE of huffman.c. */
static uint64_t run(size_t i)
{
    static uint64_t value;
    static size_t left;
    if (i == 0 || left == 0) {
        value = random64();
        left = 1 + (size_t)(random64() % 8 ? random64() % 6 : random64() % 2000);
    }
    left--;
    return value;
}

/* The bits of one real of a kind. */
static uint64_t make(int kind, int real, size_t i)
{
    double x = 0;
    float s;
    uint64_t bits = 0;
    uint64_t sign = random64() << (real == 8 ? 63 : 31);
    uint64_t exponent = real == 8 ? UINT64_C(0x7ff) << 52 : UINT64_C(0xff) << 23;
    uint64_t mantissa = random64()
                        & (real == 8 ? (UINT64_C(1) << 52) - 1 : (UINT64_C(1) << 23) - 1);
    switch (kind) {
    case 0: return random64();                 /* any bits */
    case 1: return 0;                          /* zero */
    case 2: x = 1; break;                      /* constant */
    case 3: return mantissa | sign;            /* denormal */
    case 4: return exponent | mantissa | sign; /* NaN with all payloads */
    case 5: return exponent | sign;            /* infinite */
    case 6:
        x = (2 * uniform() - 1) * (1 + 1e-7 * uniform());
        break;                             /* like links, noise to the last bit */
    case 7: x = i % 18 % 8 == 0; break;    /* unit matrices */
    case 8: return i % 2 ? random64() : 0; /* noise every other */
    case 9: return golden();               /* Huffman codes of all lengths, and longer */
    case 10: return run(i);
    default: x = (float)(2 * uniform() - 1); break; /* single precision in double */
    }
    if (real == 8)
        memcpy(&bits, &x, 8);
    else {
        s = (float)x;
        memcpy(&bits, &s, 4);
    }
    return bits;
}
#define KINDS 12

static void fill(int kind, int real, size_t n)
{
    for (size_t i = 0; i < n / (size_t)real; i++) {
        uint64_t bits = make(kind, real, i);
        uint32_t low = (uint32_t)bits;
        memcpy(raw + i * (size_t)real, real == 8 ? (void *)&bits : (void *)&low, (size_t)real);
    }
}

/* Packs n bytes, inflates them by zlib alone, unpacks them, unfilters by the definition. */
static void there_and_back(int kind, int real, size_t n)
{
    uLongf plain = (uLongf)n;
    size_t size = lat_codec_pack(raw, n, real, work, packed);
    if (!CHECK(size > 0 && size <= bound(n), "kind %d real %d n %zu: %zu", kind, real, n, size))
        return;
    memset(back, 0x55, n);
    CHECK(lat_codec_unpack(packed, size, real, work, back, n) == 0 && memcmp(raw, back, n) == 0,
          "kind %d real %d n %zu", kind, real, n);
    memset(back, 0x55, n);
    CHECK(uncompress(back, &plain, packed, (uLong)size) == Z_OK && plain == n,
          "zlib: kind %d real %d n %zu", kind, real, n);
    lat_filter(raw, n, real, work);
    CHECK(memcmp(work, back, n) == 0, "zlib inflates to something else: kind %d real %d n %zu",
          kind, real, n);
}

/* The filter as docs/format.md defines it, a bit at a time. */
static void filter_by_definition(int real, size_t n, unsigned char *planes)
{
    size_t count = n / (size_t)real;
    int bits = 8 * real;
    for (size_t i = 0; i < count; i++) {
        uint64_t w = 0, r = 0;
        uint32_t low;
        memcpy(real == 8 ? (void *)&w : (void *)&low, raw + i * (size_t)real, (size_t)real);
        if (real == 4)
            w = low;
        for (int b = 0; b < bits; b++)
            if (w >> b & 1)
                r |= UINT64_C(1) << (b + 1) % bits;
        for (int p = 0; p < real; p++)
            planes[(size_t)p * count + i] = (unsigned char)(r >> (bits - 8 - 8 * p));
    }
}

static void check_filter(int real)
{
    static unsigned char planes[4096];
    for (size_t count = 0; count < 70; count++) {
        size_t n = count * (size_t)real;
        fill(0, real, n);
        lat_filter(raw, n, real, work);
        filter_by_definition(real, n, planes);
        CHECK(memcmp(work, planes, n) == 0, "real %d count %zu", real, count);
        lat_unfilter(work, n, real, back);
        CHECK(memcmp(raw, back, n) == 0, "real %d count %zu", real, count);
    }
}

/* Around what the code treats by eights, stored blocks by 65535, deflate by its window. */
static void check_sizes(int real)
{
    const size_t near[] = {8,     16,     64,     4096,      32768,     65535,
                           65536, 131070, 262144, 32768 * 8, 65535 * 4, 131072 * 8};
    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t count = 1; count <= 20; count++) {
            fill(kind, real, count * (size_t)real);
            there_and_back(kind, real, count * (size_t)real);
        }
        for (size_t s = 0; s < sizeof near / sizeof *near; s++)
            for (int off = -1; off <= 1; off++) {
                size_t n = (near[s] / (size_t)real + (size_t)off) * (size_t)real;
                if (n == 0 || n > MAX_N)
                    continue;
                fill(kind, real, n);
                there_and_back(kind, real, n);
            }
    }
}

/* No change of a byte may go unnoticed and give other numbers: the adler32 of zlib sees to it. */
static void check_damage(int real)
{
    size_t n = 1200 * (size_t)real;
    for (int kind = 0; kind < KINDS; kind++) {
        fill(kind, real, n);
        size_t size = lat_codec_pack(raw, n, real, work, packed);
        for (int t = 0; t < 400; t++) {
            size_t at = random64() % size;
            unsigned char flip = (unsigned char)(1u << random64() % 8);
            packed[at] ^= flip;
            int rc = lat_codec_unpack(packed, size, real, work, back, n);
            CHECK(rc < 0 || memcmp(raw, back, n) == 0, "kind %d: byte %zu of %zu", kind, at, size);
            packed[at] ^= flip;
        }
        for (size_t cut = 0; cut < size; cut += cut < 16 || cut + 16 > size ? 1 : 97)
            CHECK(lat_codec_unpack(packed, cut, real, work, back, n) < 0, "kind %d: %zu of %zu",
                  kind, cut, size);
        packed[size] = 0;
        CHECK(lat_codec_unpack(packed, size + 1, real, work, back, n) < 0, "kind %d: a byte over",
              kind);
        CHECK(lat_codec_unpack(packed, size, real, work, back, n - (size_t)real) < 0,
              "kind %d: too long", kind);
        CHECK(lat_codec_unpack(packed, size, real, work, back, n + (size_t)real) < 0,
              "kind %d: too short", kind);
    }
}

/* Numbers evenly in [-1, 1] have an exponent e = -1, -2, ... with probability 2^e: 2 bits of
 * entropy, of the 8 or 11 that it takes; all else is noise. A coder of single symbols can save
 * 6 of 32 and 9 of 64 bits, of which one is in a plane with 7 bits of entropy, which may be stored.
 * This one is to reach 99 % of the rest. */
static void check_ratio(int real)
{
    size_t n = MAX_N / (size_t)real * (size_t)real;
    const double bound = real == 4 ? 32. / 26 : 64. / 55, least = real == 4 ? bound : 64. / 56;
    fill(6, real, n);
    double ratio = (double)n / (double)lat_codec_pack(raw, n, real, work, packed);
    CHECK(ratio > 0.99 * least && ratio < 1.001 * bound, "ratio %.4f, bounds %.4f, %.4f", ratio,
          least, bound);
    fill(7, real, n);
    ratio = (double)n / (double)lat_codec_pack(raw, n, real, work, packed);
    CHECK(ratio > 20, "ratio %.4f of unit matrices", ratio);
    fill(0, real, n);
    ratio = (double)n / (double)lat_codec_pack(raw, n, real, work, packed);
    CHECK(ratio > 0.999, "ratio %.4f of noise", ratio);
}

/* What another program's deflate makes of the same planes is read as well. */
static void check_foreign(int real)
{
    size_t n = 10000 * (size_t)real;
    for (int level = 0; level <= 9; level += 3) {
        uLongf size = (uLongf)bound(MAX_N); /* large enough for any deflate of so few */
        fill(6, real, n);
        lat_filter(raw, n, real, work);
        CHECK(compress2(packed, &size, work, (uLong)n, level) == Z_OK, "level %d", level);
        CHECK(lat_codec_unpack(packed, size, real, work, back, n) == 0 && memcmp(raw, back, n) == 0,
              "level %d", level);
        size = (uLongf)bound(MAX_N);
        CHECK(compress2(packed, &size, raw, (uLong)n, level) == Z_OK, "level %d", level);
        CHECK(lat_codec_unpack(packed, size, 1, work, back, n) == 0 && memcmp(raw, back, n) == 0,
              "level %d", level);
    }
}

/* Of every length and offset up to some hundred bytes, of random longer ones, whole and in two
 * pieces. */
static void check_sums(void)
{
    fill(6, 8, MAX_N);
    CHECK(lat_crc(0, "123456789", 9) == 0xcbf43926, "found %08x", lat_crc(0, "123456789", 9));
    for (size_t i = 0; i < 2000; i++) {
        const size_t at = i % 67, n = i < 1000 ? i / 3 : random64() % (MAX_N - at),
                     first = n ? random64() % (n + 1) : 0;
        const uint32_t crc = (uint32_t)crc32_z(0, raw + at, n), one = lat_crc(0, raw + at, first);
        CHECK(lat_crc(0, raw + at, n) == crc, "%zu bytes at %zu", n, at);
        CHECK(lat_crc(one, raw + at + first, n - first) == crc, "%zu bytes at %zu, cut at %zu", n,
              at, first);
        CHECK(lat_crc_join(one, lat_crc(0, raw + at + first, n - first), n - first) == crc,
              "%zu bytes at %zu, joined at %zu", n, at, first);
        CHECK(lat_adler(raw + at, n) == adler32_z(1, raw + at, n), "%zu bytes at %zu", n, at);
    }
}

int main(void)
{
    packed = malloc(bound(MAX_N) + 1);
    if (!packed)
        return 1;
    check_case("the filter is what docs/format.md says, and unfilter its inverse");
    check_filter(4);
    check_filter(8);
    check_case("blocks of any bits in any number come back, through zlib alone too");
    check_sizes(4);
    check_sizes(8);
    check_sizes(1);
    check_case("a damaged, cut or longer block is refused");
    check_damage(4);
    check_damage(8);
    check_case("the ratio is near the bound of coding single symbols");
    check_ratio(4);
    check_ratio(8);
    check_case("blocks of another deflate are read");
    check_foreign(4);
    check_foreign(8);
    check_case("checksums are those of zlib");
    check_sums();
    check_case("sizes that are no whole reals are refused");
    CHECK(lat_codec_pack(raw, 12, 8, work, packed) == 0, "packed 12 bytes of f64");
    CHECK(lat_codec_pack(raw, 8, 3, work, packed) == 0, "packed reals of 3 bytes");
    CHECK(lat_codec_unpack(packed, 10, 8, work, back, 12) < 0, "unpacked 12 bytes of f64");
    free(packed);
    return check_done();
}
