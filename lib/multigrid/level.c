/* SPDX-License-Identifier: BSD-3-Clause */
/* level.c: coarse levels, and the cycle through them. */
#include "multigrid/level.h"

#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"

enum {
    BELOW = 32, /* vectors of the levels below the first coarse one */
    SMOOTH = 2  /* steps of the smoother */
};

/* ---- levels ---------------------------------------------------------------------------------- */

static int open_vectors(lat_level *l)
{
    const lat_mg_ops *ops = l->coarse.ops;
    lat_eight **const v[] = {&l->b, &l->r, &l->q, &l->t, &l->from, &l->to};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        if (!(*v[i] = lat_coarse_vector(&l->coarse)))
            return -1;
    if (!(l->scalars = ops->alloc(l->coarse.dev, (size_t)l->coarse.batches, sizeof *l->scalars,
                                  "a coarse level")))
        return -1;
    for (int k = 0; k < LAT_LEVEL_DEPTH && !l->dense; k++)
        if (!(l->e[k] = lat_coarse_vector(&l->coarse))
            || !(l->s[k] = lat_coarse_vector(&l->coarse)))
            return -1;
    return 0;
}

/* The level below, on blocks of this one. */
static int open_next(lat_level *l, const int block[LAT_MAX_DIMS])
{
    const lat_mg_sites *s = &l->coarse.sites;
    lat_geometry geom = s->geom;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        geom.dims[mu] /= block[mu];
    if (!(l->next = lat_level_open(l->coarse.dev, &geom, NULL, BELOW, l->coarse.batches)))
        return -1;
    l->down.comm = &lat_comm_self;
    l->down.ops = l->coarse.ops;
    l->down.dev = l->coarse.dev;
    l->down.to = &l->next->coarse;
    if (lat_blocks_open(&l->down.blocks, &s->geom, NULL, block, &l->next->coarse.sites)
        || !(l->down.at = lat_alloc((size_t)s->count, sizeof *l->down.at, "a coarse lattice")))
        return -1;
    for (int i = 0; i < s->count; i++)
        l->down.at[i] = s->number[l->down.blocks.list[i]];
    return lat_transfer_open(&l->down, l->coarse.rows, BELOW)
                   || !(l->next_r = lat_coarse_vector(&l->next->coarse))
                   || !(l->next_x = lat_coarse_vector(&l->next->coarse))
               ? -1
               : 0;
}

lat_level *lat_level_open(const lat_device *dev, const lat_geometry *geom, const lat_box *fine,
                          int n, int batches)
{
    lat_level *l = lat_alloc_zero(1, sizeof *l, "a coarse level");
    int block[LAT_MAX_DIMS];
    if (!l)
        return NULL;
    l->coarse.ops = dev->gpu ? &lat_multigrid_gpu : &lat_multigrid_cpu;
    l->coarse.dev = dev;
    l->coarse.batches = batches;
    l->coarse.comm = dev->comm;
    l->coarse.ranks = fine && dev->comm->size > 1;
    l->tolerance = .25;
    l->most = LAT_LEVEL_DEPTH;
    int rc = lat_mg_sites_open(&l->coarse.sites, geom, dev->comm, l->coarse.ranks ? fine : NULL)
             || lat_coarse_open(&l->coarse, n);
    if (rc == 0) {
        const lat_mg_sites *s = &l->coarse.sites;
        l->dense = (s->count - s->odd) * l->coarse.rows <= LAT_DENSE_MOST;
        rc = open_vectors(l)
             || (!l->dense && lat_mg_coarse_blocks(geom, block) && open_next(l, block));
        if (!l->next)
            l->most = 60;
    }
    if (rc == 0)
        return l;
    lat_level_close(l);
    return NULL;
}

void lat_level_batches(lat_level *l, int active)
{
    for (; l; l = l->next)
        l->coarse.active = active;
}

void lat_level_close(lat_level *l)
{
    if (!l)
        return;
    const lat_mg_ops *ops = l->coarse.ops;
    lat_level_close(l->next);
    lat_transfer_close(&l->down);
    lat_eight *const v[] = {l->b, l->r, l->q, l->t, l->from, l->to, l->next_r, l->next_x};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        ops->free(v[i]);
    for (int k = 0; k < LAT_LEVEL_DEPTH; k++) {
        ops->free(l->e[k]);
        ops->free(l->s[k]);
    }
    ops->free(l->scalars);
    lat_coarse_close(&l->coarse);
    free(l);
}

/* ---- one iteration --------------------------------------------------------------------------- */

static int complement(lat_level *l, lat_eight *out, const lat_eight *in)
{
    return lat_coarse_complement(&l->coarse, out, in);
}

/* y = add + sum_j f[j] x[j], of one or more. */
static int adds(const lat_level *l, int n, const lat_mg_factor *f, lat_eight *const *x,
                const lat_eight *add, lat_eight *y)
{
    return l->coarse.ops->adds(&l->coarse, n, f, x, add, y);
}

static int difference(const lat_level *l, const lat_eight *a, lat_eight *b, lat_eight *y)
{
    const lat_mg_factor minus = {.sign = -1};
    return adds(l, 1, &minus, &b, a, y);
}

/* Steps of minimal residual from e, whose residual is l->q: a = <t, q>/|t|^2. */
static int smooth(lat_level *l, lat_eight *e)
{
    lat_eight_sums *const sum = l->scalars->step;
    lat_eight *const of[] = {l->q, l->t};
    const lat_mg_factor plus = {1, sum, sum + 1, true, NULL},
                        minus = {-1, sum, sum + 1, true, NULL};
    for (int i = 0; i < SMOOTH; i++)
        if (complement(l, l->t, l->q) || l->coarse.ops->dots(&l->coarse, 2, of, l->t, sum)
            || adds(l, 1, &plus, &l->q, e, e) || adds(l, 1, &minus, &l->t, l->q, l->q))
            return -1;
    return 0;
}

