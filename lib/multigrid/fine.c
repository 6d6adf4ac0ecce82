/* SPDX-License-Identifier: BSD-3-Clause */
/* fine.c: the finest level: its blocks, and the weights of its hops. */
#include "multigrid/fine.h"

#include "base/error.h"
#include "lattice/box.h"
#include "lattice/iterate.h"

int lat_mg_fine_check(const lat_geometry *lattice, const lat_device *dev, int block[LAT_MAX_DIMS])
{
    lat_box box;
    if (lat_mg_fine_blocks(lattice, block) || lat_box_of(dev->comm, lattice, &box))
        return -1;
    for (int mu = LAT_MAX_DIMS - 1; mu >= 0; mu--) {
        const int blocks = lattice->dims[mu] / block[mu];
        if (blocks % box.ranks[mu])
            return lat_fail("multigrid: an extent of %d in %c has %d blocks, which %d ranks cannot "
                            "share: expected a number of ranks that divides it",
                            lattice->dims[mu], "xyzt"[mu], blocks, box.ranks[mu]);
    }
    return 0;
}

int lat_mg_fine_open(lat_mg_fine *f, lat_dirac *d, const int block[LAT_MAX_DIMS],
                     const lat_coarse *coarse, int n)
{
    const lat_grid *grid = d->space->grid;
    f->ops = f->down.ops = coarse->ops;
    f->down.dev = grid->dev;
    f->down.to = coarse;
    f->space = d->space;
    f->d = d;
    f->down.comm = grid->dev->comm;
    f->down.ranks = grid->dev->comm->size > 1;
    return lat_blocks_open(&f->down.blocks, &grid->spec.lattice, &grid->box, block, &coarse->sites)
                   || lat_transfer_open(&f->down, 4 * lat_spinor_colours(grid->dev, f->space->nc),
                                        n)
               ? -1
               : f->ops->fine_open(f);
}

void lat_mg_fine_close(lat_mg_fine *f)
{
    if (f->ops)
        f->ops->fine_close(f);
    lat_transfer_close(&f->down);
}

void lat_mg_fine_factor(const lat_mg_fine *f, int mu, int x, double *re, double *im)
{
    const lat_fermion *m = &f->d->fermion;
    const int extent = f->links->head.geom.dims[mu];
    const double w = mu < 3 ? m->nu / m->xi : 1;
    *re = lat_phase_hops(m->boundary[mu], x, extent, 1);
    *im = 0;
    if (*re != 0 && x == extent - 1)
        lat_hop_phase(m->boundary[mu], false, re, im);
    *re *= w;
    *im *= w;
}

void lat_mg_fine_places(const lat_mg_fine *f, int64_t half, int32_t *place)
{
    const lat_blocks *b = &f->down.blocks;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < b->sites; i++)
        place[b->position[i]] = (int32_t)(f->space->ops->position(f->space, (size_t)i) % half);
}

void lat_mg_to_stage(const lat_field *f, int first, lat_field *stage)
{
    const size_t n = lat_header_full_reals(&f->head), all = lat_header_objects(&f->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(f); i++)
        for (size_t k = 0; k < LAT_EIGHT * n; k++) {
            const size_t at = (i * all + (size_t)first) * n + k;
            ((double *)stage->data)[i * LAT_EIGHT * n + k] =
                f->head.real == LAT_F64 ? (float)((const double *)f->data)[at]
                                        : ((const float *)f->data)[at];
        }
}

void lat_mg_from_stage(const lat_field *stage, int first, lat_field *f)
{
    const size_t n = lat_header_full_reals(&f->head), all = lat_header_objects(&f->head);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lat_field_sites(f); i++)
        for (size_t k = 0; k < LAT_EIGHT * n; k++)
            ((float *)f->data)[(i * all + (size_t)first) * n + k] =
                (float)((const double *)stage->data)[i * LAT_EIGHT * n + k];
}
