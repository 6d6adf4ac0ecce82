/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.c: the CPU backend: fields in vector lanes, blocks shared out among threads.
 *
 * The lanes of the widest vectors this processor has are used (host.h). A half sweep reads g of
 * one parity and writes the other, so its result does not depend on the number of threads; sums
 * are taken over fixed groups of blocks, in order, for the same reason. */
#include "backend.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/error.h"
#include "host.h"
#include "lanes.h"
#include "site/sun.h"

#define GROUP 32 /* blocks a partial sum */

/* Slices that are fixed independently are lattices of their own, of one dimension less, one after
 * the other in memory; otherwise the whole lattice is one slice. A unit is a slice of a copy, number
 * copy * slices + slice: g and what is known of it; units of a slice share its links. */
typedef struct cpu {
    lat_device dev;
    const lat_lane_ops *ops;
    lat_condition condition;
    lat_geometry geom;          /* of the lattice */
    int axis[LAT_MAX_DIMS];     /* which axis of the lattice an axis of a slice is */
    lat_layout *lay;            /* of a slice */
    lat_lane_work work;         /* of slice 0 */
    size_t link_bytes, g_bytes; /* of a slice */
    int64_t *site;              /* [slices][blocks][lanes]: global sites */
    int slices, copies, units;
    int groups;                 /* groups of blocks of a slice */
    double *partial;            /* [units][groups][3]: sums and maximum */
    double *theta;              /* [units] */
    int *active, nactive;       /* units that are swept */
    char words[32];
} cpu;

static lat_lane_work unit_work(const cpu *c, int unit)
{
    const size_t slice = (size_t)(unit % c->slices);
    lat_lane_work w = c->work;
    w.u = (const char *)w.u + slice * c->link_bytes;
    w.g = (char *)w.g + (size_t)unit * c->g_bytes;
    w.site = c->site + slice * (size_t)c->lay->nblocks * (size_t)c->lay->lanes;
    return w;
}

/* The lattice's site for a slice's. */
static size_t global_site(const cpu *c, int slice, int64_t site)
{
    int x[LAT_MAX_DIMS], y[LAT_MAX_DIMS] = {0};
    if (c->condition.time < 0)
        return (size_t)site;
    lat_coordinates(&c->lay->geom, (size_t)site, x);
    for (int i = 0; i < c->lay->geom.nd; i++)
        y[c->axis[i]] = x[i];
    y[c->condition.time] = slice;
    return lat_site(&c->geom, y);
}

/* The larger one; NaN is larger than anything. */
static double worse(double a, double b)
{
    return isnan(a) || a >= b ? a : b;
}

/* ---- which lanes ---- */

static const lat_lane_ops *const *const tables[] = {
    [LAT_ISA_BASE] = lat_lanes_base,
#if defined(__x86_64__)
    [LAT_ISA_AVX2] = lat_lanes_avx2, [LAT_ISA_AVX512] = lat_lanes_avx512,
#endif
};

/* ---- fields to lanes and back ---- */

/* Largest |U - the SU(3) matrix that U's first two rows make|, over all links: if it is rounding,
 * two rows will do. NaN counts as large. */
static bool two_rows_suffice(const lat_field *u, lat_real real)
{
    if (u->head.nc != 3)
        return false;
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
        lat_sun_third_row(t);
        for (int e = 12; e < 18; e++)
            bad |= !(fabs(t[e] - m[e]) <= bound);
    }
    return !bad;
}

