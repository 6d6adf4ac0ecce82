/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_table.h: where the neighbours of a block of sites are on the CPU, and what the boundaries do
 * to them. */
#pragma once

#include "dirac/cpu/dirac_lanes.h"
#include "grid/cpu_grid.h"
#include "grid/team.h"
#include "lattice/fermion.h"

/* Directions in the order of the hop: forward and backward of t, x, y, z. */
static inline int lat_hop_axis(int d) { return (d / 2 + 3) % 4; }

/* 0, or -1 with lat_error set; lat_hop_table_free in either case. */
int lat_hop_table_fill(lat_hop_table *table, const lat_cpu_grid *grid,
                       const lat_phase boundary[LAT_MAX_DIMS]);
void lat_hop_table_free(lat_hop_table *table);
