/* SPDX-License-Identifier: BSD-3-Clause */
/* level.c: coarse levels, and the cycle through them. */
#include "multigrid/level.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

enum {
    BELOW = 32, /* vectors of the levels below the first coarse one */
    SMOOTH = 4  /* steps of the smoother */
};

/* ---- levels ---------------------------------------------------------------------------------- */

static int open_vectors(lat_level *l)
{
    lat_eight **const v[] = {&l->b, &l->r, &l->q, &l->t, &l->from, &l->to};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        if (!(*v[i] = lat_coarse_vector(&l->coarse)))
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
    const lat_slab all = {0, geom.dims[3]};
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        geom.dims[mu] /= block[mu];
    if (!(l->next = lat_level_open(&geom, l->coarse.comm, false, BELOW)))
        return -1;
    l->down.comm = &lat_comm_self;
    if (lat_blocks_open(&l->down.blocks, &s->geom, &all, block, &l->next->coarse.sites)
        || lat_transfer_open(&l->down, l->coarse.rows, BELOW)
        || !(l->at = lat_alloc((size_t)s->count, sizeof *l->at, "a coarse lattice"))
        || !(l->next_r = lat_coarse_vector(&l->next->coarse))
        || !(l->next_x = lat_coarse_vector(&l->next->coarse)))
        return -1;
    for (int i = 0; i < s->count; i++)
        l->at[i] = s->number[l->down.blocks.list[i]];
    return 0;
}

