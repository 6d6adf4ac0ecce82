/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_reduce.c: the numbers of all sites go to memory in natural order, where they are added up: so
 * sums depend neither on lanes nor on threads nor on ranks. Units are taken some at a time. */
#include "cpu_reduce.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reduce.h"
#include "tree.h"

enum { GROUP = 32, SIDE = 8, NUMBERS = 5 }; /* blocks a task; sums side by side; at most */
#define BYTES ((size_t)32 << 20)            /* of numbers at a time, if a unit takes less */

/* sum[numbers] of a row of n sites. Sites 0, SIDE, 2 SIDE .. are added up apart from the next ones:
 * SIDE short chains instead of one long one, which also rounds less. */
static void add_row(const double *v, size_t n, size_t numbers, double *sum)
{
    double side[SIDE * NUMBERS] = {0};
    const size_t all = n * numbers, width = SIDE * numbers, rest = all % width;
    for (size_t i = 0; i < all - rest; i += width)
        for (size_t e = 0; e < width; e++)
            side[e] += v[i + e];
    for (size_t e = 0; e < rest; e++)
        side[e] += v[all - rest + e];
    lat_tree_fold(side, SIDE, 1, numbers);
    memcpy(sum, side, numbers * sizeof *sum);
}

/* The sums and the largest numbers of a slice of a slot, whose numbers are lost. */
static void add_slice(const lat_geometry *slot, double *v, int numbers, int most, double *sum)
{
    const int axes = slot->nd - 1; /* of a slice */
    const size_t n = (size_t)numbers, x = axes > 0 ? (size_t)slot->dims[0] : 1,
                 sites = lat_volume(slot) / (size_t)slot->dims[axes];
    for (int k = 0; k < most; k++) {
        const double *first = v + numbers - most + k;
        sum[numbers + k] = *first;
        for (size_t i = 1; i < sites; i++)
            sum[numbers + k] = lat_worse(sum[numbers + k], first[i * n]);
    }
    for (size_t row = 0; row < sites / x; row++)
        add_row(v + row * x * n, x, n, v + row * n);
    for (size_t mu = 1, stride = 1; mu < (size_t)axes; mu++) {
        const size_t extent = (size_t)slot->dims[mu], each = extent * stride;
        for (size_t i = 0; i < sites / x; i += each)
            lat_tree_fold(v + i * n, extent, stride, n);
        stride = each;
    }
    memcpy(sum, v, n * sizeof *sum);
}

/* Memory for n numbers. It stays with the grid: the pages of new memory would take as long as the
 * sums. */
static double *reserve(lat_cpu_grid *g, size_t n)
{
    if (n > g->reserved) {
        free(g->numbers);
        g->numbers = lat_alloc(n, sizeof *g->numbers, "numbers to be added up");
        g->reserved = g->numbers ? n : 0;
    }
    return g->numbers;
}

/* What is added up: the arguments of lat_cpu_total. */
typedef struct sums {
    const lat_grid *grid;
    const bool *active;
    int numbers, most;
    lat_cpu_numbers *fn;
    void *context;
} sums;

static bool counts(const sums *s, int unit) { return !s->active || s->active[unit]; }

/* sum[n][slices][numbers + most] of n units from `first` on, by way of v, their numbers. */
static void add_units(const sums *s, int first, int n, double *v, double *sum)
{
    const lat_geometry *slot = &s->grid->slot;
    const lat_layout *lay = lat_cpu(s->grid)->lay;
    const int groups = (lay->nblocks + GROUP - 1) / GROUP, slices = lat_reduce_slices(s->grid);
    const size_t numbers = (size_t)s->numbers, row = numbers + (size_t)s->most,
                 slice = lat_volume(slot) / (size_t)slot->dims[slot->nd - 1] * numbers;
#pragma omp parallel
    {
#pragma omp for collapse(2) schedule(static)
        for (int u = 0; u < n; u++)
            for (int i = 0; i < groups; i++) {
                const int begin = i * GROUP, end = begin + GROUP;
                if (counts(s, first + u))
                    s->fn(s->context, first + u, begin, end < lay->nblocks ? end : lay->nblocks,
                          v + (size_t)(u * slices) * slice);
            }
#pragma omp for collapse(2) schedule(static)
        for (int u = 0; u < n; u++)
            for (int k = 0; k < slices; k++)
                if (counts(s, first + u))
                    add_slice(slot, v + (size_t)(u * slices + k) * slice, s->numbers, s->most,
                              sum + (size_t)(u * slices + k) * row);
    }
}

/* [units][slices][numbers + most] in the grid's memory; NULL with lat_error set. */
static const double *sums_of_slices(lat_grid *grid, int units, const sums *s)
{
    const int slices = lat_reduce_slices(grid);
    const size_t slice = lat_volume(&grid->slot) / (size_t)grid->slot.dims[grid->slot.nd - 1],
                 each = slice * (size_t)slices * (size_t)s->numbers, /* numbers of a unit */
        row = (size_t)slices * (size_t)(s->numbers + s->most);
    int some = (int)(BYTES / (each * sizeof(double)));
    some = some < 1 ? 1 : some > units ? units : some;
    double *sum = reserve((lat_cpu_grid *)grid, (size_t)units * row + (size_t)some * each);
    if (!sum)
        return NULL;
    double *const v = sum + (size_t)units * row;
    memset(sum, 0, (size_t)units * row * sizeof *sum);
    for (int first = 0; first < units; first += some)
        add_units(s, first, units - first < some ? units - first : some, v,
                  sum + (size_t)first * row);
    return sum;
}

int lat_cpu_total(lat_grid *grid, int members, const bool *active, int numbers, int most,
                  lat_cpu_numbers *fn, void *context, double *total)
{
    const sums s = {grid, active, numbers, most, fn, context};
    const double *sum = sums_of_slices(grid, members * grid->slots, &s);
    return sum ? lat_reduce_total(grid, members, numbers + most, most, sum, total) : -1;
}

int lat_cpu_slicewise(lat_grid *grid, int numbers, lat_cpu_numbers *fn, void *context, double *all)
{
    const sums s = {.grid = grid, .numbers = numbers, .fn = fn, .context = context};
    const double *sum = sums_of_slices(grid, 1, &s);
    return sum ? lat_reduce_slicewise(grid, numbers, sum, all) : -1;
}
