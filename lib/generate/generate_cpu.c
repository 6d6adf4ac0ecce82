/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_cpu.c: configurations on the CPU: links in vector lanes, blocks shared out among
 * threads. An update of one direction and parity reads none of the links it writes, so results do
 * not depend on the number of threads; sums are taken over fixed groups of blocks, in order, for
 * the same reason. A rank has a slab of time slices, and ghosts (slab.h): links of its rim are
 * updated first, and travel while the rest is. */
#include "generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "grid/team.h"
#include "link_lanes.h"
#include "site/sun.h"
#include "grid/slab.h"

#define GROUP 32 /* blocks a partial sum */

typedef struct cpu {
    lat_generator gen;
    const lat_link_ops *ops;
    lat_action action;
    lat_geometry geom; /* of the lattice */
    lat_layout *lay;   /* of what is here */
    lat_slab own;
    lat_slab_layout *slab; /* the same, if there are ghosts; or NULL */
    int blocks;            /* with those of the ghosts */
    lat_layout view;       /* lay, but its sites are those of the lattice: */
    int64_t *site;         /* [blocks][lanes] */
    lat_link_work work;
    char *out[2], *in[2]; /* to and from LAT_DOWN, LAT_UP: links of one direction and parity */
    int groups;
    double *partial; /* [groups][2] */
    char words[48];
} cpu;

static const lat_link_ops *const *const tables[] = LAT_ISA_EACH(lat_links_, );

static const lat_link_ops *const *const all_rows[] = LAT_ISA_EACH(&lat_links_, _all);

static void cpu_close(lat_generator *gen)
{
    cpu *c = (cpu *)gen;
    if (!c)
        return;
    if (c->slab)
        lat_slab_layout_free(c->slab);
    else
        lat_layout_free(c->lay);
    for (int side = 0; side < 2; side++) {
        free(c->out[side]);
        free(c->in[side]);
    }
    free(c->site);
    free(c->work.u);
    free(c->partial);
    free(c);
}

/* Reals of a link that are kept. */
static int elements_of(const cpu *c) { return 2 * c->ops->rows * c->ops->nc; }

static lat_lane_view in_lanes(const cpu *c)
{
    return (lat_lane_view){c->work.u, c->ops->real, c->lay->lanes, elements_of(c) * c->geom.nd};
}

static void load(const cpu *c, const lat_field *u)
{
    const int nd = c->geom.nd, elements = elements_of(c);
    const lat_lane_view a = in_lanes(c);
#pragma omp parallel for schedule(static)
    for (int b = 0; b < c->blocks; b++)
        for (int l = 0; l < a.lanes; l++) {
            const int64_t site = c->site[(int64_t)b * a.lanes + l];
            const size_t x = site < 0 ? 0 : lat_field_index(u, (size_t)site);
            for (int mu = 0; mu < nd; mu++) {
                double m[LAT_SUN_REALS];
                if (site < 0)
                    lat_sun_one(c->ops->nc, m);
                else
                    lat_field_get(u, x * (size_t)nd + (size_t)mu, m);
                for (int e = 0; e < elements; e++)
                    lat_lane_put(a, b, l, mu * elements + e, m[e]);
            }
        }
}

static int cpu_get(lat_generator *gen, lat_field *u)
{
    const cpu *c = (const cpu *)gen;
    const int nd = c->geom.nd, nc = c->ops->nc, elements = elements_of(c);
    const lat_lane_view a = in_lanes(c);
#pragma omp parallel for schedule(static)
    for (int b = 0; b < c->lay->nblocks; b++)
        for (int l = 0; l < a.lanes; l++) {
            const int64_t site = c->site[(int64_t)b * a.lanes + l];
            const size_t x = site < 0 ? 0 : lat_field_index(u, (size_t)site);
            for (int mu = 0; mu < nd; mu++) {
                double m[LAT_SUN_REALS];
                for (int e = 0; e < elements; e++)
                    m[e] = lat_lane_get(a, b, l, mu * elements + e);
                if (c->ops->rows < nc)
                    lat_sun_complete(nc, m);
                if (site >= 0)
                    lat_field_put(u, x * (size_t)nd + (size_t)mu, m);
            }
        }
    return lat_field_share(u);
}

/* ---- opening ---- */

/* What of the lattice is here, and how it lies in lanes. */
static int divide(cpu *c, const lat_field *u)
{
    char text[64];
    const int size = c->gen.comm->size, last = c->geom.nd - 1;
    c->own = lat_field_slab(u);
    if (size == 1) {
        c->lay = lat_layout_new(&c->geom, c->ops->lanes);
        c->blocks = c->lay ? c->lay->nblocks : 0;
        return c->lay ? 0 : -1;
    }
    if (2 * size > c->geom.dims[last])
        return lat_fail_usage("lattice %s: expected at most %d ranks, two slices each, found %d",
                              lat_dims_text(&c->geom, text), c->geom.dims[last] / 2, size);
    if (!(c->slab = lat_slab_layout_new(&c->geom, c->own, c->ops->lanes)))
        return -1;
    c->lay = c->slab->lay;
    c->blocks = c->lay->nblocks + c->slab->nghost;
    return 0;
}

