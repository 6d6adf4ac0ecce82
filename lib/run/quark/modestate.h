/* SPDX-License-Identifier: BSD-3-Clause */
/* modestate.h: a checkpoint of searches of modes (modes/modes.h), so that a run that was cut off
 * goes on.
 *
 * The file is a stream (docs/format.md), replaced as a whole; lat-info shows it: of each
 * configuration that is done its modes, then the vectors from which the present search goes on, as
 * spinors. They have the info lines
 *
 *     checkpoint.run      tool, and options that decide its result: must be the same (resume.h)
 *     checkpoint.modes    which search, and for a vector which one of how many
 *     checkpoint.numbers  of the search, with its first vector; of the caller, with modes
 *
 * All ranks call these functions: 0 or a pointer, or -1 or NULL with lat_error set. */
#ifndef LAT_RUN_MODESTATE_H
#define LAT_RUN_MODESTATE_H

#include "lattice/field.h"
#include "modes/modes.h"

typedef struct lat_modestate lat_modestate;

/* Writes to `path` (NULL: nowhere; after lat_checkpoint_usage, resume.h) and has what is in the
 * file `resume` (NULL: nothing). */
lat_modestate *lat_modestate_open(const char *path, const char *resume, const lat_comm *comm);
void lat_modestate_free(lat_modestate *k); /* NULL is allowed */

/* A search has a name: configuration, CRC of the links.
 *
 * save   for lat_modes_job.save: each vector goes through a host field like `like` (geometry,
 *        group, ranks), so that a run has the same bits whether it was resumed here or not; and
 *        into the file, where that is due (it takes a twentieth of the time) or the run is asked to
 *        stop. A file that cannot be written is a warning.
 * from   1 and a state from which the search goes on, 0 if the checkpoint has none, or -1; drop
 *        frees it
 * keep   the search is done: its modes, which are copied, and numbers
 * done   1 and a copy of these, 0 or -1 */
enum { LAT_MODESTATE_NUMBERS = 2 };
int lat_modestate_save(lat_modestate *k, const char *name, lat_space *s, const lat_field *like,
                       const lat_modes_state *state);
int lat_modestate_from(lat_modestate *k, const char *name, lat_space *s, lat_modes_state *state);
void lat_modestate_drop(lat_modes_state *state);
int lat_modestate_keep(lat_modestate *k, const char *name, const lat_field *modes,
                       const double numbers[LAT_MODESTATE_NUMBERS]);
int lat_modestate_done(lat_modestate *k, const char *name, lat_field *modes,
                       double numbers[LAT_MODESTATE_NUMBERS]);

/* A run that is asked to stop, as in columns.h. `there`: the name of the file, NULL if it has
 * nothing. */
void lat_modestate_watch(const lat_modestate *k);
int lat_modestate_asked(const lat_modestate *k);
void lat_modestate_stopped(const lat_modestate *k, int signal);
const char *lat_modestate_there(const lat_modestate *k);

/* The run is done: removes the file. */
void lat_modestate_remove(lat_modestate *k);

#endif
