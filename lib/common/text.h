/* SPDX-License-Identifier: BSD-3-Clause */
/* text.h: text through a lat_output and into memory; what the measuring tools print: pieces of
 * JSON, what rows share. */
#ifndef LAT_TEXT_H
#define LAT_TEXT_H

#include <stdio.h>
#include "geometry.h"
#include "io.h"

/* A stream whose characters go to `out`, all of them on fflush; NULL on failure. Does not own
 * `out`. */
FILE *lat_text_open(lat_output *out);

/* Closes the stream and commits `out`, or gives `out` up if anything went wrong. */
int lat_text_close(FILE *text, lat_output *out);

/* A stream into memory, as open_memstream makes one; but that of glibc forgets what it finds no
 * memory for, and neither ferror nor fclose tells. */
typedef struct lat_memory {
    char *text; /* after lat_memory_close: all of it and a NUL, to be freed */
    size_t n, room;
} lat_memory;
FILE *lat_memory_open(lat_memory *m);

/* 0, or -1 if not all of the text is there: then nothing is to be freed. */
int lat_memory_close(FILE *to, lat_memory *m);

/* "..." with what JSON wants escaped; bytes above 127 as they are (the header is UTF-8). */
void lat_json_string(FILE *to, const char *s);

/* A number that reads back as the same double; null where it is not finite. */
void lat_json_number(FILE *to, double x);

/* [re, im]. */
void lat_json_complex(FILE *to, const double z[2]);

/* "key": or , "key": before a value, as `first` says; for objects on one line. */
void lat_json_key(FILE *to, bool first, const char *key);

/* , "key": and a number. */
void lat_json_pair(FILE *to, const char *key, double x);

/* n numbers that have names: lines, in words, of those that are not NaN; columns, a tab before
 * each; pairs of JSON, no comma before the first. */
void lat_numbers_text(FILE *to, int n, const char *const words[], const double *number);
void lat_numbers_columns(FILE *to, int n, const char *const names[]);
void lat_numbers_tsv(FILE *to, int n, const double *number);
void lat_numbers_json(FILE *to, int n, const char *const names[], const double *number);

/* Polyakov loops, one for each of the lattice's directions: columns for all four, nan where there
 * is no direction. */
#define LAT_POLYAKOV_COLUMNS \
    "polyakov_x_re\tpolyakov_x_im\tpolyakov_y_re\tpolyakov_y_im\tpolyakov_z_re\tpolyakov_z_im\t" \
    "polyakov_t_re\tpolyakov_t_im"
void lat_polyakov_text(FILE *to, const lat_geometry *geom, const double loop[][2]);
void lat_polyakov_tsv(FILE *to, const lat_geometry *geom, const double loop[][2]);
void lat_polyakov_json(FILE *to, const lat_geometry *geom, const double loop[][2]);

/* What lattice and which group a row is of; what is before it ends without a separator. */
#define LAT_LATTICE_COLUMNS "dims\tgroup"
void lat_lattice_text(FILE *to, const lat_geometry *geom, int nc);
void lat_lattice_tsv(FILE *to, const lat_geometry *geom, int nc);
void lat_lattice_json(FILE *to, const lat_geometry *geom, int nc);

#endif
