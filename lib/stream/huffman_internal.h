/* SPDX-License-Identifier: BSD-3-Clause */
/* huffman_internal.h: two kinds of block of deflate (RFC 1951): stored bytes, and bytes in
 * Huffman's code without a search for repetitions, except runs of one byte. Any inflate reads
 * them. zlib's deflate writes the same at a third of the rate (bench/history). For codec.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Adds n bytes to a histogram, which is the sum of count[0] to count[3]: with one array, equal
 * bytes in a row would wait for each other. */
void lat_count_bytes(uint32_t count[4][256], const unsigned char *p, size_t n);

/* Writes n bytes as stored blocks, none of them marked as the last. Returns the end of what was
 * written. */
unsigned char *lat_put_stored(unsigned char *out, const unsigned char *p, size_t n);

/* Writes n bytes as blocks of up to 2^17 bytes, each with a code of its own, or stored where
 * that is shorter. `runs`: bytes that are as the one before, 3 to 258 of them, are one symbol. None
 * is marked as the last; the last bits are padded to a byte. Writes at most 5 bytes for each
 * 2^17 more than lat_put_stored does, and may overwrite up to 8 bytes behind them. Returns the end
 * of what was written. */
unsigned char *lat_put_huffman(unsigned char *out, bool runs, const unsigned char *p, size_t n);
