/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_grid.h: grids and fields on the CPU, for what runs on them: sites in vector lanes (layout.h),
 * the widest that this processor has; how many lanes depends on the storage, single or double. */
#pragma once

#include "grid.h"
#include "layout.h"

typedef struct lat_cpu_grid {
    lat_grid grid;
    lat_layout *lay; /* of a slot */
    int blocks;      /* of a slot, ghosts included */
    int64_t *site;   /* [slots][blocks][lanes]: natural index in the whole lattice; -1: idle */
    double *numbers; /* of lat_cpu_total, kept from one sum to the next: ... */
    size_t reserved; /* ... so many */
} lat_cpu_grid;

static inline const lat_cpu_grid *lat_cpu(const lat_grid *grid)
{
    return (const lat_cpu_grid *)grid;
}

/* The sites of a slot: [blocks][lanes]. */
static inline const int64_t *lat_cpu_sites(const lat_cpu_grid *g, int slot)
{
    return g->site + (size_t)slot * (size_t)g->blocks * (size_t)g->lay->lanes;
}

/* The numbers of a unit: element e = object * reals + real of block b, lane l is number
 * (b * objects * reals + e) * lanes + l. */
static inline void *lat_cpu_unit(const lat_dfield *f, int unit)
{
    return (char *)f->data + (size_t)unit * f->unit_bytes;
}
