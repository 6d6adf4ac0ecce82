/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c: sites to lanes, and the table of neighbours. */
#include "layout.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

#define MAX_LANES 16
#define MAX_PERMS 128

/* Kinds of sites; odd sites have the next number. */
enum { INTERIOR, FACE = 2, GHOST = 4, KINDS = 6 };

/* How a layout comes to be: of a lattice, or of a box with its ghosts. */
typedef struct plan {
    lat_layout *lay;
    const lat_own *own; /* NULL: all */
    int parity;         /* of the site with local coordinates 0 */
    int flip[2]; /* 1 where the ghost below, above, is beyond the boundary of an odd last axis */
    int next[KINDS]; /* where the next block of a kind goes, or the next slot */
} plan;

/* The kind of the site with local coordinates x: INTERIOR, FACE or GHOST, plus its parity. */
static int kind_of(const plan *p, const int x[LAT_MAX_DIMS])
{
    const int last = p->lay->geom.nd - 1;
    int parity = x[0] + x[1] + x[2] + x[3] + p->parity, kind = INTERIOR;
    for (int mu = 0; p->own && mu <= last; mu++) {
        const int end = p->lay->geom.dims[mu] - 1;
        if (!p->own->cut[mu])
            continue;
        if (x[mu] == 0 || x[mu] == end)
            kind = GHOST;
        else if (kind == INTERIOR && (x[mu] == 1 || x[mu] == end - 1))
            kind = FACE;
        if (mu == last && (x[mu] == 0 || x[mu] == end))
            parity += p->flip[x[mu] == 0 ? LAT_DOWN : LAT_UP];
    }
    return kind + (parity & 1);
}

/* Leading axes that are not cut. */
static int whole_axes(const plan *p)
{
    int n = 0;
    while (n < p->lay->geom.nd && !(p->own && p->own->cut[n]))
        n++;
    return n;
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

/* lay->local for boxes: the same site of every box is one block, even sites first. */
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
        const int block = p->next[kind_of(p, x)]++;
        for (int l = 0; l < lay->lanes; l++) {
            lat_coordinates(&grid, (size_t)l, n);
            for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
                y[mu] = x[mu] + n[mu] * box.dims[mu];
            lay->local[(int64_t)block * lay->lanes + l] = (int64_t)lat_site(&lay->geom, y);
        }
    }
}

/* lay->local for consecutive sites of each parity; the last block of each may have idle lanes. */
static void list_rows(plan *p)
{
    lat_layout *lay = p->lay;
    int64_t next[KINDS];
    for (int i = 0; i < KINDS; i++)
        next[i] = (int64_t)p->next[i] * lay->lanes;
    for (size_t i = 0; i < lat_volume(&lay->geom); i++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&lay->geom, i, x);
        lay->local[next[kind_of(p, x)]++] = (int64_t)i;
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
                int64_t here = (int64_t)b * lay->lanes + l, site = lay->local[here];
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

/* Row by row; all sites of one are of a kind. */
static void count_sites(const plan *p, size_t count[KINDS])
{
    const lat_geometry *geom = &p->lay->geom;
    const size_t row = whole_axes(p) ? (size_t)geom->dims[0] : 1;
    memset(count, 0, KINDS * sizeof *count);
    for (size_t i = 0; i < lat_volume(geom); i += row) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(geom, i, x);
        const int kind = kind_of(p, x);
        count[kind] += row - row / 2;
        count[kind ^ 1] += row / 2;
    }
}

/* The natural index of each site among the own ones. */
static void number_own(const plan *p)
{
    lat_layout *lay = p->lay;
    for (int64_t i = 0; i < (int64_t)lay->nblocks * lay->lanes; i++) {
        int x[LAT_MAX_DIMS];
        lay->site[i] = lay->local[i];
        if (!p->own || lay->local[i] < 0)
            continue;
        lat_coordinates(&lay->geom, (size_t)lay->local[i], x);
        for (int mu = 0; mu < lay->geom.nd; mu++)
            x[mu] -= p->own->cut[mu];
        lay->site[i] = (int64_t)lat_site(&lay->here, x);
    }
}

