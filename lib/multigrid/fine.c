/* SPDX-License-Identifier: BSD-3-Clause */
/* fine.c: sites in lanes to columns side by side, and back. */
#include "multigrid/fine.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/iterate.h"

/* ---- open ------------------------------------------------------------------------------------ */

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

/* Which position is which site of the list. */
static int find_positions(lat_mg_fine *f)
{
    const lat_blocks *b = &f->down.blocks;
    const lat_space *s = f->space;
    int64_t most = 0;
    for (int64_t i = 0; i < b->sites; i++) {
        const int64_t at = s->ops->position(s, (size_t)i);
        most = at > most ? at : most;
    }
    const int64_t groups = most / s->layout.side + 1, positions = groups * s->layout.side;
    if (!(f->at = lat_alloc((size_t)positions, sizeof *f->at, "blocks")))
        return -1;
    for (int64_t i = 0; i < positions; i++)
        f->at[i] = -1;
    for (int64_t i = 0; i < b->sites; i++)
        f->at[s->ops->position(s, (size_t)i)] = (int32_t)b->position[i];
    int64_t odd = positions; /* sites of odd parity are behind the others */
    for (int64_t i = positions - 1; i >= 0; i--)
        if (f->at[i] >= b->start[1][0])
            odd = i;
    f->group[0][0] = 0;
    f->group[0][1] = f->group[1][0] = odd / s->layout.side;
    f->group[1][1] = groups;
    return 0;
}

int lat_mg_fine_open(lat_mg_fine *f, lat_dirac *d, const lat_field *links,
                     const int block[LAT_MAX_DIMS], const lat_mg_sites *coarse, int n)
{
    const lat_grid *grid = d->space->grid;
    const lat_geometry *lattice = &grid->spec.lattice;
    f->space = d->space;
    f->d = d;
    f->links = links;
    f->down.comm = grid->dev->comm;
    f->down.ranks = grid->dev->comm->size > 1;
    if (lat_blocks_open(&f->down.blocks, lattice, &grid->slab, block, coarse)
        || lat_transfer_open(&f->down, 4 * f->space->nc, n) || find_positions(f))
        return -1;
    const lat_blocks *b = &f->down.blocks;
    f->column = lat_alloc_zero((size_t)((b->sites - b->start[1][0]) * f->down.components),
                               sizeof *f->column, "columns of the multigrid");
    return f->column ? 0 : -1;
}

void lat_mg_fine_close(lat_mg_fine *f)
{
    lat_transfer_close(&f->down);
    free(f->at);
    free(f->column);
}

/* ---- lanes and columns ----------------------------------------------------------------------- */

#define ROOT 0.70710678118654752f

/* A column of a group of sites. */
static float *group_of(const lat_mg_fine *f, const lat_dfield *x, int64_t group, int column)
{
    return (float *)((char *)x->data
                     + lat_vector_at(&f->space->layout, group * f->space->layout.side, column, 0));
}

/* Numbers of chirality + and - from upper and lower ones, or back: it is the same. */
LAT_INLINE void chiralities(int half, int side, int lane, const float *group, float *to)
{
    for (int e = 0; e < half; e++) {
        const float up = group[e * side + lane], low = group[(half + e) * side + lane];
        to[e] = ROOT * (up + low);
        to[half + e] = ROOT * (up - low);
    }
}

LAT_INLINE void halves(int half, int side, int lane, const float *from, float *group)
{
    for (int e = 0; e < half; e++) {
        group[e * side + lane] = ROOT * (from[e] + from[half + e]);
        group[(half + e) * side + lane] = ROOT * (from[e] - from[half + e]);
    }
}

enum { MOST_REALS = 24 };

/* Column k of a site's numbers gets its reals, and back. */
static void put_site(const lat_mg_fine *f, lat_eight *to, int k, const float *reals)
{
    for (int c = 0; c < f->down.components; c++) {
        to[c].re[k] = reals[2 * c];
        to[c].im[k] = reals[2 * c + 1];
    }
}

static void get_site(const lat_mg_fine *f, const lat_eight *from, int k, float *reals)
{
    for (int c = 0; c < f->down.components; c++) {
        reals[2 * c] = from[c].re[k];
        reals[2 * c + 1] = from[c].im[k];
    }
}

/* Columns of the sites of a parity to `to`, whose first site is `first` of the list. */
static void to_columns(const lat_mg_fine *f, int parity, int columns, const int *column,
                       const lat_dfield *x, int64_t first, lat_eight *to)
{
    const int side = f->space->layout.side, half = f->down.components;
#pragma omp parallel for schedule(static)
    for (int64_t g = f->group[parity][0]; g < f->group[parity][1]; g++)
        for (int k = 0; k < LAT_EIGHT; k++) {
            const float *from = k < columns ? group_of(f, x, g, column[k]) : NULL;
            for (int l = 0; l < side; l++) {
                const int32_t site = f->at[g * side + l];
                float reals[MOST_REALS] = {0};
                if (site < 0)
                    continue;
                if (from)
                    chiralities(half, side, l, from, reals);
                put_site(f, to + (site - first) * f->down.components, k, reals);
            }
        }
}

