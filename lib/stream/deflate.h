/* SPDX-License-Identifier: BSD-3-Clause */
/* deflate.h: checksums and inflate, by libdeflate where it was built with that, else by zlib: the
 * same numbers and bytes. */
#ifndef LAT_DEFLATE_H
#define LAT_DEFLATE_H

#include <stddef.h>
#include <stdint.h>

/* CRC-32 of more data, 0 to begin with; and of two pieces from theirs. */
uint32_t lat_crc(uint32_t crc, const void *p, size_t n);
uint32_t lat_crc_join(uint32_t first, uint32_t second, size_t second_size);

/* Adler-32, which ends a zlib stream. */
uint32_t lat_adler(const void *p, size_t n);

/* A zlib stream of `size` bytes that inflates to exactly n and ends there: 0, or -1. Both at most 2
 * GiB. */
int lat_inflate(const void *packed, size_t size, void *to, size_t n);

/* What does it, for messages and benchmarks. */
const char *lat_inflate_by(void);

#endif
