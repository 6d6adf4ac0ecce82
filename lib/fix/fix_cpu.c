/* SPDX-License-Identifier: BSD-3-Clause */
/* fix_cpu.c: gauge fixing on the CPU: blocks of sites in vector lanes (grid/cpu_grid.h), shared
 * among threads.
 *
 * A half sweep reads g of one parity and writes the other, so its result does not depend on the
 * number of threads or ranks. A unit is a slice of a copy (grid/grid.h): g and what is known of it;
 * units of a slice share its links. */
#include "base/isa.h"
#include "base/threads.h"
#include "fix_internal.h"
#include "fix_lanes.h"
#include "grid/cpu_halo.h"
#include "grid/cpu_reduce.h"
#include "grid/lanes.h"
#include "site/sun.h"

typedef struct cpu {
    lat_fixer fixer; /* u: links at both ends of a site */
    const lat_fix_lanes *ops;
    lat_lane_work work; /* what all units share */
} cpu;

LAT_LANES_TABLE(lat_fix_lanes, LAT_CPU_FIX_MOST);

static lat_lane_work unit_work(const cpu *c, int unit)
{
    const lat_fixer *f = &c->fixer;
    const int slot = unit % f->grid->slots;
    lat_lane_work w = c->work;
    w.u = lat_cpu_unit(f->u, slot);
    w.g = lat_cpu_unit(f->g, unit);
    w.site = lat_cpu_sites(lat_cpu(f->grid), slot);
    return w;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The rows of links to keep, or -1: two of SU(3) if on all ranks they make the third one to
 * rounding in the precision of the sweeps, else all. NaN does not. Links of a single precision file
 * miss that in double, and are then used as they are. */
static int rows_of(const lat_field *u, lat_real real, const lat_comm *comm)
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

/* Slots for slices of other ranks too, if all ranks have the same lanes: slices travel as they lie
 * in memory. */
static int make_slots(lat_fixer *f, bool *may)
{
    const lat_comm *comm = f->dev->comm;
    const int here = lat_cpu(f->grid)->lay->lanes;
    double lanes[2] = {here, -here};
    if (comm->max(comm, lanes, 2))
        return -1;
    *may = lanes[0] + lanes[1] == 0;
    const int spare = *may ? lat_balance_capacity(f->grid) : 0;
    return spare ? lat_grid_set_slots(f->grid, f->grid->slots + spare) : 0;
}

static int cpu_open(lat_fixer *f, const lat_field *u, lat_real real)
{
    cpu *c = (cpu *)f;
    bool may;
    c->ops = &lat_fix_lanes_table[lat_isa_widest()][f->nc][lat_storage_of(real)];
    if (make_slots(f, &may))
        return -1;
    const int rows = rows_of(u, real, f->dev->comm), nc = f->nc, nd = f->grid->slot.nd;
    if (rows < 0)
        return -1;
    const lat_shape links = {.objects = 2 * nd, .reals = 2 * rows * nc, .nc = nc, .both = true};
    const lat_shape matrix = {.objects = 1, .reals = 2 * nc * nc, .nc = nc, .ghosts = true};
    f->u = lat_dfield_new(f->grid, links, 1, "the links");
    f->g = lat_dfield_new(f->grid, matrix, f->copies, "the transformations");
    /* Weights of complete links are in the links already. */
    const double *weight = rows == nc ? f->condition.weight : NULL;
    if (!f->u || !f->g || lat_dfield_put(f->u, 0, u, weight)
        || lat_balance_open(&f->balance, f->u, f->g, may, 0))
        return -1;
    c->work = (lat_lane_work){.lay = lat_cpu(f->grid)->lay,
                              .rows = rows,
                              .problem = lat_gauge_table[f->condition.gauge].problem};
    for (int i = 0; i < nd; i++)
        c->work.weight[i] = f->condition.weight[f->grid->axis[i]];
    return 0;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* What the sweeps of a unit are: of its copy. */
static lat_lane_how unit_how(const cpu *c, const lat_sweep *how, int unit)
{
    const int copy = unit / c->fixer.grid->slots;
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
            lat_cpu_sweep(&team, c->fixer.g, &part, sweep_blocks, &s);
        }
    }
    return team.rc;
}

static int cpu_sweep(lat_fixer *f, const lat_sweep *how, long n)
{
    const cpu *c = (const cpu *)f;
    const lat_layout *lay = c->work.lay;
    const int *unit = f->balance.list, units = f->balance.listed;
    if (units == 0)
        return 0;
    if (f->grid->halo)
        return sweep_together(c, how, n, unit, units);
    /* Without a halo units are independent: a thread that has one does all its sweeps while it is
     * in cache. With few of them left, threads share each. */
    if (units < 2 * lat_threads()) {
        for (int i = 0; i < units; i++)
            if (sweep_together(c, how, n, unit + i, 1))
                return -1;
        return 0;
    }
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < units; i++) {
        sweep s = {c, *how};
        for (long k = 0; k < n; k++, s.how.step++) {
            sweep_blocks(&s, unit[i], 0, lay->neven);
            sweep_blocks(&s, unit[i], lay->neven, lay->nblocks);
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

static int cpu_sums(lat_fixer *f, double *total)
{
    return lat_cpu_total(f->grid, f->copies, f->balance.here, 2, 1, state_of_sites, f, total);
}

const lat_fix_device lat_fix_cpu = {
    .groups = LAT_CPU_FIX_MOST,
    .size = sizeof(cpu),
    .open = cpu_open,
    .sweep = cpu_sweep,
    .sums = cpu_sums,
};
