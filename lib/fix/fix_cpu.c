/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_cpu.c: the CPU backend: fields in vector lanes, blocks shared out among threads.
 *
 * The lanes of the widest vectors this processor has are used (team.h). A half sweep reads g of
 * one parity and writes the other, so its result does not depend on the number of threads; sums
 * are taken over fixed groups of blocks, in order, for the same reason. A rank has a slab of time
 * slices, and ghosts (slab.h) where g of its neighbours is needed: at the end of a half sweep of
 * the rim it travels while the rest is swept. */
#include "fix.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/threads.h"
#include "base/error.h"
#include "base/memory.h"
#include "balance.h"
#include "grid/team.h"
#include "fix_lanes.h"
#include "grid/slab.h"
#include "fix_state.h"
#include "site/sun.h"

#define GROUP 32 /* blocks a partial sum */

/* What goes to and comes from one side, of one parity of all units. */
typedef struct parcel {
    void *out, *in;
} parcel;

/* Slices that are fixed independently are lattices of their own, of one dimension less, one after
 * the other in memory; otherwise the whole lattice is one slice. A unit is a slice of a copy,
 * number copy * slices + slice: g and what is known of it; units of a slice share its links. Of
 * several ranks each has some of the slices, if these are cut across the last axis, or its slab of
 * each.
 *
 * In the first case a slice may be a guest elsewhere (balance.h): its links and g go there as they
 * lie in lanes. Memory of a place that nobody uses is never touched, and is none. */
typedef struct cpu {
    lat_device dev;
    const lat_lane_ops *ops;
    lat_condition condition;
    lat_geometry geom;          /* of the lattice */
    int axis[LAT_MAX_DIMS];     /* which axis of the lattice an axis of a slice is */
    lat_slab own;               /* along the last axis */
    lat_balance guests;         /* which slices are here */
    lat_layout *lay;            /* of a slice */
    lat_slab_layout *slab;      /* the same, if there are ghosts; or NULL */
    lat_lane_work work;         /* of slice 0 */
    size_t link_bytes, g_bytes; /* of a slice */
    int64_t *site;              /* [places][blocks][lanes]: global sites */
    int slices, copies;         /* at home here */
    int places, units;          /* for slices, guests included; for units */
    int groups;                 /* groups of blocks of a slice */
    double *partial;            /* [units][groups][3]: sums and maximum */
    double *sum;                /* [copies][all][3], zero for what is not here */
    double *theta;              /* [copies][all] */
    int *active, nactive;       /* units that are swept */
    parcel side[2];             /* LAT_DOWN, LAT_UP */
    char words[48];
} cpu;

static lat_lane_work unit_work(const cpu *c, int unit)
{
    const size_t place = (size_t)(unit % c->places);
    lat_lane_work w = c->work;
    w.u = (const char *)w.u + place * c->link_bytes;
    w.g = (char *)w.g + (size_t)unit * c->g_bytes;
    w.site = c->site + place * (size_t)c->lay->nblocks * (size_t)c->lay->lanes;
    return w;
}

/* The lattice's site for one of the slice at a place. */
static size_t global_site(const cpu *c, int place, int64_t site)
{
    int x[LAT_MAX_DIMS], y[LAT_MAX_DIMS] = {0};
    const int last = c->geom.nd - 1;
    if (c->condition.time < 0 && !c->slab)
        return (size_t)site;
    lat_coordinates(&c->lay->geom, (size_t)site, x);
    for (int i = 0; i < c->lay->geom.nd; i++)
        y[c->axis[i]] = x[i];
    if (c->condition.time >= 0)
        y[c->condition.time] = c->guests.slice[place];
    if (c->slab)
        y[last] = (y[last] + c->own.first - 1 + c->geom.dims[last]) % c->geom.dims[last];
    return lat_site(&c->geom, y);
}

/* Blocks of g of a slice. */
static int g_blocks(const cpu *c) { return c->lay->nblocks + (c->slab ? c->slab->nghost : 0); }

/* ---- which lanes ---- */

