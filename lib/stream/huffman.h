/* SPDX-License-Identifier: BSD-3-Clause */
/* huffman.h: two kinds of block that deflate (RFC 1951) knows, written by hand: stored bytes, and
 * bytes in Huffman's code without a search for repetitions. zlib's deflate writes the same, at a
 * third of the speed, since it is made for more (bench/NOTES.md); any inflate reads them. For
 * codec.c, and nobody else. */
#ifndef LAT_HUFFMAN_H
#define LAT_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>

#define LAT_CODED ((size_t)1 << 17) /* bytes that share one Huffman code */

/* Adds the bytes to a histogram, the sum of these four: equal neighbours then do not wait for each
 * other. */
void lat_count_bytes(uint32_t count[4][256], const unsigned char *p, size_t n);

/* n bytes in stored blocks, none of them the last; returns where the next byte goes. */
size_t lat_stored_size(size_t n);
unsigned char *lat_put_stored(unsigned char *out, const unsigned char *p, size_t n);

/* n bytes in blocks of up to LAT_CODED bytes with a code each, or stored where that is shorter;
 * none the last; ends at a byte. Writes at most lat_stored_size(n) + 5 (n / LAT_CODED + 1) bytes
 * and touches up to 8 more. */
unsigned char *lat_put_huffman(unsigned char *out, const unsigned char *p, size_t n);

#endif
