/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_bytes.h: between the hdf5_*.c that read. */
#pragma once

#include "hdf5.h"

enum { LAT_HDF5_DEFLATE = 1, LAT_HDF5_SHUFFLE = 2, LAT_HDF5_FLETCHER = 3 }; /* filters */

#define LAT_HDF5_NOWHERE UINT64_MAX /* the address of what was never written */

/* n bytes from an address on: false if the file has not got them. */
bool lat_hdf5_bytes(lat_hdf5 *h, uint64_t address, uint64_t n, void *to);

/* The same of what describes others; a file in which descriptions lead in circles has no more of
 * them at some time. */
bool lat_hdf5_description(lat_hdf5 *h, uint64_t address, uint64_t n, void *to);

/* The sentence about a file that is damaged. -1. */
int lat_hdf5_damaged(const lat_hdf5 *h);

/* Do the last four of n bytes agree with the others? */
bool lat_hdf5_sum_right(const unsigned char *b, size_t n);

/* Little endian, of 1 to 8 bytes. */
uint64_t lat_hdf5_number(const unsigned char *b, int bytes);

/* The power of two that n is; -1: it is none. */
static inline int lat_hdf5_power_of(uint64_t n)
{
    return n && !(n & (n - 1)) ? __builtin_ctzll(n) : -1;
}

/* Bytes of a description. take: the next n; NULL where there are fewer. */
typedef struct lat_hdf5_reader {
    const unsigned char *b;
    size_t left;
} lat_hdf5_reader;
const unsigned char *lat_hdf5_take(lat_hdf5_reader *r, size_t n);

/* The set is no array of numbers, for this reason; the first one stays. */
void lat_hdf5_refuse(lat_hdf5_set *s, const char *why);

/* What messages say about a set: its extents; the type of its elements, after the extents; where
 * its numbers are; through which filters they went. */
void lat_hdf5_space(lat_hdf5_set *s, lat_hdf5_reader *r);
void lat_hdf5_type(lat_hdf5_set *s, lat_hdf5_reader *r);
void lat_hdf5_layout(lat_hdf5_set *s, lat_hdf5_reader *r);
void lat_hdf5_filters(lat_hdf5_set *s, lat_hdf5_reader *r);

/* The text of an attribute, if it has this name and is shorter than `size`. Returns its length; 0:
 * it has another name, or is no text. */
size_t lat_hdf5_attribute(lat_hdf5 *h, lat_hdf5_reader r, const char *name, char *text,
                          size_t size);

/* Calls each(context, record, bytes) for the records of an index, in their order. 0, -1 or what
 * `each` returned, if that is not 0. */
typedef int lat_hdf5_record(void *context, const unsigned char *record, size_t bytes);
int lat_hdf5_index(lat_hdf5 *h, uint64_t address, int type, lat_hdf5_record *each, void *context);

/* A heap of objects. Sizes and counts that are powers of two are these powers. */
typedef struct lat_hdf5_heap {
    lat_hdf5 *h;
    uint64_t root, huge;
    size_t id; /* bytes of the name of an object */
    int width, start, direct, rows, offset_bytes, length_bytes;
} lat_hdf5_heap;
bool lat_hdf5_heap_open(lat_hdf5 *h, uint64_t address, lat_hdf5_heap *heap);

/* The object, if it is one of at most `most` bytes inside a block. Returns its size; 0: it is none.
 */
size_t lat_hdf5_heap_object(const lat_hdf5_heap *heap, const unsigned char *id, void *to,
                            size_t most);

/* ---- hdf5_chunks.c --------------------------------------------------------------------------- */

typedef struct lat_hdf5_chunk {
    uint64_t address, stored;
    unsigned skipped; /* bit for each filter that it did not go through */
    uint64_t first[8];
} lat_hdf5_chunk;

/* Calls each(context, chunk) for the chunks that were written, in the order of their places: none
 * comes twice. Returns their number, or -1. */
typedef int lat_hdf5_each_chunk(void *context, const lat_hdf5_chunk *c);
int64_t lat_hdf5_chunks(lat_hdf5 *h, const lat_hdf5_set *s, lat_hdf5_each_chunk *each,
                        void *context);

/* The bytes of a chunk as it is in memory; 0: none, or too many. */
uint64_t lat_hdf5_chunk_bytes(const lat_hdf5_set *s);

/* How many chunks the set has. */
uint64_t lat_hdf5_chunk_count(const lat_hdf5_set *s);

/* The set cannot be read, for this reason. -1. */
int lat_hdf5_unread(const lat_hdf5 *h, const lat_hdf5_set *s, const char *why);

/* Product of n extents and `each`; 0: one of them is, or it does not fit. */
uint64_t lat_hdf5_product(int n, const uint64_t *d, uint64_t each);