/* The lattice's site for one of what is here. */
static int64_t global_site(const cpu *c, int64_t site)
{
    int x[LAT_MAX_DIMS];
    const int last = c->geom.nd - 1;
    if (!c->slab || site < 0)
        return site;
    lat_coordinates(&c->lay->geom, (size_t)site, x);
    x[last] = (x[last] + c->own.first - 1 + c->geom.dims[last]) % c->geom.dims[last];
    return (int64_t)lat_site(&c->geom, x);
}

static size_t parcel_bytes(const cpu *c, int64_t links)
{
    return (size_t)links * (size_t)elements_of(c) * (size_t)c->ops->real;
}

static int allocate_parcels(cpu *c)
{
    for (int side = 0; side < 2; side++) {
        const lat_slab_layout *s = c->slab;
        const int64_t out = s->n[0][side] > s->n[1][side] ? s->n[0][side] : s->n[1][side];
        const int64_t in = s->nghosts[0][side] > s->nghosts[1][side] ? s->nghosts[0][side]
                                                                     : s->nghosts[1][side];
        c->out[side] = lat_alloc(1, parcel_bytes(c, out), "links for other ranks");
        c->in[side] = lat_alloc(1, parcel_bytes(c, in), "links of other ranks");
        if (!c->out[side] || !c->in[side])
            return -1;
    }
    return 0;
}

static int allocate(cpu *c, const lat_field *u)
{
    if (divide(c, u) || (c->slab && allocate_parcels(c)))
        return -1;
    const size_t slots = (size_t)c->blocks * (size_t)c->lay->lanes;
    c->groups = (c->lay->nblocks + GROUP - 1) / GROUP;
    c->work = (lat_link_work){&c->view,
                              lat_alloc(slots, parcel_bytes(c, c->geom.nd), "the links in lanes"),
                              {1 / c->action.xi, c->action.xi}};
    c->site = lat_alloc(slots, sizeof *c->site, "the table of sites");
    c->partial = lat_alloc((size_t)c->groups, 2 * sizeof *c->partial, "partial sums");
    if (!c->work.u || !c->site || !c->partial)
        return -1;
    for (size_t i = 0; i < slots; i++)
        c->site[i] = global_site(c, c->lay->site[i]);
    c->view = *c->lay;
    c->view.site = c->site;
    return 0;
}

static lat_generator *cpu_open(const lat_field *u, lat_real real, const lat_action *action,
                               const lat_comm *comm)
{
    const lat_isa isa = lat_isa_widest();
    if (u->head.nc > LAT_LINKS_MOST) {
        lat_fail("SU(%d): the CPU backend makes SU(2) to SU(%d)", u->head.nc, LAT_LINKS_MOST);
        return NULL;
    }
    cpu *c = calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory: a generator");
        return NULL;
    }
    c->gen = (lat_generator){&lat_generate_cpu, comm};
    c->ops = (lat_generate_all_rows && u->head.nc == 3 ? *all_rows[isa] : tables[isa][u->head.nc])
             + (real == LAT_F64);
    c->action = *action;
    c->geom = u->head.geom;
    if (comm->size > 1)
        snprintf(c->words, sizeof c->words, "cpu %s, %d ranks", lat_isa_name(isa), comm->size);
    else
        snprintf(c->words, sizeof c->words, "cpu %s", lat_isa_name(isa));
    if (allocate(c, u)) {
        cpu_close(&c->gen);
        return NULL;
    }
    load(c, u);
    return &c->gen;
}

static const char *cpu_words(const lat_generator *gen) { return ((const cpu *)gen)->words; }

/* ---- links between ranks ---- */

/* U_mu of n slots to a parcel (out), or from it; the caller's share of them. */
static void pack(const cpu *c, int mu, const int64_t *slot, int64_t n, char *reals, bool out)
{
    const lat_lane_view a = in_lanes(c);
    const int elements = elements_of(c);
    int64_t from, to;
    lat_thread_range(n, &from, &to);
    for (int64_t i = from; i < to; i++)
        for (int e = 0; e < elements; e++) {
            const int64_t at = (slot[i] / a.lanes * a.elements + mu * elements + e) * a.lanes
                               + slot[i] % a.lanes;
            char *there = (char *)a.p + (size_t)at * (size_t)a.real,
                 *here = reals + (size_t)(i * elements + e) * (size_t)a.real;
            memcpy(out ? here : there, out ? there : here, (size_t)a.real);
        }
}

static void pack_both(const cpu *c, int mu, int parity, bool out)
{
    const lat_slab_layout *s = c->slab;
    for (int side = 0; side < 2; side++) {
        if (out)
            pack(c, mu, s->own[parity][side], s->n[parity][side], c->out[side], true);
        else
            pack(c, mu, s->ghost[parity][side], s->nghosts[parity][side], c->in[side], false);
    }
}

