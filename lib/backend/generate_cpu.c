/* SPDX-License-Identifier: BSD-3-Clause */
/* generate_cpu.c: configurations on the CPU: links in vector lanes, blocks shared out among threads. An
 * update of one direction and parity reads none of the links it writes, so results do not depend on
 * the number of threads; sums are taken over fixed groups of blocks, in order, for the same reason. */
#include "generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "common/error.h"
#include "host.h"
#include "links.h"
#include "site/sun.h"

#define GROUP 32 /* blocks a partial sum */

typedef struct cpu {
    lat_generator gen;
    const lat_link_ops *ops;
    lat_action action;
    lat_layout *lay;
    lat_link_work work;
    int groups;
    double *partial; /* [groups][2] */
    char words[32];
} cpu;

static const lat_link_ops *const *const tables[] = {
    [LAT_ISA_BASE] = lat_links_base,
#if defined(__x86_64__)
    [LAT_ISA_AVX2] = lat_links_avx2, [LAT_ISA_AVX512] = lat_links_avx512,
#endif
};

static void cpu_close(lat_generator *gen)
{
    cpu *c = (cpu *)gen;
    if (!c)
        return;
    lat_layout_free(c->lay);
    free(c->work.u);
    free(c->partial);
    free(c);
}

static lat_in_lanes in_lanes(const cpu *c)
{
    return (lat_in_lanes){c->work.u, c->ops->real, c->lay->lanes, 2 * c->ops->rows * c->ops->nc * c->lay->geom.nd};
}

static void load(const cpu *c, const lat_field *u)
{
    const lat_layout *lay = c->lay;
    const int nd = lay->geom.nd, elements = 2 * c->ops->rows * c->ops->nc;
    const lat_in_lanes a = in_lanes(c);
#pragma omp parallel for schedule(static)
    for (int b = 0; b < lay->nblocks; b++)
        for (int l = 0; l < lay->lanes; l++)
            for (int mu = 0; mu < nd; mu++) {
                double m[LAT_SUN_REALS];
                const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
                if (site < 0)
                    lat_sun_one(c->ops->nc, m);
                else
                    lat_field_get(u, (size_t)site * (size_t)nd + (size_t)mu, m);
                for (int e = 0; e < elements; e++)
                    lat_lane_put(a, b, l, mu * elements + e, m[e]);
            }
}

static int cpu_get(lat_generator *gen, lat_field *u)
{
    const cpu *c = (const cpu *)gen;
    const lat_layout *lay = c->lay;
    const int nd = lay->geom.nd, nc = c->ops->nc, elements = 2 * c->ops->rows * nc;
    const lat_in_lanes a = in_lanes(c);
#pragma omp parallel for schedule(static)
    for (int b = 0; b < lay->nblocks; b++)
        for (int l = 0; l < lay->lanes; l++)
            for (int mu = 0; mu < nd; mu++) {
                double m[LAT_SUN_REALS];
                const int64_t site = lay->site[(int64_t)b * lay->lanes + l];
                for (int e = 0; e < elements; e++)
                    m[e] = lat_lane_get(a, b, l, mu * elements + e);
                if (c->ops->rows < nc)
                    lat_sun_complete(nc, m);
                if (site >= 0)
                    lat_field_put(u, (size_t)site * (size_t)nd + (size_t)mu, m);
            }
    return 0;
}

