/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_cpu.c: passes of the flow on the CPU: links in vector lanes (grid/cpu_grid.h), blocks shared
 * among threads. No pass reads at neighbours what it writes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
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
    lat_dfield *start, *plane, *y, *again;
    lat_flow_work work;
    double *sum; /* [slices][LAT_FLOW_NUMBERS] */
} cpu;

/* ---- memory ---------------------------------------------------------------------------------- */

static void cpu_close(lat_flow *f)
{
    cpu *c = (cpu *)f;
    lat_dfield_free(f->u);
    lat_dfield_free(c->start);
    lat_dfield_free(c->plane);
    lat_dfield_free(c->y);
    lat_dfield_free(c->again);
    lat_grid_free(f->grid);
    free(c->sum);
    free(c);
}

static int blocks(const cpu *c) { return lat_cpu(c->flow.grid)->lay->nblocks; }

/* An element of the algebra for each link, zero at first: what is multiplied by zero must be a
 * number. */
static lat_dfield *algebra_new(cpu *c, lat_shape shape)
{
    lat_dfield *y = lat_dfield_new(c->flow.grid, shape, 1, "the flow");
    if (y)
        memset(y->data, 0, y->unit_bytes);
    return y;
}

static lat_lane_links links_of(const cpu *c, const lat_dfield *u)
{
    return (lat_lane_links){lat_cpu(c->flow.grid)->lay, u ? u->data : NULL,
                            u ? u->shape.objects : 0};
}

static int open_fields(cpu *c, lat_device *dev, const lat_field *u)
{
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1, .odd = true};
    lat_flow *f = &c->flow;
    const int nc = u->head.nc, nd = u->head.geom.nd;
    const lat_shape
        links = {.objects = nd, .reals = 2 * c->ops->rows * nc, .nc = nc, .ghosts = true},
        local = {.objects = nd, .reals = links.reals, .nc = nc},
        plane = {.objects = LAT_FLOW_STAPLES, .reals = links.reals, .nc = nc, .ghosts = true},
        algebra = {.objects = nd, .reals = nc * nc};
    const bool again = !(f->how.step > 0), rectangles = f->how.c1 != 0;
    if (!(f->grid = lat_grid_new(dev, &spec))
        || !(f->u = lat_dfield_new(f->grid, links, 1, "links")) || lat_dfield_put(f->u, 0, u, NULL)
        || !(c->y = algebra_new(c, algebra)) || (again && !(c->again = algebra_new(c, algebra)))
        || (again && !(c->start = lat_dfield_new(f->grid, local, 1, "links before a step")))
        || (rectangles && !(c->plane = lat_dfield_new(f->grid, plane, 1, "staples"))))
        return -1;
    c->sum = lat_alloc((size_t)lat_reduce_slices(f->grid), LAT_FLOW_NUMBERS * sizeof *c->sum,
                       "sums of slices");
    c->work = (lat_flow_work){.u = links_of(c, f->u),
                              .start = links_of(c, c->start),
                              .plane = links_of(c, c->plane),
                              .y = c->y->data,
                              .again = again ? c->again->data : NULL,
                              .c0 = 1 - 8 * f->how.c1,
                              .c1 = f->how.c1};
    return c->sum ? 0 : -1;
}

static lat_flow *cpu_open(lat_device *dev, const lat_field *u, const lat_flow_how *how)
{
    cpu *c = calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory: a flow");
        return NULL;
    }
    c->flow.how = *how;
    c->ops = lat_flow_lanes_table[lat_isa_widest()][u->head.nc];
    if (open_fields(c, dev, u) == 0)
        return &c->flow;
    cpu_close(&c->flow);
    return NULL;
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void force_pass(cpu *c, lat_flow_force *fn, double beta, double alpha)
{
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(blocks(c), &from, &to);
        fn(&c->work, beta, alpha, (int)from, (int)to);
    }
}

static int staples_pass(cpu *c, int mu, int nu)
{
    c->work.mu = mu;
    c->work.nu = nu;
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(blocks(c), &from, &to);
        c->ops->staples(&c->work, (int)from, (int)to);
    }
    return lat_halo_exchange(c->plane, 0);
}

static int force(cpu *c, double beta, double alpha)
{
    if (!c->plane) {
        force_pass(c, c->ops->force, beta, alpha);
        return 0;
    }
    for (int mu = 0; mu < c->flow.grid->slot.nd; mu++)
        for (int nu = mu + 1; nu < c->flow.grid->slot.nd; nu++) {
            if (staples_pass(c, mu, nu))
                return -1;
            force_pass(c, c->ops->plane, beta, alpha);
        }
    return 0;
}

static int apply(cpu *c, double eps, double bound)
{
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(blocks(c), &from, &to);
        c->ops->apply(&c->work, eps, lat_flow_halvings(bound), (int)from, (int)to);
    }
    return lat_halo_exchange(c->flow.u, 0);
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
    const double *y = c->y->data;
    double *again = c->again->data;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < c->y->unit_bytes / sizeof *y; i++)
        again[i] = a * y[i] + b * again[i];
}

static int cpu_stage(lat_flow *f, const lat_flow_stage *s)
{
    cpu *c = (cpu *)f;
    if (s->first)
        copy_links(c, c->start, f->u);
    if (s->again)
        combine(c, 1, 0);
    if (force(c, s->beta, s->alpha))
        return -1;
    if (s->again)
        combine(c, s->a, s->b);
    return apply(c, s->eps, s->bound);
}

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct distance {
    const cpu *c;
    double eps;
    int halvings;
} distance;

static void distances(void *context, int unit, int begin, int end, double *out)
{
    const distance *d = context;
    (void)unit;
    d->c->ops->apart(&d->c->work, d->eps, d->halvings, begin, end, out);
}

static int cpu_apart(lat_flow *f, double eps, double bound, double *square)
{
    cpu *c = (cpu *)f;
    distance d = {c, eps, lat_flow_halvings(bound)};
    double total[2];
    if (lat_cpu_reduce(f->grid, 1, NULL, 1, 1, distances, &d, c->sum)
        || lat_reduce_total(f->grid, 1, 2, 1, c->sum, total))
        return -1;
    *square = total[1];
    return 0;
}

static void numbers(void *context, int unit, int begin, int end, double *out)
{
    const cpu *c = context;
    (void)unit;
    c->ops->numbers(&c->work, begin, end, out);
}

static int cpu_numbers(lat_flow *f, double total[LAT_FLOW_NUMBERS])
{
    cpu *c = (cpu *)f;
    return lat_cpu_reduce(f->grid, 1, NULL, LAT_FLOW_NUMBERS, 0, numbers, c, c->sum)
                   || lat_reduce_total(f->grid, 1, LAT_FLOW_NUMBERS, 0, c->sum, total)
               ? -1
               : 0;
}

const lat_flow_device lat_flow_cpu = {
    .groups = LAT_CPU_FLOW_MOST,
    .open = cpu_open,
    .close = cpu_close,
    .stage = cpu_stage,
    .restore = cpu_restore,
    .apart = cpu_apart,
    .numbers = cpu_numbers,
};
