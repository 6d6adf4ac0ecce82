/* SPDX-License-Identifier: BSD-3-Clause */
/* fine.c: which blocks the finest level has. */
#include "multigrid/fine.h"

#include "base/error.h"

int lat_mg_fine_check(const lat_geometry *lattice, const lat_comm *comm, int block[LAT_MAX_DIMS])
{
    if (lat_mg_fine_blocks(lattice, block))
        return -1;
    const int blocks = lattice->dims[3] / block[3];
    if (blocks % comm->size == 0)
        return 0;
    return lat_fail("multigrid: an extent of %d in t has %d blocks, which %d ranks cannot share: "
                    "expected a number of ranks that divides it",
                    lattice->dims[3], blocks, comm->size);
}

int lat_mg_fine_open(lat_mg_fine *f, lat_dirac *d, const lat_field *links,
                     const int block[LAT_MAX_DIMS], const lat_coarse *coarse, int n)
{
    const lat_grid *grid = d->space->grid;
    f->ops = f->down.ops = coarse->ops;
    f->space = d->space;
    f->d = d;
    f->links = links;
    f->down.comm = grid->dev->comm;
    f->down.ranks = grid->dev->comm->size > 1;
    return lat_blocks_open(&f->down.blocks, &grid->spec.lattice, &grid->slab, block,
                           &coarse->sites)
                   || lat_transfer_open(&f->down, 4 * lat_spinor_colours(grid->dev, f->space->nc), n)
               ? -1
               : f->ops->fine_open(f);
}

void lat_mg_fine_close(lat_mg_fine *f)
{
    if (f->ops)
        f->ops->fine_close(f);
    lat_transfer_close(&f->down);
}