static void load_links(const cpu *c, const lat_field *u, int slice)
{
    const lat_layout *lay = c->lay;
    const lat_lane_work w = unit_work(c, slice);
    const int nd = lay->geom.nd, nc = u->head.nc, rows = w.rows, link = 2 * rows * nc;
    const size_t all = (size_t)c->geom.nd;
    const lat_in_lanes a = {(void *)w.u, c->ops->real, lay->lanes, 2 * nd * link};
#pragma omp parallel for schedule(static)
    for (int b = 0; b < lay->nblocks; b++)
        for (int l = 0; l < lay->lanes; l++) {
            const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
            const size_t x = site < 0 ? 0 : global_site(c, slice, site);
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

static int cpu_set(lat_device *dev, int copy, const lat_field *g)
{
    const cpu *c = (const cpu *)dev;
    const lat_layout *lay = c->lay;
    const int nc = c->ops->nc, elements = 2 * nc * nc;
#pragma omp parallel for collapse(2) schedule(static)
    for (int slice = 0; slice < c->slices; slice++)
        for (int b = 0; b < lay->nblocks; b++) {
            const lat_in_lanes a = {unit_work(c, copy * c->slices + slice).g, c->ops->real, lay->lanes, elements};
            for (int l = 0; l < lay->lanes; l++) {
                double m[LAT_SUN_REALS];
                const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
                if (g && site >= 0)
                    lat_field_get(g, global_site(c, slice, site), m);
                else
                    lat_sun_one(nc, m);
                for (int e = 0; e < elements; e++)
                    lat_lane_put(a, b, l, e, m[e]);
            }
        }
    return 0;
}

static int cpu_get(lat_device *dev, int copy, lat_field *g)
{
    const cpu *c = (const cpu *)dev;
    const lat_layout *lay = c->lay;
    const int nc = c->ops->nc, elements = 2 * nc * nc;
#pragma omp parallel for collapse(2) schedule(static)
    for (int slice = 0; slice < c->slices; slice++)
        for (int b = 0; b < lay->nblocks; b++) {
            const lat_in_lanes a = {unit_work(c, copy * c->slices + slice).g, c->ops->real, lay->lanes, elements};
            for (int l = 0; l < lay->lanes; l++) {
                double m[LAT_SUN_REALS];
                const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
                for (int e = 0; e < elements; e++)
                    m[e] = lat_lane_get(a, b, l, e);
                if (site >= 0)
                    lat_field_put(g, global_site(c, slice, site), m);
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
    lat_layout_free(c->lay);
    free((void *)c->work.u);
    free(c->work.g);
    free(c->site);
    free(c->partial);
    free(c->theta);
    free(c->active);
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

static int cpu_allocate(cpu *c, const lat_field *u, lat_real real)
{
    const lat_geometry slice = slice_geometry(c);
    c->slices = lat_condition_slices(&c->condition, &c->geom);
    if (c->copies > INT_MAX / c->slices)
        return lat_fail("%d copies of %d slices each are too many at once", c->copies, c->slices);
    c->units = c->copies * c->slices;
    c->lay = lat_layout_new(&slice, c->ops->lanes);
    if (!c->lay)
        return -1;
    const size_t slots = (size_t)c->lay->nblocks * (size_t)c->ops->lanes, nc = (size_t)c->ops->nc;
    const size_t rows = two_rows_suffice(u, real) ? 2 : nc, n = (size_t)c->slices;
    const size_t units = (size_t)c->units;
    c->link_bytes = slots * (size_t)(2 * slice.nd) * 2 * rows * nc * (size_t)real;
    c->g_bytes = slots * 2 * nc * nc * (size_t)real;
    c->groups = (c->lay->nblocks + GROUP - 1) / GROUP;
    c->work = (lat_lane_work){
        .lay = c->lay, .u = lat_alloc(n, c->link_bytes, "the links in lanes"),
        .g = lat_alloc(units, c->g_bytes, "g in lanes"), .rows = (int)rows,
        .problem = c->condition.gauge == LAT_MAG ? LAT_ABELIAN : LAT_LINEAR};
    for (int i = 0; i < slice.nd; i++)
        c->work.weight[i] = c->condition.weight[c->axis[i]];
    c->partial = lat_alloc(units * (size_t)c->groups, 3 * sizeof *c->partial, "partial sums");
    c->site = lat_alloc(n * slots, sizeof *c->site, "the table of sites");
    c->theta = lat_alloc(units, sizeof *c->theta, "partial sums");
    c->active = lat_alloc(units, sizeof *c->active, "the list of slices");
    if (!c->work.u || !c->work.g || !c->partial || !c->site || !c->theta || !c->active)
        return -1;
    for (int i = 0; i < c->units; i++)
        c->active[c->nactive++] = i;
    for (int s = 0; s < c->slices; s++)
        for (size_t i = 0; i < slots; i++)
            c->site[(size_t)s * slots + i] = c->lay->site[i] < 0 ? -1 : (int64_t)global_site(c, s, c->lay->site[i]);
    return 0;
}

static lat_device *cpu_open(const lat_field *u, const lat_condition *condition, lat_real real, int copies,
                            const lat_comm *comm)
{
    const lat_isa isa = lat_isa_widest();
    if (u->head.nc < 2 || u->head.nc > LAT_LANES_MOST) {
        lat_fail("SU(%d): the CPU backend of this version relaxes SU(2) to SU(%d)", u->head.nc, LAT_LANES_MOST);
        return NULL;
    }
    if (comm->size > 1) {
        lat_fail("%d ranks: not yet on the CPU", comm->size);
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

static const char *cpu_words(const lat_device *dev)
{
    return ((const cpu *)dev)->words;
}

/* A parity of a slice, shared out among the threads of the team. */
static void sweep_shared(const cpu *c, const lat_lane_work *w, const lat_lane_how *how, int begin, int end, lat_meeting *m)
{
    const int team = lat_team_size(), me = lat_team_place();
    const int64_t n = end - begin;
    const int from = begin + (int)(n * me / team), to = begin + (int)(n * (me + 1) / team);
    c->ops->sweep(w, from, to, how);
    lat_meet(m, team);
}

/* What the sweeps of a unit are: of its copy. */
static lat_lane_how unit_how(const cpu *c, const lat_sweep *how, int unit)
{
    static const int draw[] = {[LAT_SWEEP_HEATBATH] = LAT_HEAT_BATH, [LAT_SWEEP_MICRO] = LAT_HEAT_MICRO,
                               [LAT_SWEEP_METROPOLIS] = LAT_HEAT_METROPOLIS};
    const int copy = unit / c->slices;
    const bool relax = how->kind == LAT_SWEEP_RELAX;
    return (lat_lane_how){
        .scheme = !relax ? LAT_DRAW : how->scheme == LAT_OVERRELAX_SU2 ? LAT_RELAX_SU2 : LAT_RELAX_SUN,
        .omega = relax ? how->omega[copy] : 1, .stochastic = relax ? how->stochastic : 0, .draw = draw[how->kind],
        .beta = 1 / how->temperature, .seed = how->seed + (uint64_t)copy, .config = how->config, .step = how->step};
}

static int cpu_sweep(lat_device *dev, const lat_sweep *how, long n)
{
    const cpu *c = (const cpu *)dev;
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
    lat_meeting m = {0};
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

/* The sums of a copy, all slices together; theta of each goes to c->theta. */
static int copy_state(cpu *c, int copy, lat_gauge_state *s)
{
    const double sites = (double)lat_volume(&c->lay->geom);
    double sum[3] = {0, 0, sites * c->slices}, max[2] = {0, 0};
    for (int unit = copy * c->slices; unit < (copy + 1) * c->slices; unit++) {
        double theta = 0;
        for (int i = 0; i < c->groups; i++) {
            const double *p = c->partial + 3 * ((size_t)unit * (size_t)c->groups + (size_t)i);
            sum[0] += p[0];
            theta += p[1];
            max[0] = worse(max[0], p[2]);
        }
        sum[1] += theta;
        c->theta[unit] = theta / sites;
        max[1] = worse(max[1], c->theta[unit]);
    }
    const lat_comm *comm = c->dev.comm;
    if (comm->sum(comm, sum, 3) || comm->max(comm, max, 2))
        return -1;
    const double links = c->condition.gauge == LAT_MAG ? c->geom.nd : lat_condition_weights(&c->condition);
    s->functional = sum[0] / (2 * c->ops->nc * links * sum[2]);
    s->theta = sum[1] / sum[2];
    s->theta_max = max[0];
    s->theta_slice = max[1];
    return 0;
}

static int cpu_state(lat_device *dev, lat_gauge_state *s, double *slices)
{
    cpu *c = (cpu *)dev;
#pragma omp parallel for collapse(2) schedule(static)
    for (int unit = 0; unit < c->units; unit++)
        for (int i = 0; i < c->groups; i++) {
            const lat_lane_work w = unit_work(c, unit);
            const int begin = i * GROUP, end = begin + GROUP;
            double *p = c->partial + 3 * ((size_t)unit * (size_t)c->groups + (size_t)i);
            p[0] = p[1] = p[2] = 0;
            c->ops->state(&w, begin, end < c->lay->nblocks ? end : c->lay->nblocks, p, p + 2);
        }
    for (int copy = 0; copy < c->copies; copy++)
        if (copy_state(c, copy, s + copy))
            return -1;
    if (slices)
        memcpy(slices, c->theta, (size_t)c->units * sizeof *slices);
    return 0;
}

static long cpu_freeze(lat_device *dev, const double *theta)
{
    cpu *c = (cpu *)dev;
    c->nactive = 0;
    for (int i = 0; i < c->units; i++)
        if (!(c->theta[i] < theta[i / c->slices]))
            c->active[c->nactive++] = i;
    return c->nactive;
}

static bool cpu_available(void)
{
    return true;
}

const lat_backend lat_backend_cpu = {
    "cpu", NULL, NULL, NULL, cpu_available, cpu_open, cpu_close, cpu_words, cpu_set, cpu_get, cpu_sweep, cpu_state, cpu_freeze,
};
