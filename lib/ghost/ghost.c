/* SPDX-License-Identifier: BSD-3-Clause */
/* ghost.c: the Faddeev-Popov operator: links in the order of vectors, sums, sources. */
#include <math.h>
#include <stdlib.h>
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
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

/* ---- order ------------------------------------------------------------------------------------
 */

/* Axes in the order of u, but that of a time which is not the last one comes before the last. */
static void order_axes(lat_ghost *m, const lat_field *u, const lat_condition *c)
{
    const lat_geometry *geom = &u->head.geom;
    lat_geometry *ours = &m->lattice.head.geom;
    const int last = geom->nd - 1;
    const bool inner = c->time >= 0 && c->time < last;
    int n = 0;
    for (int mu = 0; mu < last; mu++)
        if (mu != c->time)
            m->axis[n++] = mu;
    if (inner)
        m->axis[n++] = c->time;
    m->axis[n] = last;
    m->time = c->time < 0 ? -1 : inner ? last - 1 : last;
    *ours = *geom;
    for (int i = 0; i < geom->nd; i++) {
        ours->dims[i] = geom->dims[m->axis[i]];
        m->weight[i] = i == m->time ? 0 : c->weight[m->axis[i]];
        if (i != m->time)
            m->direction[m->directions++] = i;
    }
    m->units = lat_condition_slices(c, geom);
    m->blocks = inner ? (size_t)m->units : 1;
    m->block = lat_slice_sites(&m->lattice.head) / m->blocks;
    m->sites = lat_field_sites(&m->lattice);
    m->halo = lat_field_shared(&m->lattice) && m->time != last;
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
    for (int mu = 0; mu < ours->nd - 1; mu++) {
        site += local % (size_t)dims[mu] * stride[mu];
        local /= (size_t)dims[mu];
    }
    return site + local * stride[ours->nd - 1];
}

/* ---- links ------------------------------------------------------------------------------------
 */

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
    if (u->head.nc > LAT_GHOST_GPU_MOST)
        return lat_fail("SU(%d): on a GPU the Faddeev-Popov operator is for SU(2) to SU(%d)",
                        u->head.nc, LAT_GHOST_GPU_MOST);
    return lat_laplace_gpu_check(&u->head.geom);
}

/* On a GPU: links and the preconditioner there. */
static int to_gpu(lat_ghost *m, lat_device *dev)
{
    const lat_geometry *geom = &m->lattice.head.geom;
    lat_ghost_sites s = {.nd = geom->nd,
                         .directions = m->directions,
                         .nc = m->nc,
                         .packs = m->packs,
                         .units = m->units,
                         .time = m->time,
                         .first = lat_field_slab(&m->lattice).first,
                         .halo = m->halo,
                         .sites = m->sites,
                         .block = m->block,
                         .blocks = m->blocks};
    for (int i = 0; i < LAT_MAX_DIMS; i++) {
        s.dims[i] = i < geom->nd ? geom->dims[i] : 1;
        s.weight[i] = i < geom->nd ? m->weight[i] : 0;
    }
    memcpy(s.direction, m->direction, sizeof s.direction);
    return (m->gpu = lat_ghost_gpu_new(dev, &s, m->links)) ? 0 : -1;
}

static int to_device(lat_ghost *m, lat_device *dev)
{
    if (dev && dev->gpu)
        return to_gpu(m, dev);
    m->laplace = lat_laplace_new(&m->lattice.head.geom, m->weight, (int)lat_ghost_reals(m),
                                 m->lattice.comm);
    return m->laplace ? 0 : -1;
}

