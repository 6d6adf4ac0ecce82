/* SPDX-License-Identifier: BSD-3-Clause */
/* links.h: the links that quark fields were made on, from a file of configurations.
 *
 *     lat_links l = {.in = lat_input_open(gauge_file, comm)};
 *     while (..) { read a field x;
 *                  if (lat_links_find(&l, &x.head, true, lat_input_name(in), n)) ..;
 *                  use l.u }
 *     lat_links_free(&l);
 *
 * All ranks call these functions: 0, or -1 with lat_error set. */
#pragma once

#include "common/io.h"
#include "lattice/field.h"
#include "stream/stream.h"

/* The CRCs of streams that have the same links. {.known = false}: to be computed. */
typedef struct lat_same_links {
    bool known;
    char crc[LAT_STREAM_SAME][LAT_CRC_TEXT];
} lat_same_links;

/* Does this CRC name the links u, in whatever order, precision and rows they were stored, as long
 * as no number is another one? 1, 0 (also for ""), or -1. *same keeps what was computed of u. */
int lat_links_same(const lat_field *u, const char *crc, lat_same_links *same);

typedef struct lat_links_reader lat_links_reader; /* of lat_links_ahead */

typedef struct lat_links {
    lat_input *in;     /* in any format that lat-convert knows; borrowed */
    lat_field u;       /* the present links, ghosts up to date; read_crc is set */
    long number;       /* of the present ones in the file, counted from 1; 0: none were read yet */
    lat_field smeared; /* of lat_links_smeared: those of number smeared_of, by that text */
    char *smeared_by;
    long smeared_of;
    lat_same_links same;      /* of u */
    lat_links_reader *reader; /* reads the next ones; or NULL */
} lat_links;

/* The next links: 1; 0 at the end of the file (u is free then); -1, also where it has no links. */
int lat_links_next(lat_links *l);

/* On one rank: the next links are read from here on, by all threads but one, while u is used;
 * nobody else reads l->in before lat_links_next has them. What is wrong with them it says then. A
 * hint. */
void lat_links_ahead(lat_links *l);

/* Have they been read ahead, and are there any? */
bool lat_links_ready(const lat_links *l);

/* Makes u the links that the field of this header was made on: those of its CRC, the present ones
 * or later ones of the file, as lat_links_same has it; where the header names none, the next ones
 * (`each`), or those that are there. With lat_opts.force the next ones (or the last) do, and a
 * warning says so, whatever their CRC is. Of a field that names no CRC a warning says once, if
 * `each`, that it is taken as of these links. Links of another lattice are refused. Sentences begin
 * with `name` and have the number of the field. */
int lat_links_find(lat_links *l, const lat_header *head, bool each, const char *name, long field);

/* Are these propagators, the second one from `name`, of one configuration? They are if they name
 * one CRC, or both one of the present links of l, if it has an input. If neither names a CRC, as in
 * files of other programs, a warning says so once. 0, or -1 with a sentence. */
int lat_links_pair(lat_links *l, const lat_header *first, const lat_header *second,
                   const char *name);

/* The present links, smeared as `text` says (smear/smear.h; NULL: as they are). They belong to l,
 * until others are asked for. NULL with a sentence. */
const lat_field *lat_links_smeared(lat_links *l, const char *text);

/* Frees all, and closes the input. */
void lat_links_free(lat_links *l);
