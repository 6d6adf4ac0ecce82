/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu_grid.c: the CPU as a device: grids, fields in lanes, host fields in and out. */
#include "cpu_grid.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/isa.h"
#include "base/memory.h"
#include "cpu_halo.h"
#include "grid_internal.h"
#include "site/sun.h"

/* ---- the device ------------------------------------------------------------------------------ */

lat_device *lat_device_cpu(const lat_device_options *options, const lat_comm *comm)
{
    lat_device *dev = lat_alloc_zero(1, sizeof *dev, "a device");
    if (!dev)
        return NULL;
    *dev = (lat_device){.grid = &lat_grid_cpu, .comm = comm, .options = *options};
    char ranks[32] = "";
    if (comm->size > 1)
        snprintf(ranks, sizeof ranks, ", %d ranks", comm->size);
    snprintf(dev->name, sizeof dev->name, "cpu %s%s", lat_isa_name(lat_isa_widest()), ranks);
    return dev;
}

static void cpu_close(lat_device *dev) { free(dev); }

/* ---- grids ----------------------------------------------------------------------------------- */

static int vector_bytes(lat_isa isa)
{
    switch (isa) {
    case LAT_ISA_BASE: return 16;
    case LAT_ISA_AVX2: return 32;
    case LAT_ISA_AVX512: return 64;
    }
    return 16;
}

static void cpu_grid_free(lat_grid *grid)
{
    lat_cpu_grid *g = (lat_cpu_grid *)grid;
    lat_layout_free(g->lay);
    LAT_FREE(g->site, g->numbers, g);
}

static lat_grid *cpu_grid_new(const lat_grid *common)
{
    if (common->spec.storage == LAT_STORAGE_HALF)
        return lat_fail_null("half precision: expected a GPU, found the CPU");
    lat_cpu_grid *g = lat_alloc_zero(1, sizeof *g, "a grid");
    if (!g)
        return NULL;
    g->grid = *common;
    lat_own own = {.count = {0}};
    for (int i = 0; i < common->slot.nd; i++) {
        own.first[i] = common->box.first[common->axis[i]];
        own.count[i] = common->here.dims[i];
        own.cut[i] = common->cut[i];
    }
    g->lay = lat_layout_new(&common->slot, common->halo ? &own : NULL,
                            vector_bytes(lat_isa_widest())
                                / (int)lat_storage_bytes(common->spec.storage));
    if (!g->lay) {
        cpu_grid_free(&g->grid);
        return NULL;
    }
    g->blocks = g->lay->nblocks + g->lay->nghost;
    return &g->grid;
}

/* The lattice's index of a site of a slot. */
static int64_t global_site(const lat_cpu_grid *g, int slot, int64_t site)
{
    const lat_grid *grid = &g->grid;
    const lat_geometry *all = &grid->spec.lattice;
    int x[LAT_MAX_DIMS], y[LAT_MAX_DIMS] = {0};
    if (site < 0 || (grid->spec.across < 0 && !grid->halo))
        return site;
    lat_coordinates(&g->lay->geom, (size_t)site, x);
    for (int i = 0; i < g->lay->geom.nd; i++) {
        const int mu = grid->axis[i], n = all->dims[mu];
        y[mu] = grid->halo ? (x[i] + grid->box.first[mu] - grid->cut[i] + n) % n : x[i];
    }
    if (grid->spec.across >= 0)
        y[grid->spec.across] = grid->slice[slot];
    return (int64_t)lat_site(all, y);
}

static void cpu_assigned(lat_grid *grid, int slot)
{
    const lat_cpu_grid *g = lat_cpu(grid);
    const size_t n = (size_t)g->blocks * (size_t)g->lay->lanes;
    for (size_t i = 0; i < n; i++)
        g->site[(size_t)slot * n + i] = global_site(g, slot, g->lay->local[i]);
}

