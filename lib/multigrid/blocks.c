/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c: tables of sites. */
#include "multigrid/blocks.h"

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

/* ---- extents --------------------------------------------------------------------------------- */

/* The first of these that leaves an even extent, or 0; else the first that divides it. */
static int choose(int extent, const int *of, int count, bool any)
{
    for (int i = 0; i < count; i++)
        if (extent % of[i] == 0 && extent / of[i] % 2 == 0)
            return of[i];
    for (int i = 0; i < count && any; i++)
        if (extent % of[i] == 0)
            return of[i];
    return 0;
}

int lat_mg_fine_blocks(const lat_geometry *lattice, int block[LAT_MAX_DIMS])
{
    static const int of[] = {4, 3, 5, 2, 6};
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        if (!(block[mu] = choose(lattice->dims[mu], of, 5, true)))
            return lat_fail("multigrid: no block of 2 to 6 sites divides an extent of %d",
                            lattice->dims[mu]);
    return 0;
}

bool lat_mg_coarse_blocks(const lat_geometry *lattice, int block[LAT_MAX_DIMS])
{
    static const int of[] = {2, 3, 5};
    bool some = false;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        const int b = choose(lattice->dims[mu], of, 3, false);
        block[mu] = b ? b : 1;
        some = some || b;
    }
    return some;
}

/* ---- coarse lattices ------------------------------------------------------------------------- */

static bool is_odd(const lat_geometry *geom, size_t site)
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(geom, site, x);
    return (x[0] + x[1] + x[2] + x[3]) % 2;
}

static void number_sites(lat_mg_sites *s)
{
    int n[2] = {0, s->odd};
    for (int i = 0; i < s->count; i++) {
        const bool odd = !s->even_odd || is_odd(&s->geom, (size_t)i);
        s->number[i] = n[odd]++;
    }
    for (int i = 0; i < s->count; i++)
        for (int d = 0; d < 8; d++)
            s->next[8 * s->number[i] + d] =
                s->number[lat_neighbour(&s->geom, (size_t)i, d % 4, d < 4 ? 1 : -1)];
}

/* The sites of all ranks' blocks. */
static int list_blocks(lat_mg_sites *s, const lat_comm *comm, const lat_box *fine)
{
    int n = 0;
    if (!(s->blocks = lat_alloc((size_t)s->count, sizeof *s->blocks, "a coarse lattice")))
        return -1;
    for (int rank = 0; rank < comm->size; rank++) {
        const lat_box b = lat_box_at(fine, &s->geom, rank);
        lat_geometry own = s->geom;
        memcpy(own.dims, b.count, sizeof own.dims);
        for (size_t i = 0; i < lat_volume(&own); i++) {
            int x[LAT_MAX_DIMS];
            lat_coordinates(&own, i, x);
            for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
                x[mu] += b.first[mu];
            s->blocks[n++] = s->number[lat_site(&s->geom, x)];
        }
    }
    return 0;
}

int lat_mg_sites_open(lat_mg_sites *s, const lat_geometry *geom, const lat_comm *comm,
                      const lat_box *fine)
{
    const int ranks = fine ? comm->size : 1, rank = fine ? comm->rank : 0;
    memset(s, 0, sizeof *s);
    s->geom = *geom;
    s->count = (int)lat_volume(geom);
    s->even_odd = true;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        s->even_odd = s->even_odd && geom->dims[mu] % 2 == 0;
    s->odd = s->even_odd ? s->count / 2 : 0;
    for (int p = s->even_odd ? 0 : 1; p < 2; p++) {
        const int first = p ? s->odd : 0, count = p ? s->count - s->odd : s->odd;
        s->from[p] = first + count / ranks * rank; /* ranks divide them */
        s->to[p] = s->from[p] + count / ranks;
    }
    if (!(s->number = lat_alloc((size_t)s->count, sizeof *s->number, "a coarse lattice"))
        || !(s->next = lat_alloc((size_t)s->count * 8, sizeof *s->next, "a coarse lattice")))
        return -1;
    number_sites(s);
    return fine && !lat_box_slab(fine, geom) ? list_blocks(s, comm, fine) : 0;
}

int32_t *lat_mg_sites_by_rank(const lat_mg_sites *s, int ranks)
{
    const int own = s->count / ranks, even = s->to[0] - s->from[0];
    int32_t *const list = lat_alloc((size_t)s->count, sizeof *list, "a coarse lattice");
    for (int i = 0; i < s->count && list; i++) {
        const int rank = i / own, k = i % own;
        list[i] = s->blocks  ? s->blocks[i]
                  : k < even ? rank * even + k
                             : s->odd + rank * (own - even) + k - even;
    }
    return list;
}

void lat_mg_sites_close(lat_mg_sites *s)
{
    free(s->number);
    free(s->next);
    free(s->blocks);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

int lat_block_of(const lat_blocks *b, int64_t own)
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(&b->own, (size_t)own, x);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        x[mu] /= b->block[mu];
    return (int)lat_site(&b->coarse, x);
}

/* How many sites of each parity blocks have, then where they begin; and the list. `shift`: the
 * parity of the first site. */