static const lat_lane_ops *const *const tables[] = LAT_ISA_EACH(lat_lanes_, );

/* ---- fields to lanes and back ---- */

/* Largest |U - the SU(3) matrix that U's first two rows make|, over all links of all ranks: if it
 * is rounding, two rows will do. NaN counts as large. The number of rows, or -1. */
static int rows_of(const cpu *c, const lat_field *u, lat_real real)
{
    if (u->head.nc != 3)
        return u->head.nc;
    /* A few roundings of a row in the precision of the sweeps; links of a single precision file
     * miss it in double, and are then used as they are, all three rows. */
    const double bound = 32 * (real == LAT_F32 ? 0x1p-24 : 0x1p-53);
    size_t n = lat_field_matrices(u);
    int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad)
    for (size_t i = 0; i < n; i++) {
        double m[18];
        lat_field_get(u, i, m);
        bad |= !(lat_sun_unitarity(3, m) <= bound);
        double t[18];
        memcpy(t, m, sizeof t);
        lat_sun_last_row(3, t);
        for (int e = 12; e < 18; e++)
            bad |= !(fabs(t[e] - m[e]) <= bound);
    }
    double any = bad;
    if (c->dev.comm->max(c->dev.comm, &any, 1))
        return -1;
    return any > 0 ? 3 : 2;
}

static void load_links(const cpu *c, const lat_field *u, int slice)
{
    const lat_layout *lay = c->lay;
    const lat_lane_work w = unit_work(c, slice);
    const int nd = lay->geom.nd, nc = u->head.nc, rows = w.rows, link = 2 * rows * nc;
    const size_t all = (size_t)c->geom.nd;
    const lat_lane_view a = {(void *)w.u, c->ops->real, lay->lanes, 2 * nd * link};
#pragma omp parallel for schedule(static)
    for (int b = 0; b < lay->nblocks; b++)
        for (int l = 0; l < lay->lanes; l++) {
            const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
            const size_t x = site < 0 ? 0 : lat_field_index(u, global_site(c, slice, site));
            for (int k = 0; k < 2 * nd; k++) {
                double m[LAT_SUN_REALS], d[LAT_SUN_REALS];
                const int mu = c->axis[k % nd];
                if (site < 0) {
                    lat_sun_one(nc, m);
                } else if (k < nd) {
                    lat_field_get(u, x * all + (size_t)mu, m);
                } else {
                    lat_field_get(u, lat_field_next(u, x, mu, -1) * all + (size_t)mu, d);
                    lat_sun_dag(nc, m, d);
                }
                const double weight = rows == nc ? c->condition.weight[mu] : 1;
                for (int e = 0; e < link; e++)
                    lat_lane_put(a, b, l, k * link + e, weight * m[e]);
            }
        }
}

/* ---- g between ranks ---- */

static lat_lane_view g_in_lanes(const cpu *c, int unit)
{
    return (lat_lane_view){unit_work(c, unit).g, c->ops->real, c->lay->lanes,
                           2 * c->ops->nc * c->ops->nc};
}

/* g of n slots of a unit, to the reals of a parcel or from them; the caller's share of them. */
static void pack(lat_lane_view g, const int64_t *slot, int64_t n, char *reals, bool out)
{
    int64_t from, to;
    lat_thread_range(n, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const int64_t at = slot[i] / g.lanes * g.elements * g.lanes + slot[i] % g.lanes;
        for (int e = 0; e < g.elements; e++) {
            char *there = (char *)g.p + (size_t)(at + (int64_t)e * g.lanes) * (size_t)g.real;
            char *here = reals + (size_t)(i * g.elements + e) * (size_t)g.real;
            memcpy(out ? here : there, out ? there : here, (size_t)g.real);
        }
    }
}

/* Bytes of a parcel of `units` units with n sites each. */
static size_t parcel_bytes(const cpu *c, int units, int64_t n)
{
    return (size_t)units * (size_t)n * 2 * (size_t)c->ops->nc * (size_t)c->ops->nc
           * (size_t)c->ops->real;
}

/* g of one parity of the rims of these units into the parcels to send, or those that came into the
 * ghosts. */