static lat_generator *cpu_open(const lat_field *u, lat_real real, const lat_action *action, const lat_comm *comm)
{
    const lat_isa isa = lat_isa_widest();
    if (u->head.nc > LAT_LINKS_MOST) {
        lat_fail("SU(%d): the CPU backend makes SU(2) to SU(%d)", u->head.nc, LAT_LINKS_MOST);
        return NULL;
    }
    const lat_link_ops *ops = tables[isa][u->head.nc] + (real == LAT_F64);
    cpu *c = calloc(1, sizeof *c);
    if (!c) {
        lat_fail("out of memory: a generator");
        return NULL;
    }
    *c = (cpu){.gen = {&lat_generate_cpu, comm}, .ops = ops, .action = *action};
    snprintf(c->words, sizeof c->words, "cpu %s", lat_isa_name(isa));
    c->lay = lat_layout_new(&u->head.geom, ops->lanes);
    if (c->lay) {
        const size_t slots = (size_t)c->lay->nblocks * (size_t)c->lay->lanes;
        const size_t bytes = 2 * (size_t)(ops->rows * ops->nc * u->head.geom.nd) * (size_t)real;
        c->groups = (c->lay->nblocks + GROUP - 1) / GROUP;
        c->work = (lat_link_work){c->lay, lat_alloc(slots, bytes, "the links in lanes"), {1 / action->xi, action->xi}};
        c->partial = lat_alloc((size_t)c->groups, 2 * sizeof *c->partial, "partial sums");
    }
    if (!c->work.u || !c->partial) {
        cpu_close(&c->gen);
        return NULL;
    }
    load(c, u);
    return &c->gen;
}

static const char *cpu_words(const lat_generator *gen)
{
    return ((const cpu *)gen)->words;
}

/* What the caller has of blocks begin..end-1 in its team. */
static void share(int begin, int end, int *from, int *to)
{
    int64_t first, next;
    lat_team_share(end - begin, &first, &next);
    *from = begin + (int)first;
    *to = begin + (int)next;
}

static int cpu_sweep(lat_generator *gen, const lat_update *how, long n)
{
    static const int kind[] = {[LAT_UPDATE_HEATBATH] = LAT_HEAT_BATH, [LAT_UPDATE_OVERRELAX] = LAT_HEAT_MICRO,
                               [LAT_UPDATE_METROPOLIS] = LAT_HEAT_METROPOLIS};
    const cpu *c = (const cpu *)gen;
    const int neven = c->lay->neven, nblocks = c->lay->nblocks;
    lat_meeting m = {0};
#pragma omp parallel
    {
        lat_link_how lane = {c->action.beta / c->ops->nc, kind[how->kind], how->seed, how->copy, how->step};
        int from, to;
        for (long i = 0; i < n; i++, lane.step++)
            for (int mu = 0; mu < c->lay->geom.nd; mu++)
                for (int odd = 0; odd < 2; odd++) {
                    share(odd ? neven : 0, odd ? nblocks : neven, &from, &to);
                    c->ops->update(&c->work, mu, from, to, &lane);
                    lat_meet(&m, lat_team_size());
                }
        if (c->ops->nc > 3) { /* of others an update leaves nothing to do (site/link.h) */
            share(0, nblocks, &from, &to);
            c->ops->reunit(&c->work, from, to);
        }
    }
    return 0;
}

static int cpu_plaquette(lat_generator *gen, double *spatial, double *temporal)
{
    const cpu *c = (const cpu *)gen;
    const int nd = c->lay->geom.nd;
    double sum[3] = {0, 0, (double)lat_volume(&c->lay->geom) * c->ops->nc};
#pragma omp parallel for schedule(static)
    for (int i = 0; i < c->groups; i++) {
        const int begin = i * GROUP, end = begin + GROUP;
        double *p = c->partial + 2 * i;
        p[0] = p[1] = 0;
        c->ops->plaquette(&c->work, begin, end < c->lay->nblocks ? end : c->lay->nblocks, p);
    }
    for (int i = 0; i < 2 * c->groups; i++)
        sum[i % 2] += c->partial[i];
    if (gen->comm->sum(gen->comm, sum, 3))
        return -1;
    *spatial = nd > 2 ? sum[0] / (sum[2] * ((nd - 1) * (nd - 2) / 2)) : NAN;
    *temporal = nd > 1 ? sum[1] / (sum[2] * (nd - 1)) : NAN;
    return 0;
}

const lat_generate lat_generate_cpu = {
    "cpu", cpu_open, cpu_close, cpu_words, cpu_sweep, cpu_plaquette, cpu_get,
};
