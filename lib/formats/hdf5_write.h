/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_write.h: descriptions of an HDF5 file, as version 1.10 of the HDF5 library writes them. */
#pragma once

#include "hdf5.h"

/* The bytes before the numbers, in memory; `at`: the next one. Memory is zero, and there is enough.
 */
typedef struct lat_hdf5_writer {
    unsigned char *b;
    size_t at;
} lat_hdf5_writer;

void lat_hdf5_put_number(lat_hdf5_writer *w, size_t bytes, uint64_t v);

/* A text of as many bytes, with zeros after it. */
void lat_hdf5_put_text(lat_hdf5_writer *w, size_t bytes, const char *text);

/* Type, size and flags of a message. */
void lat_hdf5_put_message(lat_hdf5_writer *w, unsigned type, size_t size, unsigned flags);

/* The type of a complex number, of LAT_HDF5_COMPLEX bytes. */
#define LAT_HDF5_COMPLEX 128
void lat_hdf5_put_complex(lat_hdf5_writer *w, lat_real real);

/* An attribute with a text as a message, and how many bytes that takes. */
size_t lat_hdf5_text_bytes(const char *name, const char *text);
void lat_hdf5_put_attribute(lat_hdf5_writer *w, const char *name, const char *text);

/* Where the numbers of a dataset are, and its attribute record_xml (NULL: none): its last messages,
 * of LAT_HDF5_PLACE bytes before the attribute. */
#define LAT_HDF5_PLACE (16 + 32)
void lat_hdf5_put_place(lat_hdf5_writer *w, uint64_t address, uint64_t bytes, const char *xml);

/* The superblock of a file whose end is known, and the header of its root group: LAT_HDF5_ROOT + 40
 * bytes. Tree and heap are those of the root. */
#define LAT_HDF5_ROOT 96
void lat_hdf5_put_superblock(lat_hdf5_writer *w, uint64_t end, uint64_t tree, uint64_t heap);

/* A group of at most 4 names, in their order: its tree (LAT_HDF5_TREE bytes) and its heap
 * (LAT_HDF5_HEAP), one after the other from w->at on, and its symbols (LAT_HDF5_SYMBOLS) at
 * `symbols`, 0: behind them. w->at goes behind the symbols. The header of the group is the
 * caller's. */
#define LAT_HDF5_TREE 544
#define LAT_HDF5_HEAP 120
#define LAT_HDF5_SYMBOLS 328
#define LAT_HDF5_GROUP (LAT_HDF5_TREE + LAT_HDF5_HEAP + LAT_HDF5_SYMBOLS)
void lat_hdf5_put_group(lat_hdf5_writer *w, int count, const char *const *name,
                        const uint64_t *header, size_t symbols);
