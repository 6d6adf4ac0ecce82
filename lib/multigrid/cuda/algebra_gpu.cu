/* SPDX-License-Identifier: BSD-3-Clause */
/* algebra_gpu.cu: sums and steps of a coarse level's solves, on odd sites. Batches of eight columns
 * are blockIdx.y. */
#include "multigrid/cuda/cuda_multigrid.cuh"

static const int THREADS = 256, WARPS = THREADS / 32;

enum { MOST = LAT_LEVEL_DEPTH };

typedef struct vectors {
    int n;
    int64_t rows, batch; /* of odd sites; numbers from batch to batch */
    const lat_eight *x[MOST], *add;
    lat_eight *y;
} vectors;

typedef struct dot_args {
    vectors v;
    lat_eight_sums *to;
    double *partial;
    unsigned *arrived;
} dot_args;

static vectors vectors_of(const lat_coarse *c, int n, lat_eight *const *x)
{
    const int64_t first = (int64_t)c->sites.odd * c->rows;
    vectors v = {};
    v.n = n;
    v.batch = (int64_t)lat_coarse_numbers(c);
    v.rows = v.batch - first;
    for (int j = 0; j < n; j++)
        v.x[j] = x[j] + first;
    return v;
}

/* Blocks, by the lattice alone. */
static unsigned blocks_of(const vectors *v)
{
    const int64_t blocks = (v->rows + THREADS - 1) / THREADS, most = LAT_MG_SUM_BLOCKS;
    return (unsigned)(blocks < most ? blocks : most);
}

/* What blocks have summed up, by the last of them to come: threads share the blocks of a number. */
DEVICE void sum_blocks(const dot_args &a, const double *partial)
{
    __shared__ double share[THREADS];
    const int numbers = a.v.n * 2 * LAT_EIGHT, shares = numbers < THREADS ? THREADS / numbers : 1,
              number = (int)threadIdx.x % numbers, mine = (int)threadIdx.x / numbers;
    lat_eight_sums *const to = (lat_eight_sums *)lat_mg_of_batch(a.to, (int)blockIdx.y);
    double sum = 0;
    for (int b = mine; b < (int)gridDim.x && mine < shares; b += shares)
        sum += __ldcg(partial + (size_t)b * numbers + number);
    share[threadIdx.x] = sum;
    __syncthreads();
    if ((int)threadIdx.x < numbers) {
        for (int k = 1; k < shares; k++)
            sum += share[k * numbers + threadIdx.x];
        ((double *)(to + number / (2 * LAT_EIGHT)))[number % (2 * LAT_EIGHT)] = sum;
    }
    if (threadIdx.x == 0)
        a.arrived[blockIdx.y] = 0;
}

