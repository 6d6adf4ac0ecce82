/* SPDX-License-Identifier: BSD-3-Clause */
/* newton_cpu.c: Newton's method on the CPU. Fields lie in vector lanes (grid/cpu_grid.h) on two
 * grids, in double and in single, which have different lanes: what goes from one to the other goes
 * through rows in natural order, as Fourier transforms want them anyway.
 *
 * Threads share the blocks of a unit, or take whole units where there are enough. Sums are those of
 * chunks of blocks, in order. */
#include "newton_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "base/threads.h"
#include "fourier/laplace_single.h"
#include "grid/cpu_grid.h"
#include "grid/lanes.h"
#include "lattice/transform.h"
#include "newton_lanes.h"

LAT_LANES_TABLE(lat_newton_lanes, 3);

enum { CHUNK = 16 };

typedef struct cpu {
    lat_newton newton;
    lat_device device; /* without its halo */
    const lat_newton_lanes *ops;
    lat_grid *wide, *narrow;               /* double, single */
    lat_dfield *u, *g;                     /* double: links; g before and after a step */
    lat_dfield *w, *e, *h, *s, *r, *p, *q; /* single: lat_newton_fields */
    lat_lane_work work;
    float *rows, *hermitian;
    double *sums; /* [units][chunks][2] */
    size_t chunks;
    lat_laplace_single *laplace;
} cpu;

/* ---- opening --------------------------------------------------------------------------------- */

static lat_dfield *narrow_new(cpu *n, int objects, int reals)
{
    const lat_shape shape = {.objects = objects, .reals = reals};
    return lat_dfield_new(n->narrow, shape, 1, "Newton's method");
}

static int open_single(cpu *n)
{
    const int nc = n->newton.nc, algebra = lat_newton_algebra(nc);
    const lat_shape links = {.objects = 2 * n->narrow->slot.nd,
                             .reals = 2 * (nc - 1) * nc,
                             .nc = nc,
                             .both = true},
                    matrix = {.objects = 1, .reals = 2 * nc * nc, .nc = nc};
    return (n->w = lat_dfield_new(n->narrow, links, 1, "the links"))
                   && (n->e = lat_dfield_new(n->narrow, matrix, 1, "a transformation"))
                   && (n->h = narrow_new(n, 1, nc * nc)) && (n->s = narrow_new(n, 1, algebra))
                   && (n->r = narrow_new(n, 1, algebra)) && (n->p = narrow_new(n, 1, algebra))
                   && (n->q = narrow_new(n, 1, algebra))
               ? 0
               : -1;
}

static int open_double(cpu *n)
{
    const int nc = n->newton.nc, nd = n->wide->slot.nd,
              rows = lat_fix_rows(n->newton.links, LAT_F64, n->device.comm);
    const lat_shape links = {.objects = 2 * nd, .reals = 2 * rows * nc, .nc = nc, .both = true},
                    matrix = {.objects = 1, .reals = 2 * nc * nc, .nc = nc};
    if (rows < 0 || !(n->u = lat_dfield_new(n->wide, links, 1, "the links"))
        || lat_dfield_put(n->u, 0, n->newton.links, rows == nc ? n->newton.condition.weight : NULL)
        || !(n->g = lat_dfield_new(n->wide, matrix, 2, "transformations")))
        return -1;
    n->work = (lat_lane_work){.lay = lat_cpu(n->wide)->lay, .rows = rows, .problem = LAT_LINEAR};
    for (int i = 0; i < nd; i++)
        n->work.weight[i] = n->newton.condition.weight[n->wide->axis[i]];
    return 0;
}

static int open_rows(cpu *n)
{
    const size_t all = n->newton.sites * (size_t)n->newton.units;
    const int blocks = lat_cpu(n->wide)->lay->nblocks > lat_cpu(n->narrow)->lay->nblocks
                           ? lat_cpu(n->wide)->lay->nblocks
                           : lat_cpu(n->narrow)->lay->nblocks;
    n->chunks = (size_t)((blocks + CHUNK - 1) / CHUNK);
    n->rows = lat_alloc(all, (size_t)lat_newton_row(n->newton.nc) * sizeof(float),
                        "Newton's method");
    n->hermitian = lat_alloc(all, (size_t)(n->newton.nc * n->newton.nc) * sizeof(float),
                             "Newton's method");
    n->sums = lat_alloc((size_t)n->newton.units, n->chunks * 2 * sizeof(double), "Newton's method");
    n->laplace = lat_laplace_single_new(&n->wide->slot, n->work.weight,
                                        lat_newton_row(n->newton.nc));
    return n->rows && n->hermitian && n->sums && n->laplace ? 0 : -1;
}

