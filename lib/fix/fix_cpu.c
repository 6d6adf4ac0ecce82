/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_cpu.c: gauge fixing on the CPU: blocks of sites in vector lanes (grid/cpu_grid.h), shared
 * among threads.
 *
 * A half sweep reads g of one parity and writes the other, so its result does not depend on the
 * number of threads or ranks. A unit is a slice of a copy (grid/grid.h): g and what is known of it;
 * units of a slice share its links. */
#include "fix.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "balance.h"
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "base/threads.h"
#include "fix_lanes.h"
#include "fix_state.h"
#include "grid/cpu_halo.h"
#include "grid/cpu_reduce.h"
#include "grid/lanes.h"
#include "grid/reduce.h"
#include "site/sun.h"

typedef struct cpu {
    lat_fixer fixer;
    const lat_fix_lanes *ops;
    lat_condition condition;
    lat_grid *grid;
    lat_dfield *u, *g;    /* links at both ends of a site; a member a copy */
    lat_balance balance;  /* which slices are swept here */
    lat_lane_work work;   /* what all units share */
    int units;            /* those of empty slots among them */
    bool *here;           /* [units]: held here, not by another rank or nobody */
    int *active, nactive; /* units that are swept here */
    double *sum;          /* [units][slices across the last axis of a slot][3] */
    double *theta;        /* [copies][slices] */
} cpu;

LAT_LANES_TABLE(lat_fix_lanes, LAT_CPU_FIX_MOST);

static lat_lane_work unit_work(const cpu *c, int unit)
{
    const int slot = unit % c->grid->slots;
    lat_lane_work w = c->work;
    w.u = lat_cpu_unit(c->u, slot);
    w.g = lat_cpu_unit(c->g, unit);
    w.site = lat_cpu_sites(lat_cpu(c->grid), slot);
    return w;
}

/* After slices have migrated or converged. */
static void list_units(cpu *c)
{
    c->nactive = 0;
    for (int unit = 0; unit < c->units; unit++) {
        c->here[unit] = lat_balance_here(&c->balance, unit);
        if (lat_balance_active(&c->balance, unit))
            c->active[c->nactive++] = unit;
    }
}

static int return_slices(cpu *c)
{
    const int rc = lat_balance_return(&c->balance);
    list_units(c);
    return rc;
}

static int cpu_set(lat_fixer *f, int copy, const lat_field *g)
{
    cpu *c = (cpu *)f;
    return return_slices(c) || lat_dfield_put(c->g, copy, g, NULL) ? -1 : 0;
}

static int cpu_get(lat_fixer *f, int copy, lat_field *g)
{
    cpu *c = (cpu *)f;
    return return_slices(c) || lat_dfield_get(c->g, copy, g, true) ? -1 : 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

int lat_fix_rows(const lat_field *u, lat_real real, const lat_comm *comm)
{
    if (u->head.nc != 3)
        return u->head.nc;
    const double bound = 32 * (real == LAT_F32 ? 0x1p-24 : 0x1p-53); /* a few roundings of a row */
    size_t n = lat_field_matrices(u);
    int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad)
    for (size_t i = 0; i < n; i++) {
        double m[18];
        lat_field_get(u, i, m);
        bad |= !lat_sun_last_row_follows(3, m, bound);
    }
    double any = bad;
    if (comm->max(comm, &any, 1))
        return -1;
    return any > 0 ? 3 : 2;
}

static void cpu_close(lat_fixer *f)
{
    cpu *c = (cpu *)f;
    if (!c)
        return;
    lat_balance_close(&c->balance);
    lat_dfield_free(c->u);
    lat_dfield_free(c->g);
    lat_grid_free(c->grid);
    free(c->here);
    free(c->active);
    free(c->sum);
    free(c->theta);
    free(c);
}

/* Slots for slices of other ranks too, if all ranks have the same lanes: slices travel as they lie
 * in memory. */
