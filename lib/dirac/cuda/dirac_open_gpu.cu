/* SPDX-License-Identifier: BSD-3-Clause */
/* dirac_open_gpu.cu: what a Dirac operator has on a GPU: links, clover matrices and their inverses,
 * boundaries. */
#include "dirac/cuda/cuda_clover.cuh"
#include "dirac/cuda/cuda_dirac.cuh"

#include <math.h>
#include <stdlib.h>
extern "C" {
#include "dirac/links.h"
#include "grid/staging.h"
#include "vector/temporal.h"
extern const lat_dirac_ops lat_dirac_gpu;
}

#define THREADS 128

static int failed(cudaError_t e) { return lat_cuda_failed(e, "a Dirac operator"); }

/* ---- links and clover matrices --------------------------------------------------------------- */

void lat_gpu_dirac_close(lat_dirac *dirac)
{
    lat_gpu_dirac *d = (lat_gpu_dirac *)dirac;
    lat_cuda_free(d->links[0]);
    lat_cuda_free(d->clover[0]);
    lat_cuda_free(d->inverse[0]);
    lat_vector_free_all(3, d->between);
    lat_vector_free_all(3, d->first);
    lat_vector_free_all(3, d->middle);
    free(d);
}

/* Memory of so many zeros for each parity, odd sites behind even ones. */
static int of_parities(char *to[2], size_t bytes, const char *what, cudaStream_t stream)
{
    if (lat_cuda_malloc((void **)&to[0], 2 * bytes, what))
        return -1;
    to[1] = to[0] + bytes;
    return failed(cudaMemsetAsync(to[0], 0, 2 * bytes, stream));
}

/* Memory for them, zeros. */
template <int P> static int reserve(lat_gpu_dirac *d, unsigned long long **bad)
{
    const size_t groups = d->s->groups, clover = groups * (size_t)lat_form<P>::CLOVER,
                 block = d->dirac.reals == 12 ? (size_t)lat_link_form<P, 12>::BLOCK
                                              : (size_t)lat_link_form<P, 18>::BLOCK,
                 links = groups * 8 * block;
    const cudaStream_t stream = lat_gpu_stream(&d->s->space);
    if (of_parities(d->links, links, "the links of a Dirac operator", stream)
        || (d->dirac.clover
            && (of_parities(d->clover, clover, "the clover term", stream)
                || of_parities(d->inverse, clover, "the clover term", stream))))
        return -1;
    return lat_rc(lat_cuda_malloc((void **)bad, sizeof **bad, "the clover term")
                  || failed(cudaMemsetAsync(*bad, 0xff, sizeof **bad, stream))
                  || lat_gpu_sums_begin(d->s, 1, 2, (int)groups));
}

template <int P> static int make_links(lat_gpu_dirac *d, const double *all, cudaStream_t stream)
{
    const dim3 blocks(lat_cuda_blocks(d->s->sites.half, THREADS), 8);
    for (int p = 0; p < 2; p++)
        if (failed(lat_cuda_start(false,
                                  d->dirac.reals == 12 ? pack_links<P, 12> : pack_links<P, 18>,
                                  blocks, THREADS, stream, d->s->sites, p, all, d->links[p])))
            return -1;
    return 0;
}

template <int P>
static int make_clover_of(lat_gpu_dirac *d, const double *all, bool traceless,
                          unsigned long long *bad, cudaStream_t stream)
{
    const lat_fermion *f = &d->dirac.fermion;
    const uint32_t groups = d->s->groups;
    const lat_grid *grid = d->s->space.grid;
    const int nc = d->s->space.nc, T = grid->spec.lattice.dims[3], first = grid->box.first[3];
    unsigned long long where;
    int rc = 0;
    for (int p = 0; p < 2 && rc == 0; p++) {
        const lat_clover_args a = {d->s->sites,
                                   p,
                                   all,
                                   d->scalar,
                                   f->csw / f->xi,
                                   f->csw_t,
                                   f->twist,
                                   lat_fermion_edge(f, 1, T),
                                   1 - first,
                                   T - 2 - first,
                                   nc,
                                   traceless ? nc : 0,
                                   d->clover[p],
                                   d->inverse[p],
                                   d->s->partial,
                                   d->s->partial + groups,
                                   bad};
        rc = failed(lat_cuda_start(false, make_clover<P>, lat_cuda_blocks(groups * 32, THREADS),
                                   THREADS, stream, a))
             || lat_gpu_sums_finish(d->s, 1, 2, (int)groups);
        d->log[p] = d->s->sum[0];
        d->negative[p] = lround(d->s->sum[1]);
    }
    rc = rc || failed(cudaMemcpyAsync(&where, bad, sizeof where, cudaMemcpyDeviceToHost, stream))
         || failed(cudaStreamSynchronize(stream));
    if (rc || where == ~0ull)
        return rc ? -1 : 0;
    int x[LAT_MAX_DIMS];
    lat_coordinates(&grid->here, (size_t)(where / 2), x);
    for (int mu = 0; mu < 4; mu++)
        x[mu] += grid->box.first[mu];
    return lat_fail("clover term at %d,%d,%d,%d: its block of gamma5 = %d cannot be inverted "
                    "(mass %g, csw %g)",
                    x[0], x[1], x[2], x[3], where % 2 ? -1 : 1, f->mass, f->csw);
}

