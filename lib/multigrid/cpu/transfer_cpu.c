/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer_cpu.c: orthonormal vectors of blocks; restriction and prolongation. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "multigrid/cpu/multigrid_cpu.h"

/* ---- of all blocks --------------------------------------------------------------------------- */

typedef struct grams {
    double *block; /* [block][chirality] matrices */
    double *whole; /* their sum */
    double *l, *t; /* of the whole */
} grams;

static void grams_close(grams *g)
{
    free(g->block);
    free(g->whole);
    free(g->l);
    free(g->t);
}

static int grams_open(grams *g, int n, int blocks)
{
    const size_t each = lat_small_doubles(n);
    memset(g, 0, sizeof *g);
    g->block = lat_alloc_zero(2 * (size_t)blocks * each, sizeof(double), "test vectors");
    g->whole = lat_alloc_zero(each, sizeof(double), "test vectors");
    g->l = lat_alloc_zero(each, sizeof(double), "test vectors");
    g->t = lat_alloc_zero(each, sizeof(double), "test vectors");
    return g->block && g->whole && g->l && g->t ? 0 : -1;
}

/* Products of the vectors in a block and chirality. */
static void block_gram(const lat_transfer *t, int block, int chirality, double *g)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int half = t->components / 2;
    for (int p = 0; p < 2; p++)
        for (int64_t i = t->blocks.start[p][block]; i < t->blocks.start[p][block + 1]; i++)
            k->gram(half, t->n, t->v + (i * t->components + chirality * half) * 2 * (int64_t)t->n,
                    g);
}

/* Where blocks are, in natural order, in a list of all ranks' blocks; NULL with lat_error set. */
static int32_t *natural_places(const lat_transfer *t, size_t count)
{
    const int32_t *const block = t->ranks ? t->to->sites.blocks : NULL;
    int32_t *const place = lat_alloc(2 * count, sizeof *place, "test vectors"),
                   *const of_site = place ? place + count : NULL;
    for (size_t i = 0; i < count && place; i++)
        place[i] = (int32_t)i;
    for (size_t i = 0; i < count && place && block; i++)
        of_site[block[i]] = (int32_t)i;
    for (size_t i = 0; i < count && place && block; i++)
        place[i] = of_site[t->to->sites.number[i]];
    return place;
}

/* Their sum over all blocks of all ranks, in natural order. */
static int add_grams(const lat_transfer *t, grams *g)
{
    const size_t each = lat_small_doubles(t->n), mine = 2 * (size_t)t->blocks.count * each;
    const int ranks = t->ranks ? t->comm->size : 1;
    double *all = g->block;
    if (ranks > 1) {
        if (!(all = lat_alloc((size_t)ranks * mine, sizeof *all, "test vectors")))
            return -1;
        if (t->comm->gather(t->comm, g->block, mine * sizeof *all, all)) {
            free(all);
            return -1;
        }
    }
    const size_t count = (size_t)t->blocks.count * (size_t)ranks;
    int32_t *place = natural_places(t, count);
    for (size_t b = 0; b < 2 * count && place; b++)
        for (size_t i = 0; i < each; i++)
            g->whole[i] += all[(2 * (size_t)place[b / 2] + b % 2) * each + i];
    if (ranks > 1)
        free(all);
    free(place);
    return place ? 0 : -1;
}

/* v of a block, orthonormal everywhere, to v; then orthonormal in the block, to p. */
static int block_make(const lat_transfer *t, int block, int chirality, const double *whole,
                      double *g)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int half = t->components / 2, n = t->n;
    double *const l = lat_alloc(2 * lat_small_doubles(n), sizeof *l, "test vectors");
    double *const scratch = lat_alloc(LAT_SMALL_SCRATCH(n), sizeof *scratch, "test vectors");
    if (!l || !scratch) {
        free(l);
        free(scratch);
        return -1;
    }
    double *const inverse = l + lat_small_doubles(n);
    lat_small_transform(n, whole, g, scratch);
    lat_small_orthonormal(n, g, l, inverse);
    for (int p = 0; p < 2; p++)
        for (int64_t i = t->blocks.start[p][block]; i < t->blocks.start[p][block + 1]; i++) {
            const int64_t at = (i * t->components + chirality * half) * 2 * (int64_t)n;
            k->triangular(half, n, whole, t->v + at, t->v + at);
            k->triangular(half, n, inverse, t->v + at, t->p + at);
        }
    free(l);
    free(scratch);
    return 0;
}

