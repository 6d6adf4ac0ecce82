/* SPDX-License-Identifier: BSD-3-Clause */
/* symmetry.c: symmetries of the lattice and of the action, applied to fields in memory. */
#include "symmetry.h"

#include <stdlib.h>
#include <string.h>
#include "anisotropy.h"
#include "boundary.h"
#include "condition.h"
#include "base/error.h"
#include "site/sun.h"

lat_symmetry lat_symmetry_none(void)
{
    lat_symmetry s = {.conjugate = false};
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        s.axes[mu] = mu;
    return s;
}

/* ---- the header ------------------------------------------------------------------------------ */

/* The conditions known here are invariant, but for their directions; unknown ones are refused. */
static lat_condition permuted(const lat_condition *was, int nd, const lat_symmetry *s)
{
    lat_condition is = *was;
    for (int i = 0; i < nd; i++) {
        is.weight[i] = was->weight[s->axes[i]];
        if (was->time == s->axes[i])
            is.time = i;
    }
    return is;
}

static int permute_condition(lat_header *head, const lat_symmetry *s)
{
    lat_condition c;
    const int annealed = lat_condition_read_annealed(head, &c);
    if (annealed > 0)
        c = permuted(&c, head->geom.nd, s);
    if (annealed < 0 || (annealed && lat_condition_write_annealed(head, &c)))
        return -1;
    if (!strcmp(head->gauge, "none"))
        return 0;
    if (lat_condition_read(head, &c))
        return -1;
    c = permuted(&c, head->geom.nd, s);
    lat_condition_write(head, &c);
    return 0;
}

static void permute_extents(lat_geometry *geom, const lat_symmetry *s)
{
    const lat_geometry was = *geom;
    for (int i = 0; i < geom->nd; i++)
        geom->dims[i] = was.dims[s->axes[i]];
}

/* ---- the matrices ---------------------------------------------------------------------------- */

typedef struct mapping {
    const lat_field *from;
    lat_field *to;
    const lat_symmetry *s;
} mapping;

/* x modulo `extent`, from 0. */
static int wrap(long x, int extent)
{
    const long r = x % extent;
    return (int)(r < 0 ? r + extent : r);
}

/* x: the old site of what is at site y of the result. */
static void old_site(const mapping *m, size_t y, int x[LAT_MAX_DIMS])
{
    const lat_geometry *was = &m->from->head.geom;
    int to[LAT_MAX_DIMS];
    lat_coordinates(&m->to->head.geom, y, to);
    for (int i = 0; i < was->nd; i++) {
        const int mu = m->s->axes[i];
        const long z = m->s->reflect[mu] ? -to[i] : to[i];
        x[mu] = wrap(z - m->s->shift[mu] % was->dims[mu], was->dims[mu]);
    }
}

/* Matrix `a` of the old field becomes matrix `b` of the new one. */
static void map_matrix(const mapping *m, size_t a, size_t b, bool dagger)
{
    const int n = m->from->head.nc;
    double was[LAT_SUN_REALS], is[LAT_SUN_REALS];
    lat_field_get(m->from, a, was);
    if (dagger)
        lat_sun_dag(n, is, was);
    else
        memcpy(is, was, 2 * (size_t)(n * n) * sizeof *is);
    for (int k = 1; m->s->conjugate && k < 2 * n * n; k += 2)
        is[k] = -is[k];
    lat_field_put(m->to, b, is);
}

/* A reflected link leads from y to y + i, that is in the old field from x to x - mu: backwards
 * along U_mu(x - mu). */
static void map_links(const mapping *m, size_t y, int x[LAT_MAX_DIMS])
{
    const lat_geometry *was = &m->from->head.geom;
    const size_t nd = (size_t)was->nd, here = lat_site(was, x);
    for (size_t i = 0; i < nd; i++) {
        const int mu = m->s->axes[i];
        const bool back = m->s->reflect[mu];
        const size_t site = back ? lat_neighbour(was, here, mu, -1) : here;
        map_matrix(m, site * nd + (size_t)mu, y * nd + i, back);
    }
}

static void map_all(const mapping *m)
{
    const size_t sites = lat_volume(&m->to->head.geom);
#pragma omp parallel for schedule(static)
    for (size_t y = 0; y < sites; y++) {
        int x[LAT_MAX_DIMS] = {0};
        old_site(m, y, x);
        if (m->to->head.kind == LAT_GAUGE)
            map_links(m, y, x);
        else
            map_matrix(m, lat_site(&m->from->head.geom, x), y, false);
    }
}

int lat_symmetry_apply(lat_field *f, const lat_symmetry *s)
{
    lat_field to = *f;
    bool reflects = false;
    if (lat_header_spinors(&f->head))
        return lat_fail("symmetries are for links and gauge transformations, but this is %s",
                        lat_kind_text(f->head.kind));
    if (permute_condition(&to.head, s))
        return -1;
    lat_boundary_permute(&to.head, s->axes);
    permute_extents(&to.head.geom, s);
    if (lat_field_alloc(&to, f->comm))
        return -1;
    map_all(&(mapping){.from = f, .to = &to, .s = s});
    free(f->data);
    for (int mu = 0; mu < f->head.geom.nd; mu++)
        reflects = reflects || s->reflect[mu];
    *f = to; /* its header has the same lines */
    if (reflects && f->head.kind == LAT_GAUGE && f->head.nc > 2)
        f->head.reals = 2 * f->head.nc * f->head.nc;
    return lat_anisotropy_permute(&f->head, s->axes);
}
