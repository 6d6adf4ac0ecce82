/* SPDX-License-Identifier: BSD-3-Clause */
/* transform.c: gauge transformations of fields. */
#include "transform.h"

#include <math.h>
#include <string.h>
#include "base/error.h"
#include "site/sun.h"

int lat_transform_new(lat_field *g, const lat_header *u, const lat_comm *comm)
{
    memset(g, 0, sizeof *g);
    lat_header_init(&g->head);
    g->head.kind = LAT_TRANSFORM;
    g->head.geom = u->geom;
    g->head.nc = u->nc;
    g->head.reals = 2 * u->nc * u->nc;
    if (lat_field_alloc(g, comm))
        return -1;
    double one[LAT_SUN_REALS];
    lat_sun_one(u->nc, one);
    const size_t sites = lat_field_sites(g);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < sites; i++)
        lat_field_put(g, i, one);
    return 0;
}

void lat_transform_random(lat_field *g, uint64_t seed, long config)
{
    const size_t sites = lat_field_sites(g);
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < sites; x++) {
        double m[LAT_SUN_REALS];
        lat_sun_haar(g->head.nc, m, seed, lat_field_site(g, x), (uint32_t)config, LAT_FOR_GAUGE);
        lat_field_put(g, x, m);
    }
}

int lat_transform_project(lat_field *g)
{
    const int n = g->head.nc;
    const size_t sites = lat_field_sites(g);
    int bad = 0;
#pragma omp parallel for schedule(static) reduction(| : bad)
    for (size_t x = 0; x < sites; x++) {
        double m[LAT_SUN_REALS];
        lat_field_get(g, x, m);
        bad |= lat_sun_gram_schmidt(n, m) < 0;
        lat_field_put(g, x, m);
    }
    return bad ? lat_fail("the gauge transformation has become singular: are the links in SU(%d)?",
                          n)
               : 0;
}

static int same_lattice(const lat_field *u, const lat_field *g)
{
    char a[64], b[64];
    if (g->head.kind != LAT_TRANSFORM || u->head.kind == LAT_TRANSFORM)
        return lat_fail("expected a gauge transformation to apply to links or spinors, found %s "
                        "for %s",
                        lat_kind_text(g->head.kind), lat_kind_text(u->head.kind));
    if (u->head.copies)
        return lat_fail("expected a gauge field alone, found one with %ld copies, whose "
                        "transformations are of the links as they are",
                        u->head.copies);
    if (!lat_header_alike(&u->head, &g->head))
        return lat_fail("the transformation is SU(%d) on %s, the field SU(%d) on %s", g->head.nc,
                        lat_dims_text(&g->head.geom, a), u->head.nc,
                        lat_dims_text(&u->head.geom, b));
    return 0;
}

/* psi <- g psi, colour by colour of each spin. */
static void rotate_spinor(int n, const double *g, double *psi)
{
    double old[2 * LAT_MAX_COLOURS];
    for (int spin = 0; spin < 4; spin++, psi += 2 * n) {
        memcpy(old, psi, 2 * (size_t)n * sizeof *old);
        for (int a = 0; a < n; a++) {
            const double *row = g + 2 * n * a;
            double re = 0, im = 0;
            for (int b = 0; b < n; b++) {
                re += row[2 * b] * old[2 * b] - row[2 * b + 1] * old[2 * b + 1];
                im += row[2 * b] * old[2 * b + 1] + row[2 * b + 1] * old[2 * b];
            }
            psi[2 * a] = re;
            psi[2 * a + 1] = im;
        }
    }
}

static void rotate_spinors(lat_field *f, const lat_field *g)
{
    const size_t sites = lat_field_sites(f), columns = lat_header_objects(&f->head);
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < sites; x++) {
        double m[LAT_SUN_REALS], psi[8 * LAT_MAX_COLOURS];
        lat_field_get(g, x, m);
        for (size_t i = x * columns; i < (x + 1) * columns; i++) {
            lat_field_get(f, i, psi);
            rotate_spinor(f->head.nc, m, psi);
            lat_field_put(f, i, psi);
        }
    }
}

int lat_transform_apply(lat_field *u, lat_field *g)
{
    if (same_lattice(u, g) || lat_field_exchange(g))
        return -1;
    if (lat_header_spinors(&u->head)) {
        rotate_spinors(u, g);
        u->head.quark.links[0] = '\0'; /* its links have changed, too */
    } else {
        lat_transform_rotate(u, g);
    }
    u->head.plaquette = u->head.link_trace = NAN;
    lat_header_ungauge(&u->head);
    return lat_field_exchange(u);
}

void lat_transform_compose(lat_field *g, const lat_field *h)
{
    const int n = g->head.nc;
    const size_t sites = lat_field_sites(g);
#pragma omp parallel for schedule(static)
    for (size_t x = 0; x < sites; x++) {
        double first[LAT_SUN_REALS], then[LAT_SUN_REALS], product[LAT_SUN_REALS];
        lat_field_get(g, x, first);
        lat_field_get(h, x, then);
        lat_sun_mul(n, product, then, first);
        lat_field_put(g, x, product);
    }
}

int lat_transform_diagonal(const lat_field *g)
{
    const int n = g->head.nc;
    const size_t sites = lat_field_sites(g);
    int off = 0;
#pragma omp parallel for schedule(static) reduction(| : off)
    for (size_t x = 0; x < sites; x++) {
        double m[LAT_SUN_REALS];
        lat_field_get(g, x, m);
        for (int i = 0; i < n * n; i++)
            off |= i % (n + 1) != 0 && (m[2 * i] != 0 || m[2 * i + 1] != 0);
    }
    double all = off;
    return g->comm && g->comm->sum(g->comm, &all, 1) ? -1 : all == 0;
}
