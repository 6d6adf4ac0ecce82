/* SPDX-License-Identifier: BSD-3-Clause */
/* file_reader.h: one field of a file, slice by slice and as often as it is needed.
 *
 * Of a file, slices are read anew each time; on a pipe, and where a format does not have them one
 * after the other, the first reading keeps them all. */
#ifndef LAT_SOURCE_H
#define LAT_SOURCE_H

#include "format.h"

/* Slices number first to first + count - 1; they stay there until the next call is done. */
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
    bool whole;              /* keeps the links */
    bool fresh;              /* they were not read yet */
    bool judged;             /* what the file states was compared with them */
    int signs[LAT_MAX_DIMS]; /* along mu, from 1: the slice of the file whose links have another
                                sign; 0: none */
} lat_file_reader;

/* The next field up to its links: 1; 0 at the end of a stream; -1. `whole`: all slices are needed
 * at once. The source has to be closed after 1. */
int lat_file_reader_open(lat_file_reader *s, lat_input *in, const lat_format *format,
                         const lat_read_context *r, bool whole);
void lat_file_reader_close(lat_file_reader *s);

/* Calls fn for all slices in order, a few MiB at a time, or all at once; stops where it is not 0.
 */
int lat_file_reader_each(lat_file_reader *s, bool at_once, lat_slices_fn *fn, void *context);

/* The first of these calls, at the end of which is known what the field is: what the file states is
 * verified, and f.head has its plaquette and link trace. fn (may be NULL) sees all slices after
 * `again`, which is called before the first slice, and once more whenever it turns out that the
 * file has to be read in another way. */
typedef int lat_again_fn(void *context);
int lat_file_reader_first(lat_file_reader *s, bool at_once, lat_again_fn *again, lat_slices_fn *fn,
                          void *context);

/* validate.c: are the links the gauge field that the file says they are? Refuses numbers that are
 * not finite, and disputes links that are not in SU(N) and a plaquette or link trace other than r
 * says. Open boundaries and the signs of antiperiodic ones are told apart and recorded
 * (lattice/boundary.h). 0; -1; or 1: s->signs says which to take off. */
int lat_validate(lat_file_reader *s, const lat_slice_sums *sums);

/* Turns the sign of the links along mu of slice signs[mu] - 1, among slices number first to first +
 * count - 1. */
void lat_flip_signs(const lat_header *head, const int signs[LAT_MAX_DIMS], void *slices, int first,
                    int count);

#endif
