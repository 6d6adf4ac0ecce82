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
#include "grid/cpu_halo.h"
#include "grid/cpu_reduce.h"
#include "grid/reduce.h"

static const lat_flow_ops *const *const tables[] = LAT_ISA_EACH(lat_flow_, );

/* ---- memory ---------------------------------------------------------------------------------- */

void lat_flow_close(lat_flow *f)
{
    if (!f)
        return;
    lat_dfield_free(f->u);
    lat_dfield_free(f->start);
    lat_dfield_free(f->plane);
    lat_dfield_free(f->y);
    lat_dfield_free(f->again);
    lat_grid_free(f->grid);
    free(f->sum);
    free(f);
}

static int blocks(const lat_flow *f) { return lat_cpu(f->grid)->lay->nblocks; }

/* An element of the algebra for each link, zero at first: what is multiplied by zero must be a
 * number. */
static lat_dfield *algebra_new(lat_flow *f, lat_shape shape)
{
    lat_dfield *y = lat_dfield_new(f->grid, shape, 1, "the flow");
    if (y)
        memset(y->data, 0, y->unit_bytes);
    return y;
}

static lat_lane_links links_of(const lat_flow *f, const lat_dfield *u)
{
    return (lat_lane_links){lat_cpu(f->grid)->lay, u ? u->data : NULL, u ? u->shape.objects : 0};
}

static int open_fields(lat_flow *f, lat_device *dev, const lat_field *u)
{
    const lat_grid_spec spec = {
        .lattice = u->head.geom, .storage = LAT_STORAGE_DOUBLE, .across = -1, .odd = true};
    const int nc = u->head.nc, nd = u->head.geom.nd;
    const lat_shape
        links = {.objects = nd, .reals = 2 * f->ops->rows * nc, .nc = nc, .ghosts = true},
        local = {.objects = nd, .reals = links.reals, .nc = nc},
        plane = {.objects = LAT_FLOW_STAPLES, .reals = links.reals, .nc = nc, .ghosts = true},
        algebra = {.objects = nd, .reals = nc * nc};
    const bool again = !(f->how.step > 0), rectangles = f->how.c1 != 0;
    if (!(f->grid = lat_grid_new(dev, &spec))
        || !(f->u = lat_dfield_new(f->grid, links, 1, "links")) || lat_dfield_put(f->u, 0, u, NULL)
        || !(f->y = algebra_new(f, algebra)) || (again && !(f->again = algebra_new(f, algebra)))
        || (again && !(f->start = lat_dfield_new(f->grid, local, 1, "links before a step")))
        || (rectangles && !(f->plane = lat_dfield_new(f->grid, plane, 1, "staples"))))
        return -1;
    f->sum = lat_alloc((size_t)lat_reduce_slices(f->grid), LAT_FLOW_NUMBERS * sizeof *f->sum,
                       "sums of slices");
    f->work = (lat_flow_work){.u = links_of(f, f->u),
                              .start = links_of(f, f->start),
                              .plane = links_of(f, f->plane),
                              .y = f->y->data,
                              .again = again ? f->again->data : NULL,
                              .c0 = 1 - 8 * f->how.c1,
                              .c1 = f->how.c1};
    return f->sum ? 0 : -1;
}

int lat_flow_cpu_open(lat_flow *f, lat_device *dev, const lat_field *u)
{
    const int nc = u->head.nc;
    char text[64];
    if (dev->gpu)
        return lat_fail("flow: expected the CPU, found a GPU, which has no code of it");
    if (nc > LAT_FLOW_MOST)
        return lat_fail("SU(%d): the flow is that of SU(2) to SU(%d)", nc, LAT_FLOW_MOST);
    if (u->head.geom.nd < 2)
        return lat_fail("lattice %s: a flow needs two directions at least",
                        lat_dims_text(&u->head.geom, text));
    if (lat_device_check_group(false, nc, LAT_CPU_FLOW_MOST))
        return -1;
    f->ops = tables[lat_isa_widest()][nc];
    return open_fields(f, dev, u);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static void force_pass(lat_flow *f, lat_flow_force *fn, double beta, double alpha)
{
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(blocks(f), &from, &to);
        fn(&f->work, beta, alpha, (int)from, (int)to);
    }
}

