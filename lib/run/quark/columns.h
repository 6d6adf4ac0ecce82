/* SPDX-License-Identifier: BSD-3-Clause */
/* columns.h: a checkpoint of solutions, column by column (run/common/sections.h): spinors. The name
 * of a section says which column, of which solution.
 *
 * All ranks call these functions: 0, or -1 with lat_error set. */
#pragma once

#include "lattice/field.h"
#include "run/common/sections.h"

extern const lat_section_kind lat_columns;

/* Is there anything, or will there be? */
bool lat_columns_used(const lat_sections *k);

/* `solution` names the solution that x is: configuration, parameters, CRCs. `numbers`, `count` of
 * them, are kept with the column. Saving: into the file where that is due, and when the run is
 * stopped (lat_sections_save). lat_columns_restore: 1 and the column of x and the numbers are those
 * of the checkpoint, 0 if it does not have them, or -1. Ghosts of x are not touched. */
int lat_columns_save(lat_sections *k, const char *solution, const lat_field *x, int column,
                     const double *numbers, int count);
int lat_columns_restore(lat_sections *k, const char *solution, lat_field *x, int column,
                        double *numbers, int count);
