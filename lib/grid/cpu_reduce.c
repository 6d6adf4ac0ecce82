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

/* Parts of a slice, all ranks together: branches of the trees over the first axis that is cut, and
 * all of those after it. */
static lat_reduce_parts parts_of(const lat_grid *g)
{
    int part[LAT_MAX_DIMS + 1] = {1, 1, 1, 1, 1};
    bool cut = false;
    const int last = g->slot.nd - 1;
    for (int mu = 1; mu < last; mu++) {
        const int here = g->here.dims[mu], all = g->slot.dims[mu];
        const bool now = here < all;
        /* The largest power of two that divides the parts is the length of a branch. */
        part[mu] = cut ? all : now ? all / (here & -here) : 1;
        cut = cut || now;
    }
    return (lat_reduce_parts){1, last > 1 ? part[last - 1] : 1, last > 2 ? part[last - 2] : 1};
}

/* The sums and the largest numbers of the parts of a slice, whose numbers are lost. */
static void add_slice(const lat_grid *g, const lat_reduce_parts *own, double *v, int numbers,
                      int most, double *sum)
{
    const lat_geometry *here = &g->here;
    const int axes = here->nd - 1, parts = own->z * own->y;
    const size_t n = (size_t)numbers, x = axes > 0 ? (size_t)here->dims[0] : 1,
                 sites = lat_volume(here) / (size_t)here->dims[axes];
    double largest[LAT_REDUCE_MOST] = {0};
    for (int k = 0; k < most; k++) {
        const double *first = v + numbers - most + k;
        largest[k] = *first;
        for (size_t i = 1; i < sites; i++)
            largest[k] = lat_worse(largest[k], first[i * n]);
    }
    for (size_t row = 0; row < sites / x; row++)
        add_row(v + row * x * n, x, n, v + row * n);
    size_t rows = sites / x, stride = 1; /* between rows that are left */
    for (int mu = 1; mu < axes; mu++) {
        const size_t left = mu == axes - 1   ? (size_t)own->z
                            : mu == axes - 2 ? (size_t)own->y
                                             : 1,
                     length = (size_t)here->dims[mu] / left; /* of a branch */
        for (size_t i = 0; i < rows / stride; i += length)
            lat_tree_fold(v + i * stride * n, length, stride, n);
        stride *= length;
    }
    for (int i = 0; i < parts; i++) {
        memcpy(sum + (size_t)i * (n + (size_t)most), v + (size_t)i * stride * n, n * sizeof *sum);
        memcpy(sum + (size_t)i * (n + (size_t)most) + n, largest, (size_t)most * sizeof *sum);
    }
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
    lat_reduce_parts parts;
} sums;

static bool counts(const sums *s, int unit) { return !s->active || s->active[unit]; }

/* sum[n][slices][parts][numbers + most] of n units from `first` on, by way of v, their numbers. */
static void add_units(const sums *s, int first, int n, double *v, double *sum)
{
    const lat_layout *lay = lat_cpu(s->grid)->lay;
    const int groups = (lay->nblocks + GROUP - 1) / GROUP, slices = lat_reduce_slices(s->grid);
    const lat_reduce_parts own = lat_reduce_own(s->grid, &s->parts);
    const size_t numbers = (size_t)s->numbers,
                 row = (size_t)(own.z * own.y) * (numbers + (size_t)s->most),
                 slice = lat_volume(&s->grid->here) / (size_t)slices * numbers;
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
                    add_slice(s->grid, &own, v + (size_t)(u * slices + k) * slice, s->numbers,
                              s->most, sum + (size_t)(u * slices + k) * row);
    }
}

/* [units][slices][parts][numbers + most] in the grid's memory; NULL with lat_error set. */
static const double *sums_of_slices(lat_grid *grid, int units, const sums *s)
{
    const int slices = lat_reduce_slices(grid);
    const lat_reduce_parts own = lat_reduce_own(grid, &s->parts);
    const size_t each = lat_volume(&grid->here) * (size_t)s->numbers, /* numbers of a unit */
        row = (size_t)(slices * own.z * own.y) * (size_t)(s->numbers + s->most);
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
    const sums s = {grid, active, numbers, most, fn, context, parts_of(grid)};
    const double *sum = sums_of_slices(grid, members * grid->slots, &s);
    return sum ? lat_reduce_total(grid, members, &s.parts, numbers + most, most, sum, total) : -1;
}

int lat_cpu_slicewise(lat_grid *grid, int numbers, lat_cpu_numbers *fn, void *context, double *all)
{
    const sums s = {grid, NULL, numbers, 0, fn, context, parts_of(grid)};
    const double *sum = sums_of_slices(grid, 1, &s);
    return sum ? lat_reduce_slicewise(grid, &s.parts, numbers, sum, all) : -1;
}