static int cpu_slots_changed(lat_grid *grid)
{
    lat_cpu_grid *g = (lat_cpu_grid *)grid;
    free(g->site);
    g->site = lat_alloc((size_t)grid->slots,
                        (size_t)g->blocks * (size_t)g->lay->lanes * sizeof *g->site,
                        "the table of sites");
    if (!g->site)
        return -1;
    for (int slot = 0; slot < grid->slots; slot++)
        if (grid->slice[slot] >= 0)
            cpu_assigned(grid, slot);
    return 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static size_t cpu_unit_bytes(const lat_grid *grid, lat_shape shape)
{
    const lat_cpu_grid *g = lat_cpu(grid);
    const int blocks = shape.ghosts ? g->blocks : g->lay->nblocks;
    return (size_t)blocks * (size_t)g->lay->lanes * (size_t)(shape.objects * shape.reals)
           * lat_storage_bytes(grid->spec.storage);
}

static void *cpu_field_alloc(LAT_UNUSED lat_dfield *f, size_t bytes, const char *what)
{
    return lat_alloc(1, bytes, what);
}

static void cpu_field_free(lat_dfield *f) { free(f->data); }

static lat_lane_view view(const lat_dfield *f, int unit)
{
    return (lat_lane_view){lat_cpu_unit(f, unit),
                           (int)lat_storage_bytes(f->grid->spec.storage), /* 4 or 8 */
                           lat_cpu(f->grid)->lay->lanes, f->shape.objects * f->shape.reals};
}

/* Object k of a site of the host field: links along axis k, at both ends those before the site too;
 * or the one matrix. */
static void host_matrix(const lat_dfield *f, const lat_field *host, size_t x, int k, double *m)
{
    const int nd = f->grid->slot.nd, all = f->grid->spec.lattice.nd;
    double d[LAT_SUN_REALS];
    if (host->head.kind != LAT_GAUGE) {
        lat_field_get(host, x, m);
        return;
    }
    const int mu = f->grid->axis[k % nd];
    if (k < nd) {
        lat_field_get(host, x * (size_t)all + (size_t)mu, m);
        return;
    }
    lat_field_get(host, lat_field_next(host, x, mu, -1) * (size_t)all + (size_t)mu, d);
    lat_sun_dag(host->head.nc, m, d);
}

/* A block of a slot, from the host field. */
static void put_block(lat_dfield *f, int unit, int b, const lat_field *host, const double *weight)
{
    const lat_cpu_grid *g = lat_cpu(f->grid);
    const int lanes = g->lay->lanes, reals = f->shape.reals;
    const int64_t *site = lat_cpu_sites(g, unit % f->grid->slots) + (size_t)b * (size_t)lanes;
    for (int l = 0; l < lanes; l++) {
        const size_t x = host && site[l] >= 0 ? lat_field_index(host, (size_t)site[l]) : 0;
        for (int k = 0; k < f->shape.objects; k++) {
            double m[LAT_SUN_REALS];
            if (host && site[l] >= 0)
                host_matrix(f, host, x, k, m);
            else
                lat_sun_one(f->shape.nc, m);
            const double w = weight ? weight[f->grid->axis[k % f->grid->slot.nd]] : 1;
            for (int e = 0; e < reals; e++)
                m[e] *= w;
            lat_lane_put_row(view(f, unit), b, l, k * reals, reals, m);
        }
    }
}

static int cpu_put(lat_dfield *f, int member, const lat_field *host, const double *weight)
{
    const lat_cpu_grid *g = lat_cpu(f->grid);
    const int slots = f->grid->slots, own = g->lay->nblocks;
    /* Ghosts come with the exchange after this; until then they are unit matrices. */
    const int blocks = f->shape.ghosts ? g->blocks : own;
#pragma omp parallel for collapse(2) schedule(static)
    for (int slot = 0; slot < slots; slot++)
        for (int b = 0; b < blocks; b++)
            if (f->grid->slice[slot] >= 0)
                put_block(f, member * slots + slot, b, b < own ? host : NULL, weight);
    return 0;
}

static void get_block(const lat_dfield *f, int unit, int b, lat_field *host)
{
    const lat_cpu_grid *g = lat_cpu(f->grid);
    const int lanes = g->lay->lanes, nd = f->grid->spec.lattice.nd, nc = f->shape.nc,
              reals = f->shape.reals;
    const int64_t *site = lat_cpu_sites(g, unit % f->grid->slots) + (size_t)b * (size_t)lanes;
    for (int l = 0; l < lanes; l++) {
        if (site[l] < 0)
            continue;
        const size_t x = lat_field_index(host, (size_t)site[l]);
        for (int k = 0; k < f->shape.objects; k++) {
            double m[LAT_SUN_REALS];
            lat_lane_get_row(view(f, unit), b, l, k * reals, reals, m);
            if (reals < 2 * nc * nc)
                lat_sun_complete(nc, m);
            lat_field_put(
                host, host->head.kind == LAT_GAUGE ? x * (size_t)nd + (size_t)f->grid->axis[k] : x,
                m);
        }
    }
}

static int cpu_get(const lat_dfield *f, int member, lat_field *host)
{
    const lat_cpu_grid *g = lat_cpu(f->grid);
    const int slots = f->grid->slots;
#pragma omp parallel for collapse(2) schedule(static)
    for (int slot = 0; slot < slots; slot++)
        for (int b = 0; b < g->lay->nblocks; b++)
            if (f->grid->slice[slot] >= 0)
                get_block(f, member * slots + slot, b, host);
    return 0;
}

static int cpu_migrate(lat_dfield *f, int unit, int rank, bool send)
{
    const lat_comm *comm = f->grid->dev->comm;
    void *p = lat_cpu_unit(f, unit);
    return send ? comm->send(comm, rank, p, f->unit_bytes)
                : comm->receive(comm, rank, p, f->unit_bytes);
}

const lat_grid_ops lat_grid_cpu = {
    .close = cpu_close,
    .grid_new = cpu_grid_new,
    .grid_free = cpu_grid_free,
    .slots_changed = cpu_slots_changed,
    .assigned = cpu_assigned,
    .unit_bytes = cpu_unit_bytes,
    .field_alloc = cpu_field_alloc,
    .field_free = cpu_field_free,
    .put = cpu_put,
    .get = cpu_get,
    .migrate = cpu_migrate,
    .halo_new = lat_cpu_halo_new,
    .halo_free = lat_cpu_halo_free,
    .halo_exchange = lat_cpu_halo_exchange,
};
