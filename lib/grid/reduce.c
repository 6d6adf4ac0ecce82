/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c: sums of slices, added up in pairs. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "tree.h"

int lat_reduce_slices(const lat_grid *g)
{
    return g->halo ? g->slab.count : g->slot.dims[g->slot.nd - 1];
}

/* The sums, in pairs, and the largest numbers of `slices` slices into *total. */
static void add_slices(const double *sum, int slices, int numbers, int most, double *total)
{
    for (int k = 0; k < numbers - most; k++)
        total[k] = lat_tree_sum(sum + k, (size_t)slices, (size_t)numbers);
    for (int k = numbers - most; k < numbers; k++) {
        total[k] = sum[k];
        for (int s = 1; s < slices; s++)
            total[k] = lat_worse(total[k], sum[s * numbers + k]);
    }
}

int lat_reduce_slicewise(const lat_grid *g, int numbers, const double *sum, double *all)
{
    const lat_comm *comm = g->dev->comm;
    const size_t n = (size_t)numbers, lattice = (size_t)g->slot.dims[g->slot.nd - 1] * n,
                 here = (size_t)lat_reduce_slices(g) * n;
    memset(all, 0, lattice * sizeof *all);
    memcpy(all + (g->halo ? (size_t)g->slab.first * n : 0), sum, here * sizeof *all);
    /* One rank has a number, the others zeros. */
    return g->halo && comm->size > 1 ? comm->sum(comm, all, (int)lattice) : 0;
}

int lat_reduce_total(const lat_grid *g, int members, int numbers, int most, const double *sum,
                     double *total)
{
    const lat_comm *comm = g->dev->comm;
    const int here = lat_reduce_slices(g), there = g->halo ? g->slab.first : 0;
    /* Slices that a rank has whole are added up before they travel. */
    const int kept = g->halo && comm->size > 1 ? g->slot.dims[g->slot.nd - 1] : 1;
    const size_t units = (size_t)members * (size_t)g->slices, row = (size_t)kept * (size_t)numbers;
    double *all = kept > 1 ? lat_alloc(units, row * sizeof *all, "sums of slices") : total;
    if (!all)
        return -1;
    memset(all, 0, units * row * sizeof *all);
    for (int unit = 0; unit < members * g->slots; unit++) {
        const int slice = g->slice[unit % g->slots];
        double *to = all + ((size_t)(unit / g->slots) * (size_t)g->slices + (size_t)slice) * row;
        const double *from = sum + (size_t)unit * (size_t)(here * numbers);
        if (slice < 0)
            continue;
        if (kept > 1)
            memcpy(to + there * numbers, from, (size_t)(here * numbers) * sizeof *all);
        else
            add_slices(from, here, numbers, most, to);
    }
    /* One rank has a number, the others zeros: their sum is exact, of the largest ones, too. */
    const int rc = comm->size > 1 ? comm->sum(comm, all, (int)(units * row)) : 0;
    for (size_t i = 0; i < units && kept > 1 && rc == 0; i++)
        add_slices(all + i * row, kept, numbers, most, total + i * (size_t)numbers);
    if (kept > 1)
        free(all);
    return rc;
}