/* With open time no hop leads to the first slice or the last one, nor from them: links that would
 * are zero, when the clover term has been made of them. */
static int cut_time(const lat_gpu_dirac *d, size_t held, double *all, cudaStream_t stream)
{
    const lat_grid *grid = d->s->space.grid;
    const lat_phase phase = d->dirac.fermion.boundary[3];
    const int T = grid->spec.lattice.dims[3], own = grid->box.count[3],
              slices = own + (grid->cut[3] ? 2 : 0);
    const size_t slice = held / (size_t)slices, link = LAT_STAGE_LINK * sizeof(double);
    for (int k = 0; k < slices && phase.open; k++) {
        /* ghosts of slabs: the slice after the own ones, the one before; of boxes: around them */
        const int after = grid->boxed && grid->cut[3] ? k - 1
                          : k > own                   ? -1
                                                      : k,
                  t = grid->box.first[3] + after + T;
        if (!lat_phase_hops(phase, t % T, T, 1)
            && failed(cudaMemset2DAsync(all + ((size_t)k * slice * 4 + 3) * LAT_STAGE_LINK,
                                        4 * link, 0, link, slice, stream)))
            return -1;
    }
    return 0;
}

/* Ranks agree before they add up sums: one without memory is not waited for. */
template <int P> static int fill(lat_gpu_dirac *d, const lat_field *u, const lat_dirac_options *o)
{
    const lat_cuda_device *dev = lat_cuda_device_of(d->s->space.grid->dev);
    const cudaStream_t s = dev->stream;
    double *all = NULL;
    unsigned long long *bad = NULL;
    lat_field part;
    const lat_field *here = lat_grid_there(d->s->space.grid, u, o->box, &part);
    int rc = lat_agree(dev->dev.comm, lat_rc(!here || reserve<P>(d, &bad)
                                             || lat_cuda_bring_links(dev, here, o->there, &all)));
    const size_t held = rc ? 0 : lat_field_held(here) / 4;
    rc = rc || lat_gpu_rotate_links(d->s, d->hop.unit, held, all)
         || (d->dirac.clover && make_clover_of<P>(d, all, o->traceless, bad, s))
         || cut_time(d, held, all, s) || make_links<P>(d, all, s);
    rc = failed(cudaStreamSynchronize(s)) || rc;
    lat_field_free(&part);
    lat_cuda_free(all);
    lat_cuda_free(bad);
    return lat_agree(dev->dev.comm, rc ? -1 : 0);
}

/* Are links of t 1, but on the lattice's last slice? With open time some are 0. */
static bool unit_links(const lat_space *s, const lat_fermion *f)
{
    return !f->boundary[3].open && lat_temporal_unit(s->temporal, s->grid->spec.storage);
}

/* 12 or 18. In half, with several columns, the arithmetic of a third row takes longer than to read
 * it. 12 reals hold both rows of SU(2), and the third one multiplies zeros. */
static int choose_reals(const lat_space *s, const lat_field *u, const lat_dirac_options *o)
{
    const int asked = o->reals;
    if (s->nc == 3 && asked == 8)
        return lat_fail("8 reals a link: GPUs have 12 and 18");
    if (!asked && s->grid->spec.storage == LAT_STORAGE_HALF && s->columns > 3)
        return 18;
    if (s->nc == 2 && !asked)
        return 12;
    if (o->there && s->nc == 3 && !asked && !o->unitary) { /* the same, of links that are there */
        double most;
        const int rc = lat_gpu_last_rows(lat_cuda_device_of(s->grid->dev), o->there,
                                         lat_field_matrices(u), &most);
        return rc ? -1 : most <= lat_link_bound(s->grid->spec.storage) ? 12 : 18;
    }
    const int reals = lat_link_reals(u, s->grid->spec.storage, asked, o->unitary);
    return s->nc == 3 || reals < 0 ? reals : reals == 8 ? 18 : 12;
}

