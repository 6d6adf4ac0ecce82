/* SPDX-License-Identifier: BSD-3-Clause */
/* hop_table.c: the table of neighbours of the hop: from the layout's, with boundary phases. */
#include "dirac/cpu/hop_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

#define MAX_LANES 16

typedef struct phases {
    double re[MAX_LANES], im[MAX_LANES];
} phases;

typedef struct builder {
    lat_hop_table *table;
    const lat_cpu_grid *grid;
    phases *list; /* [table->nphases] */
    int real;     /* bytes of a real */
} builder;

/* The phases of a block's neighbours in a direction; false if all are 1. */
static bool block_phases(const builder *p, int block, int d, lat_phase boundary, phases *to)
{
    const int lanes = p->grid->lay->lanes, mu = lat_hop_axis(d);
    const lat_geometry *geom = &p->grid->grid.spec.lattice;
    const int64_t *site = lat_cpu_sites(p->grid, 0) + (int64_t)block * lanes;
    bool some = false;
    memset(to, 0, sizeof *to);
    for (int l = 0; l < lanes; l++) {
        int x[LAT_MAX_DIMS];
        to->re[l] = 1;
        if (site[l] < 0)
            continue;
        lat_coordinates(geom, (size_t)site[l], x);
        if (!lat_phase_hops(boundary, x[mu], geom->dims[mu], d & 1 ? -1 : 1))
            to->re[l] = 0;
        else if (x[mu] == (d & 1 ? 0 : geom->dims[mu] - 1))
            lat_hop_phase(boundary, d & 1, &to->re[l], &to->im[l]);
        some = some || to->re[l] != 1 || to->im[l] != 0;
    }
    return some;
}

/* The number of these phases, added if they are new; -2 without memory. */
static int find_phases(builder *p, const phases *v)
{
    for (int n = p->table->nphases - 1; n >= 0; n--)
        if (!memcmp(p->list + n, v, sizeof *v))
            return n;
    if (lat_grow(&p->list, p->table->nphases, sizeof *p->list, "tables of a hop"))
        return -2;
    p->list[p->table->nphases] = *v;
    return p->table->nphases++;
}

/* The number of this twist, likewise. */
static int find_twist(lat_hop_table *table, int perm, int phase, bool real)
{
    for (int n = 0; n < table->ntwists; n++)
        if (table->twist[n].perm == perm && table->twist[n].phase == phase)
            return n;
    if (lat_grow(&table->twist, table->ntwists, sizeof *table->twist, "tables of a hop"))
        return -1;
    table->twist[table->ntwists] = (lat_hop_twist){perm, phase, real};
    return table->ntwists++;
}

static bool all_real(const phases *v)
{
    for (int l = 0; l < MAX_LANES; l++)
        if (v->im[l] != 0)
            return false;
    return true;
}

static int fill_steps(builder *p, const lat_phase boundary[LAT_MAX_DIMS])
{
    const lat_layout *lay = p->grid->lay;
    for (int b = 0; b < lay->nblocks; b++)
        for (int d = 0; d < 8; d++) {
            phases v;
            const int mu = lat_hop_axis(d);
            const lat_step step = lay->step[(int64_t)b * 8 + (d & 1 ? 4 : 0) + mu];
            const bool some = block_phases(p, b, d, boundary[mu], &v);
            const int phase = some ? find_phases(p, &v) : -1;
            const int twist = phase == -2
                                  ? -1
                                  : find_twist(p->table, step.perm, phase, !some || all_real(&v));
            if (twist < 0)
                return -1;
            p->table->step[(int64_t)b * 8 + d] = (lat_hop_step){step.block, twist};
        }
    return 0;
}

/* Permutations as instructions want them: see permute_lanes in dirac_lanes_sweeps.h. */
static int fill_perms(const builder *p)
{
    const lat_layout *lay = p->grid->lay;
    const int words = lay->lanes * p->real / 4, wide = p->real / 4;
    int32_t *perm = lat_alloc_zero((size_t)(lay->nperms * words), sizeof *perm, "permutations");
    if (!perm)
        return -1;
    for (int n = 0; n < lay->nperms; n++)
        for (int l = 0; l < lay->lanes; l++) {
            const int32_t from = lay->perm32[n * lay->lanes + l];
            int32_t *to = perm + n * words;
            if (wide == 1 || words == 4)
                to[l] = from;
            else if (words == 8)
                for (int h = 0; h < 2; h++)
                    to[2 * l + h] = 2 * from + h;
            else
                to[2 * l] = from; /* a number of 64 bits */
        }
    p->table->perm = perm;
    return 0;
}

static int fill_phases(const builder *p)
{
    const int lanes = p->grid->lay->lanes, n = p->table->nphases;
    void *phase = lat_alloc((size_t)(2 * n * lanes + 1), (size_t)p->real, "boundary phases");
    if (!phase)
        return -1;
    const lat_lane_view v = {phase, p->real, lanes, 2};
    for (int i = 0; i < n; i++)
        for (int l = 0; l < lanes; l++) {
            lat_lane_put(v, i, l, 0, p->list[i].re[l]);
            lat_lane_put(v, i, l, 1, p->list[i].im[l]);
        }
    p->table->phase = phase;
    return 0;
}

int lat_hop_table_fill(lat_hop_table *table, const lat_cpu_grid *grid,
                       const lat_phase boundary[LAT_MAX_DIMS])
{
    builder p = {
        .table = table, .grid = grid, .real = (int)lat_storage_bytes(grid->grid.spec.storage)};
    memset(table, 0, sizeof *table);
    table->collect = grid->lay->collect;
    table->collects = grid->lay->ncollect > 0;
    table->step = lat_alloc((size_t)grid->lay->nblocks, 8 * sizeof *table->step,
                            "the table of neighbours");
    const int rc = lat_rc(!table->step || find_twist(table, 0, -1, true) < 0
                          || fill_steps(&p, boundary) || fill_perms(&p) || fill_phases(&p));
    free(p.list);
    return rc;
}

void lat_hop_table_free(lat_hop_table *table)
{
    LAT_FREE(table->step, table->twist, table->perm, table->phase);
}
