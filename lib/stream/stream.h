/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h: the common format, docs/format.md. Header, blocks, trailer; again and again.
 *
 * Reading one stream:
 *     while ((rc = lat_stream_read(in, &field)) > 0) { ... lat_field_free(&field); }
 *     rc < 0 is an error; rc == 0 the end of the input after at least one field.
 * Empty input, a truncated or damaged field, an end without the end mark, and anything after a
 * trailer that is neither that nor another header are errors. Every block's CRC, the field's CRC,
 * the plaquette and the link trace are verified; NaN or infinite numbers are refused. */
#ifndef LAT_STREAM_H
#define LAT_STREAM_H

#include "lattice/field.h"
#include "common/io.h"

/* First bytes of every stream. */
#define LAT_STREAM_MAGIC "lat-stream 1\n"

/* True if the n bytes (from lat_input_peek) begin a stream. */
bool lat_stream_is(const void *bytes, size_t n);

/* The next field: 1 and a field to be freed, 0 at the end of the input, -1 on failure. */
int lat_stream_read(lat_input *in, lat_field *f);

/* Is there another field? 1, 0 at the end of the input, -1 on failure. Takes only end marks. */
int lat_stream_more(lat_input *in);

/* The next header only, its blocks not yet read (lat-info): 1, 0 or -1 as above. Then either
 * lat_stream_body reads them or lat_stream_skip jumps over them, checking only their frame. */
int lat_stream_head(lat_input *in, lat_header *head);
int lat_stream_body(lat_input *in, lat_field *f); /* f->head as lat_stream_head left it */
int lat_stream_skip(lat_input *in, const lat_header *head);

/* The same by slices (slices.h), with memory of a few blocks beside that of the caller: after
 * lat_stream_head, r = lat_stream_begin(in, &head); lat_stream_get(r, slices, count)   the next
 * ones, until there have been all; any count each time, but a few MiB at once are faster than less
 *     lat_stream_get_stored(r, slices, count)   the same, but rows that the stream does not have
 * are left to lat_complete_all lat_stream_end(r, &head)           trailer and CRC; frees r. With
 * NULL for the header: gives up `head` is borrowed and stays where it is. Plaquette and link trace
 * are not checked: whoever has measured them (lat_measure_slices) asks lat_stream_verify, with the
 * largest modulus of a real (before `end`). Orders of sites that go across slices are refused,
 * unless all slices are asked for at once. */
typedef struct lat_stream_reader lat_stream_reader;
lat_stream_reader *lat_stream_begin(lat_input *in, const lat_header *head);
int lat_stream_get(lat_stream_reader *r, void *slices, int count);
int lat_stream_get_stored(lat_stream_reader *r, void *slices, int count);
double lat_stream_largest(const lat_stream_reader *r);
int lat_stream_end(lat_stream_reader *r, lat_header *head);
int lat_stream_verify(const lat_header *head, const char *name, double plaquette, double link_trace,
                      double largest);

/* What the last header read said about how its blocks are stored, for lat-info. */
typedef struct lat_stream_form {
    lat_order order;
    bool compressed;
    size_t block;              /* raw bytes a block */
    unsigned blocks;           /* after body or skip: how many there were */
    unsigned long long stored; /* after body or skip: bytes of the whole field in the stream */
    unsigned crc;              /* after body or skip: CRC-32 of the field's raw bytes */
} lat_stream_form;
const lat_stream_form *lat_stream_last(lat_input *in);

/* Writes header, blocks and trailer. head.plaquette and link_trace are measured here when they
 * are NaN (gauge fields only). In the order of head.order. `store` (common/options.h) AUTO:
 * compressed into a file, raw into a pipe. head.reals says whether to drop rows (12 for SU(3), 4
 * for SU(2)): they become what a reader will make of the others, and where that is something else
 * the field is refused. */
int lat_stream_write(lat_output *out, lat_field *f, int store);

/* Says that a field like this will be written, after work that may take long: lat_output_expect. */
void lat_stream_expect(lat_output *out, const lat_header *head, int store);

/* The same by slices: the header with its plaquette and link trace, as far as they are known;
 * slices in any portions, the bytes written are the same; trailer. `head` is borrowed until then.
 * `close` frees w in any case, `give_up` without a trailer. Where head.reals drops rows, the caller
 * makes sure that the rest has them. */
typedef struct lat_stream_writer lat_stream_writer;
lat_stream_writer *lat_stream_open(lat_output *out, const lat_header *head, int store);
int lat_stream_put(lat_stream_writer *w, const void *slices, int count);
/* Into a hidden output: the header as it is now in place of the one that was written; 1 if that has
 * another length, and then there is no stream. */
int lat_stream_restate(lat_stream_writer *w);
int lat_stream_close(lat_stream_writer *w);
void lat_stream_give_up(lat_stream_writer *w);

/* The end mark after the fields written, and lat_output_commit. A stream that ends without it,
 * because its writer failed between two fields, is one that every reader refuses. Frees `out`. */
int lat_stream_commit(lat_output *out);

#endif
