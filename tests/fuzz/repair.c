/* SPDX-License-Identifier: BSD-3-Clause */
/* repair.c: the right checksums into a stream that was changed, docs/format.md. */
#include "repair.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/bytes.h"
#include "stream/codec.h"
#include "stream/stream.h"

#define FRAME 16

static uint32_t crc(uint32_t before, const void *p, size_t n)
{
    return (uint32_t)crc32_z(before, p, n);
}

/* The header at `at`: where its blocks begin, or 0 if it has no end. */
static size_t repair_header(unsigned char *bytes, size_t at, size_t n)
{
    unsigned char *end = memmem(bytes + at, n - at, "\nend = ", 7);
    char digits[9];
    if (!end || (size_t)(end + 16 - bytes) > n)
        return 0;
    snprintf(digits, sizeof digits, "%08x", crc(0, bytes + at, (size_t)(end + 1 - (bytes + at))));
    memcpy(end + 7, digits, 8);
    end[15] = '\n';
    return (size_t)(end + 16 - bytes);
}

/* The bytes that a payload stands for, into the field's CRC. */
static uint32_t add_raw(uint32_t sum, const unsigned char *payload, size_t stored, size_t raw,
                        int real)
{
    if (!real)
        return crc(sum, payload, stored);
    if (raw == 0 || raw > 1 << 20)
        return sum;
    unsigned char *work = malloc(raw), *to = malloc(raw);
    if (work && to && lat_codec_unpack(payload, stored, real, work, to, raw) == 0)
        sum = crc(sum, to, raw);
    free(work);
    free(to);
    return sum;
}

static bool says(const unsigned char *head, size_t n, const char *line)
{
    return memmem(head, n, line, strlen(line)) != NULL;
}

void repair(unsigned char *bytes, size_t n)
{
    size_t at = 0, from = 0;
    uint32_t sum = 0, blocks = 0, fields = 0;
    int real = 0;
    while (at + FRAME <= n) {
        unsigned char *p = bytes + at;
        if (lat_stream_is(p, n - at)) {
            from = at;
            at = repair_header(bytes, at, n);
            if (!at)
                return;
            sum = blocks = 0;
            real = !says(bytes + from, at - from, "compression = zlib")        ? 0
                   : !says(bytes + from, at - from, "filter = rotate-shuffle") ? 1
                   : says(bytes + from, at - from, "real = f64")               ? 8
                                                                               : 4;
        } else if (memcmp(p, "LATB", 4) == 0) {
            const size_t stored = lat_load_le32(p + 4);
            if (stored > n - at - FRAME)
                return;
            lat_store_le32(p + 12, crc(crc(0, p, 12), p + FRAME, stored));
            sum = add_raw(sum, p + FRAME, stored, lat_load_le32(p + 8), real);
            blocks++;
            at += FRAME + stored;
        } else if (memcmp(p, "LATE", 4) == 0) {
            lat_store_le32(p + 4, blocks);
            lat_store_le32(p + 8, sum);
            lat_store_le32(p + 12, crc(0, p, 12));
            fields++;
            at += FRAME;
        } else if (memcmp(p, "LATZ", 4) == 0) {
            lat_store_le32(p + 4, fields);
            lat_store_le32(p + 8, 0);
            lat_store_le32(p + 12, crc(0, p, 12));
            fields = 0;
            at += FRAME;
        } else {
            return;
        }
    }
}
