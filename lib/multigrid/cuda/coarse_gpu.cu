/* SPDX-License-Identifier: BSD-3-Clause */
/* coarse_gpu.cu: matrices of a coarse operator times vectors by tensor cores.
 *
 * A product of a matrix of 16 rows and 8 columns, in half, with 8 columns of a vector, rounded to
 * as many bits (TF32), is four instructions: those of real and imaginary parts. Sums are in single
 * precision. */
#include "multigrid/cuda/cuda_tensor.cuh"

#include <stdlib.h>

static const int THREADS = 256, WARPS = THREADS / 32;

/* ---- products -------------------------------------------------------------------------------- */

typedef struct product_args {
    const uint4 *matrix; /* [site][count][steps][tiles][32] */
    int tiles, steps, count;
    const int32_t *next; /* [site][8]; NULL: a site itself */
    int first;           /* site of block 0 */
    int64_t matrix_from; /* its matrices are those of this site */
    int in_rows, out_rows;
    const lat_eight *in, *add;
    float sign;
    lat_eight *out;
    int batches;
    int64_t batch; /* numbers from one to the next */
} product_args;

/* Eight numbers of each column: re, im. */
DEVICE void load_rows(const lat_eight *v, uint32_t re[2], uint32_t im[2])
{
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        re[h] = mg_rounded(v[lane % 4 + 4 * h].re[lane / 4]);
        im[h] = mg_rounded(v[lane % 4 + 4 * h].im[lane / 4]);
    }
}

DEVICE void load_tile(const uint4 *at, float re[4], float im[4])
{
    const uint4 t = __ldg(at);
    const uint32_t word[4] = {t.x, t.y, t.z, t.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const float2 z = __half22float2(*(const __half2 *)(word + k));
        re[k] = z.x;
        im[k] = z.y;
    }
}

/* Columns of a batch, or of two, beside one reading of the matrices. */
template <int TILES, int BATCHES> struct product_sums {
    float re[BATCHES][TILES][4], im[BATCHES][TILES][4];
};

/* A warp's share of a site: steps from .. to-1 of all its matrices. */
template <int TILES, int BATCHES>
DEVICE void some_steps(const product_args &a, int site, int from, int to,
                       product_sums<TILES, BATCHES> &s)
{
    const uint4 *const matrix = a.matrix
                                + ((a.matrix_from + site) * a.count * a.steps * a.tiles
                                   + (int64_t)blockIdx.y * TILES)
                                      * 32
                                + threadIdx.x % 32;
    for (int i = from; i < to; i++) {
        const int d = i / a.steps, k = i - d * a.steps;
        const int of = a.next ? a.next[8 * (a.first + site) + d] : a.first + site;
        uint32_t x[BATCHES][2], y[BATCHES][2];
#pragma unroll
        for (int b = 0; b < BATCHES; b++)
            load_rows(a.in + b * a.batch + (int64_t)of * a.in_rows + 8 * k, x[b], y[b]);
#pragma unroll
        for (int t = 0; t < TILES; t++) {
            float u[4], v[4], minus[4];
            load_tile(matrix + ((int64_t)i * a.tiles + t) * 32, u, v);
#pragma unroll
            for (int j = 0; j < 4; j++)
                minus[j] = -v[j];
#pragma unroll
            for (int b = 0; b < BATCHES; b++) {
                mg_multiply(s.re[b][t], u, x[b]);
                mg_multiply(s.im[b][t], u, y[b]);
                mg_multiply(s.re[b][t], minus, y[b]);
                mg_multiply(s.im[b][t], v, x[b]);
            }
        }
    }
}

/* The sums of a block's warps, of a batch. part: [warp][number][lane]. */
template <int TILES>
DEVICE void store_sums(const product_args &a, int site, const float *part, int64_t batch)
{
    for (int i = (int)threadIdx.x; i < TILES * 256; i += THREADS) {
        const int number = i / 32, j = number % 4, of = i % 32;
        float sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; w++)
            sum += part[w * TILES * 256 + i];
        const int64_t row = batch + (int64_t)(a.first + site) * a.out_rows
                            + ((int)blockIdx.y * TILES + number / 8) * 16 + of / 4 + j / 2 * 8;
        const int at = number % 8 / 4 * LAT_EIGHT + of % 4 * 2 + j % 2;
        ((float *)(a.out + row))[at] = (a.add ? ((const float *)(a.add + row))[at] : 0)
                                       + a.sign * sum;
    }
}

