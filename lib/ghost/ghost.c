/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost.c: the Faddeev-Popov operator: links in the order of vectors, and M. */
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "fourier/laplace_gpu.h"
#include "ghost_internal.h"
#include "lattice/slices.h"

int lat_ghost_units(const lat_ghost *m) { return m->units; }
int lat_ghost_colours(const lat_ghost *m) { return m->colours; }
int lat_ghost_columns(const lat_ghost *m) { return m->columns; }

double lat_ghost_unit_sites(const lat_ghost *m)
{
    return (double)lat_volume(&m->lattice.head.geom) / m->units;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Axes in the order of u, but a time which is not the last one comes before the last; in single
 * precision time is the last one. */
static void order_axes(lat_ghost *m, const lat_field *u, const lat_condition *c)
{
    const lat_geometry *geom = &u->head.geom;
    lat_geometry *ours = &m->lattice.head.geom;
    const int last = m->single && c->time >= 0 ? c->time : geom->nd - 1;
    const bool inner = c->time >= 0 && c->time != last;
    int n = 0;
    for (int mu = 0; mu < geom->nd; mu++)
        if (mu != c->time && mu != last)
            m->axis[n++] = mu;
    if (inner)
        m->axis[n++] = c->time;
    m->axis[n] = last;
    m->time = c->time < 0 ? -1 : inner ? n - 1 : n;
    *ours = *geom;
    m->nd = geom->nd;
    for (int i = 0; i < LAT_MAX_DIMS; i++)
        m->dims[i] = 1;
    for (int i = 0; i < geom->nd; i++) {
        m->dims[i] = ours->dims[i] = geom->dims[m->axis[i]];
        m->natural[i] = 1;
        for (int mu = 0; mu < m->axis[i]; mu++)
            m->natural[i] *= (size_t)geom->dims[mu];
        m->weight[i] = i == m->time ? 0 : c->weight[m->axis[i]];
        if (i != m->time)
            m->direction[m->directions++] = i;
    }
    m->units = lat_condition_slices(c, geom);
    m->blocks = inner ? (size_t)m->units : 1;
    m->block = lat_slice_sites(&m->lattice.head) / m->blocks;
    m->groups = (m->block + 7) / 8;
    m->group_reals = 8 * (size_t)(2 * m->directions * 2 * m->nc * (m->nc - 1) + m->nc * m->nc);
    m->sites = lat_field_sites(&m->lattice);
    m->halo = lat_field_shared(&m->lattice) && m->time != n;
    m->held = m->sites + (m->halo ? 2 : 0) * lat_slice_sites(&m->lattice.head);
}

size_t lat_ghost_site(const lat_ghost *m, size_t local)
{
    const lat_geometry *ours = &m->lattice.head.geom;
    size_t stride[LAT_MAX_DIMS], all = 1, site = 0;
    int dims[LAT_MAX_DIMS];
    for (int i = 0; i < ours->nd; i++) {
        stride[m->axis[i]] = all;
        dims[m->axis[i]] = ours->dims[i];
        all *= (size_t)ours->dims[i];
    }
    for (int mu = 0; mu < ours->nd; mu++) {
        const bool last = mu == ours->nd - 1; /* of a ghost it is beyond the extent */
        site += (last ? local : local % (size_t)dims[mu]) * stride[mu];
        local /= (size_t)dims[mu];
    }
    return site;
}

/* ---- links ----------------------------------------------------------------------------------- */

static void load_links(lat_ghost *m, const lat_field *u)
{
    const size_t nd = (size_t)u->head.geom.nd, link = lat_ghost_link(m),
                 slice = lat_slice_sites(&u->head);
    /* of the ghosts the slice before alone, which lies after the other one */
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < m->held; i++) {
        if (i >= m->sites && i < m->sites + slice)
            continue;
        double *to = m->links + lat_ghost_site(m, i) * (size_t)(m->directions + 1) * link;
        for (int d = 0; d < m->directions; d++, to += link) {
            const int ours = m->direction[d];
            lat_field_get(u, i * nd + (size_t)m->axis[ours], to);
            for (size_t k = 0; k < link; k++)
                to[k] *= m->weight[ours] / 2;
        }
    }
}

