/* SPDX-License-Identifier: BSD-3-Clause */
/* header.h: the header of a field: what a stream states before the numbers (docs/format.md). */
#pragma once

#include <stddef.h>
#include <stdbool.h>
#include "common/geometry.h"
#include "site/groups.h"
#include "order.h"
#include "quark.h"

/* What a field has at a site (docs/format.md). Its objects are N x N matrices: nd links, or one g;
 * or they are spinors of 4 N complex numbers: one, 4 N, or any number of them. */
typedef enum { LAT_GAUGE, LAT_TRANSFORM, LAT_SPINOR, LAT_PROPAGATOR, LAT_MODES } lat_kind;
typedef enum { LAT_F32 = 4, LAT_F64 = 8 } lat_real; /* the value is the size in bytes */

/* Bytes of a history line and of an info line: 65536 with "history = " or "info." and the newline;
 * bytes of an info key; number of info lines. */
#define LAT_MAX_LINE 65525
#define LAT_MAX_INFO_LINE 65530
#define LAT_MAX_KEY 200
#define LAT_MAX_INFO 1000

/* Gribov copies of one field in a stream. */
#define LAT_MAX_COPIES 2000

/* A list of lines, which it owns. lat_lines_add makes the text one line of UTF-8. Control
 * characters become blanks, bytes that are not UTF-8 question marks. A line longer than
 * LAT_MAX_LINE is cut and ends with "...". 0, or -1 without memory. */
typedef struct lat_lines {
    int count;
    char **line;
} lat_lines;

