/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.h: a checkpoint of solutions, column by column, so that a run that was cut off goes on.
 *
 * The file is a stream of spinors (docs/format.md), replaced as a whole; lat-info shows it. Each
 * has the info lines
 *
 *     checkpoint.run      tool, and options that decide its result: must be the same (resume.h)
 *     checkpoint.column   which column, of which solution
 *     checkpoint.numbers  of the caller
 *
 * All ranks call these functions: 0 or a pointer, or -1 or NULL with lat_error set. */
#ifndef LAT_RUN_COLUMNS_H
#define LAT_RUN_COLUMNS_H

#include "lattice/field.h"

typedef struct lat_columns lat_columns;

/* Writes to `path` (NULL: nowhere; after lat_checkpoint_usage, resume.h) and has what is in the
 * file `resume` (NULL: nothing). */
lat_columns *lat_columns_open(const char *path, const char *resume, const lat_comm *comm);
void lat_columns_free(lat_columns *k); /* NULL is allowed */

/* Is anything written? Is there anything, or will there be? */
bool lat_columns_writes(const lat_columns *k);
bool lat_columns_used(const lat_columns *k);

/* `solution` names the solution that x is: configuration, parameters, CRCs. `numbers` (`count` of
 * them, at most 8) are kept with the column. Saving: a file that cannot be written is a warning,
 * one until it can be written again; it is written so often that this takes a twentieth of the
 * time, and when the run is stopped. lat_columns_restore: 1 and the column of x and the numbers are
 * those of the checkpoint, 0 if it does not have them, or -1. Ghosts of x are not touched. */
int lat_columns_save(lat_columns *k, const char *solution, const lat_field *x, int column,
                     const double *numbers, int count);
int lat_columns_restore(lat_columns *k, const char *solution, lat_field *x, int column,
                        double *numbers, int count);

/* A run that is asked to stop (common/stop.h):
 *   watch     from here on, if a checkpoint is written
 *   asked     by which signal the run was asked to stop, 0 or -1: to be looked at now and then
 *   stopped   writes the file, and says how to go on; lat_stop_exit is to follow
 *   keep      writes what is not in the file yet: its name, or NULL where there is nothing in it;
 *             lat_error is empty afterwards */
void lat_columns_watch(const lat_columns *k);
int lat_columns_asked(const lat_columns *k);
void lat_columns_stopped(lat_columns *k, int signal);
const char *lat_columns_keep(lat_columns *k);

/* The run is done: removes the file. */
void lat_columns_remove(lat_columns *k);

#endif
