/* SPDX-License-Identifier: BSD-3-Clause */
/* test_vectors_gpu.cu: test vectors to columns of batches and of coarse levels, and back. */
#include "multigrid/cuda/cuda_columns.cuh"

static const unsigned THREADS = 256;

typedef struct vector_args {
    float2 *v;                           /* [site of the list][component][n] */
    int components, n, first, chirality; /* -1: both */
    int64_t sites, odd;                  /* of which the first odd one */
} vector_args;

static vector_args vectors_of(const lat_transfer *t, float *v, int first)
{
    const vector_args a = {(float2 *)v,     t->components,        t->n, first, -1,
                           t->blocks.sites, t->blocks.start[1][0]};
    return a;
}

static unsigned blocks_of(const vector_args *a)
{
    return lat_cuda_blocks((uint64_t)a->sites * LAT_EIGHT, THREADS);
}

static __global__ void take_batch(const __grid_constant__ vector_args a,
                                  const __grid_constant__ batch in)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, site = i / LAT_EIGHT;
    if (site < a.sites)
        in.get(site >= a.odd, in.place[site], (int)(i % LAT_EIGHT),
               a.v + site * 12 * a.n + a.first + i % LAT_EIGHT, a.n);
}

static __global__ void give_batch(const __grid_constant__ vector_args a,
                                  const __grid_constant__ batch out)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, site = i / LAT_EIGHT;
    const int k = (int)(i % LAT_EIGHT);
    float v[24];
    if (site >= a.sites)
        return;
#pragma unroll
    for (int c = 0; c < 12; c++) {
        const float2 z = a.chirality < 0 || c / 6 == a.chirality
                             ? a.v[(site * 12 + c) * a.n + a.first + k]
                             : make_float2(0, 0);
        v[2 * c] = z.x;
        v[2 * c + 1] = z.y;
    }
    out.put(site >= a.odd, out.place[site], k, v);
}

/* Test vectors of a coarse level from its vectors, or back. */
template <bool TAKE>
static __global__ void move_eights(const __grid_constant__ vector_args a,
                                   const __grid_constant__ eights x)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, row = i / LAT_EIGHT,
                  site = row / a.components;
    if (site >= a.sites)
        return;
    float *const z = (float *)x.number(0, x.place[site], (int)(row % a.components)) + i % LAT_EIGHT;
    float2 *const v = a.v + row * a.n + a.first + i % LAT_EIGHT;
    if (TAKE)
        *v = make_float2(z[0], z[LAT_EIGHT]);
    else {
        z[0] = v->x;
        z[LAT_EIGHT] = v->y;
    }
}

template <bool TAKE> static int start_move(const lat_transfer *t, int first, const lat_eight *x)
{
    const vector_args a = vectors_of(t, t->v, first);
    lat_mg_start(lat_mg_stream(t->dev), 0, move_eights<TAKE>,
                 lat_cuda_blocks((uint64_t)a.sites * (uint64_t)a.components * LAT_EIGHT, THREADS),
                 THREADS, a, eights_of(t, x));
    return lat_mg_launched();
}

int lat_mg_gpu_take(const lat_level *l, int first, const lat_eight *x)
{
    return start_move<true>(&l->down, first, x);
}

int lat_mg_gpu_give(const lat_level *l, int first, lat_eight *x)
{
    return start_move<false>(&l->down, first, x);
}

int lat_mg_gpu_fine_take(const lat_mg_fine *f, int first, const lat_dfield *x)
{
    const vector_args a = vectors_of(&f->down, f->down.v, first);
    lat_mg_start(lat_mg_stream(f->down.dev), 0, take_batch, blocks_of(&a), THREADS, a,
                 batch_of(f, LAT_EIGHT, lat_column_numbers, x));
    return lat_mg_launched();
}

static int give(const lat_mg_fine *f, vector_args a, int chirality, lat_dfield *x)
{
    a.chirality = chirality;
    lat_mg_start(lat_mg_stream(f->down.dev), 0, give_batch, blocks_of(&a), THREADS, a,
                 batch_of(f, LAT_EIGHT, lat_column_numbers, x));
    return lat_mg_launched();
}

int lat_mg_gpu_fine_give(const lat_mg_fine *f, int first, lat_dfield *x)
{
    return give(f, vectors_of(&f->down, f->down.v, first), -1, x);
}

int lat_mg_gpu_columns(const lat_mg_fine *f, int first, int chirality, lat_dfield *x)
{
    return give(f, vectors_of(&f->down, f->down.p, first), chirality, x);
}
