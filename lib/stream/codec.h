/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.h: one block of reals, filtered and deflated (docs/format.md, "Blocks").
 *
 * Filter: each real's bits are rotated left by one, so that the exponent fills the top bits and
 * the sign goes to the bottom; then bytes are transposed: all top bytes, then all second bytes, ...
 * Each byte plane is deflated as it deserves (stored, Huffman only, or run lengths) inside one
 * ordinary zlib stream, so that any inflate reads it. */
#ifndef LAT_CODEC_H
#define LAT_CODEC_H

#include <stddef.h>

/* Room that lat_codec_pack may need for n raw bytes. */
size_t lat_codec_bound(size_t n);

/* Packs n bytes (a multiple of `real`, 4 or 8; at most 1 GiB) from raw; work is n bytes of
 * scratch. Reals are in the byte order of this machine. real = 1: without the filter.
 * Returns the packed size, at most lat_codec_bound(n), or 0 on failure. */
size_t lat_codec_pack(const void *raw, size_t n, int real, void *work, void *packed);

/* Unpacks exactly n raw bytes; 0, or -1 if the stream is damaged, has another length or
 * leaves bytes over. */
int lat_codec_unpack(const void *packed, size_t size, int real, void *work, void *raw, size_t n);

/* The filter alone, for tests and benchmarks. */
void lat_filter(const void *raw, size_t n, int real, void *planes);
void lat_unfilter(const void *planes, size_t n, int real, void *raw);

#endif