lat_ghost *lat_ghost_new_on(lat_device *dev, const lat_field *u, const lat_condition *c, int packs)
{
    if (check(u, c) || lat_ghost_check(dev, u))
        return NULL;
    lat_ghost *m = calloc(1, sizeof *m);
    if (!m) {
        lat_fail("out of memory: the Faddeev-Popov operator");
        return NULL;
    }
    m->lattice = (lat_field){.head = u->head, .comm = u->comm ? u->comm : &lat_comm_self};
    m->nc = u->head.nc;
    m->colours = m->nc * m->nc - 1;
    m->packs = packs;
    m->columns = packs * LAT_GHOST_PACK;
    order_axes(m, u, c);
    m->links = lat_alloc(m->held * (size_t)(m->directions + 1), lat_ghost_link(m) * sizeof(double),
                         "the Faddeev-Popov operator");
    if (m->links) {
        load_links(m, u);
        make_diagonal(m);
    }
    if (lat_agree(m->lattice.comm, m->links ? 0 : -1) || to_device(m, dev)) {
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
    free(m->links);
    free(m->sums);
    lat_laplace_free(m->laplace);
    lat_ghost_gpu_free(m->gpu);
    free(m);
}

/* ---- vectors ----------------------------------------------------------------------------------
 */

static size_t vector_bytes(const lat_ghost *m)
{
    return m->sites * lat_ghost_reals(m) * sizeof(double);
}

double *lat_ghost_vector(const lat_ghost *m, const char *what)
{
    return m->gpu ? lat_ghost_gpu_vector(m->gpu, what)
                  : lat_alloc(m->held, lat_ghost_reals(m) * sizeof(double), what);
}

void lat_ghost_vector_free(const lat_ghost *m, double *v)
{
    if (v && m->gpu)
        lat_ghost_gpu_vector_free(v);
    else
        free(v);
}

int lat_ghost_put(lat_ghost *m, double *v, const double *host)
{
    if (m->gpu)
        return lat_ghost_gpu_put(m->gpu, v, host);
    lat_memcpy(v, host, vector_bytes(m));
    return 0;
}

int lat_ghost_get(lat_ghost *m, double *host, const double *v)
{
    if (m->gpu)
        return lat_ghost_gpu_get(m->gpu, host, v);
    lat_memcpy(host, v, vector_bytes(m));
    return 0;
}

int lat_ghost_copy(lat_ghost *m, double *to, const double *from)
{
    if (m->gpu)
        return lat_ghost_gpu_copy(m->gpu, to, from);
    lat_memcpy(to, from, vector_bytes(m));
    return 0;
}

int lat_ghost_zero(lat_ghost *m, double *v)
{
    if (m->gpu)
        return lat_ghost_gpu_zero(m->gpu, v);
    memset(v, 0, vector_bytes(m));
    return 0;
}

int lat_ghost_invert(lat_ghost *m, double *v)
{
    return m->gpu ? lat_ghost_gpu_invert(m->gpu, v) : lat_laplace_invert(m->laplace, v);
}

/* ---- passes and sums --------------------------------------------------------------------------
 */

static int more_sums(lat_ghost *m, size_t n)
{
    if (n <= m->sums_size)
        return 0;
    free(m->sums);
    m->sums = lat_alloc(n, sizeof *m->sums, "sums over the lattice");
    m->sums_size = m->sums ? n : 0;
    return m->sums ? 0 : -1;
}

static void add_to(double *to, const double *from, size_t n)
{
    for (size_t k = 0; k < n; k++)
        to[k] += from[k];
}

/* The chunks of the blocks first .. last-1 of this rank. */
static void chunks_of(lat_ghost *m, lat_ghost_pass *pass, const lat_ghost_call *c, size_t numbers,
                      size_t first, size_t last)
{
    const size_t chunks = (m->block + LAT_CHUNK - 1) / LAT_CHUNK;
#pragma omp parallel for schedule(static)
    for (size_t i = first * chunks; i < last * chunks; i++) {
        const size_t b = i / chunks, from = b * m->block + i % chunks * LAT_CHUNK,
                     to = from + LAT_CHUNK, end = (b + 1) * m->block;
        double *sums = numbers ? m->sums + i * numbers : NULL;
        if (numbers)
            memset(sums, 0, numbers * sizeof *sums);
        pass(m, c, lat_ghost_unit(m, b), from, to < end ? to : end, sums);
    }
}

/* The sums of own blocks, mine[block][numbers], with room for those of all blocks behind them, to
 * those of units: slice by slice, the same bits on any number of ranks. */
static int add_blocks(const lat_ghost *m, size_t numbers, double *mine, double *total)
{
    const size_t slices = (size_t)lat_slices(&m->lattice.head), record = m->blocks * numbers;
    double *all = mine + (size_t)lat_field_slab(&m->lattice).count * record;
    if (lat_field_gather(&m->lattice, mine, record * sizeof *mine, all))
        return -1;
    memset(total, 0, (size_t)m->units * numbers * sizeof *total);
    for (size_t b = 0; b < slices * m->blocks; b++)
        add_to(total + (size_t)lat_ghost_unit_of(m, b) * numbers, all + b * numbers, numbers);
    return 0;
}

/* The sums of chunks to those of units. */
static int add_up(lat_ghost *m, size_t numbers, double *total)
{
    const size_t own = (size_t)lat_field_slab(&m->lattice).count * m->blocks,
                 chunks = (m->block + LAT_CHUNK - 1) / LAT_CHUNK;
    double *mine = m->sums + own * chunks * numbers;
    memset(mine, 0, own * numbers * sizeof *mine);
    for (size_t i = 0; i < own * chunks; i++)
        add_to(mine + i / chunks * numbers, m->sums + i * numbers, numbers);
    return add_blocks(m, numbers, mine, total);
}

/* Room for sums of chunks, which a GPU keeps, of own blocks and of all. */
static int prepare(lat_ghost *m, size_t numbers)
{
    const size_t slices = (size_t)lat_slices(&m->lattice.head),
                 own = (size_t)lat_field_slab(&m->lattice).count,
                 chunks = m->gpu ? 0 : (m->block + LAT_CHUNK - 1) / LAT_CHUNK;
    return lat_agree(m->lattice.comm,
                     more_sums(m, (own * chunks + own + slices) * m->blocks * numbers));
}

int lat_ghost_over(lat_ghost *m, lat_ghost_pass *pass, const lat_ghost_call *c, int numbers,
                   double *total)
{
    const size_t n = (size_t)numbers, own = (size_t)lat_field_slab(&m->lattice).count;
    if (prepare(m, n))
        return -1;
    chunks_of(m, pass, c, n, 0, own * m->blocks);
    return n ? add_up(m, n, total) : 0;
}

static int gpu_over(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, int numbers,
                    double *total)
{
    if (numbers && prepare(m, (size_t)numbers))
        return -1;
    if (lat_ghost_gpu_over(m->gpu, pass, c, numbers, m->sums))
        return -1;
    return numbers ? add_blocks(m, (size_t)numbers, m->sums, total) : 0;
}

int lat_ghost_run(lat_ghost *m, lat_ghost_pass_name pass, const lat_ghost_call *c, int numbers,
                  double *total)
{
    const lat_ghost_kernels *k = lat_ghost_kernels_of();
    lat_ghost_pass *const passes[] = {
        [LAT_GHOST_HOP] = k->hop,         [LAT_GHOST_SHIFT] = k->shift,
        [LAT_GHOST_UPDATE] = k->update,   [LAT_GHOST_DOT] = k->dot,
        [LAT_GHOST_EXTEND] = k->extend,   [LAT_GHOST_GRAM] = k->gram,
        [LAT_GHOST_COMBINE] = k->combine, [LAT_GHOST_DEFECT] = lat_ghost_defect};
    return m->gpu ? gpu_over(m, pass, c, numbers, total)
                  : lat_ghost_over(m, passes[pass], c, numbers, total);
}

int lat_ghost_dot(lat_ghost *m, const double *a, const double *b, double *to)
{
    const lat_ghost_call c = {.in = a, .other = b};
    return lat_ghost_run(m, LAT_GHOST_DOT, &c, m->columns, to);
}

/* ---- the operator -----------------------------------------------------------------------------
 */

static int exchange_begin(const lat_ghost *m, double *v)
{
    const size_t slice = lat_slice_sites(&m->lattice.head) * lat_ghost_reals(m),
                 bytes = slice * sizeof *v, count = (size_t)lat_field_slab(&m->lattice).count;
    const lat_exchange x = {.to_down = v,
                            .to_up = v + (count - 1) * slice,
                            .from_up = v + count * slice,
                            .from_down = v + (count + 1) * slice,
                            .to_down_bytes = bytes,
                            .to_up_bytes = bytes,
                            .from_down_bytes = bytes,
                            .from_up_bytes = bytes};
    return m->lattice.comm->begin(m->lattice.comm, &x);
}

int lat_ghost_exchange(const lat_ghost *m, double *v)
{
    return m->halo && (exchange_begin(m, v) || m->lattice.comm->finish(m->lattice.comm)) ? -1 : 0;
}

/* The interior while faces travel, then the first and the last slice. */
int lat_ghost_hop(lat_ghost *m, double *out, double *in, double *total)
{
    lat_ghost_pass *hop = lat_ghost_kernels_of()->hop;
    const lat_ghost_call c = {.in = in, .out = out};
    const size_t numbers = (size_t)m->columns + lat_ghost_reals(m),
                 own = (size_t)lat_field_slab(&m->lattice).count * m->blocks, face = m->blocks;
    if (!m->halo || m->gpu)
        return lat_ghost_run(m, LAT_GHOST_HOP, &c, (int)numbers, total);
    if (prepare(m, numbers) || exchange_begin(m, in))
        return -1;
    if (own > 2 * face)
        chunks_of(m, hop, &c, numbers, face, own - face);
    if (m->lattice.comm->finish(m->lattice.comm))
        return -1;
    chunks_of(m, hop, &c, numbers, 0, face);
    if (own > face)
        chunks_of(m, hop, &c, numbers, own - face, own);
    return add_up(m, numbers, total);
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
    int rc = lat_ghost_hop(m, out, in, total);
    if (rc == 0) {
        const lat_ghost_call c = {.out = out, .mean = means};
        lat_ghost_means(m, total, (int)numbers, m->columns, means);
        rc = lat_ghost_run(m, LAT_GHOST_SHIFT, &c, 0, NULL);
    }
    free(total);
    return rc;
}

/* ---- sources ----------------------------------------------------------------------------------
 */

/* cos and sin of 2 pi j / extent, exact where they are 0 and 1. */
static void wave(int j, int extent, double *cosine, double *sine)
{
    const double angle = 2 * M_PI * (((j % extent) + extent) % extent) / extent;
    const int quarter = 4 * (((j % extent) + extent) % extent);
    *cosine = quarter == extent || quarter == 3 * extent ? 0 : cos(angle);
    *sine = quarter == 0 || quarter == 2 * extent ? 0 : sin(angle);
}

/* exp(ikx), the product over axes. */
static void plane_wave(const lat_ghost *m, const int *n, const int *x, double value[2])
{
    value[0] = 1;
    value[1] = 0;
    for (int d = 0; d < m->directions; d++) {
        const int i = m->direction[d], mu = m->axis[i];
        double c, s;
        wave((int)((long)n[mu] * x[i] % m->lattice.head.geom.dims[i]), m->lattice.head.geom.dims[i],
             &c, &s);
        const double re = value[0] * c - value[1] * s;
        value[1] = value[0] * s + value[1] * c;
        value[0] = re;
    }
}

static bool zero_momentum(const lat_ghost *m, const int *n)
{
    for (int d = 0; d < m->directions; d++)
        if (n[m->axis[m->direction[d]]] % m->lattice.head.geom.dims[m->direction[d]])
            return false;
    return true;
}

static double source_value(const lat_ghost *m, const lat_ghost_column *s, const int *x)
{
    double v[2];
    switch (s->kind) {
    case LAT_GHOST_ZERO: return 0;
    case LAT_GHOST_COS:
    case LAT_GHOST_SIN:
        plane_wave(m, s->n, x, v);
        return zero_momentum(m, s->n) ? 0 : v[s->kind == LAT_GHOST_SIN];
    case LAT_GHOST_POINT:
        for (int d = 0; d < m->directions; d++) {
            const int i = m->direction[d];
            if (x[i] != s->n[m->axis[i]])
                return -1 / lat_ghost_unit_sites(m);
        }
        return 1 - 1 / lat_ghost_unit_sites(m);
    }
    return 0;
}

/* The columns that repeat a wave, for another colour, take its value. */
static bool same_wave(const lat_ghost_column *a, const lat_ghost_column *b)
{
    return a->kind == b->kind && !memcmp(a->n, b->n, sizeof a->n);
}

static void make_source(const lat_ghost *m, double *b, const lat_ghost_column *column)
{
    const size_t reals = lat_ghost_reals(m), row = (size_t)m->lattice.head.geom.dims[0];
    const int first = lat_field_slab(&m->lattice).first, last = m->lattice.head.geom.nd - 1;
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < m->sites; from += row) {
        lat_iterator at;
        for (lat_iterator_start(&at, &m->lattice, from); at.site < from + row;
             lat_iterator_next(&at)) {
            double *to = b + at.site * reals, value = 0;
            int x[LAT_MAX_DIMS];
            memcpy(x, at.x, sizeof x);
            x[last] += first;
            memset(to, 0, reals * sizeof *to);
            for (int k = 0; k < m->columns; k++) {
                if (k == 0 || !same_wave(&column[k - 1], &column[k]))
                    value = source_value(m, &column[k], x);
                to[(k / 8 * m->colours + column[k].colour) * 8 + k % 8] = value;
            }
        }
    }
}

