/* SPDX-License-Identifier: BSD-3-Clause */
/* loops_gram.cu: sums of loops on a GPU, of any N.
 *
 * In temporal gauge N W_ij(T) is the sum of a_i(q, t) a_j(q, t + T) over rows q (a real of the
 * lines at x) and times t. A block has a tile of rows of two levels in shared memory; a lane has a
 * row, a warp has 8 times T, whose sums stay in registers: 8 products for each two numbers that it
 * reads. The order of the sums does not depend on the GPU. */
#include <cuda_pipeline.h>
#include "loops_cuda.cuh"

#define WARP 32u
#define MOST_TIMES 8u /* groups of times of a block, of either end */
#define SHARED ((size_t)64 << 10)
#define SETTLERS 128

static uint32_t up_to(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }

/* Two levels of a tile; an odd width spreads rows over the banks. */
static size_t shared_bytes(const lat_cuda_gram *g)
{
    return 2 * (size_t)g->tile * g->width * sizeof(double);
}

int lat_gram_plan(lat_cuda_gram *g)
{
    const uint32_t groups = up_to(g->time, LAT_GRAM_TIMES) / LAT_GRAM_TIMES,
                   parts = (groups + MOST_TIMES - 1) / MOST_TIMES;
    g->times = (groups + parts - 1) / parts;
    g->width = up_to(g->slices, LAT_GRAM_TIMES) + groups * LAT_GRAM_TIMES + 1;
    for (g->tile = WARP; g->tile > 1 && shared_bytes(g) > SHARED;)
        g->tile /= 2;
    if (shared_bytes(g) > SHARED)
        return lat_fail("on a GPU loops of %u steps in time need fewer slices than %u: --device "
                        "cpu, or --max-t",
                        g->time, g->slices);
    const uint64_t tiles = (g->rows + g->tile - 1) / g->tile;
    g->tiles = (uint32_t)((tiles + LAT_GRAM_CHUNKS - 1) / LAT_GRAM_CHUNKS);
    g->chunks = (uint32_t)((tiles + g->tiles - 1) / g->tiles);
    return 0;
}

size_t lat_gram_partial(const lat_cuda_gram *g)
{
    return (size_t)g->pairs * 2 * g->time * g->chunks;
}

/* Levels i <= j of a pair. */
static __device__ __forceinline__ void levels_of(const lat_cuda_gram &g, int pair, int *i, int *j)
{
    for (*i = 0; pair >= g.levels - *i; (*i)++)
        pair -= g.levels - *i;
    *j = *i + pair;
}

/* Rows from `first` on of a level; 0 behind the times that it has. */
static __device__ void stage(const lat_cuda_gram &g, const double *line, uint64_t first,
                             double *tile)
{
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
    for (uint32_t row = warp; row < g.tile; row += warps) {
        const bool there = first + row < g.rows;
        const double *from = line + (first + row) * g.columns;
        double *to = tile + row * g.width;
        for (uint32_t t = lane; t < g.width; t += WARP)
            if (there && t < g.columns)
                __pipeline_memcpy_async(to + t, from + t, sizeof *to);
            else
                to[t] = 0;
    }
}

/* sum[k] += a(t) b(t + k), t from begin to end - 1, by eights; a ends at `slices`. */
static __device__ __forceinline__ void correlate(const double *a, const double *b, uint32_t begin,
                                                 uint32_t end, uint32_t slices, double *sum)
{
    double next[LAT_GRAM_TIMES];
#pragma unroll
    for (int k = 0; k < LAT_GRAM_TIMES - 1; k++)
        next[k] = b[begin + k];
    for (uint32_t t = begin; t < end; t += LAT_GRAM_TIMES)
#pragma unroll
        for (int u = 0; u < LAT_GRAM_TIMES; u++) {
            const double here = t + u < slices ? a[t + u] : 0;
            next[(u + LAT_GRAM_TIMES - 1) % LAT_GRAM_TIMES] = b[t + u + LAT_GRAM_TIMES - 1];
#pragma unroll
            for (int k = 0; k < LAT_GRAM_TIMES; k++)
                sum[k] += here * next[(u + k) % LAT_GRAM_TIMES];
        }
}

