/* SPDX-License-Identifier: BSD-3-Clause */
/* codec.h: compresses one block of reals (docs/format.md, "Blocks").
 *
 * Filter: the bits of each real are rotated left by one, so that the exponent fills the highest
 * bits and the sign is the lowest one; then bytes are transposed into byte planes: the highest byte
 * of all reals, then the second one of all, ... Each plane is stored or Huffman-coded, with or
 * without runs of one byte, by a sample of it, in one ordinary zlib stream, which any inflate
 * reads. */
#pragma once

#include <stddef.h>

/* Packs n bytes of reals, in the byte order of this machine, from `raw` to `packed`.
 *   n      a multiple of `real`, at most 1 GiB
 *   real   bytes of a real, 4 or 8; 1: without the filter
 *   work   n bytes of scratch
 * Returns the number of packed bytes; 0 for another n or `real`. It writes at most n + 5 (n / 65535
 * + n / 131072) + 64 bytes: with the head of each block. */
size_t lat_codec_pack(const void *raw, size_t n, int real, void *work, void *packed);

/* Unpacks `size` packed bytes to n raw bytes; `real` and `work` as above. Returns 0, or -1, without
 * a sentence, if the packed bytes are damaged or make another number of raw bytes. */
int lat_codec_unpack(const void *packed, size_t size, int real, void *work, void *raw, size_t n);

/* The filter alone, for tests and benchmarks. */
void lat_filter(const void *raw, size_t n, int real, void *planes);
void lat_unfilter(const void *planes, size_t n, int real, void *raw);