static void fill_list(lat_blocks *b, int shift, int64_t *next[2])
{
    for (int64_t i = 0; i < b->sites; i++) {
        const int p = (is_odd(&b->own, (size_t)i) + shift) % 2;
        b->start[p][lat_block_of(b, i) + 1]++;
    }
    for (int p = 0; p < 2; p++) {
        b->start[p][0] = p ? b->start[0][b->count] : 0;
        for (int k = 0; k < b->count; k++) {
            b->start[p][k + 1] += b->start[p][k];
            next[p][k] = b->start[p][k];
        }
    }
    for (int64_t i = 0; i < b->sites; i++) {
        const int p = (is_odd(&b->own, (size_t)i) + shift) % 2;
        b->position[i] = next[p][lat_block_of(b, i)]++;
        b->list[b->position[i]] = i;
    }
}

/* The site of a block. */
static int32_t coarse_site(const lat_blocks *b, const lat_box *box, const lat_mg_sites *coarse,
                           int block)
{
    int x[LAT_MAX_DIMS];
    lat_coordinates(&b->coarse, (size_t)block, x);
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        x[mu] += box ? box->first[mu] / b->block[mu] : 0;
    return coarse->number[lat_site(&coarse->geom, x)];
}

int lat_blocks_open(lat_blocks *b, const lat_geometry *lattice, const lat_box *box,
                    const int block[LAT_MAX_DIMS], const lat_mg_sites *coarse)
{
    int64_t *next[2] = {NULL, NULL};
    int shift = 0;
    memset(b, 0, sizeof *b);
    memcpy(b->block, block, sizeof b->block);
    b->own = b->coarse = *lattice;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++) {
        b->own.dims[mu] = box ? box->count[mu] : lattice->dims[mu];
        b->cut[mu] = box && box->ranks[mu] > 1;
        shift += box ? box->first[mu] : 0;
        b->coarse.dims[mu] = b->own.dims[mu] / block[mu];
    }
    b->count = (int)lat_volume(&b->coarse);
    b->sites = (int64_t)lat_volume(&b->own);
    const size_t n = (size_t)b->count + 1, sites = (size_t)b->sites;
    bool good = (b->list = lat_alloc(sites, sizeof *b->list, "blocks"))
                && (b->position = lat_alloc(sites, sizeof *b->position, "blocks"))
                && (b->site = lat_alloc(n, sizeof *b->site, "blocks"));
    for (int p = 0; p < 2; p++)
        good = good && (b->start[p] = lat_alloc_zero(n, sizeof(int64_t), "blocks"))
               && (next[p] = lat_alloc(n, sizeof(int64_t), "blocks"));
    if (good)
        fill_list(b, shift % 2, next);
    for (int k = 0; k < b->count && good; k++)
        b->site[k] = coarse_site(b, box, coarse, k);
    free(next[0]);
    free(next[1]);
    return good ? 0 : -1;
}

int64_t lat_blocks_face(const lat_blocks *b, int mu) { return b->sites / b->own.dims[mu]; }

int64_t lat_blocks_ghosts(const lat_blocks *b)
{
    int64_t n = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        n += b->cut[mu] ? lat_blocks_face(b, mu) : 0;
    return n;
}

/* Where a site of the face across mu is in it. */
static int64_t in_face(const lat_blocks *b, int64_t own, int mu)
{
    lat_geometry face = b->own;
    int x[LAT_MAX_DIMS];
    lat_coordinates(&b->own, (size_t)own, x);
    face.dims[mu] = 1;
    x[mu] = 0;
    return (int64_t)lat_site(&face, x);
}

int64_t *lat_blocks_first_face(const lat_blocks *b, int mu)
{
    const int64_t n = lat_blocks_face(b, mu);
    int64_t *const place = lat_alloc((size_t)n, sizeof *place, "blocks");
    lat_geometry face = b->own;
    face.dims[mu] = 1;
    for (int64_t i = 0; i < n && place; i++) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&face, (size_t)i, x);
        place[i] = b->position[lat_site(&b->own, x)];
    }
    return place;
}

int32_t *lat_blocks_next(const lat_blocks *b)
{
    int32_t *const next = lat_alloc((size_t)b->sites * LAT_MAX_DIMS, sizeof *next, "blocks");
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < b->sites; i++) {
        int64_t ghosts = b->sites;
        int x[LAT_MAX_DIMS];
        lat_coordinates(&b->own, (size_t)b->list[i], x);
        for (int mu = 0; mu < LAT_MAX_DIMS && next; mu++) {
            const int64_t own = b->list[i],
                          to = (int64_t)lat_neighbour(&b->own, (size_t)own, mu, 1);
            const bool leaves = b->cut[mu] && x[mu] == b->own.dims[mu] - 1,
                       stays = !leaves && lat_block_of(b, to) == lat_block_of(b, own);
            next[4 * i + mu] =
                (int32_t)(2 * (leaves ? ghosts + in_face(b, own, mu) : b->position[to]) + stays);
            ghosts += b->cut[mu] ? lat_blocks_face(b, mu) : 0;
        }
    }
    return next;
}

void lat_blocks_close(lat_blocks *b)
{
    free(b->start[0]);
    free(b->start[1]);
    free(b->list);
    free(b->position);
    free(b->site);
}
