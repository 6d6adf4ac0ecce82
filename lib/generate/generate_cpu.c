/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_cpu.c: configurations on the CPU: links in vector lanes (grid/cpu_grid.h), blocks shared
 * among threads. An update of one direction and parity reads none of the links that it writes, so
 * results do not depend on the number of threads or ranks. */
#include "base/error.h"
#include "base/isa.h"
#include "generate_internal.h"
#include "grid/cpu_halo.h"
#include "grid/cpu_reduce.h"
#include "grid/lanes.h"
#include "link_lanes.h"

typedef struct cpu {
    lat_generator gen;
    const lat_link_lanes *ops;
    lat_link_work work;
} cpu;

LAT_LANES_TABLE(lat_link_lanes, LAT_CPU_LINKS_MOST);

static int cpu_open(lat_generator *gen)
{
    cpu *c = (cpu *)gen;
    const double xi = gen->action.xi;
    c->ops = lat_link_lanes_table[lat_isa_widest()][gen->nc] + lat_storage_of(gen->real);
    c->work = (lat_link_work){{lat_cpu(gen->grid)->lay, gen->u->data, gen->grid->slot.nd},
                              lat_cpu_sites(lat_cpu(gen->grid), 0),
                              {1 / xi, xi},
                              gen->action.beta / gen->nc};
    return 0;
}

typedef struct update {
    const cpu *c;
    int mu;
    lat_link_sweep how; /* of the sweep at hand */
} update;

static void update_blocks(void *context, LAT_UNUSED int unit, int begin, int end)
{
    const update *p = context;
    p->c->ops->update(&p->c->work, p->mu, begin, end, &p->how);
}

static int cpu_sweep(lat_generator *gen, const lat_link_sweep *how, long n)
{
    static const int unit = 0;
    const cpu *c = (const cpu *)gen;
    const int nd = gen->grid->slot.nd;
    lat_cpu_team team = {.rc = 0};
#pragma omp parallel
    {
        update p = {c, 0, *how};
        for (long k = 0; k < n * nd * 2 && team.rc == 0; k++) {
            p.mu = (int)(k / 2 % nd);
            p.how.step = how->step + (uint32_t)(k / (2 * nd));
            const lat_halo_part part = {(int)(k % 2), &unit, 1, p.mu, 1};
            lat_cpu_sweep(&team, gen->u, &part, update_blocks, &p);
        }
        if (gen->nc > 3) {    /* of others an update leaves nothing to do (site/link.h) */
            int64_t from, to; /* ghosts as their owners do */
            lat_thread_range(lat_cpu(gen->grid)->blocks, &from, &to);
            c->ops->reunit(&c->work, (int)from, (int)to);
        }
    }
    return team.rc;
}

static void plaquettes_of_sites(void *context, LAT_UNUSED int unit, int begin, int end, double *out)
{
    const cpu *c = context;
    c->ops->plaquette(&c->work, begin, end, out);
}

static int cpu_plaquettes(lat_generator *gen, double sum[2])
{
    return lat_cpu_total(gen->grid, 1, NULL, 2, 0, plaquettes_of_sites, gen, sum);
}

const lat_generate_device lat_generate_cpu = {
    .groups = LAT_CPU_LINKS_MOST,
    .size = sizeof(cpu),
    .open = cpu_open,
    .sweep = cpu_sweep,
    .plaquettes = cpu_plaquettes,
};
