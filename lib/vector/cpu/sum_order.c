/* SPDX-License-Identifier: BSD-3-Clause */
/* sum_order.c: sites, or blocks of them, sorted by the part of a slice that they are in. */
#include "vector/cpu/sum_order.h"

#include <stdlib.h>
#include "base/memory.h"
#include "grid/cpu_grid.h"
#include "grid/reduce.h"

/* What an order is made of. */
typedef struct sorting {
    lat_sum_order *o;
    const lat_layout *lay;
    lat_geometry slice, cuts; /* the slice, and its boxes as sites of a lattice */
    int parts;
} sorting;

/* The part that a position's site is in, or -1. */
static int part_of(const sorting *s, int64_t position)
{
    const int64_t site = s->lay->site[position] - s->lay->first;
    const int64_t sites = (int64_t)lat_volume(&s->slice);
    const int odd = position / s->lay->lanes >= s->lay->neven;
    int x[LAT_MAX_DIMS];
    if (s->lay->site[position] < 0)
        return -1;
    lat_coordinates(&s->slice, (size_t)(site % sites), x);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        x[mu] = x[mu] / (s->slice.dims[mu] / s->cuts.dims[mu]);
    return (odd * s->o->slices + (int)(site / sites)) * s->o->boxes + (int)lat_site(&s->cuts, x);
}

/* Sorts blocks, or positions, by the part of their first lane. */
static int sort(sorting *s)
{
    lat_sum_order *o = s->o;
    const int64_t items = (int64_t)s->lay->nblocks * (s->lay->lanes / o->width);
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
    for (int64_t i = 0; i < items; i++) {
        const int part = part_of(s, i * o->width);
        if (part >= 0)
            o->item[begin[part]++] = (int32_t)i;
    }
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

int lat_sum_order_fill(lat_sum_order *o, const lat_grid *grid)
{
    const lat_layout *lay = lat_cpu(grid)->lay;
    const int last = grid->slot.nd - 1;
    sorting s = {.o = o, .lay = lay, .slice = grid->slot, .cuts = grid->slot};
    lat_layout_cut(&grid->slot, last, LAT_SUM_BOXES, s.cuts.dims);
    s.slice.dims[last] = 1;
    o->slices = lat_reduce_slices(grid);
    o->boxes = (int)lat_volume(&s.cuts);
    s.parts = 2 * o->slices * o->boxes;
    o->width = lay->boxes ? lay->lanes : 1;
    if (sort(&s))
        return -1;
    if (name_parts(&s))
        return 0;
    lat_sum_order_free(o);
    o->width = 1;
    return sort(&s) || !name_parts(&s) ? -1 : 0;
}

void lat_sum_order_free(lat_sum_order *o)
{
    LAT_FREE(o->first, o->item, o->part);
    o->first = NULL;
    o->item = o->part = NULL;
}
