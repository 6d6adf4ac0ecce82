/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu.c: the CPU backend: fields in vector lanes, blocks shared out among threads.
 *
 * The lanes of the widest vectors this processor has are used; LAT_LANES=base or avx2 in the
 * environment chooses narrower ones. A half sweep reads g of one parity and writes the other,
 * so its result does not depend on the number of threads; sums are taken over fixed groups
 * of blocks, in order, for the same reason. */
#include "backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/error.h"
#include "lanes.h"
#include "site/sun.h"

#define GROUP 32 /* blocks a partial sum */

typedef struct cpu {
    lat_device dev;
    const lat_lane_ops *ops;
    lat_layout *lay;
    lat_lane_work work;
    double *partial;    /* [groups][3]: sums and maximum */
    int groups;
    char words[32];
} cpu;

/* ---- which lanes ---- */

typedef struct isa { const char *name; const lat_lane_ops *ops; } isa;

static isa widest(void)
{
    const char *wish = getenv("LAT_LANES");
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && (!wish || !strcmp(wish, "avx512")))
        return (isa){"avx512", lat_lanes_avx512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && (!wish || strcmp(wish, "base")))
        return (isa){"avx2", lat_lanes_avx2};
#else
    (void)wish;
#endif
    return (isa){"base", lat_lanes_base};
}

/* ---- fields to lanes and back ---- */

typedef struct lanes_of { void *p; int real, lanes, elements; } lanes_of;

static void put(lanes_of a, int64_t block, int lane, int e, double v)
{
    int64_t i = (block * a.elements + e) * a.lanes + lane;
    if (a.real == 4)
        ((float *)a.p)[i] = (float)v;
    else
        ((double *)a.p)[i] = v;
}

static double get(lanes_of a, int64_t block, int lane, int e)
{
    int64_t i = (block * a.elements + e) * a.lanes + lane;
    return a.real == 4 ? (double)((const float *)a.p)[i] : ((const double *)a.p)[i];
}

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

static void load_links(cpu *c, const lat_field *u, void *to)
{
    const lat_layout *lay = c->lay;
    const int nd = lay->geom.nd, nc = u->head.nc, rows = c->work.rows, link = 2 * rows * nc;
    const lanes_of a = {to, c->ops->real, lay->lanes, 2 * nd * link};
#pragma omp parallel for schedule(static)
    for (int b = 0; b < lay->nblocks; b++)
        for (int l = 0; l < lay->lanes; l++) {
            int64_t x = lay->site[(int64_t)b * lay->lanes + l];
            for (int k = 0; k < 2 * nd; k++) {
                double m[2 * LAT_MAX_COLOURS * LAT_MAX_COLOURS], d[2 * LAT_MAX_COLOURS * LAT_MAX_COLOURS];
                int mu = k % nd;
                if (x < 0) {
                    lat_sun_one(nc, m);
                } else if (k < nd) {
                    lat_field_get(u, (size_t)x * (size_t)nd + (size_t)mu, m);
                } else {
                    size_t y = lat_neighbour(&lay->geom, (size_t)x, mu, -1);
                    lat_field_get(u, y * (size_t)nd + (size_t)mu, d);
                    lat_sun_dag(nc, m, d);
                }
                for (int e = 0; e < link; e++)
                    put(a, b, l, k * link + e, m[e]);
            }
        }
}

static int cpu_set(lat_device *dev, const lat_field *g)
{
    cpu *c = (cpu *)dev;
    const lat_layout *lay = c->lay;
    const int nc = c->ops->nc, elements = 2 * nc * nc;
    const lanes_of a = {c->work.g, c->ops->real, lay->lanes, elements};
#pragma omp parallel for schedule(static)
    for (int b = 0; b < lay->nblocks; b++)
        for (int l = 0; l < lay->lanes; l++) {
            double m[2 * LAT_MAX_COLOURS * LAT_MAX_COLOURS];
            int64_t x = lay->site[(int64_t)b * lay->lanes + l];
            if (g && x >= 0)
                lat_field_get(g, (size_t)x, m);
            else
                lat_sun_one(nc, m);
            for (int e = 0; e < elements; e++)
                put(a, b, l, e, m[e]);
        }
    return 0;
}