static void pack_all(const cpu *c, const int *unit, int units, int parity, bool out)
{
    for (int side = 0; side < 2; side++) {
        const int64_t n = out ? c->slab->n[parity][side] : c->slab->nghosts[parity][side];
        const int64_t *slot = out ? c->slab->own[parity][side] : c->slab->ghost[parity][side];
        char *reals = out ? c->side[side].out : c->side[side].in;
        for (int i = 0; i < units; i++)
            pack(g_in_lanes(c, unit[i]), slot, n, reals + parcel_bytes(c, i, n), out);
    }
}

static int begin_exchange(const cpu *c, int units, int parity)
{
    const lat_slab_layout *s = c->slab;
    const lat_exchange x = {.to_down = c->side[LAT_DOWN].out,
                            .to_down_bytes = parcel_bytes(c, units, s->n[parity][LAT_DOWN]),
                            .to_up = c->side[LAT_UP].out,
                            .to_up_bytes = parcel_bytes(c, units, s->n[parity][LAT_UP]),
                            .from_down = c->side[LAT_DOWN].in,
                            .from_down_bytes = parcel_bytes(c, units, s->nghosts[parity][LAT_DOWN]),
                            .from_up = c->side[LAT_UP].in,
                            .from_up_bytes = parcel_bytes(c, units, s->nghosts[parity][LAT_UP])};
    return c->dev.comm->begin(c->dev.comm, &x);
}

/* The ghosts of a copy. */
static int exchange_copy(const cpu *c, int copy)
{
    for (int slice = 0; slice < c->slices; slice++)
        for (int parity = 0; parity < 2; parity++) {
            const int unit = copy * c->places + slice;
            pack_all(c, &unit, 1, parity, true);
            if (begin_exchange(c, 1, parity) || c->dev.comm->finish(c->dev.comm))
                return -1;
            pack_all(c, &unit, 1, parity, false);
        }
    return 0;
}

/* ---- guests ---- */

static void name_sites(cpu *c, int place)
{
    const size_t slots = (size_t)c->lay->nblocks * (size_t)c->lay->lanes;
    for (size_t i = 0; i < slots; i++)
        c->site[(size_t)place * slots + i] = c->lay->site[i] < 0
                                                 ? -1
                                                 : (int64_t)global_site(c, place, c->lay->site[i]);
}

/* The units that are swept here. */
static void list_active(cpu *c)
{
    c->nactive = 0;
    for (int unit = 0; unit < c->units; unit++)
        if (lat_balance_active(&c->guests, unit))
            c->active[c->nactive++] = unit;
}

static int cpu_post(void *device, int place, int copy, int rank, bool send)
{
    cpu *c = device;
    const lat_comm *comm = c->dev.comm;
    const bool links = copy < 0;
    const lat_lane_work w = unit_work(c, (links ? 0 : copy) * c->places + place);
    void *p = links ? (void *)w.u : w.g;
    const size_t bytes = links ? c->link_bytes : c->g_bytes;
    if (links && !send)
        name_sites(c, place);
    return send ? comm->send(comm, rank, p, bytes) : comm->receive(comm, rank, p, bytes);
}

/* Which slices are here: none goes from rank to rank unless all have the same lanes. A move costs
 * as much as a sweep or two. */
static int deal_out(cpu *c, lat_slab mine, int all, bool dealt)
{
    const lat_comm *comm = c->dev.comm;
    double lanes[2] = {c->ops->lanes, -c->ops->lanes};
    if (comm->max(comm, lanes, 2))
        return -1;
    const bool may = dealt && comm->size > 1 && lanes[0] + lanes[1] == 0;
    return lat_balance_open(&c->guests, comm, mine, all, c->copies,
                            may ? lat_balance_capacity(mine) : -1, 0, cpu_post, c);
}

static int go_home(cpu *c)
{
    const int rc = lat_balance_return(&c->guests);
    list_active(c);
    return rc;
}

/* ---- g and host fields ---- */