static int staples_pass(lat_flow *f, int mu, int nu)
{
    f->work.mu = mu;
    f->work.nu = nu;
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(blocks(f), &from, &to);
        f->ops->staples(&f->work, (int)from, (int)to);
    }
    return lat_halo_exchange(f->plane, 0);
}

int lat_flow_cpu_force(lat_flow *f, double beta, double alpha)
{
    if (!f->plane) {
        force_pass(f, f->ops->force, beta, alpha);
        return 0;
    }
    for (int mu = 0; mu < f->grid->slot.nd; mu++)
        for (int nu = mu + 1; nu < f->grid->slot.nd; nu++) {
            if (staples_pass(f, mu, nu))
                return -1;
            force_pass(f, f->ops->plane, beta, alpha);
        }
    return 0;
}

static int halvings(double bound)
{
    int n = 0;
    for (; bound > 1; bound /= 2)
        n++;
    return n;
}

int lat_flow_cpu_apply(lat_flow *f, double eps, double bound)
{
#pragma omp parallel
    {
        int64_t from, to;
        lat_thread_range(blocks(f), &from, &to);
        f->ops->apply(&f->work, eps, halvings(bound), (int)from, (int)to);
    }
    return lat_halo_exchange(f->u, 0);
}

/* The own blocks, which come before the ghosts. */
static void copy_links(const lat_flow *f, lat_dfield *to, const lat_dfield *from)
{
    const size_t block = f->start->unit_bytes / (size_t)blocks(f);
#pragma omp parallel
    {
        int64_t begin, end;
        lat_thread_range(blocks(f), &begin, &end);
        memcpy((char *)to->data + (size_t)begin * block,
               (const char *)from->data + (size_t)begin * block, (size_t)(end - begin) * block);
    }
}

void lat_flow_cpu_save(lat_flow *f) { copy_links(f, f->start, f->u); }

int lat_flow_cpu_restore(lat_flow *f)
{
    copy_links(f, f->u, f->start);
    return lat_halo_exchange(f->u, 0);
}

void lat_flow_cpu_combine(lat_flow *f, double a, double b)
{
    const double *y = f->y->data;
    double *again = f->again->data;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < f->y->unit_bytes / sizeof *y; i++)
        again[i] = a * y[i] + b * again[i];
}

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct distance {
    const lat_flow *f;
    double eps;
    int halvings;
} distance;

static void distances(void *context, int unit, int begin, int end, double *out)
{
    const distance *d = context;
    (void)unit;
    d->f->ops->apart(&d->f->work, d->eps, d->halvings, begin, end, out);
}

int lat_flow_cpu_apart(lat_flow *f, double eps, double bound, double *largest)
{
    distance d = {f, eps, halvings(bound)};
    double total[2];
    if (lat_cpu_reduce(f->grid, 1, NULL, 1, 1, distances, &d, f->sum)
        || lat_reduce_total(f->grid, 1, 2, 1, f->sum, total))
        return -1;
    *largest = sqrt(total[1]);
    return 0;
}

static void numbers(void *context, int unit, int begin, int end, double *out)
{
    const lat_flow *f = context;
    (void)unit;
    f->ops->numbers(&f->work, begin, end, out);
}

int lat_flow_measure(lat_flow *f, lat_flow_measured *m)
{
    const double sites = (double)lat_volume(&f->grid->slot);
    double total[LAT_FLOW_NUMBERS];
    if (lat_cpu_reduce(f->grid, 1, NULL, LAT_FLOW_NUMBERS, 0, numbers, f, f->sum)
        || lat_reduce_total(f->grid, 1, LAT_FLOW_NUMBERS, 0, f->sum, total))
        return -1;
    *m = (lat_flow_measured){2 * total[0] / sites, total[1] / sites, total[2] / sites,
                             f->grid->slot.nd == 4 ? total[3] / (4 * M_PI * M_PI) : NAN};
    return 0;
}

int lat_flow_get(const lat_flow *f, lat_field *v)
{
    return lat_dfield_get(f->u, 0, v, true) || lat_field_exchange(v) ? -1 : 0;
}
