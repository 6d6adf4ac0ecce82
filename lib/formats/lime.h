/* SPDX-License-Identifier: BSD-3-Clause */
/* lime.h: records of a LIME container: of ILDG and SciDAC links, and of spinors.
 *
 * A record is a header of 144 bytes, big endian: u32 magic, u16 version 1, u16 flags (0x8000 a
 * message begins, 0x4000 ends), u64 length, char type[128]; then the data, padded with zeros to 8
 * bytes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "common/io.h"
#include "common/geometry.h"
#include "lattice/header.h"
#include "payload.h"

#define LAT_LIME_BEGINS 0x8000u
#define LAT_LIME_ENDS 0x4000u
#define LAT_LIME_BEGIN "\x45\x67\x89\xab" /* of a container and of each record */
#define LAT_LIME_XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"

typedef struct lat_lime_record {
    char type[129]; /* printable */
    uint64_t length;
} lat_lime_record;

/* Do these bytes begin a LIME file whose first bytes have this text? */
bool lat_lime_has(const unsigned char *bytes, size_t n, const char *text);

/* The next record: 1, 0 at the end of the file, -1. Its data are read by the caller, then the
 * padding is skipped. */
int lat_lime_next(lat_input *in, lat_lime_record *rec);
int lat_lime_skip_padding(lat_input *in, const lat_lime_record *rec);

/* The data of a record of text, of at most `limit` bytes, ended by a NUL; to be freed. NULL with
 * lat_error set. XML that is proper but for its attributes comes without them, with a warning. */
char *lat_lime_text(lat_input *in, const lat_lime_record *rec, uint64_t limit);

/* A record of XML: its file and type, for messages, and its text. */
typedef struct lat_lime_xml {
    const char *file, *type, *text;
} lat_lime_xml;

/* The printable text of an element, with a blank for white space of any kind, or a whole number in
 * it; *value stays where there is none. 1, 0 where there is none, -1. */
int lat_lime_element(const lat_lime_xml *x, const char *tag, char *text, size_t size);
int lat_lime_number(const lat_lime_xml *x, const char *tag, long most, long *value);

/* The four extents of scidac-private-file-xml: 1, 0 where there are none, -1, too if the file is
 * one volume of several. Where the extents are given (nd is not 0), what cannot be read is a
 * warning and 0. */
int lat_lime_dims(const lat_lime_xml *x, const lat_geometry *given, lat_geometry *geom);

/* The sums of scidac-checksum; and are they those found in the data? 0 or -1. */
int lat_lime_checksum(const lat_lime_xml *x, lat_scidac_sum *sum);
int lat_lime_verify(const char *file, const lat_scidac_sum *stated, const lat_scidac_sum *found,
                    bool force);

int lat_lime_write_head(lat_output *out, unsigned flags, const char *type, uint64_t length);
int lat_lime_write_padding(lat_output *out, uint64_t length);

/* A record of text. QIO counts a NUL at its end in, and needs none: it is left out, as tmLQCD does
 * it, because some readers give the whole record to a parser of XML. */
__attribute__((format(printf, 4, 5))) int lat_lime_write_text(lat_output *out, unsigned flags,
                                                              const char *type, const char *format,
                                                              ...);

/* The records of SciDAC: what begins a file; what comes before data of `count` objects of so many
 * reals a site, without a clock, so that the same input gives the same bytes; what follows data. */
int lat_lime_write_scidac_file(lat_output *out, const lat_geometry *geom);
int lat_lime_write_scidac_record(lat_output *out, const lat_header *h, const char *datatype,
                                 size_t reals, int count);
int lat_lime_write_checksum(lat_output *out, const lat_scidac_sum *sum);
