/* SPDX-License-Identifier: BSD-3-Clause */
/* file_beside.h: ranks read a foreign file of links side by side, each its slices.
 *
 * They do where the slices have known places in the file (lat_payload_placed), and all ranks can
 * open it under its name. Each rank reads the header, and what follows the links, for itself: so
 * all know how the links lie. Checksums are added up over the ranks, plaquette and trace are
 * measured by all. Rank 0 validates the links; where that needs them once more, it reads the file.
 */
#pragma once

#include "file_reader.h"

/* Can they? *s, which rank 0 has opened, is opened by the others then. All ranks call it. 0 or -1.
 */
int lat_file_everywhere(lat_file_reader *s, lat_input *in, const lat_format *format, bool *all);

/* Then: reads and verifies the field. The sentences are those of one rank. All ranks call it. 0 or
 * -1. */
int lat_file_read_beside(lat_file_reader *s, lat_field *f);
