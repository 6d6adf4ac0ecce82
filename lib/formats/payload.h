/* SPDX-License-Identifier: BSD-3-Clause */
/* payload.h: the links of a foreign file, read and written.
 *
 * Formats store one matrix after the other, re and im together (except lat_read_reals and
 * lat_read_links below). They differ in byte order, in the order of sites and directions, in the
 * part of a matrix that they store, and in their checksums. Bytes are read and written in chunks of
 * a few MiB. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lattice/field.h"
#include "common/io.h"
#include "digest.h"

/* to[i]: the number in natural order of matrix first + i of the file, i < n. */
typedef void lat_matrix_map(const lat_geometry *geom, size_t first, size_t n, size_t *to);

/* How a matrix is stored: row by row; column by column; SU(2) as the quaternion q0..q3 of HiRep,
 * U = [[q0 + i q3, -q2 + i q1], [q2 + i q1, q0 - i q3]], which is one row in another order. */
typedef enum { LAT_BY_ROWS, LAT_BY_COLUMNS, LAT_QUATERNIONS } lat_link_shape;

typedef struct lat_payload lat_payload;

/* The next n reals of a text file, in the byte order of this machine. 0 or -1. */
typedef int lat_read_reals(lat_input *in, lat_payload *p, void *to, size_t n);

/* All links, in natural order, of a file that does not hold matrix after matrix. 0 or -1. */
typedef int lat_read_links(lat_input *in, const lat_header *head, lat_payload *p, void *links);

struct lat_payload {
    bool big;             /* big endian in the file */
    int rows;             /* rows of a matrix in the file: nc, or nc - 1 completed by det U = 1 */
    lat_link_shape shape; /* quaternions: rows = 1 */
    lat_order order;      /* of the file; if it is no such order, one of the next two */
    uint32_t *sites;      /* sites[i] = natural index of the file's site i (reading only); owned */
    lat_matrix_map *map;
    bool map_ahead; /* it keeps slices, except for matrices that are in the part of the next one */
    lat_read_reals *read_reals; /* NULL: the file has bytes */
    size_t reals_read;          /* so far */
    lat_read_links *read_links; /* NULL: the file has matrices */
    void *with;                 /* for read_links */
    bool found;                 /* begin has seen that all of them are in the file */
    lat_digest *digest;         /* the checksum; may be NULL */
    lat_sum sum;
};

/* The order of cuLGT, MDP and HiRep: t slowest and z fastest, directions t, x, y, z. */
#define LAT_TIME_FIRST \
    { \
        .sites = "txyz", .links = "txyz" \
    }

/* Bytes of the links in the file. */
uint64_t lat_payload_bytes(const lat_header *head, int rows);

/* Are slices of the last axis (lattice/slices.h) one after the other in the file? False of text,
 * too, which is too slow to be read twice. */
bool lat_payload_sliced(const lat_payload *p, const lat_header *head);

/* Reads the next `count` slices of the file, from number `first` on, into memory for just these;
 * all at once where they are not one after the other. 0 or -1. */
int lat_payload_read(lat_input *in, const lat_header *head, lat_payload *p, void *slices, int first,
                     int count);

/* Are slices of the last axis in pieces whose places are known, in bytes? Then those that one wants
 * are read alone. */
bool lat_payload_placed(const lat_payload *p, const lat_header *head);

/* Reads slices first .. first + count - 1 of such a file, whose links begin at byte `links`. The
 * position in the input is there before and after. 0 or -1. */
int lat_payload_pick(lat_input *in, uint64_t links, const lat_header *head, lat_payload *p,
                     void *slices, int first, int count);

/* Writes them; with out NULL it computes the checksum only, for formats with it in the header. */
int lat_payload_write(lat_output *out, const lat_header *head, lat_payload *p, const void *slices,
                      int first, int count);

/* The fraction, 0 to 1, of unitary matrices (of SU(2): quaternions of norm 1) among the whole ones
 * in these bytes of a file, read as p, nc and real say. 0 if there are none. */
double lat_payload_fit(const lat_payload *p, int nc, lat_real real, const unsigned char *bytes,
                       size_t n);

/* Converts n reals from one precision to another, or copies them. */
void lat_reals_convert(void *to, lat_real to_real, const void *from, lat_real from_real, size_t n);

/* Reverses the byte order of all numbers of the field. */
void lat_field_swap(lat_field *f);

/* The last row of each of `count` matrices from the others: (-b*, a*) for SU(2), conj(row 0 x row
 * 1) for SU(3), conjugate cofactors for SU(N); in double, rounded to the field's precision. */
void lat_rows_complete(const lat_header *head, void *matrices, size_t count);

/* The largest difference of a real in the last rows from what lat_rows_complete would put there. */
double lat_rows_error(const lat_header *head, const void *matrices, size_t count);
