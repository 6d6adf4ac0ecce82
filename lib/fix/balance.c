/* SPDX-License-Identifier: BSD-3-Clause */
/* balance.c: which rank sweeps which slice. Every rank knows it of all. */
#include "balance.h"

#include <stdlib.h>
#include <string.h>
#include "assign.h"
#include "base/memory.h"
#include "common/options.h"

static const lat_comm *comm_of(const lat_balance *b) { return b->grid->dev->comm; }

/* The rank whose slab a slice is in. */
static int owner_of(const lat_balance *b, int slice)
{
    const lat_comm *comm = comm_of(b);
    int rank = 0;
    for (;; rank++) {
        const lat_slab there = lat_slab_of(comm, rank, b->grid->slices);
        if (slice < there.first + there.count)
            return rank;
    }
}

/* ---- slots ----------------------------------------------------------------------------------- */

int lat_balance_capacity(const lat_grid *grid)
{
    return grid->distributed ? (grid->slab.count + 1) / 2 : 0;
}

/* Every rank learns how many slices each can take. */
static int share_capacities(lat_balance *b)
{
    const lat_comm *comm = comm_of(b);
    const int mine = b->grid->slots - b->owned;
    b->rank_of = lat_alloc((size_t)b->grid->slices, sizeof *b->rank_of, "the ranks of slices");
    b->capacity = lat_alloc((size_t)comm->size, sizeof *b->capacity, "the ranks of slices");
    if (!b->rank_of || !b->capacity || comm->gather(comm, &mine, sizeof mine, b->capacity))
        return -1;
    for (int s = 0; s < b->grid->slices; s++)
        b->rank_of[s] = owner_of(b, s);
    return 0;
}

int lat_balance_open(lat_balance *b, lat_dfield *u, lat_dfield *g, bool may, double cost)
{
    lat_grid *grid = g->grid;
    *b = (lat_balance){.grid = grid,
                       .u = u,
                       .g = g,
                       .copies = g->members,
                       .owned = grid->distributed ? grid->slab.count : grid->slots,
                       .cost = cost};
    const size_t n = (size_t)b->copies * (size_t)grid->slices,
                 units = (size_t)b->copies * (size_t)grid->slots;
    b->active = lat_alloc(n, sizeof *b->active, "the list of slices");
    b->here = lat_alloc(units, sizeof *b->here, "the list of slices");
    b->list = lat_alloc(units, sizeof *b->list, "the list of slices");
    if (!b->active || !b->here || !b->list || (grid->distributed && may && share_capacities(b)))
        return -1;
    memset(b->active, true, n * sizeof *b->active);
    return 0;
}

void lat_balance_close(lat_balance *b)
{
    LAT_FREE(b->active, b->here, b->list, b->rank_of, b->capacity);
}

void lat_balance_list(lat_balance *b)
{
    const lat_grid *grid = b->grid;
    b->listed = 0;
    for (int unit = 0; unit < b->copies * grid->slots; unit++) {
        const int copy = unit / grid->slots, slot = unit % grid->slots, slice = grid->slice[slot];
        b->here[unit] = slice >= 0
                        && (!b->rank_of || slot >= b->owned
                            || b->rank_of[slice] == comm_of(b)->rank);
        if (b->here[unit] && b->active[copy * grid->slices + slice])
            b->list[b->listed++] = unit;
    }
}

/* ---- migrations ------------------------------------------------------------------------------ */

/* g of all copies of the slice in a slot, and its links where the other rank does not have them. */
static int transfer(const lat_balance *b, int slot, int rank, bool send, bool links)
{
    int rc = links ? lat_dfield_migrate(b->u, slot, rank, send) : 0;
    for (int copy = 0; copy < b->copies && rc == 0; copy++)
        rc = lat_dfield_migrate(b->g, copy * b->grid->slots + slot, rank, send);
    return rc;
}

static int slot_of(const lat_balance *b, int slice)
{
    int slot = 0;
    while (b->grid->slice[slot] != slice)
        slot++;
    return slot;
}

