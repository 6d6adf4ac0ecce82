/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: how much memory of a device a solver of lib/wilson/wilson.h takes, and how many columns
 * fit beside each other.
 *
 * A site of a slab has, with s bytes a real (16-bit numbers and a norm in half):
 *     links           8 directions of 18 reals, or as many as the options say
 *     clover blocks   two of 8 N^2 reals, A and A^-1
 *     a vector        8 N reals a column
 *     temporal gauge  2 N^2 reals, in double alone
 * in the outer precision (double) and in the inner one. Vectors are the source, the solution, the
 * residual, those between hops, and those of the method (krylov.h). Faces of ranks are two slices
 * of a vector more. */
#pragma once

#include "wilson/wilson.h"

typedef struct lat_wilson_use {
    lat_solver solver;
    int twists; /* of lat_wilson_twists; 0: lat_wilson_solve */
    int modes;  /* of lat_wilson_deflate */
} lat_wilson_use;

/* Bytes on a rank's device with o->columns columns. `spare`: with what a solve may come to need,
 * other methods (AUTO) and single precision where half stagnates. */
double lat_wilson_bytes(const lat_device *dev, const lat_header *links, const lat_fermion *fermion,
                        const lat_wilson_options *o, const lat_wilson_use *use, bool spare);

/* Columns, at most o->columns, for which `bytes` are enough: with what a solve may come to need,
 * or, if that does not fit with one column, without. 0, with a sentence in lat_error, if one column
 * does not fit. */
int lat_wilson_columns(const lat_device *dev, const lat_header *links, const lat_fermion *fermion,
                       const lat_wilson_options *o, const lat_wilson_use *use, double bytes);
