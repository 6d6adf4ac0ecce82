/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.h: pieces of host fields as doubles in natural order, on their way to a GPU or from it;
 * by all threads. There a link is a 3x3 matrix, and a spinor has 3 colours: links of SU(2) are in
 * the upper corner, (U, 0; 0, 1), and the third colour of their spinors is zero. */
#pragma once

#include "lattice/field.h"

enum { LAT_STAGE_LINK = 18, LAT_STAGE_SPINOR = 24 }; /* reals */

/* Links first .. first+count-1: [count][18]. */
void lat_stage_links(const lat_field *u, size_t first, size_t count, double *to);

/* Spinors object[0..n-1] of sites first .. first+count-1: [n][count][24]; and back. */
void lat_stage_spinors(const lat_field *f, int n, const int *object, size_t first, size_t count,
                       double *to);
void lat_unstage_spinors(lat_field *f, int n, const int *object, size_t first, size_t count,
                         const double *from);

/* Are they all zero? */
bool lat_stage_zero(const lat_field *f, int n, const int *object, size_t first, size_t count);

/* Links of x, y and z alone, as they are: [count][3][2 N N]. */
void lat_stage_space_links(const lat_field *u, size_t first, size_t count, double *to);

/* In place: rows of nc complex numbers become rows of 3, zeros behind them. */
void lat_stage_widen(int nc, int rows, double *v);