/* Called by all ranks, with the same migrations in the same order; most of them only note it. */
static int migrate(lat_balance *b, lat_migration m)
{
    const int me = comm_of(b)->rank;
    const bool links = m.to != owner_of(b, m.slice);
    int rc = 0;
    if (m.from == me) {
        const int slot = slot_of(b, m.slice);
        rc = transfer(b, slot, m.to, true, links);
        if (slot >= b->owned)
            lat_grid_assign(b->grid, slot, -1);
    }
    if (m.to == me) {
        int slot = links ? b->owned : m.slice - b->grid->slab.first;
        while (links && b->grid->slice[slot] >= 0)
            slot++;
        lat_grid_assign(b->grid, slot, m.slice);
        rc = transfer(b, slot, m.from, false, links);
    }
    b->rank_of[m.slice] = m.to;
    return rc;
}

/* Copies of a slice that are to be swept. */
static int work_for(const lat_balance *b, int slice)
{
    int n = 0;
    for (int copy = 0; copy < b->copies; copy++)
        n += b->active[copy * b->grid->slices + slice];
    return n;
}

/* Migrated slices that are done return; all of them do if `every`. */
static int return_slices(lat_balance *b, bool every)
{
    for (int slice = 0; b->rank_of && slice < b->grid->slices; slice++) {
        const lat_migration m = {slice, b->rank_of[slice], owner_of(b, slice)};
        if (m.from != m.to && (every || work_for(b, slice) == 0) && migrate(b, m))
            return -1;
    }
    return 0;
}

int lat_balance_return(lat_balance *b) { return return_slices(b, true); }

/* ---- assignment ------------------------------------------------------------------------------ */

/* The copy with the largest theta says how far a slice is from its end. */
static double distance(const lat_balance *b, const double *theta, int slice)
{
    double worst = 0;
    for (int i = slice; i < b->copies * b->grid->slices; i += b->grid->slices)
        worst = b->active[i] ? lat_worse(worst, theta[i]) : worst;
    return worst;
}

/* The migrations to be made, and b->gain: how many, or -1. */
static int plan(lat_balance *b, const double *theta, lat_migration *list)
{
    const lat_comm *comm = comm_of(b);
    const int slices = b->grid->slices;
    int *work = lat_alloc((size_t)(slices + comm->size), sizeof *work, "the work of ranks");
    double *far = lat_alloc((size_t)slices, sizeof *far, "the work of ranks");
    int n = -1;
    if (work && far) {
        int *capacity = work + slices, gain = 0;
        memcpy(capacity, b->capacity, (size_t)comm->size * sizeof *capacity);
        for (int s = 0; s < slices; s++) {
            work[s] = work_for(b, s);
            far[s] = distance(b, theta, s);
            capacity[b->rank_of[s]] -= b->rank_of[s] != owner_of(b, s);
        }
        n = lat_assign_slices(comm, slices, b->rank_of, work, far, capacity, list, &gain);
        b->gain = gain;
    }
    LAT_FREE(work, far);
    return n;
}

static int rebalance(lat_balance *b, const double *theta)
{
    if (return_slices(b, false))
        return -1;
    lat_migration *list = lat_alloc((size_t)b->grid->slices, sizeof *list, "the work of ranks");
    const int n = list ? plan(b, theta, list) : -1;
    int rc = n < 0 ? -1 : 0;
    if (n <= 0 || b->lost >= n * b->cost) {
        b->gain = b->lost = 0;
        if (n > 0)
            lat_verbose("load balancing: %d slices migrate to other ranks", n);
        for (int i = 0; i < n && rc == 0; i++)
            rc = migrate(b, list[i]);
    }
    free(list);
    return rc;
}

int lat_balance_freeze(lat_balance *b, const double *theta, const double *bound)
{
    for (int i = 0; i < b->copies * b->grid->slices; i++)
        b->active[i] = !(theta[i] < bound[i / b->grid->slices]);
    return b->rank_of ? rebalance(b, theta) : 0;
}

void lat_balance_swept(lat_balance *b, long n) { b->lost += b->gain * (double)n; }
