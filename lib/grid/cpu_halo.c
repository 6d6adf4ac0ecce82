/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_halo.c: faces into send buffers, receive buffers into ghosts, by all threads of a team. */
#include "cpu_halo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"

struct lat_halo {
    char *send[LAT_MESSAGES], *receive[LAT_MESSAGES];
};

/* With edges, where f has them. */
static int faces(const lat_dfield *f)
{
    const lat_layout *lay = lat_cpu(f->grid)->lay;
    return f->shape.edges ? lay->faces : lay->plain;
}

static size_t site_bytes(const lat_dfield *f, int objects)
{
    return (size_t)(objects * f->shape.reals) * lat_storage_bytes(f->grid->spec.storage);
}

int lat_cpu_halo_new(lat_dfield *f)
{
    const lat_layout *lay = lat_cpu(f->grid)->lay;
    const size_t units = (size_t)f->members * (size_t)f->grid->slots;
    if (!(f->halo = calloc(1, sizeof *f->halo)))
        return lat_fail("out of memory: a halo");
    for (int i = 0; i < faces(f); i++) {
        int64_t sites = 0;
        for (int parity = 0; parity < 2; parity++) {
            const lat_face *face = &lay->face[parity][i];
            sites = face->sites > sites ? face->sites : sites;
            sites = face->ghosts > sites ? face->ghosts : sites;
        }
        const size_t bytes = (size_t)sites * site_bytes(f, f->shape.objects);
        f->halo->send[i] = lat_alloc(units, bytes, "send buffers");
        f->halo->receive[i] = lat_alloc(units, bytes, "receive buffers");
        if (!f->halo->send[i] || !f->halo->receive[i])
            return -1;
    }
    return 0;
}

void lat_cpu_halo_free(lat_dfield *f)
{
    for (int i = 0; i < LAT_MESSAGES; i++)
        LAT_FREE(f->halo->send[i], f->halo->receive[i]);
    free(f->halo);
}

/* ---- packing --------------------------------------------------------------------------------- */

enum { PACK, UNPACK, POISON };

/* Reals object .. object+reals-1 of the sites at positions from .. to-1, of `all` that there are.
 */
typedef struct move {
    void *unit, *buffer;
    const int64_t *position;
    int64_t from, to, all, object, reals;
    int lanes, how;
} move;

/* With the number of lanes known, a real takes four instructions, not eight. */
#define MOVE_REALS(T) \
    static inline __attribute__((always_inline)) void move_in_##T(const move *m, int lanes) \
    { \
        const int64_t reals = m->reals; \
        for (int64_t i = m->from; i < m->to; i++) { \
            const uint64_t position = (uint64_t)m->position[i], lane = position % (unsigned)lanes, \
                           first = (position - lane) * (uint64_t)m->all; \
            T *restrict site = (T *)m->unit + first + (uint64_t)(m->object * lanes) + lane; \
            T *restrict there = (T *)m->buffer + i * reals; \
            if (m->how == PACK) { \
                _Pragma("GCC unroll 6") for (int64_t e = 0; e < reals; e++) \
                    there[e] = site[e * lanes]; \
            } else if (m->how == UNPACK) { \
                _Pragma("GCC unroll 6") for (int64_t e = 0; e < reals; e++) \
                    site[e * lanes] = there[e]; \
            } else { \
                for (int64_t e = 0; e < reals; e++) \
                    site[e * lanes] = (T)NAN; \
            } \
        } \
    } \
    static void move_##T(const move *m) \
    { \
        switch (m->lanes) { \
        case 4: move_in_##T(m, 4); break; \
        case 8: move_in_##T(m, 8); break; \
        case 16: move_in_##T(m, 16); break; \
        default: move_in_##T(m, m->lanes); break; \
        } \
    }
MOVE_REALS(float)
MOVE_REALS(double)

/* The caller's share of the sites at n positions of a unit: to `buffer`, from it, or NaN. */
static void move_sites(const lat_dfield *f, const lat_halo_part *part, int unit,
                       const int64_t *position, int64_t n, char *buffer, int how)
{
    const int reals = f->shape.reals;
    move m = {.unit = lat_cpu_unit(f, unit),
              .buffer = buffer,
              .position = position,
              .all = f->shape.objects * reals,
              .object = part->object * reals,
              .reals = part->objects * reals,
              .lanes = lat_cpu(f->grid)->lay->lanes,
              .how = how};
    lat_thread_range(n, &m.from, &m.to);
    if (lat_storage_bytes(f->grid->spec.storage) == sizeof(float))
        move_float(&m);
    else
        move_double(&m);
}

/* Own faces into the send buffers; the receive buffers into ghosts; or NaN into ghosts. */
static void move_part(lat_dfield *f, const lat_halo_part *part, int how)
{
    const lat_layout *lay = lat_cpu(f->grid)->lay;
    for (int k = 0; k < faces(f); k++) {
        const lat_face *face = &lay->face[part->parity][k];
        const int64_t n = how == PACK ? face->sites : face->ghosts;
        const int64_t *position = how == PACK ? face->own : face->ghost;
        char *buffer = how == PACK ? f->halo->send[k] : f->halo->receive[k];
        const size_t bytes = (size_t)n * site_bytes(f, part->objects);
        for (int i = 0; i < part->units; i++)
            move_sites(f, part, part->unit[i], position, n, buffer + (size_t)i * bytes, how);
    }
}