/* Everything but the geometry and the faces, and where each site is: 0, or -1. */
static int fill(plan *p, int lanes, int64_t *position)
{
    lat_layout *lay = p->lay;
    char text[64];
    int boxes[LAT_MAX_DIMS];
    static const int order[] = {FACE, INTERIOR, FACE + 1, INTERIOR + 1, GHOST, GHOST + 1};
    size_t volume = lat_volume(&lay->geom), count[KINDS];
    if (volume / (size_t)lanes > INT32_MAX / (2 * LAT_MAX_DIMS) - 4)
        return lat_fail("lattice %s: no memory for its table of neighbours",
                        lat_dims_text(&lay->geom, text));
    count_sites(p, count);
    lay->lanes = lanes;
    int all = 0;
    for (int i = 0; i < KINDS; i++) {
        p->next[order[i]] = all;
        all += (int)((count[order[i]] + (size_t)lanes - 1) / (size_t)lanes);
    }
    lay->inner[0] = p->next[INTERIOR];
    lay->neven = p->next[FACE + 1];
    lay->inner[1] = p->next[INTERIOR + 1];
    lay->nblocks = p->next[GHOST];
    lay->nghost = all - lay->nblocks;
    lay->boxes = lat_layout_cut(&lay->geom, whole_axes(p), lanes, boxes);
    size_t slots = (size_t)all * (size_t)lanes, steps = (size_t)all * (size_t)(2 * lay->geom.nd);
    lay->local = lat_alloc(slots, sizeof *lay->local, "the table of sites");
    lay->site = lat_alloc((size_t)lay->nblocks * (size_t)lanes, sizeof *lay->site,
                          "the table of sites");
    lay->step = lat_alloc(steps, sizeof *lay->step, "the table of neighbours");
    lay->perm = lat_alloc((size_t)(MAX_PERMS * lanes), sizeof *lay->perm,
                          "the table of neighbours");
    lay->perm32 = lat_alloc((size_t)(MAX_PERMS * lanes), sizeof *lay->perm32,
                            "the table of neighbours");
    if (!lay->local || !lay->site || !lay->step || !lay->perm || !lay->perm32)
        return -1;
    for (size_t i = 0; i < slots; i++)
        lay->local[i] = -1;
    if (lay->boxes)
        list_boxes(p, boxes);
    else
        list_rows(p);
    number_own(p);
    for (size_t i = 0; i < slots; i++)
        if (lay->local[i] >= 0)
            position[lay->local[i]] = (int64_t)i;
    int64_t identity[MAX_LANES];
    for (int l = 0; l < lanes; l++)
        identity[l] = l;
    find_perm(lay, identity); /* number 0 */
    return link_blocks(lay, all, position);
}

/* The own sites that the neighbour so many steps away has as ghosts, or our ghosts of its sites: in
 * natural order, to the list of their parity. */
static void list_shared(const plan *p, const int64_t *position, const int *step, bool ghosts)
{
    lat_layout *lay = p->lay;
    lat_geometry part = lay->here;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        part.dims[mu] = step[mu] ? 1 : lay->here.dims[mu];
    for (size_t i = 0; i < lat_volume(&part); i++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&part, i, x);
        for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
            x[mu] = step[mu] < 0   ? 1 - ghosts
                    : step[mu] > 0 ? lay->here.dims[mu] + ghosts
                                   : x[mu] + p->own->cut[mu];
        lat_face *f = &lay->face[kind_of(p, x) & 1][lay->faces];
        const int64_t at = position[lat_site(&lay->geom, x)];
        if (ghosts)
            f->ghost[f->ghosts++] = at;
        else
            f->own[f->sites++] = at;
    }
}

/* The face, or edge, towards the neighbour so many steps away. */
static int add_face(plan *p, const int64_t *position, const int step[LAT_MAX_DIMS])
{
    lat_layout *lay = p->lay;
    size_t sites = 1;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        sites *= step[mu] ? 1 : (size_t)lay->here.dims[mu];
    for (int parity = 0; parity < 2; parity++) {
        lat_face *f = &lay->face[parity][lay->faces];
        memcpy(f->step, step, sizeof f->step);
        f->own = lat_alloc(sites, sizeof *f->own, "the faces of a box");
        f->ghost = lat_alloc(sites, sizeof *f->ghost, "the faces of a box");
        if (!f->own || !f->ghost) {
            lay->faces++;
            return -1;
        }
    }
    list_shared(p, position, step, false);
    list_shared(p, position, step, true);
    lay->faces++;
    return 0;
}

/* Faces first, then edges. */
static int list_faces(plan *p, const int64_t *position)
{
    lat_layout *lay = p->lay;
    for (int axes = 1; axes <= 2; axes++) {
        for (int n = 0; n < LAT_TAGS; n++) {
            int step[LAT_MAX_DIMS], there = 0;
            bool wanted = true;
            lat_step_of(n, step);
            for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
                there += step[mu] != 0;
                wanted = wanted && (step[mu] == 0 || p->own->cut[mu]);
            }
            if (wanted && there == axes && add_face(p, position, step))
                return -1;
        }
        if (axes == 1)
            lay->plain = lay->faces;
    }
    return 0;
}

lat_layout *lat_layout_new(const lat_geometry *lattice, const lat_own *own, int lanes)
{
    const int last = lattice->nd - 1;
    lat_layout *lay = lat_alloc_zero(1, sizeof *lay, "a layout");
    plan p = {.lay = lay, .own = own};
    if (!lay)
        return NULL;
    lay->geom = lay->here = *lattice;
    for (int mu = 0; own && mu <= last; mu++) {
        lay->here.dims[mu] = own->count[mu];
        lay->geom.dims[mu] = own->count[mu] + 2 * own->cut[mu];
        p.parity ^= (own->first[mu] - own->cut[mu]) & 1;
    }
    if (own && own->cut[last]) {
        const int extent = lattice->dims[last];
        p.flip[LAT_DOWN] = own->first[last] == 0 ? extent % 2 : 0;
        p.flip[LAT_UP] = own->first[last] + own->count[last] == extent ? extent % 2 : 0;
    }
    int64_t *position = lat_alloc(lat_volume(&lay->geom), sizeof *position, "the table of sites");
    int rc = position ? fill(&p, lanes, position) : -1;
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
    for (int i = 0; i < 2 * lay->faces; i++)
        LAT_FREE(lay->face[i % 2][i / 2].own, lay->face[i % 2][i / 2].ghost);
    LAT_FREE(lay->site, lay->local, lay->step, lay->perm, lay->perm32, lay->collect, lay);
}
