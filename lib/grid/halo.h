/* SPDX-License-Identifier: BSD-3-Clause */
/* halo.h: the faces of a slab to the ghosts of the neighbouring ranks.
 *
 * An exchange is begun and finished; in between the interior is computed. Two orders of overlap:
 *     a sweep writes f:     faces of f, begin, interior of f, finish      (gauge fixing, heat bath)
 *     an operator reads f:  begin, interior of the result, finish, faces  (Dirac operators)
 * The CPU runs them as lat_cpu_sweep and lat_cpu_operator (cpu_halo.h). A GPU runs a sweep as
 * lat_cuda_sweep (cuda_halo.cuh); between GPUs that reach each other's memory kernels write the
 * faces to the neighbours' ghosts themselves. On the checking device ghosts are NaN from begin to
 * finish, while a sweep writes their owners, and after an operator has read them.
 *
 * Every rank calls every function. C and C++. */
#pragma once

#include "grid.h"

/* What travels: sites of one parity, some units, some consecutive objects of each site. */
typedef struct lat_halo_part {
    int parity;
    const int *unit; /* [units]; the same list on all ranks */
    int units;
    int object, objects;
} lat_halo_part;

/* All ghosts of a member become the neighbours' faces, which have been written; one exchange at a
 * time a communicator. Nothing if there are none. 0, or -1 with lat_error set. */
int lat_halo_exchange(lat_dfield *f, int member);
