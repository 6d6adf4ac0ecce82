/* SPDX-License-Identifier: BSD-3-Clause */
/* reals.h: operations on the bits of many numbers, with the widest vectors of the processor. All
 * addresses may be unaligned. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "header.h"

/* Copies n reals with their byte order reversed; `to` may be `from`. */
void lat_reals_swap_bytes(void *to, const void *from, size_t n, lat_real real);

/* The largest bit pattern of n reals without their signs. For IEEE numbers it is the pattern of the
 * largest modulus; from lat_infinity_bits on, one of the numbers is not finite. */
uint64_t lat_reals_largest(const void *p, size_t n, lat_real real);

static inline uint64_t lat_infinity_bits(lat_real real)
{
    return real == LAT_F64 ? UINT64_C(0x7ff0000000000000) : UINT64_C(0x7f800000);
}

/* The sum modulo 2^32 of n 32-bit words: *same in the byte order of this machine, *swapped with the
 * bytes of each reversed. */
void lat_words_sum(const void *p, size_t n, uint32_t *same, uint32_t *swapped);