static void cpu_close(lat_newton *newton)
{
    cpu *n = (cpu *)newton;
    lat_dfield *const fields[] = {n->u, n->g, n->w, n->e, n->h, n->s, n->r, n->p, n->q};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        lat_dfield_free(fields[i]);
    lat_grid_free(n->wide);
    lat_grid_free(n->narrow);
    lat_laplace_single_free(n->laplace);
    free(n->rows);
    free(n->hermitian);
    free(n->sums);
    free(n);
}

/* ---- passes over a unit ---------------------------------------------------------------------- */

typedef struct run {
    const cpu *n;
    lat_newton_unit *unit;
    lat_newton_fields f;
    lat_lane_work work;
    void *g[2]; /* g[now] is g */
    int now;
    float *hermitian;
    double *sums;
} run;

typedef void pass(const run *r, int begin, int end, double value, double sums[2]);

/* A pass over the blocks of a layout. */
static void over(const run *r, const lat_layout *lay, pass *fn, double value, double total[2])
{
    const int chunks = (lay->nblocks + CHUNK - 1) / CHUNK;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < chunks; i++) {
        const int begin = i * CHUNK,
                  end = begin + CHUNK < lay->nblocks ? begin + CHUNK : lay->nblocks;
        double *sums = r->sums + 2 * (size_t)i;
        sums[0] = sums[1] = 0;
        fn(r, begin, end, value, sums);
    }
    total[0] = total[1] = 0;
    for (int i = 0; i < chunks; i++) {
        total[0] += r->sums[2 * (size_t)i];
        total[1] += r->sums[2 * (size_t)i + 1];
    }
}

static void pass_gradient(const run *r, int begin, int end, double value, double sums[2])
{
    (void)value;
    r->n->ops->gradient(&r->work, begin, end, r->f.rows, r->hermitian, sums);
}

static void pass_step(const run *r, int begin, int end, double scale, double sums[2])
{
    (void)sums;
    r->n->ops->step(r->work.lay, r->g[!r->now], r->g[r->now], begin, end, r->f.rows, scale);
}

static void pass_rotate(const run *r, int begin, int end, double value, double sums[2])
{
    (void)value, (void)sums;
    r->n->ops->rotate(&r->f, begin, end);
}

static void pass_begin(const run *r, int begin, int end, double scale, double sums[2])
{
    (void)sums;
    r->n->ops->begin(&r->f, begin, end, scale, r->hermitian);
}

static void pass_direction(const run *r, int begin, int end, double b, double sums[2])
{
    (void)sums;
    r->n->ops->direction(&r->f, begin, end, b);
}

static void pass_hop(const run *r, int begin, int end, double value, double sums[2])
{
    (void)value;
    sums[0] = r->n->ops->hop(&r->f, begin, end);
}

static void pass_update(const run *r, int begin, int end, double a, double sums[2])
{
    sums[0] = r->n->ops->update(&r->f, begin, end, a);
}

static void pass_take(const run *r, int begin, int end, double scale, double sums[2])
{
    (void)sums;
    r->n->ops->take(&r->f, begin, end, scale);
}

/* A, H and the functional of g[which]. */
static void gradient(run *r, int which, double sums[2])
{
    r->work.g = r->g[which];
    over(r, r->work.lay, pass_gradient, 0, sums);
}

/* ---- a step ---------------------------------------------------------------------------------- */

/* M s = -A, where |s|_L is within the trust region. A is in the rows. Vectors are in units of |A|:
 * single precision has no small numbers. */