/* s_k is made orthogonal to those before, e_k with it. */
static int orthogonalise(lat_level *l, int k)
{
    lat_mg_scalars *const by = l->scalars;
    lat_mg_factor f[LAT_LEVEL_DEPTH];
    for (int j = 0; j < k; j++)
        f[j] = (lat_mg_factor){-1, by->dot + j, by->square + j, false, NULL};
    return k
           && (l->coarse.ops->dots(&l->coarse, k, l->s, l->s[k], by->dot)
               || adds(l, k, f, l->s, l->s[k], l->s[k]) || adds(l, k, f, l->e, l->e[k], l->e[k]));
}

/* x += gamma e_k, r -= gamma s_k, gamma = <s_k, r>/|s_k|^2. */
static int advance(lat_level *l, int k)
{
    lat_eight *const x = l->x, *r = l->r;
    const lat_mg_ops *ops = l->coarse.ops;
    lat_mg_scalars *const by = l->scalars;
    const lat_mg_factor plus = {1, by->step, by->square + k, false, by->done},
                        minus = {-1, by->step, by->square + k, false, by->done};
    return ops->dots(&l->coarse, 1, &l->s[k], r, by->step)
           || ops->dots(&l->coarse, 1, &l->s[k], l->s[k], by->square + k)
           || adds(l, 1, &plus, &l->e[k], x, x) || adds(l, 1, &minus, &l->s[k], r, r)
           || ops->dots(&l->coarse, 1, &r, r, &by->norm)
           || ops->look(&l->coarse, by, false, l->tolerance);
}

/* An iteration of GCR makes e_k, about the solution of the complement for r, and s_k, the
 * complement times e_k. Without the level below e_k is r. */
static int unaided(lat_level *l, int k)
{
    const lat_mg_factor one = {.sign = 1};
    return adds(l, 1, &one, &l->r, NULL, l->e[k]) || complement(l, l->s[k], l->e[k])
           || orthogonalise(l, k) || advance(l, k);
}

/* What the level below has to solve. */
static int descend(lat_level *l)
{
    const lat_mg_ops *ops = l->coarse.ops;
    return ops->diagonal(&l->coarse, l->t, l->r)
           || ops->restrict_to(&l->down, l->coarse.sites.even_odd, l->t, l->next_r);
}

/* And what comes after it. */
static int ascend(lat_level *l, int k)
{
    lat_eight *const e = l->e[k], *const s = l->s[k];
    return l->coarse.ops->prolong(&l->down, l->coarse.sites.even_odd, l->next_x, e)
           || complement(l, s, e) || difference(l, l->r, s, l->q) || smooth(l, e)
           || difference(l, l->r, l->q, s) || orthogonalise(l, k) || advance(l, k);
}

/* All of it, where the level below is dense, so that no host looks at it. */
static int descend_and_ascend(lat_level *l, int k)
{
    return descend(l) || lat_level_solve(l->next, l->next_x, l->next_r) || ascend(l, k);
}

static int iterate(lat_level *l, int k)
{
    const lat_mg_ops *ops = l->coarse.ops;
    if (!l->next || l->alone)
        return ops->run(l, unaided, k);
    if (l->next->dense)
        return ops->run(l, descend_and_ascend, k);
    return descend(l) || lat_level_solve(l->next, l->next_x, l->next_r) || ops->run(l, ascend, k);
}

/* ---- solves ---------------------------------------------------------------------------------- */

/* Iterations before the host reads what was found: 0 where this costs nothing. Else as many as both
 * of the last two solves needed, on a level without a solve by GCR below it. Iterations beyond what
 * a column needs do not change it, but take time: on the levels above more than reading does. */
static int unread(const lat_level *l)
{
    const int *n = l->needed, least = n[0] < n[1] ? n[0] : n[1];
    if (!l->coarse.ops->waits || (l->next && !l->next->dense))
        return 0;
    return least < l->most ? least : l->most;
}

static void count(lat_level *l, int needed, int ran)
{
    const int each = l->next && !l->alone ? 1 + SMOOTH : 1;
    l->needed[1] = l->needed[0];
    l->needed[0] = needed;
    l->solves++;
    l->iterations += needed;
    l->ran += ran;
    l->applied += (long)needed * each;
}

/* l->x = complement^-1 l->r, from 0; l->r is overwritten. */
static int gcr(lat_level *l)
{
    const lat_mg_ops *ops = l->coarse.ops;
    const int first = unread(l);
    lat_mg_found found = {.all = false};
    if (ops->dots(&l->coarse, 1, &l->r, l->r, &l->scalars->norm)
        || ops->look(&l->coarse, l->scalars, true, l->tolerance)
        || adds(l, 0, NULL, NULL, NULL, l->x))
        return -1;
    for (int i = 0;; i++) {
        if (i >= first && ops->found(&l->coarse, l->scalars, &found))
            return -1;
        if (found.all || i == l->most) {
            count(l, found.iterations, i);
            return 0;
        }
        if (iterate(l, i % LAT_LEVEL_DEPTH))
            return -1;
    }
}

int lat_level_solve(lat_level *l, lat_eight *x, const lat_eight *b)
{
    const lat_coarse *c = &l->coarse;
    l->x = x;
    if (lat_coarse_prepare(c, l->r, l->b, b) || (l->dense ? c->ops->dense(c, x, l->r) : gcr(l)))
        return -1;
    return lat_coarse_reconstruct(c, x, l->b);
}
