/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_beside_internal.h: a field that ranks share, from and to one file that all of them open.
 * All ranks call these functions. */
#pragma once

#include "lattice/field.h"

/* *beside: can all ranks read the field whose header was read last? 0, or -1 with lat_error set. */
int lat_beside_input(lat_input *in, const lat_header *head, bool *beside);

/* Own slices of each rank, as the stream has them, to f->data, which is allocated; then the
 * trailer. *largest: the largest modulus of a real. 0, or -1 with lat_error set. */
int lat_beside_read(lat_input *in, lat_field *f, double *largest);

/* The same for writing a field with this header: at least a block a rank. */
int lat_beside_output(lat_output *out, const lat_header *head, int store, bool *beside);

/* Header, blocks and trailer. A failure is one of all ranks: they may go on. */
int lat_beside_write(lat_output *out, const lat_field *f, int store);
