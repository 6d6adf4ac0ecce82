/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c: sites to lanes, and the table of neighbours. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

#define MAX_LANES 16
#define MAX_PERMS 128

/* How a layout comes to be: of a lattice, or of a slab with its ghosts. */
typedef struct plan {
    lat_layout *lay;
    bool halo;
    int parity;  /* of the site with local coordinates 0 */
    int flip[2]; /* 1 where the ghost slice below, above, is beyond the boundary of an odd extent */
    int next[4]; /* where the next block goes, or the next slot: even, odd, even and odd ghosts */
} plan;

/* Of a site with local coordinates x. */
static int region(const plan *p, const int x[LAT_MAX_DIMS])
{
    const int last = p->lay->geom.nd - 1, parity = x[0] + x[1] + x[2] + x[3] + p->parity;
    if (p->halo && x[last] == 0)
        return 2 + ((parity + p->flip[LAT_DOWN]) & 1);
    if (p->halo && x[last] == p->lay->geom.dims[last] - 1)
        return 2 + ((parity + p->flip[LAT_UP]) & 1);
    return parity & 1;
}

bool lat_layout_cut(const lat_geometry *geom, int axes, int count, int boxes[LAT_MAX_DIMS])
{
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        boxes[mu] = 1;
    for (int n = 1; n < count; n *= 2) {
        int best = -1;
        for (int mu = axes - 1; mu >= 0; mu--) {
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

/* lay->site for boxes: the same site of every box is one block, even sites first. */
static void list_boxes(plan *p, const int boxes[LAT_MAX_DIMS])
{
    lat_layout *lay = p->lay;
    lat_geometry box = lay->geom, grid = lay->geom;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        box.dims[mu] = lay->geom.dims[mu] / boxes[mu];
        grid.dims[mu] = boxes[mu];
    }
    for (size_t i = 0; i < lat_volume(&box); i++) {
        int x[LAT_MAX_DIMS], n[LAT_MAX_DIMS], y[LAT_MAX_DIMS];
        lat_coordinates(&box, i, x);
        int block = p->next[region(p, x)]++;
        for (int l = 0; l < lay->lanes; l++) {
            lat_coordinates(&grid, (size_t)l, n);
            for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
                y[mu] = x[mu] + n[mu] * box.dims[mu];
            lay->site[(int64_t)block * lay->lanes + l] = (int64_t)lat_site(&lay->geom, y);
        }
    }
}

/* lay->site for consecutive sites of each parity; the last block of each may have idle lanes. */
static void list_rows(plan *p)
{
    lat_layout *lay = p->lay;
    int64_t next[4];
    for (int i = 0; i < 4; i++)
        next[i] = (int64_t)p->next[i] * lay->lanes;
    for (size_t i = 0; i < lat_volume(&lay->geom); i++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&lay->geom, i, x);
        lay->site[next[region(p, x)]++] = (int64_t)i;
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

/* Fills lay->step for `blocks` blocks. */
static int link_blocks(lat_layout *lay, int blocks, const int64_t *slot)
{
    const int nk = 2 * lay->geom.nd;
    for (int b = 0; b < blocks; b++)
        for (int k = 0; k < nk; k++) {
            int64_t at[MAX_LANES], lane[MAX_LANES];
            bool one_block = true, permuted = true;
            bool taken[MAX_LANES] = {false};
            for (int l = 0; l < lay->lanes; l++) {
                int64_t here = (int64_t)b * lay->lanes + l, site = lay->site[here];
                /* An idle lane is its own neighbour: any finite numbers do there. */
                at[l] = site < 0 ? here
                                 : slot[lat_neighbour(&lay->geom, (size_t)site, k % lay->geom.nd,
                                                      k < lay->geom.nd ? 1 : -1)];
                lane[l] = at[l] % lay->lanes;
                one_block = one_block && at[l] / lay->lanes == at[0] / lay->lanes;
                permuted = permuted && !taken[lane[l]];
                taken[lane[l]] = true;
            }
            lat_step *step = &lay->step[(size_t)b * (size_t)nk + (size_t)k];
            step->perm = one_block && permuted ? find_perm(lay, lane) : -1;
            step->block = (int32_t)(step->perm < 0 ? lay->ncollect : at[0] / lay->lanes);
            if (step->perm >= 0)
                continue;
            const size_t row = (size_t)lay->lanes * sizeof *at;
            if (lat_grow(&lay->collect, lay->ncollect, row, "the table of neighbours"))
                return -1;
            memcpy(lay->collect + lay->ncollect++ * lay->lanes, at, row);
        }
    return 0;
}

static void count_sites(const plan *p, size_t count[4])
{
    int x[LAT_MAX_DIMS] = {0};
    const lat_geometry *geom = &p->lay->geom;
    const int last = geom->nd - 1;
    const size_t slice = lat_volume(geom) / (size_t)geom->dims[last];
    memset(count, 0, 4 * sizeof *count);
    for (x[last] = 0; x[last] < geom->dims[last]; x[last]++) {
        const int r = region(p, x);
        count[r] += slice - slice / 2; /* all of a slice of one site */
        count[r ^ 1] += slice / 2;
    }
}

/* Everything but the geometry and the faces, and where each site is: 0, or -1. */
static int fill(plan *p, int lanes, int64_t *position)
{
    lat_layout *lay = p->lay;
    char text[64];
    int boxes[LAT_MAX_DIMS];
    size_t volume = lat_volume(&lay->geom), count[4];
    if (volume / (size_t)lanes > INT32_MAX / (2 * LAT_MAX_DIMS) - 4)
        return lat_fail("lattice %s: no memory for its table of neighbours",
                        lat_dims_text(&lay->geom, text));
    count_sites(p, count);
    lay->lanes = lanes;
    int all = 0;
    for (int r = 0; r < 4; r++) {
        p->next[r] = all;
        all += (int)((count[r] + (size_t)lanes - 1) / (size_t)lanes);
    }
    lay->neven = p->next[1];
    lay->nblocks = p->next[2];
    lay->nghost = all - lay->nblocks;
    lay->boxes = lat_layout_cut(&lay->geom, lay->geom.nd - p->halo, lanes, boxes);
    size_t slots = (size_t)all * (size_t)lanes, steps = (size_t)all * (size_t)(2 * lay->geom.nd);
    lay->site = lat_alloc(slots, sizeof *lay->site, "the table of sites");
    lay->step = lat_alloc(steps, sizeof *lay->step, "the table of neighbours");
    lay->perm = lat_alloc((size_t)(MAX_PERMS * lanes), sizeof *lay->perm,
                          "the table of neighbours");
    lay->perm32 = lat_alloc((size_t)(MAX_PERMS * lanes), sizeof *lay->perm32,
                            "the table of neighbours");
    if (!lay->site || !lay->step || !lay->perm || !lay->perm32)
        return -1;
    for (size_t i = 0; i < slots; i++)
        lay->site[i] = -1;
    if (lay->boxes)
        list_boxes(p, boxes);
    else
        list_rows(p);
    for (size_t i = 0; i < slots; i++)
        if (lay->site[i] >= 0)
            position[lay->site[i]] = (int64_t)i;
    int64_t identity[MAX_LANES];
    for (int l = 0; l < lanes; l++)
        identity[l] = l;
    find_perm(lay, identity); /* number 0 */
    return link_blocks(lay, all, position);
}

/* The faces: positions of own and ghost sites, and which blocks have some of the own ones. */
static int list_faces(plan *p, const int64_t *position)
{
    lat_layout *lay = p->lay;
    const int last = lay->geom.nd - 1, count = lay->geom.dims[last] - 2;
    const size_t slice = lat_volume(&lay->geom) / (size_t)(count + 2);
    lay->faces = LAT_FACES;
    for (int i = 0; i < 2 * LAT_FACES; i++) {
        lat_face *f = &lay->face[i / LAT_FACES][i % LAT_FACES];
        f->axis = last;
        f->side = i % LAT_FACES;
        f->own = lat_alloc(slice, sizeof *f->own, "the faces of a slab");
        f->ghost = lat_alloc(slice, sizeof *f->ghost, "the faces of a slab");
        if (!f->own || !f->ghost)
            return -1;
    }
    for (int i = 0; i < 4; i++) {
        const int side = i / 2, ghost = i % 2;
        const size_t t = (size_t)(side == LAT_DOWN ? 1 - ghost : count + ghost);
        for (size_t n = t * slice; n < (t + 1) * slice; n++) {
            int x[LAT_MAX_DIMS];
            lat_coordinates(&lay->geom, n, x);
            const int parity = region(p, x) & 1, block = (int)(position[n] / lay->lanes);
            lat_face *f = &lay->face[parity][side];
            if (ghost) {
                f->ghost[f->ghosts++] = position[n];
                continue;
            }
            f->own[f->sites++] = position[n];
            if (side == LAT_DOWN && lay->low[parity] < block + 1)
                lay->low[parity] = block + 1;
            if (side == LAT_UP && lay->high[parity] > block)
                lay->high[parity] = block;
        }
    }
    for (int parity = 0; parity < 2; parity++)
        if (lay->high[parity] < lay->low[parity])
            lay->high[parity] = lay->low[parity];
    return 0;
}

lat_layout *lat_layout_new(const lat_geometry *lattice, const lat_slab *own, int lanes)
{
    const int extent = lattice->dims[lattice->nd - 1];
    lat_layout *lay = lat_alloc_zero(1, sizeof *lay, "a layout");
    plan p = {.lay = lay, .halo = own, .parity = own ? (own->first + 1) & 1 : 0};
    if (!lay)
        return NULL;
    lay->geom = *lattice;
    if (own) {
        lay->first = (int64_t)(lat_volume(lattice) / (size_t)lattice->dims[lattice->nd - 1]);
        lay->geom.dims[lattice->nd - 1] = own->count + 2;
        p.flip[LAT_DOWN] = own->first == 0 ? extent % 2 : 0;
        p.flip[LAT_UP] = own->first + own->count == extent ? extent % 2 : 0;
    }
    int64_t *position = lat_alloc(lat_volume(&lay->geom), sizeof *position, "the table of sites");
    int rc = position ? fill(&p, lanes, position) : -1;
    for (int parity = 0; parity < 2 && rc == 0; parity++) {
        lay->low[parity] = parity ? lay->neven : 0;
        lay->high[parity] = parity ? lay->nblocks : lay->neven;
    }
    if (rc == 0 && own)
        rc = list_faces(&p, position);
    free(position);
    if (rc == 0)
        return lay;
    lat_layout_free(lay);
    return NULL;
}

void lat_layout_free(lat_layout *lay)
{
    if (!lay)
        return;
    for (int i = 0; i < 2 * LAT_FACES; i++) {
        LAT_FREE(lay->face[i / LAT_FACES][i % LAT_FACES].own,
                 lay->face[i / LAT_FACES][i % LAT_FACES].ghost);
    }
    LAT_FREE(lay->site, lay->step, lay->perm, lay->perm32, lay->collect, lay);
}
