/* SPDX-License-Identifier: BSD-3-Clause */
/* hdf5_bytes.h: between hdf5.c, hdf5_messages.c and hdf5_data.c. */
#pragma once

#include "hdf5.h"

#define LAT_HDF5_NOWHERE UINT64_MAX /* the address of what was never written */

/* n bytes from an address on: false if the file has not got them. */
bool lat_hdf5_bytes(lat_hdf5 *h, uint64_t address, uint64_t n, void *to);

/* The same of what describes others; a file in which descriptions lead in circles has no more of
 * them at some time. */
bool lat_hdf5_description(lat_hdf5 *h, uint64_t address, uint64_t n, void *to);

/* Little endian, of 1 to 8 bytes. */
uint64_t lat_hdf5_number(const unsigned char *b, int bytes);

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
