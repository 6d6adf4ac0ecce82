/* SPDX-License-Identifier: BSD-3-Clause */
/* reals.h: many numbers at once, as bits, with the vectors of the processor that the program runs
 * on. */
#ifndef LAT_REALS_H
#define LAT_REALS_H

#include <stddef.h>
#include <stdint.h>
#include "header.h"

/* n reals from one place to another, or where they are, byte order turned. At any address. */
void lat_reals_swap_bytes(void *to, const void *from, size_t n, lat_real real);

/* The largest bit pattern of n reals without the sign: of IEEE numbers, that of the largest
 * modulus, and from the exponent of infinity on, of one that is not finite. */
uint64_t lat_reals_largest(const void *p, size_t n, lat_real real);

static inline uint64_t lat_infinity_bits(lat_real real)
{
    return real == LAT_F64 ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
}

/* The sum of n 32-bit words at any address modulo 2^32, as this machine reads them; and with the
 * bytes of each turned. */
void lat_words_sum(const void *p, size_t n, uint32_t *same, uint32_t *turned);

#endif
