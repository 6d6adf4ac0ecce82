/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_cpu_fields.c: links and clover blocks of a Dirac operator, from the host into lanes. */
#include <math.h>
#include <string.h>
#include "base/error.h"
#include "base/memory.h"
#include "dirac/clover.h"
#include "dirac/cpu/dirac_cpu.h"
#include "dirac/cpu/host_links.h"
#include "vector/temporal.h"

static lat_lane_view link_lanes_of(const lat_cpu_dirac *c, void *p, int elements)
{
    const lat_grid *grid = c->s->space.grid;
    return (lat_lane_view){p, (int)lat_storage_bytes(grid->spec.storage), lat_cpu(grid)->lay->lanes,
                           elements};
}

static void *new_lanes(const lat_cpu_dirac *c, int elements, const char *what)
{
    const lat_grid *grid = c->s->space.grid;
    const lat_layout *lay = lat_cpu(grid)->lay;
    return lat_alloc((size_t)lay->nblocks * (size_t)lay->lanes,
                     (size_t)elements * lat_storage_bytes(grid->spec.storage), what);
}

/* Links of a site that are wanted soon. Those of the hop back along x are near. */
static void ask_for_links(const lat_field *u, int nc, size_t i)
{
    const size_t nd = (size_t)u->head.geom.nd, bytes = 2 * (size_t)(nc * nc) * (size_t)u->head.real;
    const char *data = u->data;
    for (size_t k = 0; k < nd * bytes; k += 64)
        __builtin_prefetch(data + i * nd * bytes + k);
    for (int mu = 1; mu < (int)nd; mu++) {
        const size_t at = (lat_field_next(u, i, mu, -1) * nd + (size_t)mu) * bytes;
        for (size_t k = 0; k < bytes; k += 64)
            __builtin_prefetch(data + at + k);
    }
}

int lat_cpu_dirac_links(lat_cpu_dirac *c, const lat_field *u)
{
    const lat_cpu_grid *g = lat_cpu(c->s->space.grid);
    const int nc = u->head.nc, reals = c->d.reals, lanes = g->lay->lanes;
    const lat_temporal *gauge = c->s->space.temporal;
    if (!(c->links[0] = new_lanes(c, 2 * reals, "the links"))
        || !(c->links[1] = new_lanes(c, 6 * reals, "the links"))
        || !(c->unit = lat_alloc((size_t)g->lay->nblocks, 1, "the links")))
        return -1;
    const lat_host_links from = {
        .u = u,
        .g = gauge ? &gauge->g : NULL,
        .unit = lat_temporal_unit(gauge, g->grid.spec.storage),
        .reals = reals,
        .to = {link_lanes_of(c, c->links[0], 2 * reals), link_lanes_of(c, c->links[1], 6 * reals)}};
    const lat_link_lanes *host = lat_link_lanes_widest();
    const int64_t *site = lat_cpu_sites(g, 0);
#pragma omp parallel for schedule(static)
    for (int b = 0; b < g->lay->nblocks; b++) {
        const int64_t *own = site + (int64_t)b * lanes;
        for (int l = lanes; l < 2 * lanes && b + 1 < g->lay->nblocks; l++)
            if (own[l] >= 0)
                ask_for_links(u, nc, lat_field_index(u, (size_t)own[l]));
        c->unit[b] = (uint8_t)host->links(&from, own, b);
    }
    return 0;
}

static void put_clover(lat_lane_view v, int b, int l, const lat_clover *c)
{
    double packed[LAT_CLOVER_REALS(3)];
    for (int which = 0; which < 2; which++)
        lat_clover_pack(c, which, .5, packed + which * v.elements / 2);
    lat_lane_put_row(v, b, l, 0, v.elements, packed);
}

/* Numbers for log det: the logarithm in two, each with the storage's precision; negative blocks. */
enum { LOG_NUMBERS = 3 };

/* A site's blocks, both kinds; its numbers for log det. The number of the one that is singular. */
static int clover_site(lat_cpu_dirac *c, const lat_field *u, bool traceless, int b, int l)
{
    const lat_cpu_grid *g = lat_cpu(c->s->space.grid);
    const int elements = LAT_CLOVER_REALS(u->head.nc);
    const lat_lane_view v = link_lanes_of(c, c->clover, elements),
                        inverse = link_lanes_of(c, c->inverse, elements),
                        numbers = link_lanes_of(c, c->s->numbers, LOG_NUMBERS);
    const int64_t x = lat_cpu_sites(g, 0)[(int64_t)b * v.lanes + l];
    lat_clover site;
    double log;
    int negative, rc = 0;
    if (x < 0) { /* an idle lane has any numbers */
        memset(&site, 0, sizeof site);
        site.rows = 2 * u->head.nc;
        put_clover(v, b, l, &site);
        put_clover(inverse, b, l, &site);
        return 0;
    }
    const lat_temporal *gauge = c->s->space.temporal;
    lat_clover_at(u, gauge ? &gauge->g : NULL, &c->d.fermion, traceless,
                  lat_field_index(u, (size_t)x), &site);
    put_clover(v, b, l, &site);
    rc = lat_clover_invert(&site, c->d.fermion.twist, &log, &negative);
    lat_lane_put(numbers, b, l, 0, log);
    lat_lane_put(numbers, b, l, 1, log - lat_lane_get(numbers, b, l, 0));
    lat_lane_put(numbers, b, l, 2, negative);
    put_clover(inverse, b, l, &site);
    return rc;
}

int lat_cpu_dirac_clover(lat_cpu_dirac *c, const lat_field *u, bool traceless)
{
    const lat_cpu_grid *g = lat_cpu(c->s->space.grid);
    const int elements = LAT_CLOVER_REALS(u->head.nc), lanes = g->lay->lanes;
    int64_t bad = -1;
    int which = 0;
    if (!(c->clover = new_lanes(c, elements, "the clover term"))
        || !(c->inverse = new_lanes(c, elements, "the inverse of the clover term"))
        || lat_cpu_sum_reserve(c->s, &lat_first_column, LOG_NUMBERS))
        return -1;
#pragma omp parallel for schedule(static)
    for (int b = 0; b < g->lay->nblocks; b++)
        for (int l = 0; l < lanes; l++) {
            const int rc = clover_site(c, u, traceless, b, l);
            const int64_t x = lat_cpu_sites(g, 0)[(int64_t)b * lanes + l];
            if (rc) {
#pragma omp critical
                if (bad < 0 || x < bad) {
                    bad = x;
                    which = rc;
                }
            }
        }
    int rc = 0;
    if (bad >= 0) {
        int x[LAT_MAX_DIMS];
        lat_coordinates(&u->head.geom, (size_t)bad, x);
        rc = lat_fail("clover term at %d,%d,%d,%d: its block of gamma5 = %d cannot be inverted "
                      "(mass %g, csw %g)",
                      x[0], x[1], x[2], x[3], which == 1 ? 1 : -1, c->d.fermion.mass,
                      c->d.fermion.csw);
    }
    if (lat_agree(c->s->space.grid->dev->comm, rc))
        return -1;
    for (int parity = 0; parity < 2; parity++) {
        const lat_part p = {(lat_parity)parity, 1, lat_column_numbers};
        lat_cpu_sum_slices(c->s, &p, LOG_NUMBERS);
        if (lat_cpu_sum_total(c->s, &p, LOG_NUMBERS))
            return -1;
        c->logdet[parity] = c->s->total[0] + c->s->total[1];
        c->negative[parity] = lround(c->s->total[2]);
    }
    return 0;
}