static int cpu_set(lat_device *dev, int copy, const lat_field *g)
{
    cpu *c = (cpu *)dev;
    if (go_home(c))
        return -1;
    const lat_layout *lay = c->lay;
    const int nc = c->ops->nc, elements = 2 * nc * nc, blocks = g_blocks(c);
#pragma omp parallel for collapse(2) schedule(static)
    for (int slice = 0; slice < c->slices; slice++)
        for (int b = 0; b < blocks; b++) {
            const lat_lane_view a = g_in_lanes(c, copy * c->places + slice);
            for (int l = 0; l < lay->lanes; l++) {
                double m[LAT_SUN_REALS];
                const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
                if (g && site >= 0 && b < lay->nblocks)
                    lat_field_get(g, lat_field_index(g, global_site(c, slice, site)), m);
                else
                    lat_sun_one(nc, m);
                for (int e = 0; e < elements; e++)
                    lat_lane_put(a, b, l, e, m[e]);
            }
        }
    return g && c->slab ? exchange_copy(c, copy) : 0;
}

static int cpu_get(lat_device *dev, int copy, lat_field *g)
{
    cpu *c = (cpu *)dev;
    if (go_home(c))
        return -1;
    const lat_layout *lay = c->lay;
    const int nc = c->ops->nc, elements = 2 * nc * nc;
#pragma omp parallel for collapse(2) schedule(static)
    for (int slice = 0; slice < c->slices; slice++)
        for (int b = 0; b < lay->nblocks; b++) {
            const lat_lane_view a = g_in_lanes(c, copy * c->places + slice);
            for (int l = 0; l < lay->lanes; l++) {
                double m[LAT_SUN_REALS];
                const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
                for (int e = 0; e < elements; e++)
                    m[e] = lat_lane_get(a, b, l, e);
                if (site >= 0)
                    lat_field_put(g, lat_field_index(g, global_site(c, slice, site)), m);
            }
        }
    return 0;
}

/* ---- the backend ---- */

static void cpu_close(lat_device *dev)
{
    cpu *c = (cpu *)dev;
    if (!c)
        return;
    if (c->slab)
        lat_slab_layout_free(c->slab);
    else
        lat_layout_free(c->lay);
    for (int side = 0; side < 2; side++) {
        free(c->side[side].out);
        free(c->side[side].in);
    }
    free((void *)c->work.u);
    free(c->work.g);
    free(c->site);
    free(c->partial);
    free(c->sum);
    free(c->theta);
    free(c->active);
    lat_balance_close(&c->guests);
    free(c);
}

/* The slice's geometry and axes; the whole lattice where all directions are relaxed together. */
static lat_geometry slice_geometry(cpu *c)
{
    lat_geometry slice = {.nd = 0, .dims = {1, 1, 1, 1}};
    for (int mu = 0; mu < c->geom.nd; mu++)
        if (mu != c->condition.time) {
            c->axis[slice.nd] = mu;
            slice.dims[slice.nd++] = c->geom.dims[mu];
        }
    return slice;
}

/* What of the lattice is here, and how it lies in lanes. */
static int divide(cpu *c, const lat_field *u)
{
    char text[64];
    const lat_comm *comm = c->dev.comm;
    const lat_geometry slice = slice_geometry(c);
    const int last = c->geom.nd - 1, all = lat_condition_slices(&c->condition, &c->geom);
    const bool dealt = c->condition.time == last, ghosts = comm->size > 1 && !dealt;
    if (ghosts && 2 * comm->size > c->geom.dims[last])
        return lat_fail_usage("lattice %s: expected at most %d ranks, two slices each, found %d",
                              lat_dims_text(&c->geom, text), c->geom.dims[last] / 2, comm->size);
    c->own = lat_field_slab(u);
    if (c->copies > INT_MAX / all / 2)
        return lat_fail("%d copies of %d slices each are too many at once", c->copies, all);
    if (deal_out(c, dealt ? c->own : (lat_slab){0, all}, all, dealt))
        return -1;
    c->slices = c->guests.mine.count;
    c->places = c->guests.places;
    c->units = c->copies * c->places;
    if (ghosts) {
        c->slab = lat_slab_layout_new(&slice, c->own, c->ops->lanes);
        c->lay = c->slab ? c->slab->lay : NULL;
    } else {
        c->lay = lat_layout_new(&slice, c->ops->lanes);
    }
    return c->lay ? 0 : -1;
}

