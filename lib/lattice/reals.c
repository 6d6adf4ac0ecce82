/* SPDX-License-Identifier: BSD-3-Clause */
/* reals.c: operations on the bits of many numbers. Plain loops that the compiler vectorises (-O3),
 * compiled for each vector length of x86; which of them runs is decided at run time. */
#include "reals.h"

#include "base/bytes.h"
#include "base/isa.h"

#define SMALL 32 /* so few reals are not worth the choice of a vector length */

#define INLINE static inline __attribute__((always_inline))

INLINE void swap_bytes(unsigned char *to, const unsigned char *from, size_t n, lat_real real)
{
    if (real == LAT_F64)
        for (size_t i = 0; i < n; i++)
            lat_store64(to + 8 * i, lat_load64(from + 8 * i, true), false);
    else
        for (size_t i = 0; i < n; i++)
            lat_store32(to + 4 * i, lat_load32(from + 4 * i, true), false);
}

INLINE uint64_t largest(const unsigned char *p, size_t n, lat_real real)
{
    int64_t wide = 0;
    int32_t narrow = 0;
    if (real == LAT_F64) {
        for (size_t i = 0; i < n; i++) {
            const int64_t v = (int64_t)(lat_load64(p + 8 * i, false) & INT64_MAX);
            wide = v > wide ? v : wide;
        }
        return (uint64_t)wide;
    }
    for (size_t i = 0; i < n; i++) {
        const int32_t v = (int32_t)(lat_load32(p + 4 * i, false) & INT32_MAX);
        narrow = v > narrow ? v : narrow;
    }
    return (uint64_t)narrow;
}

INLINE void sum(const unsigned char *p, size_t n, uint32_t *same, uint32_t *swapped)
{
    uint32_t a = 0, b = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t v = lat_load32(p + 4 * i, false);
        a += v;
        b += __builtin_bswap32(v);
    }
    *same = a;
    *swapped = b;
}

typedef struct kernels {
    void (*swap_bytes)(unsigned char *to, const unsigned char *from, size_t n, lat_real real);
    uint64_t (*largest)(const unsigned char *p, size_t n, lat_real real);
    void (*sum)(const unsigned char *p, size_t n, uint32_t *same, uint32_t *swapped);
} kernels;

#define KERNELS(isa, attribute) \
    attribute static void swap_bytes_##isa(unsigned char *to, const unsigned char *from, size_t n, \
                                           lat_real real) \
    { \
        swap_bytes(to, from, n, real); \
    } \
    attribute static uint64_t largest_##isa(const unsigned char *p, size_t n, lat_real real) \
    { \
        return largest(p, n, real); \
    } \
    attribute static void sum_##isa(const unsigned char *p, size_t n, uint32_t *same, \
                                    uint32_t *swapped) \
    { \
        sum(p, n, same, swapped); \
    } \
    static const kernels kernels_##isa = {swap_bytes_##isa, largest_##isa, sum_##isa};

LAT_ISA_EXPAND(KERNELS, "")

static const kernels *best(void)
{
    static const kernels *const all[] = LAT_ISA_EACH(&kernels_, );
    return all[lat_isa_widest()];
}

void lat_reals_swap_bytes(void *to, const void *from, size_t n, lat_real real)
{
    if (n < SMALL)
        swap_bytes(to, from, n, real);
    else
        best()->swap_bytes(to, from, n, real);
}

uint64_t lat_reals_largest(const void *p, size_t n, lat_real real)
{
    return best()->largest(p, n, real);
}

void lat_words_sum(const void *p, size_t n, uint32_t *same, uint32_t *swapped)
{
    best()->sum(p, n, same, swapped);
}
