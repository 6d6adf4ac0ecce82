/* SPDX-License-Identifier: BSD-3-Clause */
/* stream_ranks.h: a field between a stream, which rank 0 reads or writes, and the ranks that share
 * it; for stream_read.c, stream_write.c and stream_text.c, and nobody else. Rank 0 has memory for
 * its own slices and for some more. */
#ifndef LAT_STREAM_RANKS_H
#define LAT_STREAM_RANKS_H

#include "lattice/field.h"

/* As lat_stream_body and the part of lat_stream_write after its measurements, with several ranks. A
 * failure to write is one of all ranks, and they may go on. */
int lat_ranks_read(lat_input *in, lat_field *f, double *largest);
int lat_ranks_write(lat_output *out, const lat_field *f, int store);

/* Rank 0's header to the other ranks, whose *head is overwritten. */
int lat_header_broadcast(lat_header *head);

#endif
