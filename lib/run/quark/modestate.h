/* SPDX-License-Identifier: BSD-3-Clause */
/* modestate.h: a checkpoint of searches of modes (modes/modes.h, run/common/sections.h): of each
 * configuration that is done its modes, with numbers of the caller, then the vectors from which the
 * present search goes on, as spinors, with the numbers of the search beside the first ones. The
 * name of a section says which search, and for a vector which one of how many. A state `between`
 * those that a search has by itself keeps also the rest of each vector, which a field rounds off.
 *
 * All ranks call these functions: 0, or -1 with lat_error set. */
#pragma once

#include "lattice/field.h"
#include "modes/modes.h"
#include "run/common/sections.h"

extern const lat_section_kind lat_modestate;

/* A search has a name: configuration, CRC of the links, and of the subspace if there is one.
 *
 * save   for lat_modes_job.save: each vector goes through a host field like `like` (geometry,
 *        group, ranks), so that a run has the same bits whether it was resumed here or not; and
 *        into the file, where that is due
 *        (of the space `s`)
 * from   1 and a state from which the search goes on, 0 if the checkpoint has none, or -1; drop
 *        frees it
 * keep   the search is done: its modes, which are copied, and numbers
 * done   1 and a copy of these, 0 or -1 */
enum { LAT_MODESTATE_NUMBERS = 2 };
int lat_modestate_save(lat_sections *k, const char *name, lat_space *s, const lat_field *like,
                       const lat_modes_state *state);
int lat_modestate_from(lat_sections *k, const char *name, lat_space *coarse, lat_space *exact,
                       lat_modes_state *state);
void lat_modestate_drop(lat_modes_state *state);
int lat_modestate_keep(lat_sections *k, const char *name, const lat_field *modes,
                       const double numbers[LAT_MODESTATE_NUMBERS]);
int lat_modestate_done(lat_sections *k, const char *name, lat_field *modes,
                       double numbers[LAT_MODESTATE_NUMBERS]);
