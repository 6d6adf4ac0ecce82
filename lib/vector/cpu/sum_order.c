/* SPDX-License-Identifier: BSD-3-Clause */
/* sum_order.c: sites, or blocks of them, sorted by the part of a slice that they are in. */
#include "vector/cpu/sum_order.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "grid/cpu_grid.h"

/* What an order is made of. */
typedef struct sorting {
    lat_sum_order *o;
    const lat_layout *lay;
    lat_geometry slice, cuts; /* this rank's of a slice, and its boxes as sites of a lattice */
    int parts;
    int64_t *natural; /* positions of own sites in natural order */
} sorting;

/* The part that a position's site is in, or -1. */
static int part_of(const sorting *s, int64_t position)
{
    const int64_t site = s->lay->site[position];
    const int64_t sites = (int64_t)lat_volume(&s->slice);
    const int odd = position / s->lay->lanes >= s->lay->neven;
    int x[LAT_MAX_DIMS];
    if (site < 0)
        return -1;
    lat_coordinates(&s->slice, (size_t)(site % sites), x);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        x[mu] = x[mu] / (s->slice.dims[mu] / s->cuts.dims[mu]);
    return (odd * s->o->slices + (int)(site / sites)) * s->o->boxes + (int)lat_site(&s->cuts, x);
}

/* Sorts blocks, or positions, by the part of their first lane, in natural order. */
static int sort(sorting *s)
{
    lat_sum_order *o = s->o;
    const int64_t items = (int64_t)s->lay->nblocks * (s->lay->lanes / o->width),
                  sites = (int64_t)lat_volume(&s->lay->here);
    int64_t *begin = lat_alloc((size_t)s->parts + 1, sizeof *begin, "the order of sums");
    o->item = lat_alloc((size_t)items, sizeof *o->item, "the order of sums");
    o->first = lat_alloc((size_t)s->parts + 1, sizeof *o->first, "the order of sums");
    o->part = lat_alloc((size_t)s->parts, (size_t)o->width * sizeof *o->part, "the order of sums");
    if (!begin || !o->item || !o->first || !o->part) {
        free(begin);
        return -1;
    }
    for (int k = 0; k <= s->parts; k++)
        begin[k] = 0;
    for (int64_t i = 0; i < items; i++) {
        const int part = part_of(s, i * o->width);
        if (part >= 0)
            begin[part + 1]++;
    }
    int bundles = 0;
    o->bundles[0] = 0;
    for (int k = 0; k < s->parts; k++) {
        if (k == s->parts / 2)
            o->bundles[1] = bundles;
        if (begin[k + 1] > 0)
            o->first[bundles++] = begin[k];
        begin[k + 1] += begin[k];
    }
    o->bundles[2] = bundles;
    o->first[bundles] = begin[s->parts];
    for (int64_t i = 0; i < sites; i++)
        if (s->natural[i] % o->width == 0)
            o->item[begin[part_of(s, s->natural[i])]++] = (int32_t)(s->natural[i] / o->width);
    free(begin);
    return 0;
}

/* The part of each lane of a bundle. false if the lanes of a bundle have several, or not all of
 * them. */
static bool name_parts(sorting *s)
{
    lat_sum_order *o = s->o;
    for (int n = 0; n < o->bundles[2]; n++)
        for (int l = 0; l < o->width; l++) {
            int32_t *part = o->part + n * o->width + l;
            *part = part_of(s, (int64_t)o->item[o->first[n]] * o->width + l);
            for (int64_t i = o->first[n]; i < o->first[n + 1]; i++)
                if (part_of(s, (int64_t)o->item[i] * o->width + l) != *part)
                    return false;
        }
    return o->width == 1 || o->bundles[2] * o->width == s->parts;
}

/* The boxes of a slice, and those that this rank has. */
static int divide(sorting *s, const lat_grid *grid)
{
    lat_sum_order *o = s->o;
    const int last = grid->slot.nd - 1;
    lat_layout_cut(&grid->slot, last, LAT_SUM_BOXES, s->cuts.dims);
    o->parts = (lat_reduce_parts){1, 1, 1};
    if (grid->boxed) {
        const bool y = last > 1 && grid->box.ranks[last - 2] > 1;
        o->parts = (lat_reduce_parts){2, y ? s->cuts.dims[last - 1] : grid->box.ranks[last - 1],
                                      y ? grid->box.ranks[last - 2] : 1};
    }
    for (int mu = 0; mu < last; mu++) {
        const int ranks = grid->box.ranks[mu], boxes = s->cuts.dims[mu];
        char text[64];
        if (boxes % ranks)
            return lat_fail_usage(
                "--grid with %d ranks along %c: expected at most %d of lattice %s", ranks,
                "xyzt"[mu], boxes, lat_dims_text(&grid->slot, text));
        s->cuts.dims[mu] /= ranks;
    }
    s->slice.dims[last] = 1;
    o->slices = lat_reduce_slices(grid);
    o->boxes = (int)lat_volume(&s->cuts);
    s->parts = 2 * o->slices * o->boxes;
    return 0;
}

int lat_sum_order_fill(lat_sum_order *o, const lat_grid *grid)
{
    const lat_layout *lay = lat_cpu(grid)->lay;
    sorting s = {.o = o, .lay = lay, .slice = grid->here, .cuts = grid->slot};
    if (divide(&s, grid))
        return -1;
    s.natural = lat_alloc(lat_volume(&grid->here), sizeof *s.natural, "the order of sums");
    if (!s.natural)
        return -1;
    for (int64_t i = 0; i < (int64_t)lay->nblocks * lay->lanes; i++)
        if (lay->site[i] >= 0)
            s.natural[lay->site[i]] = i;
    o->width = lay->boxes ? lay->lanes : 1;
    int rc = sort(&s);
    if (rc == 0 && !name_parts(&s)) {
        lat_sum_order_free(o);
        o->width = 1;
        rc = lat_rc(sort(&s) || !name_parts(&s));
    }
    free(s.natural);
    return rc;
}

void lat_sum_order_free(lat_sum_order *o)
{
    LAT_FREE(o->first, o->item, o->part);
    o->first = NULL;
    o->item = o->part = NULL;
}
