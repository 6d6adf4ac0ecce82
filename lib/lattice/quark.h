/* SPDX-License-Identifier: BSD-3-Clause */
/* quark.h: what the header of spinors, propagators and modes states besides the header of links. */
#pragma once

#include "fermion.h"

/* Columns of a field: their residuals fit into one line of a header. */
#define LAT_MAX_COLUMNS 2048

/* The only basis of a stream: DeGrand and Rossi's (docs/format.md, "Gamma matrices"). */
#define LAT_BASIS "degrand-rossi"

/* Part of lat_header, which copies and frees it. */
typedef struct lat_quark {
    lat_fermion fermion; /* what was solved; no operator for a source, or where it is not known */
    int columns;         /* spinors a site: 1; 4 N of a propagator; any number of modes */
    char basis[16];      /* LAT_BASIS */
    char *source;        /* one line of text, or NULL; owned */
    double *residual;    /* |b - M x| / |b| of each column, or NULL; owned */
    double *eigenvalue;  /* of each mode, or NULL; owned */
    char links[9];       /* CRC-32 of the links, as lat_header.read_crc of their field; or "" */
} lat_quark;

void lat_quark_init(lat_quark *q); /* no columns, nothing known */
void lat_quark_free(lat_quark *q);
/* Overwrites *to and frees nothing of it: 0, or -1 without memory. */
int lat_quark_copy(lat_quark *to, const lat_quark *from);

/* 0, or -1 where members contradict each other; `name` begins the sentence. The number of columns
 * is checked by lat_header_check. */
int lat_quark_check(const lat_quark *q, const char *name);

/* Setters, which replace what is there by copies: 0, or -1 with lat_error set. NULL: none. A text
 * becomes one line of UTF-8 as by lat_lines_add; there are q->columns numbers. */
int lat_quark_set_source(lat_quark *q, const char *text);
int lat_quark_set_residuals(lat_quark *q, const double *residual);
int lat_quark_set_eigenvalues(lat_quark *q, const double *eigenvalue);
