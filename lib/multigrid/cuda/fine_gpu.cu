/* SPDX-License-Identifier: BSD-3-Clause */
/* fine_gpu.cu: the finest level: its links, random vectors, and vectors as files have them. */
#include "multigrid/cuda/cuda_multigrid.cuh"
#include "vector/cuda/cuda_host.cuh"

#include <stdlib.h>
extern "C" {
#include "vector/temporal.h"
}

static const unsigned THREADS = 256;

/* ---- links ----------------------------------------------------------------------------------- */

/* Weights and phases of forward hops, by direction and coordinate. */
typedef struct link_args {
    lat_gpu_sites own;
    const double *all; /* [held site][4][18] */
    const int64_t *list;
    const double2 *factor; /* [4][most] */
    int most;
    int64_t sites;
    float *to;
} link_args;

static __global__ void pack_links(const __grid_constant__ link_args a)
{
    const int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, i = n / 4;
    const int mu = (int)(n % 4);
    if (i >= a.sites)
        return;
    uint32_t x[4];
    natural_coordinates(a.own, (size_t)a.list[i], x);
    const double2 by = a.factor[mu * a.most + (int)x[mu]];
    const double *const u = a.all + (held_of(a.own, x) * 4 + (size_t)mu) * 18;
    float *const to = a.to + n * 18;
    for (int k = 0; k < 9; k++) {
        to[2 * k] = (float)(by.x * u[2 * k] - by.y * u[2 * k + 1]);
        to[2 * k + 1] = (float)(by.x * u[2 * k + 1] + by.y * u[2 * k]);
    }
}

static int open_links(const lat_mg_fine *f, size_t held, double *all, lat_mg_gpu_fine *g)
{
    const lat_device *dev = f->down.dev;
    const lat_gpu_space *s = lat_gpu_space_of(f->space);
    const lat_blocks *b = &f->down.blocks;
    const int *const first = f->space->grid->box.first;
    int most = 0;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        most = b->own.dims[mu] > most ? b->own.dims[mu] : most;
    double2 *const factor = (double2 *)lat_alloc((size_t)(4 * most), sizeof *factor, "links");
    if (!factor)
        return -1;
    for (int mu = 0; mu < LAT_MAX_DIMS; mu++)
        for (int x = 0; x < b->own.dims[mu]; x++) {
            double2 *const to = factor + mu * most + x;
            lat_mg_fine_factor(f, mu, first[mu] + x, &to->x, &to->y);
        }
    link_args a = {};
    a.own = s->sites;
    a.all = all;
    a.list = (const int64_t *)lat_mg_upload(dev, b->list, (size_t)b->sites * sizeof *b->list,
                                            "links");
    a.factor = (const double2 *)lat_mg_upload(dev, factor, (size_t)(4 * most) * sizeof *factor,
                                              "links");
    a.most = most;
    a.sites = b->sites;
    a.to = g->links = (float *)lat_mg_gpu_alloc(dev, (size_t)b->sites * 4 * 18, sizeof(float),
                                                "the links of a multigrid");
    int rc = a.list && a.factor && a.to ? 0 : -1;
    if (rc == 0)
        rc = lat_gpu_rotate_links(s, lat_temporal_unit(f->space->temporal, LAT_STORAGE_SINGLE),
                                  held, all);
    if (rc == 0)
        lat_mg_start(lat_mg_stream(dev), 0, pack_links,
                     lat_cuda_blocks((uint64_t)b->sites * 4, THREADS), THREADS, a);
    rc = rc || lat_mg_launched()
         || lat_cuda_failed(cudaStreamSynchronize(lat_mg_stream(dev)), "links");
    lat_cuda_free((void *)a.list);
    lat_cuda_free((void *)a.factor);
    free(factor);
    return rc ? -1 : 0;
}