/* diagonal += the Hermitian part of u. */
static void add_hermitian(int n, double *diagonal, const double *u)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            const double *a = u + 2 * (i * n + k), *b = u + 2 * (k * n + i);
            diagonal[2 * (i * n + k)] += (a[0] + b[0]) / 2;
            diagonal[2 * (i * n + k) + 1] += (a[1] - b[1]) / 2;
        }
}

static void make_diagonal(lat_ghost *m)
{
    const size_t link = lat_ghost_link(m), links = (size_t)(m->directions + 1) * link;
    const size_t row = (size_t)m->lattice.head.geom.dims[0];
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < m->sites; from += row) {
        lat_iterator at;
        for (lat_iterator_start(&at, &m->lattice, from); at.site < from + row;
             lat_iterator_next(&at)) {
            double *diagonal = m->links + at.site * links + (size_t)m->directions * link;
            memset(diagonal, 0, link * sizeof *diagonal);
            for (int d = 0; d < m->directions; d++) {
                const size_t down = lat_iterator_down(&at, m->direction[d]);
                add_hermitian(m->nc, diagonal, m->links + at.site * links + (size_t)d * link);
                add_hermitian(m->nc, diagonal, m->links + down * links + (size_t)d * link);
            }
        }
    }
}

static int check(const lat_field *u, const lat_condition *c)
{
    if (u->head.kind != LAT_GAUGE)
        return lat_fail("the Faddeev-Popov operator needs a gauge field, but this is %s",
                        lat_kind_text(u->head.kind));
    if (lat_gauge_table[c->gauge].problem != LAT_LINEAR)
        return lat_fail("the Faddeev-Popov operator is here for Landau and Coulomb gauge, not for "
                        "%s",
                        lat_gauge_name(c->gauge));
    for (int mu = 0; mu < u->head.geom.nd; mu++)
        if (mu != c->time && !(c->weight[mu] > 0))
            return lat_fail("the Faddeev-Popov operator needs weights above 0 in all directions, "
                            "found 0 along %c",
                            "xyzt"[mu]);
    return 0;
}

int lat_ghost_check(const lat_device *dev, const lat_field *u)
{
    if (!dev || !dev->gpu)
        return 0;
    if (dev->comm->size > 1)
        return lat_fail(
            "on GPUs the Faddeev-Popov operator runs on one rank, found %d: use -n 1, or "
            "--device cpu",
            dev->comm->size);
    if (u->head.nc > LAT_GHOST_GPU_MOST)
        return lat_fail("SU(%d): on a GPU the Faddeev-Popov operator is for SU(2) to SU(%d)",
                        u->head.nc, LAT_GHOST_GPU_MOST);
    return lat_laplace_gpu_check(&u->head.geom, false);
}

/* On a GPU: links and the preconditioner there. */
static int to_gpu(lat_ghost *m, lat_device *dev)
{
    lat_ghost_sites s;
    memcpy(&s, m, sizeof s); /* the first members of m */
    return (m->gpu = lat_ghost_gpu_new(dev, &s, m->links)) ? 0 : -1;
}

static int to_cpu(lat_ghost *m)
{
    const lat_geometry *geom = &m->lattice.head.geom;
    lat_geometry unit = *geom;
    if (!m->single) {
        m->laplace = lat_laplace_new(geom, m->weight, (int)lat_ghost_reals(m), m->lattice.comm);
        return m->laplace ? 0 : -1;
    }
    unit.nd -= m->time >= 0;
    const size_t bytes = m->sites / m->block * m->groups * m->group_reals * sizeof *m->lanes;
    if (!(m->lanes = lat_alloc(1, bytes, "the Faddeev-Popov operator")))
        return -1;
    lat_zero(m->lanes, bytes); /* of lanes without a site, too */
    m->laplace_single = lat_single_laplace_new(&unit, m->weight, (int)lat_ghost_reals(m), NULL);
    return m->laplace_single ? 0 : -1;
}

static int load(lat_ghost *m, const lat_field *u)
{
    m->links = lat_alloc(m->held * (size_t)(m->directions + 1), lat_ghost_link(m) * sizeof(double),
                         "the Faddeev-Popov operator");
    if (!m->links)
        return -1;
    load_links(m, u);
    make_diagonal(m);
    return 0;
}