/* On a GPU: what columns are, and the waves of each axis. */
static int gpu_source(lat_ghost *m, double *b, const lat_ghost_column *column)
{
    static const lat_ghost_what whats[] = {[LAT_GHOST_ZERO] = LAT_GHOST_NONE,
                                           [LAT_GHOST_COS] = LAT_GHOST_WAVE_COS,
                                           [LAT_GHOST_SIN] = LAT_GHOST_WAVE_SIN,
                                           [LAT_GHOST_POINT] = LAT_GHOST_AT};
    const int *dims = m->lattice.head.geom.dims;
    lat_ghost_sources c = {.constant = 1 / lat_ghost_unit_sites(m)};
    size_t waves = 0;
    for (int d = 0; d < m->directions; d++) {
        c.first[d] = (int)waves;
        waves += (size_t)dims[m->direction[d]];
    }
    for (int k = 0; k < m->columns; k++) {
        const bool zero = column[k].kind != LAT_GHOST_POINT && zero_momentum(m, column[k].n);
        c.colour[k] = column[k].colour;
        c.what[k] = zero ? LAT_GHOST_NONE : whats[column[k].kind];
        for (int d = 0; d < m->directions; d++) {
            const int extent = dims[m->direction[d]], n = column[k].n[m->axis[m->direction[d]]];
            c.n[k][d] = (n % extent + extent) % extent;
        }
    }
    double *wave_of = lat_alloc(2 * waves, sizeof *wave_of, "a source");
    if (!wave_of)
        return -1;
    for (int d = 0; d < m->directions; d++)
        for (int j = 0; j < dims[m->direction[d]]; j++) {
            double *w = wave_of + 2 * (c.first[d] + j);
            wave(j, dims[m->direction[d]], w, w + 1);
        }
    const int rc = lat_ghost_gpu_source(m->gpu, b, &c, wave_of, waves);
    free(wave_of);
    return rc;
}

int lat_ghost_source(lat_ghost *m, double *b, const lat_ghost_column *column)
{
    if (m->gpu)
        return gpu_source(m, b, column);
    make_source(m, b, column);
    return 0;
}
