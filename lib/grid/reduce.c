/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c: sums of slices, added up in pairs. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
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

/* all[units][slices][numbers] of every rank: zero where a rank has nothing; sums of numbers and
 * zeros are exact. */
static int gather(const lat_comm *comm, size_t rows, int numbers, int most, double *all)
{
    const int sums = numbers - most;
    double *split = lat_alloc(rows, (size_t)numbers * sizeof *split, "sums of slices");
    if (!split)
        return -1;
    double *largest = split + rows * (size_t)sums;
    for (size_t i = 0; i < rows; i++) {
        memcpy(split + i * (size_t)sums, all + i * (size_t)numbers, (size_t)sums * sizeof *all);
        memcpy(largest + i * (size_t)most, all + i * (size_t)numbers + sums,
               (size_t)most * sizeof *all);
    }
    const int rc = comm->sum(comm, split, (int)rows * sums)
                   || (most && comm->max(comm, largest, (int)rows * most));
    for (size_t i = 0; i < rows && !rc; i++) {
        memcpy(all + i * (size_t)numbers, split + i * (size_t)sums, (size_t)sums * sizeof *all);
        memcpy(all + i * (size_t)numbers + sums, largest + i * (size_t)most,
               (size_t)most * sizeof *all);
    }
    free(split);
    return rc ? -1 : 0;
}

/* Where there is one rank: at once, without memory of its own. */
static void total_here(const lat_grid *g, int members, int numbers, int most, const double *sum,
                       double *total)
{
    const int here = lat_reduce_slices(g);
    memset(total, 0, (size_t)(members * g->slices * numbers) * sizeof *total);
    for (int unit = 0; unit < members * g->slots; unit++) {
        const int slice = g->slice[unit % g->slots];
        if (slice >= 0)
            add_slices(sum + (size_t)unit * (size_t)(here * numbers), here, numbers, most,
                       total + (unit / g->slots * g->slices + slice) * numbers);
    }
}

int lat_reduce_total(const lat_grid *g, int members, int numbers, int most, const double *sum,
                     double *total)
{
    const lat_comm *comm = g->dev->comm;
    if (comm->size == 1) {
        total_here(g, members, numbers, most, sum, total);
        return 0;
    }
    const int here = lat_reduce_slices(g), there = g->halo ? g->slab.first : 0,
              slices = g->slot.dims[g->slot.nd - 1];
    /* Sums of slices that a rank has whole are added up before they travel. */
    const int kept = g->halo ? slices : 1;
    const size_t units = (size_t)members * (size_t)g->slices, row = (size_t)kept * (size_t)numbers;
    double *all = lat_alloc(units, row * sizeof *all, "sums of slices");
    if (!all)
        return -1;
    memset(all, 0, units * row * sizeof *all);
    for (int unit = 0; unit < members * g->slots; unit++) {
        const int slice = g->slice[unit % g->slots];
        if (slice < 0)
            continue;
        double *to = all + ((size_t)(unit / g->slots) * (size_t)g->slices + (size_t)slice) * row;
        const double *from = sum + (size_t)unit * (size_t)here * (size_t)numbers;
        if (g->halo)
            memcpy(to + there * numbers, from, (size_t)(here * numbers) * sizeof *all);
        else
            add_slices(from, here, numbers, most, to);
    }
    const int rc = gather(comm, units * (size_t)kept, numbers, most, all);
    for (size_t i = 0; i < units && rc == 0; i++)
        add_slices(all + i * row, kept, numbers, most, total + i * (size_t)numbers);
    free(all);
    return rc;
}