lat_ghost *lat_ghost_new_on(lat_device *dev, const lat_field *u, const lat_condition *c, int packs)
{
    const bool gpu = dev && dev->gpu;
    if (check(u, c) || (packs && lat_ghost_check(dev, u)))
        return NULL;
    lat_ghost *m = lat_alloc_zero(1, sizeof *m, "the Faddeev-Popov operator");
    if (!m)
        return NULL;
    m->lattice = (lat_field){.head = u->head, .comm = u->comm ? u->comm : &lat_comm_self};
    m->nc = u->head.nc;
    m->colours = m->nc * m->nc - 1;
    m->single = packs == 0;
    m->packs = packs ? packs : 1;
    m->columns = packs ? packs * LAT_GHOST_PACK : 1;
    order_axes(m, u, c);
    if (lat_agree(m->lattice.comm, m->single ? 0 : load(m, u))
        || (gpu ? to_gpu(m, dev) : to_cpu(m))) {
        lat_ghost_free(m);
        return NULL;
    }
    return m;
}

lat_ghost *lat_ghost_new(const lat_field *u, const lat_condition *c, int packs)
{
    return lat_ghost_new_on(NULL, u, c, packs);
}

void lat_ghost_free(lat_ghost *m)
{
    if (!m)
        return;
    lat_ghost_vector_free(m, m->plain.links);
    lat_ghost_vector_free(m, (double *)m->plain.product);
    LAT_FREE(m->links, m->lanes, m->sums.memory);
    lat_laplace_free(m->laplace);
    lat_single_laplace_free(m->laplace_single);
    lat_ghost_gpu_free(m->gpu);
    free(m);
}

/* ---- the operator ---------------------------------------------------------------------------- */

static int exchange_begin(const lat_ghost *m, double *v)
{
    const lat_field *f = &m->lattice;
    const size_t bytes = lat_slice_sites(&f->head) * lat_ghost_reals(m) * sizeof *v;
    return lat_begin_slices(f->comm, v, lat_field_slab(f).count, bytes, bytes);
}

int lat_ghost_exchange(const lat_ghost *m, double *v)
{
    return m->halo && (exchange_begin(m, v) || m->lattice.comm->finish(m->lattice.comm)) ? -1 : 0;
}

/* The interior while faces travel, then the first and the last slice. */
int lat_ghost_hop(lat_ghost *m, double *out, double *in, const bool *idle, double *total)
{
    const lat_ghost_call c = {.in = in, .out = out, .idle = idle};
    const int numbers = m->columns + (m->single ? 0 : (int)lat_ghost_reals(m));
    const size_t own = (size_t)lat_field_slab(&m->lattice).count * m->blocks, face = m->blocks;
    if (!m->halo)
        return lat_ghost_run(m, LAT_GHOST_HOP, &c, numbers, total);
    if (lat_ghost_prepare(m, numbers) || exchange_begin(m, in))
        return -1;
    if (own > 2 * face)
        lat_ghost_over(m, LAT_GHOST_HOP, &c, face, own - face);
    if (m->lattice.comm->finish(m->lattice.comm))
        return -1;
    lat_ghost_over(m, LAT_GHOST_HOP, &c, 0, face);
    if (own > face)
        lat_ghost_over(m, LAT_GHOST_HOP, &c, own - face, own);
    return lat_ghost_add_up(m, total);
}

void lat_ghost_means(const lat_ghost *m, const double *sums, int stride, int offset, double *means)
{
    const size_t reals = lat_ghost_reals(m);
    const double sites = lat_ghost_unit_sites(m);
    for (int unit = 0; unit < m->units; unit++)
        for (size_t k = 0; k < reals; k++)
            means[(size_t)unit * reals + k] = sums[unit * stride + offset + (int)k] / sites;
}

int lat_ghost_apply(lat_ghost *m, double *out, double *in)
{
    const size_t reals = lat_ghost_reals(m), numbers = (size_t)m->columns + reals;
    double *total = lat_alloc((size_t)m->units * (numbers + reals), sizeof *total,
                              "sums over the lattice");
    if (!total)
        return -1;
    double *means = total + (size_t)m->units * numbers;
    int rc = lat_ghost_hop(m, out, in, NULL, total);
    if (rc == 0) {
        const lat_ghost_call c = {.out = out, .mean = means};
        lat_ghost_means(m, total, (int)numbers, m->columns, means);
        rc = lat_ghost_run(m, LAT_GHOST_SHIFT, &c, 0, NULL);
    }
    free(total);
    return rc;
}