static int allocate_parcels(cpu *c)
{
    for (int side = 0; side < 2; side++) {
        const lat_slab_layout *s = c->slab;
        const int64_t out = s->n[0][side] > s->n[1][side] ? s->n[0][side] : s->n[1][side];
        const int64_t in = s->nghosts[0][side] > s->nghosts[1][side] ? s->nghosts[0][side]
                                                                     : s->nghosts[1][side];
        c->side[side].out = lat_alloc(1, parcel_bytes(c, c->units, out), "g for other ranks");
        c->side[side].in = lat_alloc(1, parcel_bytes(c, c->units, in), "g of other ranks");
        if (!c->side[side].out || !c->side[side].in)
            return -1;
    }
    return 0;
}

static int cpu_allocate(cpu *c, const lat_field *u, lat_real real)
{
    int rows;
    if (divide(c, u) || (rows = rows_of(c, u, real)) < 0)
        return -1;
    const size_t slots = (size_t)c->lay->nblocks * (size_t)c->ops->lanes, nc = (size_t)c->ops->nc,
                 nd = (size_t)c->lay->geom.nd;
    const size_t n = (size_t)c->places, units = (size_t)c->units,
                 states = (size_t)c->copies * (size_t)c->guests.all;
    c->link_bytes = slots * 2 * nd * 2 * (size_t)rows * nc * (size_t)real;
    c->g_bytes = (size_t)g_blocks(c) * (size_t)c->ops->lanes * 2 * nc * nc * (size_t)real;
    c->groups = (c->lay->nblocks + GROUP - 1) / GROUP;
    c->work = (lat_lane_work){.lay = c->lay,
                              .u = lat_alloc(n, c->link_bytes, "the links in lanes"),
                              .g = lat_alloc(units, c->g_bytes, "g in lanes"),
                              .rows = rows,
                              .problem = c->condition.gauge == LAT_MAG ? LAT_ABELIAN : LAT_LINEAR};
    for (int i = 0; i < c->lay->geom.nd; i++)
        c->work.weight[i] = c->condition.weight[c->axis[i]];
    c->partial = lat_alloc(units * (size_t)c->groups, 3 * sizeof *c->partial, "partial sums");
    c->sum = lat_alloc(states, 3 * sizeof *c->sum, "partial sums");
    c->site = lat_alloc(n * slots, sizeof *c->site, "the table of sites");
    c->theta = lat_alloc(states, sizeof *c->theta, "partial sums");
    c->active = lat_alloc(units, sizeof *c->active, "the list of slices");
    if (!c->work.u || !c->work.g || !c->partial || !c->sum || !c->site || !c->theta || !c->active
        || (c->slab && allocate_parcels(c)))
        return -1;
    for (int p = 0; p < c->slices; p++)
        name_sites(c, p);
    list_active(c);
    return 0;
}

static lat_device *cpu_open(const lat_field *u, const lat_condition *condition, lat_real real,
                            int copies, const lat_comm *comm)
{
    const lat_isa isa = lat_isa_widest();
    if (u->head.nc < 2 || u->head.nc > LAT_LANES_MOST) {
        lat_fail("SU(%d): the CPU backend of this version relaxes SU(2) to SU(%d)", u->head.nc,
                 LAT_LANES_MOST);
        return NULL;
    }
    if (condition->gauge == LAT_MAG && u->head.nc > 3) {
        lat_fail("SU(%d): maximally Abelian gauge is there for SU(2) and SU(3)", u->head.nc);
        return NULL;
    }
    cpu *c = calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory");
        return NULL;
    }
    c->dev = (lat_device){&lat_backend_cpu, comm};
    c->ops = &tables[isa][u->head.nc][real == LAT_F64];
    c->condition = *condition;
    c->geom = u->head.geom;
    c->copies = copies;
    if (comm->size > 1)
        snprintf(c->words, sizeof c->words, "cpu %s, %d ranks", lat_isa_name(isa), comm->size);
    else
        snprintf(c->words, sizeof c->words, "cpu %s", lat_isa_name(isa));
    if (cpu_allocate(c, u, real)) {
        cpu_close(&c->dev);
        return NULL;
    }
    for (int s = 0; s < c->slices; s++)
        load_links(c, u, s);
    for (int i = 0; i < copies; i++)
        cpu_set(&c->dev, i, NULL);
    return &c->dev;
}

