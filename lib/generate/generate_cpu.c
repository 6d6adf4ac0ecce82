/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_cpu.c: configurations on the CPU: links in vector lanes (grid/cpu_grid.h), blocks shared
 * among threads. An update of one direction and parity reads none of the links that it writes, so
 * results do not depend on the number of threads or ranks. */
#include "generate.h"

#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "grid/cpu_halo.h"
#include "grid/cpu_reduce.h"
#include "grid/lanes.h"
#include "grid/reduce.h"
#include "link_lanes.h"

typedef struct cpu {
    lat_generator gen;
    const lat_link_lanes *ops;
    lat_action action;
    lat_grid *grid;
    lat_dfield *u;
    lat_link_work work;
    double *sum; /* [slices][2] */
} cpu;

LAT_LANES_TABLE(lat_link_lanes, LAT_CPU_LINKS_MOST);

static void cpu_close(lat_generator *gen)
{
    cpu *c = (cpu *)gen;
    if (!c)
        return;
    lat_dfield_free(c->u);
    lat_grid_free(c->grid);
    free(c->sum);
    free(c);
}

static int open_fields(cpu *c, const lat_field *u, lat_real real)
{
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = lat_storage_of(real), .across = -1};
    const int nc = c->ops->nc;
    const lat_shape links = {
        .objects = u->head.geom.nd, .reals = 2 * c->ops->rows * nc, .nc = nc, .ghosts = true};
    if (!(c->grid = lat_grid_new(c->gen.dev, &spec))
        || !(c->u = lat_dfield_new(c->grid, links, 1, "the links"))
        || lat_dfield_put(c->u, 0, u, NULL))
        return -1;
    c->sum = lat_alloc((size_t)lat_reduce_slices(c->grid), 2 * sizeof *c->sum, "sums of slices");
    c->work = (lat_link_work){{lat_cpu(c->grid)->lay, c->u->data, u->head.geom.nd},
                              lat_cpu_sites(lat_cpu(c->grid), 0),
                              {1 / c->action.xi, c->action.xi}};
    return c->sum ? 0 : -1;
}

static lat_generator *cpu_open(lat_device *dev, const lat_field *u, lat_real real,
                               const lat_action *action)
{
    const lat_isa isa = lat_isa_widest();
    const int nc = u->head.nc;
    if (nc > LAT_LINKS_MOST) {
        lat_fail("SU(%d): links are updated of SU(2) to SU(%d)", nc, LAT_LINKS_MOST);
        return NULL;
    }
    if (lat_device_check_group(false, nc, lat_generate_cpu.groups))
        return NULL;
    cpu *c = calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory: a generator");
        return NULL;
    }
    c->gen = (lat_generator){&lat_generate_cpu, dev};
    c->ops = lat_link_lanes_table[isa][nc] + lat_storage_of(real);
    c->action = *action;
    if (open_fields(c, u, real) == 0)
        return &c->gen;
    cpu_close(&c->gen);
    return NULL;
}

static const char *cpu_description(const lat_generator *gen) { return gen->dev->name; }

static int cpu_get(lat_generator *gen, lat_field *u)
{
    const cpu *c = (const cpu *)gen;
    return lat_dfield_get(c->u, 0, u, true) || lat_field_exchange(u) ? -1 : 0;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

typedef struct update {
    const cpu *c;
    int mu;
    lat_link_how how;
} update;

static void update_blocks(void *context, int unit, int begin, int end)
{
    const update *p = context;
    (void)unit;
    p->c->ops->update(&p->c->work, p->mu, begin, end, &p->how);
}

static int cpu_sweep(lat_generator *gen, const lat_link_sweep *how, long n)
{
    static const int unit = 0;
    const cpu *c = (const cpu *)gen;
    const int nd = c->grid->slot.nd;
    lat_cpu_team team = {.rc = 0};
#pragma omp parallel
    {
        update p = {c, 0, {c->action.beta / c->ops->nc, how->update, how->seed, how->config, 0}};
        for (long k = 0; k < n * nd * 2 && team.rc == 0; k++) {
            p.mu = (int)(k / 2 % nd);
            p.how.step = how->step + (uint32_t)(k / (2 * nd));
            const lat_halo_part part = {(int)(k % 2), &unit, 1, p.mu, 1};
            lat_cpu_sweep(&team, c->u, &part, update_blocks, &p);
        }
        if (c->ops->nc > 3) { /* of others an update leaves nothing to do (site/link.h) */
            int64_t from, to; /* ghosts as their owners do */
            lat_thread_range(lat_cpu(c->grid)->blocks, &from, &to);
            c->ops->reunit(&c->work, (int)from, (int)to);
        }
    }
    return team.rc;
}

/* ---- plaquettes ------------------------------------------------------------------------------ */

static void plaquettes_of_sites(void *context, int unit, int begin, int end, double *out)
{
    const cpu *c = context;
    (void)unit;
    c->ops->plaquette(&c->work, begin, end, out);
}

static int cpu_plaquette(lat_generator *gen, double *spatial, double *temporal)
{
    cpu *c = (cpu *)gen;
    const lat_geometry *geom = &c->grid->spec.lattice;
    double total[2];
    if (lat_cpu_reduce(c->grid, 1, NULL, 2, 0, plaquettes_of_sites, c, c->sum)
        || lat_reduce_total(c->grid, 1, 2, 0, c->sum, total))
        return -1;
    lat_generate_means(geom, c->ops->nc, total, spatial, temporal);
    return 0;
}

const lat_generate_ops lat_generate_cpu = {
    .open = cpu_open,
    .close = cpu_close,
    .description = cpu_description,
    .sweep = cpu_sweep,
    .plaquette = cpu_plaquette,
    .get = cpu_get,
    .groups = LAT_CPU_LINKS_MOST,
};
