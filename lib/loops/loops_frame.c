/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_frame.c: links in temporal gauge, their times one after the other. */
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "lattice/iterate.h"
#include "loops_internal.h"

/* Elements of matrices of one direction, from which on threads pay. */
#define LEAST ((size_t)1 << 14)

/* The place of the reals of time t at site x. */
static double *place(const lat_timewise *w, lat_simd8 *f, size_t x, int t)
{
    return (double *)(f + x * lat_timewise_vectors(w)) + t;
}

static void put(const lat_timewise *w, double *to, const double *m)
{
    for (int k = 0; k < 2 * w->n * w->n; k++)
        to[(size_t)k * LAT_SIMD8 * (size_t)w->groups] = m[k];
}

static lat_simd8 *timewise_new(const lat_timewise *w, size_t sites)
{
    return lat_alloc_zero(sites * lat_timewise_vectors(w), sizeof(lat_simd8), "lines of links");
}

/* ---- temporal gauge -------------------------------------------------------------------------- */

/* g(x, t + 1) = g(x, t) U_t(x, t) on own slices; `around` goes from rank to rank: what comes in is
 * g on our first slice, what goes out g on the next one. */
static void go_through(const lat_loops_frame *f, const lat_field *u)
{
    const int n = f->n;
    const size_t reals = 2 * (size_t)(n * n), nd = (size_t)f->axes + 1;
#pragma omp parallel for schedule(static) if (f->wide)
    for (size_t x = 0; x < f->sites; x++) {
        double *here = f->around + x * reals, link[LAT_SUN_REALS], next[LAT_SUN_REALS];
        for (int t = 0; t < f->slab.count; t++) {
            if (f->g)
                put(&f->own, place(&f->own, f->g, x, t), here);
            lat_load(u, (x + (size_t)t * f->sites) * nd + nd - 1, n, link);
            lat_sun_mul(n, next, here, link);
            memcpy(here, next, reals * sizeof *here);
        }
    }
}

int lat_loops_missing(const lat_field *u, const lat_loops_how *how)
{
    const lat_comm *comm = lat_field_shared(u) ? u->comm : &lat_comm_self;
    const lat_slab slab = lat_field_slab(u);
    const size_t nd = (size_t)u->head.geom.nd, sites = lat_slice_sites(&u->head);
    double link[LAT_SUN_REALS], missing = 0;
    for (int t = 0; t < slab.count; t++) {
        double norm = 0;
        lat_load(u, (size_t)t * sites * nd + nd - 1, u->head.nc, link);
        for (int k = 0; k < 2 * u->head.nc * u->head.nc; k++)
            norm += link[k] * link[k];
        missing += norm == 0 && t + slab.first < lat_slices(&u->head) - 1;
    }
    if (comm->sum(comm, &missing, 1))
        return -1;
    return how->window && missing > 0
               ? lat_fail("expected the missing links of an open axis across its boundary, found "
                          "them elsewhere: lat-reorder --shift moves them")
               : 0;
}

static int run_through(const lat_loops_frame *f, const lat_field *u)
{
    const lat_comm *comm = f->comm;
    const size_t reals = 2 * (size_t)(f->n * f->n), bytes = f->sites * reals * sizeof(double);
    for (size_t x = 0; x < f->sites; x++)
        lat_sun_one(f->n, f->around + x * reals);
    if (comm->rank > 0 && comm->receive(comm, comm->rank - 1, f->around, bytes))
        return -1;
    go_through(f, u);
    if (comm->rank + 1 < comm->size && comm->send(comm, comm->rank + 1, f->around, bytes))
        return -1;
    return comm->broadcast(comm, f->around, bytes, comm->size - 1);
}

int lat_loops_frame_open(lat_loops_frame *f, const lat_field *u, const lat_loops_how *how, bool g)
{
    const lat_geometry *geom = &u->head.geom;
    const size_t reals = 2 * (size_t)u->head.nc * (size_t)u->head.nc;
    lat_field smeared = {.data = NULL};
    *f = (lat_loops_frame){.comm = lat_field_shared(u) ? u->comm : &lat_comm_self,
                           .space = *geom,
                           .sites = lat_slice_sites(&u->head),
                           .n = u->head.nc,
                           .axes = geom->nd - 1,
                           .slab = lat_field_slab(u),
                           .slices = lat_slices(&u->head)};
    f->wide = f->sites * (size_t)(f->slices * f->n * f->n) >= LEAST;
    f->space.nd = f->axes;
    f->space.dims[f->axes] = 1;
    f->own = (lat_timewise){&f->space, f->n, (f->slab.count + LAT_SIMD8 - 1) / LAT_SIMD8};
    f->all = (lat_timewise){&f->space, f->n, (f->slices + LAT_SIMD8 - 1) / LAT_SIMD8};
    f->around = lat_alloc(f->sites * reals, sizeof *f->around, "lines of links");
    f->g = g ? timewise_new(&f->own, f->sites) : NULL;
    int rc = lat_agree(f->comm, f->around && (f->g || !g) ? 0 : -1);
    if (rc == 0 && how->time_links)
        rc = lat_smear_links(u, how->time_links, &smeared);
    if (rc == 0)
        rc = lat_rc(lat_loops_missing(u, how) || run_through(f, how->time_links ? &smeared : u));
    lat_field_free(&smeared);
    return rc;
}

void lat_loops_frame_close(lat_loops_frame *f) { LAT_FREE(f->around, f->g); }

