/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stream_blocks.c: blocks and trailers that contradict the header are refused; memory is
 * taken in proportion to the bytes that are there, not to what a header claims. */
#include <sys/resource.h>
#include "measure/measure.h"
#include "check_stream.h"

/* Headers that claim terabytes, with nothing behind them, cost nothing. */
static void check_claims(void)
{
    const char *const claims[] = {
        WITH_DIMS("64 64 64 64"),
        WITH_DIMS("4096 512 512 16"),
        WITH_DIMS("65535 1024 64 1"),
        GOOD_KIND "group = SU(16)\ndims = 1024 1024 1024 64\nreal = f64\nreals = 512\n" GOOD_ORDER
                  "block = 67108864\ncompression = zlib\nfilter = rotate-shuffle\n",
    };
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        bytes b = head_of(claims[i]);
        CHECK(read_bytes(&b, true, NULL) < 0 && strstr(lat_error(), "truncated"), "claim %zu: %s",
              i, lat_error());
        CHECK(read_bytes(&b, false, NULL) < 0
                  && strstr(lat_error(), "bytes after the header, expected"),
              "claim %zu: %s", i, lat_error());
        free(b.at);
    }
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 200000, "%ld KiB more memory",
          after.ru_maxrss - before.ru_maxrss);
}

/* Five gigabytes claimed in an order in which each matrix is on a page of its own, and one block of
 * them: a 16th would have to come before they are taken. */
static void check_scattered(void)
{
    static const unsigned char zeros[524288];
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    bytes b = head_of(GOOD_KIND GOOD_GROUP
                      "dims = 64 64 64 64\n" GOOD_REAL
                      "sites = links x y z t\nlinks = x y z t\nendian = little\n"
                      "block = 524288\ncompression = none\nfilter = none\n");
    append_block(&b, zeros, sizeof zeros, sizeof zeros);
    CHECK(read_bytes(&b, true, NULL) < 0 && strstr(lat_error(), "truncated"), "%s", lat_error());
    CHECK(read_bytes(&b, false, NULL) < 0
              && strstr(lat_error(), "bytes after the header, expected"),
          "%s", lat_error());
    free(b.at);
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 100000, "%ld KiB more memory",
          after.ru_maxrss - before.ru_maxrss);
}

/* Frames that contradict the header, each with its checksum right. The field is 4096 bytes and 512.
 */
static void check_frames(void)
{
    unsigned char raw[16 * 4 * 72] = {0};
    const size_t n = sizeof raw;
    const uint32_t crc = (uint32_t)crc32(0, raw, (uInt)n);
    bytes b;

    b = head_of(GOOD), append_field(&b, raw, n, 4096, PLAIN, 4, false);
    CHECK(read_bytes(&b, true, NULL) == 1, "%s", lat_error());
    free(b.at);
    b = head_of(GOOD), append_field(&b, raw, n, 4608, PLAIN, 4, false);
    append(&b, raw, 100);
    contradicts(&b, "expected 4096 bytes in block 1 of 2, found 4608");
    b = head_of(GOOD), append_field(&b, raw, n, 4088, PLAIN, 4, false);
    contradicts(&b, "expected 4096 bytes in block 1 of 2, found 4088");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_trailer(&b, 1, crc),
    append(&b, raw, 1000);
    contradicts(&b, "expected block 2 of 2");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_trailer(&b, 3, crc);
    contradicts(&b, "expected the trailer of 2 blocks");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_trailer(&b, 2, crc ^ 1);
    contradicts(&b, "checksum of the field");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_block(&b, raw, 512, 512), append_trailer(&b, 3, crc);
    contradicts(&b, "expected the trailer of 2 blocks");
    b = head_of(GOOD), append_block(&b, raw, 4096, 4096), append_block(&b, raw, 512, 512);
    append_frame(&b, "LATF", 2, crc), append_frame(&b, "LATZ", 1, 0);
    contradicts(&b, "expected the trailer of 2 blocks");
    b = head_of(GOOD), append_block(&b, raw, 0, 4096), append_trailer(&b, 1, crc),
    append(&b, raw, n);
    contradicts(&b, "found 4096 stored as 0");
}

