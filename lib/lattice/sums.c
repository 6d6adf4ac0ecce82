/* SPDX-License-Identifier: BSD-3-Clause */
/* sums.c: sums over a field in a fixed order. */
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "iterate.h"
#include "slices.h"

static size_t own_blocks(const lat_sums *s)
{
    return (size_t)lat_field_slab(s->f).count * s->blocks;
}

static size_t chunks_of(const lat_sums *s) { return (s->items + LAT_CHUNK - 1) / LAT_CHUNK; }

int lat_sums_reserve(lat_sums *s)
{
    const size_t own = own_blocks(s), chunks = own * chunks_of(s),
                 all = (size_t)lat_slices(&s->f->head) * s->blocks,
                 n = (chunks + own + all + 1) * s->numbers;
    if (n > s->size) {
        free(s->memory);
        s->memory = lat_alloc(n, sizeof *s->memory, "sums over the lattice");
        s->size = s->memory ? n : 0;
    }
    if (n > s->size)
        return -1;
    s->own = s->memory + chunks * s->numbers;
    s->all = s->own + own * s->numbers;
    s->total = s->all + all * s->numbers;
    return 0;
}

void lat_sums_add(const lat_sums *s, double *to, const double *from, size_t n)
{
    const size_t added = s->numbers - s->most;
    for (size_t i = 0; i < n; i++, from += s->numbers) {
        for (size_t k = 0; k < added; k++)
            to[k] += from[k];
        for (size_t k = added; k < s->numbers; k++)
            to[k] = lat_worse(to[k], from[k]);
    }
}

void lat_sums_over(lat_sums *s, size_t first, size_t last, lat_sum_fn *fn, const void *with)
{
    const size_t chunks = chunks_of(s), n = s->numbers;
#pragma omp parallel for schedule(static)
    for (size_t i = first * chunks; i < last * chunks; i++) {
        const size_t block = i / chunks, at = i % chunks * LAT_CHUNK, to = at + LAT_CHUNK,
                     from = block * s->items;
        double *sums = n ? s->memory + i * n : NULL;
        if (n)
            memset(sums, 0, n * sizeof *sums);
        fn(with, block, from + at, from + (to < s->items ? to : s->items), sums);
    }
    if (n)
        memset(s->own + first * n, 0, (last - first) * n * sizeof *s->own);
    for (size_t block = first; n && block < last; block++)
        lat_sums_add(s, s->own + block * n, s->memory + block * chunks * n, chunks);
}

int lat_sums_gather(lat_sums *s)
{
    return lat_field_gather(s->f, s->own, s->blocks * s->numbers * sizeof *s->own, s->all);
}

int lat_sums_take(lat_sums *s, lat_sum_fn *fn, const void *with)
{
    if (lat_sums_reserve(s))
        return -1;
    lat_sums_over(s, 0, own_blocks(s), fn, with);
    if (lat_sums_gather(s))
        return -1;
    memset(s->total, 0, s->numbers * sizeof *s->total);
    lat_sums_add(s, s->total, s->all, (size_t)lat_slices(&s->f->head) * s->blocks);
    return 0;
}

typedef struct chunks {
    const lat_field *f;
    lat_chunk_fn *fn;
    const void *arg;
} chunks;

static void chunk(const void *with, LAT_UNUSED size_t block, size_t from, size_t to, double *sums)
{
    const chunks *c = with;
    c->fn(c->f, from, to, c->arg, (lat_partial *)sums);
}

int lat_over_chunks(const lat_field *f, size_t items, lat_chunk_fn *fn, const void *arg,
                    lat_partial *total)
{
    const chunks c = {f, fn, arg};
    lat_sums s = {f, items, 1, .numbers = LAT_SUMS + 2, .most = 2};
    const int rc = lat_sums_take(&s, chunk, &c);
    if (rc == 0)
        memcpy(total, s.total, sizeof *total);
    free(s.memory);
    return rc;
}
