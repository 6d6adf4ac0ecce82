/* SPDX-License-Identifier: BSD-3-Clause */
/* result.h: a certified solution becomes a field of the output: what its header says, which columns
 * it has, and a line of the log for each. */
#pragma once

#include <stdio.h>
#include "inverter.h"

/* The names of the log's columns; a line for each of these columns of v->s; log NULL: nothing. */
extern const char lat_result_log_head[];
void lat_result_log(const lat_inverter *v, FILE *log, int columns, const int *column);

/* Writes v->s.x, or these columns of it where some are wanted (v->columns); of an overlap operator
 * in the form `form` of lat_propagator. `soon` as in lat_writer_put. x and its header are as before
 * then, for the next mass to begin with. 0, or -1 with lat_error set. */
int lat_result_write(lat_inverter *v, int form, int columns, const int *column, bool soon);
