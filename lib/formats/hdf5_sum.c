/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_sum.c: checksums of descriptions of version 2, Bob Jenkins' lookup3 (hashlittle from 0). */
#include "hdf5_bytes.h"

static uint32_t rotate(uint32_t x, int k) { return x << k | x >> (32 - k); }

static void mix(uint32_t *w)
{
    static const int by[6] = {4, 6, 8, 16, 19, 4};
    for (int i = 0; i < 6; i++) {
        uint32_t *a = w + i % 3, *b = w + (i + 1) % 3, *c = w + (i + 2) % 3;
        *a -= *c;
        *a ^= rotate(*c, by[i]);
        *c += *b;
    }
}

static uint32_t last(uint32_t *w)
{
    static const int by[7] = {14, 11, 25, 16, 4, 14, 24};
    for (int i = 0; i < 7; i++) {
        uint32_t *to = w + (i + 2) % 3, from = w[(i + 1) % 3];
        *to ^= from;
        *to -= rotate(from, by[i]);
    }
    return w[2];
}

bool lat_hdf5_sum_right(const unsigned char *b, size_t n)
{
    const size_t size = n - 4;
    const uint32_t start = 0xdeadbeef + (uint32_t)size;
    uint32_t w[3] = {start, start, start};
    size_t at = 0;
    for (; n >= 4 && at < size; at += 12) {
        for (size_t k = 0; k < 12 && at + k < size; k++)
            w[k / 4] += (uint32_t)b[at + k] << 8 * (k % 4);
        if (size - at > 12)
            mix(w);
        else
            break;
    }
    return n >= 4 && (size ? last(w) : w[2]) == lat_hdf5_number(b + size, 4);
}