int lat_mg_gpu_fine_open(lat_mg_fine *f)
{
    const lat_blocks *b = &f->down.blocks;
    const int64_t half = lat_gpu_space_of(f->space)->groups * (int64_t)32;
    lat_mg_gpu_fine *const g = (lat_mg_gpu_fine *)lat_alloc_zero(1, sizeof *g, "blocks");
    int32_t *const place = (int32_t *)lat_alloc((size_t)b->sites, sizeof *place, "blocks");
    double *all = NULL;
    lat_field part;
    const lat_field *links = lat_grid_there(f->space->grid, f->links, f->box, &part);
    f->there = g;
    int rc = g && place && links ? 0 : -1;
    if (rc == 0) {
        lat_mg_fine_places(f, half, place);
        g->place = (int32_t *)lat_mg_upload(f->down.dev, place, (size_t)b->sites * sizeof *place,
                                            "blocks");
        rc = !g->place
             || lat_cuda_bring_links(lat_cuda_device_of(f->down.dev), links, f->at_hand, &all)
             || open_links(f, lat_field_held(links) / LAT_MAX_DIMS, all, g);
    }
    lat_field_free(&part);
    lat_cuda_free(all);
    free(place);
    return rc ? -1 : 0;
}

void lat_mg_gpu_fine_close(lat_mg_fine *f)
{
    lat_mg_gpu_fine *const g = lat_mg_gpu_fine_of(f);
    if (!g)
        return;
    lat_cuda_free(g->place);
    lat_cuda_free(g->links);
    free(g);
}

/* ---- vectors --------------------------------------------------------------------------------- */

/* 32 bits of chance (SplitMix64: G. L. Steele et al., doi:10.1145/2660193.2660195). */
DEVICE uint32_t chance(uint64_t counter)
{
    uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (uint32_t)((z ^ z >> 31) >> 32);
}

/* A column of a batch: numbers from -1 to 1, by the vector's number, site of the lattice and
 * component; 0 of colours that there are not. */
static __global__ void draw(uint64_t vector, int colours, const __grid_constant__ lat_gpu_whole w,
                            const __grid_constant__ lat_gpu_rows r, uint32_t half, int parity,
                            char *to)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    float v[24];
    if (i >= half)
        return;
    for (int k = 0; k < 24; k++) {
        const uint64_t at = (2 * (uint64_t)whole_number(w, r, i) + (uint64_t)parity) * 24
                            + (uint64_t)k;
        v[k] = k / 2 % 3 < colours ? (float)(chance(vector << 40 ^ at) * 0x1p-31 - 1) : 0;
    }
    put_spinor<LAT_STORAGE_SINGLE, false>(
        to + (size_t)(i / 32) * lat_form<LAT_STORAGE_SINGLE>::GROUP, i % 32, v, false, 0);
}

int lat_mg_gpu_fine_random(const lat_mg_fine *f, int columns, uint64_t seed, lat_dfield *x)
{
    const lat_gpu_space *s = lat_gpu_space_of(f->space);
    for (int k = 0; k < columns; k++)
        for (int parity = 0; parity < 2; parity++)
            lat_mg_start(lat_gpu_stream(f->space), 0, draw, lat_cuda_blocks(s->sites.half, THREADS),
                         THREADS, seed + (uint64_t)k, f->space->nc, s->whole, s->in_planes,
                         s->sites.half, parity, lat_gpu_at(s, x, parity) + (size_t)k * s->column);
    return lat_mg_launched();
}

static __global__ void to_single(double *v, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        v[i] = (double)(float)v[i];
}

/* By the way of a host field, on the device. */
int lat_mg_gpu_fine_round(const lat_mg_fine *f, lat_dfield *x)
{
    const lat_gpu_space *s = lat_gpu_space_of(f->space);
    const cudaStream_t stream = lat_gpu_stream(f->space);
    const size_t sites = 2 * (size_t)s->sites.half, n = sites * 24;
    lat_gpu_piece piece = {NULL, 24, 0, sites, LAT_BOTH, true};
    if (lat_cuda_malloc((void **)&piece.v, n * sizeof *piece.v, "test vectors"))
        return -1;
    cudaError_t e = cudaSuccess;
    for (int k = 0; k < LAT_EIGHT && !e; k++) {
        char *const column = (char *)x->data + (size_t)k * s->column;
        e = lat_gpu_move(s, false, &piece, column);
        if (!e)
            lat_mg_start(stream, 0, to_single, lat_cuda_blocks(n, THREADS), THREADS, piece.v, n);
        e = e ? e : lat_gpu_move(s, true, &piece, column);
    }
    lat_cuda_free(piece.v);
    return lat_cuda_failed(e ? e : cudaGetLastError(), "test vectors");
}
