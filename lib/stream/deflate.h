/* SPDX-License-Identifier: BSD-3-Clause */
/* deflate.h: checksums and inflate, by libdeflate if it was there when this was built, otherwise by
 * zlib; the results are the same. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* CRC-32 after n more bytes, `crc` before; 0 is the CRC of no bytes. lat_crc_join: of two pieces,
 * from the CRC of each. */
uint32_t lat_crc(uint32_t crc, const void *p, size_t n);
uint32_t lat_crc_join(uint32_t first, uint32_t second, size_t second_size);

/* Adler-32, the checksum at the end of a zlib stream. */
uint32_t lat_adler(const void *p, size_t n);

/* Inflates a zlib stream of exactly `size` bytes to exactly n bytes; both at most 2 GiB. Returns 0,
 * or -1, without a sentence, if it has other lengths or is damaged. */
int lat_inflate(const void *packed, size_t size, void *to, size_t n);
