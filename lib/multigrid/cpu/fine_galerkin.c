/* SPDX-License-Identifier: BSD-3-Clause */
/* fine_galerkin.c: the matrices of the first coarse level from the Dirac operator. */
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "multigrid/cpu/galerkin.h"
#include "multigrid/cpu/hop.h"
#include "multigrid/cpu/multigrid_cpu.h"
#include "site/sun.h"
#include "vector/temporal.h"

enum { REALS = 18, HOPS = LAT_COARSE_HOPS };

static size_t site_numbers(const lat_transfer *t)
{
    return (size_t)t->components * 2 * (size_t)t->n;
}

/* ---- P of the next ranks --------------------------------------------------------------------- */

/* The rank before gets our first face across an axis, and the next rank's first face comes behind
 * P. */
static int exchange_face(const lat_mg_fine *f, int mu, float *ghosts)
{
    const lat_transfer *t = &f->down;
    const lat_blocks *b = &t->blocks;
    const size_t n = (size_t)lat_blocks_face(b, mu), bytes = n * site_numbers(t) * sizeof(float);
    float *const face = lat_alloc(1, bytes, "the prolongation's ghosts");
    int64_t *const place = lat_blocks_first_face(b, mu);
    for (size_t i = 0; i < n && face && place; i++)
        memcpy(face + i * site_numbers(t), t->p + (size_t)place[i] * site_numbers(t),
               site_numbers(t) * sizeof(float));
    int step[2][LAT_MAX_DIMS] = {{0}};
    step[0][mu] = -1;
    step[1][mu] = 1;
    const lat_box *box = &f->space->grid->box;
    const lat_message m = {
        lat_box_rank(box, step[0]), lat_box_rank(box, step[1]), mu, mu, face, ghosts, bytes, bytes};
    int rc = lat_agree(t->comm, face && place ? 0 : -1);
    if (rc == 0)
        rc = t->comm->begin(t->comm, 1, &m) || t->comm->finish(t->comm) ? -1 : 0;
    free(face);
    free(place);
    return rc;
}

static int exchange_faces(const lat_mg_fine *f)
{
    const lat_blocks *b = &f->down.blocks;
    float *ghosts = f->down.p + (size_t)b->sites * site_numbers(&f->down);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        if (!b->cut[mu])
            continue;
        if (exchange_face(f, mu, ghosts))
            return -1;
        ghosts += (size_t)lat_blocks_face(b, mu) * site_numbers(&f->down);
    }
    return 0;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* G(x) U_mu(x) G(x+mu)^+ with the weight and the phase of the hop. own: a site of this rank. */
static void link_at(const lat_mg_fine *f, const lat_field *u, int64_t own, int mu, float *to)
{
    const int nc = u->head.nc;
    int x[LAT_MAX_DIMS];
    double link[LAT_SUN_REALS], g[LAT_SUN_REALS], v[LAT_SUN_REALS], re, im;
    lat_coordinates(&f->down.blocks.own, (size_t)own, x);
    for (int nu = 0; nu < LAT_MAX_DIMS; nu++)
        x[nu] += f->space->grid->box.first[nu];
    const size_t i = lat_field_index(u, lat_site(&u->head.geom, x)),
                 next = lat_field_next(u, i, mu, 1);
    lat_field_get(u, i * LAT_MAX_DIMS + (size_t)mu, link);
    if (f->space->temporal) {
        lat_field_get(&f->space->temporal->g, i, g);
        lat_sun_mul(nc, v, g, link);
        lat_field_get(&f->space->temporal->g, next, g);
        lat_sun_mul_dag(nc, link, v, g);
    }
    lat_mg_fine_factor(f, mu, x[mu], &re, &im);
    for (int k = 0; k < nc * nc; k++) {
        to[2 * k] = (float)(re * link[2 * k] - im * link[2 * k + 1]);
        to[2 * k + 1] = (float)(re * link[2 * k + 1] + im * link[2 * k]);
    }
}

/* ---- hops ------------------------------------------------------------------------------------ */

/* links: as this rank has them on the grid. next: lat_blocks_next. */
typedef struct source {
    const lat_mg_fine *f;
    const lat_field *links;
    const int32_t *next;
} source;

static void block_hops(const source *s, lat_galerkin *g, int block, int chirality, int first,
                       const float *links)
{
    const lat_mg_kernels *k = lat_mg_kernels_widest();
    const lat_transfer *t = g->t;
    const size_t rows = (size_t)g->to->rows * sizeof *g->in, half = site_numbers(t) / 2;
    const int column = chirality * t->n + first, nc = s->f->space->nc;
    for (int mu = 0; mu < HOPS; mu++) {
        const float *u = links + mu * REALS;
        memset(g->in, 0, rows);
        memset(g->out, 0, rows);
        for (int p = 0; p < 2; p++)
            for (int64_t i = t->blocks.start[p][block]; i < t->blocks.start[p][block + 1]; i++) {
                const int32_t next = s->next[4 * i + mu];
                const float *from = t->p + (size_t)(next / 2) * site_numbers(t);
                lat_mg_hop(nc, mu, u, chirality, from + (size_t)chirality * half + 2 * first, t->n,
                           g->site);
                k->restrict_site(t->components, t->n, t->p + (size_t)i * site_numbers(t), g->site,
                                 next % 2 ? g->in : g->out);
                u += HOPS * REALS;
            }
        lat_galerkin_inside(g, column);
        lat_galerkin_put(g, block, mu, column, g->out);
    }
}

