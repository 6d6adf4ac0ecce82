/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.h: pieces of host fields as doubles in natural order, on their way to a GPU or from it;
 * by all threads. */
#ifndef LAT_DIRAC_STAGING_H
#define LAT_DIRAC_STAGING_H

#include "lattice/field.h"

/* Links first .. first+count-1: [count][2NN]. */
void lat_stage_links(const lat_field *u, size_t first, size_t count, double *to);

/* Spinor `object` of sites first .. first+count-1: [count][8N]; and back. */
void lat_stage_spinors(const lat_field *f, int object, size_t first, size_t count, double *to);
bool lat_stage_zero(const lat_field *f, int object, size_t first, size_t count); /* all zero? */
void lat_unstage_spinors(lat_field *f, int object, size_t first, size_t count, const double *from);

/* The numbers of `random` in spinor.h, in the basis of host fields: [count][reals]. */
void lat_stage_random(uint64_t seed, int column, int reals, size_t first, size_t count, double *to);

#endif