static const char *cpu_words(const lat_device *dev) { return ((const cpu *)dev)->words; }

/* Blocks of a unit, shared out among the threads of the team. */
static void sweep_share(const cpu *c, const lat_lane_work *w, const lat_lane_how *how, int begin,
                        int end)
{
    int64_t from, to;
    lat_thread_range(end - begin, &from, &to);
    c->ops->sweep(w, begin + (int)from, begin + (int)to, how);
}

static void sweep_shared(const cpu *c, const lat_lane_work *w, const lat_lane_how *how, int begin,
                         int end, lat_barrier *m)
{
    sweep_share(c, w, how, begin, end);
    lat_barrier_wait(m, lat_team_threads());
}

/* What the sweeps of a unit are: of its copy. */
static lat_lane_how unit_how(const cpu *c, const lat_sweep *how, int unit)
{
    static const int draw[] = {[LAT_SWEEP_HEATBATH] = LAT_HEAT_BATH,
                               [LAT_SWEEP_MICRO] = LAT_HEAT_MICRO,
                               [LAT_SWEEP_METROPOLIS] = LAT_HEAT_METROPOLIS};
    const int copy = unit / c->places;
    const bool relax = how->kind == LAT_SWEEP_RELAX;
    return (lat_lane_how){.scheme = !relax                             ? LAT_DRAW
                                    : how->scheme == LAT_OVERRELAX_SU2 ? LAT_RELAX_SU2
                                                                       : LAT_RELAX_SUN,
                          .omega = relax ? how->omega[copy] : 1,
                          .stochastic = relax ? how->stochastic : 0,
                          .draw = draw[how->kind],
                          .beta = 1 / how->temperature,
                          .seed = how->seed + (uint64_t)copy,
                          .config = how->config,
                          .step = how->step};
}

/* The rim of a parity (rim), or the rest of it, of all units. */
static void sweep_part(const cpu *c, const lat_sweep *how, long k, int parity, bool rim)
{
    const int low = c->slab->low[parity], high = c->slab->high[parity];
    const int begin = parity ? c->lay->neven : 0, end = parity ? c->lay->nblocks : c->lay->neven;
    for (int i = 0; i < c->nactive; i++) {
        const lat_lane_work w = unit_work(c, c->active[i]);
        lat_lane_how lane = unit_how(c, how, c->active[i]);
        lane.step += (uint32_t)k;
        if (!rim) {
            sweep_share(c, &w, &lane, low, high);
            continue;
        }
        sweep_share(c, &w, &lane, begin, low);
        sweep_share(c, &w, &lane, high, end);
    }
}

/* With ghosts. The first thread, that of main, talks to the other ranks. */
static int sweep_slab(const cpu *c, const lat_sweep *how, long n)
{
    const lat_comm *comm = c->dev.comm;
    lat_barrier m = {0};
    int rc = 0;
    if (c->nactive == 0)
        return 0;
#pragma omp parallel
    {
        const int team = lat_team_threads();
        for (long half = 0; half < 2 * n && rc == 0; half++) {
            const int parity = (int)(half % 2);
            sweep_part(c, how, half / 2, parity, true);
            lat_barrier_wait(&m, team);
            pack_all(c, c->active, c->nactive, parity, true);
            lat_barrier_wait(&m, team);
            if (lat_thread_id() == 0)
                rc = begin_exchange(c, c->nactive, parity);
            sweep_part(c, how, half / 2, parity, false);
            if (lat_thread_id() == 0 && rc == 0)
                rc = comm->finish(comm);
            lat_barrier_wait(&m, team);
            if (rc == 0)
                pack_all(c, c->active, c->nactive, parity, false);
            lat_barrier_wait(&m, team);
        }
    }
    return rc;
}

