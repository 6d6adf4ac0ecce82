/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.c: sums of slices, or of their parts, added up in pairs. */
#include "reduce.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "tree.h"

int lat_reduce_slices(const lat_grid *g) { return g->here.dims[g->slot.nd - 1]; }

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

/* ---- slices that ranks have parts of --------------------------------------------------------- */

/* The numbers of a slice from its parts, whose numbers are lost. */
static void add_parts(const lat_reduce_parts *p, double *v, int numbers, int most, double *slice)
{
    const size_t n = (size_t)numbers, z = (size_t)p->z, y = (size_t)p->y;
    double largest[LAT_REDUCE_MOST];
    for (int k = 0; k < most; k++) {
        const double *first = v + numbers - most + k;
        largest[k] = *first;
        for (size_t i = 1; i < (size_t)p->apart * z * y; i++)
            largest[k] = lat_worse(largest[k], first[i * n]);
    }
    for (int a = 0; a < p->apart; a++) {
        double *const sum = v + (size_t)a * z * y * n;
        for (size_t k = 0; k < z; k++)
            lat_tree_fold(sum + k * y * n, y, 1, n);
        lat_tree_fold(sum, z, y, n);
        for (size_t k = 0; a > 0 && k < n; k++)
            v[k] += sum[k];
    }
    memmove(slice, v, n * sizeof *v);
    memcpy(slice + numbers - most, largest, (size_t)most * sizeof *largest);
}

/* This rank's parts of a slice to where they are among all. */
static void place_parts(const lat_grid *g, const lat_reduce_parts *p, size_t numbers,
                        const double *from, double *to)
{
    const lat_reduce_parts own = lat_reduce_own(g, p);
    const int last = g->spec.lattice.nd - 1, z0 = own.z * g->box.at[last - 1],
              y0 = last > 1 ? own.y * g->box.at[last - 2] : 0;
    for (int a = 0; a < p->apart; a++)
        for (int z = 0; z < own.z; z++, from += (size_t)own.y * numbers)
            memcpy(to + (size_t)((a * p->z + z0 + z) * p->y + y0) * numbers, from,
                   (size_t)own.y * numbers * sizeof *to);
}

lat_reduce_parts lat_reduce_own(const lat_grid *g, const lat_reduce_parts *p)
{
    const int last = g->spec.lattice.nd - 1;
    lat_reduce_parts own = *p;
    if (g->boxed) {
        own.z /= g->box.ranks[last - 1];
        own.y /= last > 1 ? g->box.ranks[last - 2] : 1;
    }
    return own;
}

static const lat_reduce_parts whole = {1, 1, 1};

static size_t parts_of(const lat_reduce_parts *p) { return (size_t)(p->apart * p->z * p->y); }

/* sum[units here][slices here][parts here][numbers] to all[units][slices][numbers], which has
 * memory for all parts of each slice. */
static int gather(const lat_grid *g, const lat_reduce_parts *p, int members, int numbers, int most,
                  const double *sum, double *all)
{
    const lat_comm *comm = g->dev->comm;
    const lat_reduce_parts own = lat_reduce_own(g, p);
    const int slices = g->slot.dims[g->slot.nd - 1], here = lat_reduce_slices(g),
              first = g->halo ? g->slab.first : 0;
    const size_t units = (size_t)members * (size_t)g->slices, n = (size_t)numbers,
                 slice = parts_of(p) * n, lattice = (size_t)slices * slice;
    memset(all, 0, units * lattice * sizeof *all);
    for (int unit = 0; unit < members * g->slots; unit++) {
        const int at = g->slice[unit % g->slots];
        if (at < 0)
            continue;
        double *const to = all
                           + ((size_t)(unit / g->slots) * (size_t)g->slices + (size_t)at) * lattice;
        for (int t = 0; t < here; t++)
            if (g->boxed)
                place_parts(g, p, n, sum + (size_t)(unit * here + t) * parts_of(&own) * n,
                            to + (size_t)(first + t) * slice);
            else
                memcpy(to + (size_t)(first + t) * slice, sum + (size_t)(unit * here + t) * slice,
                       slice * sizeof *to);
    }
    /* One rank has a number, the others zeros: their sum is exact, of the largest ones, too. */
    if (comm->size > 1 && comm->sum(comm, all, (int)(units * lattice)))
        return -1;
    for (size_t i = 0; i < units * (size_t)slices && parts_of(p) > 1; i++)
        add_parts(p, all + i * slice, numbers, most, all + i * n);
    return 0;
}

int lat_reduce_slicewise(const lat_grid *g, const lat_reduce_parts *p, int numbers,
                         const double *sum, double *all)
{
    const size_t slices = (size_t)g->slot.dims[g->slot.nd - 1], n = (size_t)numbers;
    double *parts = lat_alloc(slices, parts_of(p ? p : &whole) * n * sizeof *parts,
                              "sums of slices");
    const int rc = parts ? gather(g, p ? p : &whole, 1, numbers, 0, sum, parts) : -1;
    if (rc == 0)
        memcpy(all, parts, slices * n * sizeof *all);
    free(parts);
    return rc;
}

/* Slices that a rank has whole, all of a unit, are added up before they travel. */
static int total_of_units(const lat_grid *g, int members, int numbers, int most, const double *sum,
                          double *total)
{
    const lat_comm *comm = g->dev->comm;
    const int here = lat_reduce_slices(g);
    const size_t all = (size_t)members * (size_t)g->slices * (size_t)numbers;
    memset(total, 0, all * sizeof *total);
    for (int unit = 0; unit < members * g->slots; unit++) {
        const int slice = g->slice[unit % g->slots];
        if (slice >= 0)
            add_slices(sum + (size_t)unit * (size_t)(here * numbers), here, numbers, most,
                       total + ((unit / g->slots) * g->slices + slice) * numbers);
    }
    return comm->size > 1 ? comm->sum(comm, total, (int)all) : 0;
}

int lat_reduce_total(const lat_grid *g, int members, const lat_reduce_parts *p, int numbers,
                     int most, const double *sum, double *total)
{
    const int slices = g->slot.dims[g->slot.nd - 1];
    const size_t units = (size_t)members * (size_t)g->slices;
    if (!(g->halo && g->dev->comm->size > 1))
        return total_of_units(g, members, numbers, most, sum, total);
    p = p ? p : &whole;
    double *all = lat_alloc(units * (size_t)slices, parts_of(p) * (size_t)numbers * sizeof *all,
                            "sums of slices");
    const int rc = all ? gather(g, p, members, numbers, most, sum, all) : -1;
    for (size_t i = 0; i < units && rc == 0; i++)
        add_slices(all + i * (size_t)(slices * numbers), slices, numbers, most,
                   total + i * (size_t)numbers);
    free(all);
    return rc;
}