static int cpu_get(lat_device *dev, lat_field *g)
{
    cpu *c = (cpu *)dev;
    const lat_layout *lay = c->lay;
    const int nc = c->ops->nc, elements = 2 * nc * nc;
    const lanes_of a = {c->work.g, c->ops->real, lay->lanes, elements};
#pragma omp parallel for schedule(static)
    for (int b = 0; b < lay->nblocks; b++)
        for (int l = 0; l < lay->lanes; l++) {
            double m[2 * LAT_MAX_COLOURS * LAT_MAX_COLOURS];
            int64_t x = lay->site[(int64_t)b * lay->lanes + l];
            if (x < 0)
                continue;
            for (int e = 0; e < elements; e++)
                m[e] = get(a, b, l, e);
            lat_sun_gram_schmidt(nc, m);
            lat_field_put(g, (size_t)x, m);
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
    free(c->partial);
    free(c);
}

static lat_device *cpu_open(const lat_field *u, lat_real real, const lat_comm *comm)
{
    isa set = widest();
    const lat_lane_ops *ops = set.ops;
    while (ops->nc && (ops->nc != u->head.nc || ops->real != (int)real))
        ops++;
    if (!ops->nc) {
        lat_fail("SU(%d): the CPU backend of this version relaxes SU(2), SU(3) and SU(4)", u->head.nc);
        return NULL;
    }
    cpu *c = calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory");
        return NULL;
    }
    c->dev = (lat_device){&lat_backend_cpu, comm};
    c->ops = ops;
    snprintf(c->words, sizeof c->words, "cpu %s", set.name);
    c->lay = lat_layout_new(&u->head.geom, ops->lanes);
    if (!c->lay)
        goto fail;
    const size_t slots = (size_t)c->lay->nblocks * (size_t)ops->lanes;
    const size_t nc = (size_t)ops->nc, rows = two_rows_suffice(u, real) ? 2 : nc;
    void *links = lat_alloc(slots * (size_t)(2 * u->head.geom.nd), 2 * rows * nc * (size_t)real, "the links in lanes");
    c->groups = (c->lay->nblocks + GROUP - 1) / GROUP;
    c->work = (lat_lane_work){c->lay, links, lat_alloc(slots, 2 * nc * nc * (size_t)real, "g in lanes"), (int)rows};
    c->partial = lat_alloc((size_t)c->groups, 3 * sizeof(double), "partial sums");
    if (!links || !c->work.g || !c->partial)
        goto fail;
    load_links(c, u, links);
    cpu_set(&c->dev, NULL);
    return &c->dev;
fail:
    cpu_close(&c->dev);
    return NULL;
}

static const char *cpu_words(const lat_device *dev)
{
    return ((const cpu *)dev)->words;
}

static int cpu_sweep(lat_device *dev, const lat_sweep *how, long n)
{
    const cpu *c = (const cpu *)dev;
    const int scheme = how->scheme == LAT_OVERRELAX_SU2 ? LAT_RELAX_SU2 : LAT_RELAX_SUN;
    const int neven = c->lay->neven, nblocks = c->lay->nblocks;
    /* Few blocks at a time, so that a thread held up by another program does not hold up all. */
    const int piece = 16;
#pragma omp parallel
    for (long i = 0; i < n; i++)
        for (int begin = 0; begin < nblocks; begin = begin ? nblocks : neven) {
            int end = begin ? nblocks : neven;
#pragma omp for schedule(static)
            for (int b = begin; b < end; b += piece)
                c->ops->sweep(&c->work, b, b + piece < end ? b + piece : end, scheme, how->omega);
        }
    return 0;
}

static int cpu_state(lat_device *dev, lat_gauge_state *s)
{
    const cpu *c = (const cpu *)dev;
    const lat_geometry *geom = &c->lay->geom;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < c->groups; i++) {
        int begin = i * GROUP, end = begin + GROUP;
        double *p = c->partial + 3 * i;
        p[0] = p[1] = p[2] = 0;
        c->ops->state(&c->work, begin, end < c->lay->nblocks ? end : c->lay->nblocks, p, p + 2);
    }
    double sum[3] = {0, 0, (double)lat_volume(geom)}, max = 0;
    for (int i = 0; i < c->groups; i++) {
        sum[0] += c->partial[3 * i];
        sum[1] += c->partial[3 * i + 1];
        if (!(c->partial[3 * i + 2] <= max)) /* NaN stays */
            max = c->partial[3 * i + 2];
    }
    if (dev->comm->sum(dev->comm, sum, 3) || dev->comm->max(dev->comm, &max, 1))
        return -1;
    s->functional = sum[0] / (2.0 * c->ops->nc * geom->nd * sum[2]);
    s->theta = sum[1] / sum[2];
    s->theta_max = max;
    return 0;
}

static bool cpu_available(void)
{
    return true;
}

const lat_backend lat_backend_cpu = {
    "cpu", cpu_available, cpu_open, cpu_close, cpu_words, cpu_set, cpu_get, cpu_sweep, cpu_state,
};