lat_level *lat_level_open(const lat_geometry *geom, const lat_comm *comm, bool ranks, int n)
{
    lat_level *l = lat_alloc_zero(1, sizeof *l, "a coarse level");
    int block[LAT_MAX_DIMS];
    if (!l)
        return NULL;
    l->coarse.comm = comm;
    l->coarse.ranks = ranks && comm->size > 1;
    l->tolerance = .1;
    l->most = LAT_LEVEL_DEPTH;
    int rc = lat_mg_sites_open(&l->coarse.sites, geom, comm, l->coarse.ranks)
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

void lat_level_close(lat_level *l)
{
    if (!l)
        return;
    lat_level_close(l->next);
    lat_transfer_close(&l->down);
    lat_coarse_close(&l->coarse);
    lat_eight *const v[] = {l->b, l->r, l->q, l->t, l->from, l->to, l->next_r, l->next_x};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        free(v[i]);
    for (int k = 0; k < LAT_LEVEL_DEPTH; k++) {
        free(l->e[k]);
        free(l->s[k]);
    }
    free(l->at);
    free(l);
}

/* ---- linear algebra on odd sites ------------------------------------------------------------- */

static size_t first_odd(const lat_level *l)
{
    return (size_t)l->coarse.sites.odd * (size_t)l->coarse.rows;
}

static size_t odd_numbers(const lat_level *l)
{
    return (size_t)l->coarse.sites.count * (size_t)l->coarse.rows - first_odd(l);
}

static void copy_odd(const lat_level *l, const lat_eight *x, lat_eight *y)
{
    memcpy(y + first_odd(l), x + first_odd(l), odd_numbers(l) * sizeof *x);
}

static void zero_odd(const lat_level *l, lat_eight *y)
{
    memset(y + first_odd(l), 0, odd_numbers(l) * sizeof *y);
}

/* sign * sum / square, 0 where square is 0 or `done`. */
static lat_eight quotient(const lat_eight_sums *sum, const double *square, double sign,
                          const bool *done)
{
    lat_eight q = {{0}, {0}};
    for (int k = 0; k < LAT_EIGHT; k++)
        if (square[k] > 0 && !(done && done[k])) {
            q.re[k] = (float)(sign * sum->re[k] / square[k]);
            q.im[k] = (float)(sign * sum->im[k] / square[k]);
        }
    return q;
}

static lat_eight negative(lat_eight a) { return (lat_eight){-a.re, -a.im}; }

static int complement(lat_level *l, lat_eight *out, const lat_eight *in)
{
    l->applied++;
    return lat_coarse_complement(&l->coarse, out, in);
}

/* ---- one iteration --------------------------------------------------------------------------- */

/* Steps of minimal residual from e, whose residual is l->q. */
static int smooth(lat_level *l, lat_eight *e)
{
    const lat_coarse *c = &l->coarse;
    for (int i = 0; i < SMOOTH; i++) {
        lat_eight_sums dot, square;
        if (complement(l, l->t, l->q))
            return -1;
        lat_coarse_dot(c, l->t, l->q, &dot);
        lat_coarse_dot(c, l->t, l->t, &square);
        const lat_eight a = quotient(&dot, square.re, 1, NULL);
        lat_coarse_add(c, &a, l->q, e);
        const lat_eight minus = negative(a);
        lat_coarse_add(c, &minus, l->t, l->q);
    }
    return 0;
}

/* e, about the solution of the complement for r, and s = complement e. */
static int precondition(lat_level *l, lat_eight *e, lat_eight *s, const lat_eight *r)
{
    static const lat_eight minus_one = {{-1, -1, -1, -1, -1, -1, -1, -1}, {0}};
    const lat_coarse *c = &l->coarse;
    const lat_transfer_part part = {c->sites.even_odd ? 1 : 0, 2, l->at, 0};
    if (!l->next || l->alone) {
        copy_odd(l, r, e);
        return complement(l, s, e);
    }
    if (lat_coarse_diagonal(c, l->t, r))
        return -1;
    lat_restrict(&l->down, part, l->t, l->next_r);
    if (lat_level_solve(l->next, l->next_x, l->next_r))
        return -1;
    lat_prolong(&l->down, part, l->next_x, e);
    if (complement(l, s, e))
        return -1;
    copy_odd(l, r, l->q);
    lat_coarse_add(c, &minus_one, s, l->q);
    if (smooth(l, e))
        return -1;
    copy_odd(l, r, s);
    lat_coarse_add(c, &minus_one, l->q, s);
    return 0;
}

/* ---- GCR ------------------------------------------------------------------------------------- */

typedef struct progress {
    double square[LAT_LEVEL_DEPTH][LAT_EIGHT]; /* |s_k|^2 */
    double target[LAT_EIGHT];                  /* of |r|^2 */
    bool done[LAT_EIGHT];
} progress;

/* s_k is made orthogonal to those before, e_k with it. */
static void orthogonalise(lat_level *l, progress *p, int k)
{
    lat_eight_sums dot[LAT_LEVEL_DEPTH], square;
    for (int j = 0; j < k; j++)
        lat_coarse_dot(&l->coarse, l->s[j], l->s[k], dot + j);
    for (int j = 0; j < k; j++) {
        const lat_eight a = quotient(dot + j, p->square[j], -1, NULL);
        lat_coarse_add(&l->coarse, &a, l->s[j], l->s[k]);
        lat_coarse_add(&l->coarse, &a, l->e[j], l->e[k]);
    }
    lat_coarse_dot(&l->coarse, l->s[k], l->s[k], &square);
    memcpy(p->square[k], square.re, sizeof square.re);
}

/* Which columns are done with this |r|^2? Are all? */
static bool all_done(progress *p, const double *norm)
{
    bool all = true;
    for (int k = 0; k < LAT_EIGHT; k++) {
        p->done[k] = p->done[k] || !(norm[k] > p->target[k]);
        all = all && p->done[k];
    }
    return all;
}

/* x = complement^-1 r, from 0; r is overwritten. */
static int gcr(lat_level *l, lat_eight *x, lat_eight *r)
{
    const lat_coarse *c = &l->coarse;
    progress p = {.done = {false}};
    lat_eight_sums norm, dot;
    lat_coarse_dot(c, r, r, &norm);
    for (int k = 0; k < LAT_EIGHT; k++)
        p.target[k] = l->tolerance * l->tolerance * norm.re[k];
    zero_odd(l, x);
    for (int i = 0; i < l->most && !all_done(&p, norm.re); i++) {
        const int k = i % LAT_LEVEL_DEPTH;
        if (precondition(l, l->e[k], l->s[k], r))
            return -1;
        orthogonalise(l, &p, k);
        lat_coarse_dot(c, l->s[k], r, &dot);
        const lat_eight a = quotient(&dot, p.square[k], 1, p.done), minus = negative(a);
        lat_coarse_add(c, &a, l->e[k], x);
        lat_coarse_add(c, &minus, l->s[k], r);
        lat_coarse_dot(c, r, r, &norm);
        l->iterations++;
    }
    return 0;
}

int lat_level_solve(lat_level *l, lat_eight *x, const lat_eight *b)
{
    const lat_coarse *c = &l->coarse;
    l->solves++;
    if (lat_coarse_prepare(c, l->r, l->b, b))
        return -1;
    if (l->dense)
        lat_coarse_dense(c, x, l->r);
    else if (gcr(l, x, l->r))
        return -1;
    return lat_coarse_reconstruct(c, x, l->b);
}