void lat_mg_fine_restrict(const lat_mg_fine *f, int columns, const int *column, const lat_dfield *x,
                          lat_eight *z)
{
    const lat_transfer_part part = {1, 2, NULL, f->down.blocks.start[1][0]};
    to_columns(f, 1, columns, column, x, part.first, f->column);
    lat_restrict(&f->down, part, f->column, z);
}

static void from_columns(const lat_mg_fine *f, int parity, int columns, const int *column,
                         lat_dfield *x, int64_t first, const lat_eight *from)
{
    const int side = f->space->layout.side, half = f->down.components;
#pragma omp parallel for schedule(static)
    for (int64_t g = f->group[parity][0]; g < f->group[parity][1]; g++)
        for (int k = 0; k < columns; k++) {
            float *const to = group_of(f, x, g, column[k]);
            for (int l = 0; l < side; l++) {
                const int32_t site = f->at[g * side + l];
                float reals[MOST_REALS] = {0};
                if (site >= 0)
                    get_site(f, from + (site - first) * half, k, reals);
                halves(half, side, l, reals, to);
            }
        }
}

void lat_mg_fine_prolong(const lat_mg_fine *f, int columns, const int *column, lat_dfield *x,
                         const lat_eight *z)
{
    const lat_transfer_part part = {1, 2, NULL, f->down.blocks.start[1][0]};
    lat_prolong(&f->down, part, z, f->column);
    from_columns(f, 1, columns, column, x, part.first, f->column);
}

/* All sites' columns; the caller frees it. */
static lat_eight *all_columns(const lat_mg_fine *f)
{
    return lat_alloc((size_t)(f->down.blocks.sites * f->down.components), sizeof(lat_eight),
                     "columns of the multigrid");
}

int lat_mg_fine_restrict_all(const lat_mg_fine *f, const lat_dfield *x, lat_eight *z)
{
    const lat_transfer_part part = {0, 2, NULL, 0};
    lat_eight *all = all_columns(f);
    for (int p = 0; p < 2 && all; p++)
        to_columns(f, p, LAT_EIGHT, lat_column_numbers, x, 0, all);
    if (all)
        lat_restrict(&f->down, part, all, z);
    free(all);
    return all ? 0 : -1;
}

int lat_mg_fine_prolong_all(const lat_mg_fine *f, lat_dfield *x, const lat_eight *z)
{
    const lat_transfer_part part = {0, 2, NULL, 0};
    lat_eight *all = all_columns(f);
    if (all)
        lat_prolong(&f->down, part, z, all);
    for (int p = 0; p < 2 && all; p++)
        from_columns(f, p, LAT_EIGHT, lat_column_numbers, x, 0, all);
    free(all);
    return all ? 0 : -1;
}

/* ---- test vectors ---------------------------------------------------------------------------- */

void lat_mg_fine_take(const lat_mg_fine *f, int first, int count, const lat_dfield *x)
{
    const int side = f->space->layout.side, half = f->down.components, n = f->down.n;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < f->group[1][1]; g++)
        for (int k = 0; k < count; k++) {
            const float *const from = group_of(f, x, g, k);
            for (int l = 0; l < side; l++) {
                const int64_t site = f->at[g * side + l];
                float reals[MOST_REALS];
                if (site < 0)
                    continue;
                chiralities(half, side, l, from, reals);
                float *to = f->down.v + 2 * (site * f->down.components * n + first + k);
                for (int c = 0; c < f->down.components; c++, to += 2 * n) {
                    to[0] = reals[2 * c];
                    to[1] = reals[2 * c + 1];
                }
            }
        }
}

/* Columns first .. of v or P; of one chirality alone, or of both (-1). */
static void give(const lat_mg_fine *f, const float *v, int first, int count, int chirality,
                 lat_dfield *x)
{
    const int side = f->space->layout.side, half = f->down.components, n = f->down.n;
#pragma omp parallel for schedule(static)
    for (int64_t g = 0; g < f->group[1][1]; g++)
        for (int k = 0; k < count; k++) {
            float *const to = group_of(f, x, g, k);
            for (int l = 0; l < side; l++) {
                const int64_t site = f->at[g * side + l];
                float reals[MOST_REALS] = {0};
                const float *from =
                    v + 2 * ((site < 0 ? 0 : site) * f->down.components * n + first + k);
                for (int c = 0; c < f->down.components && site >= 0; c++)
                    if (chirality < 0 || c / (half / 2) == chirality) {
                        reals[2 * c] = from[2 * n * c];
                        reals[2 * c + 1] = from[2 * n * c + 1];
                    }
                halves(half, side, l, reals, to);
            }
        }
}

void lat_mg_fine_give(const lat_mg_fine *f, int first, int count, lat_dfield *x)
{
    give(f, f->down.v, first, count, -1, x);
}

void lat_mg_fine_columns(const lat_mg_fine *f, int first, int chirality, lat_dfield *x)
{
    give(f, f->down.p, first, LAT_EIGHT, chirality, x);
}