/* All but P^+ A P, which is there already. */
static void finish_block(const source *s, lat_galerkin *g, int block, float *links)
{
    const lat_blocks *b = &g->t->blocks;
    float *u = links;
    for (int p = 0; p < 2; p++)
        for (int64_t i = b->start[p][block]; i < b->start[p][block + 1]; i++)
            for (int mu = 0; mu < HOPS; mu++, u += REALS)
                link_at(s->f, s->links, b->list[i], mu, u);
    for (int c = 0; c < 2; c++)
        for (int first = 0; first < g->t->n; first += LAT_EIGHT)
            block_hops(s, g, block, c, first, links);
    lat_galerkin_end(g, block);
}

static int all_hops(const source *s, lat_level *l)
{
    const lat_blocks *b = &s->f->down.blocks;
    const int *e = b->block;
    int rc = 0;
#pragma omp parallel reduction(min : rc)
    {
        lat_galerkin g;
        float *links = lat_alloc((size_t)(e[0] * e[1] * e[2] * e[3]), HOPS * REALS * sizeof *links,
                                 "a coarse operator");
        rc = lat_galerkin_open(&g, &s->f->down, &l->coarse) || !links ? -1 : 0;
#pragma omp for schedule(static)
        for (int block = 0; block < b->count; block++)
            if (rc == 0) {
                lat_galerkin_begin(&g);
                finish_block(s, &g, block, links);
            }
        lat_galerkin_close(&g);
        free(links);
    }
    return rc;
}

/* ---- what is diagonal in sites --------------------------------------------------------------- */

/* Is column j of P of a block and chirality 0 (transfer.h)? */
static bool is_zero(const lat_transfer *t, int block, int chirality, int j)
{
    const int half = t->components / 2;
    for (int p = 0; p < 2; p++)
        for (int64_t i = t->blocks.start[p][block]; i < t->blocks.start[p][block + 1]; i++)
            for (int c = 0; c < half; c++) {
                const float *const w =
                    t->p + 2 * ((i * t->components + chirality * half + c) * t->n + j);
                if (w[0] != 0 || w[1] != 0)
                    return false;
            }
    return true;
}

/* P^+ A P where A is the same number everywhere, but for the sign of the twist: as P^+ P = 1. */
static void put_number(const lat_mg_fine *f, lat_level *l)
{
    const lat_fermion *m = &f->d->fermion;
    const lat_transfer *t = &f->down;
    const int rows = l->coarse.rows;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < t->blocks.count; b++) {
        float *const x = lat_coarse_matrix(&l->coarse, t->blocks.site[b], HOPS);
        memset(x, 0, 2 * (size_t)rows * (size_t)rows * sizeof *x);
        for (int j = 0; j < rows; j++) {
            float *const to = x + lat_tile_at(rows, j, j);
            if (is_zero(t, b, j / t->n, j % t->n))
                continue;
            to[0] = (float)(1 + 3 * m->nu / m->xi + m->mass);
            to[1] = (float)(j < t->n ? m->twist : -m->twist);
        }
    }
}

/* Columns of P^+ A P of all blocks, from z = P^+ (A P columns). */
static void put_diagonal(const lat_mg_fine *f, lat_level *l, int chirality, int first,
                         const lat_eight *z)
{
    const lat_blocks *b = &f->down.blocks;
    const int rows = l->coarse.rows;
    for (int k = 0; k < b->count; k++) {
        float *m = lat_coarse_matrix(&l->coarse, b->site[k], HOPS);
        lat_tile_columns(rows, chirality * f->down.n + first, z + (size_t)b->site[k] * (size_t)rows,
                         m);
    }
}

static int all_diagonals(const lat_mg_fine *f, lat_level *l, lat_dfield *x)
{
    const lat_part both = {LAT_BOTH, LAT_EIGHT, lat_column_numbers};
    if (!f->d->clover) {
        put_number(f, l);
        return 0;
    }
    for (int c = 0; c < 2; c++)
        for (int first = 0; first < f->down.n; first += LAT_EIGHT) {
            lat_mg_cpu_columns(f, first, c, x);
            if (f->d->ops->diagonal(f->d, false, false, &both, x, x)
                || lat_mg_cpu_fine_restrict(f, true, LAT_EIGHT, lat_column_numbers, x, l->from))
                return -1;
            put_diagonal(f, l, c, first, l->from);
        }
    return 0;
}

int lat_mg_cpu_fine_galerkin(const lat_mg_fine *f, lat_level *l, lat_dfield *x)
{
    lat_field part;
    const lat_field *links = lat_grid_there(f->space->grid, f->links, f->box, &part);
    int32_t *const next = lat_blocks_next(&f->down.blocks);
    const source s = {f, links, next};
    int rc = lat_agree(f->down.comm, links && next ? 0 : -1);
    if (rc == 0)
        rc = lat_rc(exchange_faces(f) || all_diagonals(f, l, x) || all_hops(&s, l));
    free(next);
    lat_field_free(&part);
    return lat_agree(f->down.comm, rc);
}
