/* SPDX-License-Identifier: BSD-3-Clause */
/* payload.h: the numbers of a foreign file, into a field and out of one.
 *
 * All formats here store one matrix after the other, re and im together. They differ in byte order,
 * in the order of sites and directions, in how much of a matrix they store and in how they sum up.
 * Bytes travel in chunks of a few MiB. */
#ifndef LAT_PAYLOAD_H
#define LAT_PAYLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "lattice/field.h"
#include "common/io.h"

/* Adds to `sum` the bytes, as they are in the file, of `sites` sites of `site_bytes` each, the
 * first of which is the file's number `first`. Pieces come in any order, from any thread. */
typedef void lat_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                        size_t first);

/* Where the n matrices of a file from number `first` on belong: their numbers in natural order. */
typedef void lat_placing(const lat_geometry *geom, size_t first, size_t n, size_t *to);

/* How a matrix lies in the file: row by row; column by column; SU(2) as the quaternion q0..q3 of
 * HiRep, U = [[q0 + i q3, -q2 + i q1], [q2 + i q1, q0 - i q3]], which is one row in another order.
 */
typedef enum { LAT_BY_ROWS, LAT_BY_COLUMNS, LAT_QUATERNIONS } lat_shape;

/* NERSC: the sum of all 32-bit words, read in either byte order. */
typedef struct lat_nersc_sum {
    uint32_t big, little;
} lat_nersc_sum;
void lat_nersc_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                      size_t first);

/* MILC: the exclusive or of all 32-bit words, word i rotated left by i mod 29, and by i mod 31. */
typedef struct lat_milc_sum {
    uint32_t class29[29], class31[31];
} lat_milc_sum;
void lat_milc_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                     size_t first);
void lat_milc_sums(const lat_milc_sum *sum, bool big, uint32_t *sum29, uint32_t *sum31);

/* GLU's double precision: the same of the sums of the two halves of each real, read in either byte
 * order. */
void lat_glu_digest_big(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                        size_t first);
void lat_glu_digest_little(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                           size_t first);

/* SciDAC: the exclusive or of the CRC-32 of each site, rotated left by its natural index mod 29,
 * and mod 31. Only for payloads in natural order. */
typedef struct lat_scidac_sum {
    uint32_t a, b;
} lat_scidac_sum;
void lat_scidac_digest(void *sum, const unsigned char *bytes, size_t sites, size_t site_bytes,
                       size_t first);

/* One of them, zero at first. */
typedef union lat_sum {
    lat_nersc_sum nersc;
    lat_milc_sum milc;
    lat_scidac_sum scidac;
} lat_sum;

typedef struct lat_payload lat_payload;

/* The next n numbers of a file that does not hold them as bytes, in the byte order of this machine.
 */
typedef int lat_fetch(lat_input *in, lat_payload *p, void *to, size_t n);

/* All links of a file that does not hold matrices, to where they belong. */
typedef int lat_take(lat_input *in, const lat_header *head, lat_payload *p, void *links);

struct lat_payload {
    bool big;        /* big endian in the file */
    int rows;        /* rows of a matrix in the file: nc, or nc - 1 completed by det U = 1 */
    lat_shape shape; /* quaternions: rows = 1 */
    lat_order order; /* of the file; or, for what that cannot say, one of the next two */
    uint32_t *sites; /* sites[i] = natural index of the file's site i (reading only); owned */
    lat_placing *place;
    lat_fetch *fetch;   /* NULL: bytes */
    size_t fetched;     /* numbers so far */
    lat_take *take;     /* NULL: matrices */
    lat_digest *digest; /* called for every chunk; may be NULL */
    lat_sum sum;
};

/* Whole matrices (or so many rows of them) with t slowest and z fastest, directions t, x, y, z:
 * cuLGT, MDP, HiRep. */
static inline lat_payload lat_time_first(bool big, int rows)
{
    return (lat_payload){.big = big, .rows = rows, .order = {.sites = "txyz", .links = "txyz"}};
}

/* Bytes in the file. */
uint64_t lat_payload_bytes(const lat_header *head, int rows);

/* Are slices of the last axis (lattice/slices.h) one after the other in the file? (And are they
 * bytes: text is too slow to be read twice.) */
bool lat_payload_sliced(const lat_payload *p, const lat_header *head);

/* The next `count` slices of the file, number `first` on, into memory for just these; all of them
 * at once where they are not one after the other. */
int lat_payload_read(lat_input *in, const lat_header *head, lat_payload *p, void *slices, int first,
                     int count);

/* The other way; with out NULL only sums, for formats whose header holds a sum. */
int lat_payload_write(lat_output *out, const lat_header *head, lat_payload *p, const void *slices,
                      int first, int count);

/* The share, 0 to 1, of unitary matrices (of SU(2): quaternions of norm 1) among the whole ones in
 * these bytes of a file, if they are what p, nc and real say. 0 if there are none. */
double lat_payload_fit(const lat_payload *p, int nc, lat_real real, const unsigned char *bytes,
                       size_t n);

/* n reals of one precision to another, or the same. */
void lat_reals_convert(void *to, lat_real to_real, const void *from, lat_real from_real, size_t n);

/* All numbers of the field, byte order turned. */
void lat_field_swap(lat_field *f);

/* The last row of each of `count` matrices from the others: (-b*, a*) for SU(2), conj(row 0 x row
 * 1) for SU(3), conjugate cofactors for SU(N); in double, rounded to the field's precision. */
void lat_rows_complete(const lat_header *head, void *matrices, size_t count);

/* The largest difference of a real in the last rows from what lat_rows_complete would put there. */
double lat_rows_error(const lat_header *head, const void *matrices, size_t count);

#endif