static int make_slots(cpu *c, bool *may)
{
    const lat_comm *comm = c->fixer.dev->comm;
    double lanes[2] = {c->ops->lanes, -c->ops->lanes};
    if (comm->max(comm, lanes, 2))
        return -1;
    *may = lanes[0] + lanes[1] == 0;
    const int spare = *may ? lat_balance_capacity(c->grid) : 0;
    return spare ? lat_grid_set_slots(c->grid, c->grid->slots + spare) : 0;
}

static int open_fields(cpu *c, const lat_field *u, lat_real real, int copies)
{
    lat_device *dev = c->fixer.dev;
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = lat_storage_of(real), .across = c->condition.time};
    bool may;
    if (!(c->grid = lat_grid_new(dev, &spec)) || make_slots(c, &may))
        return -1;
    if (copies > INT_MAX / c->grid->slices / 2)
        return lat_fail("%d copies of %d slices each are too many at once", copies,
                        c->grid->slices);
    const int rows = lat_fix_rows(u, real, dev->comm), nc = u->head.nc, nd = c->grid->slot.nd;
    if (rows < 0)
        return -1;
    const lat_shape links = {.objects = 2 * nd, .reals = 2 * rows * nc, .nc = nc, .both = true};
    const lat_shape matrix = {.objects = 1, .reals = 2 * nc * nc, .nc = nc, .ghosts = true};
    c->u = lat_dfield_new(c->grid, links, 1, "the links");
    c->g = lat_dfield_new(c->grid, matrix, copies, "the transformations");
    /* Weights of complete links are in the links already. */
    const double *weight = rows == nc ? c->condition.weight : NULL;
    if (!c->u || !c->g || lat_dfield_put(c->u, 0, u, weight)
        || lat_balance_open(&c->balance, c->u, c->g, may, 0))
        return -1;
    c->work = (lat_lane_work){.lay = lat_cpu(c->grid)->lay,
                              .rows = rows,
                              .problem = lat_gauge_table[c->condition.gauge].problem};
    for (int i = 0; i < nd; i++)
        c->work.weight[i] = c->condition.weight[c->grid->axis[i]];
    return 0;
}

static int open_lists(cpu *c)
{
    c->units = c->g->members * c->grid->slots;
    const size_t units = (size_t)c->units, slices = (size_t)lat_reduce_slices(c->grid);
    const size_t states = (size_t)c->g->members * (size_t)c->grid->slices;
    c->here = lat_alloc(units, sizeof *c->here, "the list of slices");
    c->active = lat_alloc(units, sizeof *c->active, "the list of slices");
    c->sum = lat_alloc(units, 3 * slices * sizeof *c->sum, "sums of slices");
    c->theta = lat_alloc(states, sizeof *c->theta, "theta of slices");
    if (!c->here || !c->active || !c->sum || !c->theta)
        return -1;
    list_units(c);
    return 0;
}

static lat_fixer *cpu_open(lat_device *dev, const lat_field *u, const lat_condition *condition,
                           lat_real real, int copies)
{
    const int nc = u->head.nc;
    if (lat_gauge_check_group(condition->gauge, nc)
        || lat_device_check_group(false, nc, lat_fix_cpu.groups))
        return NULL;
    cpu *c = calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory");
        return NULL;
    }
    c->fixer = (lat_fixer){&lat_fix_cpu, dev};
    c->ops = &lat_fix_lanes_table[lat_isa_widest()][nc][lat_storage_of(real)];
    c->condition = *condition;
    int rc = open_fields(c, u, real, copies) || open_lists(c) ? -1 : 0;
    for (int i = 0; i < copies && rc == 0; i++)
        rc = lat_dfield_put(c->g, i, NULL, NULL);
    if (rc == 0)
        return &c->fixer;
    cpu_close(&c->fixer);
    return NULL;
}

