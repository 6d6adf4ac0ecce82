/* SPDX-License-Identifier: BSD-3-Clause */
/* check_stream_damage.c: no stream is accepted that was changed, cut or added to, be it by one bit.
 */
#include "check_stream.h"

static void check_flips(void)
{
    for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
        bytes b = tiny(store);
        for (size_t bit = 0; bit < 8 * b.n; bit++) {
            b.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
            refused(&b, "bit", bit);
            b.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        CHECK(read_bytes(&b, false, NULL) == 1, "the undamaged one: %s", lat_error());
        free(b.at);
    }
}

/* Each byte of several blocks, replaced by one other byte. */
static void check_bytes(void)
{
    unsigned char raw[3 * 4096 - 96];
    uint64_t r = 88172645463325252u;
    for (size_t i = 0; i < sizeof raw / 4; i++) {
        float x = (float)(i % 37) / 37;
        memcpy(raw + 4 * i, &x, 4);
    }
    bytes b = head_of(
        "kind = transform\ngroup = SU(3)\ndims = 13 13\nreal = f32\nreals = 18\nsites = y x\n"
        "endian = little\nblock = 4096\ncompression = zlib\nfilter = none\n");
    _Static_assert(sizeof raw >= 13 * 13 * 72, "enough of it");
    append_field(&b, raw, 13 * 13 * 72, 4096, ZLIB, 4, false);
    CHECK(read_bytes(&b, false, NULL) == 1, "%s", lat_error());
    for (size_t i = 0; i < b.n; i++) {
        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
        unsigned char was = b.at[i];
        b.at[i] ^= (unsigned char)(1 + r % 255);
        refused(&b, "byte", i);
        b.at[i] = was;
    }
    free(b.at);
}

static void check_cuts(void)
{
    for (int store = LAT_STORE_RAW; store <= LAT_STORE_ZLIB; store++) {
        bytes b = tiny(store), two = {0};
        append(&two, b.at, b.n);
        append(&two, b.at, b.n);
        for (size_t n = 0; n < two.n; n++) {
            bytes cut = {n, two.at};
            if (n != b.n)
                refused(&cut, "cut after", n);
        }
        CHECK(read_bytes(&b, false, NULL) == 1 && read_bytes(&b, true, NULL) == 1, "one: %s",
              lat_error());
        CHECK(read_bytes(&two, false, NULL) == 2 && read_bytes(&two, true, NULL) == 2, "two: %s",
              lat_error());
        free(b.at);
        free(two.at);
    }
}

static void check_garbage(void)
{
    bytes b = tiny(LAT_STORE_RAW), again = tiny(LAT_STORE_RAW);
    size_t n = b.n;
    for (int c = 0; c < 256; c++) {
        unsigned char byte = (unsigned char)c;
        b.n = n;
        append(&b, &byte, 1);
        refused(&b, "followed by byte", (size_t)c);
    }
    b.n = n;
    append(&b, again.at + 20, n - 20);
    refused(&b, "followed by a stream without its first bytes", 20);
    free(b.at);
    free(again.at);
    b = (bytes){0};
    append(&b, "BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE\n", 37);
    refused(&b, "another format", 0);
    free(b.at);
}

/* Fields in one stream, and what may stand for its end mark. */
static void check_end_mark(void)
{
    bytes b = tiny(LAT_STORE_RAW);
    const size_t field = b.n - 16;
    for (uint32_t said = 0; said < 4; said++)
        for (uint32_t there = 0; there < 4; there++) {
            bytes many = {0};
            for (uint32_t i = 0; i < there; i++)
                append(&many, b.at, field);
            append_frame(&many, "LATZ", said, 0);
            if (said == there && there > 0)
                CHECK(read_bytes(&many, false, NULL) == (int)there, "%u fields: %s", there,
                      lat_error());
            else
                refused(&many, "another number of fields", 4 * said + there);
            append(&many, "LATZ", 4);
            refused(&many, "followed by part of an end mark", there);
            free(many.at);
        }
    bytes twice = {0};
    append(&twice, b.at, b.n);
    append_frame(&twice, "LATZ", 0, 0);
    refused(&twice, "an end mark of nothing", 0);
    twice.n = b.n;
    append_frame(&twice, "LATZ", 1, 0);
    refused(&twice, "two end marks", 0);
    free(twice.at);
    b.n = field;
    refused(&b, "no end mark", 0);
    CHECK(strstr(lat_error(), "truncated") != NULL, "%s", lat_error());
    free(b.at);
}

int main(void)
{
    stream_begin();
    check_case("a stream with any one bit flipped is refused");
    check_flips();
    check_case("a stream with any byte changed is refused");
    check_bytes();
    check_case("a stream cut after any byte is refused, two in a row are read");
    check_cuts();
    check_case("a stream with anything after it is refused");
    check_garbage();
    check_case("the end mark must stand there and count the fields");
    check_end_mark();
    return stream_done();
}
