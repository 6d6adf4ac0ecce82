/* SPDX-License-Identifier: BSD-3-Clause */
/* file_reader.h: reads a field of a file slice by slice, as often as it is needed.
 *
 * Slices of a file are read anew each time. On a pipe, and where a format does not have slices one
 * after the other, the first pass keeps the whole field in memory. */
#pragma once

#include "format.h"

/* Called with slices first .. first + count - 1, which stay in memory until the next call returns.
 * 0; anything else stops the pass. */
typedef int lat_slices_fn(void *context, const lat_header *head, const void *slices, int first,
                          int count);

typedef struct lat_file_reader {
    lat_input *in;
    const char *name;
    const lat_format *format;
    lat_read_context r;
    lat_field f;             /* the header; all links, or NULL */
    lat_payload p;           /* not of our stream */
    uint64_t at;             /* byte where the links begin */
    bool whole;              /* keeps the whole field in memory */
    bool picks;              /* reads slices at their places, lat_payload_pick */
    bool fresh;              /* no pass has begun */
    bool validated;          /* the links were compared with what the file states */
    int signs[LAT_MAX_DIMS]; /* signs[mu] - 1: the slice along mu whose links have another sign in
                                the file; 0: none */
} lat_file_reader;

/* Opens the next field, up to its links: 1; 0 at the end of a stream; -1. `whole`: all slices are
 * needed at once. To be closed after 1. */
int lat_file_reader_open(lat_file_reader *s, lat_input *in, const lat_format *format,
                         const lat_read_context *r, bool whole);
void lat_file_reader_close(lat_file_reader *s);

/* Calls fn for all slices in order, a few MiB at a time or (at_once) all of them: 0, -1, or what fn
 * returned. */
int lat_file_reader_each(lat_file_reader *s, bool at_once, lat_slices_fn *fn, void *context);

/* After the first pass of a foreign file: slices first .. first + count - 1 into memory of the
 * caller, from slice 0 on in their order. The last ones make sure that the file has not changed. */
int lat_file_reader_get(lat_file_reader *s, void *slices, int first, int count);

/* The same of a file whose slices have their places (lat_payload_placed), any of them; from the
 * first call on, the reader keeps nothing in memory. Until lat_file_reader_each it is the first
 * pass. */
int lat_file_reader_pick(lat_file_reader *s, void *slices, int first, int count);

/* The first pass: what the file states is verified, and f.head gets plaquette and link trace. fn
 * (may be NULL) is called for all slices. `restart` (may be NULL) is called before the first slice,
 * and again whenever the file has to be read in another way. */
typedef int lat_restart_fn(void *context);
int lat_file_reader_first(lat_file_reader *s, bool at_once, lat_restart_fn *restart,
                          lat_slices_fn *fn, void *context);

/* What lat_file_reader_first does after the links of a foreign file, and `sums` of them: 0; -1; or
 * 1: the links have to be read once more. `verify` does it, `end` only what the format does. */
int lat_file_reader_end(lat_file_reader *s, const lat_slice_sums *sums);
int lat_file_reader_verify(lat_file_reader *s, const lat_slice_sums *sums);

/* validate.c: are the links the gauge field that the file states? -1 where numbers are not finite;
 * lat_mismatch where links are not in SU(N), or plaquette or link trace are not those in r. Open
 * boundaries and the signs of antiperiodic ones are recognised, and recorded in the header
 * (lattice/boundary.h). 0; -1; or 1: s->signs has the signs to be removed. */
int lat_validate(lat_file_reader *s, const lat_slice_sums *sums);

/* Changes the sign of the links along mu in slice signs[mu] - 1, in slices first .. first + count -
 * 1, which are in memory. */
void lat_flip_signs(const lat_header *head, const int signs[LAT_MAX_DIMS], void *slices, int first,
                    int count);
