/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c: sites to lanes, and the table of neighbours. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>
#include "common/error.h"

#define MAX_LANES 16
#define MAX_PERMS 128

/* Cuts axes in two, the longest boxes first, until there is a box for every lane; false if the
 * boxes would get odd extents before. */
static bool cut(const lat_geometry *geom, int lanes, int boxes[LAT_MAX_DIMS])
{
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        boxes[mu] = 1;
    for (int n = 1; n < lanes; n *= 2) {
        int best = -1;
        for (int mu = geom->nd - 1; mu >= 0; mu--) {
            int extent = geom->dims[mu] / boxes[mu];
            if (extent % 4 == 0 && (best < 0 || extent > geom->dims[best] / boxes[best]))
                best = mu;
        }
        if (best < 0)
            return false;
        boxes[best] *= 2;
    }
    return true;
}

/* lay->site for boxes: the same place of every box is one block, even places first. */
static void place_boxes(lat_layout *lay, const int boxes[LAT_MAX_DIMS])
{
    lat_geometry box = lay->geom, grid = lay->geom;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        box.dims[mu] = lay->geom.dims[mu] / boxes[mu];
        grid.dims[mu] = boxes[mu];
    }
    int next[2] = {0, lay->neven};
    for (size_t i = 0; i < lat_volume(&box); i++) {
        int x[LAT_MAX_DIMS], n[LAT_MAX_DIMS], y[LAT_MAX_DIMS];
        lat_coordinates(&box, i, x);
        int block = next[(x[0] + x[1] + x[2] + x[3]) & 1]++;
        for (int l = 0; l < lay->lanes; l++) {
            lat_coordinates(&grid, (size_t)l, n);
            for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
                y[mu] = x[mu] + n[mu] * box.dims[mu];
            lay->site[(int64_t)block * lay->lanes + l] = (int64_t)lat_site(&lay->geom, y);
        }
    }
}

/* lay->site for consecutive sites of each parity; the last block of each may have idle lanes. */
static void place_rows(lat_layout *lay)
{
    int64_t next[2] = {0, (int64_t)lay->neven * lay->lanes};
    for (int64_t i = 0; i < (int64_t)lay->nblocks * lay->lanes; i++)
        lay->site[i] = -1;
    for (size_t i = 0; i < lat_volume(&lay->geom); i++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&lay->geom, i, x);
        lay->site[next[(x[0] + x[1] + x[2] + x[3]) & 1]++] = (int64_t)i;
    }
}

/* The number of this permutation, added if it is new; -1 if there are too many. */
static int find_perm(lat_layout *lay, const int64_t lane[MAX_LANES])
{
    for (int n = 0; n < lay->nperms; n++)
        if (!memcmp(lay->perm + n * lay->lanes, lane, (size_t)lay->lanes * sizeof *lane))
            return n;
    if (lay->nperms == MAX_PERMS)
        return -1;
    for (int l = 0; l < lay->lanes; l++) {
        lay->perm[lay->nperms * lay->lanes + l] = lane[l];
        lay->perm32[lay->nperms * lay->lanes + l] = (int32_t)lane[l];
    }
    return lay->nperms++;
}

/* Fills lay->step. The first pass (collect == NULL) only counts the rows of `collect`. */
static void link_blocks(lat_layout *lay, const int64_t *slot)
{
    const int nk = 2 * lay->geom.nd;
    lay->ncollect = 0;
    for (int b = 0; b < lay->nblocks; b++)
        for (int k = 0; k < nk; k++) {
            int64_t at[MAX_LANES], lane[MAX_LANES];
            bool one_block = true, permuted = true;
            bool taken[MAX_LANES] = {false};
            for (int l = 0; l < lay->lanes; l++) {
                int64_t here = (int64_t)b * lay->lanes + l, site = lay->site[here];
                /* An idle lane is its own neighbour: any finite numbers do there. */
                at[l] = site < 0 ? here
                    : slot[lat_neighbour(&lay->geom, (size_t)site, k % lay->geom.nd, k < lay->geom.nd ? 1 : -1)];
                lane[l] = at[l] % lay->lanes;
                one_block = one_block && at[l] / lay->lanes == at[0] / lay->lanes;
                permuted = permuted && !taken[lane[l]];
                taken[lane[l]] = true;
            }
            lat_step *step = &lay->step[(size_t)b * (size_t)nk + (size_t)k];
            step->perm = one_block && permuted ? find_perm(lay, lane) : -1;
            step->block = (int32_t)(step->perm < 0 ? lay->ncollect : at[0] / lay->lanes);
            if (step->perm < 0) {
                if (lay->collect)
                    memcpy(lay->collect + lay->ncollect * lay->lanes, at, (size_t)lay->lanes * sizeof *at);
                lay->ncollect++;
            }
        }
}

lat_layout *lat_layout_new(const lat_geometry *geom, int lanes)
{
    char text[64];
    for (int mu = 0; mu < geom->nd; mu++)
        if (geom->dims[mu] % 2) {
            lat_fail("lattice %s: extent %d is odd; even and odd sites need even extents",
                     lat_dims_text(geom, text), geom->dims[mu]);
            return NULL;
        }
    lat_layout *lay = calloc(1, sizeof *lay);
    size_t volume = lat_volume(geom);
    if (!lay || volume / (size_t)lanes > INT32_MAX / (2 * LAT_MAX_DIMS)) {
        free(lay);
        lat_fail("lattice %s: no memory for its table of neighbours", lat_dims_text(geom, text));
        return NULL;
    }
    int boxes[LAT_MAX_DIMS];
    int half = (int)((volume / 2 + (size_t)lanes - 1) / (size_t)lanes);
    lay->geom = *geom;
    lay->lanes = lanes;
    lay->neven = half;
    lay->nblocks = 2 * half;
    lay->boxes = cut(geom, lanes, boxes);
    size_t slots = (size_t)lay->nblocks * (size_t)lanes, steps = (size_t)lay->nblocks * (size_t)(2 * geom->nd);
    int64_t *slot = lat_alloc(volume, sizeof *slot, "the table of sites");
    lay->site = lat_alloc(slots, sizeof *lay->site, "the table of sites");
    lay->step = lat_alloc(steps, sizeof *lay->step, "the table of neighbours");
    lay->perm = lat_alloc((size_t)(MAX_PERMS * lanes), sizeof *lay->perm, "the table of neighbours");
    lay->perm32 = lat_alloc((size_t)(MAX_PERMS * lanes), sizeof *lay->perm32, "the table of neighbours");
    if (!slot || !lay->site || !lay->step || !lay->perm || !lay->perm32)
        goto fail;

    if (lay->boxes)
        place_boxes(lay, boxes);
    else
        place_rows(lay);
    for (size_t i = 0; i < slots; i++)
        if (lay->site[i] >= 0)
            slot[lay->site[i]] = (int64_t)i;
    int64_t identity[MAX_LANES];
    for (int l = 0; l < lanes; l++)
        identity[l] = l;
    find_perm(lay, identity); /* number 0 */
    link_blocks(lay, slot);
    if (lay->ncollect) {
        lay->collect = lat_alloc((size_t)lay->ncollect * (size_t)lanes, sizeof *lay->collect, "the table of neighbours");
        if (!lay->collect)
            goto fail;
        link_blocks(lay, slot);
    }
    free(slot);
    return lay;
fail:
    free(slot);
    lat_layout_free(lay);
    return NULL;
}

void lat_layout_free(lat_layout *lay)
{
    if (!lay)
        return;
    free(lay->site);
    free(lay->step);
    free(lay->perm);
    free(lay->perm32);
    free(lay->collect);
    free(lay);
}
