/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h: configurations in the format of docs/format.md. Fields follow each other, each with
 * header, blocks and trailer; an end mark follows the last one.
 *
 * Reading all fields:
 *
 *     while ((rc = lat_stream_read(in, &field)) > 0) { ... lat_field_free(&field); }
 *
 * rc < 0 is an error; rc == 0 is the end of the input after at least one field.
 *
 * Errors are: empty input; a truncated or damaged field; an input that ends without the end mark;
 * anything after a trailer that is neither the end mark nor another header. Every block's CRC, the
 * field's CRC, the plaquette and the link trace are verified; NaN and infinite numbers are refused.
 *
 * Fields in memory are in natural order (lattice/field.h), whatever the order of the stream. With
 * several ranks all of the communicator of the input or output call each function; rank 0 reads
 * and writes, and each rank has its slab of the field. The functions by slices are for rank 0
 * alone. */
#pragma once

#include "lattice/field.h"
#include "common/io.h"

/* The first bytes of every stream. */
#define LAT_STREAM_MAGIC "lat-stream 1\n"

/* True if n bytes (from lat_input_peek) begin a stream. */
bool lat_stream_is(const void *bytes, size_t n);

/* ---- reading fields -------------------------------------------------------------------------- */

/* Reads the next field: 1 and a field to be freed, 0 at the end of the input, -1 on failure. */
int lat_stream_read(lat_input *in, lat_field *f);

/* Is there another field? 1, 0 at the end of the input, -1 on failure. Reads end marks, and waits
 * for the byte after them. */
int lat_stream_more(lat_input *in);

/* False if there may be another field after the one that was read last; true if a regular file ends
 * there. Reads nothing, waits for nothing, and verifies nothing: for a decision about speed. */
bool lat_stream_last_field(const lat_input *in);

/* Reads the next header: 1, 0 or -1 as lat_stream_read. The caller frees it (lat_header_free). One
 * of these must follow:
 *   lat_stream_body    reads the blocks into f->data, f->head being the header: 1, or -1
 *   lat_stream_skip    skips the blocks, and checks the length of each alone: 1, or -1
 *   lat_stream_begin   reads them by slices, see below */
int lat_stream_head(lat_input *in, lat_header *head);
int lat_stream_body(lat_input *in, lat_field *f);
int lat_stream_skip(lat_input *in, const lat_header *head);

/* What the last header said about how its blocks are stored, for lat-info. */
typedef struct lat_stream_form {
    lat_order order;
    bool compressed;
    size_t block;              /* raw bytes a block */
    unsigned blocks;           /* after body, skip or end: how many there were */
    unsigned long long stored; /* after body, skip or end: bytes of the whole field in the stream */
    unsigned crc;              /* after body, skip or end: CRC-32 of the field's raw bytes */
} lat_stream_form;
const lat_stream_form *lat_stream_last(lat_input *in);

/* ---- reading by slices ----------------------------------------------------------------------- */

/* A field by slices of the last axis (lattice/slices.h), in memory of a few blocks beside the
 * memory of the caller. After lat_stream_head:
 *
 *     r = lat_stream_begin(in, &head);             NULL with lat_error set
 *     lat_stream_get(r, slices, count);            the next `count` slices, until there are no more
 *     largest = lat_stream_largest(r);             the largest modulus of a real, for verify
 *     lat_stream_end(r, &head);                    trailer and CRC; frees r
 *     lat_stream_verify(&head, name, plaquette, link_trace, largest);
 *
 * `count` may change from call to call; a few MiB at once are faster than less.
 * lat_stream_get_stored leaves the reals that the stream does not have (head.reals) undefined;
 * lat_stream_get computes them. lat_stream_end with NULL for the header gives up, and only frees r.
 * `head` is borrowed until the end.
 *
 * Plaquette and link trace are not measured here: the caller measures them (lat_measure_slices) and
 * lat_stream_verify compares them with the header's. A stream whose order goes across slices is
 * refused, unless all slices are read by one call. */
typedef struct lat_stream_reader lat_stream_reader;
lat_stream_reader *lat_stream_begin(lat_input *in, const lat_header *head);
int lat_stream_get(lat_stream_reader *r, void *slices, int count);
int lat_stream_get_stored(lat_stream_reader *r, void *slices, int count);
double lat_stream_largest(const lat_stream_reader *r);
int lat_stream_end(lat_stream_reader *r, lat_header *head);
int lat_stream_verify(const lat_header *head, const char *name, double plaquette, double link_trace,
                      double largest);