static int cpu_sweep(lat_device *dev, const lat_sweep *how, long n)
{
    const cpu *c = (const cpu *)dev;
    if (c->slab)
        return sweep_slab(c, how, n);
    const int neven = c->lay->neven, nblocks = c->lay->nblocks;
    /* Units are independent: a thread that has one does all its sweeps while it is in cache. With
     * few of them left, threads share each. */
    if (c->nactive >= 2 * lat_threads()) {
#pragma omp parallel for schedule(dynamic)
        for (int i = 0; i < c->nactive; i++) {
            const lat_lane_work w = unit_work(c, c->active[i]);
            lat_lane_how lane = unit_how(c, how, c->active[i]);
            for (long k = 0; k < n; k++, lane.step++) {
                c->ops->sweep(&w, 0, neven, &lane);
                c->ops->sweep(&w, neven, nblocks, &lane);
            }
        }
        return 0;
    }
    lat_barrier m = {0};
#pragma omp parallel
    for (int i = 0; i < c->nactive; i++) {
        const lat_lane_work w = unit_work(c, c->active[i]);
        lat_lane_how lane = unit_how(c, how, c->active[i]);
        for (long k = 0; k < n; k++, lane.step++) {
            sweep_shared(c, &w, &lane, 0, neven, &m);
            sweep_shared(c, &w, &lane, neven, nblocks, &m);
        }
    }
    return 0;
}

/* The sums of a unit. */
static void add_groups(const cpu *c, int unit, double sum[3])
{
    for (int i = 0; i < c->groups; i++) {
        const double *p = c->partial + 3 * ((size_t)unit * (size_t)c->groups + (size_t)i);
        sum[0] += p[0];
        sum[1] += p[1];
        sum[2] = lat_worse(sum[2], p[2]);
    }
}

static int cpu_state(lat_device *dev, lat_gauge_state *s, double *slices)
{
    cpu *c = (cpu *)dev;
    const size_t states = (size_t)c->copies * (size_t)c->guests.all;
#pragma omp parallel for collapse(2) schedule(static)
    for (int unit = 0; unit < c->units; unit++)
        for (int i = 0; i < c->groups; i++) {
            const lat_lane_work w = unit_work(c, unit);
            const int begin = i * GROUP, end = begin + GROUP;
            double *p = c->partial + 3 * ((size_t)unit * (size_t)c->groups + (size_t)i);
            if (lat_balance_unit(&c->guests, unit) < 0)
                continue;
            p[0] = p[1] = p[2] = 0;
            c->ops->state(&w, begin, end < c->lay->nblocks ? end : c->lay->nblocks, p, p + 2);
        }
    memset(c->sum, 0, states * 3 * sizeof *c->sum);
    for (int unit = 0; unit < c->units; unit++)
        if (lat_balance_unit(&c->guests, unit) >= 0)
            add_groups(c, unit, c->sum + 3 * (size_t)lat_balance_unit(&c->guests, unit));
    if (lat_state_total(c->dev.comm, &c->condition, &c->geom, c->ops->nc, c->copies, c->sum,
                        c->theta, s))
        return -1;
    if (slices)
        memcpy(slices, c->theta, states * sizeof *slices);
    return 0;
}

static long cpu_freeze(lat_device *dev, const double *theta)
{
    cpu *c = (cpu *)dev;
    if (lat_balance_freeze(&c->guests, c->theta, theta))
        return -1;
    list_active(c);
    return lat_state_left(c->theta, theta, c->copies, c->guests.all);
}

static bool cpu_available(void) { return true; }

const lat_backend lat_backend_cpu = {
    "cpu",     NULL,    NULL,    NULL,      cpu_available, cpu_open,   cpu_close,
    cpu_words, cpu_set, cpu_get, cpu_sweep, cpu_state,     cpu_freeze,
};