/* Is the rank at the first or the last site along an axis? */
static bool at_first(const lat_grid *g, int mu) { return g->box.at[mu] == 0; }
static bool at_last(const lat_grid *g, int mu) { return g->box.at[mu] + 1 == g->box.ranks[mu]; }

static void set_boundary(const lat_fermion *f, const lat_grid *grid, lat_hop_lattice *a)
{
    const bool first = at_first(grid, 3), last = at_last(grid, 3);
    for (int mu = 0; mu < 4; mu++) {
        const lat_phase *p = &f->boundary[mu];
        a->phase[mu][0] = p->dirichlet ? 0 : cos(M_PI * p->theta);
        a->phase[mu][1] = p->dirichlet ? 0 : sin(M_PI * p->theta);
        if (!p->dirichlet && p->theta == floor(p->theta)) {
            a->phase[mu][0] = fmod(fabs(p->theta), 2) == 1 ? -1 : 1;
            a->phase[mu][1] = 0;
        }
        if (a->phase[mu][1] == 0 && (mu == 3 || a->phase[mu][0] == 1))
            continue;
        a->phases |= at_last(grid, mu) << mu | at_first(grid, mu) << (mu + 4) | LAT_HOP_PHASES;
    }
    a->walls = (uint32_t)last << 3 | (uint32_t)first << 7;
    a->edge[0] = last ? a->phase[3][0] : 1;
    a->edge[1] = first ? a->phase[3][0] : 1;
}

/* Do links and clover matrices, as hops of both parities read them, take no more than half of the
 * second cache? */
static bool fit_cache(const lat_gpu_dirac *d, int device)
{
    const size_t reals = (size_t)(d->dirac.links * d->dirac.reals + (d->dirac.clover ? 72 : 0)),
                 site = reals * lat_storage_bytes(d->s->space.grid->spec.storage);
    int cache = 0;
    cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, device);
    return 4 * (size_t)d->s->sites.half * site <= (size_t)cache;
}

static void set_hop(lat_gpu_dirac *d)
{
    const lat_fermion *f = &d->dirac.fermion;
    const int device = lat_cuda_device_number();
    cudaDeviceGetAttribute(&d->hop.most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    d->hop.processors = lat_cuda_device_of(d->s->space.grid->dev)->processors;
    d->hop.sites = d->s->sites;
    d->hop.column = d->s->column;
    d->hop.whole = d->s->whole;
    d->hop.t = f->xi / f->nu;
    d->hop.early = lat_gpu_early(d->s);
    set_boundary(f, d->s->space.grid, &d->hop);
    d->hop.unit = unit_links(&d->s->space, f);
    d->dirac.links = d->hop.unit ? 6 : 8;
    d->hop.again = fit_cache(d, device);
    d->dirac.fuses = d->s->space.grid->spec.storage != LAT_STORAGE_HALF && !d->hop.phases
                     && !d->dirac.clover && f->twist == 0;
}

lat_dirac *lat_gpu_dirac_open(lat_space *s, const lat_field *u, const lat_fermion *fermion,
                              const lat_dirac_options *options)
{
    const double scalar = 1 + 3 * fermion->nu / fermion->xi + fermion->mass;
    const bool clover = lat_fermion_blocks(fermion);
    if (scalar == 0 && fermion->twist == 0 && !clover) {
        lat_fail("mass %g: the diagonal of the Dirac operator is 0", fermion->mass);
        return NULL;
    }
    const int reals = choose_reals(s, u, options);
    lat_gpu_dirac *d = NULL;
    if (reals < 0 || !(d = (lat_gpu_dirac *)lat_alloc_zero(1, sizeof *d, "a Dirac operator")))
        return NULL;
    d->dirac.ops = &lat_dirac_gpu;
    d->dirac.space = s;
    d->dirac.fermion = *fermion;
    d->dirac.reals = reals;
    d->dirac.clover = clover;
    d->s = lat_gpu_space_of(s);
    d->scalar = scalar;
    d->in_turn = options->in_turn;
    set_hop(d);
    if (lat_by_storage(s->grid->spec.storage, [&](auto P) { return fill<P>(d, u, options); }) == 0)
        return &d->dirac;
    lat_gpu_dirac_close(&d->dirac);
    return NULL;
}
