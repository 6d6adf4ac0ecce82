/* SPDX-License-Identifier: BSD-3-Clause */
/* milc_info.h: the .info that MILC writes beside a file of links or of a propagator: lines of a
 * keyword and a value, for people. */
#pragma once

#include "lattice/header.h"

/* Takes the .info at `path` into the header of the field that was read from `name`: info lines
 * milc.KEYWORD. It has to have the extents and the time stamp of the file, and where both state
 * checksums, these, since it may lie beside another file. 0 or -1. */
int lat_milc_info_take(const char *path, const char *name, lat_header *head);
