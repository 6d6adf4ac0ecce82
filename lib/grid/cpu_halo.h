/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_halo.h: halo exchange on the CPU, and the two orders in which it overlaps with computing
 * (halo.h). The functions of a team are called by all threads of an OpenMP team, the others by one
 * thread. Among ranks the first thread, main's, speaks. */
#pragma once

#include "cpu_grid.h"
#include "halo.h"
#include "team.h"

/* The table of grid_internal.h. */
int lat_cpu_halo_new(lat_dfield *f);
void lat_cpu_halo_free(lat_dfield *f);
int lat_cpu_halo_exchange(lat_dfield *f, const lat_halo_part *part);

/* What is done to blocks begin .. end-1 of a unit; the caller's share of all such blocks. */
typedef void lat_cpu_apply(void *context, int unit, int begin, int end);

/* What the threads of a team share. Zero at first. */
typedef struct lat_cpu_team {
    lat_barrier barrier;
    int rc;       /* 0, or -1 once an exchange has failed: the same for all after each call */
    bool in_turn; /* an operator computes nothing while ghosts travel: to compare */
} lat_cpu_team;

/* Applies to all own blocks of the part's parity and units, where the function writes f and reads
 * neighbours of the other parity: faces first, which travel while the interior is computed. Without
 * a halo it is one pass. Called by a team; ends with a barrier. */
void lat_cpu_sweep(lat_cpu_team *team, lat_dfield *f, const lat_halo_part *part,
                   lat_cpu_apply *apply, void *context);

/* Applies to all own blocks of the parity opposite to the part's, where the function reads f at
 * neighbouring sites, of the part's parity, and writes another field: the ghosts of f travel while
 * the interior is computed, and the faces come last. Called by a team; ends with a barrier. */
void lat_cpu_operator(lat_cpu_team *team, lat_dfield *f, const lat_halo_part *part,
                      lat_cpu_apply *apply, void *context);