static int begin_exchange(lat_dfield *f, const lat_halo_part *part)
{
    const lat_comm *comm = f->grid->dev->comm;
    const lat_layout *lay = lat_cpu(f->grid)->lay;
    const size_t site = site_bytes(f, part->objects) * (size_t)part->units;
    lat_message m[LAT_MESSAGES];
    for (int i = 0; i < faces(f); i++) {
        const lat_face *face = &lay->face[part->parity][i];
        int step[LAT_MAX_DIMS] = {0};
        for (int k = 0; k < f->grid->slot.nd; k++)
            step[f->grid->axis[k]] = face->step[k];
        const int rank = lat_box_rank(&f->grid->box, step);
        m[i] = (lat_message){rank,
                             rank,
                             lat_step_number(step, false),
                             lat_step_number(step, true),
                             f->halo->send[i],
                             f->halo->receive[i],
                             (size_t)face->sites * site,
                             (size_t)face->ghosts * site};
    }
    return comm->begin(comm, faces(f), m);
}

/* ---- a team ---------------------------------------------------------------------------------- */

/* What a team does: the arguments of lat_cpu_sweep and lat_cpu_operator; apply NULL: nothing. */
typedef struct task {
    lat_cpu_team *team;
    lat_dfield *f;
    const lat_halo_part *part;
    lat_cpu_apply *apply;
    void *context;
} task;

static void wait(const task *t) { lat_barrier_wait(&t->team->barrier, lat_team_threads()); }

/* On the checking device ghosts become NaN. */
static void poison(const task *t)
{
    if (!t->f->grid->dev->options.check)
        return;
    move_part(t->f, t->part, POISON);
    wait(t);
}

/* To blocks begin .. end-1 of all units. */
static void apply_to(const task *t, int begin, int end)
{
    int64_t from, to;
    lat_thread_range(end - begin, &from, &to);
    for (int i = 0; t->apply && i < t->part->units && from < to; i++)
        t->apply(t->context, t->part->unit[i], begin + (int)from, begin + (int)to);
}

/* To the own blocks of a parity: those with sites in faces, the others, or all. */
static void apply_faces(const task *t, int parity)
{
    const lat_layout *lay = lat_cpu(t->f->grid)->lay;
    apply_to(t, parity ? lay->neven : 0, lay->inner[parity]);
}

static void apply_interior(const task *t, int parity)
{
    const lat_layout *lay = lat_cpu(t->f->grid)->lay;
    apply_to(t, lay->inner[parity], parity ? lay->nblocks : lay->neven);
}

static void apply_all(const task *t, int parity)
{
    const lat_layout *lay = lat_cpu(t->f->grid)->lay;
    apply_to(t, parity ? lay->neven : 0, parity ? lay->nblocks : lay->neven);
    wait(t);
}

/* Faces of the part travel while the interior of a parity is computed, or before that. */
static void exchange(const task *t, int parity)
{
    const lat_comm *comm = t->f->grid->dev->comm;
    const bool first = lat_thread_id() == 0;
    move_part(t->f, t->part, PACK);
    wait(t);
    if (first)
        t->team->rc = begin_exchange(t->f, t->part);
    if (t->team->in_turn) {
        if (first && t->team->rc == 0)
            t->team->rc = comm->finish(comm);
        wait(t);
    }
    apply_interior(t, parity);
    if (first && t->team->rc == 0 && !t->team->in_turn)
        t->team->rc = comm->finish(comm);
    wait(t);
    if (t->team->rc == 0)
        move_part(t->f, t->part, UNPACK);
    wait(t);
}

int lat_cpu_halo_exchange(lat_dfield *f, const lat_halo_part *part)
{
    lat_cpu_team team = {.rc = 0};
    const task t = {&team, f, part, NULL, NULL};
#pragma omp parallel
    {
        poison(&t);
        exchange(&t, part->parity);
    }
    return team.rc;
}

void lat_cpu_sweep(lat_cpu_team *team, lat_dfield *f, const lat_halo_part *part,
                   lat_cpu_apply *apply, void *context)
{
    const task t = {team, f, part, apply, context};
    if (!f->halo) {
        apply_all(&t, part->parity);
        return;
    }
    poison(&t);
    apply_faces(&t, part->parity);
    wait(&t);
    exchange(&t, part->parity);
}

void lat_cpu_operator(lat_cpu_team *team, lat_dfield *f, const lat_halo_part *part,
                      lat_cpu_apply *apply, void *context)
{
    const task t = {team, f, part, apply, context};
    if (!f->halo) {
        apply_all(&t, 1 - part->parity);
        return;
    }
    poison(&t);
    exchange(&t, 1 - part->parity);
    if (team->rc == 0)
        apply_faces(&t, 1 - part->parity);
    wait(&t);
    poison(&t);
}
