/* SPDX-License-Identifier: BSD-3-Clause */
/* npy.h: the head of a NumPy array of complex numbers, versions 1 to 3. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "lattice/header.h"

#define LAT_NPY_MAGIC "\x93NUMPY"
#define LAT_NPY_HEAD 128 /* bytes, as numpy pads the head of such an array */
#define LAT_NPY_MOST (4 * LAT_NPY_HEAD)
#define LAT_NPY_RANK 8

typedef struct lat_npy {
    int rank;
    uint64_t extent[LAT_NPY_RANK];
    lat_real real;
    bool big, fortran; /* fortran: the first index is the fastest */
    bool marked;       /* by lat_npy_mark */
} lat_npy;

/* Bytes of the head that b begins with; 0: it is none. text: what it says; parse: of an array of
 * complex numbers. */
size_t lat_npy_text(const unsigned char *b, size_t n, char text[LAT_NPY_MOST]);
size_t lat_npy_parse(const unsigned char *b, size_t n, lat_npy *array);

/* The head of an array in C's order and little endian, into b; `shape` as Python writes it. */
void lat_npy_print(char b[LAT_NPY_HEAD + 1], lat_real real, const char *shape);

/* Marks the head as ours, which says what the axes are: the last blank of its padding becomes a
 * tab, and is white space to other readers. */
void lat_npy_mark(char b[LAT_NPY_HEAD + 1]);
