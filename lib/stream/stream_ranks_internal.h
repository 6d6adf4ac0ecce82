/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ranks_internal.h: a field that several ranks share, to and from the stream of rank 0.
 *
 * All ranks call both functions. Rank 0 needs memory for its own slices and for a ring buffer of
 * some 24 MiB (more where three slices are larger). */
#pragma once

#include "lattice/field.h"

/* Reads the field whose header every rank has in f->head, as lat_stream_body does; allocates
 * f->data. *largest: the largest modulus of a real. 0, or -1 with lat_error set. */
int lat_ranks_read(lat_input *in, lat_field *f, double *largest);

/* Writes header, blocks and trailer. A failure is one of all ranks: they may go on. */
int lat_ranks_write(lat_output *out, const lat_field *f, int store);