/* ---- fields of other files, shared by ranks -------------------------------------------------- */

/* *head of rank 0 to the other ranks, where it is overwritten. All ranks call it. */
int lat_stream_share_head(const lat_comm *comm, lat_header *head);

/* The slices of a field, which `next` gives to rank 0 one after the other, to all ranks of f->comm:
 * each has allocated its slab. All ranks call it, with several ranks alone. */
typedef int lat_next_slices(void *context, void *slices, int count);
int lat_stream_share_slices(lat_field *f, lat_next_slices *next, void *context);

/* Sets f->head.read_crc of a field that was not read from a stream: the CRC that it would have in
 * one, in the order and the reals of its header, which fit slices. All ranks call it: 0 or -1. */
int lat_stream_crc(lat_field *f);

/* Sets f->head.natural_crc, whatever the order of the header is. */
int lat_stream_natural_crc(lat_field *f);

/* The CRCs of streams, in natural order, from which exactly these links would be read: in double
 * and in single precision, with all rows and without the last. "" where that changes a number. All
 * ranks call it: 0 or -1. */
enum { LAT_STREAM_SAME = 4, LAT_CRC_TEXT = 9 };
int lat_stream_same_crcs(const lat_field *f, char crc[LAT_STREAM_SAME][LAT_CRC_TEXT]);

/* ---- writing --------------------------------------------------------------------------------- */

/* Writes header, blocks and trailer, in the order of f->head.order. `store` (common/options.h):
 * LAT_STORE_AUTO compresses links, transformations and sources into a file; other spinors, and all
 * that goes into a pipe, it does not.
 *
 * If plaquette or link trace of a gauge field are NaN, they are measured and set. If f->head.reals
 * is less than all reals of a matrix (12 for SU(3), 4 for SU(2)), the others in memory become what
 * a reader will compute. A field with a matrix that is not in SU(N) is refused. */
int lat_stream_write(lat_output *out, lat_field *f, int store);

/* Preallocates space for such a field, lat_output_preallocate. */
void lat_stream_preallocate(lat_output *out, const lat_header *head, int store);

/* The number of fields written so far, to be set where an output is continued
 * (lat_output_continue); or NULL with lat_error set. */
unsigned *lat_stream_written(lat_output *out);

/* Writes the end mark after all fields, and commits and frees `out` in any case. A stream without
 * the end mark, because its writer failed between two fields, is refused by every reader. */
int lat_stream_commit(lat_output *out);

/* ---- writing by slices ----------------------------------------------------------------------- */

/*     w = lat_stream_open(out, &head, store);      writes the header; NULL with lat_error set
 *     lat_stream_put(w, slices, count);            the next `count` slices, until there are no more
 *     lat_stream_close(w);                         writes the trailer, and frees w in any case
 *
 * The bytes do not depend on `count`. `head` is borrowed until the end; its plaquette and link
 * trace are written as they are. Where head.reals drops rows, the caller makes sure that they
 * follow from the others. lat_stream_abort frees w and writes nothing more; NULL is allowed. */
typedef struct lat_stream_writer lat_stream_writer;
lat_stream_writer *lat_stream_open(lat_output *out, const lat_header *head, int store);
int lat_stream_put(lat_stream_writer *w, const void *slices, int count);
int lat_stream_close(lat_stream_writer *w);
void lat_stream_abort(lat_stream_writer *w);

/* In place of lat_stream_put, for a field in natural order with all reals that is not in the host's
 * memory: block after block `bytes` gives the `n` bytes of the field from `from` on, n being at
 * most LAT_STREAM_BLOCK and `from` a multiple of it; NULL, with lat_error set, where it cannot.
 * They stay until it is asked for bytes of which `done` is not below their end; that is when
 * lat_stream_held more have been asked for. Called by one thread. */
#define LAT_STREAM_BLOCK ((size_t)1 << 20)
typedef const void *lat_stream_bytes(void *with, size_t from, size_t n, size_t done);
int lat_stream_put_from(lat_stream_writer *w, lat_stream_bytes *bytes, void *with);
size_t lat_stream_held(const lat_stream_writer *w);

/* Writes the header once more, as it is now, over the one that lat_stream_open wrote; between open
 * and close, of an output that lat_output_is_hidden. 0, or -1; or 1 if the new header has another
 * length: then the output holds no stream any more. */
int lat_stream_rewrite_head(lat_stream_writer *w);
