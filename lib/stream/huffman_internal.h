/* SPDX-License-Identifier: BSD-3-Clause */
/* huffman_internal.h: two kinds of block of deflate (RFC 1951): stored bytes, and bytes in
 * Huffman's code without a search for repetitions, except runs of one byte. Any inflate reads
 * them. zlib's deflate writes the same at a third of the rate (bench/history). For codec.c. */
#ifndef LAT_HUFFMAN_INTERNAL_H
#define LAT_HUFFMAN_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAT_CODED ((size_t)1 << 17) /* bytes that share one Huffman code */

enum {
    LAT_STORED_HEAD = 5,     /* bytes before a stored block's, */
    LAT_STORED_MOST = 65535, /* of which there are as many at most */
    LAT_BYTES = 257,         /* symbols: bytes, and the end of the block */
    LAT_SYMBOLS = 286,       /* and lengths of runs */
    LAT_LONGEST = 15,        /* bits of a code */
    LAT_LEAST_RUN = 3,       /* bytes like the one before them, which are one symbol */
    LAT_MOST_RUN = 258,
    LAT_SAMPLE = 1024, /* bytes of a plane, in so many, that choose its method */
    LAT_SAMPLES_APART = 16 * LAT_SAMPLE
};

/* How a plane is put. Its sample is noise by its bits of entropy; it has runs if many of its bytes
 * are as the one before (codec.c says why). */
typedef enum { LAT_PUT_STORED, LAT_PUT_HUFFMAN, LAT_PUT_RUNS } lat_put_method;
#define LAT_IS_NOISE(bits, sample) ((bits) > 7 * (double)(sample))
#define LAT_HAS_RUNS(same, sample) (5 * (same) > 3 * (sample))

/* Bytes of n stored ones; bits of the code at the head of a block. */
#define LAT_STORED_SIZE(n) ((n) + LAT_STORED_HEAD * (((n) + LAT_STORED_MOST - 1) / LAT_STORED_MOST))
#define LAT_CODE_BITS(symbols) (17 + 19 * 3 + ((symbols) + 2) * 4)

/* The symbol of a length, and how many bits follow it: the lowest ones of length - 3. */
static inline int lat_length_symbol(unsigned length, unsigned *bits)
{
    const unsigned v = length - LAT_LEAST_RUN;
    *bits = 0;
    if (length == LAT_MOST_RUN)
        return LAT_SYMBOLS - 1;
    if (v < 4)
        return 257 + (int)v;
    *bits = 29 - (unsigned)__builtin_clz(v);
    return 257 + (int)(4 * (*bits + 1) + (v >> *bits & 3));
}

/* Adds n bytes to a histogram, which is the sum of count[0] to count[3]: with one array, equal
 * bytes in a row would wait for each other. */
void lat_count_bytes(uint32_t count[4][256], const unsigned char *p, size_t n);

/* Writes n bytes as stored blocks, none of them marked as the last. lat_stored_size: how many bytes
 * that are. Returns the end of what was written. */
size_t lat_stored_size(size_t n);
unsigned char *lat_put_stored(unsigned char *out, const unsigned char *p, size_t n);

/* Writes n bytes as blocks of up to LAT_CODED bytes, each with a code of its own, or stored where
 * that is shorter. `runs`: bytes that are as the one before, 3 to 258 of them, are one symbol. None
 * is marked as the last; the last bits are padded to a byte. Writes at most lat_stored_size(n) + 5
 * (n / LAT_CODED + 1) bytes, and may overwrite up to 8 bytes behind them. Returns the end of what
 * was written. */
unsigned char *lat_put_huffman(unsigned char *out, bool runs, const unsigned char *p, size_t n);

#endif