/* A thread is a column of every 32nd row. */
template <int N>
static __global__ void __launch_bounds__(THREADS) dots(const __grid_constant__ dot_args a)
{
    __shared__ double part[WARPS][N][2][LAT_EIGHT];
    __shared__ bool last;
    const int k = (int)threadIdx.x % LAT_EIGHT, warp = (int)threadIdx.x / 32;
    const int64_t batch = blockIdx.y * a.v.batch;
    double *const partial = a.partial + blockIdx.y * (size_t)LAT_MG_PARTIAL;
    float2 sum[N] = {};
    for (int64_t row = (int64_t)blockIdx.x * (THREADS / LAT_EIGHT) + threadIdx.x / LAT_EIGHT;
         row < a.v.rows; row += (int64_t)gridDim.x * (THREADS / LAT_EIGHT)) {
        const lat_eight *const y = a.v.y + batch + row;
#pragma unroll
        for (int j = 0; j < N; j++)
            if (j < a.v.n) {
                const lat_eight *const x = a.v.x[j] + batch + row;
                sum[j] = mg_add_conjugate(sum[j], make_float2(x->re[k], x->im[k]),
                                          make_float2(y->re[k], y->im[k]));
            }
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        double re = (double)sum[j].x, im = (double)sum[j].y;
        for (int apart = 8; apart < 32; apart *= 2) {
            re += __shfl_xor_sync(~0u, re, apart);
            im += __shfl_xor_sync(~0u, im, apart);
        }
        if (threadIdx.x % 32 < LAT_EIGHT) {
            part[warp][j][0][k] = re;
            part[warp][j][1][k] = im;
        }
    }
    __syncthreads();
    const int numbers = a.v.n * 2 * LAT_EIGHT;
    for (int i = (int)threadIdx.x; i < numbers; i += THREADS) {
        double all = 0;
        for (int w = 0; w < WARPS; w++)
            all += ((const double *)part[w])[i];
        partial[(size_t)blockIdx.x * numbers + i] = all;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(a.arrived + blockIdx.y, 1u) + 1 == gridDim.x;
    __syncthreads();
    if (last)
        sum_blocks(a, partial);
}

int lat_mg_gpu_dots(const lat_coarse *c, int n, lat_eight *const *x, const lat_eight *y,
                    lat_eight_sums *to)
{
    const lat_mg_gpu *g = lat_mg_gpu_of(c);
    const cudaStream_t stream = lat_mg_stream(c->dev);
    dot_args a = {vectors_of(c, n, x), to, g->partial, g->arrived};
    a.v.y = (lat_eight *)y + (int64_t)c->sites.odd * c->rows;
    const dim3 blocks(blocks_of(&a.v), (unsigned)c->active);
    if (n == 1)
        lat_mg_start(stream, 0, dots<1>, blocks, THREADS, a);
    else if (n == 2)
        lat_mg_start(stream, 0, dots<2>, blocks, THREADS, a);
    else if (n <= 4)
        lat_mg_start(stream, 0, dots<4>, blocks, THREADS, a);
    else
        lat_mg_start(stream, 0, dots<MOST>, blocks, THREADS, a);
    return lat_mg_launched();
}

typedef struct add_args {
    vectors v;
    lat_mg_factor f[MOST];
} add_args;

static __global__ void __launch_bounds__(THREADS) adds(const __grid_constant__ add_args a)
{
    __shared__ float2 factor[MOST][LAT_EIGHT];
    const int k = (int)threadIdx.x % LAT_EIGHT, mine = (int)threadIdx.x / LAT_EIGHT;
    const int64_t batch = blockIdx.y * a.v.batch;
    if (mine < a.v.n) {
        lat_mg_factor f = a.f[mine];
        f.over = f.over ? lat_mg_of_batch(f.over, (int)blockIdx.y) : NULL;
        f.under = f.under ? lat_mg_of_batch(f.under, (int)blockIdx.y) : NULL;
        f.done = f.done ? f.done + blockIdx.y * (sizeof(lat_mg_scalars) / sizeof *f.done) : NULL;
        lat_mg_factor_of(f, k, &factor[mine][k].x, &factor[mine][k].y);
    }
    __syncthreads();
    for (int64_t row = (int64_t)blockIdx.x * (THREADS / LAT_EIGHT) + mine; row < a.v.rows;
         row += (int64_t)gridDim.x * (THREADS / LAT_EIGHT)) {
        const lat_eight *const add = a.v.add + batch + row;
        float2 y = a.v.add ? make_float2(add->re[k], add->im[k]) : make_float2(0, 0);
        for (int j = 0; j < a.v.n; j++) {
            const lat_eight *const x = a.v.x[j] + batch + row;
            y = mg_add_times(y, factor[j][k], make_float2(x->re[k], x->im[k]));
        }
        a.v.y[batch + row].re[k] = y.x;
        a.v.y[batch + row].im[k] = y.y;
    }
}

int lat_mg_gpu_adds(const lat_coarse *c, int n, const lat_mg_factor *f, lat_eight *const *x,
                    const lat_eight *add, lat_eight *y)
{
    const int64_t first = (int64_t)c->sites.odd * c->rows;
    add_args a = {vectors_of(c, n, x), {}};
    a.v.add = add ? add + first : NULL;
    a.v.y = y + first;
    for (int j = 0; j < n; j++)
        a.f[j] = f[j];
    lat_mg_start(lat_mg_stream(c->dev), 0, adds, dim3(4 * blocks_of(&a.v), (unsigned)c->active),
                 THREADS, a);
    return lat_mg_launched();
}

static __global__ void look(lat_mg_scalars *s, bool begin, double tolerance, lat_mg_found *found)
{
    __shared__ int most;
    const int k = (int)threadIdx.x % LAT_EIGHT;
    s += threadIdx.x / LAT_EIGHT;
    lat_mg_look(s, k, begin, tolerance);
    if (threadIdx.x == 0)
        most = 0;
    __syncthreads();
    atomicMax(&most, s->iterations[k]);
    const bool all = __syncthreads_and(s->done[k]);
    if (threadIdx.x == 0) {
        found->all = all;
        found->iterations = most;
    }
}

int lat_mg_gpu_look(const lat_coarse *c, lat_mg_scalars *s, bool begin, double tolerance)
{
    lat_mg_start(lat_mg_stream(c->dev), 0, look, 1, (unsigned)c->active * LAT_EIGHT, s, begin,
                 tolerance, lat_mg_gpu_of(c)->found_there);
    return lat_mg_launched();
}

int lat_mg_gpu_found(const lat_coarse *c, LAT_UNUSED const lat_mg_scalars *s, lat_mg_found *found)
{
    if (lat_cuda_failed(cudaStreamSynchronize(lat_mg_stream(c->dev)), "a multigrid"))
        return -1;
    *found = *lat_mg_gpu_of(c)->found;
    return 0;
}