static const char *cpu_description(const lat_fixer *f) { return f->dev->name; }

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* What the sweeps of a unit are: of its copy. */
static lat_lane_how unit_how(const cpu *c, const lat_sweep *how, int unit)
{
    const int copy = unit / c->grid->slots;
    return (lat_lane_how){.update = how->update,
                          .omega = how->omega ? how->omega[copy] : 1,
                          .stochastic = how->stochastic,
                          .beta = 1 / how->temperature,
                          .seed = how->seed + (uint64_t)copy,
                          .config = how->config,
                          .step = how->step};
}

typedef struct sweep {
    const cpu *c;
    lat_sweep how; /* of the sweep at hand */
} sweep;

static void sweep_blocks(void *context, int unit, int begin, int end)
{
    const sweep *s = context;
    const lat_lane_work w = unit_work(s->c, unit);
    const lat_lane_how lane = unit_how(s->c, &s->how, unit);
    s->c->ops->sweep(&w, begin, end, &lane);
}

/* n sweeps of these units by all threads together. */
static int sweep_together(const cpu *c, const lat_sweep *how, long n, const int *unit, int units)
{
    lat_cpu_team team = {.rc = 0};
#pragma omp parallel
    {
        sweep s = {c, *how};
        for (long half = 0; half < 2 * n && team.rc == 0; half++) {
            const lat_halo_part part = {(int)(half % 2), unit, units, 0, 1};
            s.how.step = how->step + (uint32_t)(half / 2);
            lat_cpu_sweep(&team, c->g, &part, sweep_blocks, &s);
        }
    }
    return team.rc;
}

static int cpu_sweep(lat_fixer *f, const lat_sweep *how, long n)
{
    const cpu *c = (const cpu *)f;
    const lat_layout *lay = c->work.lay;
    if (c->nactive == 0)
        return 0;
    if (c->grid->halo)
        return sweep_together(c, how, n, c->active, c->nactive);
    /* Without a halo units are independent: a thread that has one does all its sweeps while it is
     * in cache. With few of them left, threads share each. */
    if (c->nactive < 2 * lat_threads()) {
        for (int i = 0; i < c->nactive; i++)
            if (sweep_together(c, how, n, c->active + i, 1))
                return -1;
        return 0;
    }
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < c->nactive; i++) {
        sweep s = {c, *how};
        for (long k = 0; k < n; k++, s.how.step++) {
            sweep_blocks(&s, c->active[i], 0, lay->neven);
            sweep_blocks(&s, c->active[i], lay->neven, lay->nblocks);
        }
    }
    return 0;
}

/* ---- functional and theta -------------------------------------------------------------------- */

static void state_of_sites(void *context, int unit, int begin, int end, double *out)
{
    const cpu *c = context;
    const lat_lane_work w = unit_work(c, unit);
    c->ops->state(&w, begin, end, out);
}

static int cpu_state(lat_fixer *f, lat_gauge_state *s, double *slices)
{
    cpu *c = (cpu *)f;
    const int copies = c->g->members;
    if (lat_cpu_reduce(c->grid, c->units, c->here, 2, 1, state_of_sites, c, c->sum)
        || lat_state_total(c->grid, &c->condition, c->ops->nc, copies, c->sum, c->theta, s))
        return -1;
    if (slices)
        memcpy(slices, c->theta, (size_t)(copies * c->grid->slices) * sizeof *slices);
    return 0;
}

static long cpu_freeze(lat_fixer *f, const double *theta)
{
    cpu *c = (cpu *)f;
    if (lat_balance_freeze(&c->balance, c->theta, theta))
        return -1;
    list_units(c);
    return lat_state_left(c->theta, theta, c->g->members, c->grid->slices);
}

const lat_fix_ops lat_fix_cpu = {
    .open = cpu_open,
    .close = cpu_close,
    .description = cpu_description,
    .set = cpu_set,
    .get = cpu_get,
    .sweep = cpu_sweep,
    .state = cpu_state,
    .freeze = cpu_freeze,
    .groups = LAT_CPU_FIX_MOST,
};
