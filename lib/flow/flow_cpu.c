/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_cpu.c: passes of the flow on the CPU: links in vector lanes (grid/cpu_grid.h), blocks shared
 * among threads. No pass reads at neighbours what it writes. */
#include <string.h>
#include "base/error.h"
#include "base/isa.h"
#include "flow_internal.h"
#include "flow_lanes.h"
#include "grid/cpu_halo.h"
#include "grid/cpu_reduce.h"
#include "grid/lanes.h"
#include "grid/reduce.h"

LAT_LANES_TABLE(lat_flow_lanes, LAT_CPU_FLOW_MOST);

typedef struct cpu {
    lat_flow flow;
    const lat_flow_lanes *ops;
    lat_dfield *start; /* links before a step; without ghosts */
    lat_flow_work work;
} cpu;

static int blocks(const cpu *c) { return lat_cpu(c->flow.grid)->lay->nblocks; }

static lat_lane_links links_of(const lat_flow *f, const lat_dfield *u)
{
    return (lat_lane_links){lat_cpu(f->grid)->lay, u ? u->data : NULL, u ? u->shape.objects : 0};
}

static int cpu_open(lat_flow *f, lat_shape links)
{
    cpu *c = (cpu *)f;
    c->ops = lat_flow_lanes_table[lat_isa_widest()][links.nc];
    const int64_t slices = lat_reduce_slices(f->grid),
                  slice = (int64_t)lat_volume(&f->grid->here) / slices;
    links.ghosts = false;
    if (f->again && !(c->start = lat_dfield_new(f->grid, links, 1, "links before a step")))
        return -1;
    /* What is multiplied by zero must be a number. */
    memset(f->y->data, 0, f->y->unit_bytes);
    if (f->again)
        memset(f->again->data, 0, f->again->unit_bytes);
    c->work = (lat_flow_work){.u = links_of(f, f->u),
                              .start = links_of(f, c->start),
                              .plane = links_of(f, f->plane),
                              .y = f->y->data,
                              .again = f->again ? f->again->data : NULL,
                              .c0 = 1 - 8 * f->how.c1,
                              .c1 = f->how.c1,
                              .temporal = f->temporal,
                              .below = lat_flow_end_here(f, false) ? slice : 0,
                              .above = lat_flow_end_here(f, true) ? (slices - 1) * slice
                                                                  : INT64_MAX};
    return 0;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void pass(const cpu *c, lat_flow_pass *fn)
{
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(blocks(c), &from, &to);
        fn(&c->work, (int)from, (int)to);
    }
}

static int force(cpu *c)
{
    const lat_flow *f = &c->flow;
    if (!f->plane)
        pass(c, c->ops->force);
    for (int mu = 0; f->plane && mu < f->grid->slot.nd; mu++)
        for (int nu = mu + 1; nu < f->grid->slot.nd; nu++) {
            c->work.mu = mu;
            c->work.nu = nu;
            pass(c, c->ops->staples);
            if (lat_halo_exchange(f->plane, 0))
                return -1;
            pass(c, c->ops->plane);
        }
    return 0;
}

/* The own blocks, which come before the ghosts. */
static void copy_links(const cpu *c, lat_dfield *to, const lat_dfield *from)
{
    const size_t block = c->start->unit_bytes / (size_t)blocks(c);
#pragma omp parallel
    {
        int64_t begin, end;
        lat_thread_range(blocks(c), &begin, &end);
        memcpy((char *)to->data + (size_t)begin * block,
               (const char *)from->data + (size_t)begin * block, (size_t)(end - begin) * block);
    }
}

static int cpu_restore(lat_flow *f)
{
    cpu *c = (cpu *)f;
    copy_links(c, f->u, c->start);
    return lat_halo_exchange(f->u, 0);
}

/* again = a y + b again. */
static void combine(cpu *c, double a, double b)
{
    const double *y = c->work.y;
    double *again = c->work.again;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < c->flow.y->unit_bytes / sizeof *y; i++)
        again[i] = a * y[i] + b * again[i];
}

static int cpu_stage(lat_flow *f, const lat_flow_stage *s)
{
    cpu *c = (cpu *)f;
    c->work.stage = *s;
    if (s->first)
        copy_links(c, c->start, f->u);
    if (s->again)
        combine(c, 1, 0);
    if (force(c))
        return -1;
    if (s->again)
        combine(c, s->a, s->b);
    pass(c, c->ops->apply);
    return lat_halo_exchange(f->u, 0);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void distances(void *context, LAT_UNUSED int unit, int begin, int end, double *out)
{
    const cpu *c = context;
    c->ops->apart(&c->work, begin, end, out);
}

static int cpu_apart(lat_flow *f, double eps, int halvings, double *square)
{
    double total[2];
    ((cpu *)f)->work.stage = (lat_flow_stage){.eps = eps, .halvings = halvings};
    if (lat_cpu_total(f->grid, 1, NULL, 1, 1, distances, f, total))
        return -1;
    *square = total[1];
    return 0;
}

static void numbers(void *context, LAT_UNUSED int unit, int begin, int end, double *out)
{
    const cpu *c = context;
    c->ops->numbers(&c->work, begin, end, out);
}

static int cpu_numbers(lat_flow *f, double *sums)
{
    return lat_cpu_slicewise(f->grid, LAT_FLOW_NUMBERS, numbers, f, sums);
}

const lat_flow_device lat_flow_cpu = {
    .groups = LAT_CPU_FLOW_MOST,
    .size = sizeof(cpu),
    .open = cpu_open,
    .stage = cpu_stage,
    .restore = cpu_restore,
    .apart = cpu_apart,
    .numbers = cpu_numbers,
};