/* A stream whose first block is what deflate makes of `deflated` bytes, and `more` bytes of
 * payload, where 4096 are expected. */
static bytes deflated_block(size_t deflated, int more)
{
    unsigned char raw[16 * 4 * 72] = {0}, payload[8192] = {0};
    uLongf size = sizeof payload, rest = 4000;
    bytes b = head_of(GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
                      "block = 4096\ncompression = zlib\nfilter = none\n");
    need(compress2(payload, &size, raw, (uLong)deflated, 9) == Z_OK, "deflate");
    append_block(&b, payload, (size_t)((long)size + more), 4096);
    need(compress2(payload, &rest, raw, 512, 9) == Z_OK, "deflate");
    append_block(&b, payload, rest, 512);
    append_trailer(&b, 2, (uint32_t)crc32(0, raw, sizeof raw));
    return b;
}

static void check_deflated(void)
{
    bytes b = deflated_block(4096, 0);
    CHECK(read_bytes(&b, true, NULL) == 1 && read_bytes(&b, false, NULL) == 1, "%s", lat_error());
    free(b.at);
    b = deflated_block(4096, 1), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(4096, -1), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(4095, 0), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(4104, 0), contradicts(&b, "block 1 of 2 does not unpack");
    b = deflated_block(0, 0), contradicts(&b, "block 1 of 2 does not unpack");
    b = head_of(GOOD_KIND GOOD_GROUP GOOD_DIMS GOOD_REAL GOOD_ORDER
                "block = 4096\ncompression = zlib\nfilter = none\n");
    append(&b, "LATB\xff\xff\xff\xff\x00\x10\x00\x00????", 16), append_trailer(&b, 1, 0);
    append_trailer(&b, 1, 0);
    contradicts(&b, "found 4096 stored as 4294967295");
}

/* A field larger than what is allocated on the word of a header comes through a pipe: memory grows
 * while it is read, and what was there stays. */
static void check_growth(const char *sites)
{
    enum { X = 16, T = 120 };
    char lines[256];
    snprintf(lines, sizeof lines,
             "kind = transform\ngroup = SU(3)\ndims = 16 16 16 120\nreal = f64\nreals = 18\n"
             "sites = %s\nendian = little\nblock = 4194304\ncompression = zlib\nfilter = none\n",
             sites);
    bytes b = head_of(lines);
    const size_t reals = (size_t)X * X * X * T * 18;
    double *data = calloc(reals, sizeof *data);
    lat_field f;
    need(data != NULL, "memory");
    for (size_t i = 0; i < reals; i += 99991)
        data[i] = (double)i;
    append_field(&b, (unsigned char *)data, reals * sizeof *data, 4194304, ZLIB, 8, false);
    if (CHECK(read_bytes(&b, true, &f) == 1, "%s", lat_error())) {
        lat_order order = {.sites = ""};
        lat_order_iterator w;
        need(lat_order_read_sites(&order, sites, 4, LAT_ORDER_ONE) == 0, sites);
        lat_order_start(&w, &order, &f.head.geom, 1, 0);
        for (size_t i = 0; i < reals; i += 18, lat_order_next(&w))
            if (!CHECK(memcmp((double *)f.data + 18 * w.matrix, data + i, 18 * sizeof *data) == 0,
                       "%s: matrix %zu", sites, i / 18))
                break;
        lat_field_free(&f);
    }
    free(data);
    free(b.at);
}

int main(void)
{
    stream_begin();
    lat_accept_any_links = true; /* numbers here are no links */
    check_case("headers that claim terabytes allocate nothing");
    check_claims();
    check_case("a block of a large field in another order takes memory in proportion");
    check_scattered();
    check_case("blocks and trailers that contradict the header are refused");
    check_frames();
    check_case("blocks that do not inflate to what was said are refused");
    check_deflated();
    check_case("a large field from a pipe is read into memory that grows");
    check_growth("t z y x");
    check_growth("parity t z y x");
    check_growth("x y z t");
    return stream_done();
}