static int begin_exchange(const cpu *c, int parity)
{
    const lat_slab_layout *s = c->slab;
    const lat_exchange x = {.to_down = c->out[LAT_DOWN],
                            .to_down_bytes = parcel_bytes(c, s->n[parity][LAT_DOWN]),
                            .to_up = c->out[LAT_UP],
                            .to_up_bytes = parcel_bytes(c, s->n[parity][LAT_UP]),
                            .from_down = c->in[LAT_DOWN],
                            .from_down_bytes = parcel_bytes(c, s->nghosts[parity][LAT_DOWN]),
                            .from_up = c->in[LAT_UP],
                            .from_up_bytes = parcel_bytes(c, s->nghosts[parity][LAT_UP])};
    return c->gen.comm->begin(c->gen.comm, &x);
}

/* ---- sweeps ---- */

/* The caller's share of these blocks. */
static void update(const cpu *c, int mu, int begin, int end, const lat_link_how *how)
{
    int64_t from, to;
    lat_thread_range(end - begin, &from, &to);
    c->ops->update(&c->work, mu, begin + (int)from, begin + (int)to, how);
}

/* Links of one direction and parity, with ghosts; by all threads of a team. The first one, that of
 * main, talks to the other ranks; *rc is for all of them when this is over. */
static void update_slab(const cpu *c, int mu, int parity, const lat_link_how *how, lat_barrier *m,
                        int *rc)
{
    const int team = lat_team_threads(), begin = parity ? c->lay->neven : 0,
              end = parity ? c->lay->nblocks : c->lay->neven;
    const bool first = lat_thread_id() == 0;
    update(c, mu, begin, c->slab->low[parity], how);
    update(c, mu, c->slab->high[parity], end, how);
    lat_barrier_wait(m, team);
    pack_both(c, mu, parity, true);
    lat_barrier_wait(m, team);
    if (first)
        *rc = begin_exchange(c, parity);
    update(c, mu, c->slab->low[parity], c->slab->high[parity], how);
    if (first && *rc == 0)
        *rc = c->gen.comm->finish(c->gen.comm);
    lat_barrier_wait(m, team);
    if (*rc == 0)
        pack_both(c, mu, parity, false);
    lat_barrier_wait(m, team);
}

static int cpu_sweep(lat_generator *gen, const lat_update *how, long n)
{
    static const int kind[] = {[LAT_UPDATE_HEATBATH] = LAT_HEAT_BATH,
                               [LAT_UPDATE_OVERRELAX] = LAT_HEAT_MICRO,
                               [LAT_UPDATE_METROPOLIS] = LAT_HEAT_METROPOLIS};
    const cpu *c = (const cpu *)gen;
    const int neven = c->lay->neven, nblocks = c->lay->nblocks, nd = c->geom.nd;
    lat_barrier m = {0};
    int rc = 0;
#pragma omp parallel
    {
        lat_link_how lane = {c->action.beta / c->ops->nc, kind[how->kind], how->seed, how->config,
                             how->step};
        for (long k = 0; k < n * nd * 2 && rc == 0; k++) {
            const int mu = (int)(k / 2 % nd), odd = (int)(k % 2);
            lane.step = how->step + (uint32_t)(k / (2 * nd));
            if (c->slab) {
                update_slab(c, mu, odd, &lane, &m, &rc);
            } else {
                update(c, mu, odd ? neven : 0, odd ? nblocks : neven, &lane);
                lat_barrier_wait(&m, lat_team_threads());
            }
        }
        if (c->ops->nc > 3) { /* of others an update leaves nothing to do (site/link.h); ghosts as
                                 their owners do */
            int64_t from, to;
            lat_thread_range(c->blocks, &from, &to);
            c->ops->reunit(&c->work, (int)from, (int)to);
        }
    }
    return rc;
}

static int cpu_plaquette(lat_generator *gen, double *spatial, double *temporal)
{
    const cpu *c = (const cpu *)gen;
    const int nd = c->geom.nd;
    const double traces = (double)lat_volume(&c->geom) * c->ops->nc;
    double sum[2] = {0, 0};
#pragma omp parallel for schedule(static)
    for (int i = 0; i < c->groups; i++) {
        const int begin = i * GROUP, end = begin + GROUP;
        double *p = c->partial + 2 * i;
        p[0] = p[1] = 0;
        c->ops->plaquette(&c->work, begin, end < c->lay->nblocks ? end : c->lay->nblocks, p);
    }
    for (int i = 0; i < 2 * c->groups; i++)
        sum[i % 2] += c->partial[i];
    if (gen->comm->sum(gen->comm, sum, 2))
        return -1;
    *spatial = nd > 2 ? sum[0] / (traces * ((nd - 1) * (nd - 2) / 2)) : NAN;
    *temporal = nd > 1 ? sum[1] / (traces * (nd - 1)) : NAN;
    return 0;
}

const lat_generate lat_generate_cpu = {
    "cpu", cpu_open, cpu_close, cpu_words, cpu_sweep, cpu_plaquette, cpu_get,
};