/* A block: a pair, a chunk of rows, times. BOTH: pairs of two levels, with either at t. */
template <bool BOTH>
static __global__ void __launch_bounds__(2 * MOST_TIMES * WARP)
    gram(const __grid_constant__ lat_cuda_gram g)
{
    extern __shared__ double tile[];
    const uint32_t warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, row = lane % g.tile,
                   parts = WARP / g.tile, group = blockIdx.z * g.times + warp % g.times,
                   whole = (g.slices + LAT_GRAM_TIMES - 1) / LAT_GRAM_TIMES,
                   each = (whole + parts - 1) / parts, begin = lane / g.tile * each,
                   end = begin + each < whole ? begin + each : whole;
    const bool back = BOTH && warp >= g.times, counts = group * LAT_GRAM_TIMES < g.time;
    double *const second = BOTH ? tile + g.tile * g.width : tile;
    double sum[LAT_GRAM_TIMES] = {};
    int i, j;
    levels_of(g, (int)blockIdx.x, &i, &j);
    if ((i != j) != BOTH)
        return;
    for (uint32_t k = 0; k < g.tiles; k++) {
        const uint64_t first = ((uint64_t)blockIdx.y * g.tiles + k) * g.tile;
        __syncthreads();
        stage(g, g.line[i], first, tile);
        if (BOTH)
            stage(g, g.line[j], first, second);
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        if (counts && begin < end)
            correlate((back ? second : tile) + row * g.width,
                      (back ? tile : second) + row * g.width + group * LAT_GRAM_TIMES + 1,
                      begin * LAT_GRAM_TIMES, end * LAT_GRAM_TIMES, g.slices, sum);
    }
    double *to = g.partial
                 + (((size_t)blockIdx.x * 2 + back) * g.time + group * LAT_GRAM_TIMES) * g.chunks
                 + blockIdx.y;
#pragma unroll
    for (int k = 0; k < LAT_GRAM_TIMES; k++) {
        for (int with = WARP / 2; with > 0; with /= 2)
            sum[k] += __shfl_xor_sync(~0u, sum[k], with);
        if (lane == 0 && group * LAT_GRAM_TIMES + k < g.time)
            to[(size_t)k * g.chunks] = sum[k];
    }
}

/* A block: the chunks of a pair and a time. */
static __global__ void __launch_bounds__(SETTLERS) settle(const __grid_constant__ lat_cuda_gram g)
{
    __shared__ double part[SETTLERS];
    const uint32_t me = threadIdx.x;
    double sum = 0;
    int i, j;
    levels_of(g, (int)blockIdx.x, &i, &j);
    for (int back = 0; back < (i == j ? 1 : 2); back++) {
        const double *from = g.partial
                             + (((size_t)blockIdx.x * 2 + back) * g.time + blockIdx.y) * g.chunks;
        for (uint32_t c = me; c < g.chunks; c += SETTLERS)
            sum += from[c];
    }
    part[me] = sum;
    for (uint32_t half = SETTLERS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me < half)
            part[me] += part[me + half];
    }
    if (me == 0)
        g.sums[(size_t)blockIdx.y * g.pairs + blockIdx.x] += part[0];
}

template <bool BOTH> static cudaError_t launch(const lat_cuda_gram *g, cudaStream_t stream)
{
    const uint32_t groups = (g->time + LAT_GRAM_TIMES - 1) / LAT_GRAM_TIMES;
    const size_t bytes = BOTH ? shared_bytes(g) : shared_bytes(g) / 2;
    const cudaError_t e = cudaFuncSetAttribute(
        gram<BOTH>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED);
    return e ? e
             : lat_cuda_start_with(
                 bytes, 0, gram<BOTH>,
                 dim3((unsigned)g->pairs, g->chunks, (groups + g->times - 1) / g->times),
                 (BOTH ? 2 : 1) * g->times * WARP, stream, *g);
}

cudaError_t lat_gram_add(const lat_cuda_gram *g, cudaStream_t stream)
{
    cudaError_t e = launch<false>(g, stream);
    if (!e && g->levels > 1)
        e = launch<true>(g, stream);
    return e ? e
             : lat_cuda_start(0, settle, dim3((unsigned)g->pairs, g->time), SETTLERS, stream, *g);
}