int lat_mg_cpu_make(lat_transfer *t)
{
    const size_t each = lat_small_doubles(t->n);
    grams g;
    int bad = grams_open(&g, t->n, t->blocks.count);
    if (bad == 0) {
#pragma omp parallel for schedule(static)
        for (int i = 0; i < 2 * t->blocks.count; i++)
            block_gram(t, i / 2, i % 2, g.block + (size_t)i * each);
        bad = add_grams(t, &g);
    }
    if (bad == 0) {
        lat_small_orthonormal(t->n, g.whole, g.l, g.t);
#pragma omp parallel for schedule(static) reduction(min : bad)
        for (int i = 0; i < 2 * t->blocks.count; i++) {
            const int found = block_make(t, i / 2, i % 2, g.t, g.block + (size_t)i * each);
            bad = found < bad ? found : bad;
        }
    }
    grams_close(&g);
    return lat_agree(t->comm, bad < 0 ? -1 : 0);
}

/* ---- restriction and prolongation ------------------------------------------------------------ */

/* A site's numbers in vectors of the level; of the finest one, which has those of a parity. */
static int64_t place(const lat_transfer *t, int parity, int64_t i)
{
    return (t->at ? t->at[i] : i - t->blocks.start[parity][0]) * t->components;
}

void lat_mg_cpu_restrict_parity(const lat_transfer *t, int parity, bool first, const lat_eight *r,
                                lat_eight *z)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int64_t numbers = (int64_t)t->components * t->n * 2, *start = t->blocks.start[parity];
#pragma omp parallel for schedule(static)
    for (int b = 0; b < t->blocks.count; b++) {
        lat_eight *const to = z + (int64_t)t->blocks.site[b] * 2 * t->n;
        if (first)
            memset(to, 0, 2 * (size_t)t->n * sizeof *to);
        for (int64_t i = start[b]; i < start[b + 1]; i++)
            k->restrict_site(t->components, t->n, t->p + i * numbers, r + place(t, parity, i), to);
    }
}

void lat_mg_cpu_prolong_parity(const lat_transfer *t, int parity, const lat_eight *z, lat_eight *e)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const int64_t numbers = (int64_t)t->components * t->n * 2, *start = t->blocks.start[parity];
#pragma omp parallel for schedule(static)
    for (int b = 0; b < t->blocks.count; b++)
        for (int64_t i = start[b]; i < start[b + 1]; i++)
            k->prolong_site(t->components, t->n, t->p + i * numbers,
                            z + (int64_t)t->blocks.site[b] * 2 * t->n, e + place(t, parity, i));
}

int lat_mg_cpu_restrict(const lat_transfer *t, int from, const lat_eight *r, lat_eight *z)
{
    for (int p = from; p < 2; p++)
        lat_mg_cpu_restrict_parity(t, p, p == from, r, z);
    return 0;
}

int lat_mg_cpu_prolong(const lat_transfer *t, int from, const lat_eight *z, lat_eight *e)
{
    for (int p = from; p < 2; p++)
        lat_mg_cpu_prolong_parity(t, p, z, e);
    return 0;
}

/* ---- columns and test vectors ---------------------------------------------------------------- */

/* Test vectors first .. first+7 from a vector, and back. */
int lat_mg_cpu_take(const lat_level *l, int first, const lat_eight *x)
{
    const lat_transfer *t = &l->down;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->blocks.sites; i++)
        for (int c = 0; c < t->components; c++) {
            const lat_eight *const from = x + (size_t)l->down.at[i] * (size_t)t->components + c;
            float *const to = t->v + 2 * ((i * t->components + c) * t->n + first);
            for (int k = 0; k < LAT_EIGHT; k++) {
                to[2 * k] = from->re[k];
                to[2 * k + 1] = from->im[k];
            }
        }
    return 0;
}

int lat_mg_cpu_give(const lat_level *l, int first, lat_eight *x)
{
    const lat_transfer *t = &l->down;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->blocks.sites; i++)
        for (int c = 0; c < t->components; c++) {
            lat_eight *const to = x + (size_t)l->down.at[i] * (size_t)t->components + c;
            const float *const from = t->v + 2 * ((i * t->components + c) * t->n + first);
            for (int k = 0; k < LAT_EIGHT; k++) {
                to->re[k] = from[2 * k];
                to->im[k] = from[2 * k + 1];
            }
        }
    return 0;
}

int lat_mg_cpu_transfer_open(LAT_UNUSED lat_transfer *t) { return 0; }
void lat_mg_cpu_transfer_close(LAT_UNUSED lat_transfer *t) {}