static int solve(run *r, double tolerance, lat_newton_cg *c)
{
    const lat_layout *lay = r->f.lay;
    const double size = sqrt(r->unit->square);
    double rz, t[2];
    *c = (lat_newton_cg){.tolerance = tolerance};
    over(r, lay, pass_begin, 1 / size, t);
    if (lat_laplace_single_invert(r->n->laplace, r->f.rows, &rz))
        return -1;
    over(r, lay, pass_direction, 0, t);
    r->unit->delta = lat_newton_delta(r->unit->delta, size, rz);
    lat_newton_cg_begin(c, r->unit->delta / size, rz);
    for (;;) {
        over(r, lay, pass_hop, 0, t);
        lat_newton_cg_hop(c, t[0]);
        over(r, lay, pass_update, c->along, t);
        if (lat_newton_cg_stop(c, t[0]))
            return 0;
        if (lat_laplace_single_invert(r->n->laplace, r->f.rows, &rz))
            return -1;
        lat_newton_cg_next(c, rz);
        over(r, lay, pass_direction, c->b, t);
    }
}

/* To exp(s) g, if that is better. */
static int step(run *r, double target)
{
    const double size = sqrt(r->unit->square);
    double sums[2], unused[2];
    lat_newton_cg c;
    if (solve(r, lat_newton_tolerance(&r->n->newton, r->unit, target), &c))
        return -1;
    over(r, r->f.lay, pass_take, size, unused);
    over(r, r->work.lay, pass_step, size, unused);
    gradient(r, !r->now, sums);
    if (lat_newton_judge(&r->n->newton, r->unit, &c, sums, target))
        r->now = !r->now;
    if (r->unit->busy)
        over(r, r->f.lay, pass_rotate, 0, unused);
    return 0;
}

/* ---- a unit ---------------------------------------------------------------------------------- */

static run run_of(const cpu *n, int unit)
{
    const size_t first = n->newton.sites * (size_t)unit;
    run r = {.n = n, .work = n->work};
    r.work.u = lat_cpu_unit(n->u, unit);
    r.g[0] = lat_cpu_unit(n->g, unit);
    r.g[1] = lat_cpu_unit(n->g, n->newton.units + unit);
    r.f = (lat_newton_fields){.lay = lat_cpu(n->narrow)->lay,
                              .w = lat_cpu_unit(n->w, unit),
                              .e = lat_cpu_unit(n->e, unit),
                              .h = lat_cpu_unit(n->h, unit),
                              .s = lat_cpu_unit(n->s, unit),
                              .r = lat_cpu_unit(n->r, unit),
                              .p = lat_cpu_unit(n->p, unit),
                              .q = lat_cpu_unit(n->q, unit),
                              .rows = n->rows + first * (size_t)lat_newton_row(n->newton.nc)};
    for (int i = 0; i < LAT_MAX_DIMS; i++)
        r.f.weight[i] = (float)n->work.weight[i];
    r.hermitian = n->hermitian + first * (size_t)(n->newton.nc * n->newton.nc);
    r.sums = n->sums + (size_t)unit * n->chunks * 2;
    return r;
}

/* Steps from g, which is in both grids. g[0] is the result. */
static int run_unit(run *r, double theta)
{
    lat_newton_unit *u = r->unit;
    double sums[2];
    int rc = 0;
    gradient(r, 0, sums);
    u->share = sums[0];
    u->square = sums[1];
    u->busy = lat_newton_theta(&r->n->newton, u->square) >= theta;
    if (u->busy)
        over(r, r->f.lay, pass_rotate, 0, sums);
    while (u->busy && rc == 0)
        rc = step(r, theta);
    if (r->now)
        memcpy(r->g[0], r->g[1], r->n->g->unit_bytes);
    return rc;
}

/* Slots whose units are not busy are empty meanwhile: nothing is copied to them and back. */
static void assign_slots(const cpu *n, const lat_newton_unit *unit)
{
    for (int i = 0; i < n->newton.units; i++) {
        lat_grid_assign(n->wide, i, !unit || unit[i].busy ? i : -1);
        lat_grid_assign(n->narrow, i, !unit || unit[i].busy ? i : -1);
    }
}

static int put_all(cpu *n, const lat_field *g)
{
    return lat_dfield_put(n->w, 0, n->newton.links, NULL) || lat_dfield_put(n->e, 0, g, NULL)
                   || lat_dfield_put(n->g, 0, g, NULL)
               ? -1
               : 0;
}

