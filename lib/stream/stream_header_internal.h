/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_header_internal.h: the header of a stream and the end mark.
 *
 *   stream_header.c   reads a header: first line, lines, checksum; end marks; rank 0's to all ranks
 *   stream_parse.c    lines into values
 *   stream_quark.c    lines of spinors, propagators and modes, both ways
 *   stream_print.c    values into lines */
#ifndef LAT_STREAM_HEADER_INTERNAL_H
#define LAT_STREAM_HEADER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "stream.h"

#define LAT_MAX_HEADER ((size_t)1 << 20) /* bytes of a header, first and last line included */

/* What is known of an input. It is kept from lat_stream_head to lat_stream_body, and attached to
 * the input (lat_input_attach). */
typedef struct lat_stream_state {
    bool known;               /* a header was read */
    unsigned long long begin; /* offset of the last header */
    unsigned fields;          /* headers since the last end mark */
    bool filtered;            /* reals went through the filter of codec.h */
    bool swapped;             /* reals are not in the byte order of this machine */
    lat_stream_form form;
} lat_stream_state;

/* NULL, with lat_error set, if no header of this input was read. */
lat_stream_state *lat_stream_state_of(lat_input *in);

/* The end mark, of as many bytes as a trailer. */
#define LAT_END_TAG "LATZ"
#define LAT_END_SIZE 16
void lat_stream_end_mark(unsigned fields, unsigned char mark[LAT_END_SIZE]);

/* Keys of the lines, in the order in which they are written; the names are in key_name. */
typedef enum lat_stream_key {
    LAT_KEY_KIND,
    LAT_KEY_GROUP,
    LAT_KEY_DIMS,
    LAT_KEY_REAL,
    LAT_KEY_REALS,
    LAT_KEY_COLUMNS,
    LAT_KEY_SITES,
    LAT_KEY_LINKS,
    LAT_KEY_ENDIAN,
    LAT_KEY_BLOCK,
    LAT_KEY_COMPRESSION,
    LAT_KEY_FILTER,
    LAT_KEY_PLAQUETTE,
    LAT_KEY_LINK_TRACE,
    LAT_KEY_GAUGE,
    LAT_KEY_WEIGHTS,
    LAT_KEY_FUNCTIONAL,
    LAT_KEY_THETA,
    LAT_KEY_SWEEPS,
    LAT_KEY_COPIES,
    LAT_KEY_BASIS,
    LAT_KEY_SOURCE,
    LAT_KEY_OPERATOR,
    LAT_KEY_MASS,
    LAT_KEY_KAPPA,
    LAT_KEY_CSW,
    LAT_KEY_CSW_T,
    LAT_KEY_XI,
    LAT_KEY_NU,
    LAT_KEY_TWIST,
    LAT_KEY_M0,
    LAT_KEY_BOUNDARY,
    LAT_KEY_RESIDUALS,
    LAT_KEY_EIGENVALUES,
    LAT_KEY_LINKS_CRC,
    LAT_KEYS
} lat_stream_key;
extern const char *const lat_stream_key_name[LAT_KEYS];

/* Parses the lines between the first and the last one of a header: `n` bytes of text, each line
 * ended by a zero. The text is changed. Values go to *head, which lat_header_init has initialised,
 * and to *state. `name` names the input. */
int lat_stream_parse(char *text, size_t n, const char *name, lat_header *head,
                     lat_stream_state *state);

/* What the parts of the parser share. */
typedef struct lat_stream_parser {
    const char *name; /* of the input */
    const char *value[LAT_KEYS];
    lat_header *head;
    lat_stream_state *state;
} lat_stream_parser;

/* "expected KEY = what in the header, found ..": -1. */
int lat_stream_expected(const lat_stream_parser *p, lat_stream_key key, const char *what);

/* A finite real, *value stays if the key is missing; an integer from min to max; `n` finite reals
 * with one blank between. 0 or -1. */
int lat_stream_parse_real(const lat_stream_parser *p, lat_stream_key key, double *value);
int lat_stream_parse_number(const lat_stream_parser *p, lat_stream_key key, unsigned long min,
                            unsigned long max, unsigned long *value);
int lat_stream_parse_reals(const lat_stream_parser *p, lat_stream_key key, int n, double *values);

/* The columns (before what depends on them), and all other keys of quarks. */
int lat_stream_parse_columns(const lat_stream_parser *p);
int lat_stream_parse_quark(const lat_stream_parser *p);

void lat_stream_print_real(FILE *to, lat_stream_key key, double value);
void lat_stream_print_quark(FILE *to, const lat_header *head);

/* True for eight lower-case hexadecimal digits and nothing after them. */
bool lat_stream_parse_crc(const char *text, uint32_t *crc);

/* Writes a header. Blocks are of `block` raw bytes; compressed ones are filtered, too. */
int lat_stream_write_head(lat_output *out, const lat_header *head, size_t block, bool compressed);

#endif