/* A block is a site, and TILES times 16 rows of it; its warps share columns of matrices. */
template <int TILES, int BATCHES>
__global__ void __launch_bounds__(THREADS) products(const __grid_constant__ product_args a)
{
    __shared__ float part[WARPS][TILES * 8][32];
    const int site = (int)blockIdx.x, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32,
              all = a.count * a.steps;
    product_sums<TILES, BATCHES> s = {};
    some_steps(a, site, all * warp / WARPS, all * (warp + 1) / WARPS, s);
#pragma unroll
    for (int b = 0; b < BATCHES; b++) {
#pragma unroll
        for (int t = 0; t < TILES; t++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                part[warp][8 * t + j][lane] = s.re[b][t][j];
                part[warp][8 * t + 4 + j][lane] = s.im[b][t][j];
            }
        __syncthreads();
        store_sums<TILES>(a, site, part[0][0], b * a.batch);
        __syncthreads();
    }
}

template <int TILES> static void start_tiles(const product_args *a, dim3 blocks, cudaStream_t s)
{
    if (a->batches == 2)
        lat_mg_start(s, 0, products<TILES, 2>, blocks, THREADS, *a);
    else
        lat_mg_start(s, 0, products<TILES, 1>, blocks, THREADS, *a);
}

static int start(const product_args *a, int sites, cudaStream_t stream)
{
    const unsigned each = a->tiles % 4 == 0 ? 4 : a->tiles % 3 == 0 ? 3 : a->tiles % 2 == 0 ? 2 : 1;
    const dim3 blocks((unsigned)sites, (unsigned)a->tiles / each);
    if (sites == 0)
        return 0;
    switch (each) {
    case 1: start_tiles<1>(a, blocks, stream); break;
    case 2: start_tiles<2>(a, blocks, stream); break;
    case 3: start_tiles<3>(a, blocks, stream); break;
    default: start_tiles<4>(a, blocks, stream); break;
    }
    return lat_mg_launched();
}

static product_args usual(const lat_coarse *c, int parity, int count)
{
    product_args a = {};
    a.tiles = c->rows / 16;
    a.steps = c->rows / 8;
    a.count = count;
    a.first = parity ? c->sites.odd : 0;
    a.matrix_from = a.first;
    a.in_rows = a.out_rows = c->rows;
    a.sign = 1;
    a.batches = c->active;
    a.batch = (int64_t)lat_coarse_numbers(c);
    return a;
}

static int sites_of(const lat_coarse *c, int parity)
{
    return parity ? c->sites.count - c->sites.odd : c->sites.odd;
}

int lat_mg_gpu_hop(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *add,
                   float sign, const lat_eight *in)
{
    product_args a = usual(c, parity, 8);
    a.matrix = lat_mg_gpu_of(c)->hop;
    a.next = lat_mg_gpu_of(c)->next;
    a.in = in;
    a.add = add;
    a.sign = sign;
    a.out = out;
    return start(&a, sites_of(c, parity), lat_mg_stream(c->dev));
}

int lat_mg_gpu_inverse(const lat_coarse *c, int parity, lat_eight *out, const lat_eight *in)
{
    product_args a = usual(c, parity, 1);
    a.matrix = lat_mg_gpu_of(c)->inverse;
    a.in = in;
    a.out = out;
    return start(&a, sites_of(c, parity), lat_mg_stream(c->dev));
}

int lat_mg_gpu_diagonal(const lat_coarse *c, lat_eight *out, const lat_eight *in)
{
    product_args a = usual(c, 1, 1);
    a.matrix = lat_mg_gpu_of(c)->middle;
    a.matrix_from = 0;
    a.in = in;
    a.out = out;
    return start(&a, sites_of(c, 1), lat_mg_stream(c->dev));
}

/* A block is 16 rows of the matrix. */
int lat_mg_gpu_dense(const lat_coarse *c, lat_eight *x, const lat_eight *r)
{
    const int n = sites_of(c, 1) * c->rows;
    const size_t from = (size_t)c->sites.odd * (size_t)c->rows;
    product_args a = usual(c, 1, 1);
    a.matrix = lat_mg_gpu_of(c)->dense;
    a.tiles = 1;
    a.first = a.in_rows = 0;
    a.matrix_from = 0;
    a.steps = n / 8;
    a.out_rows = 16;
    a.in = r + from;
    a.out = x + from;
    return start(&a, n / 16, lat_mg_stream(c->dev));
}

/* ---- the operator itself --------------------------------------------------------------------- */

typedef struct apply_args {
    const float2 *matrix;
    const int32_t *next;
    int rows;
    float shift, twist;
    const lat_eight *in;
    lat_eight *out;
} apply_args;

