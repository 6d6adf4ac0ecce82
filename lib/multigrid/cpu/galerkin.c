/* SPDX-License-Identifier: BSD-3-Clause */
/* galerkin.c: the matrices of a coarse level from those of the one above. */
#include "multigrid/cpu/galerkin.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "multigrid/cpu/multigrid_cpu.h"

int lat_galerkin_open(lat_galerkin *g, const lat_transfer *t, lat_coarse *to)
{
    const size_t rows = (size_t)to->rows, components = (size_t)t->components;
    g->t = t;
    g->to = to;
    g->in = lat_alloc(rows, sizeof(lat_eight), "a coarse operator");
    g->out = lat_alloc(rows, sizeof(lat_eight), "a coarse operator");
    g->site = lat_alloc_zero(components, sizeof(lat_eight), "a coarse operator");
    g->column = lat_alloc_zero(components, sizeof(lat_eight), "a coarse operator");
    g->inside = lat_alloc(2 * rows, rows * sizeof(float), "a coarse operator");
    return g->in && g->out && g->site && g->column && g->inside ? 0 : -1;
}

void lat_galerkin_close(lat_galerkin *g)
{
    free(g->in);
    free(g->out);
    free(g->site);
    free(g->column);
    free(g->inside);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void lat_galerkin_begin(lat_galerkin *g)
{
    memset(g->inside, 0, 2 * (size_t)g->to->rows * (size_t)g->to->rows * sizeof *g->inside);
}

void lat_galerkin_put(lat_galerkin *g, int block, int which, int first, const lat_eight *from)
{
    lat_tile_columns(g->to->rows, first, from,
                     lat_coarse_matrix(g->to, g->t->blocks.site[block], which));
}

void lat_galerkin_inside(lat_galerkin *g, int first)
{
    for (int i = 0; i < g->to->rows; i++)
        for (int l = 0; l < LAT_EIGHT; l++) {
            const int64_t at = lat_tile_at(g->to->rows, i, first + l);
            g->inside[at] += g->in[i].re[l];
            g->inside[at + 1] += g->in[i].im[l];
        }
}

void lat_galerkin_end(lat_galerkin *g, int block)
{
    const int n = g->to->rows, half = g->to->n;
    float *const x = lat_coarse_matrix(g->to, g->t->blocks.site[block], LAT_COARSE_HOPS);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            const int64_t at = lat_tile_at(n, i, j), back = lat_tile_at(n, j, i);
            const float sign = (i < half) == (j < half) ? 1 : -1;
            x[at] += g->inside[at] + sign * g->inside[back];
            x[at + 1] += g->inside[at + 1] - sign * g->inside[back + 1];
        }
    for (int i = 0; i < n; i++) { /* a vector that is 0 in the block: an equation apart */
        float *const own = x + lat_tile_at(n, i, i);
        if (own[0] == 0 && own[1] == 0)
            own[0] = 1;
    }
}

/* ---- from a coarse level --------------------------------------------------------------------- */

/* Eight columns of P at a site, of a chirality. */
static void load_columns(const lat_transfer *t, int64_t i, int chirality, int first, lat_eight *to)
{
    const int half = t->components / 2;
    const float *p = t->p + 2 * ((i * t->components + chirality * half) * t->n + first);
    for (int c = 0; c < half; c++, p += 2 * t->n)
        for (int l = 0; l < LAT_EIGHT; l++) {
            to[c].re[l] = p[2 * l];
            to[c].im[l] = p[2 * l + 1];
        }
}

/* to += P^+ of matrix `which` of site i times columns of P at site j; both are of the list. */
static void add_site(const lat_level *l, lat_galerkin *g, int which, int64_t i, int64_t j,
                     int chirality, int first, lat_eight *to)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const lat_transfer *t = &l->down;
    const int half = t->components / 2;
    const float *const m = lat_coarse_matrix(&l->coarse, l->down.at[i], which);
    const lat_eight *const from = g->column;
    const lat_products p = {t->components, half, chirality * half, t->components, 1, &m, &from};
    load_columns(t, j, chirality, first, g->column);
    k->products(&p, NULL, 1, g->site);
    k->restrict_site(t->components, t->n, t->p + i * t->components * 2 * t->n, g->site, to);
}

static void block_columns(const lat_level *l, lat_galerkin *g, const int64_t *where, int block,
                          int chirality, int first)
{
    const lat_blocks *b = &l->down.blocks;
    const size_t rows = (size_t)g->to->rows * sizeof *g->in;
    const int column = chirality * g->to->n + first;
    for (int mu = 0; mu <= LAT_COARSE_HOPS; mu++) {
        memset(g->in, 0, rows);
        memset(g->out, 0, rows);
        for (int p = 0; p < 2; p++)
            for (int64_t i = b->start[p][block]; i < b->start[p][block + 1]; i++) {
                const int64_t j = mu < LAT_COARSE_HOPS
                                      ? where[l->coarse.sites.next[8 * l->down.at[i] + mu]]
                                      : i;
                const bool stays = lat_block_of(b, b->list[j]) == block;
                add_site(l, g, mu, i, j, chirality, first, stays ? g->in : g->out);
            }
        if (mu == LAT_COARSE_HOPS)
            lat_galerkin_put(g, block, mu, column, g->in);
        else {
            lat_galerkin_inside(g, column);
            lat_galerkin_put(g, block, mu, column, g->out);
        }
    }
}

static void make_block(const lat_level *l, lat_galerkin *g, const int64_t *where, int block)
{
    lat_galerkin_begin(g);
    for (int c = 0; c < 2; c++)
        for (int first = 0; first < l->down.n; first += LAT_EIGHT)
            block_columns(l, g, where, block, c, first);
    lat_galerkin_end(g, block);
}

int lat_mg_cpu_galerkin(lat_level *l)
{
    const lat_blocks *b = &l->down.blocks;
    int rc = 0;
    int64_t *where = lat_alloc((size_t)b->sites, sizeof *where, "a coarse operator");
    if (!where)
        return -1;
    for (int64_t i = 0; i < b->sites; i++)
        where[l->down.at[i]] = i;
#pragma omp parallel reduction(min : rc)
    {
        lat_galerkin g;
        rc = lat_galerkin_open(&g, &l->down, &l->next->coarse);
#pragma omp for schedule(static)
        for (int block = 0; block < b->count; block++)
            if (rc == 0)
                make_block(l, &g, where, block);
        lat_galerkin_close(&g);
    }
    free(where);
    return rc;
}
