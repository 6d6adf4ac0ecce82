/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_paths.h: directions of a class of separations, shortest paths. C and C++. */
#pragma once

#include "lattice/field.h"
#include "loops.h"

/* The directions of a class: vectors, of which each begins with a positive component. */
enum { LAT_LOOPS_DIRECTIONS = 24 };
int lat_loops_directions(const int *vector, int axes, int list[][LAT_MAX_DIMS]);

/* The shortest paths of a vector: steps +-(axis + 1), `length` a path. */
enum { LAT_LOOPS_PATHS = 90 };
typedef struct lat_loops_paths {
    int length, count;
    signed char step[LAT_LOOPS_PATHS][LAT_LOOPS_LONGEST];
} lat_loops_paths;

/* All shortest paths of such a vector. */
void lat_loops_paths_of(const int *vector, lat_loops_paths *p);

/* Has a class a step of several links? */
bool lat_loops_off_axis(const lat_loops_how *how);
