/* SPDX-License-Identifier: BSD-3-Clause */
/* header.h: what a stream says about a field before its numbers (docs/format.md). */
#ifndef LAT_HEADER_H
#define LAT_HEADER_H

#include <stddef.h>
#include <stdbool.h>
#include "common/geometry.h"
#include "order.h"

#define LAT_MAX_COLOURS 16

typedef enum { LAT_GAUGE, LAT_TRANSFORM } lat_kind; /* nd links a site, or one matrix a site */
typedef enum { LAT_F32 = 4, LAT_F64 = 8 } lat_real; /* the value is the size in bytes */

/* What a line of the stream has room for, 65536 bytes with "history = " and the newline, and with
 * "info." and the newline; the longest info key; how many info lines there are. */
#define LAT_MAX_LINE 65525
#define LAT_MAX_INFO_LINE 65530
#define LAT_MAX_KEY 200
#define LAT_MAX_INFO 1000

/* Gribov copies of one field in a stream. */
#define LAT_MAX_COPIES 2000

/* A list of lines, owned. What is added becomes one line of UTF-8: control characters become
 * blanks, other bytes question marks, and one longer than LAT_MAX_LINE is cut and ends with "...".
 */
typedef struct lat_lines {
    int count;
    char **line;
} lat_lines;

int lat_lines_add(lat_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lat_lines_free(lat_lines *lines);

typedef struct lat_header {
    lat_kind kind;
    lat_geometry geom;
    int nc;           /* N of SU(N), 2 to 16 */
    lat_real real;    /* type of the numbers */
    int reals;        /* reals a matrix in the stream: 2NN, or 12 (SU(3)), or 4 (SU(2)) */
    double plaquette; /* mean Re tr U_p / N; NaN where not known (always for a transform) */
    double link_trace;
    char gauge[16]; /* "none", "landau", ...: the condition that was imposed */
    double
        weight[LAT_MAX_DIMS]; /* of each direction in the functional, 1 but for weighted Landau */
    double functional;        /* of that condition, NaN where none */
    double theta;
    long sweeps;    /* sweeps it took, 0 where none */
    long copies;    /* gauge field: how many transformations of it follow in the stream, 0 to
                       LAT_MAX_COPIES */
    lat_lines info; /* "key = value": ensemble_id, ensemble_label, sequence_number, lfn ... */
    lat_lines
        history;      /* one line a stage: tool version, arguments, result, what it was read from */
    lat_order order;  /* in which it is to be written: natural unless a tool says otherwise. Not
                         read:  lat_stream_form has the order of what was read */
    char read_crc[9]; /* CRC-32 of the raw bytes that were read, in hex; "" if it came from
                         elsewhere. Not written: the next stage's line in `history` says it. */
} lat_header;

/* A header with nothing known: kind gauge, SU(3), f64, 18 reals, plaquette NaN, gauge none. */
void lat_header_init(lat_header *head);
void lat_header_free(lat_header *head);
int lat_header_copy(lat_header *to,
                    const lat_header *from); /* overwrites *to, frees nothing of it */

/* Fails where the fields contradict each other or are out of range. */
int lat_header_check(const lat_header *head, const char *name);

/* The same lattice and group? */
bool lat_header_alike(const lat_header *a, const lat_header *b);

/* Number of matrices in the field, and of bytes in the stream (reals * real each). */
size_t lat_header_matrices(const lat_header *head);
size_t lat_header_bytes(const lat_header *head);

/* The value of an info line, or NULL; setting replaces it. Keys are lower case letters, digits,
 * '_', '.' and '-' (lat_info_key), values one line; one that is too long is refused. */
bool lat_info_key(const char *key);
const char *lat_info_get(const lat_header *head, const char *key);
int lat_info_set(lat_header *head, const char *key, const char *value);

/* Where matrix i is: "1,0,3,2 t" for a link, "1,0,3,2" in a transformation. Returns buf. */
#define LAT_PLACE 64
const char *lat_position_text(const lat_header *head, size_t i, char buf[LAT_PLACE]);

/* True if the text is UTF-8. */
bool lat_utf8(const char *text);

/* What was measured, where it is a number and was not known yet. */
void lat_header_measured(lat_header *head, double plaquette, double link_trace);

/* The condition no longer holds (the links were changed): gauge none, NaN, 0. */
void lat_header_ungauge(lat_header *head);

#endif
