/* SPDX-License-Identifier: BSD-3-Clause */
/* check_reals.c: conversions of many reals give what they give of one, with each vector length, for
 * any count at any address. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "base/bytes.h"
#include "lattice/reals.h"

#define MOST 1500

static unsigned char bytes[8 * MOST + 64], turned[8 * MOST + 64];

static void fill(unsigned seed)
{
    srandom(seed);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(random() >> 7);
}

static void check_turn(size_t at, size_t n, lat_real real)
{
    const size_t to = (at * 7 + n) % 61, size = (size_t)real;
    memset(turned, 0xa5, sizeof turned);
    lat_reals_swap_bytes(turned + to, bytes + at, n, real);
    for (size_t i = 0; i < n * size; i++)
        CHECK(turned[to + i] == bytes[at + i / size * size + size - 1 - i % size],
              "byte %zu of %zu reals of %zu at %zu", i, n, size, at);
    CHECK(turned[to + n * size] == 0xa5 && (to == 0 || turned[to - 1] == 0xa5),
          "beyond %zu reals of %zu", n, size);
    lat_reals_swap_bytes(turned + to, turned + to, n, real);
    CHECK(memcmp(turned + to, bytes + at, n * size) == 0, "%zu reals of %zu turned where they are",
          n, size);
}

static void check_largest(size_t at, size_t n, lat_real real)
{
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *p = bytes + at + i * (size_t)real;
        const uint64_t v = real == LAT_F64 ? lat_load64(p, false) << 1 >> 1
                                           : lat_load32(p, false) << 1 >> 1;
        most = v > most ? v : most;
    }
    CHECK(lat_reals_largest(bytes + at, n, real) == most, "%zu reals of %d at %zu", n, real, at);
}

static void check_sum(size_t at, size_t n)
{
    uint32_t same = 0, other = 0, a, b;
    for (size_t i = 0; i < n; i++) {
        same += lat_load32(bytes + at + 4 * i, false);
        other += lat_load32(bytes + at + 4 * i, true);
    }
    lat_words_sum(bytes + at, n, &a, &b);
    CHECK(a == same && b == other, "%zu words at %zu: %08x %08x, expected %08x %08x", n, at, a, b,
          same, other);
}

/* The one odd number, wherever it stands. */
static void check_found(lat_real real)
{
    static const double odd[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < 3; k++) {
            double d[300] = {0};
            float s[300] = {0};
            d[(i + 1) % 300] = -1.7e308;
            s[(i + 1) % 300] = -3e38f;
            CHECK(lat_reals_largest(real == LAT_F64 ? (void *)d : (void *)s, 300, real)
                      < lat_infinity_bits(real),
                  "number %zu", i);
            d[i] = odd[k];
            s[i] = (float)odd[k];
            CHECK(lat_reals_largest(real == LAT_F64 ? (void *)d : (void *)s, 300, real)
                      >= lat_infinity_bits(real),
                  "number %zu", i);
        }
}

int main(void)
{
    static const struct {
        const char *lanes, *what;
    } all[] = {{"base", "turned, largest and summed as one by one, without vectors of x86"},
               {"avx2", "the same with AVX2, where there is that"},
               {"avx512", "and with AVX-512"}};
    for (size_t l = 0; l < sizeof all / sizeof *all; l++) {
        setenv("LAT_LANES", all[l].lanes, 1);
        check_case(all[l].what);
        for (size_t n = 0; n <= MOST; n += n < 200 ? 1 : 97) {
            fill((unsigned)n);
            check_turn(n % 17, n, LAT_F32);
            check_turn(n % 19, n, LAT_F64);
            check_largest(n % 13, n, LAT_F32);
            check_largest(n % 11, n, LAT_F64);
            check_sum(n % 5, n);
        }
        check_found(LAT_F32);
        check_found(LAT_F64);
    }
    return check_done();
}