static int run_units(const cpu *n, lat_newton_unit *unit, double theta)
{
    const int units = n->newton.units;
    int rc = 0;
    /* A parallel region in another one has one thread. */
#pragma omp parallel for schedule(dynamic) reduction(| : rc) if (units >= 2 * lat_threads())
    for (int i = 0; i < units; i++) {
        run r = run_of(n, i);
        r.unit = &unit[i];
        if (unit[i].busy)
            rc |= run_unit(&r, theta);
    }
    return rc ? -1 : 0;
}

static int cpu_run(lat_newton *newton, lat_fixer *from, int copy, lat_field *g,
                   lat_newton_unit *unit, double theta)
{
    cpu *n = (cpu *)newton;
    if (from && (from->ops->get(from, copy, g) || lat_transform_project(g)))
        return -1;
    assign_slots(n, unit);
    if (put_all(n, g) || run_units(n, unit, theta) || lat_dfield_get(n->g, 0, g, true))
        return -1;
    return from && !lat_newton_ended(newton, unit, theta) ? from->ops->set(from, copy, g) : 0;
}

/* ---- for check programs ---------------------------------------------------------------------- */

static int cpu_apply(lat_newton *newton, lat_field *g, float *out, const float *in)
{
    cpu *n = (cpu *)newton;
    const size_t reals = newton->sites * (size_t)lat_newton_row(newton->nc);
    double unused[2];
    assign_slots(n, NULL);
    if (put_all(n, g))
        return -1;
    for (int unit = 0; unit < newton->units; unit++, in += reals, out += reals) {
        run r = run_of(n, unit);
        gradient(&r, 0, unused);
        over(&r, r.f.lay, pass_rotate, 0, unused);
        memcpy(r.f.rows, in, reals * sizeof *in);
        over(&r, r.f.lay, pass_begin, -1, unused); /* rows stay; p = 0 */
        over(&r, r.f.lay, pass_direction, 0, unused);
        over(&r, r.f.lay, pass_hop, 0, unused);
        r.f.s = r.f.q;
        over(&r, r.f.lay, pass_take, 0, unused);
        memcpy(out, r.f.rows, reals * sizeof *out);
    }
    return 0;
}

static int cpu_precondition(lat_newton *newton, float *v, double *dot)
{
    cpu *n = (cpu *)newton;
    const size_t reals = newton->sites * (size_t)lat_newton_row(newton->nc);
    int rc = 0;
    for (int unit = 0; unit < newton->units && rc == 0; unit++, v += reals) {
        memcpy(n->rows, v, reals * sizeof *v); /* aligned */
        rc = lat_laplace_single_invert(n->laplace, n->rows, &dot[unit]);
        memcpy(v, n->rows, reals * sizeof *v);
    }
    return rc;
}

/* ---- opening --------------------------------------------------------------------------------- */

static const lat_newton_side side = {cpu_close, cpu_run, cpu_apply, cpu_precondition};

lat_newton *lat_newton_cpu(lat_device *dev, const lat_field *u, const lat_condition *c)
{
    cpu *n = calloc(1, sizeof *n);
    if (!n) {
        lat_fail("out of memory: Newton's method");
        return NULL;
    }
    n->newton = (lat_newton){
        .side = &side, .dev = dev, .condition = *c, .links = u, .nc = u->head.nc};
    n->device = *dev;
    n->device.options.check = false;
    n->ops = lat_newton_lanes_table[lat_isa_widest()][u->head.nc];
    const lat_grid_spec wide = {.lattice = u->head.geom,
                                .storage = LAT_STORAGE_DOUBLE,
                                .across = c->time},
                        narrow = {.lattice = u->head.geom,
                                  .storage = LAT_STORAGE_SINGLE,
                                  .across = c->time};
    n->wide = lat_grid_new(&n->device, &wide);
    n->narrow = lat_grid_new(&n->device, &narrow);
    if (n->wide && n->narrow) {
        n->newton.units = n->wide->slices;
        n->newton.sites = lat_volume(&n->wide->slot);
    }
    if (!n->newton.units || open_double(n) || open_single(n) || open_rows(n)) {
        cpu_close(&n->newton);
        return NULL;
    }
    return &n->newton;
}