int lat_lines_add(lat_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
void lat_lines_free(lat_lines *lines);

typedef struct lat_header {
    lat_kind kind;
    lat_geometry geom;
    int nc;            /* N of SU(N), 2 to 16 */
    lat_real real;     /* type of the numbers */
    int reals;         /* of an object in the stream: 2NN, or 12 (SU(3)), or 4 (SU(2)); 8N */
    double plaquette;  /* mean Re tr U_p / N; NaN where not known (always if kind is not gauge) */
    double link_trace; /* mean Re tr U_mu / N; likewise */
    lat_quark quark;   /* of spinors, propagators and modes alone */
    char gauge[16];    /* the condition that was imposed: "landau", ...; "none". For spinors, this
                          and the next four describe their links. */
    /* For each direction in the functional, 1 except in weighted Landau gauge. */
    double weight[LAT_MAX_DIMS];
    double functional; /* of that condition, NaN where none */
    double theta;
    long sweeps;    /* that it took, 0 where none */
    long copies;    /* gauge field: how many transformations of it follow in the stream, 0 to
                       LAT_MAX_COPIES */
    lat_lines info; /* "key = value": ensemble_id, ensemble_label, sequence_number, lfn ... */
    /* A line for each stage of a pipeline: tool, version, arguments, result, CRC of its input. */
    lat_lines history;
    /* In which it will be written, natural unless a tool sets it. Not read: lat_stream_form has the
     * order of what was read. */
    lat_order order;
    /* CRC-32 of the raw bytes that were read, in hex; "" if it was not read from a stream. Not
     * written: the line of the next stage in `history` has it. */
    char read_crc[9];
    /* The same of a field that was read in another order, as it would be in the natural one; else
     * "". */
    char natural_crc[9];
} lat_header;

/* The CRC by which spinors name their links, in whatever order these were read; "" if unknown. */
static inline const char *lat_header_links_crc(const lat_header *links)
{
    return *links->natural_crc ? links->natural_crc : links->read_crc;
}

/* A header with nothing known: kind gauge, SU(3), f64, 18 reals, plaquette NaN, gauge none. */
void lat_header_init(lat_header *head);
void lat_header_free(lat_header *head);
/* Overwrites *to and frees nothing of it: 0, or -1 without memory. */
int lat_header_copy(lat_header *to, const lat_header *from);

/* 0, or -1 where members contradict each other or are out of range; `name` begins the sentence. */
int lat_header_check(const lat_header *head, const char *name);

/* The same lattice and group? */
bool lat_header_alike(const lat_header *a, const lat_header *b);

/* Has it spinors? Makes it a header of spinors, all of the quark part unknown; head->nc is set.
 * `columns` is read for modes alone. */
static inline bool lat_header_spinors(const lat_header *head) { return head->kind >= LAT_SPINOR; }
void lat_header_make_spinors(lat_header *head, lat_kind kind, int columns);

/* Is it of a source: spinors that say what they are, but have neither operator nor residuals? */
bool lat_header_source(const lat_header *head);

/* The kind as the stream has it, "gauge"; and for sentences, "a gauge field". lat_header_need: 0,
 * or -1 with "name: expected a gauge field, found a quark propagator". */
const char *lat_kind_word(lat_kind kind);
const char *lat_kind_text(lat_kind kind);
int lat_header_need(const lat_header *head, lat_kind kind, const char *name);

/* Objects a site: nd, 1, 1, 4N, columns; reals of one in memory: 2NN or 8N. */
size_t lat_header_objects(const lat_header *head);
size_t lat_header_full_reals(const lat_header *head);

/* Is it in single precision, with a third row of SU(3) that only follows from the others? Then the
 * row in memory is rounded, and whoever takes a matrix as doubles computes it again. */
static inline bool lat_header_completed(const lat_header *head)
{
    return head->real == LAT_F32 && head->nc == 3 && head->reals == 12;
}

/* The word of the order language for the objects of a site (order.h). */
lat_order_objects lat_header_order_objects(const lat_header *head);

/* Number of objects (matrices, spinors) in the field, and of bytes in the stream (reals * real
 * each). */
size_t lat_header_matrices(const lat_header *head);
size_t lat_header_bytes(const lat_header *head);

/* The value of an info line, or NULL. lat_info_set adds or replaces one: 0, or -1 where the key is
 * none or the line too long. A key is lower case letters, digits, '_', '.' and '-' (lat_info_key);
 * a value is one line. */
bool lat_info_key(const char *key);
const char *lat_info_get(const lat_header *head, const char *key);
int lat_info_set(lat_header *head, const char *key, const char *value);
void lat_info_remove(lat_header *head, const char *key);

/* Info lines about the gauge that links were annealed for, which they are not in
 * (lattice/condition.h has their values). */
#define LAT_INFO_ANNEALED "annealed_for"
#define LAT_INFO_ANNEALED_WEIGHTS "annealed_weights"

/* Info lines of links that have flowed (lat-flow), and of smeared ones (lat-smear): their texts in
 * the order in which they were smeared, with blanks between. */
#define LAT_INFO_FLOW_TIME "flow_time"
#define LAT_INFO_FLOW_ACTION "flow_action"
#define LAT_INFO_SMEARING "smearing"
#define LAT_INFO_PROJECTION "projection"

/* The info line that says what the columns of an overlap solution are (run/quark/overlap.h). */
#define LAT_INFO_PROPAGATOR "propagator"

/* The info line that says what |b - M x|/|x| is at most on a slice of time. It belongs to the
 * residuals of the header: without these nobody reads it. */
#define LAT_INFO_RESIDUAL_SLICES "residual_slices"

/* The position of object i as text: "1,0,3,2 t" of a link, "1,0,3,2" in a transformation or a
 * spinor, "1,0,3,2 column 7" in a propagator. Returns buf. */
#define LAT_POSITION_TEXT 64
const char *lat_position_text(const lat_header *head, size_t i, char buf[LAT_POSITION_TEXT]);

/* True if the text is UTF-8. */
bool lat_utf8(const char *text);

/* Takes over measured numbers that are finite and were not known (NaN) before. */
void lat_header_measured(lat_header *head, double plaquette, double link_trace);

/* The links have changed, so that no gauge condition holds: gauge none, NaN, 0 sweeps; and none is
 * near. */
void lat_header_ungauge(lat_header *head);

/* The links are others, to which no flow has led: it begins at 0. */
void lat_header_unflow(lat_header *head);