/* A block is a site, a thread one of its numbers. */
static __global__ void apply(const __grid_constant__ apply_args a)
{
    const int site = (int)blockIdx.x, row = (int)threadIdx.x / LAT_EIGHT,
              k = (int)threadIdx.x % LAT_EIGHT, rows = a.rows;
    const float sign = row < rows / 2 ? 1.f : -1.f;
    const lat_eight *const own = a.in + (int64_t)site * rows;
    float2 sum = make_float2(0, 0);
    for (int d = 0; d < LAT_COARSE_MATRICES; d++) {
        const float2 *m = a.matrix
                          + (((int64_t)site * LAT_COARSE_MATRICES + d) * rows + row) * rows;
        const lat_eight *const x = d < LAT_COARSE_HOPS ? a.in + (int64_t)a.next[8 * site + d] * rows
                                                       : own;
        for (int j = 0; j < rows; j++)
            sum = mg_add_times(sum, m[j], make_float2(x[j].re[k], x[j].im[k]));
    }
    for (int d = 0; d < LAT_COARSE_HOPS; d++) {
        const int64_t back = a.next[8 * site + 4 + d];
        const float2 *m = a.matrix + (back * LAT_COARSE_MATRICES + d) * rows * rows + row;
        const lat_eight *const x = a.in + back * rows;
        for (int j = 0; j < rows; j++) {
            const float by = j < rows / 2 ? sign : -sign;
            sum = mg_add_conjugate(sum, m[(int64_t)j * rows],
                                   make_float2(by * x[j].re[k], by * x[j].im[k]));
        }
    }
    sum = mg_add_times(sum, make_float2(a.shift, sign * a.twist),
                       make_float2(own[row].re[k], own[row].im[k]));
    a.out[(int64_t)site * rows + row].re[k] = sum.x;
    a.out[(int64_t)site * rows + row].im[k] = sum.y;
}

int lat_mg_gpu_apply(const lat_coarse *c, lat_eight *out, const lat_eight *in)
{
    const lat_mg_gpu *g = lat_mg_gpu_of(c);
    const apply_args a = {g->matrix, g->next, c->rows, (float)c->shift, (float)c->twist, in, out};
    lat_mg_start(lat_mg_stream(c->dev), 0, apply, (unsigned)c->sites.count,
                 (unsigned)c->rows * LAT_EIGHT, a);
    return lat_mg_launched();
}

/* ---- memory ---------------------------------------------------------------------------------- */

int lat_mg_gpu_coarse_open(lat_coarse *c)
{
    static const char what[] = "a coarse operator";
    const size_t each = (size_t)c->rows * (size_t)c->rows, sites = (size_t)c->sites.count,
                 odd = sites - (size_t)c->sites.odd, half = sizeof(__half2);
    lat_mg_gpu *const g = (lat_mg_gpu *)lat_alloc_zero(1, sizeof *g, what);
    if (!(c->there = g))
        return -1;
    g->matrix = (float2 *)lat_mg_gpu_alloc(c->dev, sites * LAT_COARSE_MATRICES * each,
                                           sizeof(float2), what);
    g->hop = (uint4 *)lat_mg_gpu_alloc(c->dev, sites * 8 * each, half, what);
    g->inverse = (uint4 *)lat_mg_gpu_alloc(c->dev, sites * each, half, what);
    g->middle = (uint4 *)lat_mg_gpu_alloc(c->dev, odd * each, half, what);
    g->next = (int32_t *)lat_mg_upload(c->dev, c->sites.next, sites * 8 * sizeof *g->next, what);
    g->partial = (double *)lat_mg_gpu_alloc(c->dev, (size_t)c->batches * LAT_MG_PARTIAL,
                                            sizeof *g->partial, what);
    g->arrived = (unsigned *)lat_mg_gpu_alloc(c->dev, (size_t)c->batches, sizeof *g->arrived, what);
    if (c->ranks && lat_mg_gather_open(c, &g->gather))
        return -1;
    c->divided = c->ranks && g->gather.window.direct;
    return !g->matrix || !g->hop || !g->inverse || !g->middle || !g->next || !g->partial
                   || !g->arrived
                   || lat_cuda_failed(
                       cudaHostAlloc((void **)&g->found, sizeof *g->found, cudaHostAllocMapped),
                       what)
                   || lat_cuda_failed(
                       cudaHostGetDevicePointer((void **)&g->found_there, g->found, 0), what)
               ? -1
               : 0;
}

void lat_mg_gpu_coarse_close(lat_coarse *c)
{
    lat_mg_gpu *const g = lat_mg_gpu_of(c);
    if (!g)
        return;
    lat_mg_gpu_graphs_close(g);
    lat_mg_gather_close(&g->gather);
    lat_cuda_free(g->matrix);
    lat_cuda_free(g->hop);
    lat_cuda_free(g->inverse);
    lat_cuda_free(g->middle);
    lat_cuda_free(g->dense);
    lat_cuda_free(g->next);
    lat_cuda_free(g->partial);
    lat_cuda_free(g->arrived);
    cudaFreeHost(g->found);
    free(g);
}