/* ---- spatial links --------------------------------------------------------------------------- */

/* One direction of one level. */
static void take(const lat_loops_frame *f, const lat_field *u, const lat_loops_how *how, int axis,
                 lat_simd8 *links)
{
    const lat_loops_lanes *lanes = lat_loops_lanes_here();
    const lat_loops_chunks c = lat_loops_chunks_of(f->sites);
    const size_t nd = (size_t)f->axes + 1;
    int by[LAT_MAX_DIMS] = {0};
    by[axis] = 1;
#pragma omp parallel for schedule(static) if (f->wide)
    for (int chunk = 0; chunk < c.count; chunk++) {
        const size_t from = lat_loops_begin(&c, chunk), to = lat_loops_begin(&c, chunk + 1);
        for (size_t x = from; x < to; x++)
            for (int t = 0; t < f->slab.count; t++) {
                const int at = f->slab.first + t;
                double m[LAT_SUN_REALS];
                if (how->window && (at < how->first || at > how->last))
                    continue;
                lat_load(u, (x + (size_t)t * f->sites) * nd + (size_t)axis, f->n, m);
                put(&f->own, place(&f->own, links, x, t), m);
            }
        lanes->transform(&f->own, from, to, links, f->g, by);
    }
}

int lat_loops_links(const lat_loops_frame *f, const lat_field *u, const lat_loops_how *how,
                    lat_simd8 **links)
{
    lat_field smeared = {.data = NULL};
    int rc = 0, done = 0;
    for (int level = 0; level < how->levels && rc == 0; level++) {
        const lat_field *last = smeared.data ? &smeared : u;
        lat_simd8 **of = links + level * f->axes;
        lat_smear more = how->smear;
        lat_field next = {.data = NULL};
        more.steps = how->steps[level] - done;
        if (more.steps > 0) {
            rc = lat_smear_links(last, &more, &next);
            lat_field_free(&smeared);
            smeared = next;
            last = &smeared;
        }
        done = how->steps[level];
        for (int axis = 0; axis < f->axes && rc == 0; axis++) {
            of[axis] = timewise_new(&f->own, f->sites);
            rc = lat_agree(f->comm, of[axis] ? 0 : -1);
            if (rc == 0)
                take(f, last, how, axis, of[axis]);
        }
    }
    lat_field_free(&smeared);
    return rc;
}

/* ---- all slices of some sites ---------------------------------------------------------------- */

/* What two ranks give each other: the reals of one's slices at the sites of the other's chunks. */
static size_t part(const lat_loops_frame *f, const lat_loops_chunks *c, int from, int to,
                   size_t *first)
{
    const lat_slab chunks = lat_loops_chunks_own(f, c, to);
    *first = lat_loops_begin(c, chunks.first);
    return (lat_loops_begin(c, chunks.first + chunks.count) - *first) * 2
           * (size_t)(f->n * f->n * lat_slab_of(f->comm, from, f->slices).count);
}

/* Between a field and a buffer of `slab` slices of sites from `first` on, whose times in the field
 * begin at `begin`. */
static void copy(LAT_UNUSED bool wide, const lat_timewise *w, double *field, double *buffer,
                 size_t reals, int count, int begin, bool in)
{
    const size_t rows = reals / (size_t)count, row = LAT_SIMD8 * (size_t)w->groups;
#pragma omp parallel for schedule(static) if (wide)
    for (size_t i = 0; i < rows; i++) {
        double *there = field + i * row + (size_t)begin, *here = buffer + i * (size_t)count;
        memcpy(in ? there : here, in ? here : there, (size_t)count * sizeof *here);
    }
}

int lat_loops_gather(const lat_loops_frame *f, const lat_loops_chunks *c, const lat_simd8 *own,
                     lat_simd8 *all)
{
    const lat_comm *comm = f->comm;
    const int me = comm->rank;
    size_t first, mine, most = part(f, c, me, me, &first);
    for (int r = 0; r < comm->size; r++) {
        const size_t out = part(f, c, me, r, &first), in = part(f, c, r, me, &first);
        most = out > most ? out : most;
        most = in > most ? in : most;
    }
    double *buffer = lat_alloc(most, sizeof *buffer, "lines of links");
    if (lat_agree(comm, buffer ? 0 : -1)) {
        free(buffer);
        return -1;
    }
    int rc = 0;
    /* Pairs of ranks in one order, in which none waits for a later one. */
    for (int a = 0; a < comm->size && rc == 0; a++)
        for (int b = a; b < comm->size && rc == 0; b++)
            for (int back = 0; back < 2 && rc == 0 && (a == me || b == me); back++) {
                const int from = back ? b : a, to = back ? a : b;
                mine = part(f, c, from, to, &first);
                if (from == me)
                    copy(f->wide, &f->own, (double *)(own + first * lat_timewise_vectors(&f->own)),
                         buffer, mine, f->slab.count, 0, false);
                if (a != b && from == me)
                    rc = comm->send(comm, to, buffer, mine * sizeof *buffer);
                if (a != b && to == me)
                    rc = comm->receive(comm, from, buffer, mine * sizeof *buffer);
                const lat_slab slab = lat_slab_of(comm, from, f->slices);
                if (rc == 0 && to == me)
                    copy(f->wide, &f->all, (double *)all, buffer, mine, slab.count, slab.first,
                         true);
            }
    free(buffer);
    return rc;
}
